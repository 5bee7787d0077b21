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
        self._begin()

    def _begin(self) -> None:
        self._new: list[np.ndarray] = []
        self._new_digests: list[np.ndarray] = []
        self._first = {"conf_first": 0, "velo_first": 0}
        self._energies: list[np.ndarray] = []

    def add(self, bodies, definitions) -> None:
        """Add the bodies of a piece; new definitions are appended to the column `definitions`."""
        self._energies.append(bodies.view("energy").copy(order="F"))
        records = bodies.pack(slice(0, bodies.n), layout.DEFINITION_COLUMNS)
        found, listed = digests(records), np.zeros(bodies.n, layout.LISTED)
        listed["id"] = records["id"]
        for name, pointer, table in (("conf_first", "conf_ptr", bodies.configurations), ("velo_first", "velo_ptr", bodies.triples)):
            listed[name] = bodies.view(pointer) + self._first[name]
            self._first[name] += table.n
        new = np.ones(bodies.n, bool)
        if len(self.listed):
            place = np.minimum(np.searchsorted(self.listed["id"], listed["id"]), len(self.listed) - 1)
            new = (self.listed["id"][place] != listed["id"]) | (self._digests[place] != found)
            listed["definition"][~new] = self.listed["definition"][place[~new]]
        listed["definition"][new] = definitions.append(records[new]) + np.arange(np.count_nonzero(new))
        self._new.append(listed)
        self._new_digests.append(found)

    def end(self) -> tuple[bool, np.ndarray]:
        """End the frame; return whether its list is another one than the last, and the sums of energies (6,) of all bodies."""
        listed = np.concatenate([np.empty(0, layout.LISTED), *self._new])
        energy = np.concatenate([np.zeros((len(Energy), 0)), *self._energies], axis=1)
        energy = np.asfortranarray(energy).sum(axis=1)  # in the order in which a model adds them
        changed = not np.array_equal(listed, self.listed)
        self.listed, self._digests = listed, np.concatenate([np.empty(0, np.uint64), *self._new_digests])
        self._begin()
        return changed, energy
