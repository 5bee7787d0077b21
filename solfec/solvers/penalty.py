"""The penalty solver: contacts as springs and dashpots (Solfec-1.0's `pes`)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..tables import opened
from . import merit, parameters
from .auto import AutoSolver
from .constraint_solver import ConstraintSolver
from .local_dynamics import OWN_LAWS, LocalDynamics
from .report import SolverReport
from .taken_rows import UserRows

VARIANTS = ("IMPLICIT", "EXPLICIT")
ACCURACY = 1e-8  # residual of the user's constraints
OTHER_LAW, SINGULAR_BLOCK = 1, 3  # outcomes of the kernel

_penalty_contacts = _kernels.penalty.penalty_contacts


class PenaltySolver(ConstraintSolver):
    """Contact forces from gaps and velocities, without iteration; then other constraints by islands, as AUTO_SOLVER does.

    Parameters
    ----------
    variant : str
        'IMPLICIT': the normal force follows from the mean gap and the mean velocity of the step; 'EXPLICIT': from the gap at
        mid step, where contacts are detected, and the velocity at its start.
    """

    SETTINGS = ("variant",)  # kept with results
    stored_form = False  # contacts do not affect one another

    def __init__(self, variant: str = "IMPLICIT"):
        parameters.one_of(VARIANTS, variant=variant)
        self.variant = variant
        self.bilateral = AutoSolver(ACCURACY)
        self._users = UserRows()

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
            report = self.solve_users(local, velocities, self.bilateral.solve)
        velocities(local)
        if local.n == contacts and report.residual == 0.0:
            return report
        _, report.residual = merit.evaluate(local)
        local.rows.merit[: local.n] = 0.0
        return report

    def solve_users(
        self, local: LocalDynamics, velocities: Callable[[LocalDynamics], np.ndarray], solve: Callable[[LocalDynamics], SolverReport]
    ) -> SolverReport:
        """Compute the reactions of the user's constraints by `solve`, with those of contacts held; `velocities` returns U (3, capacity) from reactions."""
        users = self._users
        users.take(local, velocities)
        report = solve(users)
        users.give(local)
        if report.failed_row >= 0:
            report.failed_row += local.contacts
        report.solver, report.merit = "PENALTY", 0.0
        return report

    def solve_contacts(self, local: LocalDynamics) -> SolverReport:
        """Compute the reactions of the contacts alone.

        The residual of the report is that in the laws which other solvers solve: 0 if such contacts have none, else not a number, since it is not known yet.
        """
        exact, failed, slack, status = _penalty_contacts(
            local.handles, local.contacts, OWN_LAWS, self.variant == "IMPLICIT", local.step, local.half_step
        )  # fmt: skip
        if status:
            _refuse(local, failed, status)
        if slack >= 0 and not self.noted:
            self.noted = f"PENALTY_SOLVER: contacts whose SURFACE_MATERIAL has neither `spring` nor `dashpot` carry nothing; one of the first: {local.name(slack)}"
        return SolverReport(1, 0.0, 0.0, 0.0 if exact else math.nan, "OK", solver="PENALTY")


def velocities(local: LocalDynamics) -> np.ndarray:
    """Compute velocities from reactions."""
    return local.velocities(local.rows.U)


def _refuse(local: LocalDynamics, row: int, status: int) -> None:
    """Raise the error of a row, or that a table is unknown."""
    if status == SINGULAR_BLOCK:
        raise SolfecError(f"PENALTY_SOLVER: {local.describe(row)}")
    if status == OTHER_LAW:
        local.refuse_law(row, "PENALTY_SOLVER")
    opened(status)
