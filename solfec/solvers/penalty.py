"""The penalty solver: contacts as springs and dashpots (Solfec-1.0's `pes`)."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..kinds import RowKind
from . import merit, parameters
from .constraint_solver import ConstraintSolver
from .gauss_seidel import GaussSeidelSolver
from .local_dynamics import LocalDynamics
from .report import SolverReport

VARIANTS = ("IMPLICIT", "EXPLICIT")


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
        self._velocities = np.zeros((3, 0), order="F")
        self.bilateral = GaussSeidelSolver(1e-4, 1000, diagepsilon=1e-9, diagmaxiter=100)

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Solve for the reactions of assembled local dynamics; R and U are left in `local.rows`.

        Reactions of other constraints do not affect the contacts of the same step.

        Raises
        ------
        SolfecError
            A contact's tangential block is singular, or it follows a law of its own.
        """
        rows, contacts, report = local.rows, local.contacts, self.solve_contacts(local)
        if local.n > contacts:
            contact_velocities = rows.U[:, :contacts].copy()  # from the contact's own reaction alone, as for its force
            report = self.bilateral.sweep(local, contacts, False)
            rows.U[:, :contacts] = contact_velocities
            report.solver, report.merit = "PENALTY", 0.0
        report.residual = self._residual(local)
        return report

    def solve_contacts(self, local: LocalDynamics) -> SolverReport:
        """Compute reactions and velocities of the contacts alone."""
        local.refuse_other_laws("PENALTY_SOLVER")
        rows, users = local.rows, local.n - local.contacts
        _, failed = _kernels.penalty.penalty_contacts(
            local.n, users, self.variant == "IMPLICIT", rows.law, rows.diagonal, rows.B, rows.V, local.step,
            rows.R, rows.U, rows.lost,
        )  # fmt: skip
        if failed >= 0:
            _refuse(local, failed)
        return SolverReport(1, 0.0, 0.0, math.nan, "OK", solver="PENALTY")

    def _residual(self, local: LocalDynamics) -> float:
        """Return the residual in the laws that other solvers solve, with U = B + W R of all reactions."""
        rows, kind = local.rows, local.rows.kind[: local.n]
        idle = kind == RowKind.OPEN
        if (idle | (kind == RowKind.SPRING_DASHPOT)).all() and not rows.R[:, np.flatnonzero(idle)].any():  # such rows have no residual
            rows.merit[: local.n] = rows.residual[: local.n] = 0.0
            return 0.0
        if self._velocities.shape[1] != rows.capacity:
            self._velocities = np.zeros((3, rows.capacity), order="F")
        _, residual = merit.evaluate(local, local.velocities(self._velocities))
        rows.merit[: local.n] = 0.0
        return residual


def _refuse(local: LocalDynamics, row: int) -> None:
    raise SolfecError(f"PENALTY_SOLVER: {local.describe(row)}")
