"""BOX, CYLINDER, CAPSULE, PLANE and TERRAIN, which Solfec-1.0 does not have (docs/language-objects.md, Solids)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from ..shapes import solids
from ..shapes.coordinates import check_point, check_size
from . import checks
from .checks import BadValue, command
from .hints import Integers, Vector
from .shapes import CONVEX, MESH, refused, reported, subdivisions

MOST_HEIGHTS = 1_000_000  # points of a terrain; so many take about 3 GB and half a minute
CYLINDER_SIDES, CAPSULE_SIDES = 4096, 128  # most sides: both polyhedra have about 8200 vertices then, and take seconds to check


@command("BOX")
def BOX(
    center: Vector, size: Vector, volid: int = 0, surfid: int | Integers = 0, divisions: Sequence[int] | None = None
) -> CONVEX | MESH:
    """Box along the axes: a convex, or with `divisions` a mesh of hexahedra.

    Parameters
    ----------
    center : tuple of 3
    size : tuple of 3
        Lengths of the edges along x, y and z, positive.
    volid : int
        Volume identifier.
    surfid : int or list of 6 int
        Surface identifier of all faces, or those of z low, x low, y high, x high, y low, z high, as HEX takes them.
    divisions : tuple of 3 int, optional
        Numbers of elements along x, y and z.

    Returns
    -------
    CONVEX or MESH
    """
    center, size = point_of(center, "center"), sizes_of(size, "size")
    volid, surfaces = checks.identifier(volid, "volid"), surfaces_of(surfid, 6)
    if divisions is None:
        content = solids.sound_box(center, size, volid, surfaces)
        if content is None:
            with reported("'center' and 'size'"):
                content = solids.box(center, size, volid, surfaces)
        return CONVEX._of(content)
    divisions = checks.sequence(divisions, "divisions")
    if len(divisions) != 3:
        raise BadValue(f"'divisions' must hold 3 numbers of elements, it holds {len(divisions)}")
    counts = subdivisions(divisions, [f"divisions[{i}]" for i in range(3)])
    with reported("'center' and 'size'"):
        return MESH._of(solids.box_mesh(center, size, counts, volid, surfaces))


@command("CYLINDER")
def CYLINDER(pnt: Vector, dir: Vector, radius: float, sides: int = 24, volid: int = 0, surfid: int | Integers = 0) -> CONVEX:
    """Solid cylinder: a prism whose edges lie on the cylinder.

    Parameters
    ----------
    pnt, dir : tuple of 3
        Centre of the base, and the axis, as long as the cylinder.
    radius : float
        Positive.
    sides : int
        Number of sides, from 3 to 4096.
    volid : int
        Volume identifier.
    surfid : int or list of 3 int
        Surface identifier of all faces, or those of base, far end and wall.

    Returns
    -------
    CONVEX
    """
    pnt, dir, radius = point_of(pnt, "pnt"), np.array(checks.direction(dir, "dir")), checks.positive(radius, "radius")
    sides, volid, surfaces = sides_of(sides, 3, CYLINDER_SIDES), checks.identifier(volid, "volid"), surfaces_of(surfid, 3)
    with reported("'dir' and 'radius'"):
        return CONVEX._of(solids.prism(pnt, dir, radius, sides, volid, surfaces))


@command("CAPSULE")
def CAPSULE(pnt: Vector, dir: Vector, radius: float, sides: int = 16, volid: int = 0, surfid: int = 0) -> CONVEX:
    """Cylinder between two half-balls: a polyhedron whose vertices lie on it.

    Parameters
    ----------
    pnt, dir : tuple of 3
        Centre of the first half-ball, and the vector from there to the centre of the other one.
    radius : float
        Positive.
    sides : int
        Number of sides round the axis, from 4 to 128; each half-ball has a fourth of it in rings.
    volid, surfid : int
        Volume and surface identifiers.

    Returns
    -------
    CONVEX
    """
    pnt, dir, radius = point_of(pnt, "pnt"), np.array(checks.direction(dir, "dir")), checks.positive(radius, "radius")
    sides = sides_of(sides, 4, CAPSULE_SIDES)
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    with reported("'dir' and 'radius'"):
        return CONVEX._of(solids.capsule(pnt, dir, radius, sides, volid, surfid))


@command("PLANE")
def PLANE(point: Vector, normal: Vector, size: float, thickness: float | None = None, volid: int = 0, surfid: int = 0) -> CONVEX:
    """Ground: a square slab whose upper face lies on a plane.

    Parameters
    ----------
    point : tuple of 3
        Middle of the upper face.
    normal : tuple of 3
        Normal of the plane, out of the slab.
    size : float
        Edge of the square, positive.
    thickness : float, optional
        Positive; a tenth of `size` by default.
    volid, surfid : int
        Volume and surface identifiers.

    Returns
    -------
    CONVEX
    """
    point, normal, size = point_of(point, "point"), np.array(checks.direction(normal, "normal")), checks.positive(size, "size")
    thickness = size / 10.0 if thickness is None else checks.positive(thickness, "thickness")
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    with reported("'size' and 'thickness'"):
        return CONVEX._of(solids.slab(point, normal, size, thickness, volid, surfid))


@command("TERRAIN")
def TERRAIN(
    heights: Sequence[Sequence[float]] | np.ndarray, spacing: float | Vector, corner: Vector = (0.0, 0.0), depth: float | None = None,
    volid: int = 0, surfid: int = 0,
) -> MESH:  # fmt: skip
    """Ground with hills: a mesh of wedges below a grid of heights.

    Parameters
    ----------
    heights : list of lists of numbers, or array (n, m)
        ``heights[i][j]`` is the height z at x = corner[0] + i dx, y = corner[1] + j dy; at least 2 by 2, at most a million.
    spacing : float or tuple of 2
        Distance of the points along x and y, or (dx, dy), positive.
    corner : tuple of 2
        Place (x, y) of ``heights[0][0]``.
    depth : float, optional
        Distance of the bottom from the lowest point, positive; by default the larger spacing.
    volid, surfid : int
        Volume and surface identifiers.

    Returns
    -------
    MESH
    """
    grid = heights_of(heights)
    spacing = checks.vector(spacing, "spacing", 2) if checks.is_sequence(spacing) else (checks.positive(spacing, "spacing"),) * 2
    spacing = tuple(checks.positive(step, f"spacing[{i}]") for i, step in enumerate(spacing))
    corner = checks.vector(corner, "corner", 2)
    depth = max(spacing) if depth is None else checks.positive(depth, "depth")
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    with reported("'heights', 'spacing' and 'depth'"):
        return MESH._of(solids.terrain(grid, spacing, corner, depth, volid, surfid))


def heights_of(heights) -> np.ndarray:
    """Check a grid of heights (n, m)."""
    heights = checks.sequence(heights, "heights")
    nested = next((i for i, row in enumerate(heights) if checks.is_sequence(row) and any(map(checks.is_sequence, row))), None)
    if nested is not None:
        raise BadValue(f"'heights[{nested}]' must be a list of numbers, as heights of a row; it holds lists")
    points = sum(len(row) if checks.is_sequence(row) else 1 for row in heights)
    if points > MOST_HEIGHTS:
        n = ceil((points / MOST_HEIGHTS) ** 0.5)
        raise BadValue(f"'heights' must hold at most {MOST_HEIGHTS} points, it holds {points}; heights[::{n}, ::{n}] of an array with a larger spacing is a coarser ground")
    rows = [checks.numbers(row, f"heights[{i}]") for i, row in enumerate(heights)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise BadValue("'heights' must hold at least 2 rows of 2 heights")
    odd = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if odd is not None:
        raise BadValue(f"'heights' must hold rows of equal length; row 0 has {len(rows[0])} heights, row {odd} has {len(rows[odd])}")
    with refused():
        for i, row in enumerate(rows):
            check_size(row, f"heights[{i}]")
    return np.array(rows)


def sides_of(value, least: int, most: int) -> int:
    """Check a number of sides."""
    sides = checks.integer(value, "sides", least)
    if sides > most:
        raise BadValue(f"'sides' must be at most {most}, it is {sides}")
    return sides


def point_of(value, name: str) -> np.ndarray:
    """Check a point that geometry can use."""
    point = checks.vector(value, name)
    with refused():
        check_point(point, name)
    return np.array(point)


def sizes_of(value, name: str) -> np.ndarray:
    """Check three positive lengths."""
    sizes = checks.vector(value, name)
    if not min(sizes) > 0.0:
        for i, size in enumerate(sizes):
            checks.positive(size, f"{name}[{i}]")
    return np.array(sizes)


def surfaces_of(value, count: int) -> list[int]:
    """Check one surface identifier for all faces, or one for each of `count` kinds of faces."""
    if not checks.is_sequence(value):
        return [checks.identifier(value, "surfid")] * count
    surfaces = [checks.identifier(item, f"surfid[{i}]") for i, item in enumerate(value)]
    if len(surfaces) != count:
        raise BadValue(f"'surfid' must be an integer or hold {count} of them, it holds {len(surfaces)}")
    return surfaces
