"""Relative velocities of the user's constraints outside of local dynamics."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import compiled
from ..bodies.table import BodyTable
from ..tables import opened
from .table import ConstraintTable

_joint_velocities = _kernels.joint_operators.joint_velocities


def relative_velocities(
    constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray, before: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return relative velocities (3, n) of some of the user's constraints, in local components, and the size (n,) of their terms.

    Points and bases of constraints are up to date.  `before`: from velocities at the start of the present step.
    """
    velocity, size = np.zeros((3, rows.size), order="F"), np.zeros(rows.size)
    if rows.size:
        rows = np.ascontiguousarray(rows, np.int32)
        opened(_joint_velocities(bodies.handles, constraints.handle, compiled(bodies).handle, rows, before, velocity, size))
    return velocity, size
