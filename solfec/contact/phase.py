"""Detection in a time step: shapes follow the bodies, known contacts the shapes, and new contacts are found.

Known contacts keep their roles and the local components of R and U; those between bodies that have not moved stay as they
are, those that opened are removed.  New ones stand in the order of their keys, without reactions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from . import narrow
from .current_faces import current_faces
from .detection import search, sparsify_symmetrically, update_geometry
from .workspace import Workspace, workspace_of

MANIFOLD_POINTS = 2  # of `patched`
FOLLOW, JOIN, FIND = 1, 2, 3  # stages of the kernel `detect`
DONE, SEARCH, RESULTS = 0, 1, 2  # its outcomes; another one: rows are lacking

_deepest_row = _kernels.contacts.deepest_row
_detect = _kernels.contact_phases.detect
_predict_motion = _kernels.primitive_motion.predict_motion


class Detection:
    """Detection in a model, by three calls in every step: `move_shapes`, `follow_contacts`, `find_contacts`.

    Parameters
    ----------
    model
        Has `constraints`, `geometry`, `bodies`, `surface_materials`, `settings`, `epsilon`, `step`, `dynamic`, and `time` and
        `step_number` of the start of the step.
    hold : callable, optional
        Of a model with finite elements: keeps cohesive contacts where they are in elements, once known contacts are up to date.
    notice : callable, optional
        Called when there are new contacts whose normal is a guess.

    Attributes
    ----------
    removed : int
        Number of contacts that were found in the last step and removed again by sparsification.
    """

    def __init__(self, model, hold: Callable[[], None] | None = None, notice: Callable[[], None] | None = None):
        self.model, self.hold, self.notice = model, hold, notice
        self.removed = 0

    def run(self) -> int:
        """All of it; returns `removed`.

        Raises
        ------
        SolfecError
            A contact is as deep as `settings.depth`.
        """
        self.move_shapes()
        self.follow_contacts()
        self.find_contacts()
        return self.removed

    def move_shapes(self) -> None:
        """Shapes at the present configuration, and how far they move in the step."""
        model = self.model
        constraints, geometry, bodies, settings = model.constraints, model.geometry, model.bodies, model.settings
        work = workspace_of(geometry, bodies, constraints)
        settings.suit(geometry)
        options = *settings.margins, settings.patch, settings.manifold, settings.speculative
        if work.options != options:
            work.options = options
            constraints.view("evaluated")[:] = -1
        update_geometry(geometry, bodies, model.epsilon)
        if not (self._searched == work.pairs_state and settings.excludes_as(work.excluded)):
            work.fresh = -1
        if settings.follows_speed and model.dynamic:
            primitives, vertices = geometry.primitives, geometry.vertices
            _predict_motion(
                bodies.handles, model.step, primitives.n, primitives.margin, primitives.box, primitives.body,
                primitives.vertex_ptr, primitives.vertex_count, geometry.vertex_lists.vertex, vertices.node,
                primitives.reach, primitives.drift,
            )  # fmt: skip

    @property
    def _searched(self) -> tuple:
        """What pairs of primitives depend on besides boxes."""
        geometry = self.model.geometry
        return geometry.version, geometry.primitives.n, self.model.settings.margins

    def follow_contacts(self) -> None:
        """Known contacts at the present shapes; those that opened go."""
        model, work = self.model, self.model.geometry.workspace
        self._first_new = model.constraints.user_count
        stage, work.known = FOLLOW, 0
        while stage:
            stage, work.known, self._first_new = self._detect(stage, JOIN, work.known, self._first_new, work.known_one, work.known_two)
        if self.hold is not None and work.cohesive:
            self.hold()

    def find_contacts(self) -> None:
        """New contacts, without those that sparsification removes again."""
        model, work = self.model, self.model.geometry.workspace
        constraints, settings = model.constraints, model.settings
        stage = FIND
        while stage:
            stage, _, _ = self._detect(FIND, FIND, work.known, self._first_new, work.first, work.second)
        work.fresh = 0
        if settings.symmetric and constraints.n > self._first_new:
            self.removed = sparsify_symmetrically(constraints, model.geometry, settings, self._first_new)
        constraints.next_id += constraints.n - self._first_new
        if self.removed and settings.patch:  # removed points of known pairs are found and judged again in every step
            constraints.view("evaluated")[:] = -1
        if self.guesses and self.notice is not None:
            self.notice()
        if settings.depth < inf:
            columns = constraints.gap, constraints.cohesion, constraints.birth
            self._refuse_depth(_deepest_row(constraints.user_count, constraints.n, settings.depth, model.step_number, *columns))

    def _detect(self, first: int, last: int, looked: int, start: int, one: np.ndarray, two: np.ndarray) -> tuple[int, int, int]:
        """Stages `first` to `last` of the kernel, and what it asks for.

        Returns
        -------
        stage, looked, start
            The stage from which to go on, 0: all are done; pairs of known contacts; first row of new contacts.
        """
        model, work = self.model, self.model.geometry.workspace
        constraints, settings, excluded = model.constraints, model.settings, model.settings.excluded_surfaces
        limits = (0.0, 0.0, 0.0) if settings.symmetric else (settings.threshold, settings.min_area, settings.min_distance)
        outcome, stage, needed, looked, start, found, self.guesses, flags, left, self.removed, work.cohesive, error, row = _detect(
            first, last, looked, start, work.fresh, work.flags, work.searched, work.still.sorted, model.geometry.primitives.n,
            model.bodies.n, work.pairs, constraints.user_count, constraints.n, model.epsilon, settings.margin, model.time,
            model.step_number, work.updates, MANIFOLD_POINTS if settings.manifold else settings.patch, settings.speculative,
            model.surface_materials.n, *limits, constraints.next_id, excluded.shape[1], excluded,
            *work.columns.of(_columns, model, work),
        )  # fmt: skip
        if error:
            narrow.fail(error, row, one, two)
        constraints.n = left
        if outcome == DONE:
            if first == FIND:
                work.found = found
            return 0, looked, start
        if outcome == SEARCH:
            only_moved = work.fresh >= 0 and flags == work.flags
            search(model.geometry, model.bodies, settings, work, work.pairs_state if only_moved else self._searched)
        elif outcome == RESULTS:
            work.result.reserve(needed)
            if settings.patch:
                work.patches.reserve(needed)
        else:
            constraints.reserve(needed)
            work.fit_contacts(constraints)
        return stage, looked, start

    def _refuse_depth(self, row: int) -> None:
        """Raise if there is a contact, in `row`, that reaches the penetration depth limit."""
        if row < 0:
            return
        constraints, bodies = self.model.constraints, self.model.bodies
        one, two = (int(bodies.id[side[row]]) for side in (constraints.master, constraints.slave))
        x, y, z = constraints.point[:, row]
        raise SolfecError(
            f"unphysical penetration: bodies {one} and {two} overlap by {-constraints.gap[row]:g} "
            f"at ({x:g}, {y:g}, {z:g}); the limit is {self.model.settings.depth:g}"
        )


def _columns(model, work: Workspace) -> tuple[np.ndarray, ...]:
    constraints, geometry, bodies, surface_materials = model.constraints, model.geometry, model.bodies, model.surface_materials
    faces = current_faces(geometry)
    vertices, primitives, result, patches = geometry.vertices, geometry.primitives, work.result, work.patches
    return (
        constraints.id, constraints.kind, constraints.master, constraints.slave, constraints.master_primitive,
        constraints.slave_primitive, constraints.slot, constraints.master_point, constraints.slave_point,
        constraints.point, constraints.base, constraints.R, constraints.U, constraints.V, constraints.gap,
        constraints.area, constraints.surface, constraints.material, constraints.cohesion, constraints.birth,
        constraints.evaluated, constraints.merit, constraints.residual, work.keep,
        work.result_of, work.known_one, work.known_two, work.alive, work.kept_at,
        work.fat, work.still.movable, work.still.bodies, work.low, work.high, work.apart, work.mark, work.first, work.second, work.place,
        work.moved, bodies.selfcontact,
        primitives.kind, primitives.surface, primitives.radius, primitives.axes, primitives.reach,
        primitives.margin, primitives.drift, primitives.box,
        primitives.vertex_ptr, primitives.vertex_count, faces.face_ptr, faces.face_count, faces.outer_count,
        faces.edge_count, primitives.body, primitives.adjacent_ptr, primitives.adjacent_count, geometry.adjacency.primitive,
        geometry.vertex_lists.vertex, faces.corner_ptr, faces.corner_count, faces.surface, faces.normal,
        faces.local, faces.edge, faces.vertex, vertices.current,
        result.status, result.outward, result.degenerate, result.normal, result.slave_point, result.master_point,
        result.gap, result.area, result.surface, patches.slots, patches.point, patches.gap,
        bodies.kind, bodies.conf_ptr, bodies.centre, bodies.configurations.conf,
        surface_materials.surface, surface_materials.cohesion,
    )  # fmt: skip
