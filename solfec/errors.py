"""Exceptions that reach the user."""

from __future__ import annotations


class SolfecError(RuntimeError):
    """A failure inside a simulation, described in the user's terms (body, constraint, time)."""


class NotBuiltYet(NotImplementedError):
    """A command, option or combination of the manual that this version does not have yet."""


class SolfecWarning(UserWarning):
    """Something in the input that is legal and probably not meant (manual, WARNINGS)."""
