"""Correction of supports (fixed points and prescribed velocities) of quasi-static steps to round-off, after the solver.

An error of a solver moves supports in every step, and nothing moves them back: the equilibrium would be that of other
supports.  Contacts correct themselves, since their condition contains the gap.  The rows of supports are linear, so one direct solution
with the reactions of all other rows fixed is enough, or an iteration if there are many.  It works whatever the solver's status.
"""

from __future__ import annotations

import numpy as np

from . import merit
from .diagnosis import ALL_DIRECTIONS, NORMAL_ONLY
from .local_dynamics import LocalDynamics
from .report import SolverReport

LARGEST = 3000  # unknowns of a dense matrix
MOST_ITERATIONS = 1000  # of conjugate gradients, for larger matrices
ROUND_OFF = 1e-10  # relative to free and prescribed velocities: errors below it count as round-off
SAME_MOTION = 1e-13  # part of a support's compliance, with all others held, that is round-off: it holds what they hold
LINEAR = 1e-8  # error, relative to the same, below which a step with supports only is solved


class Left:
    """The largest error of supports in a run, for a warning at its end."""

    def __init__(self):
        self.steps, self.worst, self.time = 0, 0.0, 0.0

    def note(self, left: float, time: float) -> None:
        """Record the error of velocities of a step over the free ones."""
        if not left <= ROUND_OFF:
            self.steps += 1
            if not left <= self.worst:
                self.worst, self.time = left, time

    def told(self) -> str:
        """Return a warning, once, or ''."""
        if not self.steps:
            return ""
        steps, self.steps = self.steps, 0
        worst, self.worst = self.worst, 0.0
        return (
            f"exact_supports: fixed points and prescribed velocities could not be met to round-off in {'1 step' if steps == 1 else f'{steps} steps'}; "
            f"the worst one, at time {self.time:g}, left {worst:.2g} of the free or prescribed velocities: they contradict one another, or the step is too long "
            "for the stiffness of the bodies"
        )


def hold(local: LocalDynamics, report: SolverReport) -> float:
    """Correct the reactions of supports by W_bb dR = -(velocity errors), and update R, U and the measures in `report`.

    Returns the remaining error, over the norm of the free velocities, that of the prescribed ones, or the largest that motors and springs of
    joints ask for, whichever is largest.
    """
    rows, contacts, n = local.rows, local.contacts, local.n
    kind = rows.kind[contacts:n]
    whole, normal = np.isin(kind, list(ALL_DIRECTIONS)), np.isin(kind, list(NORMAL_ONLY))
    size = 3 * int(whole.sum()) + int(normal.sum())
    if not size or not np.isfinite(rows.R[:, :n]).all():
        return 0.0
    row = contacts + np.flatnonzero(whole | normal)
    component = np.repeat(row, 3) * 3 + np.tile([0, 1, 2], len(row))
    component = component[np.repeat(whole[row - contacts], 3) | (component % 3 == 2)]
    asked = (rows.B - rows.free).T.reshape(-1)[component]
    scale = max(np.linalg.norm(rows.B[:, :n]), np.linalg.norm(asked), local.asked)  # bodies without loads have no free velocities
    before = unmet(local, component)
    left = np.linalg.norm(before)
    if left > ROUND_OFF * scale:
        left = _corrected(local, component, before, left, scale)
        report.merit, report.residual = merit.evaluate(local)
    if report.status != "OK" and n == len(row) and left <= LINEAR * scale:
        report.status, report.failed_row, report.cause = "OK", -1, ""
    return float(left / scale) if left and scale else 0.0  # where nothing is asked, nothing contradicts it


def _corrected(local: LocalDynamics, component: np.ndarray, before: np.ndarray, left: float, scale: float) -> float:
    """Correct reactions of some components, whose errors `before` have the norm `left`; return the norm of the remaining error."""
    rows = local.rows
    reaction = rows.R.T.reshape(-1)  # the same memory
    if len(component) > LARGEST:
        kept = reaction[component]
        reaction[component] += _iterated(local, component, -before, 1e-2 * ROUND_OFF * scale)
        now = float(np.linalg.norm(unmet(local, component)))
    else:
        local.require_blocks()
        solve = Factor(matrix_between(local, component)).solve
        for _ in range(3):  # later passes refine
            kept = reaction[component]
            reaction[component] -= solve(before)
            before = unmet(local, component)
            now = float(np.linalg.norm(before))
            if not 1e-2 * ROUND_OFF * scale < now < 0.1 * left:
                break
            left = now
    if now < left:
        return now
    reaction[component] = kept  # the matrix is too close to singular for a correction
    local.velocities(rows.U)
    return left


def _iterated(local: LocalDynamics, component: np.ndarray, right: np.ndarray, enough: float) -> np.ndarray:
    """Return W_bb^-1 times a vector by conjugate gradients, which need products with W only; diagonal blocks precondition."""
    rows, n = local.rows, local.n
    diagonal = np.zeros((n, 3, 3))
    used = np.zeros(3 * n, bool)
    used[component] = True
    used = used.reshape(n, 3)
    both = used[:, :, None] & used[:, None, :]
    diagonal[both] = np.moveaxis(rows.diagonal[..., :n], 2, 0)[both]
    inverse = np.linalg.pinv(diagonal, hermitian=True)
    kept, free = rows.R.copy(order="F"), rows.B[:, :n].copy()
    reaction, velocity = rows.R.T.reshape(-1), rows.U.T.reshape(-1)

    def product(x: np.ndarray) -> np.ndarray:
        reaction[: 3 * n] = 0.0
        reaction[component] = x
        local.velocities(rows.U)
        rows.U[:, :n] -= free
        return velocity[component]

    def preconditioned(x: np.ndarray) -> np.ndarray:
        whole = np.zeros(3 * n)
        whole[component] = x
        return np.einsum("aij,aj->ai", inverse, whole.reshape(n, 3)).reshape(-1)[component]

    result, residual = np.zeros_like(right), right.copy()
    change = preconditioned(residual)
    direction, power = change.copy(), residual @ change
    for _ in range(MOST_ITERATIONS):
        image = product(direction)
        curvature = direction @ image
        if not curvature > 0.0:
            break
        result += power / curvature * direction
        residual -= power / curvature * image
        if np.linalg.norm(residual) <= enough:
            break
        change = preconditioned(residual)
        power, before = residual @ change, power
        direction = change + power / before * direction
    rows.R[...] = kept
    return result


def unmet(local: LocalDynamics, component: np.ndarray) -> np.ndarray:
    """Return velocities at the present reactions less the prescribed ones; `local.rows.U` holds the velocities."""
    rows = local.rows
    return (local.velocities(rows.U) - rows.B + rows.free).T.reshape(-1)[component]


def matrix_between(local: LocalDynamics, component: np.ndarray, others: np.ndarray | None = None) -> np.ndarray:
    """Return W between components 3 * row + axis of the user's rows and others, by default the same."""
    rows, blocks, n = local.rows, local.blocks, local.n
    place, beside = np.full((2, 3 * n), -1)
    place[component] = np.arange(len(component))
    others = component if others is None else others
    beside[others] = np.arange(len(others))
    head = rows.block_ptr[: n + 1]
    first, last = int(head[local.contacts]), int(head[n])
    one = np.concatenate([np.repeat(np.arange(local.contacts, n), np.diff(head[local.contacts :])), np.arange(local.contacts, n)])
    other = np.concatenate([blocks.column[first:last], np.arange(local.contacts, n)])
    values = np.concatenate([blocks.block[..., first:last], rows.diagonal[..., local.contacts : n]], axis=2)
    matrix = np.zeros((len(component), len(others)))
    for i in range(3):
        for j in range(3):
            a, b = place[3 * one + i], beside[3 * other + j]
            used = (a >= 0) & (b >= 0)
            matrix[a[used], b[used]] = values[i, j, used]
    return matrix


class Factor:
    """A positive semidefinite matrix of supports, ready for solutions: of supports that hold the same motion, some carry all.

    Attributes
    ----------
    kept : ndarray
        Components that carry.  Motions of all others follow from theirs, up to round-off: what is unmet there, no reaction changes.
    """

    def __init__(self, matrix: np.ndarray):
        from scipy.linalg.lapack import dpstrf  # slow to import

        scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
        scale[scale == 0.0] = np.inf
        scale = 1.0 / scale
        factor, order, rank, _ = dpstrf(0.5 * (matrix + matrix.T) * scale * scale[:, None], lower=1, tol=SAME_MOTION)
        self.kept = order[:rank] - 1
        self._factor, self._scale = factor[:rank, :rank], scale[self.kept]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for a vector or columns."""
        from scipy.linalg import cho_solve  # slow to import

        result = np.zeros_like(right)
        by = self._scale if right.ndim == 1 else self._scale[:, None]
        result[self.kept] = cho_solve((self._factor, True), by * right[self.kept], check_finite=False) * by
        return result
