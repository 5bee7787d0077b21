"""Merging coplanar neighbouring faces of a convex polyhedron into polygons (fortran/shapes/coplanar_faces.f90)."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .polyhedron import FaceSet
from .vectors import cross

COPLANAR = 1e-9  # distance from a neighbour's plane, relative to the size, within which faces are coplanar

_merge_faces = _kernels.coplanar_faces.merge_faces


def face_normals(points: np.ndarray, corner: np.ndarray, following: np.ndarray, start: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return unit normals (nf, 3) of polygons (area vectors), whose edges begin at `start`; zero where a face has no area."""
    base = points[corner[start]][face]
    area = np.add.reduceat(cross(points[corner] - base, points[following] - base), start, axis=0)
    length = np.sqrt((area**2).sum(1, keepdims=True))
    return np.divide(area, length, out=np.zeros_like(area), where=length > 0.0)


def merged(points: np.ndarray, face_set: FaceSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge coplanar neighbours that have the same surface identifier.

    Parameters
    ----------
    points : ndarray (nv, 3)
        Vertices.
    face_set : FaceSet

    Returns
    -------
    start, corners, surfaces
        Lists of faces (`FaceSet.lists`), and their surface identifiers; those of `face_set` if there is nothing to merge.
    """
    start, corners = face_set.lists
    merged_start, merged_corners, first = np.empty_like(start), np.empty_like(corners), np.empty(len(start) - 1, np.int32)
    count = _merge_faces(points.T, start, corners, face_set.surfaces, COPLANAR * extent(points), merged_start, merged_corners, first)
    if count == len(first):
        return start, corners, face_set.surfaces
    return merged_start[: count + 1], merged_corners[: merged_start[count]], face_set.surfaces[first[:count]]


def extent(points: np.ndarray) -> float:
    """Return the largest extent of points (n, 3) along an axis."""
    return float((points.max(0) - points.min(0)).max())


def in_use(count: int, corners: np.ndarray) -> tuple[np.ndarray | slice, np.ndarray]:
    """Return which of so many vertices are corners (a slice: all of them), and the corners' numbers among these."""
    present = np.zeros(count, bool)
    present[corners] = True
    if present.all():
        return slice(None), corners
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.int32) - 1).take(corners)
