"""Bases of reduced finite element bodies between a domain and a results file; bodies that share a base share its numbers."""

from __future__ import annotations

import numpy as np

from ..bodies.reduced_base import ReducedBase
from ..errors import SolfecError
from .layout import BASE
from .validation import Checks


class BaseRows:
    """Position in the file of every base that a writer has stored."""

    def __init__(self):
        self._stored: dict[int, tuple[ReducedBase, int]] = {}  # by identity: the base, kept alive, and its first number

    def pack(self, bodies, first: int, length: int) -> dict[str, np.ndarray]:
        """Make rows for `/model/bases` and `/model/base_numbers` from bodies at row `first` and after; the latter dataset holds `length` numbers."""
        rows = first + np.flatnonzero(bodies.mode_count[first : bodies.n])
        index = np.zeros(len(rows), BASE)
        numbers: list[np.ndarray] = []
        for entry, row in zip(index, rows):
            identifier = int(bodies.id[row])
            base = bodies.bases[identifier]
            if id(base) not in self._stored:
                self._stored[id(base)] = base, length
                numbers += [base.values, base.vectors.ravel()]
                length += base.values.size + base.vectors.size
            entry["body"], entry["modes"], entry["unknowns"] = identifier, base.mode_count, base.vectors.shape[1]
            entry["first"] = self._stored[id(base)][1]
        return {"bases": index} | ({"base_numbers": np.concatenate(numbers)} if numbers else {})


class StoredBases:
    """Bases of the bodies in a file; each is read at its first use and shared by all bodies that have it."""

    def __init__(self, reader):
        self._reader = reader
        self._index: np.ndarray | None = None
        self._known: dict[int, ReducedBase] = {}

    def of(self, body: int) -> ReducedBase:
        """Base of a body; SolfecError when the file has none."""
        if self._index is None:
            self._index = self._reader.table("model/bases")
        which = np.flatnonzero(self._index["body"] == body)
        if not which.size:
            raise SolfecError(f"{self._reader.file}: the base of body {body} is missing")
        entry = self._index[which[-1]]
        first, k, unknowns = int(entry["first"]), int(entry["modes"]), int(entry["unknowns"])
        if first not in self._known:
            checks = Checks(self._reader.file)
            checks.within("model/bases: modes", np.array([k]), 1, 2**20)
            checks.within("model/bases: unknowns", np.array([unknowns]), 1, 2**31)
            numbers = self._reader.read(lambda file: file["model/base_numbers"][first : first + k * (1 + unknowns)])
            checks.count("model/base_numbers", len(numbers), k * (1 + unknowns))
            checks.finite("model/base_numbers", numbers)
            self._known[first] = ReducedBase(numbers[:k].copy(), numbers[k:].reshape(k, unknowns))
        return self._known[first]
