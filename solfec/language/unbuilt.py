"""Commands of Solfec-1.0 that this version does not have yet: calling one raises NotBuiltYet."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import NotBuiltYet

NAMES = "RENDER"
TYPES: tuple[str, ...] = ()


def not_built(what: str) -> NotBuiltYet:
    """The error that names what is missing."""
    return NotBuiltYet(f"{what} is not built yet in this version of solfec")


def _function(name: str):
    def command(*arguments: Any, **keywords: Any) -> NoReturn:
        raise not_built(name)

    command.__name__ = command.__qualname__ = name
    command.__doc__ = f"{name} (docs/language.md, Not built yet): not built yet."
    return command


def _type(name: str):
    def create(cls, *arguments: Any, **keywords: Any) -> NoReturn:
        raise not_built(name)

    return type(name, (), {"__new__": create, "__doc__": f"{name} (docs/language.md, Not built yet): not built yet.", "__slots__": ()})


def __getattr__(name: str):
    if name not in NAMES.split():
        raise AttributeError(name)
    command = globals()[name] = _type(name) if name in TYPES else _function(name)
    return command
