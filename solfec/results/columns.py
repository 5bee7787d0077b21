"""Datasets that grow at their end, and what frames append to them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property

import h5py
import numpy as np

ENTRY = struct.Struct("<HQQ")  # of a record: bytes of the name, first row, bytes of the rows; name and rows follow


class Column:
    """A dataset that grows at its end.

    Writes bypass h5py's slow general indexing, and whole chunks bypass HDF5's chunk cache.

    Attributes
    ----------
    length : int
        Number of rows, with those that are not in the file yet.
    """

    def __init__(self, name: str, dataset: h5py.h5d.DatasetID, dtype: np.dtype, chunk: int, fresh: list[tuple[str, int, np.ndarray]]):
        self._name, self._fresh = name, fresh
        self._id = dataset
        self._dtype = self._equal = dtype  # and the type of rows that was found equal to it last
        self._chunk = chunk  # rows of a chunk that is stored as it stands in memory, 0 if it is compressed
        self.length, *self._rest = dataset.shape
        self._written = self.length

    @cached_property
    def _type(self) -> h5py.h5t.TypeID:
        """The type as HDF5 has it."""
        return h5py.h5t.py_create(self._dtype)

    def append(self, rows: np.ndarray) -> int:
        """Append rows, which must not change before the frame is complete; return the number of the first one."""
        first, count = self.length, len(rows)
        if count:
            dtype = rows.dtype
            same = dtype is self._equal  # to compare types of records takes longer than to copy a few of them
            self._fresh.append((self._name, first, np.ascontiguousarray(rows, None if same else self._dtype)))
            self.length += count
            if not same and dtype == self._dtype:
                self._equal = dtype
        return first

    def rows(self, data) -> np.ndarray:
        """Return rows from their bytes."""
        return np.frombuffer(data, self._dtype).reshape(-1, *self._rest)

    def write(self, first: int, rows: np.ndarray) -> None:
        """Write rows into the file, behind those that it has."""
        if first != self._written:
            raise ValueError(f"/{self._name} has {self._written} rows, the next one cannot be {first}")
        count = len(rows)
        self._written += count
        self.length = max(self.length, self._written)
        self._id.set_extent((self._written, *self._rest))
        begin = min(count, -first % self._chunk) if self._chunk else count
        end = begin
        self._write(first, rows[:begin])
        while self._chunk and end + self._chunk <= count:
            self._id.write_direct_chunk((first + end, *(0 for _ in self._rest)), rows[end : end + self._chunk])
            end += self._chunk
        self._write(first + end, rows[end:])

    def _write(self, first: int, rows: np.ndarray) -> None:
        if len(rows):
            space = self._id.get_space()
            space.select_hyperslab((first, *(0 for _ in self._rest)), rows.shape)
            self._id.write(h5py.h5s.create_simple(rows.shape), space, rows, self._type)


class Columns(dict):
    """Columns of a file by dataset name, made at their first use, since a frame of a small model needs few of them.

    Attributes
    ----------
    fresh : list of (name, first row, rows)
        What has been appended and is neither in the file nor in a record.
    """

    def __init__(self, file: h5py.File):
        super().__init__()
        self._file = file
        self.fresh: list[tuple[str, int, np.ndarray]] = []

    def __missing__(self, name: str) -> Column:
        place = ""
        for part in name.split("/"):  # rows must not be written into other files through a link
            place += "/" + part
            if not isinstance(self._file.get(place, getlink=True), h5py.HardLink):
                raise ValueError(f"{place} is missing, or a link to another place")
        dataset = self._file[name]
        if not isinstance(dataset, h5py.Dataset) or not dataset.chunks:  # which parts in other files do not have
            raise ValueError(f"/{name} is no dataset that grows")
        column = self[name] = Column(name, dataset.id, dataset.dtype, 0 if dataset.compression else dataset.chunks[0], self.fresh)
        return column

    def make(self, name: str, dtype: np.dtype, chunk: int, compressed: bool = False) -> h5py.h5d.DatasetID:
        """Make an empty dataset of records or numbers, by HDF5's own calls: h5py's take twice as long, and a new file has forty datasets."""
        properties, links = h5py.h5p.create(h5py.h5p.DATASET_CREATE), h5py.h5p.create(h5py.h5p.LINK_CREATE)
        properties.set_chunk((chunk, *dtype.shape))
        if compressed:
            properties.set_shuffle()
            properties.set_deflate(1)
        properties.set_obj_track_times(False)
        links.set_create_intermediate_group(True)
        room = h5py.h5s.create_simple((0, *dtype.shape), (h5py.h5s.UNLIMITED, *dtype.shape))
        dataset = h5py.h5d.create(self._file.id, name.encode(), h5py.h5t.py_create(dtype.base, logical=True), room, properties, links)
        self[name] = Column(name, dataset, dtype.base, 0 if compressed else chunk, self.fresh)
        return dataset

    @property
    def size(self) -> int:
        """Bytes of the fresh rows."""
        return sum(rows.nbytes for _, _, rows in self.fresh)

    def take_record(self) -> bytes:
        """Return the fresh rows as a record, which holds them from now on."""
        parts = []
        for name, first, rows in self.fresh:
            parts += [ENTRY.pack(len(name), first, rows.nbytes), name.encode(), rows.tobytes()]
        self.fresh.clear()
        return b"".join(parts)

    def write(self, records: list[bytes]) -> None:
        """Write the rows of records, then the fresh ones, into the file: those of each dataset at once."""
        pieces: dict[str, list[tuple[int, memoryview]]] = {}
        for name, first, rows in (entry for record in records for entry in entries(record)):
            pieces.setdefault(name, []).append((first, rows))
        for name, first, rows in self.fresh:
            pieces.setdefault(name, []).append((first, rows.data))
        self.fresh.clear()
        for name, appended in pieces.items():
            rows = appended[0][1] if len(appended) == 1 else b"".join([rows for _, rows in appended])
            self[name].write(appended[0][0], self[name].rows(rows))


def entries(record: bytes) -> Iterator[tuple[str, int, memoryview]]:
    """Iterate over the datasets of a record: name, number of the first row, bytes of the rows."""
    view, place = memoryview(record), 0
    while place < len(view):
        name, first, size = ENTRY.unpack_from(view, place) if place + ENTRY.size <= len(view) else (0, 0, len(view))
        rows = place + ENTRY.size + name
        if rows + size > len(view):
            raise ValueError("a record of the journal is shorter than what it holds")
        yield str(view[place + ENTRY.size : rows], "utf-8"), first, view[rows : rows + size]
        place = rows + size
