"""Rows of a step in the reduced form u = W r + q, r in cones, which includes cohesion and targets of all rows (docs/solvers.md)."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import ROW_FAMILIES, Cone, RowKind
from ..tables import opened
from .local_dynamics import LocalDynamics

_reduce_rows = _kernels.reduced_form.reduce_rows

UNKNOWN = -1
CONE_OF_KIND = np.full(max(RowKind) + 1, UNKNOWN, np.int32)
for _kind, _family in ROW_FAMILIES.items():
    CONE_OF_KIND[_kind] = UNKNOWN if _family.cone is None else _family.cone
FRICTION_CONE = int(Cone.CONTACT)


class ReducedRows:
    """Rows in the reduced form; arrays keep their place in memory as long as there is room in them.

    Attributes
    ----------
    cone : (capacity,) int32
        `Cone` of every row, or `UNKNOWN`.
    q : (3, capacity) float64
        Free velocities.
    cohesion : (capacity,) float64
        Cohesive forces, by which the normal reactions of contacts grow in this form.
    cohesive, moving : bool
        Whether any of them, or of q, is not zero.
    """

    def __init__(self, local: LocalDynamics | None = None):
        self._allocate(0)
        if local is not None:
            self.fill(local)

    def _allocate(self, size: int) -> None:
        self.cone, self.q, self.cohesion = np.zeros(size, np.int32), np.zeros((3, size), order="F"), np.zeros(size)

    def fill(self, local: LocalDynamics) -> None:
        """Take the rows of assembled local dynamics; those with cohesion need its blocks of W."""
        size = local.rows.kind.size
        if self.cone.size != size:
            self._allocate(size)
        cohesive, moving, status = _reduce_rows(local.handles, local.n, CONE_OF_KIND, FRICTION_CONE, self.cone, self.q, self.cohesion)
        opened(status)
        self.cohesive, self.moving = bool(cohesive), bool(moving)
