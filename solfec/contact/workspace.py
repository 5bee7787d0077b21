"""Data that detection keeps between steps: work arrays, fat boxes and their overlapping pairs."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Gaps, Record, close_up, enlarged
from . import narrow
from .still import SPARE_CELLS, StillBoxes, column_length

SKIN = 0.05  # part of its width by which a box is fattened
SHORT_LIFE = 3  # steps that pairs must stay valid to pay for their larger number
LONGEST_PAUSE = 64  # most steps without fat boxes after pairs that were valid too briefly

_insert_pairs = _kernels.pair_lists.insert_pairs
_close_pairs = _kernels.pair_lists.close_pairs


OPENED_TOGETHER = {
    "contact_work": {
        "rows": "ConstraintTable", "materials": "SurfaceMaterialTable", "work": "Workspace", "still": "StillBoxes",
        "found": "NarrowResult", "patches": "PatchResult",
    }
}  # fmt: skip


class Workspace(Record):
    """Arrays that detection reuses in every step, because new memory costs more than the search itself.

    Attributes
    ----------
    still : StillBoxes
        Obstacles that do not move.
    afresh : int
        1: all shapes must be updated.
    skin : float
        By which part of their width boxes were enlarged at the last search.
    choice : list of int
        Update of the last search, number of updates without fat boxes after it, and length of the last such pause.
    """

    COLUMNS = {
        "moved": ((), "i8"),  # of bodies: the last update of shapes that moved them
        "previous": ((12,), "f8"),  # of bodies: leading configuration triples at the last update of shapes, not numbers: they have not had one
        "turned": ((), "i8"),  # of primitives: the update of shapes at which the normals of their faces were computed
        "fat": ((6,), "f8"),  # boxes of primitives at the last search, enlarged
        "low": ((), "i4"),  # primitives whose fat boxes overlap, `pairs` of them, sorted
        "high": ((), "i4"),
        "apart": ((), "i8"),  # update of shapes at which such a pair was found apart; -1: it was not
        "keys": ((), "i8"),  # of these pairs
        "mark": ((), "i4"),
        "first": ((), "i4"),  # pairs to evaluate in this step, `found` of them
        "second": ((), "i4"),
        "place": ((), "i4"),  # their places among the kept pairs
        "keep": ((), "i4"),  # of constraints: 1, it stays
        "result_of": ((), "i4"),  # result of the narrow phase of a known contact
        "known_one": ((), "i4"),  # pairs of known contacts, `known` of them
        "known_two": ((), "i4"),
        "alive": ((), "i4"),  # bits of slots that are in contact
        "kept_at": ((), "i4"),  # of constraints: last place of their pair among the kept pairs
    }
    NUMBERS = {
        "updates": "i8",  # of shapes so far
        "searched": "i8",  # the one after which pairs were searched
        "flags": "i8",  # of self-contact at that search
        "present_flags": "i8",  # of self-contact now
        "pairs": "i4",  # found at the last search
        "fresh": "i4",  # 1: pairs have not been used yet; -1: pairs must be searched; 0 otherwise
        "cohesive": "i4",  # 0: no contact has cohesion
        "known": "i4",  # pairs of known contacts that the last step evaluated
        "found": "i4",  # other pairs that it evaluated
        "guesses": "i4",  # contacts among them whose normal is a guess
        "removed": "i4",  # contacts that sparsification removed
        "first_new": "i4",  # first row that is new in the step
        "rank": "i4",  # of this process, if it holds a part of a model; -1: it holds all
        "removed_own": "i4",  # those removed contacts whose last moving body it owns
    }

    def __init__(self):
        super().__init__()
        self.afresh = 0
        self.result = narrow.NarrowResult()
        self.patches = narrow.PatchResult(1)
        self.still = StillBoxes()
        self.searched = self.rank = -1
        self.shapes_state = self.pairs_state = self.excluded = self.surfaces_state = None
        self.only_surface = np.zeros(0, np.int64)
        self.alone_of: tuple = None, None, np.zeros(0, int)  # surfaces and their exclusions, and the primitives that nothing may touch
        self.fresh = 1
        self.options = (0.0, False), False, False, False
        self.joined = np.zeros((2, 0), np.int32)  # of a part of a model: pairs of primitives of the points that have joined patches in this step
        self.cohesive = 1  # contacts may have cohesion
        self.contact_capacity = -1
        self.rows = np.zeros((0, 2), np.int32, order="F")
        self.choice = [0, 0, 0]
        self.skin = 0.0
        self.enlarge_pairs(256)

    def fit(self, geometry, bodies) -> None:
        """Match the capacities of the tables of shapes and bodies, keeping what is known of those that there are."""
        if self.turned.size != geometry.primitives.capacity:
            self._enlarge_primitives(geometry.primitives.capacity)
        if self.moved.size != bodies.capacity:
            self.replace(moved=enlarged(self.moved, bodies.capacity, 0), previous=enlarged(self.previous, bodies.capacity, np.nan))

    def fit_search(self, capacity: int) -> None:
        """Match the capacity of the table of primitives before all pairs are searched."""
        if len(self.rows) != capacity:
            self.bounds = np.zeros((column_length(capacity), 6), np.float32, order="F")
            self.box_numbers = np.zeros((column_length(capacity), 3), np.int32, order="F")
            self.rows = np.zeros((capacity, 2), np.int32, order="F")
            self.records = np.zeros((9, capacity), np.int32, order="F")
            self.cells = np.zeros(4 * capacity + SPARE_CELLS, np.int32)

    def _enlarge_primitives(self, capacity: int) -> None:
        """Make room for so many primitives, keeping what is known of those that there are."""
        self.replace(turned=enlarged(self.turned, capacity, 0), fat=enlarged(self.fat, capacity, 0.0))

    def add(self, version: int) -> None:
        """Take note of shapes that have come behind the others: the next update moves them; pairs of the others are what they were."""
        if self.shapes_state is not None and self.shapes_state[0] == version - 1:
            self.shapes_state = version, self.shapes_state[1]
        if self.pairs_state is not None and self.pairs_state[0] == version - 1:
            self.pairs_state = version, *self.pairs_state[1:]

    def remove(self, gaps: dict[str, Gaps], version: int, bodies: np.ndarray, primitives: np.ndarray) -> None:
        """Forget bodies that have gone; those that stay, and their pairs, are what they were.

        Parameters
        ----------
        gaps : dict of Gaps
            Of the tables of bodies and primitives.
        version : int
            Of shapes now.
        bodies, primitives : ndarray of int
            New row of every old one, -1: it is gone.
        """
        if self.shapes_state is None or self.shapes_state[0] != version - 1:
            return  # all shapes will be updated
        self.shapes_state = version, self.shapes_state[1]
        if self.moved.size < len(bodies):  # others have come since the last update
            self.replace(moved=enlarged(self.moved, len(bodies), 0), previous=enlarged(self.previous, len(bodies), np.nan))
        if self.fat.shape[1] < len(primitives):
            self._enlarge_primitives(len(primitives))
        self.replace(
            moved=close_up(self.moved, gaps["BodyTable"], len(bodies), 0), previous=close_up(self.previous, gaps["BodyTable"], len(bodies), np.nan),
            turned=close_up(self.turned, gaps["PrimitiveTable"], len(primitives), 0), fat=close_up(self.fat, gaps["PrimitiveTable"], len(primitives), 0.0),
        )  # fmt: skip
        self.pairs = _close_pairs(self.pairs, primitives, self.low, self.high, self.apart)
        self.still.remove(gaps)
        if self.pairs_state is not None and self.pairs_state[0] == version - 1:
            known = self.pairs_state[1]  # primitives may also have come and gone since the last search
            self.pairs_state = version, int(np.count_nonzero(primitives[:known] >= 0)), *self.pairs_state[2:]

    def shape(self, version: int, epsilon: float) -> None:
        """Request an update of all shapes if shapes or the geometric epsilon differ from those of the last update."""
        if self.shapes_state != (version, epsilon):
            self.shapes_state, self.afresh = (version, epsilon), 1

    def fit_contacts(self, constraints) -> None:
        """Match the capacity of the constraint table, keeping results of a step that needs more room."""
        if self.contact_capacity != constraints.capacity:
            names = "keep", "result_of", "known_one", "known_two", "alive", "kept_at"
            columns = np.zeros((6, constraints.capacity), np.int32)
            kept = max(0, min(self.contact_capacity, constraints.capacity))
            for name, column in zip(names, columns):
                column[:kept] = getattr(self, name)[:kept]
            self.replace(**dict(zip(names, columns)))
            self.contact_capacity = constraints.capacity

    def enlarge_pairs(self, count: int) -> None:
        """Make room for `count` pairs."""
        work = dict(zip(("low", "high", "first", "second", "place", "mark"), np.zeros((6, count), np.int32)))
        self.replace(**work, **dict(zip(("apart", "keys"), np.full((2, count), -1, np.int64))))

    def insert_pairs(self, low: np.ndarray, high: np.ndarray) -> None:
        """Put pairs into their places among those that there are; nothing is known of them yet."""
        if not len(low):
            return
        total = self.pairs + len(low)
        if total > self.low.size:
            known = self.low[: self.pairs], self.high[: self.pairs], self.apart[: self.pairs]
            self.enlarge_pairs(2 * total)
            self.low[: self.pairs], self.high[: self.pairs], self.apart[: self.pairs] = known
        order = np.lexsort((high, low))
        _insert_pairs(self.pairs, low[order], high[order], self.low, self.high, self.apart)
        self.pairs = total

    def choose_skin(self, moved_only: bool) -> float:
        """Return the skin for the next search: zero for a while if pairs found with one were valid too briefly."""
        last, pause, last_pause = self.choice
        age = self.updates - last
        if pause > 0:
            pause -= age
        elif moved_only and age < SHORT_LIFE:
            pause = last_pause = min(max(2 * last_pause, 4), LONGEST_PAUSE)
        else:
            last_pause = 0
        self.choice = [self.updates, pause, last_pause]
        return 0.0 if pause > 0 else SKIN


def workspace_of(geometry, bodies, constraints=None) -> Workspace:
    """Return the geometry's workspace with the right capacities."""
    work = geometry.workspace
    if work is None:
        work = geometry.workspace = Workspace()
    work.fit(geometry, bodies)
    if constraints is not None:
        work.fit_contacts(constraints)
    return work
