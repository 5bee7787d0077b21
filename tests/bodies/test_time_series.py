"""Piecewise linear functions of time, their derivatives and integrals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solfec.time_series import SeriesTable, TimeSeries

RAMP = TimeSeries([0, 1, 3], [0, 2, 2])


@pytest.mark.parametrize("time, value", [(-1, 0), (0, 0), (0.5, 1), (1, 2), (3, 2), (9, 2)])
def test_values_are_linear_between_and_constant_beyond(time, value):
    assert RAMP.value(time) == value
    assert RAMP(time) == value


@pytest.mark.parametrize("time, value", [(0.5, 2), (1, 0), (-1, 2), (9, 0), (2, 0)])
def test_derivative_is_a_step_function_whose_end_slopes_persist(time, value):
    assert RAMP.derivative().value(time) == value
    assert RAMP.derivative().times.size == 4


@pytest.mark.parametrize("time, value", [(0.5, 2), (1 - 1e-5, 2), (1, 1), (1 + 1e-12, 1), (1 + 1e-5, 0), (-1, 2), (9, 0)])
def test_centred_slope_is_the_mean_of_both_sides_at_knots(time, value):
    assert RAMP.centred_slope().value(time) == value


def test_centred_slope_of_knots_near_round_off_is_the_derivative():
    assert TimeSeries([1e6, 1e6 + 1e-9, 1e6 + 1], [0, 1, 1]).centred_slope().value(1e6 + 0.5) == 0.0
    assert TimeSeries([0, 1], [0, 3]).centred_slope().value(0.5) == 3.0


@pytest.mark.parametrize("time, value", [(-1, 0), (1, 1), (3, 5), (9, 5)])
def test_integral_is_trapezoidal(time, value):
    assert RAMP.integral().value(time) == value


def test_integral_of_two_points_is_not_a_constant():
    integral = TimeSeries([0, 2], [1, 3]).integral()
    assert integral.values.tolist() == [0, 4]


def test_constants_have_a_derivative_but_no_integral():
    constant = TimeSeries.constant(3.0)
    assert constant.value(7.0) == 3.0 and constant.times.size == 0
    assert constant.derivative().value(1.0) == 0.0
    with pytest.raises(ValueError, match="constant"):
        constant.integral()


def test_derivative_survives_intervals_near_round_off():
    derivative = TimeSeries([1e6, 1e6 + 1e-9, 1e6 + 1], [0, 1, 1]).derivative()
    assert derivative.value(1e6) == pytest.approx(1 / ((1e6 + 1e-9) - 1e6))
    assert derivative.value(1e6 + 0.5) == 0.0


@pytest.mark.parametrize(
    "times, values, words",
    [
        ([0, 1], [0], "as many values as times"),
        ([], [], "as many values as times"),
        ([0, 0], [1, 2], "increase strictly"),
        ([1, 0], [1, 2], "increase strictly"),
        ([0, 1], [0, float("nan")], "finite"),
    ],
)
def test_bad_series_are_refused(times, values, words):
    with pytest.raises(ValueError, match=words):
        TimeSeries(times, values)


def test_a_series_cannot_be_changed_behind_the_back_of_its_users():
    with pytest.raises(ValueError):
        RAMP.values[0] = 1.0


knots = st.lists(st.floats(-100, 100), min_size=2, max_size=30, unique=True).map(sorted)


@given(st.lists(knots, min_size=1, max_size=5), st.lists(st.floats(-200, 200), min_size=1, max_size=10), st.randoms())
def test_the_kernel_evaluates_all_series_at_once(times, instants, random):
    table = SeriesTable()
    series = [TimeSeries(row, [random.uniform(-1, 1) for _ in row]) for row in times] + [TimeSeries.constant(2.0)]
    rows = [table.add(item) for item in series]
    assert sorted(set(rows)) == list(range(table.n))  # equal series are stored once
    assert table.add(series[0]) == 0
    for instant in instants + [row[-1] for row in times] + [row[0] for row in times]:
        result = table.evaluate(instant)[rows]
        np.testing.assert_allclose(result, [item.value(instant) for item in series], atol=1e-12)


def test_knots_next_to_each_other_do_not_overflow():
    series = TimeSeries([0.0, 3e-310, 1.0], [0.0, 3.0, 3.0])
    table = SeriesTable()
    row = table.add(series)
    for time in (1e-310, 2e-310):
        assert series.value(time) == pytest.approx(3.0 * (time / 3e-310))
        assert table.evaluate(time)[row] == series.value(time)
