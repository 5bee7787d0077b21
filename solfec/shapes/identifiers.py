"""Surface and volume identifiers: any 32-bit integer except two reserved ones."""

from __future__ import annotations

import operator

ANY_SURFACE = 2**31 - 1
"""Wildcard of the surface material look-up; not a user's identifier."""

INTERNAL_FACE = -ANY_SURFACE
"""Marks faces between two elements of one mesh; not a user's identifier."""


def identifier(value, name: str) -> int:
    """Return `value` as a plain int; TypeError unless integral, ValueError when reserved or beyond 32 bits."""
    number = operator.index(value)
    if not INTERNAL_FACE < number < ANY_SURFACE:
        raise ValueError(f"'{name}' must lie between {INTERNAL_FACE + 1} and {ANY_SURFACE - 1}, not {number}")
    return number
