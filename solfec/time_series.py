"""Piecewise linear functions of time (docs/language-objects.md, TIME_SERIES; Solfec-1.0's `tms`)."""

from __future__ import annotations

import numpy as np

from . import _kernels
from .tables import Record, opened, pointers_of

_evaluate, _average = _kernels.time_series.evaluate_series, _kernels.time_series.average_series


class TimeSeries:
    """A function of time: linear between its knots, constant beyond both ends.

    Parameters
    ----------
    times, values : sequence of float
        Knots; times increase strictly.  A single value without times is a constant.
    label : str
        The user's name of the series.

    Raises
    ------
    ValueError
        Different lengths, no knot at all, numbers that are not finite, times that do not increase.
    """

    __slots__ = ("times", "values", "label")

    def __init__(self, times, values, label: str = ""):
        self.times = np.array(times, float).ravel()
        self.values = np.array(values, float).ravel()
        self.label = label
        constant = self.times.size == 0 and self.values.size == 1
        if not constant and (self.times.size == 0 or self.times.size != self.values.size):
            raise ValueError(f"a time series needs as many values as times, got {self.values.size} and {self.times.size}")
        if not (np.isfinite(self.times).all() and np.isfinite(self.values).all()):
            raise ValueError("times and values of a time series must be finite numbers")
        steps = np.diff(self.times)
        if (steps <= 0.0).any():
            i = int(np.flatnonzero(steps <= 0.0)[0])
            raise ValueError(
                f"times of a time series must increase strictly: {self.times[i]:g} is followed by {self.times[i + 1]:g}"
            )
        self.times.flags.writeable = self.values.flags.writeable = False

    @classmethod
    def constant(cls, value: float) -> TimeSeries:
        """The constant `value`, without knots."""
        return cls((), (value,))

    def __repr__(self):
        name = f" {self.label!r}" if self.label else ""
        return f"<TimeSeries{name} of {self.times.size} knots>"

    def value(self, time: float) -> float:
        """Value at a time."""
        times, values = self.times, self.values
        if times.size == 0 or not time > times[0]:
            return float(values[0])
        if time >= times[-1]:
            return float(values[-1])
        k = int(np.searchsorted(times, time, side="right")) - 1  # as in the kernel: without a slope, which may overflow
        return float(values[k] + (values[k + 1] - values[k]) * ((time - times[k]) / (times[k + 1] - times[k])))

    __call__ = value

    def values_at(self, times: np.ndarray) -> np.ndarray:
        """Values at an array of times, with the bits of `value`."""
        if self.times.size < 2:
            return np.full(times.shape, self.values[0])
        k = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, self.times.size - 2)
        start, end = self.times[k], self.times[k + 1]
        inner = self.values[k] + (self.values[k + 1] - self.values[k]) * ((times - start) / (end - start))
        return np.where(times <= self.times[0], self.values[0], np.where(times >= self.times[-1], self.values[-1], inner))

    def derivative(self) -> TimeSeries:
        """The slope, continuous from the right; the first and the last one persist beyond the ends."""
        if self.times.size < 2:
            return TimeSeries.constant(0.0)
        steps = np.diff(self.times)
        times = np.empty(2 * steps.size)
        times[0::2] = self.times[:-1]
        # just before the next knot; the last knot ends no further interval and is not moved
        times[1::2] = np.minimum(self.times[1:] - 1e-10 * steps, np.nextafter(self.times[1:], -np.inf))
        values = np.repeat(np.diff(self.values) / steps, 2)
        distinct = np.append(True, np.diff(times) > 0.0)
        return TimeSeries(times[distinct], values[distinct])

    def centred_slope(self) -> TimeSeries:
        """The slope, and at inner knots, up to a millionth of the shorter interval, the mean of both sides.

        Steps that end at knots take the slopes there: those of one side would be half an interval, or half a step, early or late.
        """
        if self.times.size < 3:
            return self.derivative()
        steps = np.diff(self.times)
        slopes = np.diff(self.values) / steps
        width = 1e-6 * np.minimum(steps[:-1], steps[1:])
        times = self.times[1:-1, None] + width[:, None] * np.array([-2.0, -1.0, 1.0, 2.0])
        means = 0.5 * (slopes[:-1] + slopes[1:])
        values = np.stack((slopes[:-1], means, means, slopes[1:]), axis=1)
        if (np.diff(times.ravel()) <= 0.0).any():  # knots so close that numbers do not tell them apart from their neighbourhood
            return self.derivative()
        return TimeSeries(times.ravel(), values.ravel())

    def integral(self) -> TimeSeries:
        """The trapezoidal integral from the first knot on, at the same knots.

        Raises
        ------
        ValueError
            For a constant, which has no first knot.
        """
        if self.times.size < 2:
            raise ValueError("a constant time series has no integral: it has no time to start from")
        areas = np.diff(self.times) * (self.values[:-1] + self.values[1:]) / 2
        return TimeSeries(self.times, np.append(0.0, np.cumsum(areas)))


class SeriesTable(Record):
    """All time series of a model in flat arrays, evaluated by one kernel call."""

    COLUMNS = {
        "start": ((), "i4"),  # series k has the knots start(k) .. start(k+1)-1, at least one
        "times": ((), "f8"),  # knots, increasing within a series
        "values": ((), "f8"),
        "interval": ((), "i4"),  # interval of the last evaluation: only a hint, any number is valid
        "result": ((), "f8"),  # values of max(n, 1) series at the time of the last `evaluate`
    }
    NUMBERS = {"n": "i4"}  # number of series

    def __init__(self):
        super().__init__()
        self._series: list[TimeSeries] = []
        self._row: dict[tuple[bytes, bytes], int] = {}
        self._flatten()

    def add(self, series: TimeSeries) -> int:
        """Return the row of a series; equal series are stored once."""
        key = series.times.tobytes(), series.values.tobytes()
        row = self._row.get(key)
        if row is None:
            row = self._row[key] = self.n
            self._series.append(series)
            self.n += 1
        return row

    def knots(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return times and values of a series; a constant has no times."""
        return self._series[row].times, self._series[row].values

    def _flatten(self) -> None:
        self._flat = self.n
        times = [series.times if series.times.size else np.zeros(1) for series in self._series] or [np.zeros(1)]
        values = [series.values for series in self._series] or [np.zeros(1)]
        self.replace(
            start=pointers_of([item.size for item in times], np.int32),
            times=np.concatenate(times),
            values=np.concatenate(values),
            interval=np.zeros(len(times), np.int32),
            result=np.zeros(len(times)),
        )

    def evaluate(self, time: float) -> np.ndarray:
        """Evaluate all series at `time` into `result`."""
        self.settle()
        opened(_evaluate(self.handle, time))
        return self.result

    def means(self, since: float, time: float) -> np.ndarray:
        """Return the means of all series from `since` to `time`."""
        self.settle()
        found = np.zeros(len(self.result))
        opened(_average(self.handle, since, time, found))
        return found

    def settle(self) -> None:
        """Add new series to the arrays."""
        if self._flat != self.n:
            self._flatten()
