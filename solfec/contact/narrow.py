"""The narrow phase: from pairs of primitives to contacts."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Table
from .current_faces import CurrentFaces, current_faces
from .geometry import Geometry

_find_contacts = _kernels.narrow_phase.find_contacts

_ERRORS = {2: "a primitive row is out of range"}


class NarrowResult(Table):
    """What the narrow phase found, one row per pair; rows of pairs without contact (status 0) are not meaningful."""

    COLUMNS = {
        "status": ((), "i4", 0),  # 0 no contact, 1 contact
        "outward": ((), "i4", 0),  # 0: the first primitive is the slave and holds the outward normal, 1: the second
        "degenerate": ((), "i4", 0),  # 1: the facets' normals cancel; normal of the face of least penetration
        "normal": ((3,), "f8", 0.0),  # unit, from slave to master
        "slave_point": ((3,), "f8", 0.0),
        "master_point": ((3,), "f8", 0.0),  # the same for two polyhedra
        "gap": ((), "f8", 0.0),  # never positive without margin
        "area": ((), "f8", 0.0),  # 1 when a sphere or an ellipsoid takes part
        "surface": ((2,), "i4", 0),  # surface identifiers of slave and master
    }


class PatchResult(Table):
    """Points of contacts between faces, one row per pair, as the kernel `find_patches` finds them."""

    COLUMNS = {
        "slots": ((), "i4", 1),  # bits of the slots in use
        "point": ((3, 4), "f8", 0.0),  # half way between the bodies
        "gap": ((4,), "f8", 0.0),
    }


def narrow_phase(
    geometry: Geometry,
    count: int,
    first: np.ndarray,
    second: np.ndarray,
    epsilon: float,
    frozen: bool,
    result: NarrowResult,
    margin: float = 0.0,
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
        When positive, pairs apart by less than this are in contact too, and gaps are signed distances.

    Raises
    ------
    IndexError
        For a primitive row out of range.
    """
    result.reserve(count)
    result.n = count
    capacity = geometry.primitives.capacity
    error, row = _find_contacts(
        count, first, second, epsilon, np.full(capacity, margin), np.zeros((3, 4, capacity), order="F"), False, frozen, False,
        *geometry.columns.of(_contact_columns, geometry, current_faces(geometry), result),
    )  # fmt: skip
    if error:
        fail(error, row, first, second)


def _contact_columns(geometry: Geometry, faces: CurrentFaces, result: NarrowResult) -> tuple[np.ndarray, ...]:
    return (
        *_tables(geometry, faces, True),
        result.status, result.outward, result.degenerate, result.normal, result.slave_point, result.master_point,
        result.gap, result.area, result.surface,
    )  # fmt: skip


def overlap_volumes(
    geometry: Geometry, first: np.ndarray, second: np.ndarray, offset: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Volume (n), centroid (3, n) and surface area (n) of the intersections of pairs of polyhedra.

    Planes are moved outward by `offset` before they cut; with zero offset the intersection is exact.
    """
    count = len(first)
    volume, centroid, area = np.zeros(count), np.zeros((3, count), order="F"), np.zeros(count)
    error, row = _kernels.narrow_phase.overlap_volumes(
        count, first, second, offset, *_tables(geometry, current_faces(geometry)), volume, centroid, area
    )
    if error:
        fail(error, row, first, second)
    return volume, centroid, area


def gjk_distance(
    geometry: Geometry, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distance (n) and closest points (3, n), (3, n) of pairs of primitives; zero where they overlap."""
    count = len(first)
    distance = np.zeros(count)
    first_point, second_point = np.zeros((3, count), order="F"), np.zeros((3, count), order="F")
    error, row = _kernels.narrow_phase.primitive_distances(
        count, first, second, *_tables(geometry, current_faces(geometry), True), distance, first_point, second_point
    )
    if error:
        fail(error, row, first, second)
    return distance, first_point, second_point


def _tables(geometry: Geometry, f: CurrentFaces, ellipsoids: bool = False) -> tuple[np.ndarray, ...]:
    p = geometry.primitives
    return (
        p.kind, p.surface, p.radius, *([p.axes] if ellipsoids else []), p.box, p.vertex_ptr, p.vertex_count,
        f.face_ptr, f.face_count, f.outer_count, f.edge_count,
        geometry.vertex_lists.vertex, f.corner_ptr, f.corner_count, f.surface, f.normal,
        f.local, f.edge, geometry.vertices.current,
    )  # fmt: skip


def fail(error: int, row: int, first: np.ndarray, second: np.ndarray) -> None:
    """Raise what an error code of a kernel says about the pair `row`."""
    pair = (int(first[row]), int(second[row]))
    raise IndexError(f"pair {row}, primitives {pair}: {_ERRORS.get(error, f'narrow phase error {error}')}")
