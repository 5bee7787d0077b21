"""Contributions of implicit bodies to W: their A^-1 couples all their velocity triples, so it is applied to all rows of a body at once.

They are added after the layout of blocks and before the laws of rows.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.element_solver import ElementSolver
from ..bodies.reduced import ReducedBodies
from ..tables import opened
from .kept_columns import KeptColumns

WIDTH = 96  # columns of a slice, three per row: enough that arithmetic, not memory, limits the speed of solutions

_fill_columns = _kernels.compliance.fill_columns
_inverse_columns = _kernels.compliance.inverse_columns
_kept_columns = _kernels.compliance.kept_columns
_add_compliance = _kernels.compliance.add_compliance
_add_reduced_compliance = _kernels.reduced_compliance.add_reduced_compliance


def rows_of(local, solver) -> SolverRows | ReducedRows:
    """Return the object whose `add()` adds, in every step, the contribution of the bodies of one solver."""
    if isinstance(solver, ReducedBodies):
        return ReducedRows(local, solver)
    return SolverRows(local, solver)


class SolverRows:
    """Contribution of the bodies of one element solver; columns are computed in slices.

    Attributes
    ----------
    columns : ndarray (size, n)
        A^-1 H^T of its bodies, for a slice of the rows of each body; every body starts at the first column.
    kept : KeptColumns or None
        Columns of A^-1 that stay, if A does.
    """

    def __init__(self, local, solver):
        self.local, self.solver = local, solver
        self.columns = np.zeros((solver.size, 0), order="F")
        self.kept = KeptColumns(solver) if isinstance(solver, ElementSolver) and solver.linear else None

    def add(self) -> None:
        """Add W of all pairs of rows of these bodies."""
        local, solver = self.local, self.solver
        first = local.pointers.attachment
        most = 3 * int((first[solver.rows + 1] - first[solver.rows]).max(initial=0))
        if min(most, WIDTH) > self.columns.shape[1]:
            self.columns = np.zeros((solver.size, min(most + 3 * (most // 12), WIDTH)), order="F")
        tables, which = (local.bodies.handles, local.handles), (solver.rows, solver.dof_first, solver.rotation)
        kept = self.kept if self.kept and most and self.kept.hold(tables, self.columns) else None
        for start in range(0, most, WIDTH):
            row, used = start // 3, min(WIDTH, most - start)
            if not isinstance(solver, ElementSolver):
                opened(_inverse_columns(*tables, row, used, *which, solver.place, solver.inverses, self.columns))
            elif kept:
                opened(_kept_columns(*tables, row, used, *which, kept.place, kept.values, self.columns))
            else:
                opened(_fill_columns(*tables, row, used, *which, self.columns))
                solver.solve_slice(self.columns, used, most)
            opened(_add_compliance(*tables, row, used, local.step, *which, self.columns))


class ReducedRows:
    """Contribution of bodies that move in a base."""

    def __init__(self, local, solver: ReducedBodies):
        self.local, self.solver = local, solver
        self._work = np.zeros(1)

    def add(self) -> None:
        """Add W of all pairs of rows of these bodies."""
        local, solver = self.local, self.solver
        first = local.pointers.attachment
        lengths = 6 * solver.modes.astype(np.int64) * (first[solver.rows + 1] - first[solver.rows])
        ends = np.cumsum(lengths)
        if ends[-1] > len(self._work):
            self._work = np.zeros(ends[-1] + ends[-1] // 4)
        first_numbers = (ends - lengths).astype(np.int32)
        opened(
            _add_reduced_compliance(local.bodies.handles, local.handles, solver.handle, local.step, first_numbers, self._work)
        )
