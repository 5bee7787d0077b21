"""What implicit bodies add to W: their A^-1 couples all their velocity triples, so it is applied to all rows of a body at once.

Phases between the stages `PATTERN` and `LAWS` of the assembly.
"""

from __future__ import annotations

import numpy as np

from ..bodies.conjugate_gradients import nodal
from ..bodies.element_solver import ElementSolver
from ..bodies.reduced import ReducedBodies
from ..bodies.tangent_phases import COLUMN, SEPARATE, TOGETHER, flag, iterations, renewal
from ..kernel_programs import LOCDYN, Call, Numbers, Pause, Phase
from ..tables import note_reallocation

WIDTH = 96  # columns of a slice, three for each row: enough for solutions to be limited by arithmetic
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


class SolverRows(Phase):
    """The part of one solver, whose columns are made in slices.

    Attributes
    ----------
    columns : ndarray (size, n)
        A^-1 H^T of its bodies for a slice of the rows of each, from the first column on.
    """

    phase = LOCDYN

    def __init__(self, local, solver):
        self.local, self.solver = local, solver
        self._given, self._found = Numbers(room="i4", step="f8"), Numbers(most="i4", lacking="i4")
        self.columns = np.zeros((solver.size, 0), order="F")
        self._slice = np.zeros(3, np.int32)  # its first row, its columns, whether there are any

    def ask(self) -> None:
        """Numbers that kernels take."""
        self._given.set(self.columns.shape[1], self.local.step)

    def calls(self) -> list[Call]:
        return [call for _, call in self._named()]

    def _named(self) -> list[tuple[str, Call]]:
        """The kernels, with names of those at which programs may stop or go on."""
        filled = self._filled()
        following = self._next(0, back=len(filled) + 1, unless_zero=self._any)
        return [("most", self._most()), ("first", self._next(1)), *filled, ("add", self._added()), ("next", following)]

    def _most(self) -> Call:
        attachment = self.local.pointers.attachment
        return Call(
            "compliance.most_columns", self._given["room"], WIDTH, self.solver.rows, attachment,
            results=self._found, wanted={"lacking": 0},
        )  # fmt: skip

    def _next(self, starting: int, **conditions) -> Call:
        return Call("compliance.next_columns", starting, self._found["most"], WIDTH, self._slice, **conditions)

    def _filled(self) -> list[tuple[str, Call]]:
        """What puts A^-1 H^T of a slice into the columns."""
        raise NotImplementedError

    @property
    def _from(self) -> np.ndarray:
        return self._slice[0:1]

    @property
    def _used(self) -> np.ndarray:
        return self._slice[1:2]

    @property
    def _any(self) -> np.ndarray:
        return self._slice[2:3]

    @property
    def _which(self) -> tuple:
        solver = self.solver
        return solver.rows, solver.dof_first, solver.rotation, self.local.bodies.velo_ptr

    def _columns_of_rows(self) -> Call:
        """H^T."""
        return Call(
            "compliance.fill_columns", self._from, self._used, *self._which, *_attached(self.local), self.columns, unless_zero=self._any
        )

    def _added(self) -> Call:
        local = self.local
        return Call(
            "compliance.add_compliance", self._from, self._used, self._given["step"], *self._which, *_attached(local), self.columns,
            *_matrix(local), unless_zero=self._any,
        )  # fmt: skip

    def stopped(self, call: int) -> int:
        most = min(self._found.get()[0], WIDTH)
        self.columns = np.zeros((self.solver.size, min(most + 3 * (most // 12), WIDTH)), order="F")
        note_reallocation()
        self.ask()
        return 0


class InverseRows(SolverRows):
    """Of bodies that keep their inverses."""

    def _filled(self) -> list[tuple[str, Call]]:
        inverse = Call(
            "compliance.inverse_columns", self._from, self._used, *self._which, *_attached(self.local), self.solver.inverses,
            self.columns, unless_zero=self._any,
        )  # fmt: skip
        return [("inverse", inverse)]


class FactorRows(SolverRows):
    """Of bodies that keep their factor."""

    def __init__(self, local, solver):
        super().__init__(local, solver)
        self._room = solver.kept.room(1)

    def _filled(self) -> list[tuple[str, Call]]:
        solve = Call(
            "supernodal_solution.solve_columns", self._used, *self.solver.kept.panels, self._room, self.columns, unless_zero=self._any
        )
        return [("fill", self._columns_of_rows()), ("solve", solve)]

    def stopped(self, call: int) -> int:
        again = super().stopped(call)
        self._room = self.solver.kept.room(self.columns.shape[1])
        return again


class SolvedRows(SolverRows):
    """Of bodies of form 'TL': the factor alone where it is of the present step, conjugate gradients elsewhere, column by column."""

    def __init__(self, local, solver):
        super().__init__(local, solver)
        self._failed, self._room = Numbers(failed="i4"), NO_ROOM

    def calls(self) -> list[Call]:
        named = self._named()
        self._names = [name for name, _ in named]
        return [call for _, call in named]

    def _filled(self) -> list[tuple[str, Call]]:
        solution = self._solution() if self.solver.kernel_factor else [("pause", Pause(self._any))]
        return [("fill", self._columns_of_rows()), *solution]

    def _solution(self) -> list[tuple[str, Call]]:
        """By kernels."""
        solver, used = self.solver, self._used
        factor, course = solver.factor, solver.course
        if self._room.shape[1] != solver.size:
            self._room = factor.room(max(self.columns.shape[1], 1))
        right, solved = (part.reshape(-1, order="F") for part in (solver.unknowns, solver.gradients.solution))
        together, separate = flag(solver, TOGETHER), flag(solver, SEPARATE)
        choose = Call("tangent_factors.choose_columns", factor.WORTH, self._found["most"], used, course)
        solve = Call("supernodal_solution.solve_columns", used, *factor.panels, self._room, self.columns, unless_zero=together)
        take = Call("tangent_factors.take_column", self.columns, right, course, unless_zero=separate)
        iterated = iterations(solver)
        put = Call(
            "tangent_factors.put_column", used, solved, self.columns, course, unless_zero=separate, back=len(iterated) + 1
        )
        named = [("choose", choose), *renewal(solver, self._failed), ("solve", solve), ("take", take)]
        return [*named, *iterated, ("put", put)]

    def stopped(self, call: int) -> int:
        solver, place = self.solver, self._names[call]
        if place == "most":
            self._room = NO_ROOM
            return super().stopped(call)
        first, used = 0, int(self._used[0])
        if place == "broken":
            first = int(solver.course[COLUMN])
            solution = solver.solve_afresh(solver.unknowns.ravel(order="F"))
            solver.gradients.counts[:] = 0
            if solver.kernel_factor:
                solver.gradients.solution[:] = nodal(solution)
                return self._names.index("put")
        if place == "factor":
            solver.factorise_otherwise()
        self.columns[:, first:used] = solver.solve(self.columns[:, first:used])
        self.calls()  # which may be others now
        return self._names.index("add")


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
                solver.vector_ptr, solver.matrix_ptr, solver.vectors, solver.inverse, local.bodies.velo_ptr,
                *_attached(local), self._work_ptr, self._work, *_matrix(local),
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


def _matrix(local) -> tuple[np.ndarray, ...]:
    """W as it has been laid out."""
    return local.rows.block_ptr, local.blocks.column, local.blocks.block, local.rows.diagonal
