"""Datasets that grow at their end."""

from __future__ import annotations

import h5py
import numpy as np


class Column:
    """A dataset that grows at its end; writes go past h5py's slow general indexing."""

    def __init__(self, dataset: h5py.Dataset):
        self._id = dataset.id
        self._dtype = dataset.dtype
        self._type = h5py.h5t.py_create(dataset.dtype)
        self._rest = dataset.shape[1:]
        self.length = dataset.shape[0]

    def append(self, rows: np.ndarray) -> int:
        """Append rows; return the number of the first one."""
        first, count = self.length, len(rows)
        if count:
            rows = np.ascontiguousarray(rows, self._dtype)
            self.length += count
            self._id.set_extent((self.length, *self._rest))
            space = self._id.get_space()
            space.select_hyperslab((first, *(0 for _ in self._rest)), (count, *self._rest))
            memory = h5py.h5s.create_simple((count, *self._rest))
            self._id.write(memory, space, rows, self._type)
        return first
