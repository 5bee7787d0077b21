"""Prescribed motions of points (docs/language-objects.md, Prescribed motion): SET_DISPLACEMENT, SET_VELOCITY, SET_ACCELERATION and their forms for three directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..bodies.table import BodyKind
from ..time_series import TimeSeries
from . import checks
from .bodies import BODY, CONSTRAINT, body_of
from .checks import BadValue, command
from .constraints import point_on, unit_direction
from .hints import Numbers, Vector
from .series import TIME_SERIES, number_or_series


def _velocity_of_displacement(value, name: str, dynamic: bool) -> TimeSeries:
    """Return the velocity of a displacement history; beyond its ends the first and the last slope continue.

    In dynamics steps take its values at their ends, in quasi-statics means, which are differences of displacements.
    """
    series = checks.instance(value, name, TIME_SERIES)._series
    return series.centred_slope() if dynamic else series.derivative()


def _velocity_of_acceleration(value, name: str, dynamic: bool) -> TimeSeries:
    """Return the velocity, from rest, of an acceleration history; it keeps its last value."""
    return checks.instance(value, name, TIME_SERIES)._series.integral()


def _given_velocity(value, name: str, dynamic: bool) -> float | TimeSeries:
    """Return a velocity as it is given."""
    return number_or_series(value, name)


def _driven(body) -> BODY:
    """Check a body whose points can be driven."""
    body = body_of(body, "body")
    if body._kind == BodyKind.OBSTACLE and not body._simulation.domain.dynamic:
        raise BadValue("an obstacle cannot be moved in a quasi-static analysis")
    return body


def _prescribe(body, point, direction, value, name: str, velocity) -> CONSTRAINT:
    body = _driven(body)
    point = point_on(body, point, "point")
    direction = unit_direction(direction, "direction")
    simulation = body._simulation
    return CONSTRAINT._of(
        simulation, simulation.domain.joints.prescribe_velocity(body._id, point, direction, velocity(value, name, simulation.domain.dynamic))
    )


def _prescribe3(body, point, base, tms, velocity) -> CONSTRAINT:
    body = _driven(body)
    point = point_on(body, point, "point")
    vectors = np.reshape(checks.vector(base, "base", 9), (3, 3))
    columns = np.stack([unit_direction(tuple(vectors[i]), f"base[{3 * i}:{3 * i + 3}]") for i in range(3)], axis=1)
    if abs(np.linalg.det(columns)) < 1e-6:
        raise BadValue("'base' must hold three directions that do not lie in one plane")
    series = checks.sequence(tms, "tms")
    if len(series) != 3:
        raise BadValue(f"'tms' must hold 3 TIME_SERIES objects, it holds {len(series)}")
    simulation = body._simulation
    values = [velocity(value, f"tms[{i}]", simulation.domain.dynamic) for i, value in enumerate(series)]
    return CONSTRAINT._of(simulation, simulation.domain.joints.prescribe_velocities(body._id, point, columns, values))


@command("SET_DISPLACEMENT")
def SET_DISPLACEMENT(body: BODY, point: Vector, direction: Vector, tms: TIME_SERIES) -> CONSTRAINT:
    """Prescribe the displacement of a referential point along a spatial direction.

    Parameters
    ----------
    body : BODY
    point : tuple of 3
        Referential point in or on the shape.
    direction : tuple of 3
    tms : TIME_SERIES
        History of displacement; its slope is prescribed as a velocity, at its points the mean of both slopes.

    Returns
    -------
    CONSTRAINT
    """
    return _prescribe(body, point, direction, tms, "tms", _velocity_of_displacement)


@command("SET_VELOCITY")
def SET_VELOCITY(body: BODY, point: Vector, direction: Vector, value: float | TIME_SERIES) -> CONSTRAINT:
    """Prescribe the velocity of a referential point along a spatial direction; other directions stay free.

    Parameters
    ----------
    body, point, direction
        See SET_DISPLACEMENT.
    value : float or TIME_SERIES
        Velocity at the end of every step.

    Returns
    -------
    CONSTRAINT
    """
    return _prescribe(body, point, direction, value, "value", _given_velocity)


@command("SET_ACCELERATION")
def SET_ACCELERATION(body: BODY, point: Vector, direction: Vector, tms: TIME_SERIES) -> CONSTRAINT:
    """Prescribe the acceleration of a referential point along a spatial direction.

    Parameters
    ----------
    body, point, direction
        See SET_DISPLACEMENT.
    tms : TIME_SERIES
        History of acceleration; its integral from the first time on is prescribed as a velocity.

    Returns
    -------
    CONSTRAINT
    """
    return _prescribe(body, point, direction, tms, "tms", _velocity_of_acceleration)


@command("SET_DISPLACEMENT3")
def SET_DISPLACEMENT3(body: BODY, point: Vector, base: Numbers, tms: Sequence[TIME_SERIES]) -> CONSTRAINT:
    """Prescribe displacements of a referential point along three directions.

    Parameters
    ----------
    body, point
        See SET_DISPLACEMENT.
    base : tuple of 9
        Three concatenated directions.
    tms : tuple of 3 TIME_SERIES
        Histories of displacement.

    Returns
    -------
    CONSTRAINT
    """
    return _prescribe3(body, point, base, tms, _velocity_of_displacement)


@command("SET_VELOCITY3")
def SET_VELOCITY3(body: BODY, point: Vector, base: Numbers, tms: Sequence[float | TIME_SERIES]) -> CONSTRAINT:
    """Prescribe velocities of a referential point along three directions.

    Parameters
    ----------
    body, point, base
        See SET_DISPLACEMENT3.
    tms : tuple of 3 TIME_SERIES or float
        Velocities at the end of every step.

    Returns
    -------
    CONSTRAINT
    """
    return _prescribe3(body, point, base, tms, _given_velocity)


@command("SET_ACCELERATION3")
def SET_ACCELERATION3(body: BODY, point: Vector, base: Numbers, tms: Sequence[TIME_SERIES]) -> CONSTRAINT:
    """Prescribe accelerations of a referential point along three directions.

    Parameters
    ----------
    body, point, base
        See SET_DISPLACEMENT3.
    tms : tuple of 3 TIME_SERIES
        Histories of acceleration.

    Returns
    -------
    CONSTRAINT
    """
    return _prescribe3(body, point, base, tms, _velocity_of_acceleration)
