"""Messages about failed solutions: constraints that contradict one another, or the row with the largest error."""

from __future__ import annotations

import numpy as np

from ..tables import ranges
from .local_dynamics import NO_ROWS, LocalDynamics, RowKind
from .report import SolverReport

ALL_DIRECTIONS = tuple(kind for kind in RowKind if kind.is_linear and len(kind.components) == 3)
NORMAL_ONLY = tuple(kind for kind in RowKind if kind.is_linear and len(kind.components) == 1)
LARGEST = 600  # most equations that are examined for dependence; the cost grows with the cube
LARGEST_VELOCITY = 1e150  # beyond, numbers are out of range
DEPENDENT = 1e-10  # singular value, over the largest one, of equations that depend on one another
UNFULFILLABLE = 1e-6  # contradiction of dependent equations, over the prescribed velocities
ROUNDING = 1e-12  # and over the velocities of which these are sums: smaller ones are round-off


def reason(local: LocalDynamics, report: SolverReport) -> str:
    """Return the message to the user about a solution that failed."""
    return contradiction(local) or worst_row(local, report)


def worst_row(local: LocalDynamics, report: SolverReport, rows: np.ndarray | None = None) -> str:
    """Return the name of the constraint that could not be solved, or else of the one with the largest error, among all rows or these."""
    if report.failed_row >= 0:
        return f"{local.name(report.failed_row)} has no solution: a singular block or a number that is not finite"
    rows = np.arange(local.n) if rows is None else rows
    residual = local.rows.residual[rows]
    place = int(np.argmax(np.where(np.isfinite(residual), residual, np.inf)))
    worst = int(rows[place])
    if not np.isfinite(residual[place]):
        return f"{local.name(worst)} has a velocity or a reaction that is not finite"
    return f"the largest residual, {residual[place]:g}, is that of {local.name(worst)}"


class Contradictions:
    """Search for joints that contradict one another, once per set of the user's constraints."""

    def __init__(self):
        self._examined = (0, 0)
        self._told = ""

    def new(self, local: LocalDynamics, found: str | None = None) -> str:
        """Return names of constraints that cannot hold together, or '' if there are none or these were named before; `found` are the names, if the search has been made."""
        if found is None:
            users = local.n - local.contacts
            examined = users, int(local.constraints.id[users - 1]) if users else 0
            if not users or examined == self._examined:
                return ""
            self._examined = examined
            found = contradiction(local)
        told, self._told = self._told, found or self._told
        return "" if found == told else found


def contradiction(local: LocalDynamics) -> str:
    """Return names of joints and prescribed velocities that no motion can satisfy together, or ''."""
    found = contradictory_part(local)
    if found is None:
        return ""
    owner, _, _, size = found
    rows = dict.fromkeys(owner[size > 1e-3 * size.max()].tolist())
    return " and ".join(local.name(row) for row in sorted(rows, reverse=True)) + " contradict one another"


def contradictory_part(local: LocalDynamics) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Return rows, components, and the parts of the velocities that these prescribe which no motion fulfils; None if there are none.

    Equations H u = target contradict one another if some combination of rows of H vanishes and the same combination of targets does not.  Without
    these parts targets are the nearest ones that some motion fulfils, in equations with coefficients of norm 1; their sizes there come last.
    """
    owner, component, scale, equations, wanted = _scaled_equations(local)
    if not owner.size or not (np.abs(wanted) < LARGEST_VELOCITY).all():
        return None
    dependent = _dependent(equations)
    unmet = dependent @ (dependent.T @ wanted)
    size = np.abs(unmet)
    if not size.max() > max(UNFULFILLABLE * np.abs(wanted).max(), ROUNDING * local.rows.speed[local.contacts : local.n].max()):
        return None
    return owner, component, scale * unmet, size


def redundant(local: LocalDynamics) -> int:
    """Return how many velocity equations of joints and prescribed velocities follow from others; 0 if there are too many to examine."""
    owner, _, _, equations, _ = _scaled_equations(local)
    return _dependent(equations).shape[1] if owner.size else 0


def _scaled_equations(local: LocalDynamics) -> tuple[np.ndarray, ...]:
    """Return `_equations` with coefficients of norm 1, and their norms before, without components in which a row does not act; none if there are too many."""
    owner, component, equations, wanted = _equations(local)
    if not 0 < owner.size <= LARGEST:
        return NO_ROWS, NO_ROWS, np.zeros(0), equations, wanted
    scale = np.linalg.norm(equations, axis=1)
    acts = scale > 0.0
    scale = scale[acts]
    return owner[acts], component[acts], scale, equations[acts] / scale[:, None], wanted[acts] / scale


def _dependent(equations: np.ndarray) -> np.ndarray:
    """Return combinations (n, k) of n equations that vanish."""
    # E = R^T Q^T: rows of E and of the square matrix R^T vanish in the same combinations
    triangle = np.linalg.qr(equations.T, mode="r") if equations.shape[1] > len(equations) else equations.T
    left, singular, _ = np.linalg.svd(triangle.T)
    return left[:, int((singular > DEPENDENT * singular[0]).sum()) :]


def _equations(local: LocalDynamics) -> tuple[np.ndarray, ...]:
    """Return the row and component of every velocity equation of the user's constraints, its coefficients at the unknowns that occur, and the
    velocity change that it prescribes.

    The number of unknowns depends on these constraints alone, not on the size of the model.
    """
    rows, entries = local.rows, local.entries
    kind = rows.kind[local.contacts : local.n]
    whole, normal = np.isin(kind, list(ALL_DIRECTIONS)), np.isin(kind, list(NORMAL_ONLY))
    count = np.where(whole, 3, np.where(normal, 1, 0))
    if count.sum() > LARGEST:
        return np.zeros(int(count.sum()), int), NO_ROWS, np.zeros((0, 0)), np.zeros(0)
    mine = local.contacts + np.flatnonzero(count)
    owner = np.repeat(mine, count[mine - local.contacts])
    component = np.concatenate([np.arange(3) if k == 3 else [2] for k in count[mine - local.contacts].tolist()] or [[]]).astype(int)
    first, last = rows.entry_ptr[owner], rows.entry_ptr[owner + 1]
    length = last - first
    equation = np.repeat(np.arange(len(owner)), length)
    entry = ranges(first, length)
    triples, place = np.unique(entries.triple[entry], return_inverse=True)
    equations = np.zeros((len(owner), 3, len(triples)))
    values = entries.operator[component[equation], :, entry]
    np.add.at(equations, (equation[:, None], np.arange(3), place[:, None]), values)
    return owner, component, equations.reshape(len(owner), 3 * len(triples)), -rows.free[component, owner]
