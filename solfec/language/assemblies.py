"""WALL, ARCH and PACKING: shapes of many bodies at once, which Solfec-1.0 does not have (docs/language-objects.md, Assemblies)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..shapes import masonry, packing
from ..shapes.convex import Convex
from ..shapes.sphere import Sphere
from ..shapes.transform import copy
from . import checks
from .checks import BadValue, command
from .hints import Vector
from .shapes import CONVEX, ELLIP, KINDS, MOST_PIECES, SPHERE, pieces_of, reported, shape_of
from .solids import point_of, sizes_of


@command("WALL")
def WALL(
    count: int, courses: int, brick: Vector, corner: Vector = (0.0, 0.0, 0.0), bond: float = 0.5, volid: int = 0, surfid: int = 0
) -> list[CONVEX]:
    """Bricks of a wall along x, one shape for each body.

    Parameters
    ----------
    count, courses : int
        Number of bricks in a course, and of courses, at least 1.
    brick : tuple of 3
        Length, thickness and height of a brick: its edges along x, y and z.
    corner : tuple of 3
        Lowest corner of the wall.
    bond : float
        Shift of every second course, as a fraction of a brick, in [0, 1): 0.5 is running bond, 0 stacks the bricks.
    volid, surfid : int
        Volume and surface identifiers.

    Returns
    -------
    list of CONVEX
        Course by course from below.
    """
    count, courses = pieces_of(count, "count"), pieces_of(courses, "courses")
    if count * courses > MOST_PIECES:
        raise BadValue(f"'count' times 'courses' must be at most {MOST_PIECES} bricks, it is {count * courses}")
    brick, corner = sizes_of(brick, "brick"), point_of(corner, "corner")
    bond = checks.between(bond, "bond", 0.0, 1.0)
    if bond == 1.0:
        raise BadValue("'bond' must be less than 1")
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    with reported("'brick' and 'bond'"):
        return [CONVEX._of(one) for one in masonry.wall(count, courses, brick, corner, bond, volid, surfid)]


@command("ARCH")
def ARCH(
    radius: float, thickness: float, width: float, count: int, angle: float = 180.0, center: Vector = (0.0, 0.0, 0.0), volid: int = 0, surfid: int = 0
) -> list[CONVEX]:  # fmt: skip
    """Voussoirs of a circular arch in the plane of x and z, one shape for each body.

    Parameters
    ----------
    radius : float
        Of the arch's middle, positive.
    thickness : float
        Of the ring, positive and less than twice the radius.
    width : float
        Extent along y, positive.
    count : int
        Number of voussoirs; each spans less than 180 degrees.
    angle : float
        Degrees that the arch spans, above 0 and below 360.
    center : tuple of 3
        Centre of the circle, in the middle of the width.
    volid, surfid : int
        Volume and surface identifiers.

    Returns
    -------
    list of CONVEX
        From the left springing (x low) to the right one.
    """
    radius, thickness, width = (checks.positive(v, n) for v, n in ((radius, "radius"), (thickness, "thickness"), (width, "width")))
    if thickness >= 2.0 * radius:
        raise BadValue(f"'thickness' must be less than twice the radius, {2.0 * radius:g}; it is {thickness:g}")
    angle = checks.positive(angle, "angle")
    if angle >= 360.0:
        raise BadValue(f"'angle' must be less than 360 degrees, it is {angle:g}")
    count, center = pieces_of(count, "count"), point_of(center, "center")
    if angle / count >= 180.0:
        raise BadValue(f"'count' must be greater than angle / 180 = {angle / 180.0:g}, it is {count}")
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    with reported("'radius', 'thickness', 'width' and 'count'"):
        return [CONVEX._of(one) for one in masonry.arch(radius, thickness, width, count, math.radians(angle), center, volid, surfid)]


@command("PACKING")
def PACKING(
    count: int, low: Vector, high: Vector, radius: float | Sequence[float], shape: CONVEX | ELLIP | None = None,
    random: int = 0, volid: int = 0, surfid: int = 0,
) -> list[SPHERE] | list[CONVEX] | list[ELLIP]:  # fmt: skip
    """Balls, or copies of a shape, at random places of a box, none of which touch.

    Parameters
    ----------
    count : int
        At least 1.
    low, high : tuple of 3
        Corners of the box, in which all of them lie.
    radius : float or tuple of 2
        Of the balls, positive, or (least, greatest), between which sizes are evenly distributed.
    shape : CONVEX or ELLIP, optional
        Copies of it are made as large as the balls, turned at random; not changed.
    random : int
        Seed: another number gives another packing.
    volid, surfid : int
        Volume and surface identifiers of balls; copies keep those of the shape.

    Returns
    -------
    list of SPHERE, CONVEX or ELLIP
    """
    count, low, high = pieces_of(count, "count"), point_of(low, "low"), point_of(high, "high")
    if not (low < high).all():
        raise BadValue(f"'high' must be greater than 'low' along x, y and z; low is {tuple(low.tolist())}, high is {tuple(high.tolist())}")
    least, greatest = checks.vector(radius, "radius", 2) if checks.is_sequence(radius) else (radius, radius)
    least, greatest = checks.positive(least, "radius"), checks.positive(greatest, "radius")
    if least > greatest:
        raise BadValue(f"'radius' must be (least, greatest), it is ({least:g}, {greatest:g})")
    seed = checks.integer(random, "random", 0)
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    if shape is not None:
        shape_of(shape, "shape", (CONVEX, ELLIP))
    numbers = np.random.default_rng(seed)
    radii = numbers.uniform(least, greatest, count)
    with reported():
        centres = packing.places(radii, low, high, numbers)
        if shape is None:
            return [SPHERE._of(Sphere(centre, float(r), volid, surfid)) for centre, r in zip(centres, radii)]
        return [KINDS[type(one)]._of(one) for one in _copies(shape._content, centres, radii, packing.turns(count, numbers))]


def _copies(content, centres: np.ndarray, radii: np.ndarray, rotations: np.ndarray) -> list:
    """Copies of a shape in balls, the middle of its extent at their centres."""
    if isinstance(content, Convex):
        vertices = np.concatenate([one.vertices for one in content.polyhedra])
        middle = 0.5 * (vertices.min(0) + vertices.max(0))
        reach = np.sqrt(((vertices - middle) ** 2).sum(1).max())
    else:
        middle, reach = content.centre, content.radii.max()
    found = []
    for centre, radius, rotation in zip(centres, radii, rotations):
        one = copy(content)
        one.translate(-middle)
        one.rotate(np.zeros(3), rotation)
        one.scale(np.full(3, radius / reach))
        one.translate(centre)
        found.append(one)
    return found
