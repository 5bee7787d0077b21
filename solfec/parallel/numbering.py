"""Identifiers on which processes agree that have made different bodies or constraints.

What all processes have made alike is one thing; all else is its maker's.  Things are numbered in the order in which they were made, and those that
several processes have made between two common things by rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SolfecError
from .communicator import Communicator

ONE, TWO, THREE = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))  # of splitmix64


@dataclass
class Numbers:
    """Numbers of the things that this process has made.

    Attributes
    ----------
    number : ndarray (n,)
        From 0, ascending.
    common : ndarray of bool (n,)
        Whether all processes have made a thing.
    total : int
        Number of things that all processes have made together.
    """

    number: np.ndarray
    common: np.ndarray
    total: int


def agreed(world: Communicator, digests: np.ndarray, contents: np.ndarray, name: str) -> Numbers:
    """Number things in the order in which this process has made them.

    Parameters
    ----------
    world : Communicator
    digests : ndarray (n,) of uint64
        Of what tells things apart: things of equal digests are one thing.
    contents : ndarray (n,) of uint64
        Digests of all else, which must be equal where processes have made one thing.
    name : str
        What the things are, for messages.

    Raises
    ------
    SolfecError
        In all processes alike: several, but not all of them have made a thing, or they have given it different contents, or common things are in another order.
    """
    made = [_distinct(one) for one in world.gathered(digests)]
    size, ends = len(made), np.cumsum([one.size for one in made])
    _, inverse, count = np.unique(np.concatenate(made), return_inverse=True, return_counts=True)
    kinds = np.split(inverse, ends[:-1])
    shared = np.flatnonzero((count > 1) & (count < size))
    if shared.size:
        makers = [rank for rank in range(size) if (kinds[rank] == shared[0]).any()]
        place = int(np.flatnonzero(kinds[makers[0]] == shared[0])[0]) + 1
        raise SolfecError(
            f"RUN: processes {', '.join(map(str, makers))} have made the same {name} (number {place} of process {makers[0]}), and others have not; "
            f"each {name} must be made by one process, or alike by all"
        )
    common = [count[kind] == size for kind in kinds]
    order = kinds[0][common[0]]
    for rank in range(1, size):
        if not np.array_equal(kinds[rank][common[rank]], order):
            raise SolfecError(f"RUN: processes 0 and {rank} have made what they have in common in different order; {name} by {name}, it must be the same")
    mine = common[world.rank]
    _refuse_different(world, contents[mine], np.flatnonzero(mine), name)
    gaps = order.size + 1  # before, between and behind common things
    between = np.array([np.bincount(np.cumsum(one)[~one], minlength=gaps) for one in common])  # (size, gaps)
    before = np.cumsum(between.T.ravel()) - between.T.ravel()
    first = before.reshape(gaps, size)[:, world.rank] + np.arange(gaps)
    behind = np.cumsum(between.sum(axis=0))[:-1] + np.arange(gaps - 1)
    gap = np.cumsum(mine)
    number = np.empty(mine.size, np.int64)
    number[mine] = behind
    own = np.flatnonzero(~mine)
    number[own] = first[gap[own]] + np.arange(own.size) - np.searchsorted(gap[own], gap[own])
    return Numbers(number, mine, int(ends[-1]) - (size - 1) * order.size)


def _refuse_different(world: Communicator, contents: np.ndarray, numbers: np.ndarray, name: str) -> None:
    """Raise SolfecError unless common things, which are so many `numbers` of this process, have the same contents in all processes."""
    given = world.gathered(contents)
    for rank, others in enumerate(given):
        differing = np.flatnonzero(others != given[0])
        if differing.size:
            place = world.gathered(int(numbers[differing[0]]) + 1)[0]
            raise SolfecError(
                f"RUN: all processes have made the same {name} (number {place} of process 0), but processes 0 and {rank} differ in its state, loads, "
                f"material or other data; what all make, all must treat alike"
            )


def _distinct(digests: np.ndarray) -> np.ndarray:
    """Return digests in which the second, third ... thing of the same content has another one than the first."""
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    again = np.empty(order.size, np.uint64)
    again[order] = np.arange(order.size) - np.searchsorted(ordered, ordered)
    return digests + ONE * again


def mixed(words: np.ndarray) -> np.ndarray:
    """Return numbers all bits of which depend on all bits of the given ones."""
    words = words + ONE
    words = (words ^ (words >> np.uint64(30))) * TWO
    words = (words ^ (words >> np.uint64(27))) * THREE
    return words ^ (words >> np.uint64(31))


class Digests:
    """Digests of things, to which columns of rows that belong to them are added.

    Attributes
    ----------
    values : ndarray (n,) uint64
    """

    def __init__(self, count: int):
        self.values, self._columns = np.zeros(count, np.uint64), 0

    def add(self, column: np.ndarray, first: np.ndarray | None = None, count: np.ndarray | None = None) -> None:
        """Add a column (..., m); the rows of each thing begin at `first` (n,) and are `count` (n,) in number, one row each by default."""
        flat = column.reshape(int(np.prod(column.shape[:-1])), column.shape[-1])
        many = np.ones(len(self.values), int) if count is None else count
        start = np.arange(len(self.values)) if first is None else first
        owner = np.repeat(np.arange(len(many)), many)
        place = np.arange(owner.size) - np.repeat(np.cumsum(many) - many, many)
        rows = np.repeat(start, many) + place
        for component in flat:
            self._columns += 1
            values = component[rows]
            if values.dtype.kind == "f":
                values = np.where(values == 0.0, 0.0, values).view(np.uint64)  # minus zero is zero
            words = mixed(values.astype(np.uint64) ^ mixed((place.astype(np.uint64) << np.uint64(16)) + np.uint64(self._columns)))
            np.add.at(self.values, owner, words)
        self.values = mixed(self.values)
