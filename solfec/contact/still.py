"""Obstacles that never move: their boxes are sorted once into a grid, in which moving boxes are searched."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Gaps, Record, unique

_sort_still = _kernels.broad_phase.sort_still
_fatten_boxes = _kernels.contact_detection.fatten_boxes

OBSTACLE = 0  # kind of body, see bodies.table
SPARE_CELLS = 4200  # of a grid, whatever the number of boxes
FIGURES, CLASSES = 20, 65  # size of a stored grid


def column_length(count: int) -> int:
    """Return a length of columns for `count` boxes and one more block, chosen so that columns do not compete for cache lines."""
    return count + 8 + (112 - (count + 8)) % 1024


class StillBoxes(Record):
    """Boxes of obstacles that have not moved so far, in a separate grid.

    An obstacle with a prescribed motion is recognised once it has moved, and is then treated like moving bodies.  This affects
    only which pairs of boxes are compared, not the contacts.

    Attributes
    ----------
    bodies : ndarray of int32
        Rows of bodies that are assumed not to move.
    movable : ndarray of int32
        Rows of primitives of all other bodies.
    grid, bounds, numbers, cells : ndarray
        The grid, see the kernel `sort_still`.
    sorted : int
        The update of shapes after which boxes were sorted.
    restless : ndarray of int64
        Identifiers of obstacles that have moved.
    """

    COLUMNS = {
        "bodies": ((), "i4"),  # assumed not to move
        "movable": ((), "i4"),  # primitives of all others
    }
    NUMBERS = {"sorted": "i8"}  # the update of shapes after which boxes were sorted

    def __init__(self):
        super().__init__()
        self.restless = np.zeros(0, np.int64)
        self.forget()
        self._state = None
        self._resize(0)

    def forget(self) -> None:
        """Make the next search sort boxes again, since arrays have been reallocated and all shapes will be updated."""
        self._state = None
        self.sorted = -1

    def remove(self, gaps: dict[str, Gaps]) -> None:
        """Follow rows of bodies and primitives, which move up into gaps."""
        self.replace(bodies=gaps["BodyTable"].left_of(self.bodies), movable=gaps["PrimitiveTable"].left_of(self.movable))

    def _resize(self, count: int) -> None:
        self.grid = np.zeros((FIGURES, CLASSES), order="F")
        self.bounds = np.zeros((column_length(count), 6), np.float32, order="F")
        self.numbers = np.zeros((column_length(count), 3), np.int32, order="F")
        self.cells = np.zeros(4 * count + SPARE_CELLS, np.int32)

    def refresh(self, geometry, bodies, margins, work) -> None:
        """Sort boxes, enlarged by half of their reach into `work.fat`, again if bodies, shapes or reaches changed or an obstacle moved.

        Parameters
        ----------
        margins
            Key that changes when reaches change.
        """
        primitives = geometry.primitives
        state = (work.shapes_state, primitives.n, bodies.n, margins)
        if state == self._state:
            moved = self.bodies[work.moved[self.bodies] > self.sorted]
            if not moved.size:
                return
            self.restless = unique(np.append(self.restless, bodies.id[moved]))
        still = (bodies.view("kind") == OBSTACLE) & ~np.isin(bodies.view("id"), self.restless)
        mask = still[primitives.view("body")]
        members = np.flatnonzero(mask).astype(np.int32)
        self.replace(bodies=np.flatnonzero(still).astype(np.int32), movable=np.flatnonzero(~mask).astype(np.int32))
        self._resize(members.size)
        _fatten_boxes(members, primitives.reach, 0.0, primitives.box, work.fat)
        _sort_still(
            members, work.fat, primitives.kind, primitives.outer_count, work.rows, work.records,
            self.grid, self.bounds, self.numbers, self.cells,
        )  # fmt: skip
        self._state, self.sorted = state, work.updates
