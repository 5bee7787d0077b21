"""Tangents of springs: force and slope at the present velocity, for solvers of linear rows (docs/solvers.md, Automatic solver).

A solver replaces springs by their tangents, solves, and renews the tangents at its solution until nothing changes.  This
is a Newton iteration on the springs around the solver's own iteration.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import DRIVES
from ..tables import opened
from .local_dynamics import LocalDynamics, RowKind, mask_of
from .spring_functions import IMPLICIT, MEAN, REACH, STROKE, TARGET, SpringFunctions

DASHPOT = 3  # place in the law data of a row
LINK_LENGTH = 3  # the same, of a link
WINDOW = 7  # knots of a curve that are kept with a row
_draw_lines = _kernels.row_lines.draw_lines
NO_ROWS = np.zeros(0, int)
DIFFERENCE = 1e-6  # steps of difference quotients, over the size of what is varied


class SpringTangents:
    """Tangents of the springs of one step.

    Parameters
    ----------
    local : LocalDynamics
        Assembled rows.

    Attributes
    ----------
    rows : ndarray
        Rows of springs, also of those with Python functions, and of laws along axes of joints.
    functions : SpringFunctions or None
        Springs with Python functions.
    called : ndarray
        Their places in `rows`.
    """

    KINDS = (RowKind.SPRING, RowKind.HELD, *DRIVES)
    _MASK = mask_of(KINDS)

    def __init__(self, local: LocalDynamics):
        kind = local.rows.kind[: local.n]
        self.local = local
        self.rows = self._MASK[kind].nonzero()[0].astype(np.int32)
        self.functions = SpringFunctions(local) if local.held.size else None
        self.called = NO_ROWS if self.functions is None else np.flatnonzero(kind[self.rows] == RowKind.HELD)

    def _differences(self, k: int, stroke: float, velocity: float) -> tuple[float, float, float]:
        """Return f, df/ds and df/dv of a Python function by difference quotients."""
        function = self.functions.functions[k]
        reach = abs(float(self.local.rows.law[REACH, self.functions.rows[k]]) * velocity)
        ds = DIFFERENCE * (max(abs(stroke), reach) or 1.0)
        dv = DIFFERENCE * (abs(velocity) or 1.0)
        force = function(stroke, velocity)
        return force, (function(stroke + ds, velocity) - force) / ds, (function(stroke, velocity + dv) - force) / dv

    def draw_lines(self) -> None:
        """Turn rows of Python functions into rows of curves: their tangents at the mean stroke and velocity of the step."""
        rows, held = self.local.rows, self.rows[self.called]
        law = rows.law[:, held]
        velocity = law[MEAN] * rows.U[2, held] - (1.0 - law[MEAN]) * law[TARGET]
        stroke = law[STROKE] + law[REACH] * (rows.U[2, held] + law[TARGET])
        for k, row in enumerate(held):
            force, slope, damping = self._differences(k, float(stroke[k]), float(velocity[k]))
            apart = np.arange(WINDOW) - WINDOW // 2
            apart = apart * (max(abs(stroke[k]), abs(law[REACH, k] * velocity[k])) or 1.0)
            rows.block[:WINDOW, row] = stroke[k] + apart
            rows.block[WINDOW : 2 * WINDOW, row] = force + slope * apart - damping * velocity[k]
            rows.law[DASHPOT, row] = -damping
            rows.kind[row] = RowKind.SPRING

    def take_back(self) -> None:
        """Turn rows that `draw_lines` has changed back into rows of functions, with the residuals found."""
        held = self.rows[self.called]
        self.local.rows.kind[held] = RowKind.HELD
        self.local.unmet[:] = self.local.rows.residual[held]

    def tangents(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return p and g of the tangent R_N = p + g U_N of every row at its present U and R, whether (1) U_N is held, and at what rate."""
        count = self.rows.size
        constant, slope, target, held = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, np.int32)
        if self.functions is not None:
            self.call_functions(constant, slope, target, held)
        if count:
            opened(_draw_lines(self.local.handles, self.rows, self.local.half_step, constant, slope, target, held))
        return constant, slope, held, target

    def missed(self, constant: np.ndarray, slope: np.ndarray, held: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return the errors of present velocities in the laws of springs, given the present `tangents`; note those of Python functions in `local.unmet`."""
        rows = self.local.rows
        w, u, r = rows.diagonal[2, 2, self.rows], rows.U[2, self.rows], rows.R[2, self.rows]
        missed = np.abs(np.where(held > 0, u - target, w * (r - constant - slope * u)))
        if self.functions is not None:
            self.local.unmet[:] = missed[self.called]
        return missed

    def call_functions(self, constant: np.ndarray, slope: np.ndarray, target: np.ndarray, held: np.ndarray) -> None:
        """Write the tangents of Python functions (docs/language-objects.md, PUT_SPRING)."""
        rows, mine = self.local.rows, self.rows[self.called]
        law, w, u = rows.law[:, mine], rows.diagonal[2, 2, mine], rows.U[2, mine]
        free = u - w * rows.R[2, mine]
        implicit = law[IMPLICIT] != 0.0
        stroke = law[STROKE] + np.where(implicit, law[REACH] * (u + law[TARGET]), 0.0)
        velocity = np.where(implicit, law[MEAN] * u - (1.0 - law[MEAN]) * law[TARGET], free)
        force, by_stroke, by_velocity = np.array([self._differences(k, float(s), float(v)) for k, (s, v) in enumerate(zip(stroke, velocity, strict=True))]).T
        line = law[REACH] * by_stroke + law[MEAN] * by_velocity
        share = 1.0 + w * by_velocity  # explicit: f at U - W R, with R in it
        constant[self.called] = np.where(implicit, force - line * u, (force - by_velocity * free) / share)
        slope[self.called] = np.where(implicit, line, by_velocity / share)
        stops = [self.functions.stop(k, int(row), float(w[k]), float(free[k])) for k, row in enumerate(mine)]
        held[self.called] = [stop is not None for stop in stops]
        target[self.called] = [stop or 0.0 for stop in stops]


def link_velocity(local: LocalDynamics, links: np.ndarray) -> np.ndarray:
    """Return the normal velocities with which links have their length at the end of the step, given the present tangential ones."""
    law, k = local.rows.law[:, links], local.half_step
    sideways = law[:2] + k * local.rows.U[:2, links]
    square = law[LINK_LENGTH] ** 2 - (sideways**2).sum(axis=0)
    along = np.sqrt(np.maximum(square, 0.0)) * np.where(law[2] < 0.0, -1.0, 1.0)
    # points too fast to be held: no normal velocity, as in the sweeps
    return np.where(square > 0.0, (along - law[2]) / k, 0.0)
