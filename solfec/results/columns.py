"""Datasets that grow at their end."""

from __future__ import annotations

import h5py
import numpy as np


class Column:
    """A dataset that grows at its end; writes bypass h5py's slow general indexing, and whole chunks bypass HDF5's chunk cache."""

    def __init__(self, dataset: h5py.Dataset):
        self._id = dataset.id
        self._dtype = dataset.dtype
        self._type = h5py.h5t.py_create(dataset.dtype)
        self._rest = dataset.shape[1:]
        self._chunk = 0 if dataset.compression else dataset.chunks[0]  # rows of a chunk that is stored as it stands in memory
        self.length = dataset.shape[0]

    def append(self, rows: np.ndarray) -> int:
        """Append rows; return the number of the first one."""
        first, count = self.length, len(rows)
        if count:
            rows = np.ascontiguousarray(rows, self._dtype)
            self.length += count
            self._id.set_extent((self.length, *self._rest))
            begin = min(count, -first % self._chunk) if self._chunk else count
            end = begin
            self._write(first, rows[:begin])
            while self._chunk and end + self._chunk <= count:
                self._id.write_direct_chunk((first + end, *(0 for _ in self._rest)), rows[end : end + self._chunk])
                end += self._chunk
            self._write(first + end, rows[end:])
        return first

    def _write(self, first: int, rows: np.ndarray) -> None:
        if len(rows):
            space = self._id.get_space()
            space.select_hyperslab((first, *(0 for _ in self._rest)), rows.shape)
            self._id.write(h5py.h5s.create_simple(rows.shape), space, rows, self._type)


class Columns(dict):
    """Columns of a file by dataset name, made at their first use, since a frame of a small model needs few of them."""

    def __init__(self, file: h5py.File):
        super().__init__()
        self._file = file

    def __missing__(self, name: str) -> Column:
        column = self[name] = Column(self._file[name])
        return column
