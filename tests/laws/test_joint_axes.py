"""What acts along the axes of joints, against closed form, with every solver; ropes; what keeps joints together."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import solfec as s
from solfec.constraints import joint_correction

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 20000, meritval=1e-24),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-24, 1000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-10),
}
INERTIA = 240 * (0.4**2 + 0.6**2) / 12  # of a brick about the z axis
Z = (0, 0, 1)


def model(step=1e-3, correction="OFF"):
    solfec = s.SOLFEC("DYNAMIC", step, None)
    solfec.verbose = "OFF"
    solfec.joint_correction = correction
    return solfec, s.BULK_MATERIAL(solfec, density=1000.0)


def brick(solfec, bulk, place=(0, 0, 0), kind="RIGID", half=(0.2, 0.3, 0.5)):
    corners = [tuple(np.add(place, np.multiply(c, half))) for c in itertools.product((-1, 1), repeat=3)]
    return s.BODY(solfec, kind, s.HULL([x for c in corners for x in c], 1, 1), bulk)


def turned(solver, duration=1.0, rate=0.0, step=1e-3, motor=None, kind="RIGID", **acting):
    """A brick on a hinge through its middle, let go with a rate; the joint after a while."""
    solfec, bulk = model(step)
    body = brick(solfec, bulk, kind=kind)
    joint = s.HINGE(body, None, (0, 0, 0), (0, 0, 2), **acting)
    if motor:
        s.MOTOR(joint, *motor)
    s.INITIAL_VELOCITY(body, (0, 0, 0), (0, 0, rate))
    s.RUN(solfec, SOLVERS[solver](), duration)
    return joint


@pytest.mark.parametrize("solver", SOLVERS)
def test_dry_friction_slows_a_wheel_down_and_holds_it(solver):
    joint = turned(solver, rate=2.0, friction=3.0)
    assert joint.turning == pytest.approx(2 - 3 / INERTIA, rel=1e-9)
    assert joint.angle == pytest.approx(2 - 1.5 / INERTIA, rel=1e-9)
    assert joint.torque == pytest.approx(-3, rel=1e-9)
    joint = turned(solver, rate=0.1, friction=3.0)
    assert abs(joint.turning) < 1e-12
    assert joint.angle == pytest.approx(0.5 * 0.1**2 * INERTIA / 3, abs=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_throws_back_by_its_restitution(solver):
    joint = turned(solver, rate=2.0, limits=(-1, 0.5), restitution=0.5)
    assert joint.turning == pytest.approx(-1, rel=1e-9)
    assert joint.angle == pytest.approx(0.5 - 0.75, abs=2e-3)
    joint = turned(solver, rate=-3.0, limits=(-0.3, 0.5))
    assert abs(joint.turning) < 1e-9
    assert joint.angle == pytest.approx(-0.3, abs=3e-3)


def spring_angle(step, solver, kind="RIGID"):
    return turned(solver, step=step, spring=1000.0, damper=10.0, rest=0.3, kind=kind).angle


@pytest.mark.parametrize("solver", SOLVERS)
def test_spring_and_damper_follow_their_equation_with_second_order(solver):
    decay = 10 / (2 * INERTIA)
    rate = math.sqrt(1000 / INERTIA - decay**2)
    expected = 0.3 - 0.3 * math.exp(-decay) * (math.cos(rate) + decay / rate * math.sin(rate))
    coarse, fine = (abs(spring_angle(step, solver) - expected) for step in (4e-3, 2e-3))
    assert coarse < 1e-3
    assert 3.5 < coarse / fine < 4.5


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_motor_with_a_limit_slips_until_it_has_caught_up(solver):
    joint = turned(solver, motor=("RATE", 20.0, 50.0))
    assert joint.turning == pytest.approx(50 / INERTIA, rel=1e-9)
    assert joint.torque == pytest.approx(50, rel=1e-9)
    joint = turned(solver, motor=("RATE", 2.0, 50.0), friction=10.0)
    assert joint.turning == pytest.approx(2.0, rel=1e-9)
    assert abs(joint.torque) < 1e-9 * 50
    joint = turned(solver, motor=("EFFORT", 100.0, 30.0))
    assert joint.turning == pytest.approx(30 / INERTIA, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["function", "series"])
def test_a_motor_meets_a_prescribed_position_with_second_order(solver, kind):
    times = np.linspace(0, 2, 2001)
    path = (lambda t: math.sin(3 * t)) if kind == "function" else s.TIME_SERIES(np.stack([times, np.sin(3 * times)], 1).tolist())
    joint = turned(solver, motor=("POSITION", path))
    assert joint.angle == pytest.approx(math.sin(3), abs=1e-6)
    assert joint.turning == pytest.approx(3 * math.cos(3), abs=1e-2 if kind == "series" else 1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_angles_count_turns_and_travels_follow_slider_and_cylinder(solver):
    assert turned(solver, rate=-9.0, duration=3.0).angle == pytest.approx(-27, rel=1e-9)
    solfec, bulk = model()
    one, two = brick(solfec, bulk), brick(solfec, bulk, (2, 0, 0))
    slider = s.SLIDER(one, None, (0, 0, 0), (1, 1, 0), friction=5.0)
    s.MOTOR(slider, "EFFORT", lambda q, rate, t: 100.0)
    both = s.CYLINDRICAL(two, None, (2, 0, 0), Z)
    s.MOTOR(both, "RATE", 3.0, coordinate="ANGLE")
    s.MOTOR(both, "EFFORT", 24.0, coordinate="TRAVEL")
    s.RUN(solfec, SOLVERS[solver](), 1.0)
    assert slider.travel == pytest.approx(95 / 240 / 2, rel=1e-9)
    assert (slider.angle, slider.thrust) == (None, pytest.approx(95.0))
    assert both.turning == pytest.approx(3.0)
    assert (both.travel, both.speed) == (pytest.approx(0.05), pytest.approx(0.1))


def test_a_function_of_an_effort_gets_coordinate_rate_and_time_of_mid_step():
    seen = []
    turned("AUTO", duration=2e-3, rate=0.5, motor=("EFFORT", lambda *arguments: seen.append(arguments) or 0.0))
    assert np.allclose(seen, [(0.25e-3, 0.5, 0.5e-3), (0.75e-3, 0.5, 1.5e-3)], atol=1e-12)


@pytest.mark.parametrize("kind, member", [("RATE", "speed"), ("POSITION", "travel"), ("EFFORT", "thrust")])
def test_data_of_a_motor_come_first_in_the_calls_of_its_function(kind, member):
    """One function drives motors of many joints, each with its own data."""
    seen = []
    solfec, bulk = model()
    joint = s.SLIDER(brick(solfec, bulk), None, (0, 0, 0), (1, 0, 0))
    s.MOTOR(joint, kind, lambda factor, name, *present: seen.append((name, len(present))) or factor * present[-1], data=(2.0, "left"))
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.1)
    assert set(seen) == {("left", 3 if kind == "EFFORT" else 1)}
    assert getattr(joint, member) == pytest.approx(0.2, rel=2e-2)  # 2 t at the end, or in the middle of the last step


def test_pseudo_rigid_bodies_turn_on_hinges_as_their_rotation_does():
    solfec, bulk = model(1e-4)
    soft = s.BULK_MATERIAL(solfec, young=1e8, poisson=0.3, density=1000.0)
    body = brick(solfec, soft, kind="PSEUDO_RIGID")
    joint = s.HINGE(body, None, (0, 0, 0), Z)
    s.MOTOR(joint, "POSITION", lambda t: 4 * t * t)
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.2)
    gradient = np.array(body.conf)[:9].reshape(3, 3)
    left, _, right = np.linalg.svd(gradient)
    rotation = left @ right
    assert math.atan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(0.16, abs=1e-6)
    assert joint.angle == pytest.approx(0.16, abs=1e-6)
    assert abs(rotation[2, :2]).max() < 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("first", ["body", "obstacle"])
def test_obstacles_turn_as_they_are_told_and_joints_do_not_move_them(solver, first):
    solfec, bulk = model()
    wall, body = brick(solfec, bulk, kind="OBSTACLE"), brick(solfec, bulk, (0, 0, 1.5))
    pair = (body, wall) if first == "body" else (wall, body)
    s.HINGE(*pair, (0.3, 0, 0.75), (0, 1, 0))
    s.GRAVITY(solfec, (0, 0, -9.81))
    before = np.array(wall.conf)
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    assert np.abs(np.array(wall.conf) - before).max() < 1e-12
    turning = s.SET_ROTATION(wall, (0.3, 0, 0), (0, 1, 0), lambda t: 2 * (t - 0.1), kind="POSITION")
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    assert turning.angle == pytest.approx(0.2, abs=1e-6)
    assert math.hypot(wall.conf[9] - 0.3, wall.conf[11]) == pytest.approx(0.3, abs=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_rope_goes_slack_and_tight_and_holds_no_push(solver):
    solfec, bulk = model(1e-3, "ON")
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 0.1, 1, 1), bulk)
    rope = s.ROPE(ball, None, (0, 0, 0), (0, 0, 1.0), length=1.2)
    s.GRAVITY(solfec, (0, 0, -9.81))
    s.RUN(solfec, SOLVERS[solver](), 0.15)
    assert rope.tension == 0.0
    assert rope.distance == pytest.approx(1 + 9.81 * 0.15**2 / 2, abs=1e-9)
    s.RUN(solfec, SOLVERS[solver](), 0.35)
    assert rope.distance == pytest.approx(1.2, abs=1e-6)  # GEOMETRIC_EPSILON
    assert rope.tension == pytest.approx(-ball.mass * 9.81, rel=1e-6)


def energy_error(step, steps, correction="ON"):
    """A brick thrown round on a rope, which stays tight: the relative change of its energy."""
    solfec, bulk = model(step, correction)
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 0.1, 1, 1), bulk)
    s.ROPE(ball, None, (0, 0, 0), (0, 0, 1.0))
    s.INITIAL_VELOCITY(ball, (3, 0, 0), (0, 0, 0))
    s.RUN(solfec, s.AUTO_SOLVER(1e-12), steps * step)
    return abs(s.ENERGY(solfec).kinetic / (0.5 * ball.mass * 9) - 1)


def test_a_tight_rope_keeps_the_energy_of_what_swings_on_it():
    assert energy_error(1e-3, 1000) < 1e-6


def test_a_pendulum_on_a_rope_that_is_kept_at_its_length_keeps_its_energy():
    """Where a swing slows down, the error of time integration shortens the rope; slack by it, the rope knocked in the next step."""
    solfec, bulk = model(4e-3, "ON")
    ball = s.BODY(solfec, "RIGID", s.SPHERE((1, 0, 0), 0.05, 1, 1), bulk)
    s.ROPE(ball, None, (1, 0, 0), (0, 0, 0))
    s.GRAVITY(solfec, (0, 0, -10))
    for _ in solfec.steps(s.AUTO_SOLVER(1e-12), 4.0):
        energy, place = s.ENERGY(solfec).kinetic / (10 * ball.mass) + ball.conf[11], np.array(ball.conf[9:12])
        assert abs(energy) < 2e-4  # of m g L
        assert np.linalg.norm(place) == pytest.approx(1.0, abs=1e-6)  # GEOMETRIC_EPSILON


def test_a_ball_thrown_round_on_a_rope_leaves_the_circle_where_its_weight_takes_over():
    """With v² = 3.5 g L at the bottom the tension ends at the height L/2; then the ball flies inside the circle."""
    solfec, bulk = model(1e-3, "ON")
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, -1), 0.05, 1, 1), bulk)
    rope = s.ROPE(ball, None, (0, 0, -1), (0, 0, 0))
    s.GRAVITY(solfec, (0, 0, -10))
    s.INITIAL_VELOCITY(ball, (math.sqrt(35), 0, 0), (0, 0, 0))
    left, inside = None, 1.0
    for _ in solfec.steps(s.AUTO_SOLVER(1e-12), 0.9):
        if left is None and rope.tension == 0.0:
            left = ball.conf[11]
        inside = min(inside, rope.distance)
    assert left == pytest.approx(0.5, abs=0.01)
    assert inside < 0.6
    assert s.ENERGY(solfec).kinetic / (10 * ball.mass) + ball.conf[11] == pytest.approx(0.75, abs=1e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("sideways", [0.0, 1.5])
def test_a_body_rebounds_from_a_rope_with_the_rate_that_restitution_says(restitution, sideways):
    """Radial speed 2 at rebounds, also of a body that flies past the anchor: energy may neither grow nor be lost."""
    solfec, bulk = model(1e-3, "OFF")
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 0.05, 1, 1), bulk)
    s.ROPE(ball, None, (0, 0, 0), (0, 0, 0.01), length=0.11, restitution=restitution)
    s.INITIAL_VELOCITY(ball, (sideways, 0, -2), (0, 0, 0))
    before = 0.5 * ball.mass * (4 + sideways**2)
    rebounds, last = [], np.array(ball.velo[3:6])
    for _ in solfec.steps(s.AUTO_SOLVER(1e-12), 0.5):
        velocity = np.array(ball.velo[3:6])
        if abs(velocity - last).max() > 1e-9:
            span = np.array(ball.conf[9:12]) - (0, 0, 0.01)
            earlier = span - 0.5e-3 * (last + velocity)  # at the start of the step
            rate, rate_before = velocity @ span / np.linalg.norm(span), last @ earlier / np.linalg.norm(earlier)
            rebounds.append(rate + restitution * rate_before)
        last = velocity
    assert rebounds and max(map(abs, rebounds)) < 1e-9
    kinetic = s.ENERGY(solfec).kinetic / before
    assert kinetic == pytest.approx(1.0, abs=1e-12) if restitution == 1.0 else kinetic < 1.0


def gaps(solfec):
    """Return the largest distance between points that joints hold together."""
    domain = solfec._simulation.domain
    return joint_correction.largest_gap(domain.constraints, domain.bodies, domain.time)


def chain(correction, step=1e-3):
    """Bricks on hinges with axes in several directions, a slider and a Cardan joint, thrown into space."""
    solfec, bulk = model(step, correction)
    bodies = [brick(solfec, bulk, (0.5 * k, 0, 0), half=(0.2, 0.1, 0.1)) for k in range(5)]
    s.HINGE(bodies[0], bodies[1], (0.25, 0, 0), (0, 1, 1))
    s.UNIVERSAL(bodies[1], bodies[2], (0.75, 0, 0), (0, 1, 0), (0, 0, 1))
    s.SLIDER(bodies[2], bodies[3], (1.25, 0, 0), (1, 0, 0), limits=(-0.02, 0.05), restitution=1.0)
    s.WELD(bodies[3], bodies[4], (1.75, 0, 0))
    for k, body in enumerate(bodies):
        s.INITIAL_VELOCITY(body, (k, -k, 0.3 * k), (1, 2, 3))
    return solfec


@pytest.mark.slow
def test_joints_do_not_drift_in_a_hundred_thousand_steps():
    held = chain("ON")
    for _ in range(10):
        s.RUN(held, s.AUTO_SOLVER(1e-10), 10.0)
        assert gaps(held) < 1e-8


def test_joints_stay_together_when_they_are_corrected_axes_between_bodies_among_them():
    loose, held = chain("OFF"), chain("ON")
    for solfec in (loose, held):
        s.RUN(solfec, s.AUTO_SOLVER(1e-10), 1.0)
    assert gaps(loose) > 1e-6
    assert gaps(held) < 1e-10


def test_a_joint_breaks_as_a_whole_and_tells_nothing_any_more():
    solfec, bulk = model()
    body = brick(solfec, bulk)
    joint = s.WELD(body, None, (0, 0, 0.5), label="fuse", strength=1000.0)
    s.FORCE(body, "SPATIAL", (0, 0, 0), (0, 0, -1), s.TIME_SERIES([0, 0, 1, 2000]))
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.49)
    assert joint.alive
    assert len(joint.constraints) == 2
    assert joint.reaction[2] == pytest.approx(980, abs=3)
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.03)
    assert (joint.alive, joint.constraints, joint.reaction, joint.angle) == (False, (), None, None)
    assert joint.label == "fuse"
    with pytest.raises(ValueError, match="does not exist any more"):
        s.MOTOR(joint, "RATE", 1.0)


def test_reactions_are_those_of_statics():
    solfec, bulk = model()
    body = brick(solfec, bulk)
    joint = s.WELD(body, None, (0.2, 0, 0.5))
    s.GRAVITY(solfec, (0, 0, -10))
    s.RUN(solfec, s.AUTO_SOLVER(1e-12), 0.01)
    assert np.allclose(joint.reaction, (0, 0, 2400, 0, 2400 * 0.2, 0), atol=1e-6)


BAD = {
    "'limits' must be": lambda one, joint: s.HINGE(one, None, (0, 0, 0), Z, limits=(1, 2)),
    "they are \\(2, 1\\)": lambda one, joint: s.SLIDER(one, None, (0, 0, 0), Z, limits=(2, 1)),
    "HINGE: 'axis'": lambda one, joint: s.HINGE(one, None, (0, 0, 0), None),
    "SLIDER: 'axis'": lambda one, joint: s.SLIDER(one, None, (0, 0, 0), None),
    "UNIVERSAL: 'axis2'": lambda one, joint: s.UNIVERSAL(one, None, (0, 0, 0), Z, None),
    "'restitution'": lambda one, joint: s.HINGE(one, None, (0, 0, 0), Z, restitution=2.0),
    "'friction'": lambda one, joint: s.HINGE(one, None, (0, 0, 0), Z, friction=-1.0),
    "'strength'": lambda one, joint: s.BALL(one, None, (0, 0, 0), strength=0.0),
    "is a WELD, which has no motor": lambda one, joint: s.MOTOR(joint, "RATE", 1.0),
    "'kind' must": lambda one, joint: s.MOTOR(joint, "SPEED", 1.0),
    "'length' \\(0.5\\) is less": lambda one, joint: s.ROPE(one, None, (0, 0, 0), (1, 0, 0), length=0.5),
    "are the same place": lambda one, joint: s.ROPE(one, None, (0, 0, 0), (0, 0, 0)),
    "'limit' must": lambda one, joint: s.MOTOR(joint, "RATE", 1.0, limit=-1.0),
}


@pytest.mark.parametrize("text", BAD)
def test_what_makes_no_sense_is_refused_and_leaves_nothing_behind(text):
    solfec, bulk = model()
    one = brick(solfec, bulk)
    joint = s.HINGE(one, None, (0, 0, 0), Z) if "limit'" in text else s.WELD(one, None, (0, 0, 0))
    before = solfec._simulation.domain.constraints.n
    with pytest.raises((ValueError, TypeError), match=text):
        BAD[text](one, joint)
    assert solfec._simulation.domain.constraints.n == before


def test_functions_of_motors_must_return_numbers():
    with pytest.raises(Exception, match="function of the motor of joint .* must return a number"):
        turned("AUTO", motor=("EFFORT", lambda q, rate, t: None), duration=1e-3)
