"""The penalty solver of a model in parts."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.penalty import PenaltySolver
from ..solvers.report import SolverReport
from ..tables import opened
from .gathered_solver import IslandSolver
from .part import Part
from .part_sweeps import PartSweeps

begin_parts = _kernels.part_sweeps.begin_parts
find_part_velocities = _kernels.part_sweeps.find_part_velocities


class PartPenalty(PartSweeps):
    """Contacts on own bodies follow from their own rows; then the user's constraints are solved by islands, with the contacts' reactions held.

    In spread models, where no process has all bodies, sweeps by colours solve them.

    Parameters
    ----------
    part : Part
    settings : PenaltySolver
    told : set of str
        Contradictions of which users know already; new ones are added.
    whole : Domain
        The whole model of this process.
    """

    given: PenaltySolver
    names_contradictions = False

    def __init__(self, part: Part, settings: PenaltySolver, told: set[str], whole):
        super().__init__(part, settings, told, whole)
        self.stored_form = settings.stored_form
        self._users = None if whole.spread else IslandSolver(part, settings.bilateral, told, whole)
        self._sweeps = GaussSeidelSolver(settings.bilateral.epsilon, settings.bilateral.maxiter)

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of contacts, then those of the user's constraints with the contacts' reactions held."""
        self._regard_all(local)
        self._find_rows(local)
        report = self._nearest(local, lambda: self._solve_once(local))
        local.rows.merit[: local.n] = 0.0
        if report.status != "OK" and self._users:
            self._users.collect_all(local)
        return report

    def reported(self, local):
        """Return the local dynamics whose rows a report names."""
        return self._users.reported(local) if self._users else local

    def worst_row(self, local, report: SolverReport) -> str:
        """Return the name of the row with the largest residual."""
        return self._users.worst_row(local, report) if self._users else super().worst_row(local, report)

    def _solve_once(self, local) -> SolverReport:
        """Compute reactions and velocities, whatever constraints contradict one another."""
        report = self.given.solve_contacts(local)
        self._leave_to_others(local)
        if self.part.linked and self._users is None:
            self._choose_rows(local.contacts)
            report = self._iterate(local, self._sweeps, whole=False)
            report.solver, report.merit = "PENALTY", 0.0
            return report
        if self.part.linked:
            report = self.given.solve_users(local, self._velocities, self._users.solve_once)
        self._find_momenta(local)
        _, report.residual = self._measured(local, noting=False)
        return report

    def _velocities(self, local) -> np.ndarray:
        """Compute velocities from reactions."""
        self._find_momenta(local)
        opened(find_part_velocities(local.handles, local.n))
        return local.rows.U

    def _find_momenta(self, local) -> None:
        """Compute momenta from reactions; copies of bodies get those of their owners, who have all constraints on them."""
        opened(begin_parts(local.handles, local.n, self.part.model.bodies.triples.n))
        self.part.copy_columns(local.triples.momentum, *self.part.copied_triples)
