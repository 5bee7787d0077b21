"""Times at which a run writes frames, calls callbacks or takes samples."""

from __future__ import annotations

import math

TOLERANCE = 1e-6  # part of a step or interval within which an event is due, because of rounding


class Schedule:
    """Times at which something is due, every `interval`; 0 means after every step.

    With `at_once` it is also due after the next step.
    """

    def __init__(self, start: float, interval: float, at_once: bool = False):
        self.start = start
        self.interval = interval
        self.count = -1 if at_once else 0  # number of events so far
        self.latest = -math.inf  # time of the last event

    def due(self, time: float, step: float) -> bool:
        """Whether the schedule is due at `time`; several events within a step count as one."""
        if time == self.latest or not self._passes(time, step):
            return False
        self.latest = time
        return True

    def _passes(self, time: float, step: float) -> bool:
        if self.interval <= TOLERANCE * step:
            return True
        passed = int((time - self.start + TOLERANCE * step) / self.interval)
        if passed > self.count:
            self.count = passed
            return True
        return False

    def quiet_until(self, step: float) -> float:
        """Return a time before which it is not due, for steps of at most this length."""
        if self.interval <= TOLERANCE * step:
            return -math.inf
        return self.start + (self.count + 1) * self.interval - 2.0 * TOLERANCE * step

    @property
    def state(self) -> tuple[float, float, int, float]:
        """Return start, interval, number of events and the time of the last one, for results."""
        return self.start, self.interval, self.count, self.latest

    @classmethod
    def continued(cls, present: Schedule | None, first, last, time: float) -> Schedule | None:
        """Return the schedule of a continued run: that of the last frame, or a new one if the input was edited.

        Parameters
        ----------
        present : Schedule or None
            The input's schedule; `first`, `last` are the states in the first and in the last frame (NaN: none).
        time : float
            Time of the last frame.
        """
        if present is None:
            return None
        if present.interval != first[1] or last[1] != last[1]:
            return cls(time, present.interval, at_once=present.count < 0)
        schedule = cls(float(last[0]), float(last[1]))
        schedule.count, schedule.latest = int(last[2]), float(last[3])
        return schedule
