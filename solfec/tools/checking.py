"""`solfec check`: keeps what an input prints and writes after a RUN that took no steps from passing for results."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from ..errors import SolfecError
from ..progress import counted

WRITING = os.O_WRONLY | os.O_RDWR
_guards: list[Guard] = []  # of the checks that run at present
_hooked: list[bool] = []  # hooks of audits last as long as the process: there is at most one


class Guard(io.TextIOBase):
    """Standard output of an input that is checked: passed on to the standard error until the first RUN, then only counted.

    Parameters
    ----------
    found : list of dict
        Facts about the models inspected so far; those of a RUN have its line.
    """

    def __init__(self, found: list[dict]):
        self.found, self.left_out, self.passed_on = found, 0, sys.stderr

    def after_run(self) -> bool:
        """Whether the input has passed a RUN."""
        return any(facts["line"] for facts in self.found)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not self.after_run():
            return self.passed_on.write(text)
        self.left_out += text.count("\n")
        return len(text)

    def flush(self) -> None:
        self.passed_on.flush()

    def opening(self, path, mode, flags) -> None:
        """Refuse to write into a file that exists, after a RUN."""
        writes = set(mode) & set("wa+") if isinstance(mode, str) else flags & WRITING
        if writes and isinstance(path, (str, bytes, os.PathLike)) and self.after_run() and os.path.isfile(path):
            raise SolfecError(f"the input writes into {os.fsdecode(path)!r}, which exists; it is left as it is")


def _audit(event: str, arguments: tuple) -> None:
    if event == "open" and _guards:
        _guards[-1].opening(*arguments)


@contextmanager
def kept(found: list[dict]) -> Iterator[None]:
    """Guard output and files of an input, whose models' facts `found` collects; at the end tell how many lines were left out."""
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked.append(True)
    guard = Guard(found)
    _guards.append(guard)
    try:
        with redirect_stdout(guard):
            yield
    finally:
        _guards.remove(guard)
    if guard.left_out:
        lines, are = counted(guard.left_out, "line", "lines"), "is" if guard.left_out == 1 else "are"
        print(f"solfec check: {lines} that the input prints after RUN {are} left out, since no step was taken", file=sys.stderr)
