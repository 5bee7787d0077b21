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
_detect = _kernels.contact_phases.detect
_deepest_row = _kernels.contacts.deepest_row
_sparsify_both = _kernels.symmetric_sparsify.sparsify_symmetrically

MOVE_SHAPES, FOLLOW, JOIN, FIND = 1, 2, 3, 4  # stages of the kernel `detect`
DONE, SEARCH, RESULTS = 0, 1, 2  # its outcomes; another one: rows are lacking


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
    seams : bool
        Faces between the convexes of a body are parts of its surface; counts for bodies made later.
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
    seams: bool = True
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


def detect(
    constraints, geometry, bodies, surface_materials, settings: Settings, epsilon: float, step_number: int, time: float,
    between=None,
) -> tuple[int, float, float]:  # fmt: skip
    """Shapes follow the bodies, known contacts the shapes, and new contacts are appended to the constraint table.

    Known contacts keep their roles and the local components of R and U; those between bodies that have not moved stay as
    they are, those that opened are removed.  New ones stand in the order of their keys, without reactions.

    Parameters
    ----------
    time : float
        That of the start of the step.
    between : callable, optional
        Called when known contacts have followed, before new ones are found.

    Returns
    -------
    int
        Number of contacts that were found and removed again by sparsification.
    float, float
        Seconds spent on shapes and on known contacts.

    Raises
    ------
    SolfecError
        When a contact is as deep as `settings.depth`.
    """
    work = workspace_of(geometry, bodies, constraints)
    if work.options != (settings.margin, settings.patch):
        work.options = (settings.margin, settings.patch)
        constraints.view("evaluated")[:] = -1
    stage = MOVE_SHAPES
    if current_faces(geometry).deforming.size:  # their faces are split anew before contacts follow them
        update_geometry(geometry, bodies, epsilon)
        stage = FOLLOW
    else:
        work.updates += 1
    arguments = constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, work
    start = constraints.user_count
    moving = following = 0.0
    if between is not None:
        start, _, moving, following = _run(stage, JOIN, start, *arguments)
        between()
        stage = FIND
    start, removed, *seconds = _run(stage, FIND, start, *arguments)
    if stage < FIND:
        moving, following = seconds
    if settings.symmetric and constraints.n > start:
        removed = _sparsify_symmetrically(constraints, geometry, settings, start)
    constraints.next_id += constraints.n - start
    if removed and settings.patch:  # removed points of known pairs are found and judged again in every step
        constraints.view("evaluated")[:] = -1
    if settings.depth < inf:
        _check_depth(constraints, bodies, settings.depth, step_number)
    return removed, moving, following


def _run(
    stage, last_stage, start, constraints, geometry, bodies, surface_materials, settings, epsilon, step_number, time, work
) -> tuple[int, int, float, float]:
    """The kernel's stages, with more room and other pairs as it asks for them.

    Returns the first row that is new in this step, the number of contacts removed again, and seconds as `detect`.
    """
    excluded, primitives = settings.excluded_surfaces, geometry.primitives
    limits = (0.0, 0.0, 0.0) if settings.symmetric else (settings.threshold, settings.min_area, settings.min_distance)
    shapes, searched = (geometry.version, epsilon), (geometry.version, primitives.n, settings.margin)
    fresh = work.fresh if searched == work.pairs_state and settings.excluded_bodies is work.excluded else -1
    if last_stage == FIND:
        work.age += 1
    looked, moving, following = 0, 0.0, 0.0
    while True:
        (outcome, stage, needed, looked, start, found, guesses, flags, constraints.n, removed, work.cohesive, error, row, *seconds) = _detect(
            stage, last_stage, looked, start, geometry.vertices.n, shapes != work.shapes_state, fresh, work.flags,
            work.searched, work.still.sorted, primitives.n, bodies.n, work.pairs, constraints.user_count, constraints.n,
            epsilon, settings.margin, time, step_number, work.updates, settings.patch, surface_materials.n,
            *limits, constraints.next_id, excluded.shape[1], excluded,
            *work.columns.of(_columns, constraints, geometry, current_faces(geometry), bodies, surface_materials, work),
        )  # fmt: skip
        work.shapes_state = shapes
        moving, following = moving + seconds[0], following + seconds[1]
        if error:
            narrow.fail(error, row, *((work.known_one, work.known_two) if stage == FOLLOW else (work.first, work.second)))
        if outcome == DONE:
            if last_stage == FIND:
                work.fresh, work.found, work.guesses = False, found, guesses
            work.result.n = found or looked or work.result.n
            return start, removed, moving, following
        if outcome == SEARCH:
            moved_only = fresh >= 0 and flags == work.flags
            _search(geometry, bodies, settings, work, work.pairs_state if moved_only else searched)
            fresh = True
        elif outcome == RESULTS:
            work.result.reserve(needed)
            if settings.patch:
                work.patches.reserve(needed)
        else:
            constraints.reserve(needed)
            work.fit_contacts(constraints)


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


def _columns(constraints, geometry, faces, bodies, surface_materials, work: Workspace) -> tuple[np.ndarray, ...]:
    vertices, primitives, result, patches = geometry.vertices, geometry.primitives, work.result, work.patches
    return (
        constraints.id, constraints.kind, constraints.master, constraints.slave, constraints.master_primitive,
        constraints.slave_primitive, constraints.slot, constraints.master_point, constraints.slave_point,
        constraints.point, constraints.base, constraints.R, constraints.U, constraints.V, constraints.gap,
        constraints.area, constraints.surface, constraints.material, constraints.cohesion, constraints.birth,
        constraints.evaluated, constraints.merit, constraints.residual, work.keep,
        work.result_of, work.known_one, work.known_two, work.alive, work.kept_at,
        work.fat, work.still.movable, work.still.bodies, work.low, work.high, work.apart, work.mark, work.first, work.second, work.place,
        work.moved, work.previous, bodies.selfcontact, bodies.primitive_ptr, bodies.primitive_count, bodies.extents,
        vertices.reference, vertices.body, vertices.node, primitives.radii, primitives.orientation,
        primitives.kind, primitives.surface, primitives.radius, primitives.axes, primitives.box,
        primitives.vertex_ptr, primitives.vertex_count, faces.face_ptr, faces.face_count, faces.outer_count,
        faces.edge_count, primitives.body, primitives.adjacent_ptr, primitives.adjacent_count, geometry.adjacency.primitive,
        geometry.vertex_lists.vertex, faces.corner_ptr, faces.corner_count, faces.surface, faces.normal,
        faces.local, faces.edge, faces.vertex, vertices.current,
        result.status, result.outward, result.degenerate, result.normal, result.slave_point, result.master_point,
        result.gap, result.area, result.surface, patches.slots, patches.point, patches.gap,
        bodies.kind, bodies.conf_ptr, bodies.centre, bodies.configurations.conf,
        surface_materials.surface, surface_materials.cohesion,
    )  # fmt: skip


def _search(geometry, bodies, settings: Settings, work: Workspace, state: tuple | None) -> None:
    """Enlarge boxes and search for pairs; with the state of the last search only boxes have moved since."""
    primitives = geometry.primitives
    skin = work.choose_skin(state is not None and state == work.pairs_state)
    work.still.refresh(geometry, bodies, settings.margin, work)
    _fatten_boxes(work.still.movable, 0.5 * settings.margin, skin, primitives.box, work.fat)
    search_pairs(geometry, bodies, settings, work)
    work.searched = work.updates
    work.pairs_state = (geometry.version, primitives.n, settings.margin)
    work.excluded = settings.excluded_bodies
    work.flags = _sum_flags(bodies.n, bodies.selfcontact)
    work.fresh = True


def search_pairs(geometry, bodies, settings: Settings, work: Workspace) -> None:
    """Fill `work.low` and `work.high` with the pairs of primitives whose fat boxes overlap, sorted."""
    primitives, still = geometry.primitives, work.still
    while True:
        found = _find_pairs(
            primitives.n, bodies.n, still.movable, still.grid, still.bounds, still.numbers, still.cells,
            work.fat, primitives.kind, primitives.outer_count, primitives.body,
            primitives.adjacent_ptr, primitives.adjacent_count, geometry.adjacency.primitive,
            bodies.kind, bodies.id, bodies.selfcontact, settings.excluded_bodies.shape[1], settings.excluded_bodies,
            work.low, work.high, work.apart, work.bounds, work.numbers, work.rows, work.records, work.cells, work.keys,
        )  # fmt: skip
        if found <= work.low.size:
            break
        work.enlarge_pairs(max(found, 2 * work.low.size))
    work.pairs = found


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
