"""Obstacles that constraints drive: bodies in their way, on them and jointed to them follow without delay; large bodies that hit small ones."""

from math import atan2, cos, pi, sin

import numpy as np
import pytest
from test_manifold import box

import solfec as s

STEP = 1e-3
TABLE = (0, 0, -0.05), (0.5, 0, -0.05), (0, 0.5, -0.05)
SOLVERS = {"AUTO": lambda: s.AUTO_SOLVER(), "NEWTON": lambda: s.NEWTON_SOLVER(), "GS": lambda: s.GAUSS_SEIDEL_SOLVER(1e-9, 1000)}


def model(friction=0.3, gravity=0.0):
    made = s.SOLFEC("DYNAMIC", STEP, contacts="MANIFOLD")
    made.verbose = "OFF"
    s.SURFACE_MATERIAL(made, model="SIGNORINI_COULOMB", friction=friction)
    s.GRAVITY(made, (0, 0, gravity))
    return made, s.BULK_MATERIAL(made, density=1000.0)


def drive(obstacle, value, direction=(1, 0, 0), points=((-0.5, 0, 0), (-0.5, 0.5, 0), (-0.5, 0, 0.5)), held=True):
    """Prescribe the velocity of an obstacle along a direction; if `held`, it moves along it alone."""
    for point in points:
        s.SET_VELOCITY(obstacle, point, direction, value)
        for other in np.eye(3)[np.flatnonzero(np.array(direction) == 0)] if held else ():
            s.FIX_DIRECTION(obstacle, point, tuple(other))


def wall_and_box(gap, made, bulk, kind="OBSTACLE"):
    """Return a wall of 2 m that ends at x = 0, and a box of 0.2 m in front of it."""
    return s.BODY(made, kind, box(-1, -1, -1, 0, 1, 1), bulk), s.BODY(made, "RIGID", box(gap, -0.1, -0.1, gap + 0.2, 0.1, 0.1), bulk)


def deepest(made, wall, thrown, steps=14, solver=SOLVERS["AUTO"]):
    """Run step by step; return the deepest overlap of wall and box at the end of a step."""
    found, apart = 0.0, thrown.conf[9] - wall.conf[9]
    gap = apart - 0.6
    for _ in range(steps):
        s.RUN(made, solver(), STEP)
        found = max(found, apart - gap - (thrown.conf[9] - wall.conf[9]))
    return found


@pytest.mark.parametrize("gap", [0.001, 0.002, 0.013, 0.023, 0.043])
@pytest.mark.parametrize("speed", [2.0, 5.0, 9.0, 10.0, 20.0])
@pytest.mark.parametrize("points", [1, 3])
def test_an_obstacle_that_is_driven_upon_a_box_does_not_overlap_it(points, speed, gap):
    """It moves by less than its own margin, but by more than that of the box; and jumps to its velocity in the first step."""
    made, bulk = model()
    wall, thrown = wall_and_box(gap, made, bulk)
    drive(wall, speed, points=((0, 0, 0), (0, 0.5, 0), (0, 0, 0.5))[:points], held=False)
    assert deepest(made, wall, thrown, steps=int(gap / (speed * STEP)) + 4) < 1e-6
    assert thrown.velo[3] == pytest.approx(speed, rel=1e-5)


@pytest.mark.parametrize("kind", ["RIGID", "PSEUDO_RIGID"])
def test_a_large_body_that_meets_a_small_one_does_not_overlap_it(kind):
    """Its motion of 9 mm in a step is less than half its own margin."""
    made, bulk = model()
    wall, thrown = wall_and_box(0.043, made, bulk, kind)
    s.INITIAL_VELOCITY(wall, (9, 0, 0), (0, 0, 0))
    assert deepest(made, wall, thrown) < 5e-5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("gap", [0.0013, 0.004, 0.013])
@pytest.mark.parametrize("time", [0.0, 0.0031])
def test_an_obstacle_that_jumps_to_its_velocity_does_not_overlap_a_box(time, gap, solver):
    """Also after steps at rest, in which both were found apart."""
    made, bulk = model()
    wall, thrown = wall_and_box(gap, made, bulk)
    drive(wall, s.TIME_SERIES([0, 0, time, 0, time + 1e-4, 10, 1, 10]) if time else 10.0)
    assert deepest(made, wall, thrown, solver=SOLVERS[solver]) < 1e-6
    assert thrown.velo[3] == pytest.approx(10, rel=1e-4)


@pytest.mark.parametrize("gap", [0.0005, 0.002, 0.004, 0.008])
def test_a_paddle_that_turns_from_rest_does_not_overlap_what_it_throws(gap):
    made, bulk = model()
    paddle = s.BODY(made, "OBSTACLE", box(0, -0.05, -0.5, 1, 0, 0.5), bulk)
    s.BODY(made, "RIGID", box(0.8, gap, -0.05, 0.9, gap + 0.1, 0.05), bulk)
    s.SET_ROTATION(paddle, (0, 0, 0), (0, 0, 1), 10.0)
    for _ in range(5):
        s.RUN(made, s.AUTO_SOLVER(), STEP)
        assert all(c.gap > -1e-5 for c in made.constraints if c.kind == "CONTACT")  # it moves by 8.5 mm there


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("gap", [0.0013, 0.004, 0.013])
def test_a_ball_bounces_from_a_wall_that_jumps_to_its_velocity_as_from_one_that_has_it(gap, restitution):
    made, bulk = model()
    s.SURFACE_MATERIAL(made, model="SIGNORINI_COULOMB", restitution=restitution)
    wall = s.BODY(made, "OBSTACLE", box(-1, -1, -1, 0, 1, 1), bulk)
    ball = s.BODY(made, "RIGID", s.SPHERE((gap + 0.1, 0, 0), 0.1, 1, 1), bulk)
    drive(wall, 8.0)
    s.RUN(made, s.AUTO_SOLVER(), 0.01)
    assert ball.velo[3] == pytest.approx(8 * (1 + restitution), rel=1e-6)


def test_a_block_is_thrown_by_a_table_that_shakes_at_three_times_gravity():
    """Largest height of its flight over the table: by the equation of motion, 4.5015 mm at 20 Hz."""
    frequency = 40 * pi
    made, bulk = model(gravity=-10.0)
    table = s.BODY(made, "OBSTACLE", box(-1, -1, -0.1, 1, 1, 0), bulk)
    block = s.BODY(made, "RIGID", box(-0.1, -0.1, 0, 0.1, 0.1, 0.2), bulk)
    drive(table, s.TIME_SERIES([v for t in np.linspace(0, 0.25, 4000) for v in (t, 30 / frequency * sin(frequency * t))]), (0, 0, 1), TABLE)
    heights = []
    for _ in range(200):
        s.RUN(made, s.AUTO_SOLVER(), STEP)
        heights.append(block.conf[11] - table.conf[11] - 0.15)
    assert min(heights) > -1e-6
    assert max(heights) == pytest.approx(4.5015e-3, rel=2e-3)


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 0, 1)])
def test_a_block_moves_with_a_shaken_table(direction):
    """At half of what its weight and friction allow, it neither slides nor sinks in nor lifts off; it followed one step later, and so sank in by h v."""
    frequency = 40 * pi
    made, bulk = model(friction=0.8, gravity=-10.0)
    table = s.BODY(made, "OBSTACLE", box(-1, -1, -0.1, 1, 1, 0), bulk)
    block = s.BODY(made, "RIGID", box(-0.1, -0.1, 0, 0.1, 0.1, 0.1), bulk)
    drive(table, s.TIME_SERIES([v for t in np.linspace(0, 0.1, 1000) for v in (t, 4 / frequency * sin(frequency * t))]), direction, TABLE)
    most = 0.0
    for _ in range(80):
        s.RUN(made, s.AUTO_SOLVER(), STEP)
        most = max(most, float(np.abs(np.subtract(block.conf[9:], table.conf[9:]) - (0, 0, 0.1)).max()))
    assert most < 1e-6


def test_a_block_slides_on_a_belt_that_speeds_up_with_the_friction_of_the_motion_there():
    """The belt has 6 m/s^2, friction gives 3 m/s^2 from the first step on: v = 3 t, and the energy of the block is the work of friction on it."""
    made, bulk = model(gravity=-10.0)
    belt = s.BODY(made, "OBSTACLE", box(-3, -1, -0.1, 3, 1, 0), bulk)
    block = s.BODY(made, "RIGID", box(-0.1, -0.1, 0, 0.1, 0.1, 0.2), bulk)
    drive(belt, s.TIME_SERIES([0, 0, 1, 6]), points=TABLE)
    s.RUN(made, s.AUTO_SOLVER(), 0.3)
    energy = s.ENERGY(made, block)
    assert block.velo[3] == pytest.approx(0.9, rel=1e-6)
    assert block.conf[9] == pytest.approx(0.135, rel=1e-6)
    assert [energy.kinetic, energy.external] == pytest.approx([0.5 * block.mass * 0.81] * 2, rel=1e-6)


@pytest.mark.filterwarnings("ignore:AUTO_SOLVER")
def test_bodies_follow_an_obstacle_whose_constraints_contradict_one_another():
    made, bulk = model()
    wall, thrown = wall_and_box(0.0, made, bulk)
    drive(wall, 1.0)
    s.SET_VELOCITY(wall, (-0.5, 0, 0), (1, 0, 0), 3.0)
    s.RUN(made, s.AUTO_SOLVER(), 0.01)
    assert 1.0 < wall.velo[3] < 3.0
    assert thrown.velo[3] == pytest.approx(wall.velo[3], rel=1e-2)
    assert thrown.conf[9] - wall.conf[9] > 0.6 - 2.1 * STEP  # they follow one step later


@pytest.mark.parametrize("joint", ["WELD", "HINGE"])
def test_a_body_that_a_joint_holds_on_a_shaken_obstacle_moves_with_it(joint):
    """Without correction of gaps it stays where it is held; it followed one step later."""
    made, bulk = model()
    made.joint_correction = "OFF"
    shaken = s.BODY(made, "OBSTACLE", box(-0.1, -0.1, 0, 0.1, 0.1, 0.1), bulk)
    held = s.BODY(made, "RIGID", box(0.2, -0.1, 0, 0.4, 0.1, 0.1), bulk)
    drive(shaken, s.TIME_SERIES([v for t in np.linspace(0, 0.2, 1000) for v in (t, 0.5 * sin(40 * t))]), points=((0, 0, 0.05), (0, 0.1, 0.05), (0.1, 0, 0.05)))
    s.WELD(held, shaken, (0.15, 0, 0.05)) if joint == "WELD" else s.HINGE(held, shaken, (0.15, 0, 0.05), (0, 1, 0))
    most = 0.0
    for _ in range(100):
        s.RUN(made, s.AUTO_SOLVER(), STEP)
        most = max(most, abs(held.conf[9] - shaken.conf[9] - 0.3))
    assert most < 1e-6


def test_a_ball_on_a_turntable_has_the_velocity_of_the_table_beneath():
    made, bulk = model(friction=1.0, gravity=-10.0)
    table = s.BODY(made, "OBSTACLE", box(-1, -1, -0.1, 1, 1, 0), bulk)
    s.BODY(made, "RIGID", s.SPHERE((0.5, 0, 0.05), 0.05, 1, 1), bulk)
    s.SET_ROTATION(table, (0, 0, 0), (0, 0, 1), s.TIME_SERIES([0, 0, 1, 2]))
    s.RUN(made, s.AUTO_SOLVER(), 0.1)
    angle = atan2(table.conf[1], table.conf[0])
    contact = next(c for c in made.constraints if c.kind == "CONTACT")
    assert angle == pytest.approx(0.01, rel=1e-2)
    assert np.linalg.norm(contact.U) < 1e-8
    assert cos(angle) == pytest.approx(table.conf[0], rel=1e-12)


def test_a_wall_that_jumps_to_its_velocity_does_not_overlap_what_strikes_it_before():
    """The box meets the resting wall in its first half step; the wall moves from the middle of the first step on."""
    made, bulk = model()
    wall, thrown = wall_and_box(0.0005, made, bulk)
    s.INITIAL_VELOCITY(thrown, (-4, 0, 0), (0, 0, 0))
    drive(wall, 6.0)
    assert deepest(made, wall, thrown, steps=5) < 1e-6
    assert wall.conf[9] == pytest.approx(-0.5 + 6 * 4.5 * STEP, abs=1e-7)


def test_an_impact_in_the_first_half_step_leaves_prescribed_motions_elsewhere_alone():
    """A paddle that follows an angle other than that of its start went on at 1800 rad/s, and a block moved on by half a step's way more."""
    found = []
    for begins in (0.5, 0.001):
        made, bulk = model()
        s.BODY(made, "OBSTACLE", box(4, -1, -1, 6, 1, 0), bulk)
        ball = s.BODY(made, "RIGID", s.SPHERE((5, 0, 0.05 + begins), 0.05, 1, 1), bulk)
        s.INITIAL_VELOCITY(ball, (0, 0, -10), (0, 0, 0))
        paddle = s.BODY(made, "OBSTACLE", box(0, -0.05, -0.5, 1, 0, 0.5), bulk)
        s.SET_ROTATION(paddle, (0, 0, 0), (0, 0, 1), lambda t: 0.01 + t, kind="POSITION")
        block = s.BODY(made, "RIGID", box(-3, -0.1, -0.1, -2, 0.1, 0.1), bulk)
        s.SET_VELOCITY(block, (-2.5, 0, 0), (1, 0, 0), 3.0)
        s.RUN(made, s.AUTO_SOLVER(), 0.003)
        found.append([*paddle.conf, *paddle.velo, block.conf[9], block.velo[3]])
    assert (ball.velo[5] > -1) and found[1] == pytest.approx(found[0], abs=1e-7)
    assert block.conf[9] == pytest.approx(-2.5 + 3 * 2.5 * STEP, abs=1e-7)


@pytest.mark.parametrize("limit", [1.0, 100.0])
def test_a_motor_of_limited_effort_carries_a_block_no_faster_than_the_table_that_it_turns(limit):
    made, bulk = model(friction=0.8, gravity=-10.0)
    table = s.BODY(made, "OBSTACLE", box(-1, -1, -0.1, 1, 1, 0), bulk)
    block = s.BODY(made, "RIGID", box(0.45, -0.05, 0, 0.55, 0.05, 0.05), bulk)
    s.MOTOR(s.SET_ROTATION(table, (0, 0, 0), (0, 0, 1), 5.0), "RATE", 5.0, limit=limit)
    s.RUN(made, s.AUTO_SOLVER(), 0.05)
    surface = table.velo[2] * np.hypot(*block.conf[9:11])
    assert 0.0 < surface < 0.01
    assert np.hypot(*block.velo[3:5]) == pytest.approx(surface, rel=0.05)


@pytest.mark.parametrize("push, friction", [(1.0, 0.0), (0.5, 0.0), (2.0, 0.0), (0.8, 0.3), (2.0, 0.3)])
def test_a_block_on_a_ramp_that_is_pushed_slides_with_the_gravity_that_the_ramp_feels(push, friction):
    """A ramp of 30 degrees with the acceleration a = g tan 30 holds a smooth block; with others it slides by a cos 30 - g sin 30 less friction."""
    made, bulk = model(friction=friction, gravity=-10.0)
    up, out = np.array([cos(pi / 6), 0, sin(pi / 6)]), np.array([-sin(pi / 6), 0, cos(pi / 6)])

    def turned(low, high):
        corners = [x * up + y * np.array([0, 1, 0]) + z * out for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
        return s.HULL(np.concatenate(corners).tolist(), 1, 1)

    ramp = s.BODY(made, "OBSTACLE", turned((-2, -1, -0.2), (2, 1, 0)), bulk)
    block = s.BODY(made, "RIGID", turned((-0.1, -0.1, 0), (0.1, 0.1, 0.05)), bulk)
    acceleration = 10.0 * push * up[2] / up[0]
    drive(ramp, s.TIME_SERIES([0, 0, 1, -acceleration]), points=((0, 0, 0), (0, 0.5, 0), tuple(0.5 * up)))
    s.RUN(made, s.AUTO_SOLVER(), 0.2)
    along, pressing = acceleration * up[0] - 10.0 * up[2], acceleration * up[2] + 10.0 * up[0]
    slide = np.sign(along) * max(abs(along) - friction * pressing, 0.0)
    relative = np.subtract(block.velo[3:6], ramp.velo[3:6])
    assert relative @ up == pytest.approx(0.2 * slide, abs=1e-5)
    assert abs(relative @ out) < 1e-5
