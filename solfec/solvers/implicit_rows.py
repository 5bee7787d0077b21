"""What implicit bodies add to W: their A^-1 couples all their velocity triples, so it is applied to all rows of a body at once.

Phases between the stages `ROWS` and `LAWS` of the assembly.
"""

from __future__ import annotations

import numpy as np

from ..bodies.element_solver import ElementSolver
from ..bodies.reduced import ReducedBodies
from ..kernel_programs import LOCDYN, Call, Numbers, Pause, Phase
from ..tables import note_reallocation


NO_ROOM = np.zeros((16, 0, 1), order="F")


def kinds(solvers: list) -> list[type]:
    """The kinds of phases that solvers need, at last."""
    return [_kind(solver) for solver in solvers]


def _kind(solver) -> type:
    if isinstance(solver, ReducedBodies):
        return ReducedRows
    if not isinstance(solver, ElementSolver) or solver.inverses is not None:
        return InverseRows
    return FactorRows if solver.kept else SolvedRows


class Blocks(Phase):
    """Where the blocks of all pairs of rows on a body are in `local.dense`.

    Attributes
    ----------
    results : Numbers
        `blocks` of all bodies, and the `form` that W must have.
    """

    phase = LOCDYN

    def __init__(self, local, before):
        self.local, self._before = local, before
        self._given, self.results = Numbers(bodies="i4", room="i4"), Numbers(blocks="i4", form="i4", lacking="i4")

    def ask(self) -> None:
        """Numbers that kernels take."""
        local = self.local
        self._given.set(local.bodies.n, local.dense.shape[2])

    def calls(self) -> list[Call]:
        local, given = self.local, self._given
        return [
            Call(
                "compliance.place_blocks", given["bodies"], given["room"], self._before.results["stored"], local.implicit,
                local.pointers.attachment, local.dense_ptr, results=self.results, wanted={"lacking": 0},
            )  # fmt: skip
        ]

    def stopped(self, call: int) -> int:
        blocks = self.results.get()[0]
        self.local.dense = np.zeros((3, 3, blocks + blocks // 4 + 1), order="F")
        note_reallocation()
        self.ask()
        return 0


class SolverRows(Phase):
    """The part of one solver.

    Attributes
    ----------
    columns : ndarray (size, n)
        A^-1 H^T of its bodies, the rows of each from the first column on.
    """

    phase = LOCDYN

    def __init__(self, local, solver):
        self.local, self.solver = local, solver
        self._given, self._found = Numbers(room="i4", step="f8"), Numbers(most="i4", lacking="i4")
        self.columns = np.zeros((solver.size, 0), order="F")

    def ask(self) -> None:
        """Numbers that kernels take."""
        self._given.set(self.columns.shape[1], self.local.step)

    def calls(self) -> list[Call]:
        attachment = self.local.pointers.attachment
        most = Call(
            "compliance.most_columns", self._given["room"], self.solver.rows, attachment, results=self._found, wanted={"lacking": 0}
        )
        return [most, *self._filled(), self._added()]

    def _filled(self) -> list[Call]:
        """What puts A^-1 H^T into the columns."""
        raise NotImplementedError

    @property
    def _which(self) -> tuple:
        solver = self.solver
        return solver.rows, solver.dof_first, solver.rotation, self.local.bodies.velo_ptr

    def _added(self) -> Call:
        local = self.local
        return Call(
            "compliance.add_compliance", self._given["step"], *self._which, local.dense_ptr, *_attached(local), self.columns,
            local.dense, local.rows.diagonal,
        )  # fmt: skip

    def stopped(self, call: int) -> int:
        most = self._found.get()[0]
        self.columns = np.zeros((self.solver.size, most + 3 * (most // 12)), order="F")
        note_reallocation()
        self.ask()
        return 0


class InverseRows(SolverRows):
    """Of bodies that keep their inverses."""

    def _filled(self) -> list[Call]:
        return [Call("compliance.inverse_columns", *self._which, *_attached(self.local), self.solver.inverses, self.columns)]


class FactorRows(SolverRows):
    """Of bodies that keep their factor."""

    def __init__(self, local, solver):
        super().__init__(local, solver)
        self._room = solver.kept.room(1)

    def _filled(self) -> list[Call]:
        kept, used = self.solver.kept, self._found["most"]
        return [
            Call("compliance.fill_columns", used, *self._which, *_attached(self.local), self.columns),
            Call("supernodal_solution.solve_columns", used, *kept.panels, self._room, self.columns),
        ]

    def stopped(self, call: int) -> int:
        again = super().stopped(call)
        self._room = self.solver.kept.room(self.columns.shape[1])
        return again


class SolvedRows(SolverRows):
    """Of bodies whose solver decides from step to step how it solves."""

    def __init__(self, local, solver):
        super().__init__(local, solver)
        self._flags, self._room = Numbers(by_kernel="i4"), NO_ROOM

    def _filled(self) -> list[Call]:
        used, kept = self._found["most"], self.solver.kernel_factor
        fill = Call("compliance.fill_columns", used, *self._which, *_attached(self.local), self.columns)
        if kept is None:
            return [fill, Pause(used)]
        if self._room.shape[1] != self.solver.size:
            self._room = kept.room(max(self.columns.shape[1], 1))
        solve = Call(
            "supernodal_solution.solve_columns", used, *kept.panels, self._room, self.columns, unless_zero=self._flags["by_kernel"]
        )
        return [fill, Pause(used), solve]

    def stopped(self, call: int) -> int:
        if call == 0:
            self._room = NO_ROOM
            return super().stopped(call)
        (used, _), solver = self._found.get(), self.solver
        by_kernel = solver.settle_columns(used) and solver.kernel_factor is not None
        if not by_kernel:
            self.columns[:, :used] = solver.solve(self.columns[:, :used])
        self._flags.set(by_kernel)
        return call + 1

    def end(self) -> None:
        self._flags.set(0)


class ReducedRows(Phase):
    """Of bodies that move in a base."""

    phase = LOCDYN

    def __init__(self, local, solver: ReducedBodies):
        self.local, self.solver = local, solver
        self._given, self._found = Numbers(step="f8", room="i4"), Numbers(total="i4", lacking="i4")
        self._work_ptr, self._work = np.zeros(solver.count, np.int32), np.zeros(1)

    def ask(self) -> None:
        """Numbers that kernels take."""
        self._given.set(self.local.step, len(self._work))

    def calls(self) -> list[Call]:
        local, solver = self.local, self.solver
        return [
            Call(
                "reduced_compliance.place_work", self._given["room"], solver.rows, solver.modes, local.pointers.attachment,
                self._work_ptr, results=self._found, wanted={"lacking": 0},
            ),
            Call(
                "reduced_compliance.add_reduced_compliance", self._given["step"], solver.rows, solver.rotation, solver.modes,
                solver.vector_ptr, solver.matrix_ptr, solver.vectors, solver.inverse, local.bodies.velo_ptr, local.dense_ptr,
                *_attached(local), self._work_ptr, self._work, local.dense, local.rows.diagonal,
            ),
        ]  # fmt: skip

    def stopped(self, call: int) -> int:
        total = self._found.get()[0]
        self._work = np.zeros(total + total // 4)
        note_reallocation()
        self.ask()
        return 0


def _attached(local) -> tuple[np.ndarray, ...]:
    """Rows attached to bodies, and entries."""
    rows, entries = local.rows, local.entries
    return (
        local.pointers.attachment, local.attachments.row, local.attachments.entry, rows.entry_ptr, rows.slave_entry,
        entries.triple, entries.operator,
    )  # fmt: skip
