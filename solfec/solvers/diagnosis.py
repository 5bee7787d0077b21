"""Why a solution failed, in the user's words: constraints that contradict one another, or the row that is worst off."""

from __future__ import annotations

import numpy as np

from .local_dynamics import LocalDynamics, RowKind
from .report import SolverReport

ALL_DIRECTIONS = (RowKind.FIXPNT, RowKind.VELODIR3)
NORMAL_ONLY = (RowKind.FIXDIR, RowKind.VELODIR)
LARGEST = 600  # equations whose dependence is looked for; the cost grows with the cube
LARGEST_VELOCITY = 1e150  # beyond, numbers are out of range
DEPENDENT = 1e-10  # singular value, over the largest one, of equations that depend on one another
UNFULFILLABLE = 1e-6  # velocity that dependent equations cannot share, over the velocities asked for


def reason(local: LocalDynamics, report: SolverReport) -> str:
    """What to tell the user about a solution that failed."""
    return contradiction(local) or worst_row(local, report)


def worst_row(local: LocalDynamics, report: SolverReport) -> str:
    """The constraint that could not be solved, or else the one that is farthest from its law."""
    if report.failed_row >= 0:
        return f"{local.name(report.failed_row)} has no solution: a singular block or a number that is not finite"
    residual = local.rows.residual[: local.n]
    worst = int(np.argmax(np.where(np.isfinite(residual), residual, np.inf)))
    if not np.isfinite(residual[worst]):
        return f"{local.name(worst)} has a velocity or a reaction that is not finite"
    return f"the largest residual, {residual[worst]:g}, is that of {local.name(worst)}"


class Contradictions:
    """Looks for joints that contradict one another, once for each set of the user's constraints."""

    def __init__(self):
        self._examined = (0, 0)

    def new(self, local: LocalDynamics) -> str:
        """Names of constraints that cannot be fulfilled together, or '' when there are none or they were looked for."""
        users = local.n - local.contacts
        examined = users, int(local.constraints.id[users - 1]) if users else 0
        if not users or examined == self._examined:
            return ""
        self._examined = examined
        return contradiction(local)


def contradiction(local: LocalDynamics) -> str:
    """Names of joints and prescribed velocities that no motion can fulfil together, or ''.

    Equations H u = target contradict one another when some combination of rows of H vanishes and the same
    combination of what they ask for does not.
    """
    owner, equations, wanted = _equations(local)
    if not 0 < len(owner) <= LARGEST:
        return ""
    if not (np.abs(wanted) < LARGEST_VELOCITY).all():
        return ""
    scale = np.linalg.norm(equations, axis=1)
    equations, wanted = equations / scale[:, None], wanted / scale
    left, singular, _ = np.linalg.svd(equations)
    rank = int((singular > DEPENDENT * singular[0]).sum())
    dependent = left[:, rank:]
    unmet = np.abs(dependent @ (dependent.T @ wanted))
    if not unmet.max() > UNFULFILLABLE * np.abs(wanted).max():
        return ""
    rows = dict.fromkeys(owner[k] for k in np.flatnonzero(unmet > 1e-3 * unmet.max()))
    return " and ".join(local.name(row) for row in sorted(rows, reverse=True)) + " contradict one another"


def _equations(local: LocalDynamics) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Row of every velocity equation of the user's constraints, its coefficients, and the velocity change it wants."""
    rows, entries = local.rows, local.entries
    owner, equations, wanted = [], [], []
    for row in range(local.contacts, local.n):
        components = (0, 1, 2) if rows.kind[row] in ALL_DIRECTIONS else (2,) if rows.kind[row] in NORMAL_ONLY else ()
        used = slice(rows.entry_ptr[row], rows.entry_ptr[row + 1])
        for component in components:
            equation = np.zeros((3, local.bodies.triples.n))
            equation[:, entries.triple[used]] = entries.operator[component, :, used]
            owner.append(row)
            equations.append(equation.ravel())
            wanted.append(-rows.free[component, row])
        if len(owner) > LARGEST:
            break
    return owner, np.array(equations), np.array(wanted)
