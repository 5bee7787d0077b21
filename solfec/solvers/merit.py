"""Merit and residual: measures of the error of reactions in the constraint laws."""

from __future__ import annotations

import math

from .. import _kernels
from ..tables import opened
from .local_dynamics import NO_ROWS, LocalDynamics

_evaluate = _kernels.merit.evaluate


def evaluate(local: LocalDynamics) -> tuple[float, float]:
    """Compute merit and residual of the reactions and velocities in `local.rows`, and write those of each row there.

    Parameters
    ----------
    local : LocalDynamics
        Solved rows.

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
    merit, residual, status = _evaluate(local.handles, local.n, local.half_step)
    if status:
        opened(status)
    if local.held is not NO_ROWS:
        local.rows.residual[local.held] = local.unmet
        size = local.free_size() ** 2
        residual = math.sqrt(residual**2 + float((local.unmet**2).sum()) / size)
    return merit, residual
