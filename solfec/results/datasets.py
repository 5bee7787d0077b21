"""Datasets of an open file that stay open.

h5py takes longer to open a dataset, and to make the types of its records, than HDF5 to read the rows of a frame: a frame of 1000
bodies is read in a fifth of the time when that is done once a file.
"""

from __future__ import annotations

import h5py
import numpy as np


class Datasets:
    """Rows of the datasets of a file.

    Parameters
    ----------
    file : h5py.File
        Open for reading; when another process has changed it, it must be opened again, with datasets of its own.
    """

    def __init__(self, file: h5py.File):
        self._file = file
        self._known: dict[str, tuple] = {}
        self._whole: dict[str, np.ndarray] = {}

    def rows(self, name: str, first: int, count: int) -> np.ndarray:
        """Return rows of a dataset, as the slice ``[first:first + count]`` gives them: fewer where the dataset ends."""
        if name not in self._known:
            dataset = self._file[name]
            dtype = dataset.dtype
            self._known[name] = dataset, dataset.shape, dtype, h5py.h5t.py_create(dtype)
        dataset, shape, dtype, stored = self._known[name]
        first, end, _ = slice(int(first), int(first) + int(count)).indices(shape[0])
        if dtype.hasobject:
            return dataset[first:end]
        result = np.empty((max(end - first, 0), *shape[1:]), dtype)
        if result.size:
            there, here = dataset.id.get_space(), h5py.h5s.create_simple(result.shape)
            there.select_hyperslab((first, *(0 for _ in shape[1:])), result.shape)
            dataset.id.read(here, there, result, stored)
        return result

    def whole(self, name: str) -> np.ndarray:
        """Return a whole dataset, which is read once; the array cannot be changed."""
        if name not in self._whole:
            value = self._file[name][...]
            value.setflags(write=False)
            self._whole[name] = value
        return self._whole[name]
