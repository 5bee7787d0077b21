"""Running inputs and importing the modules beside them, each in its own language."""

from __future__ import annotations

import builtins
import importlib.machinery
import linecache
import os
import sys
import traceback
import types
from dataclasses import dataclass, field
from functools import lru_cache

from .. import session
from . import names
from .reading import Reading, compile_old, read
from .source import decode


@dataclass
class Surroundings:
    """What decides how modules of the running input are read."""

    forced: int | None = None
    old: bool = False
    directories: tuple[str, ...] = ()  # the script's and the current one
    before: frozenset[str] = frozenset()  # of sys.path, before the input started
    loaded: list[str] = field(default_factory=list)  # modules to forget afterwards


_now: Surroundings | None = None


def is_users_module(origin: str | None) -> bool:
    """Whether a module's file lies beside the input, in the current directory or in one that the input added."""
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
    """Let error messages and tracebacks show a file's lines, also when it is gone or the directory changes."""
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


# --- the main input ----------------------------------------------------------------------------------------


def read_input(content: bytes, path: str, forced: int | None) -> Reading:
    """Read the main input."""
    return read(content, path, forced)


def prepare(module: types.ModuleType, reading: Reading) -> None:
    """Give a module the built-in names of its language."""
    if reading.version == 2:
        module.__dict__["__builtins__"] = names.BUILTINS
    elif reading.watched:
        from . import watch

        module.__dict__["__builtins__"] = watch.names()


def finish(reading: Reading) -> None:
    """What Python 2 does when a program ends."""
    if reading.version == 2:
        from .runtime import end_line

        end_line()


# --- modules -----------------------------------------------------------------------------------------------


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the user's in the language it is written in."""

    def exec_module(self, module):
        reading = self._reading(module.__name__)
        prepare(module, reading)
        if _now is not None:
            _now.loaded.append(module.__name__)
        builtins.exec(reading.code, module.__dict__)

    def _reading(self, name: str) -> Reading:
        path = self.get_filename(name)
        prefers_old = _now is not None and _now.old and is_users_module(path)
        if not prefers_old:
            try:
                return Reading(3, self.get_code(name))
            except (SyntaxError, ValueError):
                pass
        content = self.get_data(path)
        return read(content, path, _now.forced if _now else None, prefers_old)


class _Finder:
    """Finds what the usual finder finds, and gives the user's own files our loader."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader and session.is_users(spec.origin):
            spec.loader = _Loader(name, spec.origin)
        return spec


def install(path: str, reading: Reading, forced: int | None) -> None:
    """Read modules that the input imports in their own language, too."""
    global _now
    script = os.path.dirname(os.path.abspath(path))
    directories = tuple({os.path.realpath(script), os.path.realpath(os.getcwd())})
    _now = Surroundings(forced, reading.version == 2, directories, frozenset(p for p in sys.path if p not in ("", script)))
    if forced != 3:
        sys.meta_path.insert(0, _Finder)
    if reading.version == 2 and "matplotlib" not in sys.modules:
        os.environ.setdefault("MPLBACKEND", "Agg")


def is_failed_plot(error: BaseException) -> bool:
    """Whether an old input failed inside of Matplotlib, whose calls have changed since."""
    if _now is None or not _now.old:
        return False
    frames = [frame.f_globals.get("__name__", "").partition(".")[0] for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "matplotlib" in frames


def remove() -> None:
    """Undo `install`; forget the modules that it loaded."""
    global _now
    if _now is not None:
        for name in _now.loaded:
            sys.modules.pop(name, None)
    _now = None
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _Finder]

