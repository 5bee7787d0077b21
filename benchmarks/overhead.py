"""Measures the time spent inside compiled code, kernels and the library of LU factors, so that the rest is Python's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from solfec import kernel_checks
from solfec.bodies import factorisation

LIBRARY = (factorisation.SuperLU,)  # whose METHODS count as compiled
METHODS = ("factorise", "solve", "solve_vector")


class Compiled:
    """Calls of compiled code and seconds spent in them; what wrappers themselves take, measured here, counts as compiled, too."""

    def __init__(self):
        self.seconds = self.wrapper = 0.0
        self.calls = 0
        self.wrapper = self._wrapper()
        self.seconds, self.calls = 0.0, 0

    def _wrapper(self, calls: int = 5000) -> float:
        """Return the seconds that a wrapper adds to a call outside of what it times itself."""
        wrapped, start = self.timed(abs, "abs"), perf_counter()
        for _ in range(calls):
            wrapped(0)
        return max(perf_counter() - start - self.seconds, 0.0) / calls

    def timed(self, kernel, name):
        """Wrap a kernel to count and time it."""

        def call(*arguments, **keywords):
            start = perf_counter()
            try:
                return kernel(*arguments, **keywords)
            finally:
                self.seconds += perf_counter() - start + self.wrapper
                self.calls += 1

        return call


@contextmanager
def measured():
    """Count and time, within this context, every call of a kernel and every factorisation."""
    compiled = Compiled()
    replaced = kernel_checks.wrap(compiled.timed)
    methods = [(owner, name, getattr(owner, name)) for owner in LIBRARY for name in METHODS]
    for owner, name, method in methods:
        setattr(owner, name, compiled.timed(method, name))
    try:
        yield compiled
    finally:
        kernel_checks.unwrap(replaced)
        for owner, name, method in methods:
            setattr(owner, name, method)


def python_seconds(advance: Callable[[], None], steps: int) -> float:
    """Median over `steps` calls of `advance` of the seconds that are not spent in kernels."""
    seconds = []
    with measured() as compiled:
        for _ in range(steps):
            compiled.seconds = 0.0
            start = perf_counter()
            advance()
            seconds.append(perf_counter() - start - compiled.seconds)
    return float(np.median(seconds))
