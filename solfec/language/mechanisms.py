"""Joints of mechanisms: BALL, HINGE, SLIDER, CYLINDRICAL, UNIVERSAL, WELD."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyKind
from . import checks
from .bodies import BODY, CONSTRAINT, body_of
from .checks import BadValue, command
from .constraints import check_pair
from .hints import Vector

SQUARE = 1e-6  # cosine of the angle of two axes below which they count as square to each other


@command("BALL")
def BALL(body: BODY, body2: BODY | None, point: Vector) -> tuple[CONSTRAINT, ...]:
    """Hold a point of a body at a point of another body, or in space.

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Rigid, pseudo-rigid, or one of them an obstacle; None stands for space.
    point : tuple of 3
        Place of the joint in the present placement of the bodies, also outside of their shapes.

    Returns
    -------
    tuple of 1 CONSTRAINT
    """
    return _joint("BALL", body, body2, point)


@command("HINGE")
def HINGE(body: BODY, body2: BODY | None, point: Vector, axis: Vector) -> tuple[CONSTRAINT, ...]:
    """Let two bodies, or a body and space, turn against each other about an axis.

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Rigid, pseudo-rigid, or one of them an obstacle; None stands for space.
    point, axis : tuple of 3
        A point of the axis and its direction, of any length, in the present placement.

    Returns
    -------
    tuple of 3 CONSTRAINT
    """
    return _joint("HINGE", body, body2, point, axis)


@command("SLIDER")
def SLIDER(body: BODY, body2: BODY | None, point: Vector, axis: Vector) -> tuple[CONSTRAINT, ...]:
    """Let two bodies, or a body and space, slide against each other along an axis without turning.

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Rigid, pseudo-rigid, or one of them an obstacle; None stands for space.
    point, axis : tuple of 3
        A point of the axis and its direction, of any length, in the present placement.

    Returns
    -------
    tuple of 5 CONSTRAINT
    """
    return _joint("SLIDER", body, body2, point, axis)


@command("CYLINDRICAL")
def CYLINDRICAL(body: BODY, body2: BODY | None, point: Vector, axis: Vector) -> tuple[CONSTRAINT, ...]:
    """Let two bodies, or a body and space, slide along an axis and turn about it.

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Rigid, pseudo-rigid, or one of them an obstacle; None stands for space.
    point, axis : tuple of 3
        A point of the axis and its direction, of any length, in the present placement.

    Returns
    -------
    tuple of 4 CONSTRAINT
    """
    return _joint("CYLINDRICAL", body, body2, point, axis)


@command("UNIVERSAL")
def UNIVERSAL(body: BODY, body2: BODY | None, point: Vector, axis: Vector, axis2: Vector) -> tuple[CONSTRAINT, ...]:
    """Hold a point of two bodies together, and an axis of the one square to an axis of the other (a Cardan joint).

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Rigid, pseudo-rigid, or one of them an obstacle; None stands for space.
    point : tuple of 3
        Where the axes cross, in the present placement.
    axis, axis2 : tuple of 3
        Axes of any length, square to each other in the present placement.  `body` carries `axis` and `body2` carries `axis2`; beside
        space, `axis` stays in space and `body` carries `axis2`.

    Returns
    -------
    tuple of 2 CONSTRAINT
    """
    return _joint("UNIVERSAL", body, body2, point, axis, axis2)


@command("WELD")
def WELD(body: BODY, body2: BODY | None, point: Vector) -> tuple[CONSTRAINT, ...]:
    """Let two bodies, or a body and space, neither slide nor turn against each other.

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Rigid, pseudo-rigid, or one of them an obstacle; None stands for space.
    point : tuple of 3
        Place of the joint in the present placement.

    Returns
    -------
    tuple of 4 CONSTRAINT
    """
    return _joint("WELD", body, body2, point)


def _joint(kind: str, body, body2, point, axis=None, second=None) -> tuple[CONSTRAINT, ...]:
    """Check what all joints take, and make one."""
    one = body_of(body, "body")
    two = None if body2 is None else body_of(body2, "body2")
    place = checks.vector(point, "point")
    axis = None if axis is None else _unit(axis, "axis")
    second = None if second is None else _unit(second, "axis2")
    if second is not None:
        if abs(axis @ second) > SQUARE:
            angle = np.degrees(np.arccos(np.clip(axis @ second, -1.0, 1.0)))
            raise BadValue(f"'axis' and 'axis2' must be square to each other; the angle between them is {angle:g} degrees")
        second = second - (axis @ second) * axis
    if two is None and one._kind == BodyKind.OBSTACLE:
        raise BadValue("'body' is an obstacle; it needs no joint with space, since only SET_VELOCITY and its like move it")
    if two is not None:
        check_pair((one, two), ("body", "body2"))
    for name, item in (("body", one), ("body2", two)):
        if item is not None and item._kind == BodyKind.FINITE_ELEMENT:
            raise BadValue(f"'{name}' {item.id} is of kind 'FINITE_ELEMENT'; a {kind} joins rigid and pseudo-rigid bodies and obstacles")
    simulation = one._simulation
    identifiers = simulation.domain.joints.mechanism(kind, one._id, None if two is None else two._id, place, axis, second)
    return tuple(CONSTRAINT._of(simulation, identifier) for identifier in identifiers)


def _unit(value, name: str) -> np.ndarray:
    vector = np.array(checks.direction(value, name))
    return vector / np.linalg.norm(vector)
