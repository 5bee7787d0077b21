"""Every kernel of bodies and constraints refuses tables that are gone, and leaves what it was given as it was."""

import re
from pathlib import Path

import numpy as np
import pytest

from solfec import _kernels

SOURCES = Path(__file__).parent.parent / "fortran"
UNKNOWN = 100  # as in fortran/tables/table_registry.f90
ARRAY = re.compile(r"^(\w+) : (?:input|in/output) rank-\d array\('(\w)'\) with bounds \((.*)\)$", re.M)
NUMBER = re.compile(r"^(\w+) : input (int|long|float)$", re.M)


def kernels() -> list[tuple[str, str]]:
    """Those whose first argument is a handle, by module and name."""
    found = []
    for path in sorted([*SOURCES.glob("bodies/*.f90"), *SOURCES.glob("constraints/*.f90")]):
        module = getattr(_kernels, path.stem, None)
        for name in dir(module) if module is not None else ():
            if re.search(r"= \w+\((?:handle|handles|constraints|iterations)\b", getattr(getattr(module, name), "__doc__", None) or ""):
                found.append((path.stem, name))
    return found


def arguments_of(kernel) -> list:
    """Ones for everything, four of what may be of any length, and handles of no table."""
    text = kernel.__doc__
    values = {name: {"int": 1, "long": 0, "float": 1.0}[kind] for name, kind in NUMBER.findall(text)}
    for name, letter, bounds in ARRAY.findall(text):
        shape = [int(bound) if bound.isdigit() else 4 for bound in bounds.split(",")]
        values[name] = np.zeros(shape, letter) if name == "handles" else np.ones(shape, letter, order="F")
    names = re.search(r"\(([^[\])]*)", text).group(1).strip(",").split(",")
    return [values[name] for name in names]


def test_all_kinds_of_kernels_are_found():
    modules = {module for module, _ in kernels()}
    assert modules >= {"body_motion", "reduced_motion", "conjugate_gradients", "point_loads", "time_series", "user_constraints", "quasi_static"}


@pytest.mark.parametrize("module, name", kernels())
def test_handles_of_no_table_are_refused(module, name):
    kernel = getattr(getattr(_kernels, module), name)
    arguments = arguments_of(kernel)
    returned = kernel(*arguments)
    assert UNKNOWN in (returned if isinstance(returned, tuple) else (returned,))
    for argument in arguments:
        assert not isinstance(argument, np.ndarray) or len(np.unique(argument)) == 1
