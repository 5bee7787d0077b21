"""Rows of a step in the reduced form u = W r + q, r in cones, which includes cohesion and targets of all rows (docs/solvers.md)."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import ROW_FAMILIES, Cone, RowKind
from ..tables import opened
from .local_dynamics import NO_VELOCITY, LocalDynamics

_reduce_rows = _kernels.reduced_form.reduce_rows
_add_cohesion = _kernels.reduced_form.add_cohesion

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
    surveyed : tuple
        Kinds and sizes of these rows, for `LocalDynamics.surveyed`.
    """

    def __init__(self, local: LocalDynamics | None = None):
        self._allocate(0)
        if local is not None:
            self.fill(local)
            self.add_cohesion(local)

    def _allocate(self, size: int) -> None:
        self.cone, self.q, self.cohesion = np.zeros(size, np.int32), np.zeros((3, size), order="F"), np.zeros(size)

    def fill(self, local: LocalDynamics) -> None:
        """Take the rows of assembled local dynamics; `add_cohesion`, which needs blocks of W, completes q."""
        size = local.rows.kind.size
        if self.cone.size != size:
            self._allocate(size)
        present, size, driven_size, cohesive, moving, status = _reduce_rows(
            local.handles, local.n, NO_VELOCITY, CONE_OF_KIND, FRICTION_CONE, self.cone, self.q, self.cohesion
        )
        opened(status)
        self.cohesive, self.moving, self.surveyed = bool(cohesive), bool(moving), (present, size, driven_size)

    def add_cohesion(self, local: LocalDynamics) -> None:
        """Add what cohesive forces of other rows contribute to q."""
        if self.cohesive:
            moving, status = _add_cohesion(local.handles, local.n, self.q, self.cohesion)
            opened(status)
            self.moving = bool(moving)
