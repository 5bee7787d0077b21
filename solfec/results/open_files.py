"""Results files that stay open between calls of RUN: the few that this process wrote last.

Opening a file again takes HDF5 longer than a step of a small model, which matters to programs that call RUN for every step.  A
file at rest is whole, is not locked and has no journal: readers in this and other processes find it as if it were closed.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol

MOST = 8  # files at rest

_lock = threading.RLock()  # models may run in several threads
_resting: dict[int, Resting] = {}  # the latest one last


class Resting(Protocol):
    """A writer of results."""

    def close(self) -> None:
        """Close the file."""


def rest(writer: Resting) -> None:
    """Keep the file of a writer open, and close the files that have been at rest longest."""
    with _lock:
        _resting[id(writer)] = writer
        for oldest in list(_resting.values())[:-MOST]:
            oldest.close()


def wake(writer: Resting) -> None:
    """Take a writer off the list: it uses its file again, or closes it."""
    with _lock:
        _resting.pop(id(writer), None)


def _forget() -> None:
    """Clear the list in a forked child: files at rest belong to the process that opened them."""
    global _lock
    _lock = threading.RLock()
    _resting.clear()


os.register_at_fork(after_in_child=_forget)
