"""Elimination of supports of implicit bodies from a contact problem: they are linear, so a direct solution leaves contacts only.

With E the components of supports and C the other rows,

    r_E = -W_EE^-1 (q_E + W_EC r_C),   u_C = (W_CC - W_CE W_EE^-1 W_EC) r_C + q_C - W_CE W_EE^-1 q_E.

The rows of one implicit body are all coupled, so elimination adds no blocks.  Without contacts it is the whole solution.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import Cone
from ..tables import pointers_of, unique
from .exact_supports import LARGEST, Factor, matrix_between
from .local_dynamics import LocalDynamics, RowKind

FRICTION = 4  # place in the law data of a contact
SUPPORTS = tuple(kind for kind in RowKind if kind.is_linear)
MOST_NUMBERS = 10_000_000  # of W_EC
RIGID = 1e-8  # share of a contact's diagonal block that remains if its body cannot move any more
SLICE = 512  # columns that are computed together


class Eliminated:
    """The problem of the remaining rows.

    Attributes
    ----------
    rows, kept : ndarray
        Supports that are eliminated, and rows that remain.
    """

    def __init__(self, local: LocalDynamics, kind: np.ndarray, rows: np.ndarray):
        n = local.n
        self.local, self.rows, self.kind = local, rows, kind
        self.kept = np.delete(np.arange(n), rows)
        component = np.repeat(rows, 3) * 3 + np.tile([0, 1, 2], len(rows))
        self.component = component[np.repeat(kind[rows] == Cone.FIXED, 3) | (component % 3 == 2)]
        self.factor = Factor(matrix_between(local, self.component))
        self._couple()

    @classmethod
    def of(cls, local: LocalDynamics, kind: np.ndarray) -> Eliminated | None:
        """Return the reduced problem, or None if it cannot be reduced or reduction does not pay."""
        n = local.n
        if not local.coupled or local.contacts == n:
            return None
        order = local.rows.order[local.contacts : n]
        one, other = local.constraints.master[order], local.constraints.slave[order]
        mine = np.isin(local.rows.kind[local.contacts : n], SUPPORTS) & (other < 0) & (local.implicit[one] > 0)
        rows = local.contacts + np.flatnonzero(mine)
        if not len(rows) or 3 * len(rows) > LARGEST:
            return None
        reduced = cls(local, kind, rows)
        return reduced if reduced.regular else None

    def _couple(self) -> None:
        """Compute the blocks of the remaining rows: W_CC - W_CE W_EE^-1 W_EC."""
        local, n, kept = self.local, self.local.n, self.kept
        rows, blocks = local.rows, local.blocks
        count = int(rows.block_ptr[n])
        one, other = np.repeat(np.arange(n), np.diff(rows.block_ptr[: n + 1])), blocks.column[:count]
        new = np.full(n, -1)
        new[kept] = np.arange(len(kept))
        inner = (new[one] >= 0) & (new[other] >= 0)
        self.regular = True
        self.touched = unique(other[(new[one] < 0) & (new[other] >= 0)])  # rows coupled with supports
        place = np.full(n, -1)
        place[self.touched] = np.arange(len(self.touched))
        self.diagonal = np.asfortranarray(rows.diagonal[..., kept])
        self.block = np.asfortranarray(rows.block[:, kept])
        self.row_ptr = pointers_of(np.bincount(new[one[inner]], minlength=len(kept)), np.int32)
        self.column = new[other[inner]].astype(np.int32)
        self.off_diagonal = np.asfortranarray(blocks.block[..., np.flatnonzero(inner)])
        if 3 * len(self.touched) * len(self.component) > MOST_NUMBERS:
            self.regular = False
        if not self.regular or not len(self.touched):
            return
        columns = np.repeat(self.touched, 3) * 3 + np.tile([0, 1, 2], len(self.touched))
        self.coupling = matrix_between(local, self.component, columns)
        self.response = self.factor.solve(self.coupling)
        first, second = place[one[inner]], place[other[inner]]
        both = np.flatnonzero((first >= 0) & (second >= 0))
        at, old = new[self.touched], self.diagonal.copy()
        for start in range(0, len(self.touched), SLICE):
            stop = min(start + SLICE, len(self.touched))
            taken = self.coupling[:, 3 * start : 3 * stop].T @ self.response
            taken = taken.reshape(stop - start, 3, len(self.touched), 3)
            here = both[(first[both] >= start) & (first[both] < stop)]
            self.off_diagonal[..., here] -= taken[first[here] - start, :, second[here], :].transpose(1, 2, 0)
            mine = np.arange(start, stop)
            own = taken[mine - start, :, mine, :]
            self.diagonal[..., at[mine]] -= (0.5 * (own + own.transpose(0, 2, 1))).transpose(1, 2, 0)
        numbers = np.arange(3)
        self.regular = bool((self.diagonal[numbers, numbers] > RIGID * old[numbers, numbers]).all())
        if self.regular:
            contacts = np.flatnonzero(self.kind[kept] == Cone.CONTACT)
            self.block[:, contacts] = _prepared(self.diagonal[..., contacts], rows.law[FRICTION, kept[contacts]])

    def solve(self, islands, kind: np.ndarray, q: np.ndarray, size: float, driven_size: float, given: tuple) -> np.ndarray:
        """Compute reactions of all rows in `local.rows.R`; return the counts of islands.  `given`: method, accuracy, bound and columns."""
        local, kept = self.local, self.kept
        rows = local.rows
        reaction = rows.R.T.reshape(-1)  # the same memory
        free = q.T.reshape(-1)
        counts = np.zeros((8, 0), np.int32)
        if len(kept):
            method, epsilon, maxiter, anderson = given
            reduced = np.zeros((3, len(kept) + 1), order="F")
            reduced[:, :-1] = q[:, kept]
            if len(self.touched):
                pulled = self.response.T @ free[self.component]
                reduced[:, np.searchsorted(kept, self.touched)] -= pulled.reshape(-1, 3).T
            found = np.zeros((3, len(kept)), order="F")
            found[:] = rows.R[:, kept]
            column, off_diagonal = (self.column, self.off_diagonal) if len(self.column) else (np.zeros(1, np.int32), np.zeros((3, 3, 1), order="F"))
            matrix = self.diagonal, np.asfortranarray(reduced[:, :-1]), self.row_ptr, column, off_diagonal
            counts = islands.solve(
                len(kept), np.ascontiguousarray(kind[kept]), self.block, matrix, method, False, epsilon, maxiter, anderson, found, size,
                None, driving=np.ascontiguousarray(rows.driving[kept]), driven_size=driven_size,
                speed=rows.speed[kept],
            ).copy()  # fmt: skip
            rows.R[:, kept] = found
        right = free[self.component].copy()
        if len(self.touched):
            right += self.coupling @ rows.R[:, self.touched].T.reshape(-1)
        rows.R[:, self.rows] = 0.0
        reaction[self.component] = -self.factor.solve(right)
        for _ in range(2):  # the second pass removes round-off
            velocities = local.velocities(rows.U).T.reshape(-1)
            left = velocities[self.component] - rows.B.T.reshape(-1)[self.component] + free[self.component]
            reaction[self.component] -= self.factor.solve(left)
        return counts

    def missed(self, q: np.ndarray) -> float:
        """Compute velocities, and return the norm of the errors of supports, without those that no reaction changes."""
        local = self.local
        left = (local.velocities(local.rows.U) - local.rows.B + q).T.reshape(-1)[self.component]
        return float(np.linalg.norm(left[self.factor.kept]))


def _prepared(diagonal: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """Return numbers of contacts (16, n) for their block solutions, from diagonal blocks (3, 3, n)."""
    block = np.zeros((16, len(friction)), order="F")
    if len(friction):
        _kernels.automatic_solver.prepare_contacts(len(friction), np.asfortranarray(diagonal), np.ascontiguousarray(friction), block)
    return block
