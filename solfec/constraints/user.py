"""The user's constraints from step to step: points, bases and gaps; what breaks under its load."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _kernels
from ..bodies.table import BodyTable
from ..errors import SolfecError
from ..kernel_programs import CONUPD, TIMINT, Call, Numbers, Pause, Phase
from . import element_points
from .table import ConstraintTable

_update_user_constraints = _kernels.user_constraints.update_user_constraints
_find_overloaded = _kernels.user_constraints.find_overloaded


def update(constraints: ConstraintTable, bodies: BodyTable, time_end: float, step: float) -> None:
    """Refresh points, base, gap and prescribed velocity of the user's rows at the bodies' current configuration.

    Parameters
    ----------
    constraints, bodies
        State tables; a link without slave is held at the spatial point `slave_point`.
    time_end, step : float
        End and length of the step; velocities are prescribed at its end.

    Raises
    ------
    SolfecError
        A restored constraint follows a time series that the input has not created.
    """
    users, series = constraints.user_count, constraints.series
    if not users:
        return
    element_points.place(constraints, bodies)
    if series.n:
        series.evaluate(time_end)
    directions = element_points.carried_directions(constraints, bodies)
    failed = _update_user_constraints(constraints.user_count, *_columns(constraints, bodies, *directions))
    if failed >= 0:
        _refuse(constraints, failed)


def _columns(constraints: ConstraintTable, bodies: BodyTable, direction: np.ndarray, direction_update: np.ndarray) -> tuple:
    """Arguments of the kernel that updates rows, after their number."""
    series = constraints.series
    return (
        constraints.kind, constraints.master, constraints.slave,
        constraints.master_point, constraints.slave_point, constraints.length,
        direction, direction_update, series.n, constraints.series_rows, series.result,
        bodies.kind, bodies.centre, bodies.conf_ptr, bodies.configurations.conf,
        constraints.point, constraints.other_point, constraints.base, constraints.gap, constraints.value,
    )  # fmt: skip


def _refuse(constraints: ConstraintTable, row: int) -> None:
    raise SolfecError(
        f"the time series of constraint {int(constraints.id[row])} is unknown: a continued run needs the input to"
        " prescribe its motions again"
    )


class Update(Phase):
    """`update` of constraints whose directions no finite element body carries.

    Parameters
    ----------
    model
        Has `constraints`, `bodies`, `clock` and `step`.
    """

    phase = CONUPD

    def __init__(self, model):
        self.model = model
        self._given, self._time, self._found = Numbers(users="i4", step="f8"), Numbers(reached="f8"), Numbers(failed="i4")

    def settle(self) -> None:
        constraints = self.model.constraints
        self._given.set(constraints.user_count, self.model.step)
        constraints.series.settle()

    def calls(self) -> list[Call]:
        constraints, bodies, users = self.model.constraints, self.model.bodies, self._given["users"]
        columns = _columns(constraints, bodies, constraints.direction, constraints.update)
        end_of_step = [self.model.clock.instant(self._given["step"], 1.0, self._time)] if constraints.series.n else []
        return [
            *element_points.place_calls(constraints, bodies, users),
            *end_of_step,
            *constraints.series.calls(self._time["reached"]),
            Call("user_constraints.update_user_constraints", users, *columns, results=self._found, wanted={"failed": -1}),
        ]

    def stopped(self, call: int) -> int:
        _refuse(self.model.constraints, self._found.get()[0])


class Overload(Phase):
    """Finds what `break_overloaded` breaks.

    Parameters
    ----------
    constraints : ConstraintTable
    notice : callable
        Called where there are any.

    Attributes
    ----------
    found : Numbers
        The `count` of rows.
    """

    phase = TIMINT

    def __init__(self, constraints: ConstraintTable, notice: Callable[[], None]):
        self.constraints, self.notice = constraints, notice
        self._given, self.found = Numbers(users="i4"), Numbers(count="i4")

    def settle(self) -> None:
        self._given.set(self.constraints.user_count)

    def calls(self) -> list[Call]:
        constraints = self.constraints
        _make_room(constraints)  # whose table may grow within a step
        columns = constraints.kind, constraints.strength, constraints.R, constraints.overloaded
        find = Call("user_constraints.find_overloaded", self._given["users"], *columns, results=self.found)
        return [find, Pause(self.found["count"])]

    def stopped(self, call: int) -> int:
        self.notice()
        return call + 1


def break_overloaded(constraints: ConstraintTable, count: int | None = None) -> np.ndarray | None:
    """Rows loaded above their strength in the step just made: |R| of fixed points, tension -R_N of rigid links.

    Parameters
    ----------
    count : int, optional
        How many the phase `Overload` has found; without, the rows are looked at.

    Returns
    -------
    mask : ndarray of bool, shape (n,), or None where no row is
    """
    if count is None:
        _make_room(constraints)
        columns = constraints.kind, constraints.strength, constraints.R, constraints.overloaded
        count = _find_overloaded(constraints.user_count, *columns)
    if not count:
        return None
    mask = np.zeros(constraints.n, bool)
    mask[: constraints.user_count] = constraints.overloaded[: constraints.user_count] == 1
    return mask


def _make_room(constraints: ConstraintTable) -> None:
    if constraints.overloaded.size != constraints.capacity:
        constraints.overloaded = np.zeros(constraints.capacity, np.int32)
