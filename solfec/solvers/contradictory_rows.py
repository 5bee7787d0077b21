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

UNMET = 1e-4  # part of the free velocities of all rows below which errors are those of iterations

CAUSE = "; constraints contradict one another, and have the least errors"


def solve(solver, local: LocalDynamics, once: Callable[[LocalDynamics], SolverReport] | None = None) -> SolverReport:
    """Solve a step by a solver (`once`: by this method of it), and once more if it fails because constraints contradict one another."""
    once = once or solver.solve
    report = once(local)
    if local.n == local.contacts or (report.status == "OK" and report.residual <= UNMET):
        return report
    found = diagnosis.contradictory_part(local) if _suspicious(local) else None
    return report if found is None else _solve_nearest(solver, once, local, *found[:3])


def _suspicious(local: LocalDynamics) -> bool:
    """Whether errors of joints are too large for iterations, in all or in a row: fast bodies elsewhere must not hide that one."""
    rows, users, size = local.rows, slice(local.contacts, local.n), local.free_size()
    residual = rows.residual[users]
    own = np.maximum(np.linalg.norm(rows.B[:, users], axis=0), np.linalg.norm(rows.free[:, users], axis=0))
    return not (np.linalg.norm(residual) <= SUSPICIOUS * size and (residual <= np.maximum(SUSPICIOUS * own, UNMET * size)).all())


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
