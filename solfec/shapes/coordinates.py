"""Coordinates as users give them, flat or in threes."""

from __future__ import annotations

import numpy as np

LARGEST = 1e50  # beyond it products of three coordinates leave the range of floating-point numbers


def points_of(values, name: str) -> np.ndarray:
    """Copy coordinates into an array (n, 3); ValueError unless there are at least 4 points of usable size."""
    points = np.array(values, float)
    if points.size % 3:
        raise ValueError(f"'{name}' must hold three numbers per point")
    points = points.reshape(-1, 3)
    if len(points) < 4:
        raise ValueError(f"'{name}' must hold at least 4 {name}, not {len(points)}")
    check_size(points, name)
    return points


def check_size(values: np.ndarray | tuple, name: str) -> None:
    """Raise ValueError, naming the row, for coordinates that are not finite or too large to be multiplied."""
    sizes = np.abs(values)
    if sizes.max(initial=0.0) <= LARGEST:  # never if a number is NaN
        return
    row = int(np.argwhere(~(sizes <= LARGEST))[0, 0])
    if not np.isfinite(values).all():
        raise ValueError(f"'{name}' must be finite numbers; item {row} is not")
    raise ValueError(f"'{name}' must not exceed {LARGEST:g} in magnitude; item {row} does")


def scaled(faces, factors: np.ndarray):
    """Return a FaceSet or MeshTopology for vertices that are multiplied by `factors` (3,): turned round when the product is negative."""
    if factors[0] * factors[1] * factors[2] < 0.0:
        return faces.mirrored()
    return faces if factors[0] == factors[1] == factors[2] else faces.renewed()


def check_point(point: tuple | list, name: str) -> None:
    """Check a few numbers as `check_size` does, in a fifth of its time."""
    if not all([abs(x) <= LARGEST for x in point]):
        check_size(np.array(point), name)
