"""EQM and CRITICAL: equivalent masses and critical steps of a model."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..language import checks
from ..language.checks import BadValue, command
from ..language.hints import Vector
from . import arguments
from .kinds import LinkKind, LinkStatus
from .model import Model, current
from .pairs import search

_estimate = _kernels.explicit_steps.estimate_steps
Row = tuple[float, int, float, float]


@command("EQM")
def EQM(part1: int, point1: Vector, part2: int = -1, point2: Vector | None = None, direction: Vector | None = None) -> float:
    """Return the equivalent mass of a point, or of two points, of particles.

    Parameters
    ----------
    part1 : int
    point1 : tuple of 3 floats
        Point of the first particle before it has moved.
    part2 : int
        Second particle; -1: none.
    point2 : tuple of 3 floats, optional
        Point of the second particle.
    direction : tuple of 3 floats, optional
        Direction of the force; default: the one with the largest mass.

    Returns
    -------
    float
        Force over relative acceleration.
    """
    model = current()
    ends = [(arguments.particle(model, part1, "part1"), checks.vector(point1, "point1"))]
    second = arguments.particle_or_ground(model, part2, "part2")
    if second >= 0 and point2 is None:
        raise BadValue("'part2' needs a 'point2'")
    if second >= 0:
        ends.append((second, checks.vector(point2, "point2")))
    elif point2 is not None:
        checks.vector(point2, "point2")
    inverse = sum(inverse_mass(model, number, np.array(point) - model.particles.reference[:, number]) for number, point in ends)
    return equivalent_mass(inverse, None if direction is None else arguments.unit(direction, "direction"))


def inverse_mass(model: Model, number: int, arm: np.ndarray) -> np.ndarray:
    """Return the matrix (3, 3) that maps an impulse at a particle's point, `arm` from its mass centre, to the point's velocity."""
    cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    return np.eye(3) / model.particles.mass[number] + cross.T @ model.particles.inverse_inertia[:, :, number] @ cross


def equivalent_mass(inverse: np.ndarray, direction: np.ndarray | None) -> float:
    """Return the equivalent mass in a direction, or the largest one."""
    if direction is not None:
        return float(1.0 / (direction @ inverse @ direction))
    return float(1.0 / np.linalg.eigvalsh(inverse)[0])


@command("CRITICAL")
def CRITICAL(perspring: int | None = None, perparticle: int | None = None) -> float | list[Row] | tuple[list[Row], list[Row]]:
    """Estimate the critical time step.

    Parameters
    ----------
    perspring, perparticle : int, optional
        Number of springs or particles in the list, those with the shortest steps.

    Returns
    -------
    float, list or tuple of two lists
        Without arguments the shortest step of all particles, infinite if there is no limit.  Lists hold (step, number, frequency,
        damping ratio) with growing steps; with both arguments both lists are returned.
    """
    model = current()
    springs = None if perspring is None else checks.integer(perspring, "perspring", minimum=1)
    particles = None if perparticle is None else checks.integer(perparticle, "perparticle", minimum=1)
    rows = None if springs is None else shortest(steps_of_springs(model), springs)
    if springs is not None and particles is None:
        return rows
    found = steps_of_particles(model)
    if particles is None:
        return min((row[0] for row in found), default=math.inf)
    listed = shortest(found, particles)
    return listed if rows is None else (rows, listed)


def shortest(rows: list[Row], count: int) -> list[Row]:
    """Return the first rows in the order of steps."""
    return sorted(rows)[:count]


def steps_of_particles(model: Model) -> list[Row]:
    """Return estimates of particles with springs or contacts."""
    n = model.particles.n
    if n == 0:
        return []
    search(model)
    steps, frequencies, ratios = np.zeros(n), np.zeros(n), np.zeros(n)
    if _estimate(model.handles(), steps, frequencies, ratios):
        raise RuntimeError("the kernels do not know the tables of this model")
    limited = np.flatnonzero(frequencies > 0.0)
    return list(zip(steps[limited].tolist(), limited.tolist(), frequencies[limited].tolist(), ratios[limited].tolist()))


def steps_of_springs(model: Model) -> list[Row]:
    """Return estimates of single springs: 2/w (sqrt(1 + z^2) - z), or 1 without stiffness."""
    steepest = [np.abs(model.curve(row)[2]).max() for row in range(model.curves.n)]
    rows = []
    for link in range(model.links.n):
        if model.links.status[link] == LinkStatus.UNDONE:
            continue
        stiffness, mass = steepest[model.links.curve[link]], mass_of_spring(model, link)
        frequency = math.sqrt(stiffness / mass)
        if frequency == 0.0:
            rows.append((1.0, link, 0.0, 0.0))
            continue
        dashpot = model.links.dashpot[link]
        ratio = max(0.0, float(model.links.ratio[link])) if dashpot < 0 else steepest[dashpot] / (2.0 * mass * frequency)
        rows.append((2.0 / (frequency * (math.sqrt(1.0 + ratio**2) + ratio)), link, frequency, float(ratio)))
    return rows


def mass_of_spring(model: Model, link: int) -> float:
    """Return the equivalent mass along the present direction of a spring; the largest one if it has no direction."""
    inverse, points = np.zeros((3, 3)), []
    for number, arm in zip(model.links.particle[:, link].tolist(), model.links.lever[:, :, link].T):
        if number < 0:
            points.append(arm)
            continue
        turn = model.particles.rotation[:, :, number]
        inverse += turn @ inverse_mass(model, number, arm) @ turn.T
        points.append(model.particles.position[:, number] + turn @ arm)
    kind, given, between = model.links.kind[link], model.links.direction[:, link], points[1] - points[0]
    if kind == LinkKind.CONSTANT:
        return equivalent_mass(inverse, given)
    if kind == LinkKind.PLANE:
        second = model.links.particle[1, link]
        return equivalent_mass(inverse, given if second < 0 else arguments.rotated(model, second, given))
    if kind == LinkKind.PLANAR:
        between = between - (between @ given) * given
    length = np.linalg.norm(between)
    return equivalent_mass(inverse, between / length if length > 0.0 else None)
