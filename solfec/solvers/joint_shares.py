"""Reactions of redundant joints: of all that move the bodies alike, those of least norm (docs/mechanisms.md, Redundant joints).

Two hinges of a door hold its weight together, and no equation says how.  What a solver finds depends on its order of constraints and on the
steps before.  After a step, whatever the solver, joints of mechanisms therefore share what they hold so that the sum of squares of their forces
is least, and bodies move as before.  A moment counts as forces at an arm of a hundredth of the bodies' size: as bearings of this width do, joints
use moments only where forces cannot hold the bodies.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.table import velo_triples
from ..constraints.supports import HeldBodies
from ..kinds import JOINTS, BodyKind, ConstraintKind
from ..tables import opened
from .local_dynamics import LocalDynamics

_share_reactions = _kernels.joint_shares.share_reactions

HUB = 16  # rows of joints of a body, two or so per joint, above which the body is eliminated last
WIDTH = 0.01  # of bearings, over the arm of rows of moments
WEIGHTS = np.zeros((3, max(ConstraintKind) + 1))  # by kind and component, 0 where there is no reaction
for _kind in JOINTS:
    WEIGHTS[list((0, 1) if _kind.family.masked else _kind.components), _kind] = WIDTH if _kind.family.angular else 1.0


class JointShares:
    """Rows of joints that may be redundant, found once per set of bodies and user's constraints."""

    def __init__(self):
        self._shared = self._said = False
        self._examined = (0, 0, 0)
        self._from_end, self._triples = np.zeros(0, np.int32), np.zeros(0, np.int32)
        self._weights = np.zeros((3, 0), order="F")

    def share(self, local: LocalDynamics) -> None:
        """Give joints that may be redundant the reactions of least norm with the same effect on bodies, after these have got the solver's."""
        users = local.n - local.contacts
        examined = users, int(local.constraints.id[users - 1]) if users else 0, local.bodies.edits
        if examined != self._examined:
            self._examined = examined
            self._find(local)
        if self._from_end.size:
            changed, status = _share_reactions(
                local.handles, local.constraints.handle, local.n, self._from_end, self._weights, self._triples, local.bodies.triples.n
            )
            opened(status)
            if changed:
                self._shared = True

    def told(self) -> str:
        """Return a note about redundant joints, once; '' if there are none."""
        if not self._shared or self._said:
            return ""
        self._said = True
        return (
            "some joints hold motions that other joints hold, too; their shares of the reactions are those of least norm"
            " (docs/mechanisms.md, Redundant joints; solfec check counts these motions)"
        )

    def _find(self, local: LocalDynamics) -> None:
        """Find the rows of joints in loops, the weights of their components, and velocity triples of their bodies in the order of elimination."""
        constraints, bodies = local.constraints, local.bodies
        order = local.rows.order[local.contacts : local.n]
        looped = np.flatnonzero(np.isin(constraints.id[order], HeldBodies.of(constraints, bodies).shared_joints()))
        sides = np.stack([constraints.master[order[looped]], constraints.slave[order[looped]]])
        sides[(sides >= 0) & (bodies.kind[sides] == BodyKind.OBSTACLE)] = -1
        self._from_end = (order.size - looped).astype(np.int32)
        self._weights = np.asfortranarray(WEIGHTS[:, constraints.kind[order[looped]]])
        parts = [bodies.velo_ptr[k] + np.arange(velo_triples(bodies.kind[k], 0, 0)) for k in _elimination_order(sides, bodies.n)]
        self._triples = np.concatenate([*parts, np.zeros(0, int)]).astype(np.int32)


def _elimination_order(sides: np.ndarray, count: int) -> np.ndarray:
    """Return the bodies of joints, neighbours near each other, and hubs, which have many neighbours, at the end."""
    if not sides.size:
        return np.zeros(0, int)
    from scipy.sparse import csr_matrix  # slow to import
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    degree = np.bincount(sides[sides >= 0], minlength=count)
    inner = ((sides >= 0) & (degree[sides] <= HUB)).all(axis=0)
    links = csr_matrix((np.ones(2 * np.count_nonzero(inner)), np.concatenate((sides[:, inner], sides[::-1, inner]), axis=1)), (count, count))
    order = reverse_cuthill_mckee(links, symmetric_mode=True)
    return np.concatenate((order[(degree[order] > 0) & (degree[order] <= HUB)], np.flatnonzero(degree > HUB)))
