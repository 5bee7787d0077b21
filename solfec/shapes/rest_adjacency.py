"""Adjacency of primitives of one body that overlap at rest, if one is curved or their kinds differ."""

from __future__ import annotations

import numpy as np

from ..contact import narrow
from ..contact.geometry import Geometry, PrimitiveKind, ShapePrimitives
from .adjacency import box_pairs, rows_of_pairs


def adjoin_overlapping(shape: ShapePrimitives, epsilon: float) -> None:
    """Make two primitives adjacent if they are closer than `epsilon` (length) at rest and one is curved or their kinds differ.

    Self-contact ignores adjacent primitives: spheres of a clump may overlap.
    """
    if shape.kind.size < 2 or (shape.kind.max() < PrimitiveKind.SPHERE and shape.kind.min() == shape.kind.max()):
        return
    geometry = Geometry()
    geometry.add(0, shape)
    settle(geometry, epsilon)
    boxes = geometry.primitives.view("box")
    one, two = (rows.astype(np.int32) for rows in box_pairs(boxes[:3].T, boxes[3:].T))
    curved = np.maximum(shape.kind[one], shape.kind[two]) >= PrimitiveKind.SPHERE
    asked = curved | (shape.kind[one] != shape.kind[two])
    one, two = one[asked], two[asked]
    if not one.size:
        return
    near = narrow.gjk_distance(geometry, one, two)[0] < epsilon
    known = np.repeat(np.arange(shape.kind.size), shape.adjacent_count)
    one, two = np.concatenate((one[near], two[near], known)), np.concatenate((two[near], one[near], shape.adjacency))
    pointers, neighbours = rows_of_pairs(one, two, shape.kind.size)
    shape.adjacency = neighbours.astype(np.int32)
    shape.adjacent_ptr, shape.adjacent_count = pointers[:-1].astype(np.int32), np.diff(pointers).astype(np.int32)


def settle(geometry: Geometry, epsilon: float) -> None:
    """Compute normals of faces, axes of ellipsoids and boxes of primitives (enlarged by `epsilon`) of shapes at rest."""
    points, faces, primitives = geometry.vertices.current, geometry.faces, geometry.primitives
    if faces.n:
        lead = geometry.corners.vertex[faces.view("corner_ptr")[:, None] + np.arange(3)]
        a, b, c = (points[:, lead[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a, axis=0)
        faces.view("normal")[:] = normal / np.sqrt((normal**2).sum(0))
    listed = points[:, geometry.vertex_lists.view("vertex")]
    start = primitives.view("vertex_ptr")
    reach = epsilon + primitives.view("radius") + np.sqrt((primitives.view("axes") ** 2).sum(1))
    primitives.view("box")[:3] = np.minimum.reduceat(listed, start, axis=1) - reach
    primitives.view("box")[3:] = np.maximum.reduceat(listed, start, axis=1) + reach
