"""Exceptions that reach the user."""

from __future__ import annotations


class SolfecError(RuntimeError):
    """A failure inside a simulation, described in the user's terms (body, constraint, time)."""


def shown(text: str) -> str:
    """Return text that is safe for a terminal: control characters, for example in labels of foreign files, are escaped."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in str(text))


class NotBuiltYet(NotImplementedError):
    """A command, option or combination of Solfec-1.0 that this version does not have yet."""


class SolfecWarning(UserWarning):
    """Something in the input that is legal but probably unintended (docs/language-running.md, WARNINGS)."""
