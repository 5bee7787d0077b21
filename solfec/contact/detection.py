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
from .current_faces import current_faces, split
from .workspace import Workspace, workspace_of

_update_shapes = _kernels.update_geometry.update_shapes
_find_pairs = _kernels.broad_phase.find_pairs
_fatten_boxes = _kernels.pair_cache.fatten_boxes
_sum_flags = _kernels.pair_cache.sum_flags
_follow_contacts = _kernels.contact_phases.follow_contacts
_new_contacts = _kernels.contact_phases.find_new_contacts
_create_rows = _kernels.contacts.create_rows
_deepest_row = _kernels.contacts.deepest_row
_sparsify_both = _kernels.symmetric_sparsify.sparsify_symmetrically

DONE, SEARCH, RESULTS = 0, 1, 2  # outcomes of find_new_contacts; another one: rows are lacking


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
    margin : float
        Pairs apart by less than this are contacts too, with a positive gap.  0: contacts exist once shapes overlap.
    asked_margin : float
        What the user asked for; gap-aware materials can widen it.
    patch : bool
        Faces that lie on each other share up to four points instead of one.
    symmetric : bool
        Sparsification treats both bodies alike (Solfec-1.0 looks at the master only).
    """

    threshold: float = 0.01
    min_area: float = 0.0
    min_distance: float = 1e-6
    excluded_bodies: np.ndarray = field(default_factory=lambda: _no_pairs("i8"))
    excluded_surfaces: np.ndarray = field(default_factory=lambda: _no_pairs("i4"))
    depth: float = inf
    asked_margin: float = 0.0
    margin: float = 0.0
    patch: bool = False
    symmetric: bool = False

    def exclude_bodies(self, one: int, two: int) -> None:
        """Suppress contact detection between two bodies, given by identifiers."""
        self.excluded_bodies = _with_pair(self.excluded_bodies, one, two)

    def exclude_surfaces(self, one: int, two: int) -> None:
        """Suppress contacts between two surface identifiers."""
        self.excluded_surfaces = _with_pair(self.excluded_surfaces, one, two)

    def widen(self, distances: np.ndarray) -> None:
        """Set the margin to the largest of what was asked for and the distances of gap-aware materials."""
        self.margin = max(self.asked_margin, float(np.max(distances, initial=0.0)))


def _with_pair(pairs: np.ndarray, one: int, two: int) -> np.ndarray:
    """Sorted pairs with one more (or the same, when it is there)."""
    pair = np.array([[min(one, two)], [max(one, two)]], pairs.dtype)
    return np.asfortranarray(np.unique(np.concatenate((pairs, pair), axis=1), axis=1))


def update_geometry(geometry, bodies, epsilon: float) -> None:
    """Current vertices, face normals, boxes of primitives and extents of bodies at the present configuration."""
    faces = current_faces(geometry)
    work = workspace_of(geometry, bodies)
    state = (geometry.version, epsilon)
    work.updates += 1
    _update_shapes(
        geometry.vertices.n, geometry.primitives.n, bodies.n, epsilon, state != work.shapes_state, work.updates,
        *work.columns.of(_shape_columns, geometry, faces, bodies, work),
    )
    work.shapes_state = state
    split(geometry, faces)


def _shape_columns(geometry, faces, bodies, work: Workspace) -> tuple[np.ndarray, ...]:
    vertices, primitives = geometry.vertices, geometry.primitives
    return (
        vertices.reference, vertices.body, vertices.node, vertices.current,
        geometry.vertex_lists.vertex, faces.vertex, faces.corner_ptr, faces.normal,
        primitives.kind, primitives.body, primitives.radius, primitives.vertex_ptr, primitives.vertex_count,
        faces.face_ptr, faces.face_count, primitives.radii, primitives.orientation, primitives.axes, primitives.box,
        bodies.kind, bodies.conf_ptr, bodies.primitive_ptr, bodies.primitive_count, bodies.centre,
        bodies.extents, bodies.configurations.conf, work.previous, work.moved,
    )  # fmt: skip


def update_contacts(
    constraints, geometry, bodies, surface_materials, epsilon: float, time: float, settings: Settings | None = None,
    step_number: int = 0,
) -> None:  # fmt: skip
    """Bring known contacts to the present geometry with their roles frozen; remove those that opened.

    Survivors keep the local components of R and U; contacts between bodies that have not moved stay as they are.
    `time` is that of the start of the step.  Points that join the patches of known contacts are added;
    `detect_contacts`, which must follow, gives them identifiers.
    """
    if constraints.n == constraints.user_count:
        return
    settings = settings or Settings()
    users, work = constraints.user_count, workspace_of(geometry, bodies, constraints)
    if work.options != (settings.margin, settings.patch):
        work.options = (settings.margin, settings.patch)
        constraints.view("evaluated")[:] = -1
    result, patches = work.result, work.patches
    result.reserve(constraints.n)
    if settings.patch:
        patches.reserve(constraints.n)
    count, constraints.n, error, row = _follow_contacts(
        users, constraints.n, epsilon, settings.margin, time, work.updates, settings.patch, surface_materials.n,
        *work.columns.of(
            _known_columns, constraints, geometry, current_faces(geometry), bodies, surface_materials, work
        ),
    )  # fmt: skip
    if error:
        narrow.fail(error, row, work.one, work.two)
    if not count:
        return
    result.n = count
    if settings.patch:
        work.known = constraints.n
        _create(constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, count,
                work.one, work.two, work.alive)  # fmt: skip


def _known_columns(constraints, geometry, faces, bodies, surface_materials, work: Workspace) -> tuple[np.ndarray, ...]:
    return (
        *_contact_columns(constraints),
        work.moved, work.result_of, work.one, work.two, work.alive, work.keep,
        *_shape_tables(geometry, faces), *_corner_tables(geometry, faces),
        *_result_columns(work), *_state_columns(bodies, surface_materials),
    )  # fmt: skip


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
    work = workspace_of(geometry, bodies, constraints)
    old = constraints.n
    if work.known >= 0:
        old, work.known = work.known, -1
    state = (geometry.version, geometry.primitives.n, settings.margin)
    if state != work.pairs_state or settings.excluded_bodies is not work.excluded:
        _search(geometry, bodies, settings, work, state)
    work.age += 1
    removed = _find_new_contacts(
        constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, old, work
    )
    if settings.symmetric and constraints.n > old:
        removed = _sparsify_symmetrically(constraints, geometry, settings, old)
    constraints.next_id += constraints.n - old
    if removed and settings.patch:  # removed points of known pairs are found and judged again in every step
        constraints.view("evaluated")[:] = -1
    if settings.depth < inf:
        _check_depth(constraints, bodies, settings.depth, step_number)
    return removed


def _sparsify_symmetrically(constraints, geometry, settings: Settings, new: int) -> int:
    """Remove superfluous contacts among the rows from `new` on, largest areas first; return their number."""
    primitives = geometry.primitives
    rows = np.arange(new, constraints.n, dtype=np.int32)
    order = rows[np.lexsort((-rows, -constraints.area[rows]))]
    keep = np.zeros(len(rows), np.int32)
    removed = _sparsify_both(
        constraints.user_count, new, constraints.n, order, settings.threshold, settings.min_area, settings.min_distance,
        constraints.slave, constraints.master, constraints.slave_primitive, constraints.master_primitive,
        constraints.point, constraints.area, primitives.kind, primitives.adjacent_ptr, primitives.adjacent_count,
        geometry.adjacency.primitive, keep,
    )  # fmt: skip
    if removed:
        constraints.keep(np.concatenate((np.ones(new, bool), keep > 0)))
        constraints.id[new : constraints.n] = constraints.next_id + np.arange(constraints.n - new)
    return removed


def _find_new_contacts(
    constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, old, work
) -> int:
    """Append contacts of pairs that are not in contact yet, with identifiers; return how many were removed again.

    Left out are pairs that were found apart and have not moved since.
    """
    excluded = settings.excluded_surfaces
    limits = (0.0, 0.0, 0.0) if settings.symmetric else (settings.threshold, settings.min_area, settings.min_distance)
    while True:
        outcome, needed, found, guesses, flags, rows, removed, error, row = _new_contacts(
            work.fresh, work.flags, geometry.primitives.n, bodies.n, work.pairs, constraints.user_count, constraints.n,
            old, epsilon, settings.margin, time, step_number, work.updates, settings.patch, surface_materials.n,
            *limits, constraints.next_id, excluded.shape[1], excluded,
            *work.columns.of(
                _new_columns, constraints, geometry, current_faces(geometry), bodies, surface_materials, work
            ),
        )  # fmt: skip
        if error:
            narrow.fail(error, row, work.first, work.second)
        if outcome == DONE:
            constraints.n = rows
            work.fresh = False
            work.found, work.guesses = found, guesses
            if found:
                work.result.n = found
            return removed
        if outcome == SEARCH:
            _search(geometry, bodies, settings, work, work.pairs_state if flags == work.flags else None)
        elif outcome == RESULTS:
            work.result.reserve(needed)
            if settings.patch:
                work.patches.reserve(needed)
        else:
            constraints.reserve(needed)
            work.fit_contacts(constraints)


def _new_columns(constraints, geometry, faces, bodies, surface_materials, work: Workspace) -> tuple[np.ndarray, ...]:
    primitives = geometry.primitives
    identifiers, *others = _contact_columns(constraints)
    return (
        identifiers, constraints.kind, *others, work.keep,
        work.fat, work.low, work.high, work.apart, work.mark, work.first, work.second, work.place,
        work.moved, bodies.selfcontact,
        *_shape_tables(geometry, faces),
        primitives.body, primitives.adjacent_ptr, primitives.adjacent_count, geometry.adjacency.primitive,
        *_corner_tables(geometry, faces),
        *_result_columns(work), *_state_columns(bodies, surface_materials),
    )  # fmt: skip


def _contact_columns(constraints) -> tuple[np.ndarray, ...]:
    return (
        constraints.id, constraints.master, constraints.slave, constraints.master_primitive,
        constraints.slave_primitive, constraints.slot, constraints.master_point, constraints.slave_point,
        constraints.point, constraints.base, constraints.R, constraints.U, constraints.V, constraints.gap,
        constraints.area, constraints.surface, constraints.material, constraints.cohesion, constraints.birth,
        constraints.evaluated, constraints.merit, constraints.residual,
    )  # fmt: skip


def _shape_tables(geometry, faces) -> tuple[np.ndarray, ...]:
    p = geometry.primitives
    return (
        p.kind, p.surface, p.radius, p.axes, p.box, p.vertex_ptr, p.vertex_count,
        faces.face_ptr, faces.face_count, faces.outer_count,
    )  # fmt: skip


def _corner_tables(geometry, faces) -> tuple[np.ndarray, ...]:
    return (
        geometry.vertex_lists.vertex, faces.corner_ptr, faces.corner_count, faces.surface, faces.normal,
        faces.local, faces.vertex, geometry.vertices.current,
    )  # fmt: skip


def _result_columns(work: Workspace) -> tuple[np.ndarray, ...]:
    result, patches = work.result, work.patches
    return (
        result.status, result.outward, result.degenerate, result.normal, result.slave_point, result.master_point,
        result.gap, result.area, result.surface, patches.slots, patches.point, patches.gap,
    )  # fmt: skip


def _state_columns(bodies, surface_materials) -> tuple[np.ndarray, ...]:
    return (
        bodies.kind, bodies.conf_ptr, bodies.centre, bodies.configurations.conf,
        surface_materials.surface, surface_materials.cohesion,
    )  # fmt: skip


def _search(geometry, bodies, settings: Settings, work: Workspace, state: tuple | None) -> None:
    """Enlarge boxes and search for pairs; with the state of the last search only boxes have moved since."""
    primitives = geometry.primitives
    skin = work.choose_skin(state is not None and state == work.pairs_state)
    _fatten_boxes(primitives.n, 0.5 * settings.margin, skin, primitives.box, work.fat)
    search_pairs(geometry, bodies, settings, work, work.fat)
    work.pairs_state = (geometry.version, primitives.n, settings.margin)
    work.excluded = settings.excluded_bodies
    work.flags = _sum_flags(bodies.n, bodies.selfcontact)
    work.fresh = True


def search_pairs(geometry, bodies, settings: Settings, work: Workspace, box: np.ndarray) -> None:
    """Fill `work.low` and `work.high` with the pairs of primitives whose boxes overlap, sorted."""
    primitives = geometry.primitives
    while True:
        found = _find_pairs(
            primitives.n, box, primitives.kind, primitives.outer_count, primitives.body,
            primitives.adjacent_ptr, primitives.adjacent_count, geometry.adjacency.primitive,
            bodies.kind, bodies.id, bodies.selfcontact, settings.excluded_bodies.shape[1], settings.excluded_bodies,
            work.low, work.high, work.apart, work.boxes, work.numbers, work.rows, work.cells, work.keys, work.partners,
        )  # fmt: skip
        if found <= work.low.size:
            break
        work.enlarge_pairs(max(found, 2 * work.low.size))
    work.pairs = found


def _create(
    constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, count, first, second, alive
) -> None:
    """Append rows for the contacts among pairs that the narrow phase looked at, without identifiers yet."""
    work = geometry.workspace
    if settings.patch and alive.size < count:
        alive = np.zeros(count, np.int32)
    excluded = settings.excluded_surfaces
    while True:
        created = _create_rows(
            constraints.n, count, epsilon, time, step_number, work.updates, excluded.shape[1], excluded, first, second,
            count if settings.patch else 0, alive, surface_materials.n,
            *work.columns.of(_create_columns, constraints, geometry.primitives, bodies, surface_materials, work),
        )  # fmt: skip
        if constraints.n + created <= constraints.capacity:
            constraints.n += created
            return
        constraints.reserve(constraints.n + created)


def _create_columns(constraints, primitives, bodies, surface_materials, work: Workspace) -> tuple[np.ndarray, ...]:
    result, patches = work.result, work.patches
    return (
        result.status, result.outward, result.normal, result.slave_point, result.master_point,
        result.gap, result.area, result.surface, patches.slots, patches.point, patches.gap, primitives.body,
        bodies.kind, bodies.conf_ptr, bodies.centre, bodies.configurations.conf,
        surface_materials.surface, surface_materials.cohesion,
        constraints.kind, constraints.master, constraints.slave, constraints.master_primitive,
        constraints.slave_primitive, constraints.slot, constraints.master_point, constraints.slave_point,
        constraints.point, constraints.base, constraints.R, constraints.U, constraints.V, constraints.gap,
        constraints.area, constraints.surface, constraints.material, constraints.cohesion, constraints.birth,
        constraints.evaluated, constraints.merit, constraints.residual,
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
