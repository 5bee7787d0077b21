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


class SliceRoom:
    """Memory for slices of columns, which solvers use one after the other; it stays when bodies come and go, since new pages cost milliseconds."""

    def __init__(self):
        self._numbers = np.zeros(0)

    def of(self, size: int, width: int) -> np.ndarray:
        """Return an array (size, width) in Fortran's order; its contents have no meaning."""
        count = size * width
        if count > len(self._numbers):
            self._numbers = np.zeros(count + count // 4)
        return self._numbers[:count].reshape(size, width, order="F")

    def __deepcopy__(self, memo: dict):
        return SliceRoom()


def rows_of(local, solver, room: SliceRoom) -> SolverRows | ReducedRows:
    """Return the object whose `add()` adds, in every step, the contribution of the bodies of one solver."""
    if isinstance(solver, ReducedBodies):
        return ReducedRows(local, solver)
    return SolverRows(local, solver, room)


class SolverRows:
    """Contribution of the bodies of one element solver; columns A^-1 H^T of its bodies are computed in slices of the rows of each body.

    Attributes
    ----------
    kept : KeptColumns or None
        Columns of A^-1 that stay, if A does.
    """

    def __init__(self, local, solver, room: SliceRoom):
        self.local, self.solver, self._room = local, solver, room
        self.kept = KeptColumns(solver) if isinstance(solver, ElementSolver) and solver.linear else None

    def add(self) -> None:
        """Add W of all pairs of rows of these bodies."""
        local, solver = self.local, self.solver
        first = local.pointers.attachment
        most = 3 * int((first[solver.rows + 1] - first[solver.rows]).max(initial=0))
        columns = self._room.of(solver.size, min(most, WIDTH))
        tables, which = (local.bodies.handles, local.handles), (solver.rows, solver.dof_first, solver.rotation)
        kept = self.kept if self.kept and most and self.kept.hold(tables, columns) else None
        for start in range(0, most, WIDTH):
            row, used = start // 3, min(WIDTH, most - start)
            if not isinstance(solver, ElementSolver):
                opened(_inverse_columns(*tables, row, used, *which, solver.place, solver.inverses, columns))
            elif kept:
                opened(_kept_columns(*tables, row, used, *which, kept.place, kept.values, columns))
            else:
                opened(_fill_columns(*tables, row, used, *which, columns))
                solver.solve_slice(columns, used, most)
            opened(_add_compliance(*tables, row, used, local.step, *which, columns))


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
