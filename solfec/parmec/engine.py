"""DEM's loop: a kernel call makes the steps up to the next output, callback or full memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..interruption import Interruption
from .callbacks import call_back
from .kinds import PauseKind
from .model import Model
from .pairs import search

_begin, _run, _sample = _kernels.explicit_steps.begin, _kernels.explicit_steps.run, _kernels.explicit_steps.take_sample
ROOM = 4096  # most numbers of histories in a call of the kernel, but at least one sample
SECONDS = 0.25  # longest call of the kernel, so that Ctrl-C and progress do not wait
MOST_STEPS = 2**31


class Intervals:
    """Times between files and between samples of histories.

    Parameters
    ----------
    files, samples : float or function of time
    """

    def __init__(self, files: float | Callable[[float], float], samples: float | Callable[[float], float]):
        self.files, self.samples = files, samples
        self.dynamic = callable(files) or callable(samples)

    def write(self, model: Model) -> None:
        """Write the present intervals into the kernel's table."""
        for name, interval in (("output_interval", self.files), ("sample_interval", self.samples)):
            getattr(model.control, name)[0] = interval(model.time) if callable(interval) else interval


class Run:
    """One DEM call.

    Parameters
    ----------
    model : Model
    duration, step : float
    intervals : Intervals
    write : function, optional
        Writes files of the present state.
    report : function, optional
        Called with the fraction of the duration that is done.
    adaptive : float
        Largest step over the critical step; 0: steps are equal.
    stop_file : str, optional
        Path of a file that ends the run, and is removed then.
    store : function of bool, optional
        Stores the present state when files are due and at the end; the argument says whether the duration is reached.
    continued : bool
        Whether the model continues this run from a stored state.
    first_step : float, optional
        Length of the very first step; default: `step`.
    """

    def __init__(self, model: Model, duration: float, step: float, intervals: Intervals, write=None, report=None, adaptive: float = 0.0, stop_file: str | None = None,
                 store=None, continued: bool = False, first_step: float | None = None):  # fmt: skip
        self.model, self.intervals, self.write, self.report, self.stop_file = model, intervals, write, report, stop_file
        self._store, self._continued = store, continued
        control = model.control
        control.adaptive[0], control.longest[0], control.duration[0] = adaptive, step, duration
        self._before = float(control.step[0]) if control.steps[0] else None  # the step in whose middle positions are, if it is another one
        if not continued:
            control.step[0], control.elapsed[0] = step if control.steps[0] or first_step is None else first_step, 0.0
        self._most = 1

    def go(self) -> None:
        """Run to the end; an interruption is raised after the current step."""
        if self._remove_stop_file():
            print(f"DEM: an old file {self.stop_file} was removed")
        if not self._continued:
            self.begin()
        model = self.model
        with Interruption() as interruption:
            while model.control.elapsed[0] < model.control.duration[0] and interruption.signal is None and not self._stopped():
                self._advance()
            self._keep()

    def _keep(self) -> None:
        """Store the present state."""
        if self._store is not None:
            self._store(bool(self.model.control.elapsed[0] >= self.model.control.duration[0]))

    def _stopped(self) -> bool:
        """Whether the file that ends the run exists."""
        if not self._remove_stop_file():
            return False
        print(f"DEM: stopped at time {self.model.time:g} by the file {self.stop_file}")
        return True

    def _remove_stop_file(self) -> bool:
        """Remove the file that ends the run; return whether it existed."""
        if self.stop_file is None or not os.path.exists(self.stop_file):
            return False
        with suppress(OSError):
            os.remove(self.stop_file)
        return True

    def begin(self) -> None:
        """Prepare the first step of all, or of this run."""
        call_back(self.model)
        if self.model.control.margin[0] < 0.0:  # otherwise kernels request a search when spheres have moved
            search(self.model)
        if self.model.control.steps[0] == 0 and self.model.time == 0.0:
            self._start()
        else:
            step = self.model.control.step[0] if self._before is None else self._before
            self._check(_begin(self.model.handles(), 0.5 * step))
        self._before = None

    def advance(self, count: int) -> None:
        """Make `count` steps, whatever the duration."""
        target = int(self.model.control.steps[0]) + count
        while self.model.control.steps[0] < target:
            self._advance(target - int(self.model.control.steps[0]))

    def _start(self) -> None:
        """Begin at time zero: write the first samples and files, then move by half a step."""
        values = np.zeros(max(1, self.model.probes.n))
        handles = self.model.handles()
        if self.intervals.samples != np.inf:
            self._check(_sample(handles, values))
            for recorded, value in zip(self.model.histories, values.tolist()):
                recorded.append(value)
        if self.write is not None:
            self.write()
        self._check(_begin(handles, 0.0))
        self._keep()

    def _advance(self, most: int = MOST_STEPS) -> None:
        """Make steps up to the next pause."""
        model = self.model
        self.intervals.write(model)
        call_back(model)
        every = self.intervals.dynamic or model.callbacks.any()
        samples = np.zeros((max(1, model.probes.n), max(1, ROOM // max(1, model.probes.n))), order="F")
        started, asked = monotonic(), 1 if every else min(most, self._most)
        taken, reason, status = _run(model.handles(), asked, samples)
        self._check(status)
        spent = monotonic() - started
        if not every:
            self._most = min(MOST_STEPS, 2 * self._most) if spent < SECONDS else max(1, self._most // 2)
        for recorded, values in zip(model.histories, samples[:, :taken].tolist()):
            recorded.extend(values)
        if reason == PauseKind.SEARCH:
            search(model)
        if reason == PauseKind.NO_NUMBER:
            raise SolfecError(diverged(model))
        if reason == PauseKind.OUTPUT:
            if self.write is not None:
                self.write()
            self._keep()
        if self.report is not None:
            self.report(min(1.0, model.control.elapsed[0] / model.control.duration[0]))

    @staticmethod
    def _check(status: int) -> None:
        if status:
            raise RuntimeError("the kernels do not know the tables of this model")


def diverged(model: Model) -> str:
    """Return a message that names the first particle whose position or velocity is not finite."""
    columns = [model.particles.view(name) for name in ("position", "velocity", "angular")]
    wrong = np.flatnonzero(~np.isfinite(np.concatenate(columns)).all(axis=0))
    who = f"particle {wrong[0]} " if wrong.size else "a particle "
    return f"DEM: {who}has no finite position or velocity at time {model.time:g}; the step {model.control.step[0]:g} may be above the critical one (CRITICAL)"
