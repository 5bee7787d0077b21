"""Modules as Python 2 had them, for converted inputs: `from solfec.language.legacy.old import string`."""

from __future__ import annotations

from . import modules


def __getattr__(name: str):
    module = modules.old_module(name)
    if module is None:
        raise AttributeError(f"Python 3 has the same module {name!r}")
    return module
