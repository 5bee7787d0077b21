"""Sine sweeps of acceleration, for prescribed motion that returns to its start."""

from __future__ import annotations

import math

import numpy as np

LAST = 5  # maxima and minima of velocity that give its mean level


def acc_sweep(step, stop, lofq, hifq, amag, acc_plot=None, vel_plot=None, dsp_plot=None, dsp_envelope=None):
    """Return a sine sweep as histories of time, displacement, velocity and acceleration.

    The velocity begins at its mean level, and the displacement has no drift.

    Parameters
    ----------
    step, stop : float
        Time between samples, and duration.
    lofq, hifq : float
        Lowest and highest frequency, which grows in proportion to time.
    amag : float
        Magnitude of the acceleration.
    acc_plot, vel_plot, dsp_plot, dsp_envelope : str, optional
        Paths of pictures of the histories, and of the largest displacements over frequency.  Without Matplotlib there are none.

    Returns
    -------
    vt, vd, vv, va : list of float
    """
    acceleration, velocity = sampled(step, stop, lofq, hifq, amag, stop)
    first = int(np.argmax(velocity[1:] < velocity[:-1]))  # first maximum of the velocity
    acceleration, velocity = sampled(step, stop, lofq, hifq, amag, stop + (first + 1) * step)
    crossed = int(np.argmax(velocity >= mean_level(velocity)))
    acceleration, velocity = acceleration[crossed:], velocity[crossed:]
    times = summed(np.full(velocity.size, step))
    velocity = velocity - drift(times, summed(velocity * step))
    displacement = np.cumsum(velocity * step)
    frequency = lofq + (hifq - lofq) * times / stop
    for path, values, name in ((acc_plot, acceleration, "acceleration"), (vel_plot, velocity, "velocity"), (dsp_plot, displacement, "displacement")):
        if path is not None:
            plot(path, times, values, "time", name)
    if dsp_envelope is not None:
        peaks = np.flatnonzero((displacement[1:-1] > displacement[:-2]) & (displacement[1:-1] >= displacement[2:])) + 1
        plot(dsp_envelope, frequency[peaks], displacement[peaks], "frequency", "largest displacement")
    return times.tolist(), displacement.tolist(), velocity.tolist(), acceleration.tolist()


def sampled(step: float, stop: float, low: float, high: float, size: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Return accelerations in the middle of steps up to a time, and velocities at their ends."""
    times = []
    now = 0.0
    while now < end:
        times.append(now)
        now += step
    middle = np.array(times) + step / 2
    acceleration = size * np.sin(2 * math.pi * (low + (high - low) * middle / stop) * middle)
    return acceleration, np.cumsum(acceleration * step)


def mean_level(velocity: np.ndarray) -> float:
    """Return the mean of the last maxima and minima."""
    before, here, after = velocity[:-2], velocity[1:-1], velocity[2:]
    maxima, minima = here[(before < here) & (here > after)], here[(before > here) & (here < after)]
    if min(maxima.size, minima.size) < LAST:
        raise ValueError(f"acc_sweep: the velocity must have at least {LAST} maxima and minima; let 'stop' or the frequencies be larger")
    return 0.5 * (maxima[-LAST:].mean() + minima[-LAST:].mean())


def summed(values: np.ndarray) -> np.ndarray:
    """Return, for every place, the sum of all values before it."""
    return np.append(0.0, np.cumsum(values[:-1]))


def drift(times: np.ndarray, displacement: np.ndarray) -> float:
    """Return the mean velocity over the last minimum and the maximum before it; without these, the first velocity."""

    def back(i: int, sense: float) -> int:
        while i > 1 and sense * (displacement[i - 1] - displacement[i]) > 0:
            i -= 1
        return i

    minimum = back(back(displacement.size - 1, 1.0), -1.0)
    maximum = back(minimum, 1.0)
    return (displacement[minimum] + displacement[maximum]) / (times[minimum] + times[maximum])


def plot(path: str, x: np.ndarray, y: np.ndarray, x_name: str, y_name: str) -> None:
    """Draw a history into a file."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(x, y)
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    figure.savefig(path)
