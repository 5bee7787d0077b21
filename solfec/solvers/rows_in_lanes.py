"""Contacts of one colour in groups of eight, which kernels visit side by side (fortran/solvers/rows_in_lanes.f90).

Contacts on one pair of bodies are visited one after the other, in one lane; pairs of one colour share no body that moves, so eight of them make a
block, and a slot has one contact of each.  Contacts of pairs that have many, other rows, and other block solvers are visited one by one.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Record, Table, handles_of, opened

_plan_lanes = _kernels.rows_in_lanes.plan_lanes
_pack_lanes = _kernels.rows_in_lanes.pack_lanes
_unpack_lanes = _kernels.rows_in_lanes.unpack_lanes

MOST_PACKED = 200_000  # rows; a packed one of rigid bodies takes some 0.5 kB, and memory is what large models lack


class SlotTable(Table):
    """Slots: a row in each lane, or none."""

    COLUMNS = {
        "row": ((8,), "i4", 0),  # -1: none
        "used": ((), "i4", 0),  # lanes with a row, the first ones
        "entries": ((), "i4", 0),  # most entries of these rows
        "first_entry": ((), "i4", 0),  # in LaneEntryTable
        "judged": ((8,), "f8", 0.0),  # 1: this process adds the figures of the row
        "figures": ((8, 3), "f8", 0.0),  # |dR|^2, |R|^2, postponed
    }
    POINTS_INTO = {"row": "RowTable", "first_entry": "LaneEntryTable"}


class LaneTable(Table):
    """What visits read and write, slot by slot."""

    COLUMNS = {
        "numbers": ((8, 15), "f8", 0.0),  # of the contact's block solve (fortran/solvers/contact_lanes.f90)
        "free": ((8, 3), "f8", 0.0),
        "R": ((8, 3), "f8", 0.0),
    }


class LaneEntryTable(Table):
    """Operator blocks, those of a slot behind one another."""

    COLUMNS = {"triple": ((8,), "i4", 0), "operator": ((8, 3, 3), "f8", 0.0)}
    POINTS_INTO = {"triple": "TripleTable"}


class LaneChunks(Record):
    """Chunks, of slots or of rows that are visited one by one; those of one colour share no body that moves, so threads visit them side by side."""

    COLUMNS = {
        "slot_ptr": ((), "i4"),  # first slot of each chunk
        "rest": ((), "i4"),  # rows that are visited one by one
        "rest_ptr": ((), "i4"),  # first of them of each chunk
        "chunk_ptr": ((), "i4"),  # first chunk of each part
        "judged": ((), "i4"),  # rows among `rest` whose figures this process adds
    }
    NUMBERS = {
        "slots": "i4",
        "entries": "i4",
        "judged_rest": "i4",  # rows in `judged`
        "packed": "i4",  # 1: LaneTable holds all slots, 0: they are packed for each visit
    }


OPENED_TOGETHER = {"lane_tables": {"slots": "SlotTable", "values": "LaneTable", "entries": "LaneEntryTable", "chunks": "LaneChunks"}}


class RowsInLanes:
    """The rows of a solution, arranged before its first sweep; tables are reused from step to step."""

    def __init__(self):
        self.slots, self.values, self.entries = SlotTable(), LaneTable(), LaneEntryTable()
        none = np.zeros(0, np.int32)
        self.chunks = LaneChunks(**dict.fromkeys(LaneChunks.COLUMNS, none))

    @property
    def handles(self) -> np.ndarray:
        """Handles (4,) of `OPENED_TOGETHER`."""
        return handles_of(self, OPENED_TOGETHER["lane_tables"])

    def arrange(self, local, row: np.ndarray, group: np.ndarray, part_ptr: np.ndarray, judged: np.ndarray, solver: int, packed: bool = True) -> None:
        """Arrange the rows of all colours.

        Parameters
        ----------
        local : LocalDynamics
        row : ndarray (m,) of int32
            Rows, part after part, whole groups behind one another.
        group : ndarray of int32
            Places in `row` where groups begin; groups of one part share no body that moves.
        part_ptr : ndarray of int32
            Places in `row` where parts begin, and m.
        judged : ndarray of int32
            Rows whose figures this process adds.
        solver : int
            Block solver of contacts (`DiagonalSolver`).
        packed : bool
            Whether the rows stay in their slots between sweeps, unless there are more than `MOST_PACKED`.
        """
        chunks = self.chunks
        self.slots.reserve(row.size)
        if chunks.rest.size < row.size or chunks.chunk_ptr.size < part_ptr.size:
            room = {name: np.zeros(2 * (row.size + 1), np.int32) for name in LaneChunks.COLUMNS}
            chunks.replace(**room | {"chunk_ptr": np.zeros(2 * part_ptr.size, np.int32)})
        opened(_plan_lanes(local.handles, self.handles, solver, row, group, part_ptr, judged, local.n))
        chunks.packed = int(packed and row.size <= MOST_PACKED)
        if chunks.packed:
            self.values.reserve(chunks.slots)
            self.entries.reserve(chunks.entries)
            opened(_pack_lanes(local.handles, self.handles))

    def give_back(self, local) -> None:
        """Write reactions, and what block solvers remember, to the rows."""
        if self.chunks.packed:
            opened(_unpack_lanes(local.handles, self.handles))
