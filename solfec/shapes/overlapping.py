"""Test which shapes touch or overlap obstacles (docs/language-objects.md, OVERLAPPING)."""

from __future__ import annotations

import numpy as np

from ..contact import narrow
from ..contact.geometry import Geometry, PrimitiveKind
from .adjacency import box_pairs
from .point_query import contains
from .primitives import compile
from .rest_adjacency import settle


def overlapping(obstacles: list, shapes: list, gap: float = 0.0, epsilon: float = 1e-6) -> np.ndarray:
    """Tell which shapes are in contact with any of the obstacles.

    Parameters
    ----------
    obstacles, shapes : lists of Convex, Mesh, Sphere, Ellipsoid
        Not changed.
    gap : float
        Not positive: a contact counts when its gap is at most this length.
    epsilon : float
        Geometric epsilon, in units of length.

    Returns
    -------
    ndarray (len(shapes),) of bool
        Shapes inside interior elements of a mesh count, and so do meshes round an obstacle.
    """
    if not gap <= 0.0:
        raise ValueError(f"'gap' must not be positive, it is {gap:g}")
    geometry, owner, ranges = _tables(obstacles + shapes, epsilon)
    boxes = geometry.primitives.view("box")
    one, two = box_pairs(boxes[:3].T, boxes[3:].T)
    count = len(obstacles)
    mixed = (owner[one] < count) != (owner[two] < count)
    one, two = one[mixed], two[mixed]
    hit = np.zeros(len(shapes), bool)
    one, two = _in_contact(geometry, one, two, gap, epsilon)
    hit[np.maximum(owner[one], owner[two]) - count] = True  # shapes come after all obstacles
    for k in np.flatnonzero(~hit).tolist():
        hit[k] = any(
            _inside(geometry, ranges[a], ranges[b], epsilon)
            for obstacle in range(count)
            for a, b in ((obstacle, count + k), (count + k, obstacle))
        )
    return hit


def _tables(shapes: list, epsilon: float) -> tuple[Geometry, np.ndarray, list[tuple[int, int]]]:
    """Return the geometry at rest of shapes, each as one body; the shape of every primitive; rows of every shape."""
    geometry = Geometry()
    ranges = [geometry.add(number, compile(shape, epsilon)) for number, shape in enumerate(shapes)]
    settle(geometry, epsilon)
    return geometry, geometry.primitives.view("body"), ranges


def _in_contact(geometry: Geometry, one, two, gap: float, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of primitives in contact with a gap up to `gap`; in each pair a polyhedron comes first."""
    if not len(one):
        return one, two
    curved = geometry.primitives.view("kind") >= PrimitiveKind.SPHERE
    swap = curved[one] & ~curved[two]
    first = np.where(swap, two, one).astype(np.int32)
    second = np.where(swap, one, two).astype(np.int32)
    result = narrow.NarrowResult()
    narrow.narrow_phase(geometry, len(first), first, second, epsilon, False, result)
    met = (result.view("status") == 1) & (result.view("gap") <= gap)
    return one[met], two[met]


def _inside(geometry: Geometry, outer: tuple[int, int], inner: tuple[int, int], epsilon: float) -> bool:
    """Whether the first vertex of one shape lies in another one, also in interior elements, which are no primitives."""
    primitives = geometry.primitives
    first, count = outer
    if not (primitives.kind[first : first + count] == PrimitiveKind.ELEMENT).any():
        return False
    vertex = geometry.vertex_lists.vertex[primitives.vertex_ptr[inner[0]]]
    return contains(geometry, first, count, geometry.vertices.reference[:, vertex], epsilon)
