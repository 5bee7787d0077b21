"""Constraint solvers from outside of the program."""

from __future__ import annotations

import math
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .constraint_solver import ConstraintSolver
from .gauss_seidel import SUSPICIOUS, GaussSeidelSolver
from .local_dynamics import LocalDynamics
from .report import SolverReport


@runtime_checkable
class Solves(Protocol):
    """Protocol of objects that RUN takes as solvers."""

    def solve(self, local: LocalDynamics) -> SolverReport | None:
        """Compute reactions in ``local.rows.R[:, :local.n]``."""


class ForeignSolver(ConstraintSolver):
    """Adapter of an object with a method `solve` to the interface of a ConstraintSolver.

    The adapter computes velocities, the end of cohesion and the residual.  A step counts as unsolved, whatever the object reports, if reactions
    are not finite or the residual is above `SUSPICIOUS`.  Reactions of the last step replace those that are not finite.

    Parameters
    ----------
    solver : Solves
        May have `SETTINGS`, `stored_form`, `rolling` and `springs` (see `ConstraintSolver`).

    Raises
    ------
    TypeError
        Its `solve` returned something else than a SolverReport or None.
    """

    def __init__(self, solver: Solves):
        self.solver = solver
        self.stored_form = getattr(solver, "stored_form", None)
        self.rolling = getattr(solver, "rolling", False)
        self.springs = getattr(solver, "springs", True)
        self._velocities = GaussSeidelSolver(1.0, 1)

    @property
    def class_name(self) -> str:
        return type(self.solver).__name__

    @property
    def command(self) -> str:
        return self.class_name

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self.solver, name) for name in getattr(self.solver, "SETTINGS", ())}

    def restore(self, settings: dict[str, Any]) -> None:
        for name in getattr(self.solver, "SETTINGS", ()):
            if name in settings:
                setattr(self.solver, name, settings[name])

    def solve(self, local: LocalDynamics) -> SolverReport:
        reactions = local.rows.R[:, : local.n]
        start = reactions.copy()
        said = self.solver.solve(local)
        if said is not None and not isinstance(said, SolverReport):
            raise TypeError(f"solve() of {self.class_name} must return a SolverReport or None, not {type(said).__name__}")
        finite = bool(np.isfinite(reactions).all())
        if not finite:
            reactions[:] = start
        found = self._velocities.conclude(local)
        report = said or SolverReport(0, math.nan, found.merit, found.residual, "OK")
        report.solver, report.merit, report.residual = self.class_name, found.merit, found.residual
        if not finite or not found.residual <= SUSPICIOUS:
            report.status = "DIVERGED"
        return report
