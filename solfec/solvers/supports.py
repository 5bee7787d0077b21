"""Fixed points and prescribed velocities of quasi-static steps, met to round-off after the solver.

What a solver leaves unmet of them moves supports in every step, and nothing brings them back: equilibrium would be that of other
supports.  Contacts correct themselves, since their condition holds the gap.  The rows of supports are linear, so one direct solution
with the reactions of all others as they are is enough.
"""

from __future__ import annotations

import numpy as np

from . import merit
from .diagnosis import ALL_DIRECTIONS, NORMAL_ONLY
from .local_dynamics import LocalDynamics
from .report import SolverReport

LARGEST = 1500  # unknowns of the dense matrix
ROUND_OFF = 1e-10  # of free velocities: what is left below it is as good as it gets


def hold(local: LocalDynamics, report: SolverReport) -> None:
    """Correct the reactions of supports by W_bb dR = -(what they leave unmet); R, U and the measures in `report` follow.

    Nothing happens where the solver failed, which has something to say about it, is the penalty solver, or where supports are too many.
    """
    rows, contacts, n = local.rows, local.contacts, local.n
    kind = rows.kind[contacts:n]
    whole, normal = np.isin(kind, list(ALL_DIRECTIONS)), np.isin(kind, list(NORMAL_ONLY))
    size = 3 * int(whole.sum()) + int(normal.sum())
    if report.status != "OK" or report.solver == "PENALTY" or not 0 < size <= LARGEST:
        return
    local.require_blocks()
    row = contacts + np.flatnonzero(whole | normal)
    component = np.repeat(row, 3) * 3 + np.tile([0, 1, 2], len(row))
    component = component[np.repeat(whole[row - contacts], 3) | (component % 3 == 2)]
    before = unmet(local, component)
    if np.linalg.norm(before) <= ROUND_OFF * np.linalg.norm(rows.B[:, :n]):
        return
    reaction = rows.R.T.reshape(-1)  # the same memory
    kept = reaction[component]
    reaction[component] += _least(_matrix(local, component), -before)
    # a matrix near the limits of round-off leads nowhere
    if not np.linalg.norm(unmet(local, component)) < 0.1 * np.linalg.norm(before):
        reaction[component] = kept
        local.velocities(rows.U)
    report.merit, report.residual = merit.evaluate(local)


def unmet(local: LocalDynamics, component: np.ndarray) -> np.ndarray:
    """Velocities at the present reactions, left in `local.rows.U`, less those asked for."""
    rows = local.rows
    return (local.velocities(rows.U) - rows.B + rows.free).T.reshape(-1)[component]


def _matrix(local: LocalDynamics, component: np.ndarray) -> np.ndarray:
    """W between components 3 * row + axis of rows."""
    rows, blocks, n = local.rows, local.blocks, local.n
    place = np.full(3 * n, -1)
    place[component] = np.arange(len(component))
    head = rows.block_ptr[: n + 1]
    first, last = int(head[local.contacts]), int(head[n])
    one = np.concatenate([np.repeat(np.arange(local.contacts, n), np.diff(head[local.contacts :])), np.arange(local.contacts, n)])
    other = np.concatenate([blocks.column[first:last], np.arange(local.contacts, n)])
    values = np.concatenate([blocks.block[..., first:last], rows.diagonal[..., local.contacts : n]], axis=2)
    matrix = np.zeros((len(component), len(component)))
    for i in range(3):
        for j in range(3):
            a, b = place[3 * one + i], place[3 * other + j]
            used = (a >= 0) & (b >= 0)
            matrix[a[used], b[used]] = values[i, j, used]
    return matrix


def _least(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A solution of a positive semidefinite system: supports may be fixed twice, and the second time carries nothing."""
    from scipy.linalg import cho_solve  # slow to import
    from scipy.linalg.lapack import dpstrf

    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale[scale == 0.0] = np.inf
    scale = 1.0 / scale
    factor, order, rank, _ = dpstrf(0.5 * (matrix + matrix.T) * scale * scale[:, None], lower=1)
    kept = order[:rank] - 1
    result = np.zeros_like(right)
    result[kept] = cho_solve((factor[:rank, :rank], True), (scale * right)[kept]) * scale[kept]
    return result
