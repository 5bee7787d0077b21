"""TIME_SERIES (docs/language-objects.md, TIME_SERIES)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from ..suggestions import did_you_mean
from ..time_series import TimeSeries
from . import checks, session
from .checks import BadArgument, BadType, BadValue, Members, command
from .hints import Numbers


class TIME_SERIES(Members):
    """A piecewise linear function of time, constant outside of its points.

    ``series(t)`` is its value at a time, or an array of its values at a list or array of times.  ``2 * series``,
    ``series / 2`` and ``-series`` are new series with other values at the same times.

    Parameters
    ----------
    points
        ``[t0, v0, t1, v1, ...]``, ``[[t0, v0], [t1, v1], ...]``; the path of a text file with two numbers on a line,
        between spaces, commas or semicolons ('#' starts a comment, the first line may name the columns); or a function of
        time.  At least two points, times increasing.
    label : str, optional
        Unique name.
    cache : int
        Accepted for old inputs; the whole series is kept in memory.
    columns : tuple of 2 str or int, optional
        Columns of a file that hold times and values, by the names in its first line or by numbers from 0.
    times : list of numbers, optional
        Times at which a function is evaluated; between them the series is linear.
    """

    __slots__ = ("_series",)
    __array_ufunc__ = None  # so that a number of numpy leaves its product with a series to the series

    @command("TIME_SERIES")
    def __init__(
        self,
        points: str | os.PathLike | Numbers | Sequence[Sequence[float]] | Callable[[float], float],
        label: str | None = None,
        cache: int = 0,
        columns: Sequence[str | int] | None = None,
        times: Numbers | None = None,
    ) -> None:
        in_file = isinstance(points, str) or hasattr(type(points), "__fspath__")
        if columns is not None and not in_file:
            raise BadValue("'columns' is for a file of points")
        if times is not None and not callable(points):
            raise BadValue("'times' is for a function of time")
        if in_file:
            pairs = points_of_file(checks.path(points, "points"), None if columns is None else columns_of(columns))
        elif callable(points):
            pairs = points_of_function(points, times)
        else:
            pairs = points_of_list(points)
        checks.integer(cache, "cache", minimum=0)
        if label is not None:
            checks.string(label, "label")
        check_times(pairs)
        if label is not None:
            labels = session.current().series_labels
            if label in labels:
                raise BadValue(f"'label': another time series is labelled {label!r}")
            labels.add(label)
        self._series = TimeSeries(pairs[:, 0].copy(), pairs[:, 1].copy(), label or "")

    @classmethod
    def _of(cls, series: TimeSeries) -> TIME_SERIES:
        handle = object.__new__(cls)
        handle._series = series
        return handle

    def __repr__(self):
        times, values = self._series.times, self._series.values
        name = f" {self._series.label!r}" if self._series.label else ""
        if not times.size:
            return f"TIME_SERIES{name}: constant {values[0]:g}"
        return f"TIME_SERIES{name} of {times.size} points: times {times[0]:g} to {times[-1]:g}, values {values.min():g} to {values.max():g}"

    @overload
    def __call__(self, time: float) -> float: ...
    @overload
    def __call__(self, time: np.ndarray | Sequence[float]) -> np.ndarray: ...
    def __call__(self, time):
        """Value at a time, or values at a list or array of times."""
        try:
            if not checks.is_sequence(time):
                return self._series.value(checks.number(time, "time"))
            shape = np.shape(time)
            return self._series.values_at(checks.numbers(np.ravel(time), "time").reshape(shape))
        except BadArgument as error:
            error.command = "TIME_SERIES (time)"
            raise

    def __mul__(self, factor: float) -> TIME_SERIES:
        """The series with all values multiplied by a number, without a label."""
        return self._times(factor, "series * factor")

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> TIME_SERIES:
        """The series with all values divided by a number, without a label."""
        return self._times(divisor, "series / divisor", divide=True)

    def __neg__(self) -> TIME_SERIES:
        """The series with the signs of all values changed, without a label."""
        return self._times(-1.0, "-series")

    def _times(self, factor, what: str, divide: bool = False) -> TIME_SERIES:
        try:
            factor = checks.number(factor, "divisor" if divide else "factor")
            if divide and not factor:
                raise BadValue("'divisor' must not be zero")
            with np.errstate(over="ignore"):
                values = self._series.values / factor if divide else self._series.values * factor
            if not np.isfinite(values).all():
                raise BadValue(f"the values become too large for {'divisor' if divide else 'factor'} {factor:g}")
        except BadArgument as error:
            error.command = f"TIME_SERIES, {what}"
            raise
        return TIME_SERIES._of(TimeSeries(self._series.times, values))

    @property
    def times(self) -> list[float]:
        """Times of the points."""
        return np.asarray(self._series.times).tolist()

    @property
    def values(self) -> list[float]:
        """Values of the points."""
        return np.asarray(self._series.values).tolist()

    @property
    def derivative(self) -> TIME_SERIES:
        """The derivative, piecewise constant."""
        return TIME_SERIES._of(self._series.derivative())

    @property
    def integral(self) -> TIME_SERIES:
        """The integral from the first time on, by the trapezoidal rule."""
        return TIME_SERIES._of(self._series.integral())


def check_times(pairs: np.ndarray, path: str = "", lines: Sequence[int] = ()) -> None:
    """Check that there are two points (n, 2) or more, at increasing times; a file's have numbers of lines."""
    if len(pairs) < 2:
        raise BadValue(f"'points'{path and f': {path}'} must hold at least 2 points, it holds {len(pairs)}")
    falling = np.flatnonzero(np.diff(pairs[:, 0]) <= 0.0)
    if falling.size:
        i = int(falling[0])
        where = f"'points': {path}:{lines[i + 1]}: " if path else ""
        later, earlier = (f"line {lines[i + 1]}", f"line {lines[i]}") if path else (f"point {i + 1}", f"point {i}")
        raise BadValue(f"{where}times must increase strictly: {later} is at {pairs[i + 1, 0]:g}, {earlier} at {pairs[i, 0]:g}")


def points_of_list(points) -> np.ndarray:
    """Convert a flat list or a list of pairs."""
    if not checks.is_sequence(points):
        raise BadType(f"'points' must be a list of numbers, the path of a file or a function of time, not {checks.kind_of(points)}")
    items = checks.sequence(points, "points")
    if items and all(checks.is_sequence(item) for item in items):
        return np.array([checks.vector(item, f"points[{i}]", 2) for i, item in enumerate(items)])
    return checks.numbers(points, "points", multiple=2, minimum=2).reshape(-1, 2)


def points_of_function(function: Callable[[float], float], times) -> np.ndarray:
    """Points (n, 2) of a function of time."""
    if times is None:
        raise BadType("'times' must list the times at which the function 'points' is evaluated")
    times = checks.numbers(times, "times")
    return np.array([(time, checks.number(function(time), f"points ({time:g})")) for time in times.tolist()]).reshape(-1, 2)


def columns_of(columns) -> list[str | int]:
    """Check the columns of times and values."""
    columns = checks.sequence(columns, "columns")
    if len(columns) != 2:
        raise BadValue(f"'columns' must hold 2 names or numbers, it holds {len(columns)}")
    return [item if isinstance(item, str) else checks.integer(item, f"columns[{i}]", 0) for i, item in enumerate(columns)]


def points_of_file(path: str, columns: list[str | int] | None = None) -> np.ndarray:
    """Points (n, 2) of a text file with two columns, or with the columns of times and values among others."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.readlines()
    except OSError as error:
        raise BadValue(f"'points': cannot read the file {path!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadValue(f"'points': the file {path!r} is no text") from None
    pairs: list[list[float]] = []
    numbers: list[int] = []  # of lines with points
    names: list[str] | None = None  # of the columns, once the first line is read
    places = [0, 1]
    for number, line in enumerate(lines, 1):
        words = _words(line.partition("#")[0])
        if not words:
            continue
        if names is None:
            names = words if not any(map(_is_number, words)) else []
            places = _places(columns, names, path)
            if names:
                continue
        try:
            if columns is None and len(words) != 2:
                raise ValueError
            pair = [float(words[place]) for place in places]
        except (ValueError, IndexError):
            wanted = "two numbers are" if columns is None else "numbers in the columns " + " and ".join(map(repr, columns)) + " are"
            raise BadValue(f"'points': {path}:{number}: {wanted} expected, not {line.strip()!r}{_advice(line, words, columns, names)}") from None
        if not np.isfinite(pair).all():
            raise BadValue(f"'points': {path}:{number}: the numbers must be finite")
        pairs.append(pair)
        numbers.append(number)
    points = np.array(pairs, float).reshape(-1, 2)
    check_times(points, path, numbers)
    return points


def _advice(line: str, words: list[str], columns: list[str | int] | None, names: list[str]) -> str:
    """Return an advice how to read a line that is refused, or nothing."""
    if ";" in line and "," in line:
        return "; fractions need a point, as in 1.5, since commas separate fields"
    if columns is None and len(words) > 2:
        return f"; name those of times and values: columns = {tuple(names[:2]) if len(set(names[:2])) == 2 else (0, 1)}, for example"
    return ""


def _words(line: str) -> list[str]:
    """Fields of a line, between spaces, or commas or semicolons if it has any."""
    line = line.strip()
    if not re.search("[,;]", line):
        return line.split()
    fields = [field.strip().strip("'\"") for field in re.split("[,;]", line.rstrip(",; \t"))]
    return fields


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _places(columns: list[str | int] | None, names: list[str], path: str) -> list[int]:
    """Places of the columns of times and values in a line."""
    places = []
    for column in [0, 1] if columns is None else columns:
        if isinstance(column, str) and column not in names:
            known = ", ".join(map(repr, names)) or "none: its first line holds numbers"
            raise BadValue(f"'columns': {path} has no column {column!r} (columns: {known}){did_you_mean(column, names)}")
        if isinstance(column, str) and names.count(column) > 1:
            found = " and ".join(str(place) for place, name in enumerate(names) if name == column)
            raise BadValue(f"'columns': {path} names more than one column {column!r}; give its number: {found}")
        places.append(names.index(column) if isinstance(column, str) else column)
    return places


def number_or_series(value, name: str):
    """Convert a load's value to a float or to the time series of a TIME_SERIES."""
    if isinstance(value, TIME_SERIES):
        return value._series
    try:
        return checks.number(value, name)
    except BadType:
        raise BadType(f"'{name}' must be a number or a TIME_SERIES object, not {checks.kind_of(value)}") from None
