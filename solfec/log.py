"""Copies of a run's output in a file (command line, --log)."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from time import monotonic, strftime

from .directories import make_directory_of
from .terminal import REWRITE


class Log:
    """A file to which streams copy their text; new runs are appended.

    Raises
    ------
    OSError
        When the file cannot be opened.
    """

    def __init__(self, path: str):
        self.path = path
        try:
            make_directory_of(path)
        except OSError as error:
            error.filename = path
            raise
        self._file = open(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
        self._within_line = False

    def write(self, text: str) -> None:
        """Append text; reports that replace one another get a line each.  A full disk ends the log, not the run."""
        if not text or self._file is None:
            return
        if text.startswith(REWRITE):
            text = ("\n" if self._within_line else "") + text[len(REWRITE) :]
        text = text.replace(REWRITE, "\n")
        self._within_line = not text.endswith("\n")
        try:
            self._file.write(text)
        except OSError as error:
            self._file = None
            print(f"solfec: the log {self.path} cannot be written any more: {error.strerror}", file=sys.__stderr__)

    def close(self) -> None:
        """End the last line and close the file."""
        if self._within_line:
            self.write("\n")
        if self._file is not None:
            self._file.close()


class Copied:
    """A stream that also copies its text to a log."""

    def __init__(self, stream, log: Log):
        self._stream, self._log = stream, log

    def write(self, text: str) -> int:
        """Write to both."""
        self._log.write(text)
        return len(text) if self._stream is None else self._stream.write(text)

    def writelines(self, lines) -> None:
        """Write to both."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the stream; the log is not buffered."""
        if self._stream is not None:
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str):
        return getattr(self._stream, name)


@contextmanager
def logged(path: str | None, words: list[str]):
    """Copy standard output and errors to a file in this context; yield a function that records the exit status.

    Raises
    ------
    OSError
        When the file cannot be opened.
    """
    if path is None:
        yield lambda status: None
        return
    log, streams, started = Log(path), (sys.stdout, sys.stderr), monotonic()
    log.write(f"--- {strftime('%Y-%m-%d %H:%M:%S')}  solfec {shlex.join(words)}\n")
    sys.stdout, sys.stderr = (Copied(stream, log) for stream in streams)
    ended = []
    try:
        yield ended.append
    finally:
        sys.stdout, sys.stderr = streams
        how = f"status {ended[0]}" if ended else "an error of solfec itself"
        log.write(("\n" if log._within_line else "") + f"--- {strftime('%Y-%m-%d %H:%M:%S')}  {how} after {monotonic() - started:.1f} s\n")
        log.close()
