"""Copies of rows in the order of a sweep by colours, so that sweeps read memory from front to back."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..solvers.local_dynamics import EntryTable, LocalDynamics, RowTable
from ..tables import opened

_copy_rows_in_order = _kernels.part_sweeps.copy_rows_in_order
_take_reactions_back = _kernels.part_sweeps.take_reactions_back


class RowsInOrder:
    """Rows that are swept many times, copied before the first sweep of a solution; tables are reused from step to step.

    Attributes
    ----------
    handles : ndarray (6,)
        Tables of local dynamics (OPENED_TOGETHER in solvers/local_dynamics.py): those of the copies, with the momenta of the original.
    """

    def __init__(self):
        self._rows, self._entries = RowTable(), EntryTable()

    def copy(self, local: LocalDynamics, listed: np.ndarray) -> None:
        """Copy listed rows, each of them once, in the order of the list."""
        head, end = local.rows.entry_ptr[listed], local.rows.entry_ptr[listed + 1]
        self._rows.reserve(listed.size + 1)
        self._entries.reserve(int((end - head).sum()))
        self.handles = local.handles.copy()
        self.handles[:2] = self._rows.handle, self._entries.handle
        opened(_copy_rows_in_order(local.handles, self.handles, local.n, listed))

    def give_back(self, local: LocalDynamics, listed: np.ndarray) -> None:
        """Write the reactions of the copies, and what block solvers remember, to the rows."""
        opened(_take_reactions_back(local.handles, self.handles, listed))
