"""Points driven along three directions, points that follow samples, and commands that only matter between processors."""

from math import cos, sin

import numpy as np
import pytest

import solfec as sf

MODEL = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/driven')
solfec.verbose = 'OFF'
bulk = BULK_MATERIAL(solfec)
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), bulk)
half, turned = 2 ** -0.5, (2 ** -0.5, 2 ** -0.5, 0, -2 ** -0.5, 2 ** -0.5, 0, 0, 0, 1)
{command}
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-10, 1000), 0.1)
print(*(round(x, 9) for x in DISPLACEMENT(ball, (0, 0, 0))))
print(*(round(x, 9) for x in VELOCITY(ball, (0, 0, 0))))
"""


def driven(good, command: str) -> list[list[float]]:
    return [[float(word) for word in line.split()] for line in good(MODEL.format(command=command)).splitlines()]


def test_three_displacements_lead_a_point_along_a_turned_base(good):
    """0.1 and 0.3 along the diagonals, -0.2 along z, at constant rates over 0.1."""
    moved, velocity = driven(good, """SET_DISPLACEMENT3(ball, (0, 0, 0), turned,
    (TIME_SERIES([0, 0, 1, 1]), TIME_SERIES([0, 0, 1, 3]), TIME_SERIES([0, 0, 1, -2])))""")  # fmt: skip
    half = 2**-0.5
    rates = (half * (1 - 3), half * (1 + 3), -2)
    assert max(abs(v - rate) for v, rate in zip(velocity, rates)) < 1e-7
    # at rest before, so that half a step is lost to the first velocity
    assert max(abs(m - rate * 0.0995) for m, rate in zip(moved, rates)) < 1e-6


def test_three_accelerations_raise_a_points_velocity(good):
    moved, velocity = driven(good, """SET_ACCELERATION3(ball, (0, 0, 0), (1, 0, 0, 0, 1, 0, 0, 0, 1),
    (TIME_SERIES([0, 4, 1, 4]), TIME_SERIES([0, 0, 1, 0]), TIME_SERIES([0, -2, 1, -2])))""")  # fmt: skip
    assert max(abs(v - a * 0.1) for v, a in zip(velocity, (4, 0, -2))) < 1e-6
    assert max(abs(m - a * 0.005) for m, a in zip(moved, (4, 0, -2))) < 1e-4


@pytest.mark.parametrize("kind", ["RIGID", "OBSTACLE"])
@pytest.mark.parametrize("interval", [0.25, 1.0, 3.0])
def test_a_point_follows_samples_of_its_way_to_second_order(kind, interval):
    """0.1 sin 5t in samples every so many steps; slopes of one side would be off by 0.1 % to 2 % of it, in proportion to the step."""
    errors = []
    for step in (8e-3, 4e-3):
        model = sf.SOLFEC("DYNAMIC", step)
        model.verbose = "OFF"
        ball = sf.BODY(model, kind, sf.SPHERE((0, 0, 0), 0.1, 1, 1), sf.BULK_MATERIAL(model))
        sf.INITIAL_VELOCITY(ball, (0.5, 0, 0), (0, 0, 0))
        sf.SET_DISPLACEMENT(ball, (0, 0, 0), (1, 0, 0), sf.TIME_SERIES(lambda t: 0.1 * sin(5 * t), times=np.arange(0, 0.8, interval * step)))
        sf.RUN(model, sf.AUTO_SOLVER(1e-12), 0.64)
        errors.append(abs(sf.DISPLACEMENT(ball, (0, 0, 0))[0] - 0.1 * sin(5 * model.time)))
        assert abs(sf.VELOCITY(ball, (0, 0, 0))[0] - 0.5 * cos(5 * model.time)) < 0.01
    assert errors[0] < 4e-4 and errors[1] < errors[0] / 3.5


def test_a_ramp_and_a_hold_end_where_they_say(good):
    """But for the half step that the start from rest costs, whatever the place of the knots within steps."""
    moved, velocity = driven(good, "SET_DISPLACEMENT(ball, (0, 0, 0), (1, 0, 0), TIME_SERIES([0, 0, 0.05, 0.1, 0.06, 0.1, 1, 0.1]))")
    assert abs(moved[0] - 2 * (0.05 - 0.0005)) < 1e-8 and velocity == [0, 0, 0]


def test_commands_for_several_processors_change_nothing_on_one(good, run):
    text = "solfec = SOLFEC('DYNAMIC', 1E-3, 'out/one')\n"
    assert good(text + "print(IMBALANCE_TOLERANCE(solfec, 1.3, 0.5, 20), REGISTER_CALLBACK(print, (1, 2)))").strip() == "True None"
    outcome = run(text + "IMBALANCE_TOLERANCE(solfec, -1)")
    assert outcome.status == 1 and "IMBALANCE_TOLERANCE: 'tolerance'" in outcome.err
    outcome = run(text + "REGISTER_CALLBACK(3)")
    assert outcome.status == 1 and "REGISTER_CALLBACK: 'callback'" in outcome.err
