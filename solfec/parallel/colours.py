"""Colours of contacts that do not depend on how a model is divided.

Contacts of one pair of bodies form a group; groups of one colour share no moving body.  Groups take the smallest free colour in
the order of a hash of their bodies' identifiers: a group is next if its hash is the highest on both bodies.  Owners have all groups on
their bodies, so processes exchange only the colours of bodies and their highest remaining hash.
"""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError

MOST = 62  # bits of the masks of used colours


def hashes(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return positive int64 hashes of pairs of identifiers; two pairs have equal hashes with a probability of 2**-63."""
    with np.errstate(over="ignore"):
        x = one.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + two.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
        for factor in (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(31))) * factor
    return ((x ^ (x >> np.uint64(29))) >> np.uint64(2)).astype(np.int64) + 1


def colour(part, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return colours (n,) of rows that act on bodies `ends` (2, n), rows of the body table or -1; the part owns a body of each.

    The second result has, for each body that the part owns or has a copy of, the bits of the colours of all rows on it.

    Raises
    ------
    SolfecError
        A body is in more pairs than there are colours.
    """
    bodies, world = part.model.bodies, part.world
    groups, group_of = np.unique(ends, axis=1, return_inverse=True)
    group_of = group_of.reshape(-1)
    ids = np.where(groups >= 0, bodies.id[np.maximum(groups, 0)], 0)
    rank = hashes(ids[0], ids[1])
    result, todo = np.full(groups.shape[1], -1), np.ones(groups.shape[1], bool)
    known = np.zeros((2, bodies.n + 1), np.int64)  # used colours, and the highest remaining hash; the last column means no body
    each = np.arange(bodies.n), np.ones(bodies.n, int)
    while world.total(np.array([todo.sum()]))[0]:
        known[1] = 0
        for side in groups:
            np.maximum.at(known[1], side[todo], rank[todo])
        known[1, -1] = 0
        part.copy(known.view(float), *each)
        now = todo & (rank >= known[1, groups[0]]) & (rank >= known[1, groups[1]])
        used = known[0, groups[0, now]] | known[0, groups[1, now]]
        free = ~used & (used + 1)  # the lowest free bit
        if (free >= 1 << MOST).any():
            raise SolfecError(f"a body is in contact with more than {MOST} others; such models cannot be shared by processes yet")
        result[now] = np.log2(free).astype(int)
        for side in groups:
            np.bitwise_or.at(known[0], side[now], free)
        known[0, -1] = 0
        part.copy(known.view(float), *each)
        todo &= ~now
    return result[group_of], known[0, :-1]
