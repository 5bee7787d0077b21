"""TIME_SERIES from functions of time, paths, and text files with headers, several columns and other separators."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from pytest import approx

from solfec import BODY, BULK_MATERIAL, FORCE, RUN, SPHERE, TIME_SERIES

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
        (lambda path: TIME_SERIES(path), ValueError, "quake.csv:3: two numbers are expected, not '0,1,2'"),
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


def test_empty_fields_are_no_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("0,,1\n1,2,3\n")
    with pytest.raises(ValueError, match="a.csv:1: numbers in the columns 0 and 1 are expected"):
        TIME_SERIES(tmp_path / "a.csv", columns=(0, 1))
