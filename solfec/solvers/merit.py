"""Merit and residual: measures of the error of reactions in the constraint laws."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from .local_dynamics import LocalDynamics


def evaluate(local: LocalDynamics, velocities: np.ndarray | None = None) -> tuple[float, float]:
    """Compute merit and residual of the reactions and velocities in `local.rows`, and write those of each row there.

    Parameters
    ----------
    local : LocalDynamics
        Solved rows.
    velocities : ndarray, optional
        (3, capacity) velocities instead of `local.rows.U`.

    Returns
    -------
    merit : float
        Solfec-1.0's merit function g (docs/language-objects.md, GAUSS_SEIDEL_SOLVER.merhist): sum of P.A P over the free energy.
    residual : float
        Independent of scaling: the norm over the rows of (R - P_K(R - rho F))/rho for contacts and of the error in the
        velocity condition for other constraints, over the norm of B.

    Notes
    -----
    Constraints that drive obstacles are measured by their own free energy and norm of B; the larger result counts.
    Neither measure covers the law of SPRING_DASHPOT contacts; they count as satisfied.  A reaction of an open contact is
    an error in both.  Springs with Python functions count in the residual only, with the error of their last visit.
    """
    rows = local.rows
    merit, residual = _kernels.merit.evaluate(
        local.n, rows.kind, rows.driving, rows.contact, rows.block, rows.law, rows.diagonal, rows.B, rows.speed, rows.R,
        rows.U if velocities is None else velocities, local.half_step,
        rows.merit, rows.residual,
    )  # fmt: skip
    if local.held.size:
        rows.residual[local.held] = local.unmet
        size = local.free_size() ** 2
        residual = math.sqrt(residual**2 + float((local.unmet**2).sum()) / size)
    return merit, residual
