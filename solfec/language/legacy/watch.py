"""Warnings, once, where a file that parses as both Pythons, read as Python 3, would compute differently in Python 2."""

from __future__ import annotations

import builtins
import random
import sys
from numbers import Integral

from .. import session
from . import modules

_told: set[tuple[str, int]] = set()
HINT = (
    "(choose by '# solfec: python2' or '# solfec: python3' in the file's first lines, by --python2 or --python3, or for all of a "
    "directory by 'python2' or 'python3' in a file .solfec)"
)


def _tell(text: str) -> None:
    frame = sys._getframe(2)
    place = (frame.f_code.co_filename, frame.f_lineno)
    if place not in _told:
        session.warn(text if _told else f"{text} {HINT}")
        _told.add(place)


def divide(a, b):
    """Return `a / b`, with a warning about quotients that Python 2 would have truncated."""
    quotient = a / b
    if isinstance(a, Integral) and isinstance(b, Integral) and quotient != a // b:
        _tell(f"{a} / {b} is {quotient:g} here and {a // b} in Python 2")
    return quotient


def _watched_random():
    """Return the module random with a warning about integers drawn after an explicit seed."""
    seeded: list[bool] = []

    def watched(name):
        function = getattr(random, name)

        def call(*arguments, **named):
            if name == "seed":
                seeded.extend([True] if arguments and arguments[0] is not None else [])
            elif seeded:
                _tell(f"{name} draws other numbers than in Python 2")
            return function(*arguments, **named)

        return call

    return modules.Patched(random, {name: watched(name) for name in ("seed", "randint", "randrange", "choice", "shuffle", "sample")})


def names() -> dict:
    """Built-in names of a watched file."""
    _told.clear()
    watched_random = _watched_random()

    def import_module(name, globals=None, locals=None, fromlist=(), level=0):
        if name == "random" and level == 0 and not modules.is_users_own(name):
            return watched_random
        return builtins.__import__(name, globals, locals, fromlist, level)

    table = {name: getattr(builtins, name) for name in dir(builtins)}
    table.update(__legacy_watch__=divide, __import__=import_module)
    return table
