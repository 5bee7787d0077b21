"""A solver of whole models for a model in parts: the first process gathers all rows, solves as a serial run would, and sends reactions back."""

from __future__ import annotations

import numpy as np

from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.report import SolverReport
from .gathered_rows import Gathering
from .part import Part
from .part_sweeps import PartSweeps

NUMBERS = 12  # of a row that it sends: R, U, R with the shares of redundant joints, merit, residual, end of cohesion


class GatheredSolver(PartSweeps):
    """A serial solver of the rows of all parts.

    Parameters
    ----------
    part : Part
    settings : ConstraintSolver
    told : set of str
        Contradictions of which users know already; new ones are added.
    whole : Domain
        The whole model of this process.
    """

    def __init__(self, part: Part, settings, told: set[str], whole):
        super().__init__(part, settings, told, whole)
        self._all = Gathering(part, whole)

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies."""
        world, gathered, report = self.part.world, self._all, None
        self._regard_all(local)
        self._find_rows(local)
        gathered.collect(local, self.counted, self.held, self.given.stored_form)
        if gathered.here:
            report = self._solve_gathered()
        found = gathered.spread(self._results() if gathered.here else None, NUMBERS)
        outcome = world.gathered((report, self.given.outcome()) if gathered.here else None)[gathered.HOME]
        self._take(local, gathered.mine, found)
        return self._conclude(local, *outcome)

    def _solve_gathered(self) -> SolverReport:
        """Solve for the reactions of the gathered rows."""
        given, local = self.given, self._all.rows
        return given.solve_alone(local) if isinstance(given, GaussSeidelSolver) else given.solve(local)

    def _results(self) -> np.ndarray:
        """Return what parts need of each gathered row, (n, NUMBERS)."""
        local, n = self._all.rows, self._all.rows.n
        rows = local.rows
        R = rows.R[:, :n].copy()
        if self.part.linked:
            self.whole.shares.share(local)
        return np.concatenate([R, rows.U[:, :n], rows.R[:, :n], np.array([rows.merit[:n], rows.residual[:n], rows.lost[:n]])]).T

    def _take(self, local, mine: np.ndarray, found: np.ndarray) -> None:
        """Take the results (n, NUMBERS) of rows."""
        rows = local.rows
        rows.R[:, mine], rows.U[:, mine], rows.merit[mine], rows.residual[mine] = found.T[:3], found.T[3:6], found.T[9], found.T[10]
        rows.lost[mine] = found.T[11].astype(np.int32)
        of_users = mine >= local.contacts
        self._shared = mine[of_users], found.T[6:9, of_users]

    def _conclude(self, local, report: SolverReport, outcome: dict) -> SolverReport:
        """Take the outcome of the solution over from the process that has solved; apply the failure policy in all."""
        solves = self._all.here
        if not solves:
            self.given.take_outcome(outcome)
            report.failed_row = -1  # a number of another process
        if isinstance(self.given, GaussSeidelSolver):
            self.given.take(self._all.rows if solves else local, report, self._agreed)
        return report

    def share(self, local) -> None:
        """Give redundant joints their shares."""
        listed, R = self._shared
        local.rows.R[:, listed] = R
        local.constraints.R[:, local.rows.order[listed]] = R

    def reported(self, local):
        """Return the local dynamics whose rows a report names."""
        return self._all.rows if self._all.here else local
