"""Locks on single bytes of a file, held by an open file rather than by a process.

Such locks (Linux: "open file description locks") vanish with the process that holds them, and two opens of one
file in the same process exclude each other, which ordinary POSIX locks do not.  Where the system or the file
system has no locks, `lock` says that it got one: exclusion is then up to the user.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time

SHARED, EXCLUSIVE = fcntl.F_RDLCK, fcntl.F_WRLCK
_FLOCK = struct.Struct("hhqqi4x")  # type, whence, start, length, process
_UNSUPPORTED = (errno.ENOLCK, errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
_SET = getattr(fcntl, "F_OFD_SETLK", None)


def lock(descriptor: int, byte: int, kind: int, wait: float) -> bool:
    """Lock one byte within `wait` seconds; return whether the lock was obtained."""
    if _SET is None:
        return True
    request = _FLOCK.pack(kind, os.SEEK_SET, byte, 1, 0)
    end = time.monotonic() + wait
    while True:
        try:
            fcntl.fcntl(descriptor, _SET, request)
            return True
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return True
            if time.monotonic() >= end:
                return False
        time.sleep(0.0005)


def unlock(descriptor: int, byte: int) -> None:
    """Release one byte."""
    if _SET is not None:
        try:
            fcntl.fcntl(descriptor, _SET, _FLOCK.pack(fcntl.F_UNLCK, os.SEEK_SET, byte, 1, 0))
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise

