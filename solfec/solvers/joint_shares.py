"""Reactions of redundant joints: of all that move the bodies alike, those of least norm (docs/mechanisms.md, Redundant joints).

Two hinges of a door hold its weight together, and no equation says how.  What a solver finds depends on its order of constraints and on the
steps before.  After a step, whatever the solver, joints of mechanisms therefore share what they hold so that the sum of squares of their forces
is least, and bodies move as before.  A moment counts as forces at an arm of a hundredth of the bodies' size: as bearings of this width do, joints
use moments only where forces cannot hold the bodies.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import JOINTS, BodyKind, ConstraintKind
from ..tables import opened
from .local_dynamics import LocalDynamics

_share_reactions = _kernels.joint_shares.share_reactions

WIDTH = 0.01  # of bearings, over the arm of rows of moments
WEIGHTS = np.zeros((3, max(ConstraintKind) + 1))  # by kind and component, 0 where there is no reaction
for _kind in JOINTS:
    WEIGHTS[list((0, 1) if _kind.family.masked else _kind.components), _kind] = WIDTH if _kind.family.angular else 1.0


class JointShares:
    """Rows of joints that may be redundant, found once per set of the user's constraints."""

    def __init__(self):
        self._examined = (0, 0)
        self._from_end, self._weights = np.zeros(0, np.int32), np.zeros((3, 0), order="F")

    def share(self, local: LocalDynamics) -> None:
        """Give joints that may be redundant the reactions of least norm with the same effect on bodies, after these have got the solver's."""
        users = local.n - local.contacts
        examined = users, int(local.constraints.id[users - 1]) if users else 0
        if examined != self._examined:
            self._examined = examined
            self._find(local)
        if self._from_end.size:
            rows = local.n - self._from_end
            changed, status = _share_reactions(local.handles, rows, self._weights, local.bodies.triples.n)
            opened(status)
            if changed:
                local.constraints.R[:, local.rows.order[rows]] = local.rows.R[:, rows]

    def _find(self, local: LocalDynamics) -> None:
        """Find the rows of joints in groups of bodies that joints connect in loops, and the the weights of their components."""
        constraints, bodies = local.constraints, local.bodies
        order = local.rows.order[local.contacts : local.n]
        joints = (constraints.joint[order] > 0) & np.isin(constraints.kind[order], JOINTS)
        sides = np.stack([constraints.master[order], constraints.slave[order]])
        sides[(sides >= 0) & (bodies.kind[sides] == BodyKind.OBSTACLE)] = -1
        joints &= (sides >= 0).any(axis=0)
        looped = np.zeros(order.size, bool)
        if np.count_nonzero(joints) > 1:
            looped[joints] = _in_loops(sides[:, joints], constraints.joint[order][joints], bodies.n)
        self._from_end = (order.size - np.flatnonzero(looped)).astype(np.int32)
        self._weights = np.asfortranarray(WEIGHTS[:, constraints.kind[order[looped]]])


def _in_loops(sides: np.ndarray, joint: np.ndarray, count: int) -> np.ndarray:
    """Return which rows (n,) belong to groups of bodies with loops of joints; space and obstacles, -1, connect no groups but close loops.

    A group has loops if it has more joints than bodies, less one if none of them ends in space or at an obstacle.
    """
    from scipy.sparse import coo_matrix  # slow to import
    from scipy.sparse.csgraph import connected_components

    inner = (sides >= 0).all(axis=0)
    links = coo_matrix((np.ones(np.count_nonzero(inner)), sides[:, inner]), (count, count))
    _, group = connected_components(links, directed=False)
    of_row = group[sides.max(axis=0)]
    size, groups = np.bincount(group), int(group.max()) + 1
    first = np.unique(joint, return_index=True)[1]
    joints = np.bincount(of_row[first], minlength=groups)
    grounded = np.bincount(of_row[~inner], minlength=groups) > 0
    return (joints > size - ~grounded)[of_row]
