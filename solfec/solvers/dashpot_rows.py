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
        slope = -np.where(deep | linear, hold, 0.5 * dashpot) / (1.0 + hold * w)
        # the line through (without, value) as one of U_N = without + w R_N
        share = 1.0 + slope * w
        return (value - slope * without) / share, slope / share
