"""Time series and curves of a results file: each is stored once and has a number."""

from __future__ import annotations

import numpy as np

from ..time_series import TimeSeries
from .layout import FUNCTION


class Functions:
    """Piecewise linear functions of a results file.

    Attributes
    ----------
    numbers : dict
        Number of a function by the bytes of its knots.
    """

    def __init__(self, index: np.ndarray | None = None, knots: np.ndarray | None = None):
        self.numbers: dict[tuple[bytes, bytes], int] = {}
        self._stored: list[TimeSeries] = []
        self._fresh = 0  # first function that `take_fresh` has not returned yet
        self._rows: dict[int, tuple] = {}  # (table, its size, numbers of its rows) by the table's id
        for entry in () if index is None else index:
            first, times, values = (int(entry[name]) for name in ("first", "times", "values"))
            self._add(knots[first : first + times], knots[first + times : first + times + values])
        self._fresh = len(self._stored)

    def __getitem__(self, number: int) -> TimeSeries:
        return self._stored[number]

    def _add(self, times, values) -> int:
        series = TimeSeries(times, values)
        self._stored.append(series)
        return self.numbers.setdefault((series.times.tobytes(), series.values.tobytes()), len(self._stored) - 1)

    def number(self, times: np.ndarray, values: np.ndarray) -> int:
        """Return the number of a function; add the function if it is new."""
        known = self.numbers.get((times.tobytes(), values.tobytes()))
        return self._add(times, values) if known is None else known

    def numbers_of(self, table) -> np.ndarray:
        """Numbers of all rows of a SeriesTable or SpringCurves, and -1 at the end, for row -1."""
        known, size, numbers = self._rows.get(id(table), (None, -1, None))
        if known is not table or size != table.n:
            knots = [table.knots(row) for row in range(table.n)]
            numbers = np.array([*(self.number(*pair) for pair in knots), -1], np.int32)
            self._rows[id(table)] = table, table.n, numbers
        return numbers

    def take_fresh(self, knots_stored: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows for `/model/functions` and `/model/function_knots` of the functions added since the last call."""
        index, knots = [], []
        for series in self._stored[self._fresh :]:
            index.append((knots_stored, series.times.size, series.values.size))
            knots += [series.times, series.values]
            knots_stored += series.times.size + series.values.size
        self._fresh = len(self._stored)
        return np.array(index, FUNCTION), np.concatenate(knots) if knots else np.zeros(0)
