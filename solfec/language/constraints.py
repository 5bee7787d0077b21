"""FIX_POINT and PUT_RIGID_LINK (manual, 4.2.16)."""

from __future__ import annotations

import math

from ..bodies.table import BodyKind
from . import checks
from .bodies import BODY, CONSTRAINT, body_of
from .checks import BadType, BadValue, command


def _point_on(body: BODY, value, name: str) -> tuple[float, ...]:
    """A referential point that lies in or on a body's shape."""
    point = checks.vector(value, name)
    if not body._simulation.domain.contains(body._id, point):
        raise BadValue(f"'{name}' {point} lies outside of the shape of body {body._id} ({body.label or body.kind})")
    return point


def _strength(value) -> float:
    return math.inf if value is None else checks.positive(value, "strength", infinite=True)


@command("FIX_POINT")
def FIX_POINT(body, point, strength=None):
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
    point = _point_on(body, point, "point")
    strength = _strength(strength)
    simulation = body._simulation
    return CONSTRAINT._of(simulation, simulation.domain.fix_point(body._id, point, strength))


@command("PUT_RIGID_LINK")
def PUT_RIGID_LINK(body1, body2, point1, point2, strength=None):
    """Keep the distance between referential points of two bodies, or of one body and a point in the air.

    Parameters
    ----------
    body1, body2 : BODY or None
        Not both None, of one SOLFEC object, not both obstacles.
    point1, point2 : tuple of 3
        Equal points couple the bodies there.
    strength : float
        Tensile force beyond which the link is deleted; of a coupling, magnitude of its reaction.

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
            pairs.append((body, _point_on(body, point, f"point{i}")))
    (one, first), (two, second) = pairs
    strength = _strength(strength)
    if one is not None and two is not None:
        if one._simulation is not two._simulation:
            raise BadValue("'body1' and 'body2' belong to different SOLFEC objects")
        if one == two:
            raise BadValue("'body1' and 'body2' are the same body")
    if all(body is None or body._kind == BodyKind.OBSTACLE for body in (one, two)) and one and two:
        raise BadValue("two obstacles cannot be linked")
    simulation = (one or two)._simulation
    ids = [None if body is None else body._id for body in (one, two)]
    return CONSTRAINT._of(simulation, simulation.domain.rigid_link(*ids, first, second, strength))
