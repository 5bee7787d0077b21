"""The error of what Solfec-1.0 has and this version does not."""

from __future__ import annotations

from ..errors import NotBuiltYet


def not_built(what: str) -> NotBuiltYet:
    """Return the error that names a missing command."""
    return NotBuiltYet(f"{what} is not built yet in this version of solfec")
