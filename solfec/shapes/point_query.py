"""Test whether a referential point is inside a body or on it."""

from __future__ import annotations

import numpy as np

from ..contact.geometry import Geometry, PrimitiveKind
from ..tables import ranges
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
    if _holding(geometry, rows, point, epsilon).any():
        return True
    elements = rows[geometry.primitives.kind[rows] == PrimitiveKind.ELEMENT]
    return bool(elements.size) and abs(_winding(geometry, elements, point)) > 0.5


def first_holder(geometry: Geometry, first: int, count: int, point, epsilon: float) -> int | None:
    """Return the number, within a body, of the first primitive that holds a referential point within `epsilon`.

    See `contains` for the parameters. None: no primitive holds it; interior elements of meshes are no primitives.
    """
    holding = np.flatnonzero(_holding(geometry, np.arange(first, first + count), np.array(point, float), epsilon))
    return int(holding[0]) if holding.size else None


def _holding(geometry: Geometry, rows: np.ndarray, point: np.ndarray, epsilon: float) -> np.ndarray:
    """Return whether each primitive holds the point."""
    kinds = geometry.primitives.kind[rows]
    holding = np.zeros(rows.size, bool)
    for chosen, holds in (
        (kinds == PrimitiveKind.SPHERE, _in_sphere),
        (kinds == PrimitiveKind.ELLIPSOID, _in_ellipsoid),
        ((kinds == PrimitiveKind.CONVEX) | (kinds == PrimitiveKind.ELEMENT), _in_polyhedron),
    ):
        if chosen.any():
            holding[chosen] = holds(geometry, rows[chosen], point, epsilon)
    return holding


def _in_sphere(geometry: Geometry, rows: np.ndarray, point: np.ndarray, epsilon: float) -> np.ndarray:
    primitives = geometry.primitives
    centre = geometry.vertices.reference[:, geometry.vertex_lists.vertex[primitives.vertex_ptr[rows]]]
    distance = np.sqrt(((centre - point[:, None]) ** 2).sum(0))
    return distance <= primitives.radius[rows] + epsilon


def _in_ellipsoid(geometry: Geometry, rows: np.ndarray, point: np.ndarray, epsilon: float) -> np.ndarray:
    primitives = geometry.primitives
    centre = geometry.vertices.reference[:, geometry.vertex_lists.vertex[primitives.vertex_ptr[rows]]]
    local = np.einsum("ijn,in->jn", primitives.orientation[:, :, rows], point[:, None] - centre)
    return np.sqrt(((local / primitives.radii[:, rows]) ** 2).sum(0)) <= 1.0 + epsilon


def _in_polyhedron(geometry: Geometry, rows: np.ndarray, point: np.ndarray, epsilon: float) -> np.ndarray:
    """Test convexes and mesh elements by the hull of their vertices, since faces of elements need not be plane."""
    primitives = geometry.primitives
    counts = primitives.vertex_count[rows]
    listed = geometry.vertex_lists.vertex[ranges(primitives.vertex_ptr[rows], counts)]
    return in_hulls(geometry.vertices.reference[:, listed].T, counts, point, epsilon)


def in_hulls(vertices: np.ndarray, counts: np.ndarray, point: np.ndarray, epsilon: float) -> np.ndarray:
    """Tell which convex hulls are no further than `epsilon` from a point.

    Parameters
    ----------
    vertices : ndarray (sum of counts, 3)
        Vertices of one set after another, in units of length.
    counts : ndarray (n,) of int
        Number of vertices of every set.
    point : ndarray (3,)
    epsilon : float
        Geometric epsilon, in units of length.

    Returns
    -------
    ndarray (n,) of bool
    """
    starts = np.cumsum(counts) - counts
    lower, upper = np.minimum.reduceat(vertices, starts), np.maximum.reduceat(vertices, starts)
    holding = ((point >= lower - epsilon) & (point <= upper + epsilon)).all(1)
    near = np.flatnonzero(holding)
    if near.size:
        clouds = [vertices[start : start + n] for start, n in zip(starts[near].tolist(), counts[near].tolist())]
        limit = np.nextafter(epsilon, np.inf)
        holding[near] = closer([*clouds, point[None]], np.arange(near.size), np.full(near.size, near.size), limit)
    return holding


def _winding(geometry: Geometry, rows: np.ndarray, point: np.ndarray) -> float:
    """Solid angle of the outer faces of mesh elements seen from `point`, over that of the full sphere."""
    primitives, faces = geometry.primitives, geometry.faces
    listed = ranges(primitives.face_ptr[rows], primitives.outer_count[rows])
    counts = faces.corner_count[listed] - 2
    start = faces.corner_ptr[listed]
    second = ranges(start + 1, counts)
    lead, corner = np.repeat(start, counts), geometry.corners.vertex
    a, b, c = (geometry.vertices.reference[:, corner[r]] - point[:, None] for r in (lead, second, second + 1))
    la, lb, lc = (np.sqrt((v**2).sum(0)) for v in (a, b, c))
    volume = (a * np.cross(b, c, axis=0)).sum(0)
    scale = la * lb * lc + (a * b).sum(0) * lc + (b * c).sum(0) * la + (c * a).sum(0) * lb
    return float(2.0 * np.arctan2(volume, scale).sum() / (4.0 * np.pi))
