"""Contacts whose normal is a guess: bodies so deep in one another that the normals of their facets cancel."""

from __future__ import annotations

import numpy as np


class Swallowed:
    """What a run has met of them, to be told at its end."""

    def __init__(self):
        self.steps = 0
        self._first = ""

    def after_detection(self, geometry, bodies, time: float) -> None:
        """Take note of new contacts found at `time` whose normal is that of the shallowest face.

        They are degenerate when one body lies in another so evenly that nothing says where it came from.
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
        """The warning, once; '' when there is nothing to tell."""
        if not self.steps:
            return ""
        steps = "1 step" if self.steps == 1 else f"{self.steps} steps"
        text = f"in {steps} bodies lay in one another so that the way out was a guess, through the shallowest face; {self._first}"
        self.steps, self._first = 0, ""
        return text
