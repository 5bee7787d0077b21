"""Contact detection: the facades of a time step (Solfec-1.0's `box`, and the contacts of its `dom`).

Geometry follows the bodies, known contacts are updated, overlapping boxes become candidate pairs, candidates
become contacts, contacts that add nothing are removed again.  Each function is a few kernel calls on whole
tables; primitive rows are in the order of (body id, primitive number), so they serve as the keys of contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from . import narrow

_update_shapes = _kernels.update_geometry.update_shapes
_find_pairs = _kernels.broad_phase.find_pairs
_update_rows = _kernels.contacts.update_rows
_create_rows = _kernels.contacts.create_rows
_keep_rows = _kernels.contacts.keep_rows
_deepest_row = _kernels.contacts.deepest_row
_sparsify_rows = _kernels.sparsify.sparsify_rows


def _no_pairs(dtype: str) -> np.ndarray:
    return np.zeros((2, 0), dtype, order="F")


@dataclass
class Settings:
    """What the user decides about detection.

    Attributes
    ----------
    threshold : float
        A new contact is removed when its area is less than this part of a neighbour's (manual, CONTACT_SPARSIFY).
    min_area : float
        A new contact of less area is removed.
    min_distance : float
        A new contact is removed when its point is within twice this distance (per coordinate) of another one.
    excluded_bodies : ndarray, (2, n) int64
        Pairs of body identifiers between which there is no contact; lower identifier first, sorted.
    excluded_surfaces : ndarray, (2, n) int32
        Pairs of surface identifiers between which there is no contact; lower identifier first.
    depth : float
        A run stops at a contact as deep as this (manual, UNPHYSICAL_PENETRATION).
    """

    threshold: float = 0.01
    min_area: float = 0.0
    min_distance: float = 1e-6
    excluded_bodies: np.ndarray = field(default_factory=lambda: _no_pairs("i8"))
    excluded_surfaces: np.ndarray = field(default_factory=lambda: _no_pairs("i4"))
    depth: float = inf

    def exclude_bodies(self, one: int, two: int) -> None:
        """Suppress contact detection between two bodies, given by identifiers."""
        self.excluded_bodies = _with_pair(self.excluded_bodies, one, two)

    def exclude_surfaces(self, one: int, two: int) -> None:
        """Suppress contacts between two surface identifiers."""
        self.excluded_surfaces = _with_pair(self.excluded_surfaces, one, two)


def _with_pair(pairs: np.ndarray, one: int, two: int) -> np.ndarray:
    """Sorted pairs with one more (or the same, when it is there)."""
    pair = np.array([[min(one, two)], [max(one, two)]], pairs.dtype)
    return np.asfortranarray(np.unique(np.concatenate((pairs, pair), axis=1), axis=1))


SPARE_CELLS = 4200  # of the broad phase, whatever the number of primitives


class Workspace:
    """Arrays that detection reuses from step to step, because fresh memory costs more than the search itself."""

    def __init__(self):
        self.result = narrow.NarrowResult()
        self.keep = np.empty(0, np.int32)  # 1: a contact stays
        self.primitive_capacity = -1
        self.enlarge_pairs(256)

    def fit(self, geometry, constraints) -> None:
        """Match the capacities of the tables."""
        if self.keep.size != constraints.capacity:
            self.keep = np.empty(constraints.capacity, np.int32)
        if self.primitive_capacity != geometry.primitives.capacity:
            capacity = self.primitive_capacity = geometry.primitives.capacity
            self.boxes = np.zeros((capacity + 8, 7), order="F")
            self.numbers = np.zeros(capacity + 8, np.int64)
            self.rows = np.zeros((capacity + 1, 5), np.int32, order="F")
            self.cells = np.zeros(4 * capacity + SPARE_CELLS, np.int32)

    def enlarge_pairs(self, count: int) -> None:
        """Make room for `count` candidate pairs."""
        self.first = np.empty(count, np.int32)  # candidate pairs of primitive rows
        self.second = np.empty(count, np.int32)
        self.keys = np.empty(count, np.int64)
        self.partners = np.empty(count, np.int64)


def _workspace(geometry, constraints) -> Workspace:
    """The geometry's workspace, of the right size."""
    work = geometry.workspace
    if work is None:
        work = geometry.workspace = Workspace()
    work.fit(geometry, constraints)
    return work


def update_geometry(geometry, bodies, epsilon: float) -> None:
    """Current vertices, face normals, boxes of primitives and extents of bodies at the present configuration."""
    vertices, faces, primitives = geometry.vertices, geometry.faces, geometry.primitives
    _update_shapes(
        vertices.n, faces.n, primitives.n, bodies.n, epsilon,
        vertices.reference, vertices.body, vertices.current,
        geometry.vertex_lists.vertex, geometry.corners.vertex, faces.corner_ptr, faces.normal,
        primitives.kind, primitives.radius, primitives.vertex_ptr, primitives.vertex_count, primitives.box,
        bodies.kind, bodies.conf_ptr, bodies.primitive_ptr, bodies.primitive_count, bodies.centre,
        bodies.extents, bodies.configurations.conf,
    )  # fmt: skip


def update_contacts(constraints, geometry, bodies, surface_materials, epsilon: float, time: float) -> None:
    """Bring known contacts to the present geometry with their roles frozen; remove those that opened.

    Survivors keep the local components of R and U.  `time` is that of the start of the step.
    """
    count = constraints.contact_count
    if count == 0:
        return
    users = constraints.user_count
    work = _workspace(geometry, constraints)
    result = work.result
    narrow.narrow_phase(
        geometry, count, constraints.slave_primitive[users:], constraints.master_primitive[users:], epsilon, True, result
    )
    lost = _update_rows(
        users, constraints.n, epsilon, time,
        constraints.slave, constraints.master, constraints.master_point, constraints.slave_point,
        constraints.point, constraints.base, constraints.gap, constraints.area, constraints.surface,
        constraints.material, constraints.cohesion,
        result.status, result.normal, result.slave_point, result.master_point, result.gap, result.area,
        result.surface, bodies.kind, bodies.conf_ptr, bodies.centre, bodies.configurations.conf,
        surface_materials.n, surface_materials.surface, surface_materials.cohesion, work.keep,
    )  # fmt: skip
    if lost:
        constraints.n = _keep(constraints, users, work.keep)


def detect_contacts(
    constraints, geometry, bodies, surface_materials, settings: Settings, epsilon: float, step_number: int, time: float
) -> int:
    """Append new contacts to the constraint table, in the order of their keys and without reactions.

    Returns
    -------
    int
        Number of contacts that were found and removed again by sparsification.

    Raises
    ------
    SolfecError
        When a contact is as deep as `settings.depth`.
    """
    work = _workspace(geometry, constraints)
    candidates = find_candidates(constraints, geometry, bodies, settings, work)
    removed = 0
    if candidates:
        narrow.narrow_phase(geometry, candidates, work.first, work.second, epsilon, False, work.result)
        old = constraints.n
        _create(constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, candidates)
        if constraints.n > old:
            removed = _sparsify(constraints, geometry, bodies, settings, old, work)
            constraints.id[old : constraints.n] = constraints.new_ids(constraints.n - old)
    if settings.depth < inf:
        _check_depth(constraints, bodies, settings.depth, step_number)
    return removed


def find_candidates(constraints, geometry, bodies, settings: Settings, work: Workspace) -> int:
    """Broad phase: fill `work.first` and `work.second` with overlapping pairs not in contact; return their number."""
    primitives = geometry.primitives
    while True:
        found = _find_pairs(
            primitives.n, primitives.box, primitives.kind, primitives.outer_count, primitives.body,
            bodies.kind, bodies.id, settings.excluded_bodies.shape[1], settings.excluded_bodies,
            constraints.user_count, constraints.n, constraints.slave_primitive, constraints.master_primitive,
            work.first, work.second, work.boxes, work.numbers, work.rows, work.cells, work.keys, work.partners, work.keep,
        )  # fmt: skip
        if found <= work.first.size:
            return found
        work.enlarge_pairs(max(found, 2 * work.first.size))


def _create(constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, candidates) -> None:
    """Append rows for the contacts among the candidate pairs, without identifiers yet."""
    work = geometry.workspace
    result = work.result
    while True:
        created = _create_rows(
            constraints.n, candidates, epsilon, time, step_number,
            settings.excluded_surfaces.shape[1], settings.excluded_surfaces, work.first, work.second,
            result.status, result.outward, result.normal, result.slave_point, result.master_point,
            result.gap, result.area, result.surface, geometry.primitives.body,
            bodies.kind, bodies.conf_ptr, bodies.centre, bodies.configurations.conf,
            surface_materials.n, surface_materials.surface, surface_materials.cohesion,
            constraints.kind, constraints.master, constraints.slave, constraints.master_primitive,
            constraints.slave_primitive, constraints.master_point, constraints.slave_point, constraints.point,
            constraints.base, constraints.R, constraints.U, constraints.V, constraints.gap, constraints.area,
            constraints.surface, constraints.material, constraints.cohesion, constraints.birth,
            constraints.merit, constraints.residual,
        )  # fmt: skip
        if constraints.n + created <= constraints.capacity:
            constraints.n += created
            return
        constraints.reserve(constraints.n + created)


def _sparsify(constraints, geometry, bodies, settings, new: int, work: Workspace) -> int:
    """Remove superfluous contacts among the rows from `new` on; return their number."""
    work.fit(geometry, constraints)
    primitives = geometry.primitives
    removed = _sparsify_rows(
        constraints.user_count, new, constraints.n, settings.threshold, settings.min_area, settings.min_distance,
        constraints.slave, constraints.master, constraints.slave_primitive, constraints.master_primitive,
        constraints.point, constraints.area, primitives.kind, primitives.adjacent_ptr, primitives.adjacent_count,
        geometry.adjacency.primitive, bodies.n, work.keep,
    )  # fmt: skip
    if removed:
        constraints.n = _keep(constraints, new, work.keep)
    return removed


def _keep(constraints, first: int, keep: np.ndarray) -> int:
    """Move up the contacts from row `first` on whose `keep` is set; return the number of rows left."""
    return _keep_rows(
        first, constraints.n, keep, constraints.id, constraints.master, constraints.slave,
        constraints.master_primitive, constraints.slave_primitive, constraints.master_point,
        constraints.slave_point, constraints.point, constraints.base, constraints.R, constraints.U,
        constraints.V, constraints.gap, constraints.area, constraints.surface, constraints.material,
        constraints.cohesion, constraints.birth, constraints.merit, constraints.residual,
    )  # fmt: skip


def _check_depth(constraints, bodies, depth: float, step_number: int) -> None:
    """Raise when a contact reaches the penetration depth limit."""
    row = _deepest_row(
        constraints.user_count, constraints.n, depth, step_number, constraints.gap, constraints.cohesion,
        constraints.birth,
    )  # fmt: skip
    if row >= 0:
        one, two = (int(bodies.id[side[row]]) for side in (constraints.master, constraints.slave))
        x, y, z = constraints.point[:, row]
        raise SolfecError(
            f"unphysical penetration: bodies {one} and {two} overlap by {-constraints.gap[row]:g} "
            f"at ({x:g}, {y:g}, {z:g}); the limit is {depth:g}"
        )
