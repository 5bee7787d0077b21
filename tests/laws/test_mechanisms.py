"""Joints of mechanisms: what each holds and lets go, after motions in space, against solutions of high order in plain Python."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import solfec as s

AXIS, SECOND, PLACE = np.array([1.0, 2.0, 2.0]) / 3, np.array([2.0, 1.0, -2.0]) / 3, np.array([0.1, 0.2, 0.9])
SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 20000, meritval=1e-24),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-24, 1000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-10),
}
JOINTS = {  # command and its arguments
    "BALL": (s.BALL, (PLACE,)),
    "HINGE": (s.HINGE, (PLACE, 3 * AXIS)),
    "SLIDER": (s.SLIDER, (PLACE, AXIS)),
    "CYLINDRICAL": (s.CYLINDRICAL, (PLACE, AXIS)),
    "UNIVERSAL": (s.UNIVERSAL, (PLACE, AXIS, SECOND)),
    "WELD": (s.WELD, (PLACE,)),
}


def model(step=1e-3):
    solfec = s.SOLFEC("DYNAMIC", step, None)
    solfec.verbose = "OFF"
    return solfec, s.BULK_MATERIAL(solfec, density=1000.0)


def brick(solfec, bulk, place, kind="RIGID"):
    corners = [tuple(np.add(place, c)) for c in itertools.product((-0.2, 0.2), (-0.3, 0.3), (-0.5, 0.5))]
    return s.BODY(solfec, kind, s.HULL([x for c in corners for x in c], 1, 1), bulk)


def placed(conf, centre, point):
    """Where a rigid body has carried a point of the reference placement, and its rotation."""
    conf = np.array(conf)
    turn = conf[:9].reshape(3, 3).T
    return conf[9:] + turn @ (np.asarray(point) - centre), turn


def moved(name, beside_space, solver, step):
    """A joint pushed by loads that it holds and by loads that it gives way to: what it lets go, and all that it should hold (zeros)."""
    solfec, bulk = model(step)
    one = brick(solfec, bulk, (0, 0, 0))
    two = None if beside_space else brick(solfec, bulk, (0, 0, 1.5))
    command, arguments = JOINTS[name]
    command(one, two, *arguments)
    s.TORQUE(one, "SPATIAL", (0.6, -0.8, 0), 900.0)
    s.TORQUE(one, "SPATIAL", tuple(AXIS), 700.0)
    s.FORCE(one, "SPATIAL", (0, 0, 0), tuple(AXIS), 9000.0)
    s.RUN(solfec, SOLVERS[solver](), 0.2)
    space = (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
    ends = [(space, np.zeros(3)), (one.conf, np.zeros(3))] if two is None else [(one.conf, np.zeros(3)), (two.conf, np.array([0, 0, 1.5]))]
    (place, turn), (place2, turn2) = (placed(conf, centre, PLACE) for conf, centre in ends)
    apart, axis, axis2, relative = place2 - place, turn @ AXIS, turn2 @ AXIS, turn.T @ turn2 - np.eye(3)
    tilt, aside = np.cross(axis, axis2), np.cross(axis, apart)
    free, held = {
        "BALL": ([relative, tilt], [apart]),
        "HINGE": ([relative], [apart, tilt]),
        "SLIDER": ([apart], [aside, relative]),
        "CYLINDRICAL": ([apart, relative], [aside, tilt]),
        "UNIVERSAL": ([relative, tilt], [apart, axis @ (turn2 @ SECOND)]),
        "WELD": ([], [apart, relative]),
    }[name]
    return [np.abs(item).max() for item in free], max(np.abs(item).max() for item in held)


@pytest.mark.parametrize("beside_space", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", JOINTS)
def test_a_joint_holds_what_it_should_with_an_error_of_second_order_and_lets_the_rest_go(name, solver, beside_space):
    free, coarse = moved(name, beside_space, solver, 4e-3)
    _, fine = moved(name, beside_space, solver, 2e-3)
    assert all(size > 5e-3 for size in free)
    assert coarse < 1e-3
    assert fine < 0.3 * coarse + 1e-10


def angle_of_pendulum(step, solver):
    """A brick that hangs 0.9 below a hinge, gravity pulling sideways: its angle after a second."""
    solfec, bulk = model(step)
    body = brick(solfec, bulk, (0, 0, 0))
    s.HINGE(body, None, (0.05, 0.2, 0.9), (0, 2, 0))
    s.GRAVITY(solfec, (9.81, 0, 0))
    s.RUN(solfec, SOLVERS[solver](), 1.0)
    x, y, z = body.conf[9:]
    assert abs(y) < 1e-9
    return math.atan2(x - 0.05, 0.9 - z)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pendulum_on_a_hinge_swings_as_the_equation_of_high_order_does(solver):
    mass, arm = 240.0, math.hypot(0.05, 0.9)
    inertia = mass * (0.4**2 + 1.0**2) / 12 + mass * arm**2
    start = math.atan2(-0.05, 0.9)

    def rates(_, state):
        return state[1], mass * 9.81 * arm * math.cos(state[0]) / inertia

    expected = solve_ivp(rates, (0, 1), (start, 0), method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    assert abs(expected - start) > 1.0
    coarse, fine = (abs(angle_of_pendulum(step, solver) - expected) for step in (4e-3, 2e-3))
    assert coarse < 1e-3
    assert 3.5 < coarse / fine < 4.5


@pytest.mark.parametrize("name", JOINTS)
def test_joints_hold_bodies_where_they_are_now_not_where_they_began(name):
    """A body that has been turned and moved gets a joint beside space; nothing loads it, so nothing moves."""
    solfec, bulk = model()
    body = brick(solfec, bulk, (0, 0, 0))
    s.INITIAL_VELOCITY(body, (1, 2, 3), (3, -2, 4))
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-10, 100), 0.2)
    s.INITIAL_VELOCITY(body, (0, 0, 0), (0, 0, 0))
    before = np.array(body.conf)
    command, arguments = JOINTS[name]
    joint = command(body, None, *arguments)
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-10, 100), 0.1)
    assert np.abs(np.array(body.conf) - before).max() < 1e-12
    assert all(row.kind in ("FIXPNT", "GUIDE", "PIVOT", "LOCK", "SWIVEL") for row in joint.constraints)


def wrong(name, bodies, arguments, text):
    command = JOINTS[name][0]
    count = len(bodies[0].constraints)
    with pytest.raises(ValueError, match=text):
        command(*arguments)
    assert len(bodies[0].constraints) == count


@pytest.mark.parametrize("name", JOINTS)
def test_what_is_no_joint_is_refused_and_leaves_nothing_behind(name):
    solfec, bulk = model()
    one, two = brick(solfec, bulk, (0, 0, 0)), brick(solfec, bulk, (0, 0, 1.5))
    walls = [brick(solfec, bulk, (x, 0, 0), "OBSTACLE") for x in (3, 5)]
    rest = JOINTS[name][1]
    wrong(name, (one,), (one, one, *rest), "are the same body")
    wrong(name, (one,), (*walls, *rest), "two obstacles")
    wrong(name, (one,), (walls[0], None, *rest), "is an obstacle")
    wrong(name, (one,), (one, two, (0, math.nan, 0), *rest[1:]), "'point")
    wrong(name, (one,), (one, brick(*model(), (0, 0, 2)), *rest), "different SOLFEC objects")
    if len(rest) > 1:
        wrong(name, (one,), (one, two, PLACE, (0, 0, 0), *rest[2:]), "'axis'")
    if len(rest) > 2:
        wrong(name, (one,), (one, two, PLACE, AXIS, AXIS + SECOND), "the angle between them is 45 degrees")
