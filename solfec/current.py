"""The object that the commands of an input act on without being given it: a session, or a model of Parmec."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Current(Generic[T]):
    """The current one of several objects, made when it is needed first.

    Parameters
    ----------
    make : callable
        Makes an object where there is none.
    """

    def __init__(self, make: Callable[[], T]):
        self._make = make
        self._object: T | None = None

    def get(self) -> T:
        """Return the current object."""
        if self._object is None:
            self._object = self._make()
        return self._object

    def begin(self, other: T | None) -> T | None:
        """Make `other` the current object (None: a new one that `make` makes); return the previous one."""
        before, self._object = self._object, other
        return before
