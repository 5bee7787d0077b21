"""Linkages, pendulums and gyroscopes against closed form or an equation solved to high order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import solfec as s

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 20000, meritval=1e-24),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-24, 1000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-10),
}
each_solver = pytest.mark.parametrize("solver", SOLVERS)
GRAVITY = 9.81
WIDTH = 0.02  # of bars
X, Y, Z = np.eye(3)


def floats(values) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


class Linkage:
    """Bars in space, which touch nothing, and hinges between them."""

    def __init__(self, step: float = 1e-3, gravity=None):
        self.solfec = s.SOLFEC("DYNAMIC", step, None)
        self.solfec.verbose, self.solfec.joint_correction = "OFF", "ON"
        self.bulk = s.BULK_MATERIAL(self.solfec, density=1000.0)
        s.CONTACT_EXCLUDE_SURFACES(self.solfec, 1, 1)
        if gravity is not None:
            s.GRAVITY(self.solfec, floats(gravity))

    def bar(self, start, end, width=WIDTH):
        """A bar between two points, of a square section."""
        start, end = np.array(start, float), np.array(end, float)
        along = (end - start) / np.linalg.norm(end - start)
        side = np.cross(along, Z if abs(along[2]) < 0.9 else X)
        side /= np.linalg.norm(side)
        other = np.cross(along, side)
        corners = [at + width / 2 * (a * side + b * other) for at in (start, end) for a in (-1, 1) for b in (-1, 1)]
        return s.BODY(self.solfec, "RIGID", s.HULL(floats(np.ravel(corners)), 1, 1), self.bulk)

    def hinge(self, body, other, point, axis=Z, **acting):
        return s.HINGE(body, other, floats(point), floats(axis), **acting)

    def run(self, duration: float, solver: str = "AUTO") -> None:
        s.RUN(self.solfec, SOLVERS[solver](), duration)


def flat(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle), 0.0])


def direction(vector: np.ndarray) -> float:
    return math.atan2(vector[1], vector[0])


def meet(one, first: float, two, second: float) -> np.ndarray:
    """The point at given distances of two points, on the left of the way from the first one to the second."""
    way = two - one
    length = np.linalg.norm(way)
    along = (first**2 - second**2 + length**2) / (2 * length)
    return one + (along * way + math.sqrt(first**2 - along**2) * np.cross(Z, way)) / length


@each_solver
def test_the_rocker_of_a_four_bar_linkage_is_where_its_triangles_say(solver):
    """All hinges but one repeat what others hold already: that bars stay in their plane."""
    crank_length, coupler_length, rocker_length, ground = 0.1, 0.25, 0.2, 0.3 * X

    def rocker(angle: float) -> float:
        knee = meet(crank_length * flat(angle), coupler_length, ground, rocker_length)
        return direction(knee - ground)

    linkage = Linkage()
    first = crank_length * flat(math.pi / 2)
    knee = meet(first, coupler_length, ground, rocker_length)
    crank, coupler, last = linkage.bar(0 * X, first), linkage.bar(first, knee), linkage.bar(knee, ground)
    shaft = linkage.hinge(crank, None, 0 * X)
    linkage.hinge(coupler, crank, first)
    linkage.hinge(last, coupler, knee)
    end = linkage.hinge(last, None, ground)
    s.MOTOR(shaft, "POSITION", lambda time: 20 * time)
    for _ in range(4):
        linkage.run(0.08, solver)
        assert shaft.angle == pytest.approx(20 * linkage.solfec.time, abs=1e-5)
        assert end.angle == pytest.approx(rocker(math.pi / 2 + shaft.angle) - rocker(math.pi / 2), abs=1e-11)


@each_solver
def test_peaucelliers_linkage_draws_a_straight_line(solver):
    """Seven bars that invert a circle through the fixed point: the line is at (L^2 - l^2)/2r of it."""
    long, short, radius = 0.5, 0.2, 0.2
    far = (long**2 - short**2) / (2 * radius)
    linkage = Linkage(2e-3)
    inner = radius * X + radius * flat(0.4)
    outer = (long**2 - short**2) / (inner @ inner) * inner
    left, right = meet(0 * X, long, inner, short), meet(inner, short, 0 * X, long)
    sides = [(linkage.bar(0 * X, at), at, linkage.bar(at, inner), linkage.bar(at, outer)) for at in (left, right)]
    crank = linkage.bar(radius * X, inner)
    for arm, at, near, beyond in sides:
        linkage.hinge(arm, None, 0 * X)
        linkage.hinge(near, arm, at)
        linkage.hinge(beyond, arm, at)
        linkage.hinge(near, crank, inner)
    linkage.hinge(sides[0][3], sides[1][3], outer)
    shaft = linkage.hinge(crank, None, radius * X)
    s.MOTOR(shaft, "POSITION", lambda time: -0.8 * math.sin(8 * time))
    drawn = []
    for _ in range(5):
        linkage.run(0.04, solver)
        drawn.append(outer + s.DISPLACEMENT(sides[0][3], floats(outer)))
    drawn = np.array(drawn)
    assert np.abs(drawn[:, 0] - far).max() < 1e-9
    assert np.ptp(drawn[:, 1]) > 0.1


def test_the_middle_of_watts_linkage_draws_watts_curve():
    """r^2 = b^2 - (a sin t +- sqrt(c^2 - a^2 cos^2 t))^2 with rockers b, half a coupler c and half the ground a."""
    rocker, half = 0.5, 0.1
    base = math.hypot(rocker, half)  # half the distance of the pivots; the coupler stands upright in the middle
    linkage = Linkage()
    left, right = -base * X, base * X
    upper = meet(left, rocker, 0 * X, half)
    lower = -upper
    coupler = linkage.bar(upper, lower)
    for pivot, end in ((left, upper), (right, lower)):
        arm = linkage.bar(pivot, end)
        joint = linkage.hinge(arm, None, pivot)
        linkage.hinge(coupler, arm, end)
    s.MOTOR(joint, "POSITION", lambda time: 0.25 * math.sin(5 * time))
    path = []
    for _ in range(8):
        linkage.run(0.1)
        at = np.array(s.DISPLACEMENT(coupler, (0.0, 0.0, 0.0)))
        path.append(at)
        radius, angle = np.linalg.norm(at), direction(at)
        root = math.sqrt(max(half**2 - base**2 * math.cos(angle) ** 2, 0.0))
        missed = [radius**2 - rocker**2 + (base * math.sin(angle) + sign * root) ** 2 for sign in (-1, 1)]
        assert min(np.abs(missed)) < 1e-9
    assert max(np.linalg.norm(path, axis=1)) > 0.05


def double_pendulum(step: float, solver: str) -> np.ndarray:
    """How much the angles of two bars of half a metre, let go from the horizontal, are off after a second."""
    linkage, length = Linkage(step, -GRAVITY * Y), 0.5
    upper, lower = linkage.bar(0 * X, length * X), linkage.bar(length * X, 2 * length * X)
    first, second = linkage.hinge(upper, None, 0 * X), linkage.hinge(lower, upper, length * X)
    linkage.run(1.0, solver)
    own = (length**2 + WIDTH**2) / 12  # moment of inertia over mass

    def motion(_, state):
        a, b, u, v = state
        cross = length**2 / 2 * math.cos(a - b)
        matrix = [[own + 1.25 * length**2, cross], [cross, own + 0.25 * length**2]]
        turn = length**2 / 2 * math.sin(a - b)
        forces = [-turn * v**2 - 1.5 * GRAVITY * length * math.cos(a), turn * u**2 - 0.5 * GRAVITY * length * math.cos(b)]
        return [u, v, *np.linalg.solve(matrix, forces)]

    exact = solve_ivp(motion, (0, 1), np.zeros(4), rtol=1e-12, atol=1e-12).y[:2, -1]
    return np.array([first.angle, first.angle + second.angle]) - exact


@each_solver
def test_a_double_pendulum_follows_its_equation_with_second_order(solver):
    coarse, fine = double_pendulum(2e-3, solver), double_pendulum(1e-3, solver)
    assert np.abs(fine).max() < 2e-5
    assert coarse / fine == pytest.approx(4.0, rel=0.15)


def slider_crank(step: float, solver: str) -> tuple[float, float]:
    """A torque turns a crank, whose rod moves a piston, for half a second: error of the crank's angle, and of the piston beside the angle."""
    crank_length, rod_length, torque = 0.1, 0.3, 0.02
    linkage = Linkage(step)
    first = crank_length * flat(0.5)
    pin = (first[0] + math.sqrt(rod_length**2 - first[1] ** 2)) * X
    crank, rod, piston = linkage.bar(0 * X, first), linkage.bar(first, pin), linkage.bar(pin, pin + 0.1 * X)
    shaft = linkage.hinge(crank, None, 0 * X)
    linkage.hinge(rod, crank, first)
    linkage.hinge(rod, piston, pin)
    guide = s.SLIDER(piston, None, floats(pin), (1.0, 0.0, 0.0))
    s.MOTOR(shaft, "EFFORT", torque)
    linkage.run(0.5, solver)
    masses = [1000 * WIDTH**2 * length for length in (crank_length, rod_length, 0.1)]

    def inertia(q: float) -> float:
        """Twice the kinetic energy at the rate 1."""
        lean = math.asin(crank_length / rod_length * math.sin(q))
        turn = crank_length * math.cos(q) / (rod_length * math.cos(lean))  # of the rod
        speed = crank_length * math.sin(q) + rod_length * math.sin(lean) * turn  # of the piston
        middle = crank_length * np.array([-math.sin(q), math.cos(q)]) - turn * rod_length / 2 * np.array([math.sin(lean), math.cos(lean)])
        own = [mass * (length**2 + WIDTH**2) / 12 for mass, length in zip(masses, (crank_length, rod_length, 0.1), strict=True)]
        return own[0] + masses[0] * crank_length**2 / 4 + own[1] * turn**2 + masses[1] * middle @ middle + masses[2] * speed**2

    def motion(_, state):
        q, rate = state
        slope = (inertia(q + 1e-5) - inertia(q - 1e-5)) / 2e-5
        return [rate, (torque - slope * rate**2 / 2) / inertia(q)]

    exact = solve_ivp(motion, (0, 0.5), [0.5, 0.0], rtol=1e-11, atol=1e-12).y[0, -1]
    angle = 0.5 + shaft.angle
    place = crank_length * math.cos(angle) + math.sqrt(rod_length**2 - (crank_length * math.sin(angle)) ** 2)
    return angle - exact, pin[0] + guide.travel - place


@each_solver
def test_a_slider_crank_moves_as_its_reduced_equation_says_with_second_order(solver):
    coarse, fine = slider_crank(2e-3, solver), slider_crank(1e-3, solver)
    assert max(abs(coarse[1]), abs(fine[1])) < 1e-10
    assert abs(fine[0]) < 1e-5
    assert coarse[0] / fine[0] == pytest.approx(4.0, rel=0.1)


def precession(step: float) -> tuple[float, float, float]:
    """A wheel in two gimbals that precesses: angle of the outer gimbal after half a second, that of theory, tilt of the inner one."""
    linkage = Linkage(step, -GRAVITY * Z)
    lever, spin = 0.2, 200.0
    outer, inner = linkage.bar(-0.1 * Y, 0.1 * Y), linkage.bar(-0.1 * X, 0.1 * X)
    wheel = linkage.bar((lever - 0.02) * X, (lever + 0.02) * X, width=0.2)
    upright = linkage.hinge(outer, None, 0 * X)
    tilt = linkage.hinge(inner, outer, 0 * X, Y)
    linkage.hinge(wheel, inner, lever * X, X)
    rate = GRAVITY * lever / (0.2**2 / 6 * spin)  # m g d = I w W for a level axis
    for body, place, own in ((outer, 0, 0), (inner, 0, 0), (wheel, lever, spin)):
        s.INITIAL_VELOCITY(body, floats(rate * place * Y), floats(own * X + rate * Z))
    linkage.run(0.5)
    return upright.angle, rate * 0.5, tilt.angle


def test_a_wheel_in_gimbals_precesses_at_the_rate_of_theory():
    """Its square section has the inertia of a round one about all axes across the spin."""
    errors = []
    for step in (1e-3, 5e-4):
        angle, theory, tilt = precession(step)
        errors.append(abs(angle / theory - 1))
        assert abs(tilt) < 0.1 * errors[-1] + 1e-6 or errors[-1] < 1e-4
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


def arm_of_six_hinges():
    """A chain of six bars with hinges about alternating axes, its upper end in space."""
    linkage = Linkage(1e-3, -GRAVITY * Z)
    joints, before, at = [], None, 0 * X
    for number in range(6):
        ahead = at + 0.2 * (X if number % 2 else Y) + 0.05 * Z
        body = linkage.bar(at, ahead)
        joints.append(linkage.hinge(body, before, at, (Z, X, Y)[number % 3]))
        before, at = body, ahead
    return linkage, joints


def test_torques_that_motors_needed_drive_an_arm_along_the_same_way():
    """Inverse dynamics, closed: torques of prescribed angles, given back as torques, give these angles."""
    linkage, joints = arm_of_six_hinges()
    for number, joint in enumerate(joints):
        s.MOTOR(joint, "POSITION", lambda time, size=0.1 * (number + 1): size * (1 - math.cos(6 * time)))
    torques, steps = [], 200
    for _ in range(steps):
        linkage.run(1e-3)
        torques.append([joint.torque for joint in joints])
    angles = [joint.angle for joint in joints]
    linkage, joints = arm_of_six_hinges()
    for number, joint in enumerate(joints):
        s.MOTOR(joint, "EFFORT", lambda q, rate, time, k=number: torques[min(int(time / 1e-3), steps - 1)][k])
    linkage.run(steps * 1e-3)
    assert [joint.angle for joint in joints] == pytest.approx(angles, abs=1e-8)
    assert angles == pytest.approx([0.1 * (k + 1) * (1 - math.cos(1.2)) for k in range(6)], abs=1e-4)


def test_a_governor_with_friction_rests_within_the_band_of_theory():
    """A bar on a spindle that turns: 3 g / (2 w^2 L) is the cosine of its angle, but for what friction bears."""
    length, rate, friction = 0.4, 9.0, 0.02
    linkage = Linkage(2e-3, -GRAVITY * Z)
    spindle, arm = linkage.bar(-0.1 * Z, 0.1 * Z), linkage.bar(0 * X, length * (0.6 * X - 0.8 * Z))
    s.MOTOR(linkage.hinge(spindle, None, 0 * X), "RATE", rate)
    elbow = linkage.hinge(arm, spindle, 0 * X, -Y, friction=friction)
    linkage.run(2.4)
    assert abs(elbow.turning) < 1e-3  # of third order in the step: the spindle turns
    angle, mass = math.acos(0.8) + elbow.angle, 1000 * WIDTH**2 * length
    inertia = mass * length**2 / 3
    torque = inertia * rate**2 * math.sin(angle) * math.cos(angle) - mass * GRAVITY * length / 2 * math.sin(angle)
    assert abs(torque) <= friction * (1 + 1e-3)
    assert angle == pytest.approx(math.acos(1.5 * GRAVITY / (rate**2 * length)), abs=0.15)


def changes_of_energy(step: float, duration: float) -> tuple[float, float]:
    """The largest change of the energy of a crank with a rocker that swing under gravity, and their largest kinetic energy."""
    linkage, ground = Linkage(step, -GRAVITY * Y), 0.3 * X
    first = 0.1 * flat(math.pi / 2)
    knee = meet(first, 0.25, ground, 0.2)
    bodies = linkage.bar(0 * X, first), linkage.bar(first, knee), linkage.bar(knee, ground)
    for body, other, at in ((0, None, 0 * X), (1, 0, first), (2, 1, knee), (2, None, ground)):
        linkage.hinge(bodies[body], None if other is None else bodies[other], at)

    def energies() -> tuple[float, float]:
        heights = [GRAVITY * body.mass * (body.center[1] + s.DISPLACEMENT(body, body.center)[1]) for body in bodies]
        return s.ENERGY(linkage.solfec)[0], sum(heights)

    begin, changes, kinetic = sum(energies()), [], []
    for _ in range(round(duration / 0.1)):
        linkage.run(0.1)
        changes.append(abs(sum(energies()) - begin))
        kinetic.append(energies()[0])
    return max(changes), max(kinetic)


def test_a_linkage_that_loses_nothing_keeps_its_energy_with_second_order():
    coarse, fine = changes_of_energy(1e-3, 0.5), changes_of_energy(5e-4, 0.5)
    assert fine[0] < 1e-5 * fine[1]
    assert coarse[0] > 3 * fine[0]


@pytest.mark.slow
def test_a_linkage_that_loses_nothing_keeps_its_energy_over_ten_thousand_steps():
    change, kinetic = changes_of_energy(1e-4, 1.0)
    assert change < 1e-6 * kinetic
