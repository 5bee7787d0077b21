"""A file whose changes take effect all at once, so that a killed writer never leaves a damaged file.

HDF5 changes several places of a file for one appended frame; a process killed between two of these writes leaves
a file that may not open again.  Here HDF5 writes through `JournalledFile`, which sorts its writes into two sorts:

* beyond the end of the committed file: written at once, since nothing refers to that space yet;
* inside the committed file: kept in memory, page by page, until `commit`.

`commit` writes those pages to the journal `<file>.journal`, marks the journal valid, copies the pages into the
file and marks the journal applied.  Whatever the moment of a SIGKILL, either the journal is not valid and the file
is as the last commit left it, or the journal is valid and whoever opens the file next finds the missing pages in it.

Besides, a journal holds records: bytes that the writer adds with one write each, and that wait there until a commit has
put their contents into the file.  `frame_file` keeps small frames in them.  The number that marks a journal applied also
ends its records, so a frame is never in both places.  Each record has a checksum, which begins with that of both ends of
the file: a record that is cut short, or stands beside another file, does not count.

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

from ..hdf5_files import PositionedFile
from .locks import EXCLUSIVE, SHARED, lock, unlock

PAGE = 4096
HEADER = struct.Struct("<8sQQQQQI")  # magic, sequence, applied sequence, file size, place and number of pages, checksum of all but the applied sequence
APPLIED_OFFSET = 16  # where the second number of the header is
MAGIC = b"SOLFJRN3"
RECORD = struct.Struct("<QQQI")  # applied sequence, size of the committed file, length, checksum; the bytes follow
MARKED = 1 << 17  # bytes at either end of a file that tell it from others
WRITER, APPLY = 0, 1  # bytes of the journal that are locked
PATIENCE = 1.0  # seconds a commit waits for readers before it goes ahead without them


class Busy(OSError):
    """Another process is writing the file."""


def journal_path(path: str) -> str:
    """Name of the journal of a file."""
    return f"{path}.journal"


class Journal:
    """The header of a journal and the pages it holds (page number -> bytes), which begin at byte `start`."""

    def __init__(self, sequence: int = 0, applied: int = 0, size: int = 0, pages: dict[int, bytes] | None = None, start: int = HEADER.size):
        self.sequence = sequence
        self.applied = applied
        self.size = size
        self.pages = pages or {}
        self.start = start

    @property
    def outstanding(self) -> bool:
        """Whether the pages still have to be copied into the file."""
        return self.sequence > self.applied

    @classmethod
    def read(cls, descriptor: int) -> Journal:
        """Read a journal; one that is cut short or half written counts as applied."""
        header = os.pread(descriptor, HEADER.size, 0)
        if len(header) < HEADER.size:
            return cls()
        magic, sequence, applied, size, start, count, checksum = HEADER.unpack(header)
        if magic != MAGIC:
            return cls()
        length = count * (8 + PAGE)
        if sequence <= applied or start + length > os.fstat(descriptor).st_size:
            return cls(applied, applied, size)
        body = os.pread(descriptor, length, start)
        if len(body) < length or cls._checksum(sequence, size, start, count, body) != checksum:
            return cls(applied, applied, size)
        numbers = struct.unpack_from(f"<{count}Q", body)
        first = 8 * count
        return cls(
            sequence, applied, size,
            {number: body[first + k * PAGE : first + (k + 1) * PAGE] for k, number in enumerate(numbers)}, start,
        )  # fmt: skip

    @staticmethod
    def _checksum(sequence: int, size: int, start: int, count: int, body: bytes) -> int:
        return zlib.crc32(body, zlib.crc32(struct.pack("<QQQQ", sequence, size, start, count)))

    def write(self, descriptor: int) -> None:
        """Write the pages, then the header that makes them valid."""
        numbers = sorted(self.pages)
        body = b"".join([struct.pack(f"<{len(numbers)}Q", *numbers), *(self.pages[number] for number in numbers)])
        if body:
            write_all(descriptor, body, self.start)
        checksum = self._checksum(self.sequence, self.size, self.start, len(numbers), body)
        header = HEADER.pack(MAGIC, self.sequence, self.applied, self.size, self.start, len(numbers), checksum)
        write_all(descriptor, header, 0)

    def apply(self, descriptor: int, target: int) -> None:
        """Copy the pages into the file `target`, mark the journal applied, and remove pages and records from it."""
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
        os.ftruncate(descriptor, HEADER.size)  # so that its size grows with every record


def mark(file: int, size: int) -> int:
    """Checksum of both ends of a file of `size` bytes: a commit changes the beginning, where HDF5 keeps sizes, and the end."""
    length = min(size, MARKED)
    return zlib.crc32(os.pread(file, length, size - length), zlib.crc32(os.pread(file, length, 0)))


def sealed(record: bytes, applied: int, size: int, seed: int) -> bytes:
    """Return a record with its header; `seed` is the mark of the file."""
    checksum = zlib.crc32(record, zlib.crc32(struct.pack("<QQQ", applied, size, len(record)), seed))
    return RECORD.pack(applied, size, len(record), checksum) + record


def waiting(journal: int, file: int) -> list[bytes]:
    """Return the records of a journal that are whole and belong to the file as it is."""
    header = Journal.read(journal)
    if header.outstanding:  # its pages include them
        return []
    data = os.pread(journal, os.fstat(journal).st_size, HEADER.size)
    records: list[bytes] = []
    place, seed = 0, None
    while place + RECORD.size < len(data):
        applied, size, length, _ = RECORD.unpack_from(data, place)
        end = place + RECORD.size + length
        if applied != header.applied or end > len(data) or not length:
            break
        seed = mark(file, size) if seed is None else seed
        record = data[place + RECORD.size : end]
        if sealed(record, applied, size, seed) != data[place:end]:
            break
        records.append(record)
        place = end
    return records


def write_all(descriptor: int, data, offset: int) -> None:
    """Write all of `data` at `offset`, or raise OSError."""
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]
        offset += written


class PagedFile(PositionedFile):
    """File object for h5py: `_size` bytes of `_file`, with pages in memory in place of those in the file."""

    _file: int
    _pages: dict[int, bytes]
    _keeps_all = True  # also pages that equal those of the file, which may change later

    def read(self, size: int) -> bytes:
        """Read `size` bytes: those of the file under the pages."""
        start = self._position
        self._position += size
        return overlaid(self._file, self._pages, start, size)

    def write(self, data) -> int:
        """Write into memory."""
        start, size = self._position, len(data)
        if size:
            self._write_pages(start, bytes(data))
        self._position = start + size
        self._size = max(self._size, self._position)
        return size

    def truncate(self, size: int) -> int:
        """Set the size."""
        self._size = size
        return size

    def flush(self) -> None:
        """Do nothing: HDF5 flushes within frames, and `JournalledFile.commit` does the work."""

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
            if self._keeps_all or page != old[k * PAGE : (k + 1) * PAGE]:
                self._pages[first + k] = page


class JournalledFile(PagedFile):
    """File object for h5py (`h5py.File(JournalledFile(path), ...)`) with the promise of this module.

    Parameters
    ----------
    path : str
        The file; it is created when absent.  A journal left by a killed writer is applied first.
    fresh : bool
        Begin with an empty file, whatever a killed writer left.

    Attributes
    ----------
    records : list of bytes
        Records in the journal: those that a killed writer left, and those that `append` has added since the last commit.  The next
        commit ends them, so whoever commits must have put their contents into the file.
    error : OSError or None
        The first error of a write.

    Raises
    ------
    Busy
        When another process is writing the file.
    OSError
        When files cannot be opened or written.
    """

    _keeps_all = False

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
        self._process, self._watched = os.getpid(), False
        self._moved = False  # whether the file may have another name than `path`
        self._sequence = 0
        self._recover()

    def _recover(self) -> None:
        """Begin with the file and its journal as a writer left them."""
        journal = Journal.read(self._journal)
        if journal.outstanding:
            journal.apply(self._journal, self._file)
        self._sequence = journal.sequence or self._sequence
        self._has_header = False
        self.records = waiting(self._journal, self._file)
        self._end = HEADER.size + sum(RECORD.size + len(record) for record in self.records)  # of the records in the journal
        self._mark: int | None = None  # of the committed file
        self._committed = self._size = os.fstat(self._file).st_size
        self._extent = self._size  # end of what this process has written: a shorter file has been truncated
        self._pages = {}
        self.error: OSError | None = None

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

    # -- methods for the writer ------------------------------------------------------------------------------

    def append(self, record: bytes) -> None:
        """Add a record to the journal: it survives the end of the process as it is, but is not in the file."""
        self._watch()
        if self.error:
            raise self.error
        if self._mark is None:
            self._mark = mark(self._file, self._committed)
        if not self._has_header:
            Journal(self._sequence, self._sequence, self._committed).write(self._journal)
            self._has_header = True
        data = sealed(record, self._sequence, self._committed, self._mark)
        write_all(self._journal, data, self._end)
        self._end += len(data)
        self.records.append(record)
        self._watched = False  # a fork of this process may write next

    def commit(self) -> None:
        """Make all writes since the last commit effective, or raise the first OSError of a write."""
        if not self._pages and not self.error and self._size == self._extent == self._committed:
            return
        self._watch()
        if self.error:
            raise self.error
        self._sequence += 1
        journal = Journal(self._sequence, self._sequence - 1, self._size, self._pages, self._end)
        try:
            journal.write(self._journal)
            self._committed = self._extent = self._size  # whatever happens now, the next opening applies the journal
            self.records, self._end, self._mark, self._has_header = [], HEADER.size, None, True
            locked = lock(self._journal, APPLY, EXCLUSIVE, wait=PATIENCE)
            try:
                journal.apply(self._journal, self._file)
            finally:
                if locked:
                    unlock(self._journal, APPLY)
        except OSError as error:
            self.error = error
            raise
        self._pages = {}
        self._watched = False

    def restart(self) -> bool:
        """Forget writes since the last commit, and errors; return whether there are records, and the file is there to take them."""
        if self.foreign or os.fstat(self._file).st_nlink == 0:
            return False
        self._recover()
        self._moved = True
        return bool(self.records)

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
        self._has_header = False
        if os.fstat(self._journal).st_size == 0:
            return True
        os.close(self._journal)  # a killed writer has left it
        self._journal = -1
        return False

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
        elif not self._moved:
            with suppress(OSError):  # their directory may have been renamed, which does no harm
                if not os.path.samestat(os.stat(self.path), status):
                    self.error = OSError(errno.ESTALE, "somebody else put another file in their place", self.path)

    def rename(self, path: str) -> None:
        """Put the file in the place of another one."""
        os.replace(self.path, path)
        os.replace(journal_path(self.path), journal_path(path))
        self.path = path

    def close(self) -> None:
        """Close the files without a commit; remove the journal unless it holds pages to be applied or records."""
        if self._file < 0:
            return
        if not self.foreign and not self.resting and not self._needs_journal():
            if self._extent > self._committed:
                os.ftruncate(self._file, self._committed)
            self._remove_journal()
        if not self.resting:
            os.close(self._journal)
        os.close(self._file)
        self._file = self._journal = -1

    def _needs_journal(self) -> bool:
        """Whether the journal holds what the file lacks."""
        if Journal.read(self._journal).outstanding:
            return True
        return bool(self.records) and os.fstat(self._file).st_nlink > 0 and bool(waiting(self._journal, self._file))

    def _remove_journal(self) -> None:
        """Remove the journal, unless the results were removed or moved and it belongs to another writer."""
        path = journal_path(self.path)
        try:
            if os.path.samestat(os.stat(path), os.fstat(self._journal)):
                os.unlink(path)
        except FileNotFoundError:
            return


class Snapshot:
    """A file opened for reading while others may write it.

    ``with snapshot.held() as journal:`` keeps the writer from changing the file (it waits `PATIENCE` seconds at most).  `stamp`
    tells whether the file has changed since it was last asked, and `target` is what to open.  Nothing is ever written.
    """

    def __init__(self, path: str):
        self.path = path

    def stamp(self) -> tuple:
        """Numbers that change whenever the contents of the file do; the first is the number of the file itself."""
        status = os.stat(self.path)
        try:
            with open(journal_path(self.path), "rb", buffering=0) as file:
                applied = HEADER.unpack(file.read(HEADER.size))[2]
                return (status.st_ino, os.fstat(file.fileno()).st_ino, applied)
        except (OSError, struct.error):  # no journal, or an unreadable one: the file itself may be whole
            return (status.st_ino, status.st_size, status.st_mtime_ns)

    def target(self, journal: int) -> str | Overlay:
        """Return the path, or the file under the pages of its journal, with its records, where there are any."""
        if journal >= 0:
            with suppress(OSError):  # for example, a directory in place of the journal
                overlay = Overlay(self.path, journal)
                if overlay.differs:
                    return overlay
        return self.path

    @contextmanager
    def held(self):
        """Keep the file unchanged; yield a descriptor of its journal, -1 where it has none."""
        journal = -1
        for access in (os.O_RDWR, os.O_RDONLY):  # in a directory that we may only read the caller compares stamps
            with suppress(OSError):
                journal = os.open(journal_path(self.path), access)
                break
        try:
            if journal >= 0:
                lock(journal, APPLY, SHARED, wait=PATIENCE)
            yield journal
        finally:
            if journal >= 0:
                os.close(journal)


def journal_length(journal: int) -> int:
    """Bytes of a journal, which grows with every record."""
    return os.fstat(journal).st_size if journal >= 0 else 0


class Overlay(PagedFile):
    """File object for h5py: a file as its journal completes it.

    Attributes
    ----------
    records : list of bytes
        Records of the journal; whoever opens the file puts their contents into it, which changes memory only.
    """

    def __init__(self, path: str, journal: int):
        self._opened = open(path, "rb", buffering=0)  # noqa: SIM115
        self._file = self._opened.fileno()
        left = Journal.read(journal)
        self._pages, self._size = (left.pages, left.size) if left.outstanding else ({}, os.fstat(self._file).st_size)
        self.records = waiting(journal, self._file)
        self.differs = left.outstanding or bool(self.records)


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
