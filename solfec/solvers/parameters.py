"""Checks of the parameters of solvers."""

from __future__ import annotations

from collections.abc import Iterable


def positive(**numbers: float) -> None:
    """Raise ValueError naming the first number that is not positive; NaN is not."""
    for name, number in numbers.items():
        if not number > 0:
            raise ValueError(f"{name} must be positive; got {number!r}")


def one_of(names: Iterable[str], **chosen: str) -> None:
    """Raise ValueError naming the first word that is not among `names`."""
    names = tuple(names)
    for name, word in chosen.items():
        if word not in names:
            raise ValueError(f"{name} must be one of {', '.join(names)}; got {word!r}")
