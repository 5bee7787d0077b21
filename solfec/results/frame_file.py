"""An HDF5 file to which frames are appended, each of them all or nothing.

To append a few rows to each of fifteen datasets takes HDF5 ten times as long as a time step of a small model.  So a small frame
becomes a record of the journal, one write, and HDF5 gets many frames at once.  Whoever opens the file adds the records
that it finds: a writer to the file, a reader to its picture of the file in memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import h5py

from ..errors import SolfecError
from .columns import Columns
from .journal import JournalledFile, Overlay, Snapshot

LARGEST_RECORD = 1 << 19  # bytes; larger frames are written once, into the datasets
MOST_WAITING = 1 << 21  # bytes of frames in records
LONGEST_WAIT = 1.0  # seconds that frames wait while others come


class FrameFile:
    """Writer of a file that grows by frames.

    Append rows to `columns`, then call `commit`, which completes the frame.

    Parameters
    ----------
    path : str
    fresh : bool
        Begin with an empty file, whatever a killed writer left.  It is removed if it is abandoned before `rename`.

    Attributes
    ----------
    columns : Columns
        Datasets by name.

    Raises
    ------
    Busy
        When another process is writing the file.
    OSError
        When files cannot be opened or written, or hold no HDF5.
    """

    def __init__(self, path: str, fresh: bool = False):
        self._file = JournalledFile(path, fresh)
        self._draft = fresh
        self._stored = monotonic()
        self._waiting = 0  # bytes of records
        try:
            self._open("w" if fresh else "r+")
            if self._file.records:
                self.flush()
        except BaseException:
            self.abandon()
            raise

    def _open(self, mode: str) -> None:
        self._hdf5: h5py.File | None = None
        self._hdf5 = h5py.File(self._file, mode, libver="earliest")
        self.columns = Columns(self._hdf5)
        self._changed = False  # otherwise than by appended rows

    @property
    def hdf5(self) -> h5py.File:
        """The file without frames that wait, to change it otherwise than by appended rows; `commit` then leaves no frame waiting."""
        self._changed = True
        return self._hdf5

    @property
    def error(self) -> OSError | None:
        """The first error of a write."""
        return self._file.error

    @property
    def resting(self) -> bool:
        """Whether `rest` has made the file like a closed one."""
        return self._file.resting

    def commit(self) -> None:
        """Complete a frame: once this returns, the frame survives the end of the process.

        Raises
        ------
        OSError, RuntimeError
            The frame cannot be written; `abandon` the file, which then has those before it.
        """
        size = self.columns.size
        if self._changed or size > LARGEST_RECORD or self._waiting + size > MOST_WAITING or monotonic() - self._stored > LONGEST_WAIT:
            self.flush()
        elif size:
            record = self.columns.take_record()
            self._file.append(record)
            self._waiting += len(record)

    def begin_spilling(self) -> None:
        """Prepare for a frame of which parts are written before it is complete (`spill`); nothing has been appended yet."""
        if self._file.records:
            self.flush()
        self._changed = True

    def spill(self) -> None:
        """Write the rows of an incomplete frame, which may change then; they do not count before `commit`."""
        self.columns.write([])

    def flush(self) -> None:
        """Put all frames into the datasets."""
        if self.columns.fresh or self._file.records or self._changed:
            self.columns.write(self._file.records)
            self._hdf5.flush()
            self._file.commit()
        self._changed, self._waiting, self._stored = False, 0, monotonic()

    def rest(self) -> None:
        """Bring the file into the state of a closed one, and keep it open."""
        self.flush()
        self._file.rest()

    def wake(self) -> bool:
        """Prepare a resting file for the next frame; False when another process has changed it since."""
        self._changed = True  # the first frame does not wait: programs that call RUN for every step have only one
        return self._file.wake()

    def rename(self, path: str) -> None:
        """Put the file in the place of another one."""
        self._file.rename(path)
        self._draft = False

    def close(self) -> None:
        """Complete and close the file.

        Raises
        ------
        OSError, RuntimeError
            Frames that wait cannot be put into the datasets; they stay in the journal, where whoever opens the file finds them.
        """
        if self._hdf5 is None:
            return
        if self.resting or self._file.foreign:
            self.abandon()
            return
        try:
            self.flush()
            self._hdf5.close()
            self._hdf5 = None
            self._file.commit()
        except BaseException:
            self.abandon()
            raise
        self._file.close()

    def abandon(self) -> None:
        """Close the file with its last complete frame."""
        self._leave()
        with suppress(Exception):  # whatever is wrong with them, frames that wait stay in the journal
            if not self.resting and self._file.restart():
                self._open("r+")
                self.flush()
        self._leave()
        if self._draft and not self._file.foreign:
            with suppress(FileNotFoundError):
                os.unlink(self._file.path)
        self._file.close()

    def _leave(self) -> None:
        """Close HDF5's part without an effect on the file."""
        self._file.error = self._file.error or OSError("abandoned")  # what HDF5 writes from now on stays in memory
        if self._hdf5 is not None:
            with suppress(OSError, RuntimeError):
                self._hdf5.close()
            self._hdf5 = None


def finish_interrupted(path: str) -> None:
    """Put frames that a killed writer left in the journal into the file, so that the journal can be removed.

    Raises
    ------
    Busy
        When another process is writing the file.
    OSError
        When the file or its journal cannot be opened.
    """
    file = JournalledFile(path)
    waits = bool(file.records)
    file.close()
    if waits:
        with suppress(Exception):  # of a full disk, or of a damaged file: the frames stay in the journal
            FrameFile(path).close()


def opened(target: str | Overlay) -> h5py.File:
    """Open for reading what `Snapshot.target` returns, with the frames that wait in the journal."""
    if isinstance(target, str):
        try:
            return h5py.File(target, "r", locking=False)
        except OSError as error:
            if "locking flag" not in str(error):
                raise
            # HDF5 opens a file twice in one process only with the same locking
            raise SolfecError(
                f"{target}: this process has the file open with locking by HDF5; close it there, or open it with h5py.File(..., 'r', locking=False)"
            ) from error
    file = h5py.File(target, "r+" if target.records else "r")
    try:
        Columns(file).write(target.records)
    except BaseException:
        file.close()
        raise
    return file


@contextmanager
def reading(path: str) -> Iterator[h5py.File]:
    """Open a file for reading, which its writer does not change meanwhile."""
    snapshot = Snapshot(path)
    with snapshot.held() as journal, opened(snapshot.target(journal)) as file:
        yield file
