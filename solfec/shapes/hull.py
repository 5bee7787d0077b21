"""Convex hull of points (docs/language-objects.md, HULL), by Qhull on points scaled to the unit box.

Corners of boxes, and of other hexahedra with plane faces, are told by their order: most inputs list them as HEX takes them, and
SciPy's Qhull takes 40 MB and, for a box, ten times as long.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from .convex import Convex
from .coordinates import LARGEST, points_of
from .coplanar import COPLANAR, in_use
from .identifiers import identifier
from .polyhedron import FaceSet, Polyhedron, backwards
from .solids import BOX_FACES, THIN

ROWS = (0, 1, 3, 2, 4, 5, 7, 6)  # corners in the order of HEX among those in the order x, y, z: (0, 0, 0), (1, 0, 0), (0, 1, 0), ...
LISTED = tuple((faces, np.array(faces, np.int32).T) for faces in (BOX_FACES, tuple(tuple(ROWS[v] for v in face) for face in BOX_FACES)))
"""Faces of hexahedra with corners in the order of HEX, and in the order x, y, z: as tuples, and as the kernel takes them (4, 6)."""

FLAT = 1e-9  # relative extent below which points count as coincident, collinear or coplanar
SPANNED = ("coincide (they span a point)", "are collinear (they span a line)", "are coplanar (they span a plane)")  # along so many axes

_points, _merge_simplices = _kernels.point_sets, _kernels.coplanar_faces.merge_simplices


def hull(points, volume_id: int = 0, surface_id: int = 0, epsilon: float = 1e-6) -> Convex:
    """Convex hull of a point set, with coplanar triangles merged into polygons.

    Parameters
    ----------
    points : array_like (n, 3) or 3 n numbers
        Points, in units of length; at least 4.
    volume_id, surface_id : int
        Volume identifier, and surface identifier of all faces.
    epsilon : float
        Geometric epsilon: points closer than this (at most 1E-4 of the size) are merged into the first of them.

    Returns
    -------
    Convex
        A collection of one polyhedron whose vertices are the extreme points, in the order of input.

    Raises
    ------
    ValueError
        Fewer than 4 points or coordinates that are not finite.
    SolfecError
        Points that are coincident, collinear or coplanar.
    """
    points = points_of(points, "points")
    volume_id, surface_id = identifier(volume_id, "volid"), identifier(surface_id, "surfid")
    if (known := hexahedral_hull(points, volume_id, surface_id)) is not None:
        return known
    lower, upper = points.min(0), points.max(0)
    size = float((upper - lower).max())
    if size == 0.0:
        raise SolfecError(f"HULL failed: all points {SPANNED[0]}")
    scaled = (points - 0.5 * (lower + upper)) / size
    tolerance = max(1e-12, min(epsilon / size, 1e-4))
    kept = distinct(scaled, tolerance)
    points, scaled = points[kept], scaled[kept]
    check_rank(scaled)
    start, corners = hull_faces(scaled)
    used, corners = in_use(len(points), corners)
    face_set = FaceSet.of_lists(start, corners, np.full(len(start) - 1, surface_id, np.int32))
    return Convex([Polyhedron.trusted(points[used], face_set, volume_id)])


def hexahedral_hull(points: np.ndarray, volume_id: int, surface_id: int) -> Convex | None:
    """Hull of finite points (n, 3) that are the corners of a hexahedron in a known order, which it keeps as vertices; None: they are others, or too large."""
    if len(points) != 8 or not np.maximum.reduce(np.abs(points), axis=None) <= LARGEST or (faces := hexahedron(points)) is None:
        return None
    return Convex([Polyhedron.trusted(points, face_set_of(faces, surface_id), volume_id)])


def hexahedron(points: np.ndarray) -> tuple[tuple[int, ...], ...] | None:
    """Return the faces of a convex hexahedron of 8 corners in one of the `LISTED` orders, or in its mirror image; None: the points are no such corners.

    Faces are plane within the tolerance of `hull_faces`. Every other corner lies well below them, so corners are distinct and no
    two faces are coplanar.
    """
    for faces, corners in LISTED:
        sense = _kernels.polyhedron_moments.tell_hexahedron(points.T, corners, COPLANAR, THIN)
        if sense:
            return faces if sense > 0 else tuple(map(backwards, faces))
    return None


@lru_cache(maxsize=256)
def face_set_of(faces: tuple[tuple[int, ...], ...], surface: int) -> FaceSet:
    """Faces with one surface identifier, which hexahedra share."""
    return FaceSet(faces, np.full(len(faces), surface, np.int32))


def distinct(points: np.ndarray, tolerance: float) -> np.ndarray:
    """Return numbers of points (n, 3) that are not within `tolerance` of an earlier point that is kept."""
    if len(points) <= 64:
        return np.flatnonzero(_points.mark_distinct(points.T, tolerance))
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(tolerance, p=np.inf, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    kept = np.ones(len(points), bool)
    for earlier, later in pairs.tolist():
        if kept[earlier]:
            kept[later] = False
    return np.flatnonzero(kept)


def check_rank(points: np.ndarray) -> None:
    """Raise SolfecError when points of unit size span only a point, a line or a plane."""
    axes = _points.count_axes(points.T, FLAT)
    if axes < 3:
        raise SolfecError(f"HULL failed: all points {SPANNED[axes]}")


def hull_faces(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the outward polygons of the hull of distinct points of unit size (`FaceSet.lists`)."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        qhull = ConvexHull(points)
    except QhullError as failure:
        raise SolfecError(f"HULL failed: {str(failure).splitlines()[0]}") from None
    count = len(qhull.simplices)
    start, corners = np.empty(count + 1, np.int32), np.empty(3 * count, np.int32)
    faces = _merge_simplices(points.T, qhull.simplices.T, qhull.neighbors.T, qhull.equations.T, COPLANAR, start, corners)
    return start[: faces + 1], corners[: start[faces]]
