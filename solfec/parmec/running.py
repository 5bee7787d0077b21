"""DEM, RESET and ARGV: runs of the explicit engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import contextmanager
from time import monotonic

import numpy as np

from ..language import checks, session
from ..language.checks import BadType, BadValue, command
from ..terminal import REWRITE
from . import arguments, model, output
from .continuation import Results, Way
from .engine import Intervals, Run
from .model import Model, current

_words: list[str] | None = None  # of the parmec command


def take_words(words: list[str] | None) -> list[str] | None:
    """Set the words of a command line, without its executable, that ARGV returns; return the previous ones."""
    global _words
    before, _words = _words, words
    return before


Interval = float | int | Callable | tuple


@command("DEM")
def DEM(duration: float, step: float, interval: Interval | None = None, prefix: str | None = None, adaptive: float = 0.0) -> float:
    """Run the simulation.  A file STOP beside the output files, Ctrl-C and TERM end it after the current step.

    Parameters
    ----------
    duration : float
        Time to simulate, from the present time on.
    step : float
        Length of a step.
    interval : float, int, function of time, or a pair of these, optional
        Time between outputs, or (between files, between samples of histories); an int is the number of a TSERIES.  Default: every
        step.
    prefix : str, optional
        Name of output files instead of the input's, in the first call.
    adaptive : float
        Largest step over the critical step under present slopes, besides `step`; 0: steps are equal.

    Returns
    -------
    float
        Wall clock seconds.
    """
    now = current()
    if now.is_hybrid:
        raise BadValue("an input of HYBRID_SOLVER or PARMEC_IMPORT does not call DEM: RUN takes its steps")
    duration = checks.positive(duration, "duration")
    step = checks.positive(step, "step")
    adaptive = checks.between(adaptive, "adaptive", 0.0, 1.0)
    if prefix is not None:
        checks.path(prefix, "prefix")
    intervals = intervals_of(now, step, interval)
    writer = output.writer(now, prefix)
    started, stop_file = monotonic(), os.path.join(os.path.dirname(writer.stem), "STOP")
    if now.results is None:
        now.results = Results(now, writer)
    way = now.results.begin(duration)
    if way == Way.PASS:
        return monotonic() - started
    try:
        with progress() as report:
            Run(now, duration, step, intervals, writer.write, report, adaptive, stop_file, now.results.store, way == Way.CONTINUE).go()
    finally:
        now.results.rest()
    return monotonic() - started


@contextmanager
def progress():
    """Return a function that shows progress on a terminal; None without one."""
    stream, shown = sys.stdout, -1
    if session.current().quiet or stream is None or not stream.isatty():
        yield None
        return

    def report(share: float) -> None:
        nonlocal shown
        if int(100 * share) > shown:
            shown = int(100 * share)
            stream.write(f"{REWRITE}DEM {shown:3} %")
            stream.flush()

    try:
        yield report
    finally:
        if shown >= 0:
            stream.write("\n")


def intervals_of(now: Model, step: float, interval) -> Intervals:
    """Return times between files and between samples."""
    if interval is None:
        return Intervals(step, step)
    if checks.is_sequence(interval):
        if len(interval) != 2:
            raise BadValue(f"'interval' must be one interval or a pair, not {len(interval)}")
        return Intervals(one_interval(now, interval[0], "interval[0]"), one_interval(now, interval[1], "interval[1]"))
    both = one_interval(now, interval, "interval")
    return Intervals(both, both)


def one_interval(now: Model, value, name: str) -> float | Callable[[float], float]:
    """Return a number, or a function of time."""
    if callable(value):
        return lambda time: checks.nonnegative(value(time), name)
    if isinstance(value, int) and not isinstance(value, bool):
        curve = arguments.series(now, value, name)
        times, values, _ = now.curve(curve)
        return lambda time: checks.nonnegative(float(np.interp(time, times, values)), name)
    if isinstance(value, (list, dict, str)):
        raise BadType(f"'{name}' must be a number, a function of time or the number of a TSERIES, not {checks.kind_of(value)}")
    return checks.positive(value, name)


@command("RESET")
def RESET() -> None:
    """Remove everything: a new simulation begins at time zero."""
    model.begin(None)


@command("ARGV")
def ARGV(nonparmec: bool = True) -> list[str]:
    """Return the words of the command line.

    Parameters
    ----------
    nonparmec : bool
        True: without the executable, -ntasks n, -c and -r before the input file, and words that end with .py; False: without the
        executable only.

    Returns
    -------
    list of str
    """
    if not isinstance(nonparmec, (bool, int, np.bool_)):
        raise BadType(f"'nonparmec' must be True or False, not {checks.kind_of(nonparmec)}")
    words = list(sys.argv[1:] if _words is None else _words)
    if not nonparmec:
        return words
    kept = []
    before_file = _words is not None
    while words:
        word = words.pop(0)
        if before_file and word in ("-c", "-r"):
            continue
        before_file = before_file and not os.fspath(word).endswith(".py")
        if word in ("-ntasks", "-t") and words:
            words.pop(0)
        elif not os.fspath(word).endswith(".py"):
            kept.append(word)
    return kept
