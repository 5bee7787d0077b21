"""Wrapping of kernel calls, to time them or (builds with DEBUG = yes) to catch floating-point exceptions."""

from __future__ import annotations

import functools
import sys
from types import SimpleNamespace

from . import _kernels

EXCEPTIONS = ("overflow", "division by zero", "invalid operation")


def wrap(wrapper) -> list[tuple]:
    """Replace every kernel in the package's modules by `wrapper(kernel, name)`; return the argument of `unwrap`."""
    stand_ins = {}
    for module_name in dir(_kernels):
        module = getattr(_kernels, module_name)
        if type(module).__name__ != "fortran" or module_name == "threads":
            continue
        names = [name for name in dir(module) if not name.startswith("_")]
        wrapped = {name: wrapper(getattr(module, name), f"{module_name}.{name}") for name in names}
        stand_ins[id(module)] = SimpleNamespace(**wrapped)
        for name, function in wrapped.items():
            stand_ins[id(getattr(module, name))] = function
    replaced = []
    for place in [module for name, module in sys.modules.items() if name.split(".")[0] == "solfec"]:
        for name, value in list(vars(place).items()):
            if type(value).__name__ == "fortran" and id(value) in stand_ins:
                replaced.append((place, name, value))
                setattr(place, name, stand_ins[id(value)])
    return replaced


def unwrap(replaced: list[tuple]) -> None:
    """Put the kernels back."""
    for place, name, value in replaced:
        setattr(place, name, value)


def watch_floating_point() -> list[tuple]:
    """Make every kernel call raise FloatingPointError if it overflowed, divided by zero or made a NaN.

    Kernels run on one thread then, since exceptions are signalled per thread.
    """
    _kernels.threads.set_threads(1)
    take = _kernels.threads.take_exceptions

    def checked(kernel, name):
        @functools.wraps(kernel, assigned=("__doc__",), updated=())
        def call(*arguments, **keywords):
            take()
            result = kernel(*arguments, **keywords)
            signalled = [text for text, flag in zip(EXCEPTIONS, take()) if flag]
            if signalled:
                raise FloatingPointError(f"kernel {name}: {', '.join(signalled)}")
            return result

        return call

    return wrap(checked)
