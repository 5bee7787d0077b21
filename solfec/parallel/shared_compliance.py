"""What processes tell one another about implicit finite elements (scheme 'DEF_LIM'): their owners alone solve with their matrices.

A copy gets its free velocity from its owner.  A row on bodies of two processes is in both of them, and each has the part of W of its own body; so
each sends the blocks of that body, and both have the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..kinds import BodyKind, Scheme
from ..tables import ranges

if TYPE_CHECKING:
    from .part import Part

UNREAD = np.eye(3)[:, :, None]  # diagonal block of rows on copies alone, which are not solved here, but whose laws are prepared


class SharedCompliance:
    """Exchange about the implicit finite elements that a part holds, until it holds others.

    Attributes
    ----------
    arrangement : int
        That of the part.
    """

    def __init__(self, part: Part):
        self._part, self.arrangement = part, part.arrangement
        self._solved = solved_by_owners(part.model.bodies)
        kind, scheme = part.model.bodies.view("kind"), part.model.bodies.view("scheme")
        self._everywhere = (kind > BodyKind.RIGID) & (scheme == Scheme.DEF_LIM) & ~self._solved  # all that hold these bodies solve with their matrices
        first, width = part.spans["velo"]
        plans = ({rank: rows[self._solved[rows]] for rank, rows in plan.items()} for plan in (part.sent, part.received))
        self._triples = tuple({rank: ranges(first[rows], width[rows]) for rank, rows in plan.items() if rows.size} for plan in plans)

    def take_velocities(self) -> None:
        """Bring free velocities of copies from their owners."""
        self._part.copy_columns(self._part.model.bodies.triples.velo, *self._triples)

    @contextmanager
    def sharing(self, local) -> Iterator[None]:
        """Let implicit bodies of this process add their parts of W; then add those of other processes to rows that both hold.

        Before, the diagonal has the parts of explicit bodies.  Blocks off the diagonal are those of implicit bodies alone.
        """
        explicit = local.rows.diagonal[..., : local.n].copy(order="F")
        yield
        if not (local.coupled and any(self._triples)):
            self._part.world.exchange({}, {})
            return
        ends = self._part.ends(local.rows.order[: local.n])
        mine = np.append(self._part.mine, False)[ends]
        local.rows.diagonal[..., np.flatnonzero(~mine.any(axis=0))] += UNREAD
        self._exchange(local, explicit, ends, mine)

    def _exchange(self, local, explicit: np.ndarray, ends: np.ndarray, mine: np.ndarray) -> None:
        """Add the parts of W that bodies of other processes have in common with those of this one.

        Parameters
        ----------
        local : LocalDynamics
        explicit : ndarray (3, 3, n)
            Parts of explicit bodies of the diagonal.
        ends, mine : ndarray (2, n)
            Bodies on which rows act, -1: none; and whether this process moves them.
        """
        diagonal, block = local.rows.diagonal, local.blocks.block
        listed = np.flatnonzero((ends >= 0).all(axis=0) & (mine[0] != mine[1]))
        theirs = mine[0, listed].astype(int)  # place of the other process's body among the two
        owner, own = self._part.model.bodies.owner[ends[theirs, listed]], ends[1 - theirs, listed]
        gives, gets = self._solved[own], self._solved[ends[theirs, listed]]
        at, number = blocks_of_pairs(local, listed, ends)
        out, into, places = {}, {}, {}
        for rank in np.unique(owner).tolist():
            for wanted, there in ((gives, out), (gets, places)):
                chosen = wanted & (owner == rank)
                if chosen.any():
                    there[rank] = listed[chosen], at[chosen[number]]
        for rank, (rows, others) in out.items():
            out[rank] = np.concatenate([diagonal[..., rows] - explicit[..., rows], block[..., others]], axis=2).T.copy()
        into = {rank: np.empty((len(rows) + len(others), 3, 3)) for rank, (rows, others) in places.items()}
        self._part.world.exchange(out, into)
        twice = self._everywhere[own]  # others have added these parts, too
        rows, others = listed[gets & twice], at[(gets & twice)[number]]
        diagonal[..., rows], block[..., others] = explicit[..., rows], 0.0
        for rank, (rows, others) in places.items():
            diagonal[..., rows] += into[rank][: len(rows)].T
            block[..., others] += into[rank][len(rows) :].T


def solved_by_owners(bodies) -> np.ndarray:
    """Return which bodies (n,) are implicit finite elements in no base, which is costly to solve for: a process that holds a copy gets what it needs."""
    kind, scheme, modes = (bodies.view(name) for name in ("kind", "scheme", "mode_count"))
    return (kind == BodyKind.FINITE_ELEMENT) & (scheme == Scheme.DEF_LIM) & (modes == 0)


def blocks_of_pairs(local, listed: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the blocks of W of listed rows with other rows on the same two bodies, and the number of the listed row of each."""
    first = local.rows.block_ptr[listed]
    count = local.rows.block_ptr[listed + 1] - first
    at, number = ranges(first, count), np.repeat(np.arange(listed.size), count)
    same = (ends[:, local.blocks.column[at]] == ends[:, listed[number]]).all(axis=0)
    return at[same], number[same]
