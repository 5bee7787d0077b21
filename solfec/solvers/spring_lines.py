"""Springs of a step as rows of the reduced problem of AUTO_SOLVER.

A stiff spring, R_N = p + g U_N, is a joint with compliance: 0 = (W R)_N + B_N + (p - R_N)/g, which adds -1/g to the diagonal.  Its row is scaled by
s = -g W_NN, R_N = s R', so that the solver measures the residual W_NN (R_N - p - g U_N) there.  A soft spring, whose force hardly
changes its own velocity, gets its force at the present velocity.  A stop, or a motor that holds a rate, prescribes U_N.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..tables import Record, opened
from .local_dynamics import LocalDynamics
from .spring_tangents import SpringTangents

SOFT = 0.1  # |g| W_NN, the effect of a spring's force on its own velocity: below this value the force counts as given

_renew_lines = _kernels.row_lines.renew_lines
_scale_reactions = _kernels.row_lines.scale_reactions


class SpringLines(Record):
    """Rows for the solver, instead of those of local dynamics; arrays keep their place in memory as long as there is room in them."""

    COLUMNS = {
        "block": ((16,), "f8"),  # as in RowTable; 0 in rows of springs
        "diagonal": ((3, 3), "f8"),  # W_aa
        "q": ((3,), "f8"),  # free velocities
        "off_diagonal": ((3, 3), "f8"),  # blocks of W
        "entry": ((3, 3), "f8"),  # operators of rows
        "scale": ((), "f8"),  # s
        "soft": ((), "i4"),  # 1: the force of the spring counts as given
        "force": ((), "f8"),  # of soft springs, else 0
    }
    NUMBERS = {"fresh": "i4"}  # 1: scaled blocks and operators are not up to date

    def begin(self, local: LocalDynamics) -> bool:
        """Take the springs of a step; return whether there are any here, and not only in other processes."""
        self.local, self.tangents = local, SpringTangents(local)
        if not self.tangents.rows.size:
            return False
        rows, blocks, entries = local.rows.kind.size, local.blocks.column.size, local.entries.triple.size
        if (self.scale.size, self.off_diagonal.shape[2], self.entry.shape[2]) != (rows, blocks, entries):
            sizes = {"off_diagonal": blocks, "entry": entries}
            self.replace(**{name: np.zeros((*shape, sizes.get(name, rows)), dtype, order="F") for name, (shape, dtype) in self.COLUMNS.items()})
        self.fresh = 1
        return True

    def renew(self, cone: np.ndarray, free: np.ndarray) -> float:
        """Draw tangents at the present U and R, write their rows and their cones; return the norm by which velocities miss the laws of springs.

        `free` are the free velocities of all rows.  Infinite if the force of a stiff spring grows with its velocity, so that no joint can replace it.
        """
        local, springs, others = self.local, self.tangents, self.local.others
        missed, growing = 0.0, 0
        if springs.rows.size:
            constant, slope, held, target = springs.tangents()
            if springs.functions is not None:
                springs.missed(constant, slope, held, target)
            missed, growing, status = _renew_lines(
                local.handles, self.handle, local.n, springs.rows, constant, slope, target, held, SOFT, cone, free
            )
            opened(status)
        missed = others.joined(missed)
        return math.inf if others.any(growing) else missed

    def operators(self) -> tuple | None:
        """Return operators of rows (`LocalDynamics.operators`) with the scaling of the solver."""
        given = self.local.operators()
        return given and (given[0], given[1], self.entry, given[3])

    def scale_reactions(self) -> None:
        """Scale reactions in place for the solver, R' = R/s."""
        opened(_scale_reactions(self.local.handles, self.handle, self.tangents.rows, False))

    def take_reactions(self) -> None:
        """Undo the scaling of reactions in place, and set those of soft springs."""
        opened(_scale_reactions(self.local.handles, self.handle, self.tangents.rows, True))
