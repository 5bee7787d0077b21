"""Frames of models that no process has as a whole: they come in pieces, each of which is written before the next one comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ..kinds import Energy
from ..parallel.numbering import mixed
from . import layout


class Pieces(Protocol):
    """Bodies and contacts of a frame.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of bodies, of constraints, and of the user's constraints.
    """

    sizes: tuple[int, int, int]

    def bodies(self) -> Iterator:
        """Yield domains without constraints, whose bodies are those of the frame, by ascending identifiers; each may use the memory of the one before."""

    def contacts(self) -> Iterator[np.ndarray]:
        """Yield records (`layout.CONSTRAINT`) of the contacts, by ascending identifiers."""


def digests(records: np.ndarray) -> np.ndarray:
    """Return a number (n,) for each record that depends on all its bytes."""
    count, size = len(records), records.dtype.itemsize
    words = np.zeros((count, -(-size // 8) * 8), np.uint8)
    words[:, :size] = np.ascontiguousarray(records).view(np.uint8).reshape(count, size)
    result = np.zeros(count, np.uint64)
    for column in words.view(np.uint64).T:
        result = mixed(result ^ column)
    return result


class Listing:
    """The list of the bodies of frames, as `frames/body_lists` has it, and what defines them.

    Parameters
    ----------
    listed : ndarray of layout.LISTED
        Of the last frame.
    defined : ndarray of layout.DEFINITION
        Definitions of its bodies.
    """

    def __init__(self, listed: np.ndarray, defined: np.ndarray):
        self.listed, self._digests = listed, digests(defined)

    def begin(self, count: int) -> None:
        """Begin a frame of so many bodies."""
        self._new, self._new_digests, self._count = np.zeros(count, layout.LISTED), np.zeros(count, np.uint64), 0
        self._first = {"conf_first": 0, "velo_first": 0}
        self._energy: np.ndarray | None = None

    def add(self, bodies, definitions) -> None:
        """Add the bodies of a piece; new definitions are appended to the column `definitions`."""
        energy = bodies.view("energy")
        if self._energy is not None:  # one body after the other, as a whole model adds them
            energy = np.asfortranarray(np.concatenate([self._energy[:, None], energy], axis=1))
        self._energy = energy.sum(axis=1)
        records = bodies.pack(slice(0, bodies.n), layout.DEFINITION_COLUMNS)
        place = slice(self._count, self._count + bodies.n)
        self._count = place.stop
        found, listed = digests(records), self._new[place]
        listed["id"] = records["id"]
        for name, pointer, table in (("conf_first", "conf_ptr", bodies.configurations), ("velo_first", "velo_ptr", bodies.triples)):
            listed[name] = bodies.view(pointer) + self._first[name]
            self._first[name] += table.n
        new = np.ones(bodies.n, bool)
        if len(self.listed):
            known = np.minimum(np.searchsorted(self.listed["id"], listed["id"]), len(self.listed) - 1)
            new = (self.listed["id"][known] != listed["id"]) | (self._digests[known] != found)
            listed["definition"][~new] = self.listed["definition"][known[~new]]
        listed["definition"][new] = definitions.append(records[new]) + np.arange(np.count_nonzero(new))
        self._new_digests[place] = found

    def end(self) -> tuple[bool, np.ndarray]:
        """End the frame; return whether its list is another one than the last, and the sums of energies (6,) of all bodies."""
        changed = not np.array_equal(self._new, self.listed)
        self.listed, self._digests = self._new, self._new_digests
        return changed, np.zeros(len(Energy)) if self._energy is None else self._energy
