"""Commands of Parmec that this version does not have yet: each exists and says so."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import NotBuiltYet

NAMES = "GRANULAR OBSTACLE"


def not_built(what: str) -> NotBuiltYet:
    """The error that names what is missing."""
    return NotBuiltYet(f"{what} is not built yet in this version of the explicit engine")


def __getattr__(name: str):
    if name not in NAMES.split():
        raise AttributeError(name)

    def command(*arguments: Any, **keywords: Any) -> NoReturn:
        raise not_built(name)

    command.__name__ = command.__qualname__ = name
    command.__doc__ = f"{name}: not built yet."
    globals()[name] = command
    return command
