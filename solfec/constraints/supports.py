"""Supports of rigid bodies, FIX_POINT and FIX_DIRECTION against space, whose errors of velocity are damped as those of mechanisms are.

Under U = -V alone an error of velocity grows as exp(0.7 a) with the angle a by which a body turns about a point beside its mass centre (docs/theory.md,
Joints): after three turns a bar on a FIX_POINT had turned round.  In loops with joints of mechanisms supports are damped as these are
(solfec/solvers/closed_loops.py); in loops with prescribed motions, or with finite elements, they keep U = -V, since what holds a motion twice may not agree.
"""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyTable
from ..connected import components
from ..kinds import DRIVES, JOINTS, SPRINGS, BodyKind, ConstraintKind
from ..tables import unique
from . import joint_terms
from .elsewhere import NOWHERE, Elsewhere
from .joint_correction import JointGapTable
from .joint_loops import in_loops
from .joint_starts import IS_JOINT, IS_LINK, MET
from .table import ConstraintTable


class HeldBodies:
    """Which of the user's constraints hold which bodies.

    Attributes
    ----------
    constraint, holder : ndarray (n,)
        Identifiers of constraints, and a number that the constraints of one joint, and the supports of one body, have in common.
    ends : ndarray (2, n)
        Identifiers of bodies, or -1: space or an obstacle.
    support, joint : ndarray of bool (n,)
        Supports of rigid bodies; joints of mechanisms on bodies that are not finite elements, whose stiffness says who holds what.
    link : ndarray of bool (n,)
        Links, which say nothing of velocities: their condition is a length.  Those of finite elements are left out.
    coupling : ndarray of bool (n,)
        Coupled points of bodies that are not finite elements (PUT_RIGID_LINK).
    limit : ndarray of bool (n,)
        Limits along axes, and ropes, which hold from one side, on bodies that are not finite elements.
    holding : ndarray of bool (n,)
        All that keeps points or axes together from both sides, on bodies that are not finite elements.
    """

    COLUMNS = "constraint", "holder", "ends", "support", "joint", "link", "coupling", "limit", "holding"

    def __init__(self, *columns: np.ndarray):
        self.constraint, self.holder, self.ends, self.support, self.joint, self.link, self.coupling, self.limit, self.holding = columns

    @classmethod
    def of(cls, constraints: ConstraintTable, bodies: BodyTable) -> HeldBodies:
        """Return those of a model."""
        users = slice(0, constraints.user_count)
        limited = np.isin(constraints.kind[users], DRIVES) & np.isfinite(constraints.limits[:, users]).any(axis=0)
        rows = np.flatnonzero(~np.isin(constraints.kind[users], (*SPRINGS, *DRIVES)) | limited)
        ends = np.stack([constraints.master[rows], constraints.slave[rows]])
        kinds = np.where(ends >= 0, bodies.kind[ends], BodyKind.OBSTACLE)
        elastic = (kinds == BodyKind.FINITE_ELEMENT).any(axis=0)
        counted = ~(elastic & (IS_LINK[constraints.kind[rows]] | limited[rows]))
        rows, ends, kinds, elastic = rows[counted], ends[:, counted], kinds[:, counted], elastic[counted]
        support = _supports(constraints)[rows]
        joint = (constraints.joint[rows] > 0) & np.isin(constraints.kind[rows], JOINTS) & ~elastic
        ends = np.where(kinds != BodyKind.OBSTACLE, bodies.id[ends], -1)
        # 3 k, 3 k + 1, 3 k + 2: joints, bodies, constraints by number
        identifier = constraints.id[rows]
        holder = np.where(constraints.joint[rows] > 0, 3 * constraints.joint[rows].astype(np.int64), np.where(support, 3 * ends[0] + 1, 3 * identifier + 2))
        coupling = (constraints.kind[rows] == ConstraintKind.FIXPNT) & (constraints.joint[rows] == 0) & ~support & ~elastic
        holding = IS_JOINT[constraints.kind[rows]] & ~elastic
        joint, support = joint & (ends >= 0).any(axis=0), support & (kinds[0] == BodyKind.RIGID)
        return cls(identifier, holder, ends, support, joint, IS_LINK[constraints.kind[rows]], coupling, limited[rows], holding)

    @classmethod
    def joined(cls, parts: list[HeldBodies]) -> HeldBodies:
        """Return those of several models together."""
        first = np.unique(np.concatenate([part.constraint for part in parts]), return_index=True)[1]
        return cls(*(np.concatenate([getattr(part, name) for part in parts], axis=-1)[..., first] for name in cls.COLUMNS))

    def without(self, constraints: np.ndarray) -> HeldBodies:
        """Return what is left when some constraints, given by identifiers, are gone."""
        return self._where(~np.isin(self.constraint, constraints))

    def damped(self) -> np.ndarray:
        """Return the identifiers of supports that damp errors: they are in loops with joints of mechanisms and other supports alone, or in none."""
        members = self._where(~(self.link | self.limit))
        looped = members._looped()
        mixed = looped & ~(members.support | members.joint)
        return members.constraint[members.support & ~(looped & members._near(mixed, looped))]

    def _near(self, mixed: np.ndarray, looped: np.ndarray) -> np.ndarray:
        """Return which constraints act on bodies that constraints in loops join to bodies of the `mixed` ones."""
        if not mixed.any():
            return mixed
        ends, count = self._numbered_ends()
        between = ends[:, looped & (ends < count).all(axis=0)]
        group = components(count + 1, *between)
        group[count] = -1  # space joins nothing
        return np.isin(group[ends], np.setdiff1d(group[ends[:, mixed]], -1)).any(axis=0)

    def joints_in_loops(self, supports: np.ndarray, couplings: bool) -> np.ndarray:
        """Return the identifiers of joints of mechanisms and of these `supports` in loops of such, and of all that are in loops with links.

        Links that are in loops with links alone are left out: lengths do not contradict one another.  Coupled points count, on request, beside links.
        """
        supported = np.isin(self.constraint, supports)
        members = self._where((self.joint & ~self.link) | supported)
        alone = members.constraint[members._looped()]
        members = self._where(self.joint | self.link | supported | (self.coupling & couplings))
        looped = members._looped()
        beside = members._near(looped & ~members.link, looped) & members._near(looped & members.link, looped)
        return unique(np.append(alone, members.constraint[looped & beside]))

    def joints_about_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the identifiers of limits that are in loops with joints, and of these joints, which may hold their motions."""
        members = self._where(self.holding | self.limit)
        looped = members._looped()
        near = looped & members._near(looped & members.limit, looped)
        return members.constraint[near & members.limit], members.constraint[near & members.holding]

    def has_links(self, constraints: np.ndarray) -> bool:
        """Whether some constraints, given by identifiers, are links."""
        return bool(np.isin(self.constraint[self.link], constraints).any())

    def shared_joints(self) -> np.ndarray:
        """Return the identifiers of joints of mechanisms, links among them, in loops of such: their reactions are shared (solvers/joint_shares.py)."""
        members = self._where(self.joint)
        return members.constraint[members._looped()]

    def _where(self, chosen: np.ndarray) -> HeldBodies:
        return HeldBodies(*(getattr(self, name)[..., chosen] for name in self.COLUMNS))

    def _looped(self) -> np.ndarray:
        """Return which constraints are in loops."""
        ends, count = self._numbered_ends()
        return in_loops(np.where(ends < count, ends, -1), self.holder, count)

    def _numbered_ends(self) -> tuple[np.ndarray, int]:
        """Return ends by numbers of bodies from zero, the last of which means space, and the number of bodies."""
        known = unique(self.ends[self.ends >= 0])
        return np.where(self.ends >= 0, np.searchsorted(known, self.ends), known.size), known.size


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
            damped &= np.isin(constraints.id[users], (held or HeldBodies.of(constraints, bodies)).damped())
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


def joints_in_loops(model, held: HeldBodies | None = None) -> np.ndarray:
    """Return the identifiers of joints of mechanisms, of supports that are damped, and of links, in loops of a model, of which `held` is known or not."""
    held = held or HeldBodies.of(model.constraints, model.bodies)
    return held.joints_in_loops(held.damped() if model.joint_impacts else np.zeros(0, np.int64), model.joint_impacts)
