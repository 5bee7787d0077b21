"""Light bodies beside a heavy one that they do not touch: solvers that end by sums over the model leave them wrong, and the run says so."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

import solfec as sf

SLOPE, FRICTION, GRAVITY, STEP, DURATION = math.radians(30), 0.3, 9.81, 1e-3, 0.1
NOTE = "hidden errors: {}_SOLVER ends by sums over the whole model"


def cubes(solver, block: float = 1.0, count: int = 3, verbose: str = "ON", **material) -> float:
    """Stacked cubes of 1 cm slide down a slope, and a block beside them; the largest error of a cube's way, over that of Coulomb's law."""
    solfec = sf.SOLFEC("DYNAMIC", STEP, output=None, contacts="MANIFOLD")
    solfec.verbose = verbose
    sf.SURFACE_MATERIAL(solfec, friction=FRICTION, **material)
    stone = sf.BULK_MATERIAL(solfec, density=2000)
    sf.BODY(solfec, "OBSTACLE", sf.BOX((0, 0, -0.5), (18, 18, 1)), stone)
    stack = [sf.BODY(solfec, "RIGID", sf.BOX((0, 0, 0.01 * level + 0.005), (0.01, 0.01, 0.01)), stone) for level in range(count)]
    if block:
        sf.BODY(solfec, "RIGID", sf.BOX((0, 1, 0.5 * block), (block, block, block)), stone)
    sf.GRAVITY(solfec, (GRAVITY * math.sin(SLOPE), 0, -GRAVITY * math.cos(SLOPE)))
    sf.RUN(solfec, solver, DURATION)
    way = 0.5 * GRAVITY * (math.sin(SLOPE) - FRICTION * math.cos(SLOPE)) * DURATION**2
    return max(abs(sf.DISPLACEMENT(cube, cube.center)[0] / way - 1) for cube in stack)


@pytest.mark.parametrize(
    ("solver", "name"),
    [
        (lambda: sf.GAUSS_SEIDEL_SOLVER(1e-4, 1000), "GAUSS_SEIDEL"),
        (lambda: sf.GAUSS_SEIDEL_SOLVER(1e-6, 1000), "GAUSS_SEIDEL"),
        (sf.NEWTON_SOLVER, "NEWTON"),
    ],
)
def test_errors_that_a_heavy_block_hides_are_told(solver, name, capsys):
    assert cubes(solver()) > 0.05
    said = capsys.readouterr()
    assert said.out.count(NOTE.format(name)) == 1 and "1 group, that of body 2 by" in said.out
    assert "did not reach" not in said.out + said.err


@pytest.mark.parametrize(
    ("solver", "block", "count"),
    [
        (lambda: sf.GAUSS_SEIDEL_SOLVER(1e-4, 1000, islands="ON"), 1.0, 3),
        (sf.AUTO_SOLVER, 1.0, 3),
        (lambda: sf.GAUSS_SEIDEL_SOLVER(1e-4, 1000), 0.0, 3),  # nothing heavy
        (sf.NEWTON_SOLVER, 0.0, 3),
        (lambda: sf.GAUSS_SEIDEL_SOLVER(1e-4, 1000), 0.01, 1),  # two equal cubes
    ],
)
def test_nothing_is_said_where_every_group_is_solved(solver, block, count, capsys):
    assert cubes(solver(), block, count) < 3e-3
    assert "hidden errors" not in capsys.readouterr().out


@pytest.mark.parametrize(("solver", "words"), [(sf.PENALTY_SOLVER, {"model": "SPRING_DASHPOT", "spring": 1e4, "dashpot": 1.0}), (lambda: sf.GAUSS_SEIDEL_SOLVER(1e-4, 1000), {"verbose": "OFF"})])
def test_nothing_is_said_of_springs_or_where_nobody_looks(solver, words, capsys):
    cubes(solver(), **words)
    assert "hidden errors" not in capsys.readouterr().out


def test_runs_that_look_for_hidden_errors_import_no_slow_package(tmp_path):
    # SciPy's graphs, and SSL behind a function of xml.sax, took longer to import than a small model takes to run
    script = """
import sys
model = SOLFEC ('DYNAMIC', 1E-3, 'out')
bulk = BULK_MATERIAL (model, density = 1E3)
GRAVITY (model, (0, 0, -10))
BODY (model, 'OBSTACLE', BOX ((0, 0, -1), (20, 20, 2)), bulk)
BODY (model, 'RIGID', BOX ((5, 0, 1), (2, 2, 2)), bulk)
for k in range (4): BODY (model, 'RIGID', BOX ((0, 0, 0.1 + 0.2 * k), (0.2, 0.2, 0.2)), bulk)
import solfec.hidden_errors as hidden_errors
looked, groups_of = [], hidden_errors.groups_of
hidden_errors.groups_of = lambda *given: looked.append (1) or groups_of (*given)
RUN (model, GAUSS_SEIDEL_SOLVER (1E-1, 1), 0.05)
assert looked
assert not {'scipy.sparse', 'numpy.ma', 'ssl'} & set (sys.modules), sorted (sys.modules)
"""
    (tmp_path / "input.py").write_text(script)
    subprocess.run([sys.executable, "-m", "solfec.cli", "--quiet", "-w", "input.py"], cwd=tmp_path, check=True)
