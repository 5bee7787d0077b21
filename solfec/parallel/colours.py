"""Colours of constraints that do not depend on how a model is divided.

Constraints on one pair of bodies form a group; groups of one colour share no moving body.  Groups take the smallest free colour in
the order of a hash of their bodies' identifiers: a group is next if its hash is the highest on both bodies.  Owners have all groups on
their bodies, so processes exchange only the colours of bodies and their highest remaining hash, and colour what they can in between.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels

_colour_next_groups = _kernels.shared_colours.colour_next_groups

PIECE = 1 << 16  # rows that are compared at once
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
    first, group_of = _groups((ends[0] + 1) * (bodies.n + 1) + ends[1] + 1)
    groups = ends[:, first]
    ids = np.where(groups >= 0, bodies.id[np.maximum(groups, 0)], 0)
    hashed = hashes(ids[0], ids[1])
    order = np.argsort(hashed)[::-1].astype(np.int32)
    one, two = groups.astype(np.int32)
    mine = part.mine.astype(np.int32)
    result = np.full(hashed.size, -1, np.int32)
    known = np.zeros((2, bodies.n), np.int64, order="F")  # the highest hash of groups without a colour, and words of used colours
    for side in groups:
        on_body = side >= 0
        np.maximum.at(known[0], side[on_body], hashed[on_body])
    while True:
        part.copy_columns(known.view(float), part.sent, part.received)
        left, full = _colour_next_groups(one, two, hashed, order, mine, known, result) if hashed.size else (0, 0)
        left, full = world.total(np.array([left, full], np.int64))
        if full:
            known = np.concatenate([known, np.zeros((1, bodies.n), np.int64)]).copy(order="F")
        elif not left:
            part.copy_columns(known.view(float), part.sent, part.received)
            return result[group_of], known[1:]


def _groups(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a row of each group of equal keys, groups by ascending keys, and the group of each row; less memory than `np.unique` takes."""
    order = np.argsort(keys, kind="stable")
    new = np.ones(order.size, bool)
    for k in range(1, order.size, PIECE):
        rows = order[k - 1 : k + PIECE]
        new[k : k + PIECE] = np.diff(keys[rows]) > 0
    group_of = np.empty(order.size, np.int32)
    group_of[order] = np.cumsum(new, dtype=np.int32) - 1
    return order[new], group_of
