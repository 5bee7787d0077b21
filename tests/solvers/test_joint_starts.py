"""Joints that begin with a velocity stop in their first step; joints that are met keep the law that conserves energy."""

import numpy as np
import pytest

import solfec as s

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-12, 2000),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-16, 100),
    "AUTO": lambda: s.AUTO_SOLVER(1e-12),
    "PENALTY": lambda: s.PENALTY_SOLVER(),
}
STEP = 1e-3


@pytest.fixture
def new(new_model):
    """Makes models in a session of their own."""
    return lambda: new_model("DYNAMIC", STEP)


def ball(model, at=(0, 0, 0), velocity=(5, 0, 0), kind="RIGID"):
    body = s.BODY(model, kind, s.SPHERE(at, 0.1, 1, 1), s.BULK_MATERIAL(model, young=1e9, poisson=0.25, density=1000.0))
    s.INITIAL_VELOCITY(body, velocity, (0, 0, 0))
    return body


def block(model, velocity, form="TL", kind="FINITE_ELEMENT", scheme="DEF_LIM"):
    mesh = s.HEX([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], 2, 2, 2, 1, [1] * 6)
    body = s.BODY(model, kind, mesh, s.BULK_MATERIAL(model, young=1e6, poisson=0.25, density=100.0), form=form)
    body.scheme = scheme
    s.INITIAL_VELOCITY(body, velocity, (0, 0, 0))
    return body


JOINTS = {
    "fixed point": lambda ball: s.FIX_POINT(ball, (0, 0, 0)),
    "link to space": lambda ball: s.PUT_RIGID_LINK(ball, None, (0, 0, 0), (1, 0, 0)),
    "coupled to space": lambda ball: s.PUT_RIGID_LINK(ball, None, (0, 0, 0), (0, 0, 0)),
    "fixed direction": lambda ball: s.FIX_DIRECTION(ball, (0, 0, 0), (1, 0, 0)),
    "prescribed velocity": lambda ball: s.SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), 0.0),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("joint", JOINTS)
def test_a_joint_put_on_a_moving_ball_stops_it_for_good(new, joint, solver):
    model = new()
    body = ball(model)
    JOINTS[joint](body)
    for _ in range(5):
        s.RUN(model, SOLVERS[solver](), STEP)
        assert np.abs(body.velo).max() < 1e-9
    assert s.ENERGY(model).kinetic < 1e-15
    assert abs(body.conf[9]) <= 0.5 * STEP * 5 * (1 + 1e-9)  # where it was when it was met, half a step after the start


@pytest.mark.parametrize("solver", ["GAUSS_SEIDEL", "NEWTON", "AUTO"])
def test_two_balls_that_are_coupled_share_their_momentum(new, solver):
    """m v = 2 m v': an inelastic collision, also along a link."""
    for place, points in ((1.0, ((0, 0, 0), (1, 0, 0))), (0.2, ((0.1, 0, 0), (0.1, 0, 0)))):
        model = new()
        one, two = ball(model), ball(model, (place, 0, 0), (0, 0, 0))
        s.PUT_RIGID_LINK(one, two, *points)
        for _ in range(4):
            s.RUN(model, SOLVERS[solver](), STEP)
            assert one.velo[3:] == pytest.approx((2.5, 0, 0), abs=1e-8)
            assert two.velo[3:] == pytest.approx((2.5, 0, 0), abs=1e-8)


@pytest.mark.parametrize("solver", ["GAUSS_SEIDEL", "NEWTON", "AUTO"])
def test_a_pinned_bar_turns_with_three_quarters_of_its_energy(new, solver):
    """Angular momentum about the pin: m v L/2 = (m L^2/3) w."""
    model = new()
    bar = s.BODY(model, "RIGID", s.HULL([c for x in (0, 1) for y in (-0.01, 0.01) for z in (-0.01, 0.01) for c in (x, y, z)], 1, 1), s.BULK_MATERIAL(model))
    s.INITIAL_VELOCITY(bar, (0, 0, 1), (0, 0, 0))
    start = 0.5 * bar.mass
    s.FIX_POINT(bar, (0, 0, 0))
    for _ in range(20):
        s.RUN(model, SOLVERS[solver](), STEP)
        assert abs(bar.velo[1]) == pytest.approx(1.5, rel=2e-4)
        assert s.ENERGY(model).kinetic == pytest.approx(0.75 * start, rel=3e-4)


def test_a_pendulum_that_starts_with_a_fitting_velocity_keeps_it(new):
    """Nothing is stopped where the pivot is at rest, so the first step is of second order, too; later ones damp errors of velocity."""

    def course(impacts, steps):
        model = new()
        model.joint_impacts = impacts
        bar = s.BODY(model, "RIGID", s.HULL([c for x in (0, 1) for y in (-0.01, 0.01) for z in (-0.01, 0.01) for c in (x, y, z)], 1, 1), s.BULK_MATERIAL(model))
        s.INITIAL_VELOCITY(bar, (0, 0, -1.0), (0, 2.0, 0))  # v = w x r about the pivot
        s.FIX_POINT(bar, (0, 0, 0))
        s.GRAVITY(model, (0, 0, -9.81))
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-12, 1000), steps * STEP)
        return np.array([*bar.conf, *bar.velo])

    assert course("ON", 1) == pytest.approx(course("OFF", 1), abs=2e-4)
    assert course("ON", 50) == pytest.approx(course("OFF", 50), abs=2e-5)


def test_without_impacts_velocities_turn_round_as_in_solfec_1(new):
    model = new()
    model.joint_impacts = "OFF"
    body = ball(model)
    s.FIX_POINT(body, (0, 0, 0))
    found = []
    for _ in range(4):
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-12, 100), STEP)
        found.append(body.velo[3])
    assert found == pytest.approx([-5, 5, -5, 5], abs=1e-9)


@pytest.mark.parametrize("put", [lambda body: s.FIX_POINT(body, (0, 0, 0)), lambda body: s.PUT_RIGID_LINK(body, None, (0, 0, 0), (0, 0, -1))])
def test_a_bob_that_is_grabbed_in_mid_swing_stops(new, put):
    model = new()
    bob = ball(model, velocity=(0, 0, 0))
    s.PUT_RIGID_LINK(bob, None, (0, 0, 0), (0.8, 0, 0.6))
    s.GRAVITY(model, (0, 0, -9.81))
    solver = s.AUTO_SOLVER(1e-11)
    s.RUN(model, solver, 0.2)
    before = s.ENERGY(model).kinetic
    put(bob)
    s.RUN(model, solver, STEP)
    first = s.ENERGY(model).kinetic
    s.RUN(model, solver, 10 * STEP)
    assert first < 0.9 * before
    if put(bob).kind == "FIXPNT":
        assert s.ENERGY(model).kinetic < 1e-9 * before


@pytest.mark.parametrize("kind", ["pseudo-rigid", "TL", "BC", "DEF_EXP"])
def test_joints_of_deformable_bodies_stop_their_point_and_never_gain_energy(new, kind):
    model = new()
    body = block(model, (0, 0, 3)) if kind == "TL" else block(model, (0, 0, 3), "BC") if kind == "BC" else block(model, (0, 0, 3), scheme="DEF_EXP")
    if kind == "pseudo-rigid":
        model = new()
        body = ball(model, kind="PSEUDO_RIGID")
    start = s.ENERGY(model).kinetic
    assert start == pytest.approx(0.5 * body.mass * (25 if kind == "pseudo-rigid" else 9), rel=1e-12)
    joint = s.FIX_POINT(body, (0, 0, 0))
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-13, 2000), model.step)
    assert np.abs(joint.U).max() < 1e-9
    for _ in range(20):
        energy = s.ENERGY(model)
        assert energy.kinetic + energy.internal <= start * (1 + 1e-9)
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-13, 2000), model.step)
        assert np.abs(joint.U).max() < 0.1


def test_a_velocity_set_in_mid_run_is_an_impact_again(new):
    model = new()
    body = ball(model, velocity=(0, 0, 0))
    s.FIX_POINT(body, (0, 0, 0))
    s.RUN(model, s.AUTO_SOLVER(), 5 * STEP)
    s.INITIAL_VELOCITY(body, (0, 2, 0), (0, 0, 0))
    s.RUN(model, s.AUTO_SOLVER(), 3 * STEP)
    assert np.abs(body.velo).max() < 1e-9


def test_loads_in_the_first_step_act_on_what_the_joint_leaves_free(new):
    model = new()
    body = ball(model)
    s.FIX_DIRECTION(body, (0, 0, 0), (1, 0, 0))
    s.FORCE(body, "SPATIAL", (0, 0, 0), (0, 1, 0), body.mass * 7.0)
    s.RUN(model, s.NEWTON_SOLVER(1e-16, 100), STEP)
    assert body.velo[3:] == pytest.approx((0, 7e-3, 0), abs=1e-9)


@pytest.mark.parametrize("solver", ["GAUSS_SEIDEL", "NEWTON", "AUTO"])
def test_the_reaction_of_the_first_step_is_in_the_base_that_is_shown(new, solver):
    """A link that stops a body turns while it does so: R in `base` is the change of momentum, as in every other step."""
    model = new()
    body = block(model, (0.3, -0.2, 0.1), kind="RIGID", scheme="DEFAULT")
    link = s.PUT_RIGID_LINK(body, None, (1, 1, 1), (2, 1.5, 2.5))
    before = np.array(body.velo[3:])
    s.RUN(model, SOLVERS[solver](), STEP)
    impulse = body.mass * (np.array(body.velo[3:]) - before)
    assert np.linalg.norm(impulse) > 1.0
    assert np.array(link.R) @ np.reshape(link.base, (3, 3)) * STEP == pytest.approx(impulse, rel=1e-9, abs=1e-9)
