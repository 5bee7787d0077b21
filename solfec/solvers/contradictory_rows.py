"""Steps with joints and prescribed velocities that contradict one another.

Such a step has no solution, and reactions of whatever solver grow without bound.  So it is solved for the nearest velocities that some motion
fulfils (`diagnosis.contradictory_part`): reactions stay bounded, errors are the least ones, and the step counts as unsolved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
    found = excess_of(local)
    return report if found is None else _solve_nearest(solver, once, local, found)


def excess_of(local: LocalDynamics) -> np.ndarray | None:
    """Return the parts (3, n) of the velocities that rows prescribe which no motion fulfils; None if errors of the last solution do not come from them."""
    found = diagnosis.contradictory_part(local) if _suspicious(local) else None
    if found is None:
        return None
    result = np.zeros((3, local.n))
    result[found[1], found[0]] = found[2]
    return result


def _suspicious(local: LocalDynamics) -> bool:
    """Whether errors of joints are too large for iterations, in all or in a row: fast bodies elsewhere must not hide that one."""
    rows, users, size = local.rows, slice(local.contacts, local.n), local.free_size()
    residual, own = rows.residual[users], _own(local, users)
    return not (np.linalg.norm(residual) <= SUSPICIOUS * size and (residual <= np.maximum(SUSPICIOUS * own, UNMET * size)).all())


def _own(local: LocalDynamics, rows) -> np.ndarray:
    """Return the free velocities of rows alone, beside which their errors are small or large."""
    return np.maximum(np.linalg.norm(local.rows.B[:, rows], axis=0), np.linalg.norm(local.rows.free[:, rows], axis=0))


def may_contradict(local: LocalDynamics, counted: np.ndarray) -> bool:
    """Whether some of these rows has such an error that rows of the whole model may be suspicious: a look without messages."""
    users = counted[counted >= local.contacts]
    return bool((local.rows.residual[users] > 0.5 * SUSPICIOUS * _own(local, users)).any())


def _solve_nearest(solver, once: Callable, local: LocalDynamics, excess: np.ndarray) -> SolverReport:
    """Solve without the parts `excess` of prescribed velocities that no motion fulfils; measure errors with them."""
    with without(local, excess):
        report = once(local)
    report.merit, report.residual = merit.evaluate(local)
    report.status = solver.error = "DIVERGED"
    report.cause = CAUSE
    return report


@contextmanager
def without(local: LocalDynamics, excess: np.ndarray) -> Iterator[None]:
    """Let rows begin without reactions, and without the parts `excess` of prescribed velocities, within the context."""
    rows, n = local.rows, local.n
    law, free = rows.law[:, :n].copy(order="F"), rows.free[:, :n].copy(order="F")
    rows.law[:3, :n] -= excess  # the prescribed velocity comes first in the law of these rows (fortran/rows/joint_rows.f90)
    rows.free[:, :n] += excess
    rows.R[:, :n] = 0.0
    try:
        yield
    finally:
        rows.law[:, :n], rows.free[:, :n] = law, free
