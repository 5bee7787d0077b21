"""The running input's language and directories, which decide how further files are read and which are the user's own."""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from functools import lru_cache

from .. import session
from .reading import compile_old, read
from .source import decode


@dataclass
class Surroundings:
    """Language of the running input, and directories of its modules."""

    forced: int | None = None
    old: bool = False
    directories: tuple[str, ...] = ()  # the script's and the current one
    before: frozenset[str] = frozenset()  # sys.path before the input started
    modules: frozenset[str] = frozenset()  # modules loaded before


_now: Surroundings | None = None


def current() -> Surroundings | None:
    """Return the surroundings of the running input; None outside of the command line."""
    return _now


def in_python2() -> bool:
    """Whether the running input is written in Python 2."""
    return _now is not None and _now.old


def begin(surroundings: Surroundings | None) -> None:
    """Make surroundings the current ones."""
    global _now
    _now = surroundings


def is_users_module(origin: str | None) -> bool:
    """Whether a module's file is in the input's directory, the current directory or a directory that the input added."""
    if not origin or _now is None or not session.is_users(origin):
        return False
    path = os.path.realpath(origin)
    added = [os.path.realpath(folder or ".") for folder in sys.path if isinstance(folder, str) and folder not in _now.before]
    return any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder in (*_now.directories, *added))


# --- code --------------------------------------------------------------------------------------------------


def code_of_file(path: str):
    """Code of a file that an old input executes."""
    with open(path, "rb") as file:
        content = file.read()
    remember_lines(path, content)
    return read(content, path, _now.forced if _now else 2, prefers_old=True).code


def remember_lines(path: str, content: bytes) -> None:
    """Store a file's lines for error messages and tracebacks, also if it is deleted or the current directory changes."""
    lines = content.decode("utf-8", errors="surrogateescape").splitlines(keepends=True)
    linecache.cache[path] = (len(content), None, lines, path)


@lru_cache(256)
def code_of_text(text, name: str, mode: str = "exec"):
    """Code of a text that an old input executes or evaluates."""
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    decoded = decode(content, name)
    if mode == "eval":
        decoded = decoded.strip() + "\n"
    return compile_old(decoded, name, mode)
