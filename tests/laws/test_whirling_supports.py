"""Rigid bodies that turn on and on about supports, against conservation of energy and angular momentum."""

import itertools
import math

import numpy as np
import pytest

import solfec as s

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-12, 10000),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-20),
    "AUTO": lambda: s.AUTO_SOLVER(1e-10),
}
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
SUPPORTS = {
    "FIX_POINT": lambda bar: s.FIX_POINT(bar, (0, 0, 0)),
    "two FIX_POINTs": lambda bar: [s.FIX_POINT(bar, (0, 0, z)) for z in (-0.02, 0.02)],
    "FIX_DIRECTIONs": lambda bar: [s.FIX_DIRECTION(bar, (0, 0, 0), axis) for axis in AXES],
    "FIX_POINT and FIX_DIRECTION": lambda bar: [s.FIX_POINT(bar, (0, 0, 0)), s.FIX_DIRECTION(bar, (1, 0, 0), (0, 0, 1))],
}
RATE, STEP = 10.0, 1e-3


def bar(contacts, impacts="ON", correction="OFF"):
    """A bar of 1 m, whose end is in the origin, and which turns about it."""
    solfec = s.SOLFEC("DYNAMIC", STEP, None, contacts=contacts)
    solfec.verbose, solfec.joint_impacts, solfec.joint_correction = "OFF", impacts, correction
    corners = [x for signs in itertools.product((0, 1), (-0.5, 0.5), (-0.5, 0.5)) for x in np.multiply(signs, (1, 0.05, 0.05)).tolist()]
    body = s.BODY(solfec, "RIGID", s.HULL(corners, 1, 1), s.BULK_MATERIAL(solfec, density=1000.0))
    s.INITIAL_VELOCITY(body, (0, 0.5 * RATE, 0), (0, 0, RATE))
    return solfec, body


@pytest.mark.parametrize("correction", ["OFF", "ON"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("support", SUPPORTS)
def test_a_bar_turns_on_about_its_support(support, solver, correction):
    """Before, its end moved by metres a second after two seconds, and the bar turned round."""
    solfec, body = bar("MANIFOLD" if correction == "ON" else "CLASSIC", correction=correction)
    SUPPORTS[support](body)
    s.RUN(solfec, SOLVERS[solver](), 2.5)
    assert body.velo[2] == pytest.approx(RATE, rel=3e-5)
    assert s.DISPLACEMENT(body, (1, 0, 0)) == pytest.approx((math.cos(2.5 * RATE) - 1.0, math.sin(2.5 * RATE), 0), abs=2e-3)
    assert np.linalg.norm(s.DISPLACEMENT(body, (0, 0, 0))) < 2e-5


def test_the_law_of_solfec_1_can_be_kept():
    solfec, body = bar("CLASSIC", impacts="OFF")
    s.FIX_POINT(body, (0, 0, 0))
    s.RUN(solfec, SOLVERS["AUTO"](), 2.5)
    assert body.velo[2] < 0.0


def test_a_bar_that_falls_and_goes_round_keeps_its_energy():
    solfec, body = bar("CLASSIC")
    s.GRAVITY(solfec, (0, -9.81, 0))
    s.FIX_POINT(body, (0, 0, 0))
    for _ in range(5):
        s.RUN(solfec, SOLVERS["AUTO"](), 1.0)
        height = body.conf[10]
        rate = math.sqrt(RATE**2 - 2 * 9.81 * height / (1 / 3 + 0.05**2 / 12))
        assert abs(body.velo[2]) == pytest.approx(rate, rel=2e-3)
        assert body.velo[2] > 0.0


HANGING = {
    "BALL": lambda upper, lower: s.BALL(upper, lower, (1, 0, 0)),
    "HINGE": lambda upper, lower: s.HINGE(upper, lower, (1, 0, 0), (0, 0, 1)),
    "PUT_RIGID_LINK": lambda upper, lower: s.PUT_RIGID_LINK(upper, lower, (1, 0, 0), (1.3, 0, 0)),
}


@pytest.mark.parametrize("solver", ["NEWTON", "AUTO"])
@pytest.mark.parametrize("support", ["FIX_POINT", "two FIX_POINTs"])
@pytest.mark.parametrize("hanging", HANGING)
def test_a_pendulum_of_two_bars_keeps_its_energy(hanging, support, solver):
    """Joints and links to other bodies left the support undamped: with a link the pendulum had gained 3 % of its energy after a second and a half."""
    solfec, upper = bar("CLASSIC")
    corners = [x for signs in itertools.product((1, 2), (-0.5, 0.5), (-0.5, 0.5)) for x in np.multiply(signs, (1, 0.05, 0.05)).tolist()]
    lower = s.BODY(solfec, "RIGID", s.HULL(corners, 1, 1), s.BULK_MATERIAL(solfec, density=1000.0))
    s.INITIAL_VELOCITY(lower, (0, 1.5 * RATE, 0), (0, 0, RATE))
    s.CONTACT_EXCLUDE_BODIES(upper, lower)
    s.GRAVITY(solfec, (0, -9.81, 0))
    SUPPORTS[support](upper)
    HANGING[hanging](upper, lower)
    energies = []
    for duration in (STEP, 0.5, 0.7):
        s.RUN(solfec, SOLVERS[solver](), duration)
        energies.append(s.ENERGY(solfec).kinetic + sum(body.mass * 9.81 * body.conf[10] for body in (upper, lower)))
    assert energies == pytest.approx([energies[0]] * 3, rel=1e-5)
    assert np.linalg.norm(s.DISPLACEMENT(upper, (0, 0, 0))) < 2e-5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("height", [0.0, 0.02])
def test_a_bar_on_a_point_and_a_hinge_turns_as_on_the_hinge(height, solver):
    """What both hold they held in different directions: NEWTON_SOLVER and AUTO_SOLVER found reactions of any size."""
    found = []
    for put in (lambda body: None, lambda body: s.FIX_POINT(body, (0, 0, 0))):
        solfec, body = bar("CLASSIC")
        put(body)
        s.HINGE(body, None, (0, 0, height), (0, 0, 1))
        s.RUN(solfec, SOLVERS[solver](), 1.0)
        found.append(body.velo)
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_supports_in_loops_with_prescribed_motions_keep_the_law_of_solfec_1():
    """What holds a motion twice may not agree, so that its terms would be answered by reactions of any size."""
    solfec, body = bar("CLASSIC")
    s.FIX_POINT(body, (0, 0, 0))
    s.HINGE(body, None, (0, 0, 0.02), (0, 0, 1))
    s.SET_VELOCITY(body, (1, 0, 0), (0, 1, 0), RATE)
    free = s.BODY(solfec, "RIGID", s.SPHERE((0, 5, 0), 0.1, 1, 1), s.BULK_MATERIAL(solfec, density=1000.0))
    s.FIX_POINT(free, (0, 5, 0.1))  # the last constraint
    s.RUN(solfec, SOLVERS["AUTO"](), STEP)
    table = solfec._domain.constraints
    assert np.flatnonzero(table.damped[: table.user_count]).tolist() == [table.user_count - 1]


def beam(solfec, start, end, thickness=0.2):
    """A bar of square section between two points."""
    along = np.subtract(end, start)
    across = np.cross(along, (0, 0, 1.0))
    across *= 0.5 * thickness / np.linalg.norm(across)
    up = np.cross(along, across)
    up *= 0.5 * thickness / np.linalg.norm(up)
    corners = [np.add(point, a * across + b * up) for point in (start, end) for a in (-1, 1) for b in (-1, 1)]
    return s.BODY(solfec, "RIGID", s.HULL(np.concatenate(corners).tolist(), 1, 1), s.BULK_MATERIAL(solfec, density=1000.0))


FRAME = np.array([(0, 0, 0), (0.85, 0.52, 0.1), (1.75, 0.1, -0.05)])


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("more", ["BALL", "FIX_POINT"])
def test_a_frame_of_redundant_joints_is_stopped(more, solver, contacts):
    """Two bars between two points, with a hinge between them and one point more, cannot move: the first step stops them, for good."""
    solfec = s.SOLFEC("DYNAMIC", STEP, None, contacts=contacts)
    solfec.verbose = "OFF"
    bars = [beam(solfec, *FRAME[i : i + 2]) for i in range(2)]
    s.CONTACT_EXCLUDE_BODIES(*bars)
    spin = np.array([1.8, -2.9, 2.3])
    for k, body in enumerate(bars):
        s.INITIAL_VELOCITY(body, tuple(np.cross(spin, FRAME[k : k + 2].mean(axis=0))), tuple(spin))
    at = [tuple((1 - t) * FRAME[k] + t * FRAME[k + 1]) for k, t in ((0, 0.1), (0, 0.2), (1, 0.9))]
    s.BALL(bars[0], None, at[0])
    s.HINGE(*bars, tuple(FRAME[1]), (0, 0, 1))
    s.BALL(bars[1], None, at[2])
    s.BALL(bars[0], None, at[1]) if more == "BALL" else s.FIX_POINT(bars[0], at[1])
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    assert s.ENERGY(solfec).kinetic < 1e-6
    assert all(np.linalg.norm(s.DISPLACEMENT(body, body.center)) < 0.02 for body in bars)


def precessed(support, contacts, step):
    """Error of the angle by which a wheel on a rod has precessed after a second, and of the height of the rod's centre; the rod is held at its end."""
    solfec = s.SOLFEC("DYNAMIC", step, None, contacts=contacts)
    solfec.verbose = "OFF"
    bulk = s.BULK_MATERIAL(solfec, density=1000.0)
    sizes = ((0, 1), (-0.025, 0.025), (-0.025, 0.025)), ((0.9, 1), (-0.3, 0.3), (-0.3, 0.3))
    rod, wheel = (s.BODY(solfec, "RIGID", s.HULL([float(x) for corner in itertools.product(*sides) for x in corner], 1, 1), bulk) for sides in sizes)
    s.CONTACT_EXCLUDE_BODIES(rod, wheel)
    spin, inertia, moment = 60.0, wheel.mass * 2 * 0.6**2 / 12, 0.5 * rod.mass + 0.95 * wheel.mass
    rate = moment * 9.81 / (inertia * spin)  # steady, with the axis level: the moment of the weight turns the angular momentum of the spin
    s.INITIAL_VELOCITY(rod, (0, 0.5 * rate, 0), (0, 0, rate))
    s.INITIAL_VELOCITY(wheel, (0, 0.95 * rate, 0), (spin, 0, rate))
    s.GRAVITY(solfec, (0, 0, -9.81))
    SUPPORTS[support](rod)
    s.HINGE(wheel, rod, (0.95, 0, 0), (1, 0, 0))
    s.RUN(solfec, s.AUTO_SOLVER(), 1.0)
    x, y, z = rod.conf[9:]
    return math.atan2(y, x) - rate, z


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("support", ["FIX_POINT", "FIX_DIRECTIONs"])
def test_a_gyroscope_on_a_support_precesses_as_theory_says(support, contacts):
    coarse, fine = (np.abs(precessed(support, contacts, step)) for step in (2e-3, 1e-3))
    assert (fine < (1e-4, 3e-5)).all()
    assert (fine < 0.35 * coarse + 1e-6).all()  # second order
