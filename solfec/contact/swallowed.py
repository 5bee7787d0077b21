"""Degenerate contacts: bodies so deep in one another that the normals of their facets cancel and the normal is a guess."""

from __future__ import annotations

import numpy as np


class Swallowed:
    """Degenerate contacts of a run, for a warning at its end."""

    def __init__(self):
        self.steps = 0
        self._first = ""

    def after_detection(self, geometry, bodies, time: float) -> None:
        """Record new contacts found at `time` whose normal is that of the shallowest face.

        A contact is degenerate if one body lies in the other so evenly that its direction of entry is unknown.
        """
        work = geometry.workspace
        rows = np.flatnonzero((work.result.degenerate[: work.found] == 1) & (work.result.status[: work.found] == 1))
        self.steps += 1
        if not self._first:
            row = rows[0]
            one, two = sorted(int(bodies.id[geometry.primitives.body[side[row]]]) for side in (work.first, work.second))
            x, y, z = work.result.slave_point[:, row]
            self._first = f"first at time {time:g}, bodies {one} and {two} at ({x:g}, {y:g}, {z:g})"

    def told(self) -> str:
        """Return the warning once; '' if there is none."""
        if not self.steps:
            return ""
        steps = "1 step" if self.steps == 1 else f"{self.steps} steps"
        text = f"in {steps} bodies lay in one another so that the way out was a guess, through the shallowest face; {self._first}"
        self.steps, self._first = 0, ""
        return text
