"""Tabulated forces of springs (docs/language-objects.md, PUT_SPRING): piecewise linear, with infinite end pieces."""

from __future__ import annotations

import numpy as np

from ..tables import Record


class SpringCurves(Record):
    """All curves of a model, in flat arrays for the kernels."""

    COLUMNS = {
        "start": ((), "i4"),  # (n + 1) first point of each curve
        "strokes": ((), "f8"),  # points of all curves, one curve after another
        "forces": ((), "f8"),
    }
    NUMBERS = {"n": "i4"}  # curves

    def __init__(self):
        super().__init__(start=np.zeros(2, np.int32), strokes=np.zeros(1), forces=np.zeros(1))
        self._row: dict[bytes, int] = {}

    def add(self, points) -> int:
        """Add a curve of (stroke, force) points and return its row; equal curves are stored once.

        Parameters
        ----------
        points : array_like (m, 2)
            At least two points, strokes increasing.
        """
        points = np.ascontiguousarray(points, float)
        key = points.tobytes()
        row = self._row.get(key)
        if row is None:
            row = self._row[key] = self.n
            used = self.start[self.n]
            self.replace(
                strokes=np.append(self.strokes[:used], points[:, 0]),
                forces=np.append(self.forces[:used], points[:, 1]),
                start=np.append(self.start[: self.n + 1], used + len(points)).astype(np.int32),
            )
            self.n += 1
        return row

    def knots(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return strokes and forces of a curve."""
        points = slice(self.start[row], self.start[row + 1])
        return self.strokes[points], self.forces[points]
