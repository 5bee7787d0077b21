"""Rolling and spinning friction against closed forms, and its law in every step of what falls, rolls and heaps up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from coulomb import turn

import solfec as s
from solfec.errors import SolfecError
from solfec.solvers import siconos_library, siconos_process

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 20000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-11),
    "reversed sweeps": lambda: reversed_sweeps(),
}
each_solver = pytest.mark.parametrize("solver", SOLVERS)
RADIUS, G, STEP = 0.1, 9.81, 1e-3
pytestmark = pytest.mark.usefixtures("fresh_session")  # GEOMETRIC_EPSILON goes with the unit of length


def reversed_sweeps():
    solver = s.GAUSS_SEIDEL_SOLVER(1e-13, 20000)
    solver.reverse = "ON"
    return solver


def floats(values) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def box(lower, upper, rotation=None):
    corners = np.array([(x, y, z) for z in (lower[2], upper[2]) for x, y in ((lower[0], lower[1]), (upper[0], lower[1]), (upper[0], upper[1]), (lower[0], upper[1]))])
    if rotation is not None:
        corners = corners @ rotation.T
    return s.HULL(corners.ravel().tolist(), 1, 1)


def plate(slope=0.0, direction=0.0, friction=0.9, contacts="CLASSIC", step=STEP, half=3, **lengths):
    """A plate through the origin; gravity leans against it by an angle, towards a direction in the plate."""
    solfec = s.SOLFEC("DYNAMIC", step, None, contacts=contacts)
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=friction, **lengths)
    bulk = s.BULK_MATERIAL(solfec, density=1000.0, young=1e9)
    downhill = math.sin(slope) * np.array([math.cos(direction), math.sin(direction), 0.0])
    s.GRAVITY(solfec, floats(G * (downhill - [0, 0, math.cos(slope)])))
    s.BODY(solfec, "OBSTACLE", box((-half, -half, -1), (half, half, 0)), bulk)
    return solfec, bulk


def ball(solfec, bulk, centre=(0, 0, RADIUS), velocity=(0, 0, 0), spin=(0, 0, 0), radius=RADIUS, kind="RIGID"):
    body = s.BODY(solfec, kind, s.SPHERE(floats(centre), radius, 1, 1), bulk)
    if np.any(velocity) or np.any(spin):
        s.INITIAL_VELOCITY(body, floats(velocity), floats(spin))
    return body


def velocity(body) -> np.ndarray:
    return np.array(body.velo[3:6])


def spatial_rate(body) -> np.ndarray:
    """Angular velocity in space of a rigid body."""
    return np.reshape(body.conf[:9], (3, 3), order="F") @ np.array(body.velo[:3])


# --- closed forms ------------------------------------------------------------------------------------------------


@each_solver
@pytest.mark.parametrize("direction", [0.0, 2.1])
def test_a_ball_rests_below_the_angle_of_rolling(solver, direction):
    """It rests if m g sin a r <= l m g cos a."""
    solfec, bulk = plate(math.atan(0.0999), direction, rolling_length=0.1 * RADIUS)
    body = ball(solfec, bulk)
    s.RUN(solfec, SOLVERS[solver](), 0.2)
    assert np.abs(velocity(body)).max() < 1e-9 and np.abs(spatial_rate(body)).max() < 1e-8


@each_solver
@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("ratio", [0.1001, 0.3])
def test_a_ball_rolls_above_the_angle_of_rolling(solver, contacts, ratio):
    """m (1 + 2/5) r v' = m g sin a r - l m g cos a."""
    slope, direction = math.atan(ratio), 0.7
    solfec, bulk = plate(slope, direction, contacts=contacts, rolling_length=0.1 * RADIUS)
    body = ball(solfec, bulk)
    s.RUN(solfec, SOLVERS[solver](), 0.02)
    before = velocity(body)
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    gained = (velocity(body) - before) / 0.1
    expected = G * (math.sin(slope) - 0.1 * math.cos(slope)) / 1.4
    assert gained == pytest.approx(expected * np.array([math.cos(direction), math.sin(direction), 0.0]), abs=1e-6)
    assert spatial_rate(body) == pytest.approx(np.cross([0, 0, 1], velocity(body)) / RADIUS, abs=1e-6)


def test_a_ball_that_slides_is_not_held_by_rolling_friction():
    """Friction mu m g and the moment l m g brake and turn it until it rolls: v' = -mu g, 2/5 r w' = mu g - l g/r."""
    solfec, bulk = plate(friction=0.2, rolling_length=0.1 * RADIUS)
    body = ball(solfec, bulk, velocity=(1, 0, 0))
    s.RUN(solfec, SOLVERS["AUTO"](), 0.02)
    before, turned = velocity(body)[0], spatial_rate(body)[1]
    s.RUN(solfec, SOLVERS["AUTO"](), 0.05)
    assert (velocity(body)[0] - before) / 0.05 == pytest.approx(-0.2 * G, rel=1e-7)
    assert (spatial_rate(body)[1] - turned) / 0.05 == pytest.approx((0.2 - 0.1) * G / (0.4 * RADIUS), rel=1e-6)


def test_balls_of_large_models_roll_as_one_alone():
    """Rolling friction follows the newest normal reactions where more than 2000 contacts are swept eight at a time: it was none in the first step."""
    velocities = []
    for side in (1, 46):
        solfec, bulk = plate(half=12, rolling_length=0.2 * RADIUS)
        balls = [ball(solfec, bulk, (0.3 * i - 7, 0.3 * j - 7, RADIUS), (1, 0, 0), (0, 1 / RADIUS, 0)) for i in range(side) for j in range(side)]
        s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-12, 2000), STEP)
        velocities.append(np.array([velocity(body) for body in balls]))
    assert len(solfec.constraints) > 2000
    assert velocities[0][0, 0] < 1 - 1e-4
    np.testing.assert_allclose(velocities[1], np.broadcast_to(velocities[0][0], velocities[1].shape), atol=1e-9)


@each_solver
def test_a_rolling_ball_stops_in_its_time_and_stays(solver):
    """7/5 m v'/r = -l m g/r^2: it stops after 7/5 v r/(l g)."""
    solfec, bulk = plate(rolling_length=0.2 * RADIUS)
    body = ball(solfec, bulk, velocity=(0.3, 0.4, 0), spin=(-4, 3, 0))
    time = 1.4 * 0.5 / (0.2 * G)
    s.RUN(solfec, SOLVERS[solver](), 0.9 * time)
    assert np.linalg.norm(velocity(body)) == pytest.approx(0.5 * 0.1, abs=2 * STEP * G * 0.2)
    s.RUN(solfec, SOLVERS[solver](), 0.2 * time)
    assert np.abs(velocity(body)).max() < 1e-9 and np.abs(spatial_rate(body)).max() < 1e-8


@each_solver
@pytest.mark.parametrize("shape", ["ball", "lens", "top"])
def test_a_top_stops_in_its_time(solver, shape):
    """C w' = -c m g about the upright axis: it stops after C w/(c m g)."""
    solfec, bulk = plate(spinning_length=0.01)
    if shape == "ball":
        body = ball(solfec, bulk, spin=(0, 0, 10))
        moment = 0.4 * RADIUS**2
    elif shape == "lens":
        body = s.BODY(solfec, "RIGID", s.ELLIP((0, 0, 0.05), (0.2, 0.2, 0.05), 1, 1), bulk)
        moment = 0.4 * 0.2**2
    else:  # a pyramid on its tip, upright to the last bit
        body = s.BODY(solfec, "RIGID", s.HULL([0, 0, 0, 0.2, 0, 0.2, 0, 0.2, 0.2, -0.2, 0, 0.2, 0, -0.2, 0.2], 1, 1), bulk)
        moment = 0.1 * (0.2 * math.sqrt(2)) ** 2
    if shape != "ball":
        s.INITIAL_VELOCITY(body, (0, 0, 0), (0, 0, 10))
    s.RUN(solfec, SOLVERS[solver](), 0.01)
    before = spatial_rate(body)[2]
    s.RUN(solfec, SOLVERS[solver](), 0.02)
    slowed = (before - spatial_rate(body)[2]) / 0.02
    assert slowed == pytest.approx(0.01 * G / moment, rel=1e-6)
    if shape == "top":
        return  # it falls before it stops
    s.RUN(solfec, SOLVERS[solver](), 10 / slowed - 0.03 - 0.02)
    assert spatial_rate(body)[2] == pytest.approx(0.02 * slowed, abs=3 * STEP * slowed)
    s.RUN(solfec, SOLVERS[solver](), 0.04)
    assert abs(spatial_rate(body)[2]) < 1e-8


def test_spinning_friction_alone_does_not_brake_rolling_and_the_other_way_round():
    for lengths in ({"spinning_length": 0.01}, {"rolling_length": 0.01}):
        solfec, bulk = plate(**lengths)
        body = ball(solfec, bulk, velocity=(1, 0, 0), spin=(0, 10, 5))
        s.RUN(solfec, SOLVERS["AUTO"](), 0.03)
        kept = spatial_rate(body)[1 if "spinning_length" in lengths else 2]
        assert kept == pytest.approx(10 if "spinning_length" in lengths else 5, rel=1e-6)


@pytest.mark.parametrize("scheme", ["DEF_EXP", "DEF_LIM"])
def test_pseudo_rigid_balls_roll_and_rest_as_rigid_ones(scheme):
    slope = math.atan(0.2)
    for length, expected in ((0.3, 0.0), (0.1, G * (math.sin(slope) - 0.1 * math.cos(slope)) / 1.4)):
        solfec, bulk = plate(slope, rolling_length=length * RADIUS)
        body = ball(solfec, bulk, kind="PSEUDO_RIGID")
        bulk.young, body.scheme, body.damping = 1e7, scheme, 1e-4
        s.RUN(solfec, SOLVERS["AUTO"](), 0.1)
        before = body.velo[9]
        s.RUN(solfec, SOLVERS["AUTO"](), 0.1)
        assert (body.velo[9] - before) / 0.1 == pytest.approx(expected, abs=0.01 * G * math.sin(slope))


# --- the law in every step ----------------------------------------------------------------------------------------


def heap(seed, rotation=None, scale=1.0, origin=(0, 0, 0), rolling=0.02, spinning=0.01, shape="balls", contacts="CLASSIC"):
    """Balls of several sizes, or blocks among them, that fall onto a plate; in any placement and unit of length."""
    random = np.random.default_rng(seed)
    rotation = np.eye(3) if rotation is None else rotation
    solfec = s.SOLFEC("DYNAMIC", STEP, None, contacts=contacts)
    solfec.verbose = "OFF"
    s.GEOMETRIC_EPSILON(1e-6 * scale)
    s.SURFACE_MATERIAL(solfec, friction=0.5, rolling_length=rolling * scale, spinning_length=spinning * scale)
    bulk = s.BULK_MATERIAL(solfec, density=1000.0)
    s.GRAVITY(solfec, floats(rotation @ (1, 0, -G) * scale))

    def put(points):
        return floats(np.ravel((np.reshape(points, (-1, 3)) @ rotation.T) * scale + origin))

    floor = [(x, y, z) for z in (-0.5, 0) for x, y in ((-2, -2), (2, -2), (2, 2), (-2, 2))]
    s.BODY(solfec, "OBSTACLE", s.HULL(put(floor), 1, 1), bulk)
    bodies = []
    for k in range(6):
        radius = random.uniform(0.08, 0.12)
        centre = np.array([0.22 * (k % 2), 0.22 * (k // 2 % 2), 0.13 + 0.23 * (k // 4)])
        if shape == "balls" or k % 2:
            made = s.SPHERE(put(centre), radius * scale, 1, 1)
        else:
            made = s.HULL(put(centre + radius * np.array([(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])), 1, 1)
        body = s.BODY(solfec, "RIGID", made, bulk)
        s.INITIAL_VELOCITY(body, floats(rotation @ random.normal(size=3) * 0.5 * scale), floats(rotation @ random.normal(size=3) * 5))
        bodies.append(body)
    return solfec, bodies


@pytest.mark.parametrize("shape", ["balls", "blocks"])
@pytest.mark.parametrize("solver", ["GAUSS_SEIDEL", "AUTO"])
def test_moments_stay_within_their_bounds_and_oppose_turning(solver, shape):
    """Of all moments in the set that the normal reaction allows, the one that brakes most."""
    rolling, spinning = 0.02, 0.01
    solfec, bodies = heap(3, shape=shape)
    seen = 0
    for _ in range(100):
        s.RUN(solfec, SOLVERS[solver](), STEP)
        rate = {body.id: spatial_rate(body) if body.kind == "RIGID" else np.zeros(3) for body in solfec.bodies}
        for contact in solfec.constraints:
            base = np.reshape(contact.base, (3, 3))  # rows t1, t2, n
            one, other = contact.adjbod
            relative = base @ (rate[one.id] - rate[other.id])
            moment, normal = np.array(contact.moment), max(contact.R[2], 0.0)
            assert np.hypot(*moment[:2]) <= rolling * normal * (1 + 1e-9)
            assert abs(moment[2]) <= spinning * normal * (1 + 1e-9)
            most = rolling * normal * np.hypot(*relative[:2]) + spinning * normal * abs(relative[2])
            assert moment @ relative == pytest.approx(-most, abs=2e-3 * (1e-3 + most))
            seen += most > 1e-3
    assert seen > 30


def test_angular_momentum_changes_by_the_moments():
    """Of every ball: J w' = sum of (arm x force + moment) over its contacts, with arms at mid-step."""
    solfec, bodies = heap(5, contacts="CLASSIC")
    worst = 0.0
    for _ in range(40):
        before = {body.id: spatial_rate(body) for body in bodies}
        middle = {body.id: np.array(body.conf[9:12]) + 0.5 * STEP * velocity(body) for body in solfec.bodies}
        s.RUN(solfec, SOLVERS["AUTO"](), STEP)
        torque = {body.id: np.zeros(3) for body in solfec.bodies}
        for contact in solfec.constraints:
            base = np.reshape(contact.base, (3, 3))
            for sign, body in zip((1, -1), contact.adjbod):
                arm = np.array(contact.point) - middle[body.id]
                torque[body.id] += sign * (np.cross(arm, base.T @ contact.R) + base.T @ contact.moment)
        for body in bodies:
            inertia = 0.4 * body.mass * (3 * body.mass / (4000 * math.pi)) ** (2 / 3)
            gained = inertia * (spatial_rate(body) - before[body.id]) / STEP
            worst = max(worst, np.abs(gained - torque[body.id]).max() / (body.mass * G * 0.1))
    assert worst < 1e-6


@pytest.mark.parametrize("shape", ["balls", "blocks"])
def test_energy_never_grows(shape):
    solfec, bodies = heap(7, shape=shape)
    s.GRAVITY(solfec, (0, 0, -G))

    def total():
        return s.ENERGY(solfec).kinetic + sum(body.mass * G * body.conf[11] for body in bodies)

    last = first = total()
    for _ in range(150):
        s.RUN(solfec, s.AUTO_SOLVER(1e-10), STEP)
        now = total()
        assert now <= last + 1e-7 * abs(first)
        last = now
    assert last < first


def outcome(solfec, bodies, rotation=None, scale=1.0, origin=(0, 0, 0)) -> np.ndarray:
    rotation = np.eye(3) if rotation is None else rotation
    s.RUN(solfec, s.AUTO_SOLVER(1e-12), 0.05)
    rows = [(rotation.T @ (np.array(body.conf[9:12]) - origin) / scale, rotation.T @ velocity(body) / scale, rotation.T @ spatial_rate(body)) for body in bodies]
    return np.array(rows)


def test_outcomes_do_not_depend_on_frame_place_or_unit():
    expected = outcome(*heap(11))
    assert np.abs(expected[:, 2]).max() > 0.5
    rotation = turn(np.array([0.4, -1.1, 0.7]))
    np.testing.assert_allclose(outcome(*heap(11, rotation), rotation), expected, atol=1e-6)
    away = np.array([100.0, -200.0, 50.0])
    np.testing.assert_allclose(outcome(*heap(11, origin=away), origin=away), expected, atol=1e-6)
    np.testing.assert_allclose(outcome(*heap(11, scale=1e3), scale=1e3), expected, atol=1e-6)


@pytest.mark.slow
def test_heaps_are_steeper_with_rolling_friction():
    """A column of balls falls apart.  A cone of the slope p has tan p = 2 (mean height)/(mean distance from its axis); without rolling friction no heap is left."""
    slopes = [slope_of_a_heap(length * RADIUS) for length in (0.0, 0.05, 0.2)]
    assert slopes[0] < 1e-3
    assert slopes[1] > slopes[0] + 0.01
    assert slopes[2] > slopes[1] + 0.05


def slope_of_a_heap(length) -> float:
    random = np.random.default_rng(1)
    solfec, bulk = plate(friction=0.5, contacts="MANIFOLD", step=2e-3, half=30, rolling_length=length, spinning_length=0.5 * length)
    places = [RADIUS * np.array([2.3 * (i - 1.5), 2.3 * (j - 1.5), 1.2 + 2.3 * k]) for k in range(5) for j in range(4) for i in range(4)]
    balls = [ball(solfec, bulk, place + random.uniform(-0.1, 0.1, 3) * RADIUS) for place in places]
    s.RUN(solfec, s.AUTO_SOLVER(1e-5), 3.0)
    centres = np.array([body.conf[9:12] for body in balls])
    axis = np.median(centres[:, :2], axis=0)
    return 2 * (centres[:, 2].mean() - RADIUS) / np.linalg.norm(centres[:, :2] - axis, axis=1).mean()


# --- errors -------------------------------------------------------------------------------------------------------


REFUSING = {"NEWTON": lambda: s.NEWTON_SOLVER(1e-8), "PENALTY": lambda: s.PENALTY_SOLVER(), "SICONOS": lambda: s.SICONOS_SOLVER()}


@pytest.mark.parametrize("solver", REFUSING)
def test_other_solvers_refuse_before_the_run(solver):
    if solver == "SICONOS" and not siconos_process.is_installed():
        pytest.skip(siconos_library.MISSING)
    solfec, bulk = plate(rolling_length=0.01)
    ball(solfec, bulk)
    with pytest.raises(SolfecError, match="does not solve rolling and spinning friction .* use GAUSS_SEIDEL_SOLVER or AUTO_SOLVER"):
        s.RUN(solfec, REFUSING[solver](), 0.01)
    assert solfec.time == 0.0


def test_finite_element_bodies_have_none():
    solfec, bulk = plate(rolling_length=0.01)
    corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    s.BODY(solfec, "FINITE_ELEMENT", s.HEX(corners, 1, 1, 1, 1, [1] * 6), bulk)
    with pytest.raises(SolfecError, match="has rolling or spinning friction, which finite element bodies do not have"):
        s.RUN(solfec, s.AUTO_SOLVER(), 0.01)


@pytest.mark.parametrize("name", ["rolling_length", "spinning_length"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, "much"])
def test_lengths_are_positive_numbers(name, value):
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None)
    with pytest.raises((ValueError, TypeError), match=name):
        s.SURFACE_MATERIAL(solfec, **{name: value})
    material = s.SURFACE_MATERIAL(solfec, **{name: 0.5})
    assert getattr(material, name) == 0.5
    setattr(material, name, 0.25)
    assert getattr(material, name) == 0.25


def test_a_body_that_does_not_turn_has_no_rolling_rows():
    solfec, bulk = plate(rolling_length=0.01)
    body = ball(solfec, bulk, velocity=(1, 0, 0))
    body.disable_rotation = "ON"
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.02)
    assert velocity(body)[0] == pytest.approx(1 - 0.9 * G * 0.02, abs=0.02)
