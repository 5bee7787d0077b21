"""The penalty solver: contacts as springs and dashpots (Solfec-1.0's `pes`)."""

from __future__ import annotations

import math

from .. import _kernels
from ..errors import SolfecError
from ..tables import opened
from . import merit, parameters
from .constraint_solver import ConstraintSolver
from .gauss_seidel import GaussSeidelSolver
from .local_dynamics import OWN_LAWS, LocalDynamics
from .report import SolverReport

VARIANTS = ("IMPLICIT", "EXPLICIT")
OTHER_LAW, SINGULAR_BLOCK = 1, 3  # outcomes of the kernel

_penalty_contacts = _kernels.penalty.penalty_contacts


class PenaltySolver(ConstraintSolver):
    """Contact forces from gaps and velocities, without iteration; then other constraints by Gauss-Seidel.

    Parameters
    ----------
    variant : str
        'IMPLICIT': the normal force follows from the mean gap and the mean velocity of the step; 'EXPLICIT': from the gap at
        mid step, where contacts are detected, and the velocity at its start.
    """

    SETTINGS = ("variant",)  # kept with results

    def __init__(self, variant: str = "IMPLICIT"):
        parameters.one_of(VARIANTS, variant=variant)
        self.variant = variant
        self._slack = ""  # the first contact that carries nothing, since its material has neither spring nor dashpot
        self.bilateral = GaussSeidelSolver(1e-4, 1000, diagepsilon=1e-9, diagmaxiter=100)

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Solve for the reactions of assembled local dynamics; R and U are left in `local.rows`.

        Reactions of other constraints do not affect the contacts of the same step.

        Raises
        ------
        SolfecError
            A contact's tangential block is singular, or it follows a law of its own.
        """
        contacts, report = local.contacts, self.solve_contacts(local)
        if local.n > contacts:
            report = self.bilateral.sweep(local, contacts, False)
            report.solver, report.merit = "PENALTY", 0.0
        else:
            local.velocities(local.rows.U)
            if report.residual == 0.0:
                return report
        _, report.residual = merit.evaluate(local)
        local.rows.merit[: local.n] = 0.0
        return report

    def told(self) -> str:
        """Return a warning of contacts through which bodies fall."""
        found, self._slack = self._slack, ""
        return found and f"PENALTY_SOLVER: contacts whose SURFACE_MATERIAL has neither `spring` nor `dashpot` carry nothing; the first: {found}"

    def solve_contacts(self, local: LocalDynamics) -> SolverReport:
        """Compute the reactions of the contacts alone.

        The residual of the report is that in the laws which other solvers solve: 0 if such contacts have none, else not a number, since it is not known yet.
        """
        exact, failed, slack, status = _penalty_contacts(
            local.handles, local.contacts, OWN_LAWS, self.variant == "IMPLICIT", local.step, local.half_step
        )  # fmt: skip
        if status:
            _refuse(local, failed, status)
        if slack >= 0 and not self._slack:
            self._slack = local.name(slack)
        return SolverReport(1, 0.0, 0.0, 0.0 if exact else math.nan, "OK", solver="PENALTY")


def _refuse(local: LocalDynamics, row: int, status: int) -> None:
    """Raise the error of a row, or that a table is unknown."""
    if status == SINGULAR_BLOCK:
        raise SolfecError(f"PENALTY_SOLVER: {local.describe(row)}")
    if status == OTHER_LAW:
        local.refuse_law(row, "PENALTY_SOLVER")
    opened(status)
