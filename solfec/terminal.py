"""Standard output on terminals where reports replace one another, and on closed pipes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

REWRITE = "\r\033[K"  # to the beginning of the line, which is cleared


def discard(stream) -> None:
    """Redirect a stream whose reader has closed it to the null device, since the interpreter would flush it again."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def print_anything(stream) -> None:
    """Let a stream print escapes of characters that its encoding has not, such as those of labels where LC_ALL is C, instead of raising an error."""
    if getattr(stream, "errors", "") == "strict" or getattr(stream, "encoding", None) not in ("utf-8", "UTF-8", None):
        with suppress(AttributeError):  # streams of notebooks and tests
            stream.reconfigure(errors="backslashreplace")


class Printed:
    """A stream of the user on the terminal that shows reports: its output replaces them."""

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
