"""Columns of A^-1 of linear finite element bodies (form 'BC') at the nodes that rows touch, kept while A stays.

Contacts move over the same few nodes for many steps, and sums of kept columns cost far less than solutions for all rows.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import opened

MOST_KEPT = 1 << 25  # entries, 256 MB; where rows touch more nodes, every step solves for its rows

_touched_nodes = _kernels.compliance.touched_nodes
_keep_columns = _kernels.compliance.keep_columns


class KeptColumns:
    """Columns of A^-1 of one element solver.

    Attributes
    ----------
    place : ndarray (nodes,) int64
        Where in `values` the three columns of a node begin; -1: not kept.
    values : ndarray
        Columns, one behind the other, each as long as its body has unknowns.
    """

    def __init__(self, solver):
        self.solver = solver
        self._factorisations = -1
        self._touched = np.zeros(len(solver.nodes), np.int32)
        self._length = 3 * np.bincount(solver.owner)
        self.place, self.values, self._used = np.full(len(solver.nodes), -1, np.int64), np.zeros(0), 0

    def hold(self, tables: tuple, columns: np.ndarray) -> bool:
        """Keep the columns at all nodes that rows touch now; return whether they have room.  `columns` (size, n) is work space."""
        solver = self.solver
        if self._factorisations != solver.factorisations:
            self._forget()
        opened(_touched_nodes(*tables, solver.rows, solver.dof_first, self._touched))
        if self._needed(self._touched > 0) > MOST_KEPT:
            self._forget()
            self.values = np.zeros(0)
            return False
        if self._used + self._needed((self._touched > 0) & (self.place < 0)) > MOST_KEPT:
            self._forget()
        self._add(np.flatnonzero((self._touched > 0) & (self.place < 0)), columns)
        return True

    def _needed(self, nodes: np.ndarray) -> int:
        """Return the number of entries of the columns at some nodes (a mask)."""
        return 3 * int(self._length[self.solver.owner[nodes]].sum())

    def _forget(self) -> None:
        self._factorisations, self._used = self.solver.factorisations, 0
        self.place.fill(-1)

    def _add(self, nodes: np.ndarray, columns: np.ndarray) -> None:
        """Solve for the columns at some nodes, ascending: at once, as many of every body as `columns` has room for."""
        if not nodes.size:
            return
        solver, owner = self.solver, self.solver.owner[nodes]
        lengths = 3 * self._length[owner]
        self.place[nodes] = self._used + np.cumsum(lengths) - lengths
        self._used += int(lengths.sum())
        if self._used > len(self.values):
            larger = np.zeros(min(self._used + self._used // 4, MOST_KEPT))
            larger[: len(self.values)] = self.values
            self.values = larger
        rank = np.arange(len(nodes)) - np.searchsorted(owner, owner)  # among the new nodes of its body
        at_once = columns.shape[1] // 3
        for first in range(0, int(rank.max()) + 1, at_once):
            chosen = np.flatnonzero((rank >= first) & (rank < first + at_once))
            group, node = rank[chosen] - first, nodes[chosen]
            used = 3 * (int(group.max()) + 1)
            columns[:, :used] = 0.0
            for axis in range(3):
                columns[3 * node + axis, 3 * group + axis] = 1.0
            solver.solve_slice(columns, used, used)
            _keep_columns(solver.dof_first[owner[chosen]], self._length[owner[chosen]], group, self.place[node], columns, self.values)
