"""SPRING_DASHPOT contacts as contacts with compliance, for solvers of cones (docs/solvers.md, Automatic solver).

R_N = max (0, p + g U_N) with g < 0 means that R_N and U_N + (R_N - p)/|g| are not negative and one of them is zero.  This is a rigid contact
with 1/|g| added to the diagonal of W and p/|g| subtracted from its velocity.  For powers other than one, p and g are renewed until they hold.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import Cone
from .local_dynamics import LocalDynamics, RowKind

GAP, SPRING, DASHPOT, POWER, FRICTION, COHESION = 0, 1, 2, 3, 4, 6  # places in the law data of a contact
ITERATIONS, ACCURACY = 60, 1e-15  # of depths in quasi-statics


class DashpotRows:
    """SPRING_DASHPOT contacts among the rows of a step.

    Parameters
    ----------
    local : LocalDynamics
        Assembled rows.
    kind : (capacity,) int32
        Cones of rows; the constructor sets those of these contacts.
    diagonal, block, q : ndarray
        Diagonal blocks of W, numbers of contacts and free velocities for the solver; entries of these contacts are set.

    Attributes
    ----------
    rows : ndarray
        Rows of these contacts.
    """

    KIND = RowKind.SPRING_DASHPOT

    def __init__(self, local: LocalDynamics, kind: np.ndarray, diagonal: np.ndarray, block: np.ndarray, q: np.ndarray):
        self.local = local
        self.rows = np.flatnonzero(local.rows.kind[: local.n] == self.KIND)
        self._kind, self._diagonal, self._block, self._q = kind, diagonal, block, q

    @staticmethod
    def cohesive(local: LocalDynamics) -> bool:
        """Whether any SPRING_DASHPOT contact is cohesive: its law, tension up to a limit and none beyond, is no cone."""
        of = local.rows.kind[: local.n] == DashpotRows.KIND
        return local.others.any((local.rows.law[COHESION, : local.n][of] > 0.0).any())

    def renew(self, free: np.ndarray) -> float:
        """Write lines at the present U and R, and velocities `free`, into the solver's arrays; return the norm of errors in the law."""
        rows, here = self.local.rows, self.rows
        force, slope = self._lines()
        w = rows.diagonal[2, 2, here]
        missed = self.local.others.norm(w * (rows.R[2, here] - np.maximum(force + slope * rows.U[2, here], 0.0)))
        acts = slope < 0.0
        if not here.size:  # this process has none
            return missed
        yielding = np.where(acts, -1.0 / np.where(acts, slope, -1.0), 0.0)
        self._kind[here] = np.where(acts, Cone.CONTACT, Cone.NONE)
        self._q[:, here] = free[:, here]
        self._q[2, here] -= yielding * force
        diagonal = rows.diagonal[..., here].copy(order="F")
        diagonal[2, 2] += yielding
        block = np.zeros((rows.block.shape[0], here.size), order="F")
        _kernels.automatic_solver.prepare_contacts(here.size, diagonal, rows.law[FRICTION, here], block)
        self._diagonal[..., here] = diagonal
        self._block[:, here] = block
        return missed

    def _lines(self) -> tuple[np.ndarray, np.ndarray]:
        """Return p and g of the law at the present U and R (docs/materials.md, SPRING_DASHPOT)."""
        without, value, slope = self._mean_forces() if self.local.dynamic else self._settled_forces()
        # the line through (without, value) as one of U_N = without + w R_N
        share = 1.0 + slope * self.local.rows.diagonal[2, 2, self.rows]
        return (value - slope * without) / share, slope / share

    def _mean_forces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return velocities without own normal reactions, forces, and slopes of forces over them, in dynamics."""
        rows, here, step = self.local.rows, self.rows, self.local.step
        law, w, v = rows.law[:, here], rows.diagonal[2, 2, here], rows.V[2, here]
        u = rows.U[2, here]
        without = u - w * rows.R[2, here]  # velocity without its own normal reaction
        depth = -(law[GAP] + 0.25 * step * (without - v))
        deep = depth > 0.0
        force = law[SPRING] * np.where(deep, depth, 0.0) ** law[POWER]
        stiffness = law[POWER] * force / np.where(deep, depth, 1.0)
        stiffness = np.where(~deep & (law[POWER] == 1.0), law[SPRING], stiffness)
        dashpot = np.where(law[DASHPOT] < 0.0, 2.0 * np.sqrt(step * stiffness / w), law[DASHPOT])
        hold = 0.25 * step * stiffness + 0.5 * dashpot
        value = (force - 0.5 * dashpot * (without + v)) / (1.0 + hold * w)
        # without a dashpot an open spring keeps its slope, so that the solver can close it
        linear = ~deep & (law[POWER] == 1.0) & (dashpot == 0.0)
        value = np.where(linear, law[SPRING] * depth / (1.0 + hold * w), value)
        return without, value, -np.where(deep | linear, hold, 0.5 * dashpot) / (1.0 + hold * w)

    def _settled_forces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what `_mean_forces` does in quasi-statics: at the depths at the end of the step (settled_force of dashpot_rows.f90)."""
        rows, here, step = self.local.rows, self.rows, self.local.step
        law, w = rows.law[:, here], rows.diagonal[2, 2, here]
        spring, power, linear = law[SPRING], law[POWER], law[POWER] == 1.0
        without = rows.U[2, here] - w * rows.R[2, here]
        free = -(law[GAP] + step * without)
        critical = 2.0 * np.sqrt(step * np.where(linear, spring, spring * power * _power(free, power - 1.0)) / w)
        dashpot = np.where(law[DASHPOT] < 0.0, critical, law[DASHPOT])
        start, growth = np.maximum(-law[GAP], 0.0), 1.0 / (step * w) + dashpot / step
        load = free / (step * w) + dashpot / step * start
        depth = load / growth
        for _ in range(ITERATIONS):
            force = spring * _power(depth, power)
            deep = np.where(depth > 0.0, depth, 1.0)
            change = np.where(depth > 0.0, (growth * depth + force - load) / (growth + power * force / deep), 0.0)
            depth = np.where(depth > 0.0, np.maximum(depth - change, 0.1 * depth), depth)
            if not (np.abs(change) > ACCURACY * deep).any():
                break
        depth = np.where(linear & (depth <= 0.0), load / (growth + spring), depth)  # an open spring keeps its slope, so that the solver can close it
        stiffness = np.where(linear, spring, spring * power * _power(depth, power - 1.0))
        value = np.where(linear, spring * depth, spring * _power(depth, power)) + dashpot / step * (depth - start)
        hold = step * stiffness + dashpot
        return without, value, -hold / (1.0 + hold * w)


def _power(depth: np.ndarray, power: np.ndarray) -> np.ndarray:
    """Return powers of depths, zero where there is none."""
    deep = depth > 0.0
    return np.where(deep, np.where(deep, depth, 1.0) ** power, 0.0)
