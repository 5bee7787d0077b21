"""Springs, and limits of joints and springs, in quasi-statics: bodies come to rest where the laws say, whatever the step and the solver."""

from __future__ import annotations

import math
import warnings

import pytest

import solfec as s

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-12, 10000),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-20),
    "AUTO": lambda: s.AUTO_SOLVER(1e-10),
    "PENALTY": lambda: s.PENALTY_SOLVER(),
}


def slider(ball, anchor):
    joint = s.SLIDER(ball, None, (0, 0, 0), (0, 0, -1), limits=(-1, 0.15))
    return lambda: (joint.travel, -joint.thrust)


def rope(ball, anchor):
    joint = s.ROPE(ball, None, (0, 0, 0), (0, 0, 0.85), length=1)
    return lambda: (joint.distance - 0.85, -joint.tension)


def spring(function, law):
    def put(ball, anchor):
        row = s.PUT_SPRING(ball, (0, 0, 0), anchor, (0, 0, 1), function, (-0.15, 1), (0, 0, 1), law=law)
        return lambda: (-ball.conf[11], row.R[2])

    return put


LIMITS = {
    "slider": slider,
    "rope": rope,
    "curve": spring([-1, 40, 1, -40], "IMPLICIT"),  # alone it would let the ball down by a quarter
    "explicit curve": spring([-1, 40, 1, -40], "EXPLICIT"),
    "function": spring(lambda stroke, velocity: -40 * stroke, "IMPLICIT"),
    "explicit function": spring(lambda stroke, velocity: -40 * stroke, "EXPLICIT"),
}


def model(step):
    solfec = s.SOLFEC("QUASI_STATIC", step)
    solfec.verbose = "OFF"
    s.GRAVITY(solfec, (0, 0, -10))
    bulk = s.BULK_MATERIAL(solfec)
    anchor = s.BODY(solfec, "OBSTACLE", s.SPHERE((0, 0, 1), 0.1, 1, 1), bulk)
    s.FIX_POINT(anchor, (0, 0, 1))
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 0.1, 1, 1), bulk)
    s.BODY_CHARS(ball, 1, 1, (0, 0, 0), (1, 0, 0, 0, 1, 0, 0, 0, 1))
    return solfec, anchor, ball


@pytest.mark.parametrize("step", [0.03, 0.5])  # free, the ball would fall by 9 mm and by 2.5 m in a step
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", LIMITS)
def test_a_weight_hangs_at_the_limit_of_what_holds_it(name, solver, step):
    solfec, anchor, ball = model(step)
    result = LIMITS[name](ball, anchor)
    s.RUN(solfec, SOLVERS[solver](), 60 * step)
    way, force = result()
    accuracy = 1e-4 if solver == "PENALTY" else 1e-8  # whose sweeps of joints end at a change of 1E-4
    assert way == pytest.approx(0.15, abs=accuracy)
    assert force == pytest.approx(10, rel=accuracy)


@pytest.mark.parametrize("law", ["EXPLICIT", "IMPLICIT"])
@pytest.mark.parametrize("function", [[-1, 100, 1, -100], lambda stroke, velocity: -100 * stroke], ids=["curve", "function"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_weight_comes_to_rest_on_a_spring_that_is_stiff_for_the_step(solver, function, law):
    solfec, anchor, ball = model(0.5)  # with an explicit force each step would make the distance from equilibrium 24 times as large
    row = s.PUT_SPRING(ball, (0, 0, 0), anchor, (0, 0, 1), function, (-1e9, 1e9), (0, 0, 1), law=law)
    s.RUN(solfec, SOLVERS[solver](), 10)
    assert ball.conf[11] == pytest.approx(-0.1, abs=1e-6)
    assert row.R[2] == pytest.approx(10, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bar_turns_up_to_the_limit_of_its_hinge_and_leaves_it_again(solver):
    solfec, _, _ = model(0.5)
    bar = s.BODY(solfec, "RIGID", s.BOX((2.5, 0, 0), (1, 0.1, 0.1)), s.BULK_MATERIAL(solfec, density=1000))
    hinge = s.HINGE(bar, None, (2, 0, 0), (0, 1, 0), limits=(-0.2, 0.3))
    accuracy = 1e-3 if solver == "PENALTY" else 1e-8
    s.RUN(solfec, SOLVERS[solver](), 5)
    assert hinge.angle == pytest.approx(0.3, abs=accuracy)
    assert hinge.torque == pytest.approx(-10 * 10 * 0.5 * math.cos(0.3), rel=accuracy)
    s.GRAVITY(solfec, (0, 0, 10))
    s.RUN(solfec, SOLVERS[solver](), 5)
    assert hinge.angle == pytest.approx(-0.2, abs=accuracy)


@pytest.mark.parametrize("step", [0.1, 0.01])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_motor_that_holds_its_place_has_solved_every_step(solver, step):
    """While nothing is asked of it, reactions of the step before, which moved the slider by round-off, are no solution."""
    solfec, _, ball = model(step)
    s.GRAVITY(solfec, (0, 0, 0))
    joint = s.SLIDER(ball, None, (0, 0, 0), (1, 0, 0))
    s.MOTOR(joint, "POSITION", s.TIME_SERIES([0, 0, 0.5, 1, 1, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s.RUN(solfec, SOLVERS[solver](), 1.5)
    assert joint.travel == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("mode, knots, places", [
    ("RATE", [0, 0, 0.25, 1, 0.5, 1, 0.65, 0], {0.2: 0.08, 0.5: 0.375, 0.6: 0.375 + 0.2 / 3, 1.0: 0.45}),
    ("POSITION", [0, 0, 0.25, 0.5, 0.5, 0.5, 0.65, -0.1], {0.2: 0.4, 0.5: 0.5, 0.6: 0.1, 1.0: -0.1}),
])  # fmt: skip
@pytest.mark.parametrize("joint", ["HINGE", "SLIDER"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_motor_is_where_its_series_says_after_ramps_and_holds(joint, mode, knots, places, solver):
    """Knots are at ends of steps and within them; places by hand."""
    solfec, _, ball = model(0.1)
    s.GRAVITY(solfec, (0, 0, 0))
    driven = s.HINGE(ball, None, (0, 0, 0), (0, 0, 1)) if joint == "HINGE" else s.SLIDER(ball, None, (0, 0, 0), (1, 0, 0))
    s.MOTOR(driven, mode, s.TIME_SERIES(knots))
    found = {round(solfec.time, 3): driven.angle if joint == "HINGE" else driven.travel for _ in solfec.steps(SOLVERS[solver](), 1.0)}
    assert {time: found[time] for time in places} == pytest.approx(places, abs=1e-8)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "PENALTY"])
def test_supports_of_a_rack_that_only_a_motor_moves_draw_no_warning(solver):
    """No load acts and no support moves, so neither free nor prescribed velocities tell how small an error of supports is."""
    solfec, _, ball = model(0.05)
    s.GRAVITY(solfec, (0, 0, 0))
    wheel = s.BODY(solfec, "RIGID", s.SPHERE((0, 1, 0), 0.1, 1, 1), ball.material)
    travel, turn = s.SLIDER(ball, None, (0, 0, 0), (1, 0, 0)), s.HINGE(wheel, None, (0, 1, 0), (0, 0, 1))
    s.RACK(turn, travel, 0.1)
    s.MOTOR(turn, "POSITION", s.TIME_SERIES([0, 0, 0.5, 1, 1, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s.RUN(solfec, SOLVERS[solver](), 1.5)
    assert travel.travel == pytest.approx(0.1, abs=1e-8)
