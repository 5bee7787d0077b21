"""Light bodies beside heavy ones whose errors sums hide: several processes tell of them as one does."""

import copy
import subprocess
import sys

import pytest
from courses import NOTHING, scatter, sweeps
from processes import MPIEXEC, needs_mpi, spmd

from solfec import BODY, BOX, BULK_MATERIAL, FIX_POINT, GRAVITY, SOLFEC, SURFACE_MATERIAL
from solfec.divided import Divided
from solfec.hidden_errors import HiddenErrors
from solfec.language.handles import simulation_of
from solfec.parallel import part_newton
from solfec.parallel.communicator import Alone
from solfec.parallel.partition import Balance
from solfec.solvers.newton import NewtonSolver

pytestmark = pytest.mark.usefixtures("fresh_session")
SLIDE = """
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out', contacts = 'MANIFOLD')
SURFACE_MATERIAL (solfec, friction = 0.3)
stone = BULK_MATERIAL (solfec, density = 2000)
BODY (solfec, 'OBSTACLE', BOX ((0, 0, -0.5), (18, 18, 1)), stone)
for k in range (3): BODY (solfec, 'RIGID', BOX ((0, 0, 0.01 * k + 0.005), (0.01, 0.01, 0.01)), stone)
BODY (solfec, 'RIGID', BOX ((0, 1, 0.5), (1, 1, 1)), stone)
GRAVITY (solfec, (4.9, 0, -8.5))
if RANK () == 1: solfec.verbose = 'OFF'
RUN (solfec, GAUSS_SEIDEL_SOLVER (1E-4, 1000), 0.02)
"""


def slide(blocks, weak=False):
    """Three stacked cubes of 1 cm slide down a slope, beside blocks of 1 m that touch; `weak`: the last one hangs on a point that breaks in the fourth step."""
    solfec = SOLFEC("DYNAMIC", 1e-3, output=None, contacts="MANIFOLD")
    SURFACE_MATERIAL(solfec, friction=0.3)
    stone = BULK_MATERIAL(solfec, density=2000)
    BODY(solfec, "OBSTACLE", BOX((0, 0, -0.5), (18, 18, 1)), stone)
    for k in range(3):
        BODY(solfec, "RIGID", BOX((0, 0, 0.01 * k + 0.005), (0.01, 0.01, 0.01)), stone)
    for k in range(blocks):
        block = BODY(solfec, "RIGID", BOX((0, 1 + k, 0.5), (1, 1, 1)), stone)
    GRAVITY(solfec, (4.9, 0, -8.5))
    if weak:
        FIX_POINT(block, (0, blocks, 0.5), 1e3)
    return simulation_of(solfec).domain


def by_colours():
    """Sweeps that end early."""
    return sweeps(1e-4, 1000)


def told(whole, world, make, steps=20):
    """Return the line at the end of a course of a model."""
    solver = make()
    run, hidden = Divided(whole, world, solver, Balance(1.05, 1.0, 5), NOTHING), HiddenErrors(whole, solver, world)
    run.watch = lambda *rows: hidden.after_step(whole, *rows)
    for _ in range(steps):
        run.advance()
    run.end()
    return hidden.told()


@pytest.mark.parametrize(
    ("make", "blocks", "size"),
    [(by_colours, 1, 2), (by_colours, 3, 3), (by_colours, 3, 7), (lambda: sweeps(1e-4, 1000, "OFF"), 3, 3), (NewtonSolver, 1, 2)],
)
def test_the_first_process_tells_what_one_alone_tells(make, blocks, size, monkeypatch):
    """The stack is divided, too, so no process has all of its contacts."""
    scatter(monkeypatch)
    model = slide(blocks)
    copies = [copy.deepcopy(model) for _ in range(size)]
    alone = told(model, Alone(), make, steps=40)  # after 20 it depends on rounding whether NEWTON_SOLVER has missed a law
    assert "1 group, that of body 2 by" in alone
    assert spmd(size, lambda world: told(copies[world.rank], world, make, steps=40)) == [alone, *[""] * (size - 1)]


def test_processes_that_solve_together_by_newton_steps_tell(monkeypatch):
    scatter(monkeypatch)
    monkeypatch.setattr(part_newton, "SHARED_FROM", 0)
    copies = [slide(1) for _ in range(2)]
    first, second = spmd(2, lambda world: told(copies[world.rank], world, NewtonSolver, steps=40))
    assert "hidden errors: NEWTON_SOLVER" in first and "1 group, that of body 2 by" in first and second == ""


def test_nothing_is_told_without_a_heavy_body(monkeypatch):
    scatter(monkeypatch)
    copies = [slide(0) for _ in range(4)]  # fewer bodies than processes
    assert spmd(4, lambda world: told(copies[world.rank], world, by_colours, steps=6)) == [""] * 4


def test_rows_that_change_in_one_process_are_looked_at_by_none(monkeypatch):
    """In others a constraint stands that has broken in this one: they must not wait for it."""
    scatter(monkeypatch)
    model = slide(2, weak=True)
    copies = [copy.deepcopy(model) for _ in range(3)]
    alone = told(model, Alone(), by_colours)
    assert not model.constraints.user_count and "hidden errors" in alone
    assert spmd(3, lambda world: told(copies[world.rank], world, by_colours)) == [alone, "", ""]


def test_a_run_of_two_processes_tells_once(tmp_path):
    """Although one of them is not verbose."""
    needs_mpi()
    (tmp_path / "input.py").write_text(SLIDE)
    command = [MPIEXEC, "-n", "2", sys.executable, "-m", "solfec.cli", "input.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert (run.stdout + run.stderr).count("hidden errors: GAUSS_SEIDEL_SOLVER ends by sums") == 1
