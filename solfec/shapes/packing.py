"""Random packings of balls that do not touch (docs/language-objects.md, PACKING)."""

from __future__ import annotations

import numpy as np

MARGIN = 0.01  # by which balls are larger while they push one another apart, so that in the end they do not touch
PUSHES = 2000  # after which a box counts as too small
DENSEST = 0.6  # part of a box that balls can fill at random; spheres of one size jam at 0.64


def places(radii: np.ndarray, low: np.ndarray, high: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Centres (n, 3) of balls inside a box, none of which touch.

    They start at random places, and balls that overlap push one another apart by half of what they overlap, until none do.

    Raises
    ------
    ValueError
        A ball is larger than the box, or there is too little room for all.
    """
    from scipy.spatial import cKDTree  # slow to load

    if 2.0 * radii.max() > (high - low).min():
        raise ValueError(f"a ball of radius {radii.max():g} does not fit between {low.tolist()} and {high.tolist()}")
    share = 4.0 / 3.0 * np.pi * (radii**3).sum() / np.prod(high - low)
    larger, middle = (1.0 + MARGIN) * radii, 0.5 * (low + high)
    least, greatest = np.minimum(low + larger[:, None], middle), np.maximum(high - larger[:, None], middle)
    centres = least + random.random((len(radii), 3)) * (greatest - least)
    for _ in range(PUSHES if share < DENSEST else 0):
        one, two = cKDTree(centres).query_pairs(2.0 * larger.max(), output_type="ndarray").T
        apart = centres[two] - centres[one]
        distance = np.sqrt((apart**2).sum(1))
        if (distance > radii[one] + radii[two]).all():
            return centres
        close = distance < larger[one] + larger[two]
        one, two, apart, distance = one[close], two[close], apart[close], distance[close]
        push = (0.5 * (larger[one] + larger[two] - distance) / np.maximum(distance, 1e-300))[:, None] * apart
        for axis in range(3):
            centres[:, axis] += np.bincount(two, push[:, axis], len(radii)) - np.bincount(one, push[:, axis], len(radii))
        np.clip(centres, least, greatest, out=centres)
    raise ValueError(f"{len(radii)} balls would fill {100 * share:.0f} % of the box, in which they find no room without contact; about half of a large box can be filled")


def turns(count: int, random: np.random.Generator) -> np.ndarray:
    """Random rotations (n, 3, 3), evenly distributed: of unit quaternions with normal components."""
    w, x, y, z = random.standard_normal((count, 4)).T
    size = np.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / size, x / size, y / size, z / size
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.array(rows).transpose(2, 0, 1)
