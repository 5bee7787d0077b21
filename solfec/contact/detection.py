"""Contact detection: settings, geometry, search for pairs, sparsification (Solfec-1.0's `box`, and the contacts of its `dom`).

Geometry follows the bodies, known contacts are updated, overlapping boxes become candidate pairs, candidates
become contacts, and redundant contacts are removed.  Each function makes a few kernel calls on whole
tables.  Primitive rows are in the order of (body id, primitive number), so they serve as keys of contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np

from .. import _kernels
from ..kinds import PrimitiveKind, SurfaceModel
from ..tables import unique
from .current_faces import current_faces, split
from .manifold import PART, WITHIN_MARGIN, sizes_of
from .still import OBSTACLE
from .workspace import Workspace, workspace_of

SEVERAL = -(2**31)  # no surface identifier
FEW = 4  # new bodies whose pairs are found by themselves
MOST_COMPARED = 100  # boxes per primitive that are compared one by one: a search for all pairs then takes less time

_update_shapes = _kernels.update_geometry.update_shapes
_find_pairs = _kernels.broad_phase.find_pairs
_fatten_boxes = _kernels.contact_detection.fatten_boxes
_boxes_near = _kernels.contact_detection.boxes_near
_sum_flags = _kernels.contact_detection.sum_flags
_sparsify_both = _kernels.contact_detection.sparsify_symmetrically


def _no_pairs(dtype: str, rows: int = 2) -> np.ndarray:
    return np.zeros((rows, 0), dtype, order="F")


@dataclass
class Settings:
    """The user's settings of detection.

    Attributes
    ----------
    threshold : float
        A new contact is removed when its area is less than this part of a neighbour's (docs/language-running.md, CONTACT_SPARSIFY).
    min_area : float
        A new contact of less area is removed.
    min_distance : float
        A new contact is removed when its point is within twice this distance (per coordinate) of another one.
    excluded_bodies : ndarray, (2, n) int64
        Pairs of body identifiers between which there is no contact; lower identifier first, sorted.
    excluded_surfaces : ndarray, (2, n) int32
        Pairs of surface identifiers between which there is no contact; lower identifier first.
    excluded_parts : ndarray, (4, n) int64
        Pairs of primitives between which there is no contact: for each primitive the identifier of its body and its number
        there; the lower first, sorted.
    depth : float
        A run stops at a contact as deep as this (docs/language-running.md, UNPHYSICAL_PENETRATION).
    margin : float
        Pairs nearer than this are in contact, too, with a positive gap.  0: contacts exist once shapes overlap.
        For 'MANIFOLD' without a margin of the user: the largest margin of all pairs.
    asked_margin : float
        The user's margin; gap-aware materials can increase it.
    patch : bool
        Faces that lie on each other share up to four points instead of one.
    seams : bool
        Whether faces between the convexes of a body belong to its surface; it applies to bodies made later.
    symmetric : bool
        Sparsification treats both bodies alike (Solfec-1.0 considers the master only).
    manifold : bool
        Polyhedra share points on features that face each other (`manifold`), instead of averaged ones.
    """

    threshold: float = 0.01
    min_area: float = 0.0
    min_distance: float = 1e-6
    excluded_bodies: np.ndarray = field(default_factory=lambda: _no_pairs("i8"))
    excluded_surfaces: np.ndarray = field(default_factory=lambda: _no_pairs("i4"))
    excluded_parts: np.ndarray = field(default_factory=lambda: _no_pairs("i8", 4))
    depth: float = inf
    asked_margin: float = 0.0
    margin: float = 0.0
    patch: bool = False
    seams: bool = True
    symmetric: bool = False
    manifold: bool = False

    _margins_for = None  # the geometry for which the margin was chosen
    _distance = 0.0  # largest distance of the user's gap-aware materials
    speculative = False  # whether these materials let contacts act before bodies meet

    def exclude_bodies(self, one: int, two: int) -> None:
        """Suppress contact detection between two bodies, given by identifiers."""
        self.excluded_bodies = _with_pair(self.excluded_bodies, one, two)

    def exclude_surfaces(self, one: int, two: int) -> None:
        """Suppress contacts between two surface identifiers."""
        self.excluded_surfaces = _with_pair(self.excluded_surfaces, one, two)

    def exclude_parts(self, one: tuple[int, int], two: tuple[int, int]) -> None:
        """Suppress contact detection between two primitives, given by identifiers of bodies and their numbers in these."""
        pair = np.array([[*min(one, two), *max(one, two)]], np.int64).T
        self.excluded_parts = np.asfortranarray(np.unique(np.concatenate((self.excluded_parts, pair), axis=1), axis=1))

    def excludes_as(self, known: tuple | None) -> bool:
        """Whether pairs found with these excluded bodies, parts and surfaces are still valid."""
        return (
            known is not None and known[0] is self.excluded_bodies and known[1] is self.excluded_parts and known[2] is self.excluded_surfaces
        )

    def excluded_contacts(self, constraints, bodies) -> np.ndarray:
        """Return a mask of the contacts, the last rows of constraints, whose bodies, parts or surfaces are excluded, or which lie within a body without self-contact."""
        rows = slice(constraints.user_count, constraints.n)
        sides = np.stack((constraints.master[rows], constraints.slave[rows]))
        parts = np.stack((constraints.master_primitive[rows], constraints.slave_primitive[rows])) - bodies.primitive_ptr[sides]
        ids = bodies.id[sides]
        swap = (ids[0] > ids[1]) | (ids[0] == ids[1]) & (parts[0] > parts[1])
        ids, parts = (np.where(swap, both[::-1], both) for both in (ids, parts))
        found = (sides[0] == sides[1]) & (bodies.selfcontact[sides[0]] == 0)
        found |= _listed(self.excluded_bodies, ids) | _listed(self.excluded_parts, np.stack((ids[0], parts[0], ids[1], parts[1])))
        return found | _listed(self.excluded_surfaces, np.sort(constraints.surface[:, rows], axis=0))

    @property
    def excluded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Excluded bodies, parts and surfaces."""
        return self.excluded_bodies, self.excluded_parts, self.excluded_surfaces

    def widen(self, distances: np.ndarray) -> None:
        """Set the margin to the largest of the user's margin and the distances of gap-aware materials."""
        self.store_distances(distances)
        if not (self.manifold and self._distance <= WITHIN_MARGIN):
            self.margin = self._distance

    def store_distances(self, distances: np.ndarray) -> None:
        """Store the distances of gap-aware materials without changing the margin."""
        distance = float(np.max(distances, initial=0.0))
        self._distance, self._margins_for, self.speculative = max(self.asked_margin, distance), None, distance > 0.0

    @property
    def margins(self) -> tuple[float, bool]:
        """Key that changes when margins of pairs change for other reasons than primitives."""
        return self.margin, self.chooses_margin

    @property
    def chooses_margin(self) -> bool:
        """Whether the program chooses the margin, as a part of the size of primitives.

        Then primitives that move by more than their margin within a step are in contact with bodies that they will meet.
        """
        return self.manifold and self.asked_margin == 0.0

    def set_margins(self, geometry) -> None:
        """Set the margin of primitives; with 'MANIFOLD' it is a part of their size unless the user chose a margin."""
        options = self.asked_margin, self._distance, self.manifold, self.margin
        state, known = (geometry.version, geometry.primitives.n, *options), self._margins_for
        if known == state:
            return
        primitives = geometry.primitives
        margin = np.maximum(PART * sizes_of(geometry), self._distance) if self.chooses_margin else self.margin
        primitives.view("margin")[:] = primitives.view("reach")[:] = margin
        if known is None or known[2:] != options:  # else steps have drifts up to date
            primitives.view("drift")[:] = primitives.view("push")[:] = 0.0
        if self.chooses_margin:
            self.margin = float(np.max(margin, initial=0.0))
        self._margins_for = *state[:-1], self.margin


def pairs_state_of(geometry, settings: Settings) -> tuple:
    """Key of everything besides boxes on which pairs of primitives depend."""
    return geometry.version, geometry.primitives.n, settings.margins


def same_selfcontact(bodies, work) -> bool:
    """Whether the bodies with self-contact at the last search still have it."""
    return not work.flags or _sum_flags(bodies.n, bodies.selfcontact) == work.flags


def _listed(pairs: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return a mask of the columns (k, m) that are among the pairs (k, n)."""
    _, number = np.unique(np.concatenate((pairs, columns), axis=1), axis=1, return_inverse=True)
    number = number.ravel()
    return np.isin(number[pairs.shape[1] :], number[: pairs.shape[1]])


def _with_pair(pairs: np.ndarray, one: int, two: int) -> np.ndarray:
    """Return sorted pairs including one more pair, without duplicates."""
    pair = np.array([[min(one, two)], [max(one, two)]], pairs.dtype)
    return np.asfortranarray(np.unique(np.concatenate((pairs, pair), axis=1), axis=1))


def update_geometry(geometry, bodies, epsilon: float, work: Workspace | None = None, step: float = 0.0) -> None:
    """Update vertices, face normals, boxes of primitives and extents of bodies to the present configuration; predict the motion of primitives in a step of this length, if any."""
    faces, work = current_faces(geometry), work or workspace_of(geometry, bodies)
    work.shape(geometry.version, epsilon)
    afresh, work.afresh = work.afresh, 0
    _update_shapes(bodies.handles, faces.handles, work.handle, epsilon, afresh, step)
    if faces.deforming.size:
        split(geometry, faces, bool(afresh))


def sparsify_symmetrically(constraints, bodies, materials, geometry, settings: Settings, new: int) -> int:
    """Remove redundant contacts among the rows from `new` on, judged by decreasing area, then increasing gap; return their number.

    Contacts that stay take over the areas of removed ones at the same place.  Known bonds do not: they keep the area with which they were made.
    """
    rows = np.arange(new, constraints.n, dtype=np.int32)
    order = rows[np.lexsort((-rows, constraints.gap[rows], -constraints.area[rows]))]
    keep, gained = np.zeros(len(rows), np.int32), np.zeros(constraints.capacity)
    limits = np.array([settings.threshold, settings.min_area, settings.min_distance])
    removed, _ = _sparsify_both(
        current_faces(geometry).handles, constraints.handle, constraints.user_count, new, constraints.n, order, limits, gained, keep
    )
    if geometry.workspace.rank >= 0:
        geometry.workspace.removed_own = _count_own(constraints, bodies, rows[keep == 0], geometry.workspace.rank)
    if removed:
        if settings.patch:  # known contacts are evaluated again in the next step, and begin with their own areas
            bonded = (constraints.cohesion[:new] > 0.0) & (materials.model[constraints.material[:new]] == SurfaceModel.COHESIVE)
            gained[:new][bonded] = 0.0
            constraints.area[:] += gained
        constraints.compact(np.concatenate((np.ones(new, bool), keep > 0)))
        constraints.id[new : constraints.n] = constraints.next_id + np.arange(constraints.n - new)
    return removed


def _count_own(constraints, bodies, rows: np.ndarray, rank: int) -> int:
    """Return how many of these contacts have a last moving body that a process owns."""
    sides = np.array([constraints.master[rows], constraints.slave[rows]])
    last = np.where(bodies.kind[sides] == OBSTACLE, -1, sides).max(axis=0)
    return int((bodies.owner[last] == rank).sum())


def search(geometry, bodies, settings: Settings, work: Workspace, state: tuple | None) -> None:
    """Enlarge boxes and search for pairs; the state of the last search, if given, shows that only boxes have changed since."""
    primitives = geometry.primitives
    work.skin = work.choose_skin(state is not None and state == work.pairs_state)
    work.fit_search(primitives.capacity)
    work.still.refresh(geometry, bodies, settings.margins, work)
    _fatten_boxes(work.still.movable, primitives.reach, work.skin, primitives.box, work.fat)
    search_pairs(geometry, bodies, settings, work)
    if settings.excluded_parts.size:
        _leave_out(settings.excluded_parts, bodies, work)
    if settings.excluded_surfaces.size:
        _keep_pairs(work, ~_surfaces_excluded(geometry, settings, work.low[: work.pairs], work.high[: work.pairs]))
        alone = _alone(geometry, settings)
        work.fat[:3, alone], work.fat[3:, alone] = -inf, inf  # wherever they move, there is nothing to search for
    work.searched = work.updates
    work.pairs_state = pairs_state_of(geometry, settings)
    work.excluded = settings.excluded
    work.flags = _sum_flags(bodies.n, bodies.selfcontact)
    work.fresh = 1


def add_pairs(geometry, bodies, settings: Settings, work: Workspace) -> bool:
    """Find pairs of primitives that have come behind the others since the last search, a body or two; False: search for all pairs.

    Pairs of the others stand until a box leaves its fat box, as without new bodies.
    """
    primitives = geometry.primitives
    version, known, margins = work.pairs_state
    new = np.arange(known, primitives.n, dtype=np.int32)
    rows = unique(primitives.body[new])
    excluded = settings.excluded_bodies.size or settings.excluded_parts.size
    if excluded or len(rows) > FEW or (bodies.kind[rows] == OBSTACLE).any() or (version, margins) != (geometry.version, settings.margins):
        return False
    _fatten_boxes(new, primitives.reach, work.skin, primitives.box, work.fat)
    found = []
    for row in rows.tolist():
        first = int(bodies.primitive_ptr[row])
        end = first + int(bodies.primitive_count[row])
        mine, others = work.fat[:, first:end], work.fat[:, :first]
        near = _near(work, first, np.concatenate((mine[:3].min(1), mine[3:].max(1))))
        if near.size * (end - first) > MOST_COMPARED * primitives.n:
            return False
        one, two = np.nonzero(_overlap(others[:, near, None], mine[:, None]))
        found.append(np.stack((near[one], first + two)))
    pairs = np.concatenate(found, axis=1).astype(np.int32)
    faceless = (primitives.kind[pairs] < PrimitiveKind.SPHERE) & (current_faces(geometry).outer_count[pairs] == 0)
    out = faceless.any(0)  # interior elements of meshes take no part in contact
    if settings.excluded_surfaces.size:
        out |= _surfaces_excluded(geometry, settings, *pairs)
    work.insert_pairs(*pairs[:, ~out])
    work.still.extend(movable=new)
    work.pairs_state = pairs_state_of(geometry, settings)
    return True


def _near(work: Workspace, count: int, box: np.ndarray) -> np.ndarray:
    """Return the rows of the first `count` primitives whose fat boxes overlap a box (6,)."""
    near = np.empty(count, np.int32)
    return near[: _boxes_near(count, work.fat, box, near)]


def _overlap(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Whether boxes (6, ...) overlap, as the kernel `find_pairs` compares them."""
    return (
        (one[0] < two[3]) & (two[0] < one[3]) & (one[1] <= two[4]) & (two[1] <= one[4]) & (one[2] <= two[5]) & (two[2] <= one[5])
    )  # fmt: skip


def _leave_out(excluded: np.ndarray, bodies, work: Workspace) -> None:
    """Remove excluded pairs of primitives from those found."""
    ids = bodies.view("id")
    if not len(ids):
        return
    rows, present = [], np.ones(excluded.shape[1], bool)
    for body, number in (excluded[:2], excluded[2:]):
        at = np.minimum(np.searchsorted(ids, body), len(ids) - 1)
        present &= ids[at] == body  # bodies may have been deleted meanwhile
        rows.append(bodies.primitive_ptr[at] + number)
    wanted = (np.minimum(*rows) << 32 | np.maximum(*rows))[present]
    pairs = slice(work.pairs)
    listed = work.low[pairs].astype(np.int64) << 32 | work.high[pairs]
    at = np.searchsorted(listed, wanted)
    at = at[at < work.pairs]
    keep = np.ones(work.pairs, bool)
    keep[at[np.isin(listed[at], wanted)]] = False
    _keep_pairs(work, keep)


def _keep_pairs(work: Workspace, keep: np.ndarray) -> None:
    """Keep the marked pairs of those found."""
    pairs, kept = slice(work.pairs), int(keep.sum())
    if kept < keep.size:
        work.low[:kept], work.high[:kept] = work.low[pairs][keep], work.high[pairs][keep]
        work.pairs = kept


def _surfaces_excluded(geometry, settings: Settings, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return which pairs of primitives have one surface identifier each, between which there is no contact."""
    surface = _only_surfaces(geometry)
    return _between_excluded(settings, surface[one], surface[two])


def _between_excluded(settings: Settings, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return which pairs of surface identifiers are excluded."""
    pair = (np.minimum(first, second) << 32) + np.maximum(first, second)  # identifiers may be negative: | would mix both
    excluded = settings.excluded_surfaces.astype(np.int64)
    excluded = (excluded[0] << 32) + excluded[1]  # sorted
    found = excluded[np.minimum(np.searchsorted(excluded, pair), excluded.size - 1)] == pair
    return found & (first != SEVERAL) & (second != SEVERAL)


def _alone(geometry, settings: Settings) -> np.ndarray:
    """Return the primitives that no surface of the model may touch."""
    work = geometry.workspace
    surface = _only_surfaces(geometry)
    if work.alone_of[0] is not surface or work.alone_of[1] is not settings.excluded_surfaces:
        present, kind = np.unique(surface, return_inverse=True)
        first, second = np.meshgrid(present, present, indexing="ij")
        untouched = _between_excluded(settings, first, second).all(axis=1)
        work.alone_of = surface, settings.excluded_surfaces, np.flatnonzero(untouched[kind])
    return work.alone_of[2]


def _only_surfaces(geometry) -> np.ndarray:
    """Return the surface identifier (int64) of each primitive, `SEVERAL` if its faces have several."""
    work, state = geometry.workspace, (geometry.version, geometry.primitives.n)
    if work.surfaces_state != state:
        work.surfaces_state, work.only_surface = state, _find_only_surfaces(geometry)
    return work.only_surface


def _find_only_surfaces(geometry) -> np.ndarray:
    primitives, surface = geometry.primitives, geometry.faces.view("surface")
    first, count = primitives.view("face_ptr"), primitives.view("face_count")
    with_faces = np.flatnonzero(count)
    only = np.where(primitives.view("kind") < PrimitiveKind.SPHERE, SEVERAL, primitives.view("surface")).astype(np.int64)
    start = first[with_faces]
    if with_faces.size and np.array_equal(np.append(start[1:], surface.size), start + count[with_faces]):
        least, most = np.minimum.reduceat(surface, start), np.maximum.reduceat(surface, start)
        only[with_faces] = np.where(least == most, least, SEVERAL)
    return only


def search_pairs(geometry, bodies, settings: Settings, work: Workspace) -> None:
    """Fill `work.low` and `work.high` with the pairs of primitives whose fat boxes overlap, sorted."""
    still, faces = work.still, current_faces(geometry)
    handles = np.array([*bodies.handles, *faces.handles, work.handle, still.handle], np.longlong)
    while True:
        found = _find_pairs(
            handles, still.grid, still.bounds, still.numbers, still.cells, settings.excluded_bodies,
            work.bounds, work.box_numbers, work.rows, work.records, work.cells,
        )  # fmt: skip
        if found <= work.low.size:
            break
        work.enlarge_pairs(max(found, 2 * work.low.size))
    work.pairs = found
