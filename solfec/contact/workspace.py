"""What detection keeps from step to step: work arrays, fat boxes and the pairs that they overlap in."""

from __future__ import annotations

import numpy as np

from ..tables import KernelColumns, note_reallocation
from . import narrow
from .still import SPARE_CELLS, StillBoxes, column_length

SKIN = 0.05  # part of its width by which a box is fattened
SHORT_LIFE = 3  # steps that pairs must last to have been worth the larger number of them
LONGEST_PAUSE = 64  # steps without fat boxes after pairs that did not


class Workspace:
    """Arrays that detection reuses from step to step, because fresh memory costs more than the search itself.

    Attributes
    ----------
    updates : int
        Number of updates of shapes so far.
    pairs, searched, flags : int
        How many pairs were found at the last search, after which update and with which flags of self-contact.
    fresh : int
        1: these have not been used yet; -1: pairs must be searched; 0 otherwise.
    afresh : int
        1: all shapes must be updated.
    cohesive : int
        0: no contact has cohesion.
    known, found : int
        Pairs of known contacts and others that the last step looked at.
    moved : ndarray, (bodies,) int64
        The last update of shapes that moved a body.
    previous : ndarray, (3, triples)
        Configurations at the last update of shapes.
    still : StillBoxes
        Obstacles that do not move.
    fat : ndarray, (6, primitives)
        Boxes as they were at the last search, enlarged.
    low, high : ndarray of int32
        Rows of primitives whose fat boxes overlap, `pairs` of them, sorted.
    apart : ndarray of int64
        Update of shapes after which a pair was found apart; -1: it was not.
    choice : ndarray of int32 (3,)
        The update of the last search, updates for which boxes are not fattened from then on, and how long the last pause was.
    first, second, place : ndarray of int32
        Pairs to be looked at in this step, and where they are among those kept; `found` of them were.
    """

    def __init__(self):
        self.updates = self.pairs = self.afresh = self.known = self.found = self.flags = 0
        self.columns = KernelColumns()
        self.result = narrow.NarrowResult()
        self.patches = narrow.PatchResult(1)
        self.still = StillBoxes()
        self.searched = -1
        self.shapes_state = self.pairs_state = self.excluded = None
        self.fresh = 1
        self.options = (0.0, False, False, False, False)
        self.cohesive = 1  # contacts may have it
        self.contact_capacity = self.primitive_capacity = -1
        self.previous = np.zeros((3, 0), order="F")
        self.moved = np.zeros(0, np.int64)
        self.choice = np.zeros(3, np.int32)
        self.enlarge_pairs(256)

    def fit(self, geometry, bodies) -> None:
        """Match the capacities of the tables of shapes and bodies; new arrays are filled by an update from scratch."""
        if self.primitive_capacity != geometry.primitives.capacity:
            capacity = self.primitive_capacity = geometry.primitives.capacity
            self.bounds = np.zeros((column_length(capacity), 6), np.float32, order="F")
            self.box_numbers = np.zeros((column_length(capacity), 3), np.int32, order="F")
            self.rows = np.zeros((capacity, 2), np.int32, order="F")
            self.records = np.zeros((9, capacity), np.int32, order="F")
            self.cells = np.zeros(4 * capacity + SPARE_CELLS, np.int32)
            self.fat = np.zeros((6, capacity), order="F")
            self.pairs_state = None
            self.still.forget()
            note_reallocation()
        if self.moved.size != bodies.capacity or self.previous.shape[1] != bodies.configurations.capacity:
            self.moved = np.full(bodies.capacity, self.updates, np.int64)
            self.previous = np.zeros((3, bodies.configurations.capacity), order="F")
            self.shapes_state = None
            self.still.forget()
            note_reallocation()

    def shape(self, version: int, epsilon: float) -> None:
        """Let all shapes be updated if they, or the geometric epsilon, are others than at the last update."""
        if self.shapes_state != (version, epsilon):
            self.shapes_state, self.afresh = (version, epsilon), 1

    def fit_contacts(self, constraints) -> None:
        """Match the capacity of the constraint table, keeping what a step that needs more room has found so far."""
        if self.contact_capacity != constraints.capacity:
            columns = np.zeros((6, constraints.capacity), np.int32)
            kept = max(0, min(self.contact_capacity, constraints.capacity))
            if kept:
                known = self.keep, self.result_of, self.known_one, self.known_two, self.alive, self.kept_at
                columns[:, :kept] = [column[:kept] for column in known]
            self.keep, self.result_of, self.known_one, self.known_two, self.alive, self.kept_at = columns
            self.contact_capacity = constraints.capacity
            note_reallocation()

    def enlarge_pairs(self, count: int) -> None:
        """Make room for `count` pairs."""
        self.low, self.high, self.first, self.second, self.place, self.mark = np.zeros((6, count), np.int32)
        self.apart, self.keys = np.full((2, count), -1, np.int64)
        note_reallocation()

    def choose_skin(self, moved_only: bool) -> float:
        """Skin for the next search: none for a while when pairs found with one did not last."""
        last, pause, last_pause = self.choice.tolist()
        age = self.updates - last
        if pause > 0:
            pause -= age
        elif moved_only and age < SHORT_LIFE:
            pause = last_pause = min(max(2 * last_pause, 4), LONGEST_PAUSE)
        else:
            last_pause = 0
        self.choice[:] = self.updates, pause, last_pause
        return 0.0 if pause > 0 else SKIN


def workspace_of(geometry, bodies, constraints=None) -> Workspace:
    """The geometry's workspace, of the right size."""
    work = geometry.workspace
    if work is None:
        work = geometry.workspace = Workspace()
    work.fit(geometry, bodies)
    if constraints is not None:
        work.fit_contacts(constraints)
    return work
