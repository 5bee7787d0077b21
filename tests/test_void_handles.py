"""Every kernel of bodies, constraints and solvers refuses tables that are gone, and leaves what it was given as it was."""

import re
from pathlib import Path

import numpy as np
import pytest

from solfec import _kernels

SOURCES = Path(__file__).parent.parent / "fortran"
UNKNOWN = 100  # as in fortran/tables/table_registry.f90
ARRAY = re.compile(r"^(\w+) : (?:input|in/output) rank-\d array\('(\w)'\) with bounds \((.*)\)$", re.M)
NUMBER = re.compile(r"^(\w+) : input (int|long|float)$", re.M)


def takes_handles(kernel) -> bool:
    """Whether the first argument is a handle, or several."""
    text = getattr(kernel, "__doc__", None) or ""
    first = re.search(r"^(?:.* = )?\w+\((\w+)", text)
    return bool(first and re.search(rf"^{first.group(1)} : input (?:long|rank-1 array\('q'\).*)$", text, re.M))


def kernels() -> list[tuple[str, str]]:
    """Return the kernels that take handles, by module and name."""
    parts = [SOURCES / part for part in ("bodies", "constraints", "solvers")]
    sources = [*(path for part in parts for path in part.glob("*.f90")), *(SOURCES / "contact" / f"{name}.f90" for name in ("shape_rows", "primitive_sizes"))]
    modules = sorted(path.stem for path in sources if hasattr(_kernels, path.stem))
    return [(stem, name) for stem in modules for name in dir(getattr(_kernels, stem)) if takes_handles(getattr(getattr(_kernels, stem), name))]


def arguments_of(kernel) -> list:
    """Ones for everything, four of what may be of any length, and handles of no table."""
    text = kernel.__doc__
    values = {name: {"int": 1, "long": 0, "float": 1.0}[kind] for name, kind in NUMBER.findall(text)}
    for name, letter, bounds in ARRAY.findall(text):
        shape = [int(bound) if bound.isdigit() else 4 for bound in bounds.split(",")]
        values[name] = np.zeros(shape, letter) if letter == "q" else np.ones(shape, letter, order="F")
    names = re.search(r"\(([^[\])]*)", text).group(1).strip(",").split(",")
    return [values[name] for name in names]


def test_all_kinds_of_kernels_are_found():
    modules = {module for module, _ in kernels()}
    assert modules >= {"body_motion", "reduced_motion", "conjugate_gradients", "point_loads", "time_series", "user_constraints", "quasi_static", "shape_rows", "body_rows"}
    assert modules >= {"newton", "gauss_seidel", "automatic_solver", "local_dynamics", "compliance", "reduced_compliance"}


@pytest.mark.parametrize("module, name", kernels())
def test_handles_of_no_table_are_refused(module, name):
    kernel = getattr(getattr(_kernels, module), name)
    arguments = arguments_of(kernel)
    returned = kernel(*arguments)
    assert any(np.ndim(value) == 0 and value == UNKNOWN for value in (returned if isinstance(returned, tuple) else (returned,)))
    for argument in arguments:
        assert not isinstance(argument, np.ndarray) or len(np.unique(argument)) == 1
