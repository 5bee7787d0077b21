"""TIME_SERIES from functions of time, paths, and text files with headers, several columns and other separators."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from pytest import approx

from solfec import BODY, BULK_MATERIAL, CALLBACK, FORCE, PUT_SPRING, RUN, SPHERE, TIME_SERIES

CSV = '\ufeff"time","ax","ay"\n# made by hand\n0,1,2\n0.5, 3 ,4\n1,5,6\n'


def test_a_function_is_sampled_at_the_times(new_model):
    series = TIME_SERIES(sin, times=np.linspace(0, 1, 201))
    assert (series.times[100], series.values[100]) == (0.5, sin(0.5))
    model = new_model()
    ball = BODY(model, "RIGID", SPHERE((0, 0, 0), 1, 0, 0), BULK_MATERIAL(model))
    FORCE(ball, "SPATIAL", (0, 0, 0), (1, 0, 0), series)
    RUN(model, 1.0)
    assert ball.velo[3] * ball.mass == approx(1.0 - cos(1.0), rel=1e-5)


@pytest.mark.parametrize("text", [CSV, CSV.replace(",", ";"), CSV.replace(",", "\t").replace('"', ""), CSV.replace('"time","ax","ay"\n', "")])
def test_columns_of_a_file_are_found_by_name_and_number(tmp_path, text):
    path = tmp_path / "quake.csv"
    path.write_text(text)
    assert TIME_SERIES(path, columns=(0, 2)).values == [2.0, 4.0, 6.0]
    if "ay" in text:
        assert TIME_SERIES(str(path), columns=("time", "ay")).values == [2.0, 4.0, 6.0]
        assert TIME_SERIES(path, columns=["ax", 0]).times == [1.0, 3.0, 5.0]


def test_two_columns_need_no_names(tmp_path):
    for text in ("t [s], a [m/s2]\n0,1\n1,2\n", "t a\n0 1\n1 2\n", "0 1 # first\n1 2\n", "0,1,\n1,2,\n"):
        (tmp_path / "a.txt").write_text(text)
        assert TIME_SERIES(tmp_path / "a.txt").values == [1.0, 2.0]


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda path: TIME_SERIES(path), ValueError, r"quake.csv:3: two numbers are expected, not '0,1,2'; name .*: columns = \('time', 'ax'\), for example"),
        (lambda path: TIME_SERIES(path, columns=("tme", "ay")), ValueError, r"has no column 'tme' \(columns: 'time', 'ax', 'ay'\); did you mean 'time'\?"),
        (lambda path: TIME_SERIES(path, columns=(0, 3)), ValueError, "quake.csv:3: numbers in the columns 0 and 3 are expected"),
        (lambda path: TIME_SERIES(path, columns=(0,)), ValueError, "'columns' must hold 2 names or numbers, it holds 1"),
        (lambda path: TIME_SERIES(path, times=[0, 1]), ValueError, "'times' is for a function of time"),
        (lambda path: TIME_SERIES([0, 1, 1, 2], columns=(0, 1)), ValueError, "'columns' is for a file"),
        (lambda path: TIME_SERIES(sin), TypeError, "'times' must list the times at which the function 'points' is evaluated"),
        (lambda path: TIME_SERIES(lambda t: "x", times=[0, 1]), TypeError, r"'points \(0\)' must be a number, not str"),
        (lambda path: TIME_SERIES(lambda t: 1 / t if t else float("inf"), times=[0, 1]), ValueError, r"'points \(0\)' must be a finite number"),
        (lambda path: TIME_SERIES(sin, times=[1, 0]), ValueError, "times must increase strictly"),
    ],
)
def test_what_makes_no_series_is_refused(tmp_path, make, error, text):
    (tmp_path / "quake.csv").write_text(CSV)
    with pytest.raises(error, match=text):
        make(tmp_path / "quake.csv")


@pytest.mark.parametrize(
    "text, message",
    [
        ("t,a\n# up\n0,1\n2,2\n1,3\n", r"a.csv:5: times must increase strictly: line 5 is at 1, line 4 at 2"),
        ("t,a\n0,1\n", r"'points': .*a.csv must hold at least 2 points, it holds 1"),
        ("0;1,5\n1;2,5\n", "a.csv:1: two numbers are expected, not '0;1,5'; fractions need a point, as in 1.5"),
        ("0 1 2\n1 2 3\n", r"a.csv:1: two numbers are expected, not '0 1 2'; name .*: columns = \(0, 1\), for example"),
    ],
)
def test_a_bad_file_is_told_with_its_line_and_what_would_be_right(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    for _ in range(2):  # a series that is refused takes no label
        with pytest.raises(ValueError, match=message):
            TIME_SERIES(tmp_path / "a.csv", label="record")


def test_a_name_of_two_columns_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("t,a,a\n0,1,2\n1,2,3\n")
    with pytest.raises(ValueError, match="'columns': .*a.csv names more than one column 'a'; give its number: 1 and 2"):
        TIME_SERIES(tmp_path / "a.csv", columns=("t", "a"))
    assert TIME_SERIES(tmp_path / "a.csv", columns=("t", 2)).values == [2.0, 3.0]


def test_what_is_neither_list_nor_file_nor_function_is_refused():
    for points in (None, 3.0, {0: 1, 1: 2}):
        with pytest.raises(TypeError, match="'points' must be a list of numbers, the path of a file or a function of time, not"):
            TIME_SERIES(points)


def test_empty_fields_are_no_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("0,,1\n1,2,3\n")
    with pytest.raises(ValueError, match="a.csv:1: numbers in the columns 0 and 1 are expected"):
        TIME_SERIES(tmp_path / "a.csv", columns=(0, 1))


def test_a_series_gives_its_values_when_it_is_called():
    series = TIME_SERIES([1, 10, 2, 30, 4, 0])
    assert [series(0), series(1), series(1.25), series(2), series(3), series(5)] == [10, 10, 15, 30, 15, 0]
    assert type(series(1.25)) is float
    assert series([0, 1.25, 3]).tolist() == [10, 15, 15]
    times = np.array([[0.0, 1.0], [3.0, 7.0]])
    assert series(times).tolist() == [[10, 10], [15, 0]]
    assert series.derivative(1.5) == 20.0
    assert series([]).size == 0


def test_values_of_many_times_have_the_bits_of_single_ones():
    numbers = np.random.default_rng(7)
    series = TIME_SERIES(np.column_stack([np.cumsum(numbers.random(50) + 1e-3), numbers.normal(size=50)]))
    times = np.append(numbers.random(300) * 30, series.times)
    assert series(times).tolist() == [series(time) for time in times]


@pytest.mark.parametrize("scaled", [lambda x: 2 * x, lambda x: x * 2, lambda x: np.float64(2) * x, lambda x: x / 0.5, lambda x: -(-2 * x), lambda x: np.arange(3)[2] * x])
def test_a_number_times_a_series_is_a_series(new_model, scaled):
    series = TIME_SERIES([0, 1, 1, 3], label="a")
    twice = scaled(series)
    assert (twice.times, twice.values, series.values) == ([0.0, 1.0], [2.0, 6.0], [1.0, 3.0])
    assert repr(twice) == "TIME_SERIES of 2 points: times 0 to 1, values 2 to 6"
    model = new_model()
    ball = BODY(model, "RIGID", SPHERE((0, 0, 0), 1, 0, 0), BULK_MATERIAL(model))
    FORCE(ball, "SPATIAL", (0, 0, 0), (1, 0, 0), twice)
    RUN(model, 1.0)
    assert ball.velo[3] * ball.mass == approx(4.0, rel=1e-5)


@pytest.mark.parametrize(
    "use, error, text",
    [
        (lambda x: x("1"), TypeError, r"TIME_SERIES \(time\): 'time' must be a number, not str"),
        (lambda x: x(float("nan")), ValueError, "'time' must be a finite number, not nan"),
        (lambda x: x([0, float("inf")]), ValueError, "'time' must hold finite numbers; item 1 is inf"),
        (lambda x: x([0, "1"]), TypeError, "'time' must be a flat list of numbers"),
        (lambda x: x * "2", TypeError, r"TIME_SERIES, series \* factor: 'factor' must be a number, not str"),
        (lambda x: x * x, TypeError, "'factor' must be a number, not TIME_SERIES"),
        (lambda x: np.ones(2) * x, TypeError, "'factor' must be a number, not ndarray"),
        (lambda x: x * 1e308, ValueError, "the values become too large for factor 1e.308"),
        (lambda x: x / 0, ValueError, "TIME_SERIES, series / divisor: 'divisor' must not be zero"),
    ],
)
def test_wrong_times_and_factors_are_refused(use, error, text):
    with pytest.raises(error, match=text):
        use(TIME_SERIES([0, 1, 1, 30]))


def test_a_series_is_no_callback_and_no_spring(new_model):
    model = new_model()
    series = TIME_SERIES([0, 1, 1, 3])
    ball, ground = (BODY(model, kind, SPHERE((0, 0, 0), 1, 0, 0), BULK_MATERIAL(model)) for kind in ("RIGID", "OBSTACLE"))
    with pytest.raises(TypeError, match="'callback' must be callable, not TIME_SERIES"):
        CALLBACK(model, 0.1, ball, series)
    with pytest.raises(TypeError, match="'function' must be callable or a list of points .*, not TIME_SERIES"):
        PUT_SPRING(ball, (0, 0, 0), ground, (0, 0, 1), series, (-1, 1))
