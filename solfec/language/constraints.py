"""Constraints put by the user (docs/language-objects.md, Constraints), except prescribed motions and springs."""

from __future__ import annotations

import math

import numpy as np

from ..bodies.table import BodyKind
from . import checks, session
from .bodies import BODY, CONSTRAINT, body_of
from .checks import BadType, BadValue, command
from .hints import Vector


def point_on(body: BODY, value, name: str) -> tuple[float, ...]:
    """Check a referential point in or on a body's shape."""
    point = checks.vector(value, name)
    if not body._simulation.domain.points.contains(body._id, point):
        raise BadValue(f"'{name}' {point} lies outside of the shape of body {body._id} ({body.label or body.kind})")
    return point


def unit_direction(value, name: str) -> np.ndarray:
    """Return a direction of length one; warn about other lengths, which scale velocity and reaction in Solfec-1.0."""
    vector = np.array(checks.direction(value, name))
    length = float(np.linalg.norm(vector))
    if abs(length - 1.0) > 1e-8:
        session.warn(f"'{name}' has length {length:g} and is normalised; Solfec-1.0 would scale values along it by {1 / length:g}")
    return vector / length


def check_pair(bodies, names) -> None:
    """Check two bodies that can be joined: of one model, different, not both obstacles."""
    (one, two), (first, second) = bodies, names
    if one._simulation is not two._simulation:
        raise BadValue(f"'{first}' and '{second}' belong to different SOLFEC objects")
    if one == two:
        raise BadValue(f"'{first}' and '{second}' are the same body")
    if one._kind == BodyKind.OBSTACLE and two._kind == BodyKind.OBSTACLE:
        raise BadValue("two obstacles cannot be linked")


def limits_of(value) -> tuple[float, float]:
    """Two numbers, which may be infinite."""
    items = checks.sequence(value, "limits")
    if len(items) != 2:
        raise BadValue(f"'limits' must hold 2 numbers, it holds {len(items)}")
    low, high = (checks.number(item, f"limits[{i}]", infinite=True) for i, item in enumerate(items))
    return low, high


def strength_of(value) -> float:
    """A strength that may be left out."""
    return math.inf if value is None else checks.positive(value, "strength", infinite=True)


@command("FIX_POINT")
def FIX_POINT(body: BODY, point: Vector, strength: float | None = None) -> CONSTRAINT:
    """Fix a referential point of a body in space.

    Parameters
    ----------
    body : BODY
    point : tuple of 3
        Referential point in or on the shape.
    strength : float
        Magnitude of the reaction beyond which the constraint is deleted (default: infinity).

    Returns
    -------
    CONSTRAINT
    """
    body = body_of(body, "body")
    point = point_on(body, point, "point")
    strength = strength_of(strength)
    simulation = body._simulation
    return CONSTRAINT._of(simulation, simulation.domain.joints.fix_point(body._id, point, strength))


@command("FIX_DIRECTION")
def FIX_DIRECTION(body: BODY, point: Vector, direction: Vector, body2: BODY | None = None, point2: Vector | None = None) -> CONSTRAINT:
    """Stop the motion of a referential point along a direction, in space or relative to another body.

    Parameters
    ----------
    body, point
        See FIX_POINT.
    direction : tuple of 3
        Spatial direction; with `body2` it is convected with `body`.
    body2, point2 : BODY, tuple of 3
        Both or none: a second body and its point, whose motion relative to `body` is stopped.

    Returns
    -------
    CONSTRAINT
    """
    body = body_of(body, "body")
    point = point_on(body, point, "point")
    direction = unit_direction(direction, "direction")
    simulation = body._simulation
    if (body2 is None) != (point2 is None):
        raise BadValue("'body2' and 'point2' must be given together")
    if body2 is None:
        return CONSTRAINT._of(simulation, simulation.domain.joints.fix_direction(body._id, point, direction))
    body2 = body_of(body2, "body2")
    point2 = point_on(body2, point2, "point2")
    check_pair((body, body2), ("body", "body2"))
    if BodyKind.FINITE_ELEMENT in (body._kind, body2._kind):
        raise BadValue("a direction between two bodies can only be fixed for rigid and pseudo-rigid ones")
    constraint = simulation.domain.joints.fix_direction(body._id, point, direction, body2._id, point2)
    return CONSTRAINT._of(simulation, constraint)


@command("PUT_RIGID_LINK")
def PUT_RIGID_LINK(body1: BODY | None, body2: BODY | None, point1: Vector, point2: Vector, strength: float | None = None) -> CONSTRAINT:
    """Keep the distance between referential points of two bodies, or of one body and a fixed point in space.

    Parameters
    ----------
    body1, body2 : BODY or None
        Not both None, of one SOLFEC object, not both obstacles.
    point1, point2 : tuple of 3
        Equal points couple the bodies there.
    strength : float
        Tensile force beyond which the link is deleted; for a coupling, magnitude of its reaction.

    Returns
    -------
    CONSTRAINT
    """
    if body1 is None and body2 is None:
        raise BadType("'body1' and 'body2' must not both be None")
    pairs = []
    for i, (body, point) in enumerate(((body1, point1), (body2, point2)), 1):
        if body is None:
            pairs.append((None, checks.vector(point, f"point{i}")))
        else:
            body = body_of(body, f"body{i}")
            pairs.append((body, point_on(body, point, f"point{i}")))
    (one, first), (two, second) = pairs
    strength = strength_of(strength)
    if one is not None and two is not None:
        check_pair((one, two), ("body1", "body2"))
    simulation = (one or two)._simulation
    ids = [None if body is None else body._id for body in (one, two)]
    return CONSTRAINT._of(simulation, simulation.domain.joints.rigid_link(*ids, first, second, strength))
