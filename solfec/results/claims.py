"""Exclusive use of an output directory: one writing process, and one writing object of that process, at a time.

A process holds a lock (`flock`) on the directory itself, so that nothing is left behind when it ends or is killed.  Where
the file system has no such locks, only objects of one process exclude each other; the journal of the results then still
refuses a second writer.
"""

from __future__ import annotations

import errno
import fcntl
import os
import weakref

from ..directories import check_place, make_directory
from ..errors import SolfecError

_held: dict[tuple[int, int], Claim] = {}  # by device and inode of the directory


class Claim:
    """The right of one object of this process to write to an output directory, which is made when it is missing.

    Parameters
    ----------
    path : str
        Output directory.
    owner : object
        Its method `give_way ()` is called, which may raise SolfecError, when another object of this process claims the
        directory.

    Raises
    ------
    SolfecError
        When another process holds the directory, or it cannot be made.
    """

    def __init__(self, path: str, owner):
        self.path = os.path.abspath(path)
        self._owner = weakref.ref(owner)
        self._descriptor = -1
        check_place(self.path)
        try:
            make_directory(self.path)
            status = os.stat(self.path)
        except OSError as error:
            raise SolfecError(f"{self.path}: cannot hold results: {error.strerror}") from error
        self._key = status.st_dev, status.st_ino
        if (other := _held.get(self._key)) is not None:
            other._give_way()
        self._lock()
        _held[self._key] = self
        weakref.finalize(owner, self.release)

    def release(self) -> None:
        """Give the directory up."""
        if _held.get(self._key) is self:
            del _held[self._key]
        if self._descriptor >= 0:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # also for children that a fork gave the same lock
            self._drop()

    def _give_way(self) -> None:
        owner = self._owner()
        if owner is not None:
            owner.give_way()
        self.release()

    def _lock(self) -> None:
        try:
            self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._drop()
            if error.errno == errno.EWOULDBLOCK:
                raise SolfecError(
                    f"{self.path}: another run is writing these results, in another process; choose another 'output',"
                    " or output = None for a run that stays in memory"
                ) from None

    def _drop(self) -> None:
        """Close the descriptor, without unlocking."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _forget() -> None:
    """Drop all claims in a forked child: the directories belong to its parent."""
    for claim in _held.values():
        claim._drop()
    _held.clear()


os.register_at_fork(after_in_child=_forget)
