"""Supports of rigid bodies, FIX_POINT and FIX_DIRECTION against space, whose errors of velocity are damped as those of mechanisms are.

Under U = -V alone an error of velocity grows as exp(0.7 a) with the angle a by which a body turns about a point beside its mass centre (docs/theory.md,
Joints): after three turns a bar on a FIX_POINT had turned round.  Bodies that other constraints hold, too, keep U = -V, since these may not agree.
"""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyTable
from ..kinds import SPRINGS, BodyKind
from . import joint_terms
from .joint_correction import JointGapTable
from .joint_starts import IS_JOINT, IS_LINK, MET
from .table import ConstraintTable


class Supports:
    """Finds the supports that are damped, when constraints or bodies have changed."""

    def __init__(self):
        self._examined: tuple | None = None
        self._shared = np.zeros(0, np.int32)  # rows of bodies with several

    def find(self, constraints: ConstraintTable, bodies: BodyTable, damps: bool) -> None:
        """Write column `damped`: the number of supports of the body, if they are damped, else 0; without `damps` none is."""
        examined = constraints.edits, bodies.edits, damps
        if examined == self._examined:
            return
        self._examined = examined
        users = slice(0, constraints.user_count)
        kind, master, slave = constraints.kind[users], constraints.master[users], constraints.slave[users]
        fixed = IS_JOINT[kind] & ~IS_LINK[kind] & (constraints.joint[users] == 0) & (slave < 0)
        others = ~fixed & ~np.isin(kind, SPRINGS)
        held = np.bincount(np.concatenate([master[others], slave[others & (slave >= 0)]]), minlength=bodies.n)
        number = np.bincount(master[fixed], minlength=bodies.n)
        damped = fixed & (bodies.kind[master] == BodyKind.RIGID) & (held[master] == 0) & damps
        constraints.damped[users] = np.where(damped, number[master], 0)
        self._shared = np.flatnonzero(constraints.damped[users] > 1).astype(np.int32)

    def fit(self, constraints: ConstraintTable, bodies: BodyTable, room: JointGapTable) -> None:
        """Fit the terms of several supports of one body to one another, in steps after no impact."""
        rows = self._shared
        if rows.size:
            joint_terms.fit_rows(constraints, bodies, rows[constraints.start[rows] == MET], room)
