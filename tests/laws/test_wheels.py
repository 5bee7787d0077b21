"""Gears, racks and rods against closed form, with every solver; wheels whose frame moves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import solfec as s
from solfec.errors import SolfecWarning

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 20000, meritval=1e-24),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-24, 1000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-10),
}
each_solver = pytest.mark.parametrize("solver", SOLVERS)
HALF = (0.2, 0.3, 0.5)
MASS = 240.0
SPIN = MASS * (0.4**2 + 0.6**2) / 12  # inertia of a brick about z
X, Y, Z = np.eye(3)


def floats(values) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def model(step=1e-3, correction="ON"):
    solfec = s.SOLFEC("DYNAMIC", step, None)
    solfec.verbose, solfec.joint_correction = "OFF", correction
    s.CONTACT_EXCLUDE_SURFACES(solfec, 1, 1)
    return solfec, s.BULK_MATERIAL(solfec, density=1000.0)


def brick(solfec, bulk, place=(0, 0, 0), half=HALF):
    corners = [floats(np.add(place, np.multiply(c, half))) for c in itertools.product((-1, 1), repeat=3)]
    return s.BODY(solfec, "RIGID", s.HULL([x for c in corners for x in c], 1, 1), bulk)


def spatial_rate(body) -> np.ndarray:
    """Angular velocity in space of a rigid body."""
    rotation = np.reshape(body.conf[:9], (3, 3), order="F")
    return rotation @ np.array(body.velo[:3])


@each_solver
def test_gears_turn_at_their_ratio_and_push_at_their_rims(solver):
    """q = -2 s: I q'' = T - r F and I s'' = -2 r F, with radii r and 2 r that add to the distance of the axes."""
    solfec, bulk = model()
    one, two = brick(solfec, bulk), brick(solfec, bulk, (2, 0, 0))
    first, second = s.HINGE(one, None, (0, 0, 0), floats(Z)), s.HINGE(two, None, (2, 0, 0), floats(Z))
    gear = s.GEAR(first, second, -2.0, label="train")
    s.MOTOR(first, "EFFORT", 30.0)
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    rate = 30 / (1.25 * SPIN)
    assert (first.turning, second.turning) == (pytest.approx(rate * 0.1, rel=1e-9), pytest.approx(-rate * 0.05, rel=1e-9))
    assert first.angle + 2 * second.angle == pytest.approx(0, abs=1e-12)
    slowed = 30 - SPIN * rate
    assert gear.reaction == pytest.approx((0, -1.5 * slowed, 0, 0, 0, -slowed), abs=1e-7)
    assert second.reaction[:3] == pytest.approx((0, -1.5 * slowed, 0), abs=1e-7)
    assert (gear.kind, gear.label, gear.torque, gear.alive) == ("GEAR", "train", None, True)


@each_solver
def test_wheels_on_one_axis_beside_space_turn_at_any_ratio(solver):
    solfec, bulk = model()
    one, two = brick(solfec, bulk), brick(solfec, bulk, (0, 0, 2))
    first, second = s.HINGE(one, None, (0, 0, 0), floats(Z)), s.HINGE(two, None, (0, 0, 2), floats(Z))
    s.GEAR(first, second, 0.25)
    s.MOTOR(first, "EFFORT", 30.0)
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    assert first.turning == pytest.approx(0.1 * 30 / (17 * SPIN), rel=1e-9)
    assert 4 * first.turning == pytest.approx(second.turning, rel=1e-9)


@each_solver
@pytest.mark.parametrize("order", [1, -1])
def test_a_differential_shares_a_torque_and_lets_its_wheels_turn_at_different_rates(solver, order):
    """2 w = w_l + w_r; the torque T on the carrier gives T/2 to each side wheel, whatever holds them back."""
    solfec, bulk = model()
    carrier, planet = brick(solfec, bulk, (0, 0, 1)), brick(solfec, bulk, (0, 0.5, 0))
    left, right = brick(solfec, bulk, (-1, 0, 0)), brick(solfec, bulk, (1, 0, 0))
    shaft = s.HINGE(carrier, None, (0, 0, 0), floats(X))

    def on_carrier(body, point, axis):
        pair = (body, carrier)[::order]  # which body of the hinge is the wheel does not matter
        return s.HINGE(*pair, point, floats(np.multiply(axis, order)))

    middle = on_carrier(planet, (0, 0.5, 0), Y)
    for side, body, ratio in ((-1, left, 1.0), (1, right, -1.0)):
        s.GEAR(on_carrier(body, (0.5 * side, 0, 0), X), middle, ratio)
    s.MOTOR(shaft, "EFFORT", 50.0)
    s.TORQUE(left, "SPATIAL", floats(X), -20.0)
    s.RUN(solfec, SOLVERS[solver](), 0.04)
    rates = [float(spatial_rate(body)[0]) for body in (left, right, carrier, planet)]
    assert rates[0] + rates[1] == pytest.approx(2 * rates[2], rel=1e-9)
    assert abs(rates[1] - rates[0]) > 0.01
    # work of virtual turns of the sides: (w, d) with w_l = w - d, w_r = w + d, and the planet d about its own axis
    wheel = MASS * (0.6**2 + 1.0**2) / 12
    about = MASS * (0.4**2 + 1.0**2) / 12
    whole = 2 * wheel + (wheel + MASS) + (wheel + 0.25 * MASS)
    assert rates[2] == pytest.approx((50 - 20) * 0.04 / whole, rel=1e-4)
    assert (rates[1] - rates[0]) / 2 == pytest.approx(20 * 0.04 / (2 * wheel + about), rel=1e-4)


@each_solver
def test_a_differential_that_is_held_gives_half_of_the_torque_to_each_side(solver):
    """Each side wheel stands in a bearing of the carrier and one of space, about one axis."""
    solfec, bulk = model()
    carrier, planet = brick(solfec, bulk, (0, 0, 1)), brick(solfec, bulk, (0, 0.5, 0))
    shaft, middle = s.HINGE(carrier, None, (0, 0, 0), floats(X)), s.HINGE(planet, carrier, (0, 0.5, 0), floats(Y))
    sides = []
    for side, ratio in ((-1, 1.0), (1, -1.0)):
        wheel = brick(solfec, bulk, (side, 0, 0))
        s.GEAR(s.HINGE(wheel, carrier, (0.5 * side, 0, 0), floats(X)), middle, ratio)
        sides.append(s.HINGE(wheel, None, (float(side), 0, 0), floats(X)))
        s.MOTOR(sides[-1], "RATE", 0.0)
    s.MOTOR(shaft, "EFFORT", 50.0)
    s.RUN(solfec, SOLVERS[solver](), 0.01)
    assert [side.torque for side in sides] == pytest.approx([-25, -25], rel=1e-9)
    assert abs(shaft.turning) < 1e-12


def energy_and_momentum(bodies) -> tuple[float, np.ndarray]:
    """Kinetic energy and angular momentum about the origin of rigid bodies."""
    energy, momentum = 0.0, np.zeros(3)
    for body in bodies:
        rotation = np.reshape(body.conf[:9], (3, 3), order="F")
        inertia = np.reshape(body.tensor, (3, 3))
        turning, velocity = np.array(body.velo[:3]), np.array(body.velo[3:])
        energy += 0.5 * turning @ inertia @ turning + 0.5 * body.mass * velocity @ velocity
        momentum += rotation @ inertia @ turning + body.mass * np.cross(body.conf[9:], velocity)
    return energy, momentum


def floating_train(step: float, steps: int):
    """Two gears, not parallel, on a frame that tumbles in space."""
    solfec, bulk = model(step)
    frame, one, two = brick(solfec, bulk), brick(solfec, bulk, (1, 0, 0)), brick(solfec, bulk, (0, 1, 1))
    first = s.HINGE(one, frame, (1, 0, 0), floats(Z))
    second = s.HINGE(two, frame, (0, 1, 1), (0.0, 0.6, 0.8))
    s.GEAR(first, second, -1.5)
    s.RUN(solfec, SOLVERS["AUTO"](), step)  # stops what joints forbid
    s.MOTOR(first, "EFFORT", 40.0)
    s.RUN(solfec, SOLVERS["AUTO"](), 0.12)
    s.MOTOR(first, "OFF")
    s.INITIAL_VELOCITY(frame, floats(frame.velo[3:]), floats(np.array(frame.velo[:3]) + 0.5))
    s.RUN(solfec, SOLVERS["AUTO"](), 2 * step)
    before = energy_and_momentum((frame, one, two))
    s.RUN(solfec, SOLVERS["AUTO"](), steps * step)
    after = energy_and_momentum((frame, one, two))
    assert first.angle + 1.5 * second.angle == pytest.approx(0, abs=1e-10)
    assert first.turning + 1.5 * second.turning == pytest.approx(0, abs=1e-7 * abs(first.turning))
    assert abs(first.turning) > 0.1
    return abs(after[0] / before[0] - 1), np.linalg.norm(after[1] - before[1]) / np.linalg.norm(before[1])


def test_gears_on_a_frame_that_tumbles_keep_energy_and_momentum():
    """Mesh forces come in pairs at one place, so they have no moment about any axis of space."""
    coarse, fine = floating_train(4e-3, 50), floating_train(2e-3, 100)
    assert fine[1] < 1e-7 and fine[1] < 0.4 * coarse[1]  # points of hinges meet at the ends of steps
    assert fine[0] < 1e-5 and fine[0] < 0.4 * coarse[0]


@each_solver
def test_a_rack_slides_as_its_pinion_turns(solver):
    """(I + m r^2) q'' = T."""
    solfec, bulk = model()
    wheel, bar = brick(solfec, bulk), brick(solfec, bulk, (0, -0.5, 0))
    shaft = s.HINGE(wheel, None, (0, 0, 0), floats(Z))
    guide = s.SLIDER(bar, None, (0, -0.5, 0), floats(X))
    rack = s.RACK(shaft, guide, 0.5)
    s.MOTOR(shaft, "EFFORT", 10.0)
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    rate = 10 / (SPIN + 0.25 * MASS)
    assert shaft.turning == pytest.approx(0.1 * rate, rel=1e-9)
    assert guide.travel == pytest.approx(0.5 * shaft.angle, rel=1e-9) and guide.speed == pytest.approx(0.05 * rate, rel=1e-9)
    assert rack.reaction[:3] == pytest.approx((0.5 * rate * MASS, 0, 0), abs=1e-7)


@each_solver
def test_a_carriage_climbs_a_rack_in_space(solver):
    """The pinion is carried by what slides: (I + m r^2) q'' = T - M g r for pinion and carriage."""
    solfec, bulk = model()
    s.GRAVITY(solfec, (0, -9.81, 0))
    carriage, wheel = brick(solfec, bulk), brick(solfec, bulk, (0.5, 0, 0))
    guide = s.SLIDER(carriage, None, (0, 0, 0), floats(Y))
    shaft = s.HINGE(wheel, carriage, (0.5, 0, 0), floats(Z))
    s.RACK(shaft, guide, 0.25)
    s.MOTOR(shaft, "EFFORT", 2000.0)
    s.RUN(solfec, SOLVERS[solver](), 0.05)
    rate = (2000 - 2 * MASS * 9.81 * 0.25) / (SPIN + 2 * MASS * 0.25**2)
    assert shaft.turning == pytest.approx(0.05 * rate, rel=1e-9)
    assert guide.speed == pytest.approx(0.0125 * rate, rel=1e-9)


@each_solver
def test_a_rack_on_a_frame_that_turns_follows_its_pinion(solver):
    solfec, bulk = model()
    frame, wheel, bar = brick(solfec, bulk), brick(solfec, bulk, (1, 0, 0)), brick(solfec, bulk, (1, -0.5, 0))
    turn = s.HINGE(frame, None, (0, 0, 0), floats(Y))
    shaft, guide = s.HINGE(wheel, frame, (1, 0, 0), floats(Z)), s.SLIDER(bar, frame, (1, -0.5, 0), floats(X))
    s.RACK(shaft, guide, -0.2)
    s.MOTOR(turn, "RATE", 2.0)
    s.MOTOR(shaft, "POSITION", lambda time: math.sin(2 * time))
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    assert turn.angle == pytest.approx(0.2, abs=2e-3)
    assert shaft.angle == pytest.approx(math.sin(0.2), abs=1e-5)
    assert guide.travel == pytest.approx(-0.2 * shaft.angle, abs=1e-12)


@each_solver
def test_a_rod_keeps_its_length_and_tells_its_tension(solver):
    """A ball on a rod goes round on a cone: w^2 = g/(l cos a), tension m g/cos a."""
    solfec, bulk = model(2e-3)
    s.GRAVITY(solfec, (0, 0, -9.81))
    angle, length = 0.5, 2.0
    place = length * np.array([math.sin(angle), 0, -math.cos(angle)])
    ball = s.BODY(solfec, "RIGID", s.SPHERE(floats(place), 0.1, 1, 1), bulk)
    rod = s.DISTANCE(ball, None, floats(place), (0, 0, 0), strength=1e4)
    rate = math.sqrt(9.81 / (length * math.cos(angle)))
    s.INITIAL_VELOCITY(ball, floats(rate * place[0] * Y), (0, 0, 0))
    s.RUN(solfec, SOLVERS[solver](), 0.2)
    assert rod.distance == pytest.approx(length, abs=1e-9)
    assert rod.tension == pytest.approx(-ball.mass * 9.81 / math.cos(angle), rel=1e-4)
    now = np.array(ball.conf[9:])
    assert now == pytest.approx([place[0] * math.cos(0.2 * rate), place[0] * math.sin(0.2 * rate), place[2]], abs=1e-4)
    assert (rod.kind, rod.angle, rod.travel, rod.torque) == ("DISTANCE", None, None, None)


def test_a_rod_breaks_under_a_tension_and_not_under_a_push():
    solfec, bulk = model()
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 1), 0.1, 1, 1), bulk)
    rod = s.DISTANCE(ball, None, (0, 0, 1), (0, 0, 0), strength=10.0)
    s.GRAVITY(solfec, (0, 0, -9.81))
    s.RUN(solfec, SOLVERS["AUTO"](), 0.01)
    assert rod.alive and rod.tension == pytest.approx(ball.mass * 9.81)
    s.GRAVITY(solfec, (0, 0, 9.81))
    s.RUN(solfec, SOLVERS["AUTO"](), 0.01)
    assert not rod.alive and rod.tension is None


def test_gears_go_with_their_hinges():
    solfec, bulk = model()
    one, two, three = brick(solfec, bulk), brick(solfec, bulk, (2, 0, 0)), brick(solfec, bulk, (4, 0, 0))
    frame = brick(solfec, bulk, (0, 0, 3))
    first, second, third = (s.HINGE(body, frame, (2.0 * k, 0, 0), floats(Z)) for k, body in enumerate((one, two, three)))
    a, b = s.GEAR(first, second, -1.0), s.GEAR(second, third, -1.0)
    s.DELETE(solfec, three)
    assert (a.alive, b.alive) == (True, False)
    s.RUN(solfec, SOLVERS["AUTO"](), 0.01)
    s.DELETE(solfec, frame)
    assert not (a.alive or first.alive) and a.reaction is None
    s.RUN(solfec, SOLVERS["AUTO"](), 0.01)


@pytest.mark.parametrize("solver", ["GAUSS_SEIDEL", "NEWTON", "AUTO"])
def test_motors_that_no_gear_allows_are_told(solver):
    """Reactions grow without bound, and errors that are small beside them are no accuracy."""
    solfec, bulk = model(correction="OFF")
    hinges = [s.HINGE(brick(solfec, bulk, (2.0 * k, 0, 0)), None, (2.0 * k, 0, 0), floats(Z)) for k in range(2)]
    for hinge in hinges:
        s.MOTOR(hinge, "RATE", 3.0)
    s.GEAR(*hinges, 2.0)
    made = {"GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 500), "NEWTON": s.NEWTON_SOLVER, "AUTO": s.AUTO_SOLVER}
    with pytest.warns(SolfecWarning, match="did not reach its accuracy in 10 of 10 steps"):
        s.RUN(solfec, made[solver](), 0.01)
    assert solfec._simulation.domain.unsolved


BAD = {
    "s.GEAR(hinge, other, 0)": "'ratio' is zero",
    "s.GEAR(hinge, other, float('nan'))": "'ratio'",
    "s.GEAR(hinge, other, -1e200)": "from 1e-09 to 1e.09, not 1e.200",
    "s.GEAR(hinge, other, 1e-320)": "from 1e-09 to 1e.09",
    "s.GEAR(hinge, hinge, 2)": "one side in common",
    "s.GEAR(hinge, slider, 2)": "'joint2' is a SLIDER; a GEAR wants a HINGE",
    "s.GEAR(body, other, 2)": "'joint'",
    "s.GEAR(hinge, elsewhere, 2)": "different SOLFEC",
    "s.GEAR(on_frame, on_frame_too, 2)": "axes of 'joint' and 'joint2' coincide",
    "s.GEAR(gone, hinge, 2)": "'joint' .* does not exist any more",
    "s.GEAR(hinge, apart, 2)": "one side in common",
    "s.RACK(hinge, slider, 0)": "'radius' is zero",
    "s.RACK(slider, hinge, 1)": "'joint' is a SLIDER; a RACK wants a HINGE",
    "s.RACK(hinge, other, 1)": "'joint2' is a HINGE; a RACK wants a SLIDER",
    "s.RACK(other, elsewhere_slider, 1)": "different SOLFEC",
    "s.DISTANCE(body, body, (0, 0, 0), (1, 0, 0))": "'body'",
    "s.DISTANCE(body, None, (0, 0, 0), (0, 0, 0))": "'point' and 'point2' are 0 apart",
    "s.DISTANCE(body, None, (0, 0, 0), (1, 0, 0), strength=-1)": "'strength'",
    "s.DISTANCE(None, body, (0, 0, 0), (1, 0, 0))": "'body'",
}


@pytest.mark.parametrize("text", BAD)
def test_wheels_that_make_no_sense_are_refused_and_leave_nothing_behind(text):
    solfec, bulk = model()
    body, two, frame, three, four = (brick(solfec, bulk, (2.0 * k, 0, 0)) for k in range(5))
    hinge, other = s.HINGE(body, None, (0, 0, 0), floats(Z)), s.HINGE(two, None, (2, 0, 0), floats(Z))
    on_frame, on_frame_too = s.HINGE(three, frame, (4, 0, 0), floats(Z)), s.HINGE(four, frame, (4, 0, 1), floats(Z))
    slider = s.SLIDER(frame, None, (4, 0, 0), floats(X))
    gone_body = brick(solfec, bulk, (10, 0, 0))
    gone = s.HINGE(gone_body, None, (10, 0, 0), floats(Z))
    s.DELETE(solfec, gone_body)
    apart = on_frame
    solfec2, bulk2 = model()
    elsewhere = s.HINGE(brick(solfec2, bulk2), None, (0, 0, 0), floats(Z))
    elsewhere_slider = s.SLIDER(brick(solfec2, bulk2), None, (0, 0, 0), floats(Z))
    count = len(solfec.constraints)
    with pytest.raises((ValueError, TypeError), match=BAD[text]):
        eval(text, {"s": s, **locals()})
    assert len(solfec.constraints) == count
