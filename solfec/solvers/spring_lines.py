"""Springs of a step as rows of the reduced problem of AUTO_SOLVER.

A stiff spring, R_N = p + g U_N, is a joint with compliance: 0 = (W R)_N + B_N + (p - R_N)/g, which adds -1/g to the diagonal.  Its row is scaled by
s = -g W_NN, R_N = s R', so that the solver measures the residual W_NN (R_N - p - g U_N) there.  A soft spring, whose force hardly
changes its own velocity (fortran/solvers/row_lines.f90), gets its force at the present velocity.  A stop, or a motor that holds a rate, prescribes U_N.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..tables import Record, opened
from .local_dynamics import LocalDynamics
from .spring_tangents import SpringTangents

OF_SPRINGS = "spring", "constant", "slope", "target", "held"  # columns with a row for every spring

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
        "spring": ((), "i4"),  # rows of springs
        "constant": ((), "f8"),  # of springs: p
        "slope": ((), "f8"),  # g
        "target": ((), "f8"),  # prescribed rate
        "held": ((), "i4"),  # 1: U_N is held at this rate
    }
    NUMBERS = {"fresh": "i4"}  # 1: scaled blocks and operators are not up to date

    def begin(self, local: LocalDynamics) -> bool:
        """Take the springs of a step; return whether there are any here, and not only in other processes."""
        self.local, self.tangents = local, SpringTangents(local)
        springs = self.tangents.rows
        if not springs.size:
            return False
        rows, blocks, entries = local.rows.kind.size, local.blocks.column.size, local.entries.triple.size
        if (self.scale.size, self.off_diagonal.shape[2], self.entry.shape[2], self.spring.size) != (rows, blocks, entries, springs.size):
            sizes = {"off_diagonal": blocks, "entry": entries} | dict.fromkeys(OF_SPRINGS, springs.size)
            self.replace(**{name: np.zeros((*shape, sizes.get(name, rows)), dtype, order="F") for name, (shape, dtype) in self.COLUMNS.items()})
        self.spring[:] = springs
        self.fresh = 1
        return True

    def renew(self, cone: np.ndarray, free: np.ndarray, enough: float) -> float:
        """Draw tangents at the present U and R, write their rows and their cones; return the norm by which velocities miss the laws of springs.

        `free` are the free velocities of all rows.  A norm up to `enough` ends the solution, so rows are not written then.  Infinite if the force of a stiff spring grows with its velocity, so that no joint can replace it.
        """
        local, springs, others = self.local, self.tangents, self.local.others
        missed, growing = 0.0, 0
        if springs.rows.size:
            if springs.functions is not None:
                springs.call_functions(self.constant, self.slope, self.target, self.held)
            missed, growing, status = _renew_lines(local.handles, self.handle, local.n, local.half_step, enough, cone, free)
            opened(status)
            if springs.functions is not None:
                springs.missed(self.constant, self.slope, self.held, self.target)
        missed = others.joined(missed)
        return math.inf if others.any(growing) else missed

    def operators(self) -> tuple | None:
        """Return operators of rows (`LocalDynamics.operators`) with the scaling of the solver."""
        given = self.local.operators()
        return given and (given[0], given[1], self.entry, given[3])

    def scale_reactions(self) -> None:
        """Scale reactions in place for the solver, R' = R/s."""
        opened(_scale_reactions(self.local.handles, self.handle, False))

    def take_reactions(self) -> None:
        """Undo the scaling of reactions in place, and set those of soft springs."""
        opened(_scale_reactions(self.local.handles, self.handle, True))
