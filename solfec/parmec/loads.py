"""TSERIES, GRAVITY, DAMPING, RESTRAIN and PRESCRIBE: loads and motions of particles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..language import checks
from ..language.checks import BadType, BadValue, command
from ..language.hints import Integers, Numbers
from ..language.series import points_of_file, points_of_list
from . import arguments
from .kinds import DriveKind
from .model import Model, current

Three = Callable | tuple[int, int, int]


@command("TSERIES")
def TSERIES(points: float | str | Numbers | Sequence[Sequence[float]]) -> int:
    """Define a function of time: linear between its points, constant beyond its ends.

    Parameters
    ----------
    points : float, str or list
        A constant; the path of a text file with two numbers on a line ('#' starts a comment); ``[t0, v0, t1, v1, ...]``; or a
        list of pairs.

    Returns
    -------
    int
        Number of the series.
    """
    model = current()
    if isinstance(points, str):
        pairs = points_of_file(checks.path(points, "points"))
    elif checks.is_sequence(points):
        pairs = points_of_list(points)
    else:
        pairs = np.array([[0.0, checks.number(points, "points")]])
    if len(pairs) < 2 and (isinstance(points, str) or checks.is_sequence(points)):
        raise BadValue(f"'points' must hold at least 2 points, it holds {len(pairs)}")
    falling = np.flatnonzero(np.diff(pairs[:, 0]) <= 0.0)
    if falling.size:
        i = int(falling[0])
        raise BadValue(f"times must increase strictly: {pairs[i, 0]:g} is followed by {pairs[i + 1, 0]:g}")
    model.series.append(model.add_curve(pairs[:, 0], pairs[:, 1]))
    return len(model.series) - 1


@command("GRAVITY")
def GRAVITY(gx: float | int | Callable, gy: float | int | Callable, gz: float | int | Callable) -> None:
    """Set the acceleration that acts on all particles.

    Parameters
    ----------
    gx, gy, gz : float, int or function of time
        A number with a decimal point is constant; an int is the number of a TSERIES.
    """
    model = current()
    values, curves, functions = [0.0] * 3, [-1] * 3, [None] * 3
    for i, (name, value) in enumerate((("gx", gx), ("gy", gy), ("gz", gz))):
        if callable(value):
            functions[i] = value
        elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            if not 0 <= value < len(model.series):
                raise BadValue(f"'{name}': the int {value} means TSERIES number {value}, which does not exist; write {value}. for a constant")
            curves[i] = model.series[value]
        else:
            values[i] = checks.number(value, name)
    control = model.control
    control.gravity[:, 0], control.gravity_curve[:, 0] = values, curves
    model.callbacks.gravity = functions


@command("DAMPING")
def DAMPING(linear: Three, angular: Three) -> None:
    """Damp the motion of all particles in proportion to their mass and inertia.

    Parameters
    ----------
    linear, angular : function of time, or tuple of 3 ints
        Three coefficients [1/time] for spatial x, y, z: a function that returns them, or numbers of TSERIES.
    """
    model = current()
    curves, linear_function = arguments.three_series_or_function(model, linear, "linear")
    angular_curves, angular_function = arguments.three_series_or_function(model, angular, "angular")
    control = model.control
    control.linear_damping_curve[:, 0] = -1 if curves is None else curves
    control.angular_damping_curve[:, 0] = -1 if angular_curves is None else angular_curves
    control.damped[0] = 1
    model.callbacks.linear_damping, model.callbacks.angular_damping = linear_function, angular_function


@command("RESTRAIN")
def RESTRAIN(parnum: int, linear: Numbers | None = None, angular: Numbers | None = None) -> None:
    """Fix directions of motion of a particle.

    Parameters
    ----------
    parnum : int
    linear : list of 3, 6 or 9 floats, optional
        One, two or three spatial directions in which the mass centre does not move; each is made orthogonal to those before.
    angular : list of 3, 6 or 9 floats, optional
        Spatial axes about which the particle does not turn.
    """
    model = current()
    number = arguments.particle(model, parnum, "parnum")
    linear_axes = np.zeros((0, 3)) if linear is None else orthonormal(linear, "linear")
    angular_axes = np.zeros((0, 3)) if angular is None else orthonormal(angular, "angular")
    model.unsettle()
    found = np.flatnonzero(model.restraints.view("particle") == number)
    row = int(found[0]) if found.size else model.restraints.append(particle=number)
    for name, axes, given in (("linear", linear_axes, linear), ("angular", angular_axes, angular)):
        if given is not None:
            getattr(model.restraints, name)[:, : len(axes), row] = axes.T
            getattr(model.restraints, f"{name}_count")[row] = len(axes)


def orthonormal(values, name: str) -> np.ndarray:
    """Return directions (k, 3) made orthonormal in their order."""
    vectors = checks.numbers(values, name)
    if vectors.size not in (3, 6, 9):
        raise BadValue(f"'{name}' must hold 3, 6 or 9 numbers, it holds {vectors.size}")
    axes = np.zeros((0, 3))
    for vector in vectors.reshape(-1, 3):
        length = np.linalg.norm(vector)
        rest = vector - axes.T @ (axes @ vector)
        rest -= axes.T @ (axes @ rest)
        if not np.linalg.norm(rest) > 1e-8 * length:
            raise BadValue(f"'{name}': direction {len(axes)} is zero, or lies in the space of those before it")
        axes = np.vstack((axes, rest / np.linalg.norm(rest)))
    return axes


@command("PRESCRIBE")
def PRESCRIBE(parnum: int | Integers, linear: Three | None = None, angular: Three | None = None, kind: str = "vv") -> None:
    """Prescribe the motion of a particle, or of several.

    Parameters
    ----------
    parnum : int or list of int
    linear, angular : function of time, or tuple of 3 ints, optional
        Spatial velocity or acceleration of the mass centre, and spatial angular velocity or acceleration: a function that
        returns three numbers, or numbers of TSERIES.  A function that moves a list of n particles is called once a step, and
        returns three numbers for all or an array (n, 3).
    kind : str
        Two letters, the first for `linear`, the second for `angular`: 'v' velocity, 'a' acceleration.
    """
    model = current()
    if checks.is_sequence(parnum):
        numbers = [arguments.particle(model, item, f"parnum[{i}]") for i, item in enumerate(parnum)]
        if not numbers or len(set(numbers)) < len(numbers):
            raise BadValue("'parnum' must hold the number of a particle, each at most once")
    else:
        numbers = [arguments.particle(model, parnum, "parnum")]
    kinds = {"v": DriveKind.VELOCITY, "a": DriveKind.ACCELERATION}
    letters = checks.choice(kind, "kind", ("vv", "va", "av", "aa"))
    if linear is None and angular is None:
        raise BadType("'linear' or 'angular' must be given")
    parts = [None if value is None else arguments.three_series_or_function(model, value, name)
             for name, value in (("linear", linear), ("angular", angular))]  # fmt: skip
    model.unsettle()
    rows = drives_of(model, numbers)
    for name, part, letter in zip(("linear", "angular"), parts, letters):
        if part is not None:
            set_drives(model, rows, name, part, kinds[letter], len(numbers) if checks.is_sequence(parnum) else 0)
    model.particles.steered[numbers] = model.drives.angular_kind[rows] == DriveKind.VELOCITY


def drives_of(model: Model, numbers: list[int]) -> list[int]:
    """Return rows of particles' prescribed motions, appended if necessary."""
    known = {number: row for row, number in enumerate(model.drives.view("particle").tolist())}
    return [known[number] if number in known else model.drives.append(particle=number) for number in numbers]


def set_drives(model: Model, rows: list[int], name: str, part: tuple, kind: DriveKind, count: int) -> None:
    """Write the linear or angular half of prescribed motions; `count`: length of the list of particles, 0 for a single one."""
    curves, function = part
    getattr(model.drives, f"{name}_kind")[rows] = kind
    getattr(model.drives, f"{name}_curve")[:, rows] = -1 if curves is None else np.reshape(curves, (3, 1))
    for place, row in enumerate(rows):
        getattr(model.callbacks, f"{name}_drives").set(row, function, place, count)
