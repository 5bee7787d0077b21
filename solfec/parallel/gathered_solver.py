"""Solvers of whole models for a model in parts: rows that must be solved together travel to one process, which solves as a serial run does."""

from __future__ import annotations

import numpy as np

from ..kinds import RowKind
from ..solvers import contradictory_rows, diagnosis, exact_supports
from ..solvers.assembly import assemble_blocks, is_stored
from ..solvers.auto import AutoSolver
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.other_processes import NO_OTHERS
from ..solvers.report import SolverReport
from .gathered_rows import GatheredRows, Gathering
from .island_rows import OtherProcesses, homes_of_islands
from .part import Part, is_implicit
from .part_sweeps import PartSweeps

NUMBERS = 9  # of a row that has been solved: R, U, merit, residual, end of cohesion


class GatheredSolver(PartSweeps):
    """A serial solver of the rows of all parts, in one process.

    Parameters
    ----------
    part : Part
    settings : ConstraintSolver
    told : set of str
        Contradictions of which users know already; new ones are added.
    whole : Domain
        The whole model of this process.
    """

    holds_supports = True

    def __init__(self, part: Part, settings, told: set[str], whole):
        super().__init__(part, settings, told, whole)
        self._all = Gathering(part, whole)
        self._implicit = bool(is_implicit(whole.bodies)[: whole.bodies.n].any())
        self.stored_form = self._implicit  # only blocks of W tell how implicit bodies couple rows

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies."""
        self._regard_all(local)
        self._find_rows(local)
        report = self._solve_together(local)
        self._leave_to_others(local)
        return report

    def _solve_together(self, local) -> SolverReport:
        """Solve for all rows in one process; tell the others what it has found, and apply the failure policy in all."""
        world, gathered, given, report, results = self.part.world, self._all, self.given, None, None
        coupled = self._implicit and bool(world.largest(np.array([float(local.coupled)]))[0])
        gathered.collect(local, self.counted, self.held, given.stored_form, coupled=coupled)
        if gathered.here:
            report = self._solve_gathered(gathered.rows)
            if self.whole.exact_supports and not self.whole.dynamic and gathered.rows.n > gathered.rows.contacts:
                self.whole.supports_left.note(exact_supports.hold(gathered.rows, report), self.part.model.time)
            results = results_of(gathered.rows)
        self._take(local, gathered.mine, gathered.spread(results, NUMBERS))
        report, outcome = world.gathered((report, given.outcome()) if gathered.here else None)[gathered.HOME]
        if not gathered.here:
            given.take_outcome(outcome)
            report.failed_row = -1  # a number of another process
        if isinstance(given, GaussSeidelSolver):
            given.take(self.reported(local), report, self._agreed, self._reason)
        return report

    def _solve_gathered(self, rows) -> SolverReport:
        """Solve for the reactions of all rows."""
        given = self.given
        if not isinstance(given, GaussSeidelSolver):
            return contradictory_rows.solve(given, rows, given.solve)
        report = contradictory_rows.solve(given, rows, given.solve_alone)
        given.explain(rows, report)
        return report

    @staticmethod
    def _take(local, mine: np.ndarray, found: np.ndarray) -> None:
        """Take the results (n, NUMBERS) of rows."""
        rows, found = local.rows, found.T
        rows.R[:, mine], rows.U[:, mine], rows.merit[mine], rows.residual[mine] = found[:3], found[3:6], found[6], found[7]
        rows.lost[mine] = found[8].astype(np.int32)
        local.unmet = rows.residual[local.held].copy()  # of springs with Python functions, which another process may have called

    def worst_row(self, local, report: SolverReport) -> str:
        """Return the name of the row with the largest residual, which the process that has all rows finds."""
        return self.part.world.gathered(diagnosis.worst_row(self._all.rows, report) if self._all.here else "")[Gathering.HOME]

    def reported(self, local):
        """Return the local dynamics whose rows a report names."""
        return self._all.rows if self._all.here else local


class IslandSolver(GatheredSolver):
    """AUTO_SOLVER: each process solves the islands of which it has most rows, where they are if none crosses to another process.

    If the whole step needs sweeps, one process makes them.
    """

    given: AutoSolver

    def __init__(self, part: Part, settings: AutoSolver, told: set[str], whole):
        super().__init__(part, settings, told, whole)
        self._others, self._again = OtherProcesses(part.world, part.driven.size > 0), False
        self._islands = Gathering(part, whole, GatheredRows(whole, self._others))

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies."""
        self._regard_all(local)
        report = self._nearest(local, lambda: self.solve_once(local))
        if report.status != "OK" and report.solver == "AUTO":
            self.collect_all(local)
        self._leave_to_others(local)
        return report

    def collect_all(self, local) -> None:
        """Collect all rows in one process, so that messages can name any of them."""
        self._find_rows(local)
        self._all.collect(local, self.counted, self.held, False)

    def solve_once(self, local) -> SolverReport:
        """Solve by islands, or else in one process: by sweeps, or as a serial run does where that compares islands with sweeps."""
        self._find_rows(local)
        start = local.rows.R[:, : local.n].copy()
        report = self._solve_where_rows_are(local) if self._has_no_seams() else self._solve_at_homes(local)
        self._again = report is not None and self.given.unsoftened
        if self._again:
            local.rows.R[:, : local.n] = start
        return self._solve_together(local) if report is None or self._again else report

    def _has_no_seams(self) -> bool:
        """Whether no row acts on moving bodies of several processes, so that no island does."""
        seams = self.counted.size < self.held.size or self.part.sprung  # springs of Python functions read the whole model
        return self.part.world.largest(np.array([float(seams)]))[0] == 0.0

    def _solve_where_rows_are(self, local) -> SolverReport | None:
        """Solve the islands of this process, which has all of their rows; rows on copies of bodies alone do nothing."""
        local.rows.kind[self._foreign(local)] = RowKind.OPEN
        local.others, local.form = self._others, self.given.stored_form
        try:
            self._others.agree(local, self.counted)
            local.stored = is_stored(local)
            if local.stored:
                assemble_blocks(local, laying_out=True, adding=True)
            return self.given.by_islands(local)
        finally:
            local.others = NO_OTHERS

    def _solve_at_homes(self, local) -> SolverReport | None:
        """Solve each island in the process that counts most of its rows."""
        islands, given = self._islands, self.given
        islands.collect(local, self.counted, self.held, given.stored_form, homes_of_islands(self.part, self.whole.bodies, self.ends, self.counted))
        report = given.by_islands(islands.rows)
        if report is not None:
            self._take(local, islands.mine, islands.spread(results_of(islands.rows), NUMBERS))
        return report

    def _solve_gathered(self, rows) -> SolverReport:
        """Solve all rows at once."""
        return self.given.solve(rows) if self._again else self.given.together(rows)


def results_of(local) -> np.ndarray:
    """Return the results (n, NUMBERS) of solved rows."""
    rows, n = local.rows, local.n
    return np.concatenate([rows.R[:, :n], rows.U[:, :n], np.array([rows.merit[:n], rows.residual[:n], rows.lost[:n]])]).T
