"""Adjacency of contact primitives of one body: elements that share a node, convexes that touch."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import pointers_of, ranges
from .distance import closer


def element_adjacency(counts: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements that share a node with each element, itself included.

    Parameters
    ----------
    counts : ndarray (n,) of int
        Number of nodes of every element.
    nodes : ndarray of int
        Node numbers, element by element.

    Returns
    -------
    pointers : ndarray (n + 1,), int32
    neighbours : ndarray, int32
        Ascending lists, one after another.
    """
    first = pointers_of(counts, np.int32)
    around = np.bincount(nodes)
    pointers, neighbours = np.zeros(len(first), np.int32), np.empty(int((around**2).sum()), np.int32)
    _kernels.mesh_connections.list_neighbours(len(around), first, np.asarray(nodes, np.int32), pointers, neighbours)
    return pointers, neighbours[: pointers[-1]].copy()


def convex_adjacency(clouds: list[np.ndarray], epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of each convex: their boxes overlap within a margin of `epsilon` and their distance is below it.

    Parameters
    ----------
    clouds : list of ndarray (nv, 3)
        Vertices of every convex, in units of length.
    epsilon : float
        Geometric epsilon.

    Returns
    -------
    pointers, neighbours
        See `element_adjacency`; a convex is not adjacent to itself.
    """
    count = len(clouds)
    if count == 1:
        return np.zeros(2, int), np.zeros(0, int)
    lower = np.array([c.min(0) for c in clouds]) - epsilon
    upper = np.array([c.max(0) for c in clouds]) + epsilon
    first, second = box_pairs(lower, upper)
    near = closer(clouds, first, second, epsilon)
    first, second = first[near], second[near]
    return rows_of_pairs(np.concatenate((first, second)), np.concatenate((second, first)), count)


def box_pairs(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (first < second) of overlapping boxes `lower`, `upper` (n, 3), swept along the longest direction."""
    axis = int(np.argmax(np.ptp(lower, axis=0)))
    order = np.argsort(lower[:, axis], kind="stable")
    reach = np.searchsorted(lower[order, axis], upper[order, axis], side="right")
    counts = reach - np.arange(len(order)) - 1
    one = np.repeat(order, counts)
    two = order[ranges(np.arange(1, len(order) + 1), counts)]
    overlap = ((lower[one] <= upper[two]) & (lower[two] <= upper[one])).all(1)
    one, two = one[overlap], two[overlap]
    return np.minimum(one, two), np.maximum(one, two)


def rows_of_pairs(one: np.ndarray, two: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Compressed rows (pointers, ascending columns) of distinct pairs."""
    codes = np.sort(one.astype(np.int64) * count + two)  # np.unique takes twice as long
    codes = codes[np.r_[np.ones(min(len(codes), 1), bool), codes[1:] != codes[:-1]]]
    return np.searchsorted(codes, np.arange(count + 1, dtype=np.int64) * count), codes % count
