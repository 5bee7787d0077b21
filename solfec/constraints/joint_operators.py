"""Operators H of the user's constraints on velocity triples."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import compiled
from ..bodies.table import BodyTable
from ..tables import opened
from .table import ConstraintTable

_fill_joint_operators = _kernels.joint_operators.fill_joint_operators


def operators(constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute H of some of the user's constraints at the present configuration.

    Parameters
    ----------
    constraints, bodies
        State tables; points and bases of constraints are up to date.
    rows : (n,) ndarray of int
        Rows of the constraint table.

    Returns
    -------
    triple : (16, n) int32
        Velocity triples of the master (8) and of the slave (8), -1: none.
    operator : (3, 3, 16, n) float64
        Blocks of H, in local components; those of the slave include their sign.
    """
    triple = np.zeros((16, rows.size), np.int32, order="F")
    operator = np.zeros((3, 3, 16, rows.size), order="F")
    if rows.size:
        rows = np.ascontiguousarray(rows, np.int32)
        opened(_fill_joint_operators(bodies.handles, constraints.handle, compiled(bodies).handle, rows, triple, operator))
    return triple, operator


def relative_velocities(
    constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray, before: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return relative velocities (3, n) of some of the user's constraints, in local components, and the size (n,) of their terms.

    `before`: from velocities at the start of the present step.
    """
    triple, operator = operators(constraints, bodies, rows)
    velocity = bodies.triples.velo_prev if before else bodies.triples.velo
    parts = np.einsum("ijpn,jpn->ipn", operator, velocity[:, np.maximum(triple, 0)])
    return parts.sum(axis=1), np.linalg.norm(parts, axis=0).sum(axis=0)
