"""Faces between the convexes of one body.

Such a face is not on the body's surface.  If it took part in contacts, contacts beside a seam would get a sideways normal.
"""

from __future__ import annotations

import numpy as np

from ..contact.geometry import ShapePrimitives
from ..tables import ranges
from .identifiers import INTERNAL_FACE

BARE = 1e-6  # part of a face's area that may lie against nothing, besides a rim as wide as the geometric epsilon


def hide_seams(shape: ShapePrimitives, pointers: np.ndarray, neighbours: np.ndarray, epsilon: float) -> None:
    """Mark faces as internal that lie wholly against faces of other convexes of one body.

    Parameters
    ----------
    shape : ShapePrimitives
        Its leading primitives are the convexes; changed in place.
    pointers, neighbours : ndarray of int
        Convexes that touch, from `convex_adjacency`.
    epsilon : float
        Faces within this distance lie against each other.
    """
    convexes = len(pointers) - 1
    faces = ranges(shape.face_ptr[:convexes], shape.face_count[:convexes])
    owner = np.repeat(np.arange(convexes), shape.face_count[:convexes])
    polygons = [shape.vertices[:, shape.corners[c : c + n]].T for c, n in zip(shape.face_corner_ptr[faces], shape.face_corner_count[faces])]
    areas = np.array([area_vector(polygon) for polygon in polygons])
    sizes = np.sqrt((areas**2).sum(1))
    normals, offsets = areas / sizes[:, None], np.array([polygon[0] for polygon in polygons])
    bare = [[polygon] for polygon in polygons]
    for one, two in _facing(owner, pointers, neighbours, normals):
        for mine, other in ((one, two), (two, one)):
            if np.abs((polygons[other] - offsets[mine]) @ normals[mine]).max() <= epsilon:
                bare[mine] = bare_parts(bare[mine], polygons[other], normals[mine])
    rims = np.array([np.sqrt(((polygon - np.roll(polygon, 1, axis=0)) ** 2).sum(1)).sum() for polygon in polygons])
    left = np.array([sum(float(area_vector(part) @ normal) for part in parts) for parts, normal in zip(bare, normals)])
    hidden = left <= BARE * sizes + rims * epsilon
    if hidden.any():
        _put_last(shape, faces, owner, hidden)


def _facing(owner, pointers, neighbours, normals) -> np.ndarray:
    """Return pairs of faces of opposite directions on touching convexes; numbers count all faces of convexes."""
    counts = np.bincount(owner, minlength=len(pointers) - 1)
    first = np.cumsum(counts) - counts
    one = np.repeat(np.arange(len(counts)), np.diff(pointers))
    one, two = one[one < neighbours], neighbours[one < neighbours]
    number = counts[one] * counts[two]
    pair = np.repeat(np.arange(len(one)), number)
    within = ranges(np.zeros(len(one), int), number)
    a, b = first[one[pair]] + within // counts[two[pair]], first[two[pair]] + within % counts[two[pair]]
    opposite = (normals[a] * normals[b]).sum(1) < -0.999
    return np.stack((a, b), 1)[opposite]


def _put_last(shape: ShapePrimitives, faces: np.ndarray, owner: np.ndarray, hidden: np.ndarray) -> None:
    """Order the faces of every convex so that internal ones follow the others, and count these."""
    columns = {name: np.array(getattr(shape, name)) for name in ("face_corner_ptr", "face_corner_count", "face_surface", "outer_count")}
    columns["face_surface"][faces[hidden]] = INTERNAL_FACE
    hidden = columns["face_surface"][faces] == INTERNAL_FACE
    order = faces[np.lexsort((hidden, owner))]
    for name in ("face_corner_ptr", "face_corner_count", "face_surface"):
        columns[name][faces] = columns[name][order]
    convexes = owner[-1] + 1
    columns["outer_count"][:convexes] = np.bincount(owner[~hidden], minlength=convexes)
    for name, column in columns.items():
        setattr(shape, name, column)


def area_vector(polygon: np.ndarray) -> np.ndarray:
    """Area times unit normal of a plane polygon (n, 3)."""
    spokes = polygon[1:] - polygon[0]
    return 0.5 * np.cross(spokes[:-1], spokes[1:]).sum(0)


def bare_parts(polygons: list[np.ndarray], other: np.ndarray, normal: np.ndarray) -> list[np.ndarray]:
    """Subtract a convex polygon (n, 3) from convex polygons, seen along their unit `normal`; return convex parts."""
    other = other if area_vector(other) @ normal > 0.0 else other[::-1]
    parts = []
    for rest in polygons:
        for start, end in zip(other, np.roll(other, -1, axis=0)):
            inward = np.cross(normal, end - start)
            parts.append(_half(rest, start, -inward))
            rest = _half(rest, start, inward)
    return [part for part in parts if len(part)]


def _half(polygon: np.ndarray, point: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the part of a convex polygon on one side of a line (Sutherland and Hodgman, 1974), possibly without corners."""
    height = (polygon - point) @ direction
    half = []
    for i, corner in enumerate(polygon):
        if (height[i - 1] < 0.0) != (height[i] < 0.0):
            half.append(polygon[i - 1] + (corner - polygon[i - 1]) * (height[i - 1] / (height[i - 1] - height[i])))
        if height[i] >= 0.0:
            half.append(corner)
    return np.array(half) if len(half) > 2 else np.zeros((0, 3))
