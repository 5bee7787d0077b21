"""Boxes, cylinders, capsules, ground and terrain (docs/language-objects.md, Solids)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .convex import Convex
from .coordinates import LARGEST
from .hex_mesh import hex_mesh
from .identifiers import identifier
from .mesh import Mesh
from .polyhedron import FaceSet, Polyhedron

CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))  # of a rectangle, counter-clockwise seen from above
BOX_FACES = ((3, 2, 1, 0), (0, 4, 7, 3), (2, 3, 7, 6), (1, 2, 6, 5), (0, 1, 5, 4), tuple(range(4, 8)))
"""Faces of a hexahedron in the order of HEX: z low, x low, y high, x high, y low, z high."""

HALVES = 0.5 * np.array([(x, y, z) for z in (-1, 1) for x, y in CORNERS], float)
THIN = 1e-3  # least edge over the longest one below which a box is checked as any polyhedron


def hexahedron(corners: np.ndarray, volume: int, surfaces) -> Convex:
    """Convex of 8 corners (8, 3): four of the lower layer, counter-clockwise seen from above, then those above them."""
    return Convex([Polyhedron(corners, BOX_FACES, surfaces, volume)])


def box(centre: np.ndarray, size: np.ndarray, volume: int, surfaces) -> Convex:
    """Box along the axes; ValueError if it is too thin, tiny or far away to be a polyhedron."""
    return sound_box(centre, size, volume, surfaces) or hexahedron(box_corners(centre, size), volume, surfaces)


def sound_box(centre: np.ndarray, size: np.ndarray, volume: int, surfaces) -> Convex | None:
    """Box along the axes; None: it is thin, tiny or far away, and needs the checks of `box`.

    Boxes whose faces have the same surface identifiers share these faces.
    """
    corners = box_corners(centre, size)
    low, high = corners[0].tolist(), corners[6].tolist()
    edges = [end - start for start, end in zip(low, high)]
    if not min(edges) > max(THIN * max(edges), 1.0 / LARGEST) or max(map(abs, low + high)) > LARGEST:
        return None
    return Convex([Polyhedron.trusted(corners, box_faces(tuple(surfaces)), volume)])


@lru_cache(maxsize=256)
def box_faces(surfaces: tuple[int, ...]) -> FaceSet:
    """Faces of boxes in the order of HEX, with six surface identifiers."""
    return FaceSet(BOX_FACES, np.array([identifier(surface, "surfid") for surface in surfaces], np.int32))


def box_corners(centre: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Corners (8, 3) of a box along the axes, in the order of `hexahedron`."""
    return centre + HALVES * size


def box_mesh(centre: np.ndarray, size: np.ndarray, divisions, volume: int, surfaces) -> Mesh:
    """Mesh of a box along the axes with so many hexahedra along x, y and z."""
    return hex_mesh(box_corners(centre, size).ravel(), *divisions, volume, surfaces)


def prism(point: np.ndarray, axis: np.ndarray, radius: float, sides: int, volume: int, surfaces) -> Convex:
    """Prism inscribed in a cylinder; `surfaces` of base, far end and wall."""
    ring = radius * circle(axis, sides)
    vertices = np.concatenate((point + ring, point + axis + ring))
    base, end = tuple(range(sides))[::-1], tuple(range(sides, 2 * sides))
    walls = [(k, (k + 1) % sides, sides + (k + 1) % sides, sides + k) for k in range(sides)]
    return Convex([Polyhedron(vertices, [base, end, *walls], [surfaces[0], surfaces[1], *[surfaces[2]] * sides], volume)])


def capsule(point: np.ndarray, axis: np.ndarray, radius: float, sides: int, volume: int, surface: int) -> Convex:
    """Polyhedron inscribed in a capsule: a cylinder between two half-balls, cut along parallels and meridians."""
    direction = axis / np.sqrt(axis @ axis)
    ring, count = circle(axis, sides), max(1, sides // 4)
    heights = np.arange(count) * (0.5 * np.pi / count)  # latitudes of the rings of a half-ball, from its equator
    low = [point + radius * (np.cos(t) * ring - np.sin(t) * direction) for t in heights[::-1]]
    high = [point + axis + radius * (np.cos(t) * ring + np.sin(t) * direction) for t in heights]
    vertices = np.concatenate([[point - radius * direction], *low, *high, [point + axis + radius * direction]])
    south, north = 0, len(vertices) - 1
    start = [1 + sides * r for r in range(2 * count)]  # first vertex of every ring
    faces = [(south, start[0] + (k + 1) % sides, start[0] + k) for k in range(sides)]
    for below, above in zip(start, start[1:]):
        faces += [(below + k, below + (k + 1) % sides, above + (k + 1) % sides, above + k) for k in range(sides)]
    faces += [(north, start[-1] + k, start[-1] + (k + 1) % sides) for k in range(sides)]
    return Convex([Polyhedron(vertices, faces, [surface] * len(faces), volume)])


def slab(point: np.ndarray, normal: np.ndarray, size: float, thickness: float, volume: int, surface: int) -> Convex:
    """Square slab below a plane: its upper face has its middle at `point`."""
    normal = normal / np.sqrt(normal @ normal)
    first, second = across(normal)
    upper = np.array([point + 0.5 * size * (x * first + y * second) for x, y in CORNERS])
    return hexahedron(np.concatenate((upper - thickness * normal, upper)), volume, [surface] * 6)


def terrain(heights: np.ndarray, spacing, corner, depth: float, volume: int, surface: int) -> Mesh:
    """Mesh of wedges below a surface: two triangles for each cell of a grid of heights (n, m)."""
    rows, columns = heights.shape
    x, y = np.meshgrid(corner[0] + spacing[0] * np.arange(rows), corner[1] + spacing[1] * np.arange(columns), indexing="ij")
    lower = np.full(heights.size, heights.min() - depth)
    nodes = np.stack((np.tile(x.ravel(), 2), np.tile(y.ravel(), 2), np.concatenate((lower, heights.ravel()))), 1)
    number = np.arange(heights.size).reshape(rows, columns)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.stack((np.stack((a, b, c), -1), np.stack((a, c, d), -1)), 2).reshape(-1, 3)
    wedges = np.concatenate((np.full((len(triangles), 1), 6), triangles, triangles + heights.size, np.full((len(triangles), 1), volume)), 1)
    return Mesh.from_records(nodes.ravel(), wedges.ravel().tolist(), [surface])


def circle(axis: np.ndarray, sides: int) -> np.ndarray:
    """Points (sides, 3) of a unit circle round an axis, counter-clockwise seen from its end."""
    first, second = across(axis / np.sqrt(axis @ axis))
    angle = 2.0 * np.pi * np.arange(sides) / sides
    return np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second


def across(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors across a unit vector, with which they make a right-handed frame; those of z are x and y."""
    helper = np.eye(3)[0 if abs(direction[0]) < 0.9 else 1]
    first = helper - (helper @ direction) * direction
    first /= np.sqrt(first @ first)
    return first, np.cross(direction, first)
