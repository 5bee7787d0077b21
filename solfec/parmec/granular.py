"""GRANULAR and OBSTACLE."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..language import checks, session
from ..language.checks import BadType, BadValue, command
from ..language.hints import Vector
from . import arguments
from .model import Model, current


@command("GRANULAR")
def GRANULAR(
    color1: int,
    color2: int,
    spring: float,
    damper: float = 1.0,
    friction: float | tuple[float, float] = 0.0,
    rolling: float = 0.0,
    drilling: float = 0.0,
    kskn: float = 0.5,
) -> None:
    """Set the contact law of two colors.

    Parameters
    ----------
    color1, color2 : int
        Colors; both 0: all pairs without a law of their own.
    spring : float
        Force over depth.
    damper : float
        Ratio of critical damping.
    friction : float or tuple of 2 floats
        Coefficient of friction, or static and dynamic coefficients.
    rolling, drilling : float
        Without effect, as in Parmec; a warning says so.
    kskn : float
        Tangential stiffness and damping over those along the normal.
    """
    model = current()
    colours = sorted((checks.integer(color1, "color1", minimum=0), checks.integer(color2, "color2", minimum=0)))
    if colours[0] == 0 < colours[1]:
        raise BadValue("'color1' and 'color2' must be positive, or both 0")
    if checks.is_sequence(friction):
        static, dynamic = (checks.nonnegative(value, "friction") for value in checks.vector(friction, "friction", 2))
    else:
        static = dynamic = checks.nonnegative(friction, "friction")
    if dynamic > static:
        raise BadValue(f"'friction': the dynamic coefficient {dynamic:g} is above the static one {static:g}")
    values = {"spring": checks.nonnegative(spring, "spring"), "damper": checks.nonnegative(damper, "damper"),
              "tangential": checks.nonnegative(kskn, "kskn")}  # fmt: skip
    if checks.nonnegative(rolling, "rolling") > 0.0 or checks.nonnegative(drilling, "drilling") > 0.0:
        session.warn("GRANULAR: 'rolling' and 'drilling' have no effect, as in Parmec")
    pairings = model.pairings
    found = np.flatnonzero((pairings.view("colour") == np.reshape(colours, (2, 1))).all(axis=0))
    row = int(found[0]) if found.size else pairings.append()
    pairings.colour[:, row], pairings.friction[:, row] = colours, (static, dynamic)
    for name, value in values.items():
        getattr(pairings, name)[row] = value
    model.forget_pairs()


@command("OBSTACLE")
def OBSTACLE(
    triangles: Sequence[Sequence[float]], color: int | list[int],
    point: Vector | None = None, linear: Callable | None = None, angular: Callable | None = None,
) -> None:  # fmt: skip
    """Create an obstacle of triangles, at rest or moving.

    Parameters
    ----------
    triangles : list of tuples of 9 floats
        Corners of each triangle.
    color : int or list of int
        Color of all triangles, or one for each.
    point : tuple of 3 floats, optional
        Point of a moving obstacle.
    linear, angular : function of time, optional
        Velocity of the point, and angular velocity about it, three numbers each.
    """
    model = current()
    items = checks.sequence(triangles, "triangles")
    if not items:
        raise BadValue("'triangles' must not be empty")
    corners = np.array([checks.vector(item, f"triangles[{i}]", 9) for i, item in enumerate(items)]).reshape(-1, 3, 3)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if (areas == 0.0).any():
        raise BadValue(f"'triangles': triangle {int(np.flatnonzero(areas == 0.0)[0])} has no area")
    colours = [arguments.colour(item, f"color[{i}]") for i, item in enumerate(color)] if checks.is_sequence(color) else [arguments.colour(color, "color")]
    if checks.is_sequence(color) and len(colours) != len(items):
        raise BadValue(f"'color' must hold a number for each of the {len(items)} triangles, it holds {len(colours)}")
    functions = [None if value is None else checks.function(value, name) for value, name in ((linear, "linear"), (angular, "angular"))]
    moving = any(function is not None for function in functions)
    if moving != (point is not None):
        raise BadType("a moving obstacle needs 'point' and at least one of 'linear' and 'angular'")
    centre = np.zeros(3) if point is None else np.array(checks.vector(point, "point"))
    first = model.triangles.append(len(items))
    row = model.obstacles.append(first=first, size=len(items), moving=int(moving))
    own = slice(first, first + len(items))
    model.triangles.obstacle[own], model.triangles.colour[own] = row, colours
    for name in ("corner", "searched", "initial"):
        getattr(model.triangles, name)[:, :, own] = corners.transpose(2, 1, 0)
    model.obstacles.point[:, row] = centre
    for table, function in zip((model.callbacks.linear_obstacles, model.callbacks.angular_obstacles), functions):
        table.set(row, function)
    model.forget_pairs()


def default_pairing(model: Model) -> None:
    """Add a law without stiffness for colors without a law."""
    if not (model.pairings.view("colour") == 0).all(axis=0).any():
        model.pairings.append(damper=1.0, tangential=0.5)
