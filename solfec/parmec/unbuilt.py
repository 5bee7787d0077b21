"""Parts of commands that this version does not have yet: an error says so."""

from __future__ import annotations

from ..errors import NotBuiltYet


def not_built(what: str) -> NotBuiltYet:
    """The error that names what is missing."""
    return NotBuiltYet(f"{what} is not built yet in this version of the explicit engine")
