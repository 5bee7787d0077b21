"""Exceptions that reach the user."""

from __future__ import annotations


class SolfecError(RuntimeError):
    """A failure inside a simulation, described in the user's terms (body, constraint, time)."""


def shown(text: str) -> str:
    """Text as a terminal may show it: control characters, of labels in files of strangers say, as Python writes them."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in str(text))


class NotBuiltYet(NotImplementedError):
    """A command, option or combination of the manual that this version does not have yet."""


class SolfecWarning(UserWarning):
    """Something in the input that is legal and probably not meant (docs/language-running.md, WARNINGS)."""
