"""Import of optional packages from installed packages only, since files beside an input may have their names."""

from __future__ import annotations

import functools
import importlib
import os
import site
import sys
import sysconfig
from collections.abc import Callable
from contextlib import contextmanager
from importlib.machinery import PathFinder

import numpy

OUR_OWN = {"__main__", "solfec", "abaqusreader", "parmec"}

_hidden: dict[str, object] = {}  # modules of packages that have the names of modules beside the input


def load(name: str):
    """Import a module of an installed package, also if modules of the user have its name or names of its dependencies.

    Parameters
    ----------
    name : str
        Such as 'meshio' or 'matplotlib.figure'.

    Raises
    ------
    ImportError
        The package is not installed; a module of the user with its name does not count.
    """
    known = _hidden.get(name) or sys.modules.get(name)
    if known is not None and not _is_in(known, _folders_of_input()):
        return known
    with alone():
        return importlib.import_module(name)


@contextmanager
def alone():
    """Restrict imports to installed packages, for calls of a package that imports more modules.

    The user's own modules are hidden meanwhile. Afterwards `import` finds them again, also if a package has the same name.
    """
    path, folders = list(sys.path), _folders_of_input()
    # copies of the list of modules, since other threads may import meanwhile; modules share few folders
    real = functools.cache(os.path.realpath)
    theirs = {key: module for key, module in list(sys.modules.items()) if _is_in(module, folders, real) and not _tops([key]) & OUR_OWN}
    for key in theirs:
        del sys.modules[key]
    sys.modules.update(_hidden)
    before = _tops(list(sys.modules))
    try:
        sys.path[:] = _packages_first(path, folders)
        yield
    finally:
        sys.path[:] = path
        names = _tops(theirs) | _tops(_hidden) | {name for name in _tops(list(sys.modules)) - before if _has_module(folders, name)}
        for key in [key for key in list(sys.modules) if key.split(".")[0] in names]:
            _hidden[key] = sys.modules.pop(key)
        sys.modules.update(theirs)


def _tops(names) -> set[str]:
    """Return top-level packages and modules."""
    return {name.split(".")[0] for name in names}


def _folders_of_input() -> list[str]:
    """Return the folders of the running program and of the working directory in the module search path."""
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    own = {os.path.realpath("."), *([os.path.dirname(os.path.realpath(program))] if program else [])}
    listed = {os.path.realpath(folder or ".") for folder in sys.path if isinstance(folder, str)}
    return sorted((own & listed) - _package_folders())


def _package_folders() -> set[str]:
    """Return the folders of Python's library and packages."""
    known = [*sysconfig.get_paths().values(), os.path.dirname(os.path.dirname(numpy.__file__))]
    known += [*site.getsitepackages(), site.getusersitepackages()]
    return {os.path.realpath(folder) for folder in known}


def _packages_first(path: list, folders: list[str]) -> list:
    """Return the search path without the input's folders; added folders come after installed packages."""
    known = _package_folders()
    real = {folder: os.path.realpath(folder or ".") for folder in path if isinstance(folder, str)}
    kept = [folder for folder in path if real.get(folder) not in folders]
    return sorted(kept, key=lambda folder: not known & {real.get(folder), os.path.dirname(real.get(folder, ""))})


def _is_in(module, folders: list[str], real: Callable[[str], str] = os.path.realpath) -> bool:
    """Whether a module's file is in one of the input's folders, but not in installed packages below them; `real` resolves links in names of folders."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return False
    file = os.path.join(real(os.path.dirname(file)), os.path.basename(file))
    return any(_below(file, folder) for folder in folders) and not any(_below(file, folder) for folder in _package_folders())


def _below(file: str, folder: str) -> bool:
    return file.startswith(folder.rstrip(os.sep) + os.sep)


def _has_module(folders: list[str], name: str) -> bool:
    found = PathFinder.find_spec(name, folders)
    return found is not None and found.loader is not None
