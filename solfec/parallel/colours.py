"""Colours of constraints that do not depend on how a model is divided.

Constraints on one pair of bodies form a group; groups of one colour share no moving body.  Groups take the smallest free colour in
the order of a hash of their bodies' identifiers: a group is next if its hash is the highest on both bodies.  Owners have all groups on
their bodies, so processes exchange only the colours of bodies and their highest remaining hash.
"""

from __future__ import annotations

import numpy as np

WORD = 62  # colours in one word of the masks of used colours


def hashes(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return positive int64 hashes of pairs of identifiers; two pairs have equal hashes with a probability of 2**-63."""
    with np.errstate(over="ignore"):
        x = one.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + two.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
        for factor in (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(31))) * factor
    return ((x ^ (x >> np.uint64(29))) >> np.uint64(2)).astype(np.int64) + 1


def colour(part, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return colours (n,) of rows that act on bodies `ends` (2, n), rows of the body table or -1; the part owns a body of each.

    The second result (words, bodies) has, for each body that the part owns or has a copy of, the bits of the colours of all rows on it.
    """
    bodies, world = part.model.bodies, part.world
    groups, group_of = np.unique(ends, axis=1, return_inverse=True)
    group_of = group_of.reshape(-1)
    ids = np.where(groups >= 0, bodies.id[np.maximum(groups, 0)], 0)
    rank = hashes(ids[0], ids[1])
    result, todo = np.full(groups.shape[1], -1), np.ones(groups.shape[1], bool)
    known = np.zeros((2, bodies.n + 1), np.int64)  # the highest remaining hash, and words of used colours; the last column means no body
    each = np.arange(bodies.n), np.ones(bodies.n, int)
    while True:
        left, filling = world.total(np.array([todo.sum(), (known[-1] >= 1 << WORD // 2 - 1).any()], np.int64))
        if not left:
            return result[group_of], known[1:, :-1]
        if filling:  # two bodies could fill the last word together
            known = np.concatenate([known, np.zeros((1, bodies.n + 1), np.int64)])
        known[0] = 0
        for side in groups:
            np.maximum.at(known[0], side[todo], rank[todo])
        known[0, -1] = 0
        part.copy(known.view(float), *each)
        now = todo & (rank >= known[0, groups[0]]) & (rank >= known[0, groups[1]])
        used = known[1:, groups[0, now]] | known[1:, groups[1, now]]
        word = np.argmax(used != (1 << WORD) - 1, axis=0)  # the first that has room
        used = used[word, np.arange(word.size)]
        free = ~used & (used + 1)  # the lowest free bit
        result[now] = WORD * word + np.log2(free).astype(int)
        for side in groups:
            np.bitwise_or.at(known, (1 + word, side[now]), free)
        known[1:, -1] = 0
        part.copy(known.view(float), *each)
        todo &= ~now
