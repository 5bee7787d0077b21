"""SPRING: nonlinear springs between particles."""

from __future__ import annotations

import numpy as np

from ..language import checks
from ..language.checks import BadValue, command
from ..language.hints import Numbers, Switch, Vector
from . import arguments
from .kinds import LinkKind, LinkStatus
from .model import Model, current


@command("SPRING")
def SPRING(
    part1: int,
    point1: Vector,
    part2: int,
    geom2: Vector | list,
    spring: Numbers,
    dashpot: float | Numbers | None = None,
    direction: Vector | None = None,
    planar: Switch | None = None,
    unload: Numbers | None = None,
    ylim: Vector | None = None,
    inactive: bool = False,
    offset: int | None = None,
    friction: float = 0.0,
    kskn: float = 0.0,
) -> int:
    """Join two points, or a point and a plane, by a nonlinear spring.

    Parameters
    ----------
    part1 : int
        First particle.
    point1 : tuple of 3 floats
        Its point before it has moved.
    part2 : int
        Second particle; -1: the ground.
    geom2 : tuple of 3 floats, or [point, normal]
        Its point, or a plane of it.
    spring : list of floats
        Table ``[s0, f0, s1, f1, ...]`` of force over stroke, with increasing strokes; its end segments continue beyond the ends.
    dashpot : float or list of floats, optional
        Ratio of critical damping, or a table of force over velocity.  It acts while the spring's force is not zero.
    direction : tuple of 3 floats, optional
        Direction of the stroke, fixed in space; default: the line between the points.
    planar : str, optional
        'ON': the stroke is measured across `direction`.
    unload : list of floats, optional
        Unloading table, with increasing forces.
    ylim : tuple of 2 floats, optional
        Forces in compression and tension from which on the spring unloads along `unload`; default (0, 0).
    inactive : bool
        True: no force, until UNSPRING activates the spring.
    offset : int, optional
        TSERIES that is taken from the stroke.
    friction : float
        Coefficient of friction across the spring's axis.
    kskn : float
        Tangential stiffness over that along the axis; 0: friction without stiffness.

    Returns
    -------
    int
        Number of the spring.
    """
    model = current()
    particles = arguments.two_particles(model, part1, part2)
    first = np.array(checks.vector(point1, "point1"))
    kind, second, axis = geometry(first, geom2, direction, planar)
    columns = {"curve": model.add_curve(*arguments.table(spring, "spring")), **dashpot_columns(model, dashpot)}
    law = law_columns(model, unload, ylim, offset, friction, kskn)
    if not isinstance(inactive, (bool, np.bool_)):
        raise checks.BadType(f"'inactive' must be True or False, not {checks.kind_of(inactive)}")
    columns["status"] = LinkStatus.UNDONE if inactive else LinkStatus.PLAIN
    row = model.links.append(kind=kind, law=model.laws.append(**single(law)) if law else -1, **columns)
    place(model, row, particles, (first, second), axis)
    return row


def single(columns: dict) -> dict:
    """Return values of one row as columns of width 1."""
    return {name: np.reshape(value, (-1, 1)) if np.ndim(value) else value for name, value in columns.items()}


def geometry(first: np.ndarray, geom2, direction, planar) -> tuple[LinkKind, np.ndarray, np.ndarray]:
    """Return kind, second point and direction of a spring."""
    is_planar = planar is not None and checks.switch(planar, "planar")
    axis = None if direction is None else arguments.unit(direction, "direction")
    if is_planar and axis is None:
        raise BadValue("'planar' needs a 'direction'")
    items = checks.sequence(geom2, "geom2")
    if len(items) == 2 and all(checks.is_sequence(item) for item in items):
        normal = arguments.unit(items[1], "geom2[1]")
        origin = np.array(checks.vector(items[0], "geom2[0]"))
        return LinkKind.PLANE, first - normal * ((first - origin) @ normal), normal
    second = np.array(checks.vector(geom2, "geom2"))
    if axis is None:
        return LinkKind.FOLLOWER, second, np.zeros(3)
    return (LinkKind.PLANAR if is_planar else LinkKind.CONSTANT), second, axis


def dashpot_columns(model: Model, dashpot) -> dict:
    """Return columns of a dashpot: a table's curve, or a ratio of critical damping."""
    if dashpot is None:
        return {}
    if checks.is_sequence(dashpot):
        return {"dashpot": model.add_curve(*arguments.table(dashpot, "dashpot"))}
    return {"ratio": checks.nonnegative(dashpot, "dashpot")}


def law_columns(model: Model, unload, ylim, offset, friction, kskn) -> dict:
    """Return columns of a spring's law besides its table; none for a plain spring."""
    friction, kskn = checks.nonnegative(friction, "friction"), checks.nonnegative(kskn, "kskn")
    columns = {}
    if unload is not None:
        strokes, forces = arguments.table(unload, "unload")
        if (np.diff(forces) <= 0.0).any():
            raise BadValue("'unload': the forces of its pairs must increase strictly")
        low, high = (0.0, 0.0) if ylim is None else checks.vector(ylim, "ylim", 2)
        if low > 0.0 or high < 0.0:
            raise BadValue(f"'ylim' must hold a number of at most 0 and one of at least 0, not ({low:g}, {high:g})")
        columns |= {"unload": model.add_curve(strokes, forces), "limit": [low, high]}
    elif ylim is not None:
        raise BadValue("'ylim' needs an unloading table, 'unload'")
    if offset is not None:
        columns["offset"] = arguments.series(model, offset, "offset")
    if friction > 0.0:
        columns |= {"friction": friction, "tangential": kskn}
    return columns


def place(model: Model, row: int, particles: tuple[int, int], points: tuple, axis: np.ndarray) -> None:
    """Attach a spring to its initial points, and measure its length."""
    links = model.links
    links.particle[:, row] = particles
    for side, (number, point) in enumerate(zip(particles, points)):
        links.arm[:, side, row] = point if number < 0 else point - model.particles.reference[:, number]
    links.lever[:, :, row] = links.arm[:, :, row]
    links.direction[:, row] = axis
    between = points[1] - points[0]
    if links.kind[row] == LinkKind.PLANE:
        links.length[row] = abs(between @ axis)
        return
    along = between @ axis
    across = between - along * axis
    kind = links.kind[row]
    rest = along if kind == LinkKind.CONSTANT else np.linalg.norm(across if kind == LinkKind.PLANAR else between)
    links.rest[row], links.length[row] = rest, abs(rest)
