"""Is a point of the reference placement inside a body, or on it?"""

from __future__ import annotations

import numpy as np

from ..contact.geometry import Geometry, PrimitiveKind
from .adjacency import spans
from .distance import closer


def contains(geometry: Geometry, first: int, count: int, point, epsilon: float) -> bool:
    """Tell whether a referential point is within `epsilon` of the primitives of one body.

    Interior elements of a mesh are not primitives; points there are found by the solid angle of the mesh's boundary.

    Parameters
    ----------
    geometry : Geometry
        Tables; reference vertices are used.
    first, count : int
        The body's rows in the primitive table.
    point : sequence of 3 numbers
        Referential point, in units of length.
    epsilon : float
        Geometric epsilon, in units of length.
    """
    point = np.array(point, float)
    rows = np.arange(first, first + count)
    primitives = geometry.primitives
    kinds = primitives.kind[rows]
    spheres = rows[kinds == PrimitiveKind.SPHERE]
    if spheres.size and _in_sphere(geometry, spheres, point, epsilon):
        return True
    ellipsoids = rows[kinds == PrimitiveKind.ELLIPSOID]
    if ellipsoids.size and _in_ellipsoid(geometry, ellipsoids, point, epsilon):
        return True
    polyhedra = rows[(kinds == PrimitiveKind.CONVEX) | (kinds == PrimitiveKind.ELEMENT)]
    if polyhedra.size and _in_polyhedron(geometry, polyhedra, point, epsilon):
        return True
    elements = rows[kinds == PrimitiveKind.ELEMENT]
    return bool(elements.size) and abs(_winding(geometry, elements, point)) > 0.5


def _in_sphere(geometry: Geometry, rows: np.ndarray, point: np.ndarray, epsilon: float) -> bool:
    primitives = geometry.primitives
    centre = geometry.vertices.reference[:, geometry.vertex_lists.vertex[primitives.vertex_ptr[rows]]]
    distance = np.sqrt(((centre - point[:, None]) ** 2).sum(0))
    return bool((distance <= primitives.radius[rows] + epsilon).any())


def _in_ellipsoid(geometry: Geometry, rows: np.ndarray, point: np.ndarray, epsilon: float) -> bool:
    primitives = geometry.primitives
    centre = geometry.vertices.reference[:, geometry.vertex_lists.vertex[primitives.vertex_ptr[rows]]]
    local = np.einsum("ijn,in->jn", primitives.orientation[:, :, rows], point[:, None] - centre)
    return bool((np.sqrt(((local / primitives.radii[:, rows]) ** 2).sum(0)) <= 1.0 + epsilon).any())


def _in_polyhedron(geometry: Geometry, rows: np.ndarray, point: np.ndarray, epsilon: float) -> bool:
    """Signed distances to all planes decide, but for points near edges and corners, which need the true distance."""
    primitives, faces = geometry.primitives, geometry.faces
    counts = primitives.face_count[rows]
    listed = spans(primitives.face_ptr[rows], counts)
    lead = geometry.corners.vertex[faces.corner_ptr[listed, None] + np.arange(3)]
    a, b, c = (geometry.vertices.reference[:, lead[:, i]].T for i in range(3))
    normal = np.cross(b - a, c - a)
    length = np.sqrt((normal**2).sum(1))
    height = ((point - a) * normal).sum(1) / np.where(length > 0.0, length, 1.0)
    highest = np.maximum.reduceat(height, np.cumsum(counts) - counts)
    if (highest <= 0.0).any():
        return True
    near = rows[highest <= epsilon]
    if not near.size:
        return False
    clouds = [
        geometry.vertices.reference[:, geometry.vertex_lists.vertex[start : start + n]].T
        for start, n in zip(primitives.vertex_ptr[near].tolist(), primitives.vertex_count[near].tolist())
    ]
    number = np.arange(len(near))
    limit = np.nextafter(epsilon, np.inf)
    return bool(closer([*clouds, point[None]], number, np.full(len(near), len(near)), limit).any())


def _winding(geometry: Geometry, rows: np.ndarray, point: np.ndarray) -> float:
    """Solid angle of the outer faces of mesh elements seen from `point`, over that of the full sphere."""
    primitives, faces = geometry.primitives, geometry.faces
    listed = spans(primitives.face_ptr[rows], primitives.outer_count[rows])
    counts = faces.corner_count[listed] - 2
    start = faces.corner_ptr[listed]
    second = spans(start + 1, counts)
    lead, corner = np.repeat(start, counts), geometry.corners.vertex
    a, b, c = (geometry.vertices.reference[:, corner[r]] - point[:, None] for r in (lead, second, second + 1))
    la, lb, lc = (np.sqrt((v**2).sum(0)) for v in (a, b, c))
    volume = (a * np.cross(b, c, axis=0)).sum(0)
    scale = la * lb * lc + (a * b).sum(0) * lc + (b * c).sum(0) * la + (c * a).sum(0) * lb
    return float(2.0 * np.arctan2(volume, scale).sum() / (4.0 * np.pi))
