"""The narrow phase: from pairs of primitives to contacts."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Table
from .current_faces import current_faces
from .geometry import Geometry

_pair_contacts = _kernels.pair_queries.pair_contacts
_overlap_volumes = _kernels.pair_queries.overlap_volumes
_primitive_distances = _kernels.pair_queries.primitive_distances

_ERRORS = {2: "a primitive row is out of range"}


class NarrowResult(Table):
    """Results of the narrow phase, one row per pair; rows of pairs without contact (status 0) are undefined."""

    COLUMNS = {
        "status": ((), "i4", 0),  # 0 no contact, 1 contact
        "outward": ((), "i4", 0),  # 0: the first primitive is the slave and holds the outward normal, 1: the second
        "degenerate": ((), "i4", 0),  # 1: the facets' normals cancel; the normal is that of the face of least penetration
        "normal": ((3,), "f8", 0.0),  # unit, from slave to master
        "slave_point": ((3,), "f8", 0.0),
        "master_point": ((3,), "f8", 0.0),  # equals the slave's point for two polyhedra
        "gap": ((), "f8", 0.0),  # never positive without margin
        "area": ((), "f8", 0.0),  # 1 if one primitive is a sphere or an ellipsoid
        "surface": ((2,), "i4", 0),  # surface identifiers of slave and master
    }


class PatchResult(Table):
    """Points of contacts between faces, one row per pair, written by the kernel `find_patches`."""

    COLUMNS = {
        "slots": ((), "i4", 1),  # bits of the slots in use
        "point": ((3, 4), "f8", 0.0),  # half way between the bodies
        "gap": ((4,), "f8", 0.0),
    }


def narrow_phase(
    geometry: Geometry, count: int, first: np.ndarray, second: np.ndarray, epsilon: float, frozen: bool, result: NarrowResult, margin: float = 0.0
) -> None:
    """Find the contact of each pair of primitives.

    Parameters
    ----------
    geometry : Geometry
        Tables with current vertices, face normals and primitive boxes.
    count : int
        Number of pairs.
    first, second : ndarray of int32, at least `count` long
        Primitive rows.  The first polyhedron of a pair is the slave; with a sphere or an
        ellipsoid it is the polyhedron, of a sphere and an ellipsoid the sphere.
    epsilon : float
        Geometric tolerance: primitives are in contact when their distance is at most this length.
    frozen : bool
        Of two spheres or ellipsoids the first is the slave (else the one with the lexicographically smaller centre).
    result : NarrowResult
        Rows 0..count-1 are overwritten; it grows as needed.
    margin : float
        When positive, pairs nearer than this are in contact, too, and gaps are signed distances.

    Raises
    ------
    IndexError
        For a primitive row out of range.
    """
    result.reserve(count)
    result.n = count
    primitives = geometry.primitives
    kept = primitives.margin.copy(), primitives.drift.copy()
    primitives.margin[:], primitives.drift[:] = margin, 0.0
    try:
        error, row = _pair_contacts(current_faces(geometry).handles, result.handle, first[:count], second[:count], epsilon, frozen)
    finally:
        primitives.margin[:], primitives.drift[:] = kept
    if error:
        fail(error, row, first, second)


def overlap_volumes(
    geometry: Geometry, first: np.ndarray, second: np.ndarray, offset: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return volume (n), centroid (3, n) and surface area (n) of the intersections of pairs of polyhedra.

    Planes are moved outward by `offset` before they cut; with zero offset the intersection is exact.
    """
    count = len(first)
    volume, centroid, area = np.zeros(count), np.zeros((3, count), order="F"), np.zeros(count)
    error, row = _overlap_volumes(current_faces(geometry).handles, first, second, offset, volume, centroid, area)
    if error:
        fail(error, row, first, second)
    return volume, centroid, area


def gjk_distance(
    geometry: Geometry, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distance (n) and closest points (3, n), (3, n) of pairs of primitives; zero where they overlap."""
    count = len(first)
    distance = np.zeros(count)
    first_point, second_point = np.zeros((3, count), order="F"), np.zeros((3, count), order="F")
    error, row = _primitive_distances(current_faces(geometry).handles, first, second, distance, first_point, second_point)
    if error:
        fail(error, row, first, second)
    return distance, first_point, second_point


def fail(error: int, row: int, first: np.ndarray, second: np.ndarray) -> None:
    """Raise the exception for an error code of a kernel about the pair `row`."""
    pair = (int(first[row]), int(second[row]))
    raise IndexError(f"pair {row}, primitives {pair}: {_ERRORS.get(error, f'narrow phase error {error}')}")
