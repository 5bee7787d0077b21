"""How well reactions fulfil the constraint laws."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from .local_dynamics import LocalDynamics


def evaluate(local: LocalDynamics, velocities: np.ndarray | None = None) -> tuple[float, float]:
    """Merit and residual of the reactions and velocities in `local.rows`; the rows' own figures go there too.

    Parameters
    ----------
    local : LocalDynamics
        Solved rows.
    velocities : ndarray, optional
        (3, capacity) velocities in the place of `local.rows.U`.

    Returns
    -------
    merit : float
        Solfec-1.0's merit function g (docs/language-objects.md, GAUSS_SEIDEL_SOLVER.merhist): sum of P.A P over the free energy.
    residual : float
        Free of scaling: norm over the rows of (R - P_K(R - rho F))/rho for contacts and of the unmet part of the
        velocity condition for other constraints, over the norm of B.

    Notes
    -----
    Constraints that drive obstacles have a free energy and a norm of B of their own; the larger of both figures counts.
    SPRING_DASHPOT contacts follow laws that neither figure knows; they count as fulfilled.  What an open contact carries counts
    as an error in both.  Springs with Python functions count in the residual alone, with what their last visit found.
    """
    rows = local.rows
    merit, residual = _kernels.merit.evaluate(
        local.n, rows.kind, rows.driving, rows.block, rows.law, rows.diagonal, rows.B, rows.speed, rows.R,
        rows.U if velocities is None else velocities, local.half_step,
        rows.merit, rows.residual,
    )  # fmt: skip
    if local.held.size:
        rows.residual[local.held] = local.unmet
        size = local.free_size() ** 2
        residual = math.sqrt(residual**2 + float((local.unmet**2).sum()) / size)
    return merit, residual
