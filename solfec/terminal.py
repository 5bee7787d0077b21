"""Standard output where reports of a run replace one another, and where nobody takes them any more."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

REWRITE = "\r\033[K"  # to the beginning of the line, which is cleared


def discard(stream) -> None:
    """Lead a stream to nowhere: its reader has gone, and the interpreter would try again with what is left in it."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class Printed:
    """A stream of the user's on the terminal that shows reports: what goes there takes their place."""

    def __init__(self, stream, make_room: Callable[[], None]):
        self._stream, self._make_room = stream, make_room

    def write(self, text: str) -> int:
        """Write, on a line without a report."""
        self._make_room()
        return self._stream.write(text)

    def writelines(self, lines) -> None:
        """Write, on a line without a report."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str):
        return getattr(self._stream, name)
