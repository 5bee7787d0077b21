"""TIME_SERIES (docs/language-objects.md, TIME_SERIES)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..time_series import TimeSeries
from . import checks, session
from .checks import BadType, BadValue, Members, command
from .hints import Numbers


class TIME_SERIES(Members):
    """A piecewise linear function of time, constant outside of its points.

    Parameters
    ----------
    points
        ``[t0, v0, t1, v1, ...]``, ``[[t0, v0], [t1, v1], ...]`` or the path of a text file with two numbers on a
        line ('#' starts a comment); at least two points, times increasing.
    label : str, optional
        Unique name.
    cache : int
        Accepted for old inputs; the whole series is kept in memory.
    """

    __slots__ = ("_series",)

    @command("TIME_SERIES")
    def __init__(self, points: str | Numbers | Sequence[Sequence[float]], label: str | None = None, cache: int = 0) -> None:
        pairs = points_of_file(checks.string(points, "points")) if isinstance(points, str) else points_of_list(points)
        checks.integer(cache, "cache", minimum=0)
        if label is not None:
            checks.string(label, "label")
        if len(pairs) < 2:
            raise BadValue(f"'points' must hold at least 2 points, it holds {len(pairs)}")
        falling = np.flatnonzero(np.diff(pairs[:, 0]) <= 0.0)
        if falling.size:
            i = int(falling[0])
            raise BadValue(
                f"times must increase strictly: point {i + 1} is at {pairs[i + 1, 0]:g}, point {i} at {pairs[i, 0]:g}"
            )
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
        return f"TIME_SERIES of {len(self.times)} points"

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


def points_of_list(points) -> np.ndarray:
    """Convert a flat list or a list of pairs."""
    items = checks.sequence(points, "points")
    if items and all(checks.is_sequence(item) for item in items):
        return np.array([checks.vector(item, f"points[{i}]", 2) for i, item in enumerate(items)])
    return checks.numbers(points, "points", multiple=2, minimum=2).reshape(-1, 2)


def points_of_file(path: str) -> np.ndarray:
    """Points (n, 2) of a two-column text file."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
    except OSError as error:
        raise BadValue(f"'points': cannot read the file {path!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadValue(f"'points': the file {path!r} is no text") from None
    pairs = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        try:
            time, value = map(float, words)
        except ValueError:
            raise BadValue(f"'points': {path}:{number}: two numbers are expected, not {line.strip()!r}") from None
        if not np.isfinite([time, value]).all():
            raise BadValue(f"'points': {path}:{number}: the numbers must be finite")
        pairs.append((time, value))
    return np.array(pairs, float).reshape(-1, 2)


def number_or_series(value, name: str):
    """Convert a load's value to a float or to the time series of a TIME_SERIES."""
    if isinstance(value, TIME_SERIES):
        return value._series
    try:
        return checks.number(value, name)
    except BadType:
        raise BadType(f"'{name}' must be a number or a TIME_SERIES object, not {checks.kind_of(value)}") from None
