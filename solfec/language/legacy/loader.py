"""Running inputs and importing modules of their directories, each in its own language."""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import sys
import traceback
import types

from .. import session
from . import names, surroundings, watch
from .preference import preference
from .reading import Reading, read
from .surroundings import Surroundings, is_users_module, remember_lines

# --- the main input ----------------------------------------------------------------------------------------


def read_input(content: bytes, path: str, forced: int | None) -> Reading:
    """Read the main input; ValueError for an invalid preference of a Python version."""
    return read(content, path, forced, preferred=preference(path))


def prepare(module: types.ModuleType, reading: Reading) -> None:
    """Give a module the built-in names of its language."""
    if reading.version == 2:
        module.__dict__["__builtins__"] = names.BUILTINS
    elif reading.watched:
        module.__dict__["__builtins__"] = watch.names()


def finish(reading: Reading) -> None:
    """Do what Python 2 does when a program ends."""
    if reading.version == 2:
        from .runtime import end_line

        end_line()


# --- modules -----------------------------------------------------------------------------------------------


class _Loader(importlib.machinery.SourceFileLoader):
    """Loader of the user's modules, each in its own language."""

    def exec_module(self, module):
        reading = self._reading(module.__name__)
        prepare(module, reading)
        builtins.exec(reading.code, module.__dict__)

    def _reading(self, name: str) -> Reading:
        path = self.get_filename(name)
        now = surroundings.current()
        prefers_old = now is not None and now.old and is_users_module(path)
        if not prefers_old:
            try:
                return Reading(3, self.get_code(name))
            except (SyntaxError, ValueError):
                pass
        content = self.get_data(path)
        return read(content, path, now.forced if now else None, prefers_old)


class _Finder:
    """Finder that finds what the usual finder finds, and uses our loader for the user's own files."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader and session.is_users(spec.origin):
            spec.loader = _Loader(name, spec.origin)
        return spec


def install(path: str, reading: Reading, forced: int | None) -> None:
    """Make imports of the input read modules in their own language, too."""
    script = os.path.dirname(os.path.realpath(path))
    directories = tuple({script, os.path.realpath(os.getcwd())})
    before = frozenset(p for p in sys.path if p not in ("", script))
    surroundings.begin(Surroundings(forced, reading.version == 2, directories, before, frozenset(sys.modules)))
    if forced != 3:
        sys.meta_path.insert(0, _Finder)
    if reading.version == 2 and "matplotlib" not in sys.modules:
        os.environ.setdefault("MPLBACKEND", "Agg")


def is_failed_plot(error: BaseException) -> bool:
    """Whether an old input failed inside Matplotlib, whose functions have changed since."""
    now = surroundings.current()
    if now is None or not now.old:
        return False
    frames = [frame.f_globals.get("__name__", "").partition(".")[0] for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "matplotlib" in frames


def remove() -> None:
    """Undo `install`; forget the user's modules that the input loaded."""
    now = surroundings.current()
    for name in set(sys.modules) - now.modules if now is not None else ():
        if is_users_module(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]
    for folder in [folder for folder in sys.path_importer_cache if not os.path.isabs(folder)]:
        del sys.path_importer_cache[folder]  # relative paths change with the current directory
    surroundings.begin(None)
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _Finder]


__all__ = ["finish", "install", "is_failed_plot", "prepare", "read_input", "remember_lines", "remove"]
