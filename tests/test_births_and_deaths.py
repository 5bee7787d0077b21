"""A run in which bodies come and go takes no more memory or files than its present bodies need."""

import gc
import os

import pytest
from unit_cube import CUBE

import solfec as s


def resident() -> float:
    """Megabytes in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def shape_of(number: int):
    """A shape of every family in turn, whose size changes, so that no two neighbours in the tables take the same place."""
    size = 0.1 + 0.01 * (number % 7)
    if number % 4 == 0:
        return s.SPHERE((0, 0, 0), size / 2, 1, 1)
    if number % 4 == 1:
        return s.SCALE(s.HULL(CUBE, 1, 1), (size, size, size))
    return s.SCALE(s.HEX(CUBE, 1, 1, 1 + number % 3, 1, [1] * 6), (size, size, size))


def run_with_births_and_deaths(steps: int, path: str) -> tuple[list[float], list[int]]:
    """Memory and open files after every tenth part of a run with a birth and a death every other step."""
    gc.collect()  # closes files of models of earlier tests
    solfec = s.SOLFEC("DYNAMIC", 1e-3, path)
    material = s.BULK_MATERIAL(solfec, young=1e6, density=1e3)
    s.SURFACE_MATERIAL(solfec, friction=0.3)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CUBE, 1, 1), (4, 4, 1)), (-2, -2, -1)), material)
    s.OUTPUT(solfec, steps * 1e-3 / 20)
    memory, files, count = [], [], [0]

    def come_and_go() -> int:
        count[0] += 1
        number = count[0]
        kind = ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT", "FINITE_ELEMENT")[number % 4]
        place = (0.5 * (number % 7) - 1.5, 0.5 * (number // 7 % 7) - 1.5, 0.1)
        body = s.BODY(solfec, kind, s.TRANSLATE(shape_of(number), place), material, label=f"n{number}")
        if number % 8 in (2, 5):
            body.scheme = "DEF_LIM"
        if number % 5 == 0:
            s.FIX_POINT(body, place)
        if number % 3 == 0:
            s.FORCE(body, "SPATIAL", place, (0, 0, 1), s.TIME_SERIES([0, 0, 1, 1]))
        if len(solfec.bodies) > 12:
            s.DELETE(solfec, solfec.bodies[1 + number % 4])  # not always the eldest; never the ground
        if number % (steps // 20) == 0:
            memory.append(resident())
            files.append(len(os.listdir("/proc/self/fd")))
        return 1

    s.CALLBACK(solfec, 2e-3, (), come_and_go)
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-3, 50), steps * 1e-3)
    assert len(solfec.bodies) <= 13 and count[0] >= steps // 2 - 1
    return memory, files


def check_growth(steps: int, allowed: float) -> None:
    """Memory of the later half of a run is at most `allowed` megabytes above that of its second quarter."""
    memory, files = run_with_births_and_deaths(steps, "out/births")
    assert max(files) <= min(files) + 1
    assert max(memory[5:]) < max(memory[2:5]) + allowed, memory


def test_births_and_deaths_take_no_more_memory_or_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_growth(200, 8.0)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_twenty_thousand_steps_of_births_and_deaths_take_no_more_memory_or_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_growth(20000, 8.0)
