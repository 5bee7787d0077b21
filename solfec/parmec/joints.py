"""TORSION_SPRING and BALL_JOINT: torques and joints between particles."""

from __future__ import annotations

import numpy as np

from ..language import checks
from ..language.checks import BadValue, command
from ..language.hints import Numbers, Vector
from . import arguments
from .model import current

AXES = ("roll", "pitch", "yaw")


@command("TORSION_SPRING")
def TORSION_SPRING(
    part1: int,
    part2: int,
    zdir: Vector,
    xdir: Vector,
    kroll: Numbers | None = None,
    kpitch: Numbers | None = None,
    kyaw: Numbers | None = None,
    droll: float | Numbers | None = None,
    dpitch: float | Numbers | None = None,
    dyaw: float | Numbers | None = None,
    cone: tuple[str, ...] | None = None,
    refpnt: Vector | None = None,
) -> int:
    """Join two particles by torques about three axes of the first one.

    Parameters
    ----------
    part1 : int
    part2 : int
        Second particle; -1: the ground.
    zdir, xdir : tuple of 3 floats
        Axes of yaw and roll before particles have turned, at right angles; the axis of pitch is zdir x xdir.
    kroll, kpitch, kyaw : list of floats, optional
        Tables of torque on the first particle over angle: one that pulls back has a negative slope.
    droll, dpitch, dyaw : float or list of floats, optional
        Ratios of critical damping, or tables of torque over angular velocity, with negative slopes.  They act while the spring's torque
        is not zero.
    cone : tuple of 2 or 3 str, optional
        Of 'roll', 'pitch', 'yaw': these angles act together by the size of their vector, with the tables of the first of them.
    refpnt : tuple of 3 floats, optional
        Point of the first particle where files show the spring; default: the middle of the mass centres, or the first of them.

    Returns
    -------
    int
        Number of the torsion spring.
    """
    model = current()
    particles = arguments.two_particles(model, part1, part2)
    z, x = arguments.unit(zdir, "zdir"), arguments.unit(xdir, "xdir")
    if abs(z @ x) > 1e-6:
        raise BadValue("'zdir' and 'xdir' must be at right angles")
    x = (x - (x @ z) * z) / np.linalg.norm(x - (x @ z) * z)
    curves = [arguments.table(value, name) if value is not None else None for name, value in (("kroll", kroll), ("kpitch", kpitch), ("kyaw", kyaw))]
    dampers = [damper(value, name) for name, value in (("droll", droll), ("dpitch", dpitch), ("dyaw", dyaw))]
    members = cone_members(cone)
    point = None if refpnt is None else np.array(checks.vector(refpnt, "refpnt"))
    row = model.torsions.append()
    table = model.torsions
    table.particle[:, row], table.x[:, row], table.z[:, row] = particles, x, z
    for i, (curve, (dashpot, ratio)) in enumerate(zip(curves, dampers)):
        table.curve[i, row] = -1 if curve is None else model.add_curve(*curve)
        table.dashpot[i, row] = -1 if dashpot is None else model.add_curve(*dashpot)
        table.ratio[i, row] = ratio
        table.cone[i, row] = AXES[i] in members
    centres = [model.particles.reference[:, number] for number in particles if number >= 0]
    table.arm[:, row] = (np.mean(centres, axis=0) if point is None else point) - centres[0]
    return row


def damper(value, name: str) -> tuple:
    """Return table and ratio of a dashpot; None and -1 if absent."""
    if value is None:
        return None, -1.0
    if checks.is_sequence(value):
        return arguments.table(value, name), -1.0
    return None, checks.nonnegative(value, name)


def cone_members(cone) -> tuple[str, ...]:
    """Return names of the angles that act together."""
    if cone is None:
        return ()
    names = tuple(checks.choice(item, f"cone[{i}]", AXES) for i, item in enumerate(checks.sequence(cone, "cone")))
    if len(names) not in (2, 3) or len(set(names)) < len(names):
        raise BadValue("'cone' must hold two or three different names")
    return names


@command("BALL_JOINT")
def BALL_JOINT(part1: int, point: Vector, part2: int = -1) -> int:
    """Hold points of two particles, or a point and the ground, together.

    Parameters
    ----------
    part1 : int
    point : tuple of 3 floats
        The common point before particles have moved.
    part2 : int
        Second particle; -1: the ground.

    Returns
    -------
    int
        Number of the joint.
    """
    model = current()
    particles = arguments.two_particles(model, part1, part2)
    place = np.array(checks.vector(point, "point"))
    row = model.joints.append()
    model.joints.particle[:, row] = particles
    for side, number in enumerate(particles):
        model.joints.arm[:, side, row] = place if number < 0 else place - model.particles.reference[:, number]
    return row
