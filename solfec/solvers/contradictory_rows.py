"""Steps with joints and prescribed velocities that contradict one another.

Such a step has no solution, and reactions of whatever solver grow without bound.  So it is solved for the nearest velocities that some motion
fulfils (`diagnosis.contradictory_part`): reactions stay bounded, errors are the least ones, and the step counts as unsolved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import diagnosis, merit
from .gauss_seidel import SUSPICIOUS
from .local_dynamics import LocalDynamics
from .report import SolverReport

CAUSE = "; constraints contradict one another, and have the least errors"


def solve(solver, local: LocalDynamics, once: Callable[[LocalDynamics], SolverReport] | None = None) -> SolverReport:
    """Solve a step by a solver (`once`: by this method of it), and once more if it fails because constraints contradict one another."""
    once = once or solver.solve
    report = once(local)
    if local.n == local.contacts or (report.status == "OK" and report.residual <= SUSPICIOUS):
        return report
    if np.linalg.norm(local.rows.residual[local.contacts : local.n]) <= SUSPICIOUS * local.free_size():
        return report
    found = diagnosis.contradictory_part(local)
    return report if found is None else _solve_nearest(solver, once, local, *found[:3])


def _solve_nearest(solver, once: Callable, local: LocalDynamics, row: np.ndarray, component: np.ndarray, excess: np.ndarray) -> SolverReport:
    """Solve without the parts `excess` of prescribed velocities that no motion fulfils; measure errors with them."""
    rows, n = local.rows, local.n
    law, free = rows.law[:, :n].copy(order="F"), rows.free[:, :n].copy(order="F")
    rows.law[component, row] -= excess  # the prescribed velocity comes first in the law of these rows (fortran/rows/joint_rows.f90)
    rows.free[component, row] += excess
    rows.R[:, :n] = 0.0
    try:
        report = once(local)
    finally:
        rows.law[:, :n], rows.free[:, :n] = law, free
    report.merit, report.residual = merit.evaluate(local)
    report.status = solver.error = "DIVERGED"
    report.cause = CAUSE
    return report
