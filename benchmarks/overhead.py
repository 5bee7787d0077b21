"""Measures the time spent inside the compiled kernels, so that the rest is Python's."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import perf_counter
from types import SimpleNamespace


class Compiled:
    """Calls of kernels and seconds spent in them."""

    def __init__(self):
        self.seconds = 0.0
        self.calls = 0

    def timed(self, kernel):
        """The kernel, counted and timed (which itself costs about 0.3 us a call)."""

        def call(*arguments, **keywords):
            start = perf_counter()
            try:
                return kernel(*arguments, **keywords)
            finally:
                self.seconds += perf_counter() - start
                self.calls += 1

        return call


@contextmanager
def measured(kernels):
    """Within this context every kernel that a module of the package calls is counted and timed."""
    compiled = Compiled()
    stand_ins = {}
    for module_name in dir(kernels):
        module = getattr(kernels, module_name)
        if type(module).__name__ != "fortran":
            continue
        timed = {name: compiled.timed(getattr(module, name)) for name in dir(module) if not name.startswith("_")}
        stand_ins[id(module)] = SimpleNamespace(**timed)
        for name, function in timed.items():
            stand_ins[id(getattr(module, name))] = function
    places = [module for name, module in sys.modules.items() if name.split(".")[0] == "solfec"]
    replaced = []
    for place in places:
        for name, value in list(vars(place).items()):
            if type(value).__name__ == "fortran" and id(value) in stand_ins:
                replaced.append((place, name, value))
                setattr(place, name, stand_ins[id(value)])
    try:
        yield compiled
    finally:
        for place, name, value in replaced:
            setattr(place, name, value)
