"""Supports of rigid bodies, FIX_POINT and FIX_DIRECTION against space, whose errors of velocity are damped as those of mechanisms are.

Under U = -V alone an error of velocity grows as exp(0.7 a) with the angle a by which a body turns about a point beside its mass centre (docs/theory.md,
Joints): after three turns a bar on a FIX_POINT had turned round.  Supports in loops of constraints keep U = -V, since what holds a motion twice may not agree.
"""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyTable
from ..kinds import DRIVES, LINKS, SPRINGS, BodyKind
from . import joint_terms
from .elsewhere import NOWHERE, Elsewhere
from .joint_correction import JointGapTable
from .joint_loops import in_loops
from .joint_starts import IS_JOINT, IS_LINK, MET
from .table import ConstraintTable

HOLDING_NOTHING = (*SPRINGS, *DRIVES, *LINKS)  # laws, and links, which say nothing of velocities: their condition is a length


class HeldBodies:
    """Which of the user's constraints hold which bodies.

    Attributes
    ----------
    constraint, holder : ndarray (n,)
        Identifiers of constraints, and a number that the constraints of one joint, and the supports of one body, have in common.
    ends : ndarray (2, n)
        Identifiers of bodies, or -1: space or an obstacle.
    """

    def __init__(self, constraint: np.ndarray, holder: np.ndarray, ends: np.ndarray):
        self.constraint, self.holder, self.ends = constraint, holder, ends

    @classmethod
    def of(cls, constraints: ConstraintTable, bodies: BodyTable) -> HeldBodies:
        """Return those of a model."""
        rows = np.flatnonzero(~np.isin(constraints.kind[: constraints.user_count], HOLDING_NOTHING))
        ends = np.stack([constraints.master[rows], constraints.slave[rows]])
        ends[(ends >= 0) & (bodies.kind[ends] == BodyKind.OBSTACLE)] = -1
        ends = np.where(ends >= 0, bodies.id[ends], -1)
        joint, identifier = constraints.joint[rows].astype(np.int64), constraints.id[rows]
        # 3 k, 3 k + 1, 3 k + 2: joints, bodies, constraints by number
        holder = np.where(joint > 0, 3 * joint, np.where(_supports(constraints)[rows], 3 * ends[0] + 1, 3 * identifier + 2))
        return cls(identifier, holder, ends)

    @classmethod
    def joined(cls, parts: list[HeldBodies]) -> HeldBodies:
        """Return those of several models together."""
        constraint, first = np.unique(np.concatenate([part.constraint for part in parts]), return_index=True)
        return cls(constraint, np.concatenate([part.holder for part in parts])[first], np.concatenate([part.ends for part in parts], axis=1)[:, first])

    def without(self, constraints: np.ndarray) -> HeldBodies:
        """Return what is left when some constraints, given by identifiers, are gone."""
        stays = ~np.isin(self.constraint, constraints)
        return HeldBodies(self.constraint[stays], self.holder[stays], self.ends[:, stays])

    def looped(self) -> np.ndarray:
        """Return the identifiers of constraints in loops."""
        known, ends = np.unique(self.ends, return_inverse=True)
        ends = ends.reshape(self.ends.shape) - int(known.size > 0 and known[0] < 0)
        return self.constraint[in_loops(ends, self.holder, known.size)]


class Supports:
    """Finds the supports that are damped, when constraints or bodies have changed."""

    def __init__(self):
        self._examined: tuple | None = None
        self._shared = np.zeros(0, np.int32)  # rows of bodies with several

    def find(self, constraints: ConstraintTable, bodies: BodyTable, damps: bool, elsewhere: Elsewhere = NOWHERE) -> None:
        """Write column `damped`: the number of supports of the body, if they are damped, else 0; without `damps` none is."""
        held = elsewhere.held_bodies()
        examined = constraints.edits, bodies.edits, damps, held
        if examined == self._examined:
            return
        self._examined = examined
        users = slice(0, constraints.user_count)
        fixed, master = _supports(constraints), constraints.master[users]
        damped = fixed & (bodies.kind[master] == BodyKind.RIGID) & damps
        if damped.any():
            damped &= ~np.isin(constraints.id[users], (held or HeldBodies.of(constraints, bodies)).looped())
        constraints.damped[users] = np.where(damped, np.bincount(master[fixed], minlength=bodies.n)[master], 0)
        self._shared = np.flatnonzero(constraints.damped[users] > 1).astype(np.int32)

    def fit(self, constraints: ConstraintTable, bodies: BodyTable, room: JointGapTable) -> None:
        """Fit the terms of several supports of one body to one another, in steps after no impact."""
        rows = self._shared
        if rows.size:
            joint_terms.fit_rows(constraints, bodies, rows[constraints.start[rows] == MET], room)


def _supports(constraints: ConstraintTable) -> np.ndarray:
    """Return which of the user's constraints are FIX_POINT or FIX_DIRECTION against space."""
    users = slice(0, constraints.user_count)
    kind = constraints.kind[users]
    return IS_JOINT[kind] & ~IS_LINK[kind] & (constraints.joint[users] == 0) & (constraints.slave[users] < 0)
