"""The user's constraints from step to step: points, bases and gaps; constraints that break under their load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..bodies.table import BodyTable
from ..errors import SolfecError
from ..kinds import Motor
from ..tables import opened, unique
from . import element_points, motors
from .elsewhere import NOWHERE, Elsewhere
from .table import ConstraintKind, ConstraintTable

PRESCRIBED = tuple(kind for kind in ConstraintKind if kind.components and not kind.is_joint)

_update_user_constraints = _kernels.user_constraints.update_user_constraints
_find_overloaded = _kernels.user_constraints.find_overloaded
_keep_rows = _kernels.user_constraints.keep_rows


def update(constraints: ConstraintTable, bodies: BodyTable, time_end: float, step: float, elsewhere: Elsewhere = NOWHERE) -> None:
    """Update points, base, gap and prescribed velocity of the user's rows at the bodies' current configuration.

    Parameters
    ----------
    constraints, bodies
        State tables; a link without slave is held at the spatial point `slave_point`.
    time_end, step : float
        End and length of the step; velocities are prescribed at its end.
    elsewhere : Elsewhere
        Constraints of other parts of the model.

    Raises
    ------
    SolfecError
        A restored constraint follows a time series that the input has not created.
    """
    if constraints.user_count:
        follow(constraints, bodies, time_end, step)
    if step > 0.0:
        motors.ask(constraints, bodies, time_end, step, elsewhere)


def follow(constraints: ConstraintTable, bodies: BodyTable, time_end: float, step: float) -> None:
    """Do what `update` does, but for motors with Python functions."""
    users, series, elements = constraints.user_count, constraints.series, within_step(bodies)
    directions = constraints.direction, constraints.update
    if elements.count:
        element_points.place(constraints, bodies)
        directions = element_points.carried_directions(constraints, bodies)
    if series.n:
        series.evaluate(time_end)
    failed, status = _update_user_constraints(bodies.handles, constraints.handle, series.handle, elements.handle, users, step, *directions)
    opened(status)
    if failed >= 0:
        _refuse(constraints, failed)


def prescribe_means(constraints: ConstraintTable, time: float, step: float) -> None:
    """Prescribe the mean velocities, and rates of motors, of a step of quasi-statics from `time` on.

    Then points and coordinates are where their histories are at its end, however long it is.
    """
    users, series = constraints.user_count, constraints.series
    if not series.n:
        return
    rows = np.flatnonzero(np.isin(constraints.kind[:users], PRESCRIBED) | (constraints.motor[:users] == Motor.RATE))
    if rows.size:
        followed, value = constraints.series_rows[:, rows], constraints.value[:, rows]
        constraints.value[:, rows] = np.where(followed < 0, value, series.means(time, time + step)[followed])


@contextmanager
def present(constraints: ConstraintTable, bodies: BodyTable, time: float) -> Iterator[None]:
    """Show the user's rows at the present configuration, between steps; afterwards restore those of mid-step."""
    users, kept = constraints.user_count, constraints.kept
    kept.reserve(users)
    opened(_keep_rows(constraints.handle, kept.handle, users, False))
    update(constraints, bodies, time, 0.0)
    try:
        yield
    finally:
        opened(_keep_rows(constraints.handle, kept.handle, users, True))


def on_reduced_bodies(constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray | slice) -> np.ndarray:
    """Return which of some rows act on a body of form 'BC-MODAL' or 'BC-RO'."""
    slave = constraints.slave[rows]
    return (bodies.mode_count[constraints.master[rows]] > 0) | (slave >= 0) & (bodies.mode_count[slave] > 0)


def _refuse(constraints: ConstraintTable, row: int) -> None:
    raise SolfecError(
        f"the time series of constraint {int(constraints.id[row])} is unknown: a continued run needs the input to"
        " prescribe its motions again"
    )


def find_overloaded(constraints: ConstraintTable) -> np.ndarray | None:
    """Find rows loaded above their strength in the last step: |R| of fixed points, tension -R_N of rigid links.

    Returns
    -------
    mask : ndarray of bool, shape (n,), or None if there is no such row
    """
    if constraints.overloaded.size != constraints.capacity:
        constraints.overloaded = np.zeros(constraints.capacity, np.int32)
    users = constraints.user_count
    if not users or not _find_overloaded(users, constraints.kind, constraints.strength, constraints.R, constraints.overloaded):
        return None
    mask = np.zeros(constraints.n, bool)
    mask[:users] = constraints.overloaded[:users] == 1
    broken = unique(constraints.joint[:users][mask[:users]])  # a joint breaks as a whole
    mask[:users] |= np.isin(constraints.joint[:users], broken[broken > 0])
    return mask
