"""A file whose changes take effect all at once, so that a killed writer never leaves a damaged file.

HDF5 changes several places of a file for one appended frame; a process killed between two of these writes leaves
a file that may not open again.  Here HDF5 writes through `JournalledFile`, which sorts its writes into two sorts:

* beyond the end of the committed file: written at once, since nothing refers to that space yet;
* inside the committed file: kept in memory, page by page, until `commit`.

`commit` writes those pages to the journal `<file>.journal`, marks the journal valid, copies the pages into the
file and marks the journal applied.  Whatever the moment of a SIGKILL, either the journal is not valid and the file
is as the last commit left it, or the journal is valid and whoever opens the file next finds the missing pages in it.

The journal is also where processes meet: byte 0 is locked by the one writer, byte 1 by the writer while it copies
pages and by readers while they read.  Nothing is synchronised with the disk: the promise is about killed processes
and full disks, not about power cuts.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import zlib
from contextlib import contextmanager, suppress

from .locks import EXCLUSIVE, SHARED, lock, unlock

PAGE = 4096
HEADER = struct.Struct("<8sQQQQI")  # magic, sequence, applied sequence, file size, pages, checksum of all but the applied sequence
APPLIED_OFFSET = 16  # where the second number of the header is
MAGIC = b"SOLFJRN2"
WRITER, APPLY = 0, 1  # bytes of the journal that are locked
PATIENCE = 1.0  # seconds a commit waits for readers before it goes ahead without them


class Busy(OSError):
    """Another process is writing the file."""


def journal_path(path: str) -> str:
    """Name of the journal of a file."""
    return f"{path}.journal"


class Journal:
    """The header of a journal and the pages it holds (page number -> bytes)."""

    def __init__(self, sequence: int = 0, applied: int = 0, size: int = 0, pages: dict[int, bytes] | None = None):
        self.sequence = sequence
        self.applied = applied
        self.size = size
        self.pages = pages or {}

    @property
    def outstanding(self) -> bool:
        """Whether the pages still have to be copied into the file."""
        return self.sequence > self.applied

    @classmethod
    def read(cls, descriptor: int) -> Journal:
        """Read a journal; one that is cut short or half written counts as empty."""
        header = os.pread(descriptor, HEADER.size, 0)
        if len(header) < HEADER.size:
            return cls()
        magic, sequence, applied, size, count, checksum = HEADER.unpack(header)
        if magic != MAGIC or applied == sequence:
            return cls(sequence, sequence, size)
        length = count * (8 + PAGE)
        if length > os.fstat(descriptor).st_size - HEADER.size:
            return cls(sequence, sequence, size)
        body = os.pread(descriptor, length, HEADER.size)
        if len(body) < length or cls._checksum(sequence, size, count, body) != checksum:
            return cls(sequence, sequence, size)
        numbers = struct.unpack_from(f"<{count}Q", body)
        start = 8 * count
        return cls(
            sequence, applied, size,
            {number: body[start + k * PAGE : start + (k + 1) * PAGE] for k, number in enumerate(numbers)},
        )  # fmt: skip

    @staticmethod
    def _checksum(sequence: int, size: int, count: int, body: bytes) -> int:
        return zlib.crc32(body, zlib.crc32(struct.pack("<QQQ", sequence, size, count)))

    def write(self, descriptor: int) -> None:
        """Write the pages, then the header that makes them valid."""
        numbers = sorted(self.pages)
        body = b"".join([struct.pack(f"<{len(numbers)}Q", *numbers), *(self.pages[number] for number in numbers)])
        write_all(descriptor, body, HEADER.size)
        checksum = self._checksum(self.sequence, self.size, len(numbers), body)
        header = HEADER.pack(MAGIC, self.sequence, self.applied, self.size, len(numbers), checksum)
        write_all(descriptor, header, 0)

    def apply(self, descriptor: int, target: int) -> None:
        """Copy the pages into the file `target` and mark the journal applied."""
        numbers = sorted(self.pages)
        first = 0
        while first < len(numbers):  # neighbouring pages go in one write
            last = first + 1
            while last < len(numbers) and numbers[last] == numbers[last - 1] + 1:
                last += 1
            data = b"".join([self.pages[number] for number in numbers[first:last]])
            write_all(target, data, numbers[first] * PAGE)
            first = last
        os.ftruncate(target, self.size)
        self.applied = self.sequence
        write_all(descriptor, struct.pack("<Q", self.applied), APPLIED_OFFSET)


def write_all(descriptor: int, data, offset: int) -> None:
    """Write all of `data` at `offset`, or raise OSError."""
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]
        offset += written


class PagedFile:
    """The part of a file object that h5py reads: `_size` bytes of `_file`, with pages in memory in place of those in the file."""

    _file: int
    _pages: dict[int, bytes]
    _size: int
    _position = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position; `whence` is SEEK_SET or SEEK_END."""
        self._position = offset if whence == os.SEEK_SET else self._size + offset
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position

    def read(self, size: int) -> bytes:
        """Read `size` bytes: those of the file under the pages."""
        start = self._position
        self._position += size
        return overlaid(self._file, self._pages, start, size)


class JournalledFile(PagedFile):
    """File object for h5py (`h5py.File(JournalledFile(path), ...)`) with the promise of this module.

    Parameters
    ----------
    path : str
        The file; it is created when absent.  A journal left by a killed writer is applied first.
    fresh : bool
        Begin with an empty file, whatever a killed writer left.

    Raises
    ------
    Busy
        When another process is writing the file.
    OSError
        When files cannot be opened or written.
    """

    def __init__(self, path: str, fresh: bool = False):
        self.path = path
        self._take_journal()
        try:
            if fresh:  # only under the lock; what exists may be a link to another file
                with suppress(FileNotFoundError):
                    os.unlink(path)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | (os.O_EXCL if fresh else 0), 0o666)
        except OSError:
            if os.fstat(self._journal).st_size == 0:  # else a killed writer left it
                with suppress(OSError):
                    self._remove_journal()
            os.close(self._journal)
            raise
        if fresh:
            os.ftruncate(self._journal, 0)
        journal = Journal.read(self._journal)
        if journal.outstanding:
            journal.apply(self._journal, self._file)
        self._sequence = journal.sequence
        self._committed = self._size = os.fstat(self._file).st_size
        self._extent = self._size  # end of what this process has written: a shorter file has been truncated
        self._pages = {}
        self._process, self._watched = os.getpid(), False
        self.error: OSError | None = None  # the first error of a write

    @property
    def foreign(self) -> bool:
        """Whether this process is a fork of the one that opened the file; then file and journal belong to the parent."""
        return os.getpid() != self._process

    def _take_journal(self) -> None:
        """Open the journal and lock it against other writers."""
        self._journal = self._open_journal()
        try:
            if not lock(self._journal, WRITER, EXCLUSIVE, wait=0.0):
                raise Busy(errno.EBUSY, "another run is writing these results", self.path)
            if os.fstat(self._journal).st_nlink == 0:  # its last writer removed it meanwhile
                raise Busy(errno.EBUSY, "another run has just written these results", self.path)
        except OSError:
            os.close(self._journal)
            self._journal = -1
            raise

    def _open_journal(self) -> int:
        """Open or make the journal, without following a link in its place."""
        name = journal_path(self.path)
        with suppress(FileNotFoundError):
            status = os.lstat(name)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:  # not made by this program
                os.unlink(name)
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)

    # -- methods for h5py, besides reading -------------------------------------------------------------------

    def write(self, data) -> int:
        """Write beyond the committed end at once, inside it into memory.

        An error is kept until `commit`: if it were raised here, HDF5 would go on regardless with a broken state of its own.
        After an error everything stays in memory.
        """
        start, size = self._position, len(data)
        if not self._watched:  # once for every commit
            self._watch()
        boundary = -(-self._committed // PAGE) * PAGE  # the page holding the end counts as committed
        inside = size if self.error else min(max(boundary - start, 0), size)
        if inside < size:
            try:
                write_all(self._file, memoryview(data)[inside:], start + inside)
                self._extent = max(self._extent, start + size)
            except OSError as error:
                self.error = error
                inside = size
        if inside:
            self._write_pages(start, bytes(data[:inside]))
        self._position = start + size
        self._size = max(self._size, self._position)
        return size

    def truncate(self, size: int) -> int:
        """Set the size that the next commit gives the file."""
        self._size = size
        return size

    def flush(self) -> None:
        """Do nothing: HDF5 flushes within frames, and `commit` does the work."""

    # -- methods for the writer ------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make all writes since the last commit effective, or raise the first OSError of a write."""
        if not self._pages and not self.error and self._size == self._extent == self._committed:
            return
        self._watch()
        if self.error:
            raise self.error
        self._sequence += 1
        journal = Journal(self._sequence, self._sequence - 1, self._size, self._pages)
        try:
            journal.write(self._journal)
            locked = lock(self._journal, APPLY, EXCLUSIVE, wait=PATIENCE)
            try:
                journal.apply(self._journal, self._file)
            finally:
                if locked:
                    unlock(self._journal, APPLY)
        except OSError as error:
            self.error = error
            raise
        self._committed = self._extent = self._size
        self._pages = {}
        self._watched = False

    @property
    def resting(self) -> bool:
        """Whether `rest` has removed the journal."""
        return self._journal < 0 <= self._file

    def rest(self) -> None:
        """Remove the journal, and with it the lock, after a commit; the file stays open."""
        self._remove_journal()
        os.close(self._journal)
        self._journal = -1
        self._left = self._marks()

    def wake(self) -> bool:
        """Open the journal again before the first write after `rest`; False when another process has changed the file since."""
        if self.foreign or self._marks() != self._left:
            return False
        self._take_journal()
        return os.fstat(self._journal).st_size == 0

    def _marks(self) -> tuple:
        """Numbers that change whenever the file is written or replaced."""
        try:
            status = os.stat(self.path)
        except OSError:  # for example, its directory has been renamed
            return (None,)
        return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns

    def _watch(self) -> None:
        """Record an error if another process changed the file, or if this process did not open it."""
        self._watched = not self.foreign
        if self.error:
            return
        status = os.fstat(self._file)
        if self.foreign:
            self.error = OSError(errno.EPERM, "they belong to the process that this one was forked from", self.path)
        elif status.st_nlink == 0:
            self.error = OSError(errno.ENOENT, "the results were removed or replaced meanwhile", self.path)
        elif status.st_size < self._extent:
            self.error = OSError(errno.ESTALE, f"somebody else cut them from {self._extent} bytes to {status.st_size}", self.path)
        else:
            with suppress(OSError):  # their directory may have been renamed, which does no harm
                if not os.path.samestat(os.stat(self.path), status):
                    self.error = OSError(errno.ESTALE, "somebody else put another file in their place", self.path)

    def rename(self, path: str) -> None:
        """Put the file in the place of another one."""
        os.replace(self.path, path)
        os.replace(journal_path(self.path), journal_path(path))
        self.path = path

    def close(self) -> None:
        """Close the files without a commit; remove the journal unless it holds pages to be applied."""
        if self._file < 0:
            return
        if not self.foreign and not self.resting and not Journal.read(self._journal).outstanding:
            if self._extent > self._committed:
                os.ftruncate(self._file, self._committed)
            self._remove_journal()
        if not self.resting:
            os.close(self._journal)
        os.close(self._file)
        self._file = self._journal = -1

    def _remove_journal(self) -> None:
        """Remove the journal, unless the results were removed or moved and it belongs to another writer."""
        path = journal_path(self.path)
        try:
            if os.path.samestat(os.stat(path), os.fstat(self._journal)):
                os.unlink(path)
        except FileNotFoundError:
            return

    def _write_pages(self, start: int, data: bytes) -> None:
        """Keep those pages in memory that a write changes."""
        first, last = start // PAGE, (start + len(data) - 1) // PAGE
        self.seek(first * PAGE)
        old = self.read((last - first + 1) * PAGE)
        self._position = start + len(data)
        new = bytearray(old)
        new[start - first * PAGE : start - first * PAGE + len(data)] = data
        for k in range(last - first + 1):
            page = bytes(new[k * PAGE : (k + 1) * PAGE])
            if page != old[k * PAGE : (k + 1) * PAGE]:
                self._pages[first + k] = page


class Snapshot:
    """A file opened for reading while others may write it.

    ``with snapshot.held():`` keeps the writer from changing the file (it waits `PATIENCE` seconds at most), and
    `stamp` tells whether the file has changed since it was last asked.  Pages that a killed writer left in its
    journal are laid over the file; nothing is ever written.
    """

    def __init__(self, path: str):
        self.path = path
        self._journal = -1

    def stamp(self) -> tuple:
        """Numbers that change whenever the contents do; the first is the number of the file itself."""
        status = os.stat(self.path)
        try:
            with open(journal_path(self.path), "rb", buffering=0) as file:
                applied = HEADER.unpack(file.read(HEADER.size))[2]
                return (status.st_ino, os.fstat(file.fileno()).st_ino, applied)
        except (OSError, struct.error):  # no journal, or an unreadable one: the file itself may be whole
            return (status.st_ino, status.st_size, status.st_mtime_ns)

    @contextmanager
    def held(self):
        """Keep the file unchanged; yield an object for `h5py.File`: the path, or the file with the pages of its journal."""
        journal = -1
        for access in (os.O_RDWR, os.O_RDONLY):  # a directory we may only read: no locks, the caller compares stamps
            with suppress(OSError):
                journal = os.open(journal_path(self.path), access)
                break
        if journal < 0:
            yield self.path
            return
        try:
            lock(journal, APPLY, SHARED, wait=PATIENCE)
            left = Journal()
            with suppress(OSError):  # for example, a directory in its place
                left = Journal.read(journal)
            yield Overlay(self.path, left) if left.outstanding else self.path
        finally:
            os.close(journal)


class Overlay(PagedFile):
    """Read-only file object for h5py: a file under the pages of a journal."""

    def __init__(self, path: str, journal: Journal):
        self._opened = open(path, "rb", buffering=0)  # noqa: SIM115
        self._file = self._opened.fileno()
        self._pages, self._size = journal.pages, journal.size

    def flush(self) -> None:
        """Do nothing: the file is only read."""


def overlaid(descriptor: int, pages: dict[int, bytes], start: int, size: int) -> bytes:
    """`size` bytes of a file from `start`, under `pages`, padded with zeros beyond its end."""
    data = os.pread(descriptor, size, start)
    data += bytes(size - len(data))
    first, last = start // PAGE, (start + size - 1) // PAGE
    if not pages or not any(number in pages for number in range(first, last + 1)):
        return data
    merged = bytearray(data)
    for number in range(first, last + 1):
        if number in pages:
            low, high = max(start, number * PAGE), min(start + size, (number + 1) * PAGE)
            merged[low - start : high - start] = pages[number][low - number * PAGE : high - number * PAGE]
    return bytes(merged)
