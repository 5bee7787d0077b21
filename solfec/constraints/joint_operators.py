"""Relative velocities and rates of the user's constraints outside of local dynamics."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import compiled
from ..bodies.table import BodyTable
from ..tables import opened
from .table import ConstraintTable

_joint_velocities = _kernels.joint_operators.joint_velocities
_joint_rates = _kernels.joint_operators.joint_rates


def relative_velocities(constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray) -> np.ndarray:
    """Return relative velocities (3, n) of some of the user's constraints, in local components; their points and bases are up to date."""
    velocity = np.zeros((3, rows.size), order="F")
    if rows.size:
        opened(_joint_velocities(bodies.handles, constraints.handle, compiled(bodies).handle, rows.astype(np.int32), velocity))
    return velocity


def coordinates_and_rates(constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray) -> np.ndarray:
    """Return coordinates (2, n) of rows that drive joints, and their rates from the velocities at the start of the present step."""
    state = np.zeros((2, rows.size), order="F")
    if rows.size:
        opened(_joint_rates(bodies.handles, constraints.handle, compiled(bodies).handle, rows.astype(np.int32), state))
    return state
