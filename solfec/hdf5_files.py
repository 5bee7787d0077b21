"""New HDF5 files on disks that may be full: HDF5 itself cannot close a file that it could not write, and may end the program."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import h5py


class PositionedFile:
    """What file objects for h5py have in common: a position, and a size."""

    _position, _size = 0, 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position; `whence` is SEEK_SET or SEEK_END."""
        self._position = offset if whence == os.SEEK_SET else self._size + offset
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position


class NewFile(PositionedFile):
    """File object for h5py, which keeps the first error of a write, and what comes after it in memory.

    Attributes
    ----------
    error : OSError or None
    """

    def __init__(self, path: str):
        self._opened = open(path, "w+b", buffering=0)  # noqa: SIM115
        self._file = self._opened.fileno()
        self._position, self._size, self.error = 0, 0, None
        self._kept: list[tuple[int, bytes]] = []

    def read(self, size: int) -> bytes:
        """Read `size` bytes; beyond the end they are zero."""
        start, self._position = self._position, self._position + size
        data = bytearray(os.pread(self._file, size, start))
        data += bytes(size - len(data))
        for place, kept in self._kept:
            low, high = max(start, place), min(start + size, place + len(kept))
            if low < high:
                data[low - start : high - start] = kept[low - place : high - place]
        return bytes(data)

    def write(self, data) -> int:
        """Write into the file, or into memory once it could not be written."""
        start, view = self._position, memoryview(data).cast("B")
        self._position = start + len(view)
        self._size = max(self._size, self._position)
        done = 0
        try:
            while self.error is None and done < len(view):
                done += os.pwrite(self._file, view[done:], start + done)
        except OSError as error:
            self.error = error
        if done < len(view):
            self._kept.append((start + done, bytes(view[done:])))
        return len(view)

    def truncate(self, size: int) -> int:
        """Set the size."""
        self._size = size
        return size

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def check(self) -> None:
        """Raise the first error of a write."""
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """End the file, or raise the first error of a write."""
        with self._opened:
            self.check()
            os.ftruncate(self._file, self._size)


@contextmanager
def new_file(path: str, **options) -> Iterator[tuple[h5py.File, Callable[[], None]]]:
    """Make an HDF5 file, in place of an older one; yield it with a function that raises an OSError as soon as the disk is full.

    Raises
    ------
    OSError
        At the end at the latest.
    """
    target = NewFile(path)
    try:
        with h5py.File(target, "w", **options) as file:
            yield file, target.check
    finally:
        target.close()
