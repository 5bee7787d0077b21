"""GRAVITY, FORCE, TORQUE and PRESSURE (docs/language-running.md, Loads)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..bodies.pressure import loaded_surface
from ..bodies.table import BodyKind
from ..contact.geometry import PrimitiveKind
from ..errors import SolfecError
from . import checks, session
from .bodies import BODY, body_of
from .checks import BadValue, command
from .handles import simulation_of
from .hints import Vector
from .model import SOLFEC
from .series import TIME_SERIES, number_or_series


@command("GRAVITY")
def GRAVITY(solfec: SOLFEC, vector: Sequence[float | TIME_SERIES]) -> None:
    """Set the acceleration of gravity.

    Parameters
    ----------
    solfec : SOLFEC
    vector : tuple of 3
        Components, each a number or a TIME_SERIES.
    """
    simulation = simulation_of(solfec)
    items = checks.sequence(vector, "vector")
    if len(items) != 3:
        raise BadValue(f"'vector' must hold 3 items, it holds {len(items)}")
    values = [number_or_series(item, f"vector[{i}]") for i, item in enumerate(items)]
    simulation.domain.loads.set_gravity(values)


@command("FORCE")
def FORCE(
    body: BODY,
    kind: Literal["SPATIAL", "CONVECTED"],
    point: Vector,
    direction: Vector,
    value: float | TIME_SERIES | Callable[..., Sequence[float]],
    data: Any = None,
) -> None:
    """Apply a point force to a body; forces accumulate.

    Parameters
    ----------
    body : BODY
        Not an obstacle.
    kind : str
        'SPATIAL': the direction stays fixed; 'CONVECTED': it follows the body.
    point, direction : tuple of 3
        Referential point and direction, which is normalised; both are ignored with a callback.
    value : number, TIME_SERIES or callable
        ``value(data..., q, u, time, step)`` returns 9 numbers for rigid bodies (spatial force, spatial torque,
        referential torque), else as many as there are velocities.
    data
        First arguments of the callback, several when it is a tuple.
    """
    body = body_of(body, "body")
    kind = checks.choice(kind, "kind", ("SPATIAL", "CONVECTED"))
    point = checks.vector(point, "point")
    vector = checks.vector(direction, "direction")
    if body._kind == BodyKind.OBSTACLE:
        raise BadValue(f"'body' {body.id} is an obstacle; forces do not move obstacles")
    domain = body._simulation.domain
    if callable(value) and not isinstance(value, TIME_SERIES):
        domain.loads.add_callback(domain.body_row(body._id), with_data(value, first_arguments(data)))
        return
    value = number_or_series(value, "value")
    refuse_data(data, "FORCE")
    direction = unit(checks.direction(vector, "direction"), "direction", "FORCE")
    try:
        domain.points.check_inside(body._id, point)
        domain.loads.add_force(domain.body_row(body._id), kind, point, direction, value)
    except SolfecError as error:
        raise BadValue(f"'point': {error}") from None


@command("TORQUE")
def TORQUE(
    body: BODY, kind: Literal["SPATIAL", "CONVECTED"], direction: Vector, value: float | TIME_SERIES | Callable[..., float], data: Any = None
) -> None:
    """Apply a torque to a rigid body; torques accumulate.

    Parameters
    ----------
    body : BODY
        Of kind 'RIGID'.
    kind : str
        'SPATIAL': the axis stays fixed; 'CONVECTED': it follows the body.
    direction : tuple of 3
        Axis, which is normalised.
    value : number, TIME_SERIES or callable
        ``value(data..., q, u, time, step)`` returns the torque about the axis, as in FORCE at the mid-step configuration.
    data
        First arguments of the callback, several when it is a tuple.
    """
    body = body_of(body, "body")
    kind = checks.choice(kind, "kind", ("SPATIAL", "CONVECTED"))
    vector = checks.direction(direction, "direction")
    if body._kind != BodyKind.RIGID:
        raise BadValue(f"'body' {body.id} is of kind {body.kind}; a torque can only be applied to bodies of kind 'RIGID'")
    domain = body._simulation.domain
    row, axis = domain.body_row(body._id), unit(vector, "direction", "TORQUE")
    if callable(value) and not isinstance(value, TIME_SERIES):
        domain.loads.add_torque_callback(row, kind, axis, with_data(value, first_arguments(data)))
        return
    value = number_or_series(value, "value")
    refuse_data(data, "TORQUE")
    domain.loads.add_torque(row, kind, axis, value)


@command("PRESSURE")
def PRESSURE(body: BODY, surfid: int, value: float | TIME_SERIES) -> None:
    """Apply a pressure to a surface of a body; pressures accumulate.

    Parameters
    ----------
    body : BODY
        No obstacle; its shape is a single MESH.
    surfid : int
        Identifier of the surface.
    value : number or TIME_SERIES
        Force per area along the outward normal: a positive value pulls, a negative one presses.
    """
    body = body_of(body, "body")
    surface = checks.identifier(surfid, "surfid")
    value = number_or_series(value, "value")
    if body._kind == BodyKind.OBSTACLE:
        raise BadValue(f"'body' {body.id} is an obstacle; pressures do not move obstacles")
    try:
        press_surface(body._simulation.domain, body._id, surface, value)
    except ValueError as error:
        raise BadValue(str(error)) from None


def first_arguments(data) -> tuple:
    """What the user's data are in a call."""
    return data if isinstance(data, tuple) else () if data is None else (data,)


def refuse_data(data, command_name: str) -> None:
    """Warn of data without effect."""
    if data is not None:
        session.warn(f"{command_name}: 'data' is for a 'value' that is called; this one is not, 'data' is ignored")


def with_data(function, data: tuple):
    """The callback with the user's data in front of its arguments."""
    if not data:
        return function

    def call(*arguments):  # four of loads; of motors one or three
        return function(*data, *arguments)

    return call


def unit(vector: tuple[float, ...], name: str, command_name: str) -> tuple[float, ...]:
    """Return a direction of length 1; warn if Solfec-1.0 would have scaled the value by its length."""
    length = math.sqrt(sum(x * x for x in vector))
    if abs(length - 1.0) > 1e-8:
        session.warn(f"{command_name}: '{name}' is normalised; Solfec-1.0 would scale the value by {length:g}")
    return tuple(x / length for x in vector)


def press_surface(domain, identifier: int, surface: int, value) -> None:
    """Put a pressure on the faces of a mesh with a surface identifier (docs/language-running.md, PRESSURE).

    Raises
    ------
    ValueError
        A body whose shape is not a single mesh, an identifier that none of its outer faces has.
    """
    row = domain.body_row(identifier)
    held = domain.bodies.meshes.get(identifier)
    meshes = [] if held is not None and held.background is not None else domain.meshes_of(identifier)
    if len(meshes) != 1 or not (domain.geometry.kinds_of(domain.bodies, row) == PrimitiveKind.ELEMENT).all():
        raise ValueError(f"the shape of body {identifier} is not a single mesh")
    found = loaded_surface(meshes[0], surface, held is not None)
    if found is None:
        topology = meshes[0].topology
        known = ", ".join(map(str, np.unique(topology.face_surface[topology.boundary]).tolist()))
        raise ValueError(f"no outer face of body {identifier} has the surface identifier {surface} (there are {known})")
    domain.loads.add_pressure(row, *found, value, surface)
