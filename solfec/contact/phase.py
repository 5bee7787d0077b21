"""Detection in a time step: shapes follow the bodies, known contacts follow the shapes, and new contacts are found.

Known contacts keep their roles and the local components of R and U.  Contacts between bodies that have not moved stay
unchanged, and contacts that opened are removed.  New contacts come in the order of their keys, without reactions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from . import narrow
from .current_faces import CurrentFaces
from .detection import add_pairs, pairs_state_of, same_selfcontact, search, sparsify_symmetrically, update_geometry
from .workspace import Workspace, workspace_of

MANIFOLD_POINTS = 2  # of `patched`
FOLLOW, JOIN, FIND = 1, 2, 3  # stages of the kernel `detect`
DONE, SEARCH, RESULTS, ROWS = range(4)  # its outcomes
NO_LIMITS = np.zeros(3)

_deepest_row = _kernels.contact_detection.deepest_row
_detect = _kernels.contact_detection.detect


class Detection:
    """Detection in a model, by three calls in every step: `move_shapes`, `follow_contacts`, `find_contacts`.

    Parameters
    ----------
    model
        Has `constraints`, `geometry`, `bodies`, `surface_materials`, `settings`, `epsilon`, `step`, `dynamic`, and `time` and
        `step_number` at the start of the step.
    hold : callable, optional
        For a model with finite elements: called after known contacts are updated, to move cohesive contacts with their elements.
    notice : callable, optional
        Called if new contacts are degenerate: their normal is a guess.

    Attributes
    ----------
    removed : int
        Number of contacts that were found in the last step and removed again by sparsification.
    """

    def __init__(self, model, hold: Callable[[], None] | None = None, notice: Callable[[], None] | None = None):
        self.model, self.hold, self.notice = model, hold, notice
        self.removed = 0
        self._opened: tuple | None = None  # tables of which `_tables` has the handles
        self._limits, self._limited = NO_LIMITS, (0.0, 0.0, 0.0)  # of sparsification

    def run(self) -> int:
        """Run all three parts; return `removed`.

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
        """Move shapes to the present configuration, and predict their motion in the step."""
        model = self.model
        constraints, geometry, bodies, settings = model.constraints, model.geometry, model.bodies, model.settings
        work = workspace_of(geometry, bodies, constraints)
        excluding_as = settings.excludes_as(work.excluded)
        if constraints.n > constraints.user_count and not (excluding_as and same_selfcontact(bodies, work)):
            self._drop_excluded()
        settings.set_margins(geometry)
        margins = settings.margins
        options = margins, settings.patch, settings.manifold, settings.speculative
        if work.options != options:
            work.options = options
            constraints.view("evaluated")[:] = -1
        update_geometry(geometry, bodies, model.epsilon, work, model.step if settings.chooses_margin and model.dynamic else 0.0)
        self._open(work, geometry.current)
        if not (excluding_as and self._knows_pairs(work)):
            work.fresh = -1

    def _drop_excluded(self) -> None:
        """Remove contacts between what the user has excluded since they were found."""
        model = self.model
        gone = model.settings.excluded_contacts(model.constraints, model.bodies)
        if gone.any():
            users = np.ones(model.constraints.user_count, bool)
            model.constraints.keep_marked(np.concatenate((users, ~gone)))

    def _knows_pairs(self, work: Workspace) -> bool:
        """Whether all pairs are known as long as boxes stay within their fat boxes and exclusions stand."""
        model, known = self.model, work.pairs_state
        geometry = model.geometry
        if known is None or known == pairs_state_of(geometry, model.settings):
            return known is not None
        return geometry.primitives.n > known[1] and add_pairs(geometry, model.bodies, model.settings, work)

    def follow_contacts(self) -> None:
        """Update known contacts to the present shapes; remove those that opened."""
        work, constraints = self.model.geometry.workspace, self.model.constraints
        if constraints.n == constraints.user_count:
            work.known = work.cohesive = 0
            work.first_new = constraints.n
            return
        self._detect(FOLLOW, JOIN, NO_LIMITS, "known_one", "known_two")
        if self.hold is not None and work.cohesive:
            self.hold()

    def find_contacts(self) -> None:
        """Find new contacts, without those that sparsification removes."""
        model, work = self.model, self.model.geometry.workspace
        constraints, settings = model.constraints, model.settings
        if work.rank >= 0:
            joined = slice(work.first_new, constraints.n)
            work.joined = np.array([constraints.master_primitive[joined], constraints.slave_primitive[joined]])
        self._detect(FIND, FIND, NO_LIMITS if settings.symmetric else self._present_limits(settings), "first", "second")
        new, self.removed = work.first_new, work.removed
        if settings.symmetric and constraints.n > new:
            self.removed = sparsify_symmetrically(constraints, model.bodies, model.surface_materials, model.geometry, settings, new)
        constraints.next_id += constraints.n - new
        if self.removed and settings.patch:  # removed points of known pairs are found and tested again in every step
            constraints.view("evaluated")[:] = -1
        if work.guesses and self.notice is not None:
            self.notice()
        if settings.depth < inf:
            self._refuse_depth(
                _deepest_row(constraints.handle, constraints.user_count, constraints.n, settings.depth, model.step_number)
            )

    def _present_limits(self, settings) -> np.ndarray:
        """Return the limits of sparsification, in an array that is made again when they change."""
        limited = settings.threshold, settings.min_area, settings.min_distance
        if self._limited != limited:
            self._limits, self._limited = np.array(limited, float), limited
        return self._limits

    def _detect(self, stage: int, last: int, limits: np.ndarray, one: str, two: str) -> None:
        """Run stages of the kernel up to `last`, and satisfy its requests; members `one` and `two` of the work space are its pairs."""
        model = self.model
        constraints, settings = model.constraints, model.settings
        patched = MANIFOLD_POINTS if settings.manifold else settings.patch
        while True:
            outcome, stage, needed, constraints.n, error = _detect(
                self._tables, stage, last, constraints.user_count, constraints.n, model.epsilon, settings.margin, model.time,
                model.step_number, patched, settings.speculative, limits, constraints.next_id, settings.excluded_surfaces,
            )  # fmt: skip
            if error:
                work = model.geometry.workspace
                narrow.fail(error, stage, getattr(work, one), getattr(work, two))
            if outcome == DONE:
                return
            self._make_room(outcome, needed)

    def _make_room(self, outcome: int, needed: int) -> None:
        """Satisfy the kernel's request: a new search, or room."""
        model, work = self.model, self.model.geometry.workspace
        constraints, settings = model.constraints, model.settings
        if outcome == SEARCH:
            only_moved = work.fresh >= 0 and work.present_flags == work.flags
            state = work.pairs_state if only_moved else pairs_state_of(model.geometry, settings)
            search(model.geometry, model.bodies, settings, work, state)
        elif outcome == RESULTS:
            work.result.reserve(needed)
            if settings.patch:
                work.patches.reserve(needed)
        elif outcome == ROWS:
            constraints.reserve(needed)
            work.fit_contacts(constraints)
        else:
            raise RuntimeError("detection: kernels do not know a table by its handle")

    def _open(self, work: Workspace, faces: CurrentFaces) -> None:
        """List the handles of detection's tables (fortran/contact/detection_state.f90); they keep these for life."""
        model = self.model
        opened = model.bodies, faces, model.constraints, model.surface_materials, work, work.still, work.result, work.patches
        if self._opened != opened:
            handles = (table.handle for table in opened[2:])
            self._tables = np.array([*model.bodies.handles, *faces.handles, *handles], np.longlong)
            self._opened = opened

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

