"""Inputs of inp/gallery give the numbers of theory at a small size; `slow` runs them as they stand."""

import re
from math import cos, cosh, log, radians, sin, sqrt
from pathlib import Path

import pytest

from solfec import cli

GALLERY = Path(__file__).parent.parent / "inp" / "gallery"


@pytest.fixture
def numbers(tmp_path, monkeypatch, capsys):
    """`numbers(name, *arguments)` runs an input of the gallery and returns the numbers that it prints, line by line."""
    monkeypatch.chdir(tmp_path)

    def run(name, *arguments):
        assert cli.main([str(GALLERY / f"{name}.py"), *map(str, arguments)]) == 0
        printed = capsys.readouterr().out.splitlines()
        start = max(number for number, line in enumerate(printed) if line.startswith("energy:") or "  took " in line) + 1
        return [[float(word) for word in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?", line)] for line in printed[start:]]

    return run


def slow(*arguments):
    return pytest.param(*arguments, marks=pytest.mark.slow)


@pytest.mark.parametrize("count, duration", [(10, 0.8), slow(60, 3.5)])
def test_every_domino_falls_and_leans_on_the_next(numbers, count, duration):
    ((fallen, total, lean, theory),) = numbers("dominoes", count, duration)
    assert fallen == total == count and lean == pytest.approx(theory, abs=2)  # theory of a straight row


@pytest.mark.parametrize("duration", [0.75, slow(1.8)])
def test_the_last_ball_of_a_cradle_rises_to_the_height_of_the_first(numbers, duration):
    ((start, last, between),) = numbers("cradle", duration)
    assert last == pytest.approx(start, rel=1e-3) and between < 0.05


@pytest.mark.parametrize("duration", [0.25, slow(3.0)])
def test_a_gyroscope_goes_round_at_the_rate_of_theory(numbers, duration):
    ((rate, theory, sunk),) = numbers("gyroscope", duration)
    assert rate == pytest.approx(theory, rel=1e-3) and sunk < 0.02


@pytest.mark.parametrize("duration", [0.3, slow(1.5)])
def test_bodies_go_down_a_ramp_at_the_accelerations_of_theory(numbers, duration):
    ball, hollow, cylinder, block = numbers("race", duration)
    for rate, theory in (ball[-2:], hollow[-2:], block[-2:]):
        assert rate == pytest.approx(theory, abs=2e-4)
    # Its 360 edges strike the ramp without rebound: each takes 4/3 (1 - cos 1 deg) of its energy (angular momentum about the edge), so
    # x = ln cosh (sqrt (a k) t) / k with k = 2/3 (1 - cos 1 deg) / side. Steps that are longer than a side lose less
    k = 2 / 3 * (1 - cos(radians(1))) / (2 * 0.1 * sin(radians(0.5)))
    struck = 2 * log(cosh(sqrt(cylinder[-1] * k) * duration)) / k / duration**2
    assert 0.997 * struck < cylinder[-2] < 0.999 * cylinder[-1]


@pytest.mark.parametrize("ratio, duration", [(4.0, 0.05), slow(2.4, 0.04), slow(4.0, 0.3)])
def test_a_rope_on_a_bar_slips_by_the_law_of_euler(numbers, ratio, duration):
    _, (rate, theory) = numbers("capstan", ratio, duration)
    assert (theory > 0) == (ratio > 2.566)
    assert rate == pytest.approx(theory, rel=0.04)  # the rope has a hundredth of the weights' mass


@pytest.mark.parametrize("friction, duration", [(0.05, 0.08), slow(0.0, 0.4), slow(0.05, 0.4)])
def test_involute_teeth_keep_ratios_of_angles_and_torques(numbers, friction, duration):
    (ratio, teeth), (torque, theory) = numbers("gears", friction, duration)
    assert ratio == pytest.approx(teeth, rel=1e-3)
    assert theory * 0.995 < torque < theory * (1.01 + friction)


@pytest.mark.parametrize("bricks, courses, duration", [(2, 3, 0.8), slow(6, 10, 1.6)])
def test_a_ball_on_a_rope_meets_the_wall_at_the_speed_of_its_fall(numbers, bricks, courses, duration):
    met, (fallen, total) = numbers("wrecking-ball", bricks, courses, duration)
    assert met[0] == pytest.approx(met[-1], rel=1e-3)
    if courses == 10:
        assert 5 < fallen < 0.5 * total  # it breaks a hole


@pytest.mark.parametrize("duration", [0.03, slow(0.05)])
def test_a_ring_rings_at_the_frequency_of_theory(numbers, duration):
    ((leaves, came, found, theory),) = numbers("ring", duration)
    assert found == pytest.approx(theory, rel=0.015)
    assert 0.6 * came < leaves < came  # the rest of the energy is in its vibration


def test_all_balls_leave_a_small_hourglass(numbers):
    ((passed, total, *_),) = numbers("hourglass", 25, 1.0)
    assert passed == total == 25


@pytest.mark.slow
def test_an_hourglass_runs_at_an_even_rate(numbers):
    ((passed, total, *rates),) = numbers("hourglass", 400, 3.0)
    assert passed == total == 400 and max(rates) < 1.25 * min(rates)


@pytest.mark.parametrize("count, duration", [(3, 1.0), slow(30, 2.0)])
def test_a_jar_carries_the_weight_of_what_is_in_it(numbers, count, duration):
    (_, weight, carried), (_, lowest) = numbers("jar", count, duration)
    assert carried == pytest.approx(weight, rel=0.05 if count == 3 else 1e-3)  # few things still roll
    assert lowest > 0.9 * 0.35 / 0.85 * 0.7 * 30  # the thinnest pill lies on the bottom, in mm


@pytest.mark.parametrize("count, duration", [(6, 2.0), slow(60, 8.0)])
def test_contacts_take_what_a_rockfall_loses_in_height(numbers, count, duration):
    (stopped, total), (lost, taken, kinetic) = numbers("rockfall", count, duration)
    assert lost == pytest.approx(taken + kinetic, abs=0.2) and lost > 10 * count
    assert duration < 8 or (stopped == total and kinetic < 1)


@pytest.mark.parametrize("duration", [0.4, slow(3.0)])
def test_a_tower_on_a_table_sinks_on_the_springs_of_the_explicit_engine(numbers, duration):
    (_, still), (worst,), (given, weight) = numbers("../hybrid/table", duration)
    assert worst < 0.002 * still
    assert duration < 3 or given == pytest.approx(weight, rel=1e-3)


@pytest.mark.parametrize("share, count, duration", [(0.15, 5, 1.2), slow(0.15, 17, 8.0)])
def test_abutments_carry_the_arch_and_the_roller(numbers, share, count, duration):
    (weight, carried), (sunk,) = numbers("bridge-load", share, count, duration)
    assert carried == pytest.approx(weight, rel=1e-4) and sunk < 0.1
