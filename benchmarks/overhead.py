"""Measures the time of a step outside of the compiled kernels, which is Python's.

Kernels are watched by wrappers, which cost time outside of kernels too, and more than a little where kernels have
emptied the caches.  Steps are therefore watched once and twice over in turn: what the second layer adds is what one
layer costs, and is taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from solfec import kernel_checks


class Compiled:
    """Calls of kernels and seconds spent in them."""

    def __init__(self):
        self.seconds = 0.0
        self.calls = 0

    def timed(self, kernel, name):
        """The kernel, counted and timed."""

        def call(*arguments, **keywords):
            start = perf_counter()
            try:
                return kernel(*arguments, **keywords)
            finally:
                self.seconds += perf_counter() - start
                self.calls += 1

        return call


@contextmanager
def measured(layers: int = 1):
    """Within this context every kernel that a module of the package calls is counted and timed.

    Further layers watch the first one and keep what they see to themselves.
    """
    watchers = [Compiled() for _ in range(layers)]

    def wrap(kernel, name):
        for watcher in watchers:
            kernel = watcher.timed(kernel, name)
        return kernel

    replaced = kernel_checks.wrap(wrap)
    try:
        yield watchers[0]
    finally:
        kernel_checks.unwrap(replaced)


def outside_of_kernels(advance: Callable[[], None], steps: int, layers: int = 1) -> list[float]:
    """Seconds of each of `steps` calls of `advance` that are not spent in kernels, watched by `layers` layers."""
    seconds = []
    with measured(layers) as compiled:
        advance()  # caches of arguments find the watched kernels
        for _ in range(steps):
            compiled.seconds = 0.0
            start = perf_counter()
            advance()
            seconds.append(perf_counter() - start - compiled.seconds)
    return seconds


def python_seconds(advance: Callable[[], None], steps: int, rounds: int = 4) -> float:
    """Seconds per step that Python takes: from medians over `rounds` times `steps` steps, watched once and twice."""
    once, twice = [], []
    for _ in range(rounds):
        once += outside_of_kernels(advance, steps, 1)
        twice += outside_of_kernels(advance, steps, 2)
    return float(2 * np.median(once) - np.median(twice))
