"""Tangents of springs: force and slope at the present velocity, for solvers of linear rows (docs/solvers.md, Automatic solver).

A solver replaces springs by their tangents, solves, and renews the tangents at its solution until nothing changes.  This
is a Newton iteration on the springs around the solver's own iteration.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import DRIVES
from ..tables import opened
from .local_dynamics import LocalDynamics, RowKind
from .spring_functions import IMPLICIT, LOWER, MEAN, REACH, STROKE, TARGET, UPPER, SpringFunctions

DASHPOT = 3  # place in the law data of a row
WINDOW = 7  # knots of a curve that are kept with a row
_draw_lines = _kernels.row_lines.draw_lines
NO_NUMBERS = np.zeros(0)
DIFFERENCE = 1e-6  # steps of difference quotients, over the size of what is varied


class SpringTangents:
    """Tangents of the springs of one step.

    Parameters
    ----------
    local : LocalDynamics
        Assembled rows.

    Attributes
    ----------
    rows, springs, drives : ndarray
        Rows of all springs, including those with Python functions; of springs; and of laws along axes of joints.
    functions : SpringFunctions or None
        Springs with Python functions.
    called : ndarray
        Their places in `rows` and `springs`.
    """

    KINDS = (RowKind.SPRING, RowKind.HELD, *DRIVES)

    def __init__(self, local: LocalDynamics):
        kind = local.rows.kind[: local.n]
        self.local = local
        self.springs = np.flatnonzero(np.isin(kind, self.KINDS[:2]))
        self.drives = np.flatnonzero(np.isin(kind, DRIVES)).astype(np.int32)
        self.rows = np.concatenate((self.springs, self.drives))
        self.functions = SpringFunctions(local) if local.held.size else None
        self.called = np.flatnonzero(kind[self.springs] == RowKind.HELD)

    def forces(self, stroke: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return f(s, v) of all springs and its derivatives by s and v."""
        law, knots = self.local.rows.law[:, self.springs], self.local.rows.block[:, self.springs]
        piece = (stroke >= knots[1 : WINDOW - 1]).sum(axis=0)
        this, following = np.arange(piece.size), piece + 1
        start, force = knots[piece, this], knots[WINDOW + piece, this]
        with np.errstate(divide="ignore", invalid="ignore"):  # rows of Python functions have no knots
            slope = (knots[WINDOW + following, this] - force) / (knots[following, this] - start)
            value = force + slope * (stroke - start) - law[DASHPOT] * velocity
        damping = -law[DASHPOT]
        for k, called in enumerate(self.called):
            value[called], slope[called], damping[called] = self._differences(k, float(stroke[called]), float(velocity[called]))
        return value, slope, damping

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
        """Return p and g of the tangent R_N = p + g U_N of every row at its present U and R, whether U_N is held, and at what rate."""
        return tuple(np.concatenate(parts) for parts in zip(self._tangents_of_springs(), self._lines_of_drives(), strict=True))

    def missed(self, constant: np.ndarray, slope: np.ndarray, stopped: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return the errors of present velocities in the laws of springs, given the present `tangents`; note those of Python functions in `local.unmet`."""
        rows = self.local.rows
        w, u, r = rows.diagonal[2, 2, self.rows], rows.U[2, self.rows], rows.R[2, self.rows]
        missed = np.abs(np.where(stopped, u - target, w * (r - constant - slope * u)))
        if self.functions is not None:
            self.local.unmet[:] = missed[self.called]
        return missed

    def _lines_of_drives(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        count = self.drives.size
        constant, slope, target, held = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, np.int32)
        if count:
            opened(_draw_lines(self.local.handles, self.drives, self.local.half_step, constant, slope, target, held))
        return constant, slope, held > 0, target

    def _tangents_of_springs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rows = self.local.rows
        if not self.springs.size:
            return NO_NUMBERS, NO_NUMBERS, NO_NUMBERS > 0.0, NO_NUMBERS
        law, w = rows.law[:, self.springs], rows.diagonal[2, 2, self.springs]
        u, r = rows.U[2, self.springs], rows.R[2, self.springs]
        free = u - w * r
        stopped = ((law[STROKE] < law[LOWER]) & (free < 0.0)) | ((law[STROKE] > law[UPPER]) & (free > 0.0))
        implicit = law[IMPLICIT] != 0.0
        stroke = law[STROKE] + np.where(implicit, law[REACH] * (u + law[TARGET]), 0.0)
        velocity = np.where(implicit, law[MEAN] * u - (1.0 - law[MEAN]) * law[TARGET], free)
        force, by_stroke, by_velocity = self.forces(stroke, velocity)
        slope = law[REACH] * by_stroke + law[MEAN] * by_velocity
        share = 1.0 + w * by_velocity  # explicit: f at U - W R, with R in it
        constant = np.where(implicit, force - slope * u, (force - by_velocity * free) / share)
        return constant, np.where(implicit, slope, by_velocity / share), stopped, law[TARGET]
