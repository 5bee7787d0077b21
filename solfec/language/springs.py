"""PUT_SPRING (docs/language-objects.md, PUT_SPRING)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from ..bodies.table import BodyKind
from ..constraints.table import DirectionUpdate
from . import checks
from .bodies import BODY, CONSTRAINT, body_of
from .checks import BadType, BadValue, command
from .constraints import check_pair, limits_of, point_on
from .hints import Numbers, Vector
from .unbuilt import not_built


@command("PUT_SPRING")
def PUT_SPRING(
    body1: BODY,
    point1: Vector,
    body2: BODY,
    point2: Vector,
    function: Callable[[float, float], float] | Numbers | Sequence[Sequence[float]],
    limits: Numbers,
    direction: Vector | None = None,
    update: Literal["FIXED", "CONV1", "CONV2"] | None = None,
    dashpot: float = 0.0,
    law: Literal["EXPLICIT", "IMPLICIT"] = "EXPLICIT",
) -> CONSTRAINT:
    """Put a spring between referential points of two bodies.

    Parameters
    ----------
    body1, body2 : BODY
        Two bodies, not both obstacles.
    point1, point2 : tuple of 3
        Referential points in or on the shapes.
    function : callable or list
        ``function(stroke, velocity)`` returning the force on `body1` along the direction (on `body2` against it), or
        points ``[s0, f0, s1, f1, ...]`` or ``[[s0, f0], ...]`` of a curve, strokes increasing.
    limits : tuple of 2
        Strokes (smin, smax), smin <= 0 <= smax, beyond which the spring does not move.
    direction : tuple of 3, optional
        Direction of the spring; by default the current direction from point2 to point1.
    update : str, optional
        'FIXED' (default), 'CONV1' or 'CONV2': the direction is fixed in space, or convected with a body.
    dashpot : float
        With a curve: force per velocity against the motion.
    law : str
        'EXPLICIT': force from the stroke at mid step and the velocity without the spring's reaction;
        'IMPLICIT': from the mean stroke and the mean velocity of the step.

    Returns
    -------
    CONSTRAINT
    """
    one, two = body_of(body1, "body1"), body_of(body2, "body2")
    first, second = point_on(one, point1, "point1"), point_on(two, point2, "point2")
    check_pair((one, two), ("body1", "body2"))
    if not callable(function) or isinstance(function, checks.Members):
        function = _curve(function)
    low, high = limits = limits_of(limits)
    if low > 0.0 or high < 0.0:
        raise BadValue(f"'limits' must be (smin, smax) with smin <= 0 <= smax, they are ({low:g}, {high:g})")
    if direction is None and update is not None:
        raise BadValue("'update' needs a 'direction'")
    if direction is not None:
        direction = np.array(checks.direction(direction, "direction"))
        direction /= np.linalg.norm(direction)  # as in Solfec-1.0, so no warning is needed
        update = checks.choice(update or "FIXED", "update", ("FIXED", "CONV1", "CONV2"))
    carrier = {"CONV1": one, "CONV2": two}.get(update)
    if carrier is not None and carrier._kind == BodyKind.FINITE_ELEMENT:
        raise not_built(f"PUT_SPRING: update {update!r} with a finite element body")
    dashpot = checks.nonnegative(dashpot, "dashpot")
    if dashpot and callable(function):
        raise BadValue("'dashpot' goes with a curve; a function has the velocity as an argument")
    implicit = checks.choice(law, "law", ("EXPLICIT", "IMPLICIT")) == "IMPLICIT"
    simulation = one._simulation
    identifier = simulation.domain.joints.spring(
        one._id, first, two._id, second, function, limits, direction,
        DirectionUpdate[update or "FOLLOW"], dashpot, implicit,
    )  # fmt: skip
    return CONSTRAINT._of(simulation, identifier)


def _curve(value) -> np.ndarray:
    """Check points (n, 2) of a curve."""
    if not checks.is_sequence(value):
        raise BadType(f"'function' must be callable or a list of points (stroke, force), not {checks.kind_of(value)}")
    items = list(value)
    if items and all(checks.is_sequence(item) for item in items):
        points = np.array([checks.vector(item, f"function[{i}]", 2) for i, item in enumerate(items)])
    else:
        points = checks.numbers(value, "function", multiple=2).reshape(-1, 2)
    if len(points) < 2:
        raise BadValue(f"'function' must hold at least 2 points (stroke, force), it holds {len(points)}")
    falling = np.flatnonzero(np.diff(points[:, 0]) <= 0.0)
    if falling.size:
        raise BadValue(f"'function': strokes must increase strictly; point {int(falling[0]) + 1} does not")
    return points
