"""Least and greatest values of results over all frames."""

from __future__ import annotations

import time

import numpy as np

from ..results.export import first_domain
from . import colours, fields


class AllFrames:
    """Ranges of results over all frames of a source, computed in a separate domain, so that the displayed one does not change.

    Parameters
    ----------
    source : sources.Stored
        Or another object; one without a reader has no frames.
    """

    def __init__(self, source):
        self.source, self._domain = source, None
        self._found: dict[str, list] = {}  # number of frames read, least and greatest value

    def range(self, name: str, budget: float = np.inf) -> tuple[float, float] | None:
        """Return the range of a result over the frames read so far, after reading more for some seconds; None: there are no frames.

        Hidden bodies count, too.
        """
        reader = self.source.reader
        if reader is None or name in fields.KINDS:
            return None
        found = self._found.setdefault(name, [0, np.inf, -np.inf])
        started = time.perf_counter()
        while found[0] < len(reader.times):
            if self._domain is None:
                self._domain = first_domain(reader)
            reader.load(self._domain, found[0])
            self._domain.states.update_shapes()
            values = fields.at_vertices(self._domain, name) if name in fields.AT_VERTICES else fields.at_constraints(self._domain, name)[2]
            if np.isfinite(values).any():
                low, high = colours.finite_range(values)
                found[1:] = min(found[1], low), max(found[2], high)
            found[0] += 1
            if time.perf_counter() - started >= budget:
                break
        return (found[1], found[2]) if found[1] <= found[2] else None

    def complete(self, name: str) -> bool:
        """Whether all frames have been read for a result."""
        reader = self.source.reader
        return reader is None or name in fields.KINDS or self._found.get(name, [0])[0] >= len(reader.times)

    def forget(self) -> None:
        """Discard all ranges, since the results belong to another run."""
        self._found.clear()
        self._domain = None
