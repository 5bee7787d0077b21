"""NEWTON_SOLVER agrees with a serial run to its accuracy where all processes solve together for the reactions of many contacts."""

import copy
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT / "benchmarks"))  # behind this folder, which has a module processes, too

import models  # noqa: E402
from courses import NOTHING  # noqa: E402
from processes import BOX, frames_of, needs_mpi, run, spmd  # noqa: E402

from solfec.divided import Divided  # noqa: E402
from solfec.kinds import BodyKind  # noqa: E402
from solfec.parallel import part_newton  # noqa: E402
from solfec.parallel.partition import Balance  # noqa: E402
from solfec.shapes.sphere import Sphere  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402
from solfec.solvers.newton import NewtonSolver  # noqa: E402

FALL = 9.81e-3  # velocity that a step of 1 ms adds to a free body [m/s]


@pytest.fixture(autouse=True)
def few_rows_are_shared(monkeypatch):
    monkeypatch.setattr(part_newton, "SHARED_FROM", 0)


@cache
def scene(name):
    """A model whose bodies touch."""
    model, steps = {"pile": (lambda: models.spheres(150, side=3), 350), "stacks": (lambda: models.stacks(3, 2, 4), 60)}[name]
    model = model()
    for _ in range(steps):
        model.advance(GaussSeidelSolver(1e-3, 50))
    return model


def in_parts(model, size, steps, make):
    """The whole model, the solver, and reports after some steps of so many processes, each."""

    def program(world):
        run, found = Divided(copies[world.rank], world, solvers[world.rank], Balance(), NOTHING), []
        for _ in range(steps):
            run.advance()
            found.append(run.part.model.report)
        run.show()
        run.end()
        return copies[world.rank], solvers[world.rank], found

    copies, solvers = [copy.deepcopy(model) for _ in range(size)], [make() for _ in range(size)]
    return spmd(size, program)


def velocities(model):
    return model.bodies.triples.view("velo")


@pytest.mark.parametrize("name", ["pile", "stacks"])
@pytest.mark.parametrize("size", [2, 3])
def test_parts_agree_with_a_serial_run_to_the_accuracy_of_the_solver(name, size):
    steps, make, serial = 3, lambda: NewtonSolver(1e-12), copy.deepcopy(scene(name))
    counts, alone = [], make()
    for _ in range(steps):
        serial.advance(alone)
        counts.append(serial.report.iterations)
    assert max(counts) > 0
    results = in_parts(scene(name), size, steps, make)
    for whole, solver, reports in results:
        assert all(report.status == "OK" and report.solver == "NEWTON" and report.merit <= 1e-12 for report in reports)
        fastest = max(np.abs(velocities(serial)).max(), FALL)
        assert np.abs(velocities(whole) - velocities(serial)).max() < 2e-3 * fastest
        assert reports[0].iterations == pytest.approx(counts[0], rel=0.1, abs=1)
        assert len(solver.merhist) == len(solver.mvhist) == reports[-1].iterations and solver.merhist[-1:] in ([], [reports[-1].merit])
        assert np.all(np.diff(solver.mvhist) > 0)
    assert all(found[2] == results[0][2] for found in results)


@pytest.mark.parametrize("options", [{"linver": "DIAG", "maxiter": 3000}, {"linmaxiter": 30, "epsilon": 1e-3}, {"delta": 1e-7}], ids=repr)
def test_the_options_of_steps_hold_in_parts(options):
    make, serial = lambda: NewtonSolver(1e-10, **options), copy.deepcopy(scene("pile"))
    serial.advance(make())
    for whole, _, (report,) in in_parts(scene("pile"), 2, 1, make):
        assert report.status == "OK" and report.iterations == pytest.approx(serial.report.iterations, rel=0.1, abs=2)
        assert np.abs(velocities(whole) - velocities(serial)).max() < 1e-3 * np.abs(velocities(serial)).max()


def test_a_process_without_rows_takes_part(monkeypatch):
    """Its kernels got arrays without rows: ValueError."""
    sizes, run_it = [], part_newton.NewtonInParts.run
    monkeypatch.setattr(part_newton.NewtonInParts, "run", lambda iteration: sizes.append(iteration.rows.size) or run_it(iteration))
    model = copy.deepcopy(scene("stacks"))
    for k in range(30):
        model.insert_body(BodyKind.RIGID, [Sphere((50.0 + 3 * k, 0.0, 0.0), 0.1)], model.bulk_materials[0])
    for _, _, (report,) in in_parts(model, 2, 1, lambda: NewtonSolver(1e-12)):
        assert report.status == "OK" and report.solver == "NEWTON" and report.iterations > 0
    assert sorted(sizes)[0] == 0 < sorted(sizes)[1]


def test_sweeps_take_over_a_step_that_the_iteration_does_not_solve():
    make, serial = lambda: NewtonSolver(1e-6, maxiter=1), copy.deepcopy(scene("pile"))
    make_serial = make()
    serial.advance(make_serial)
    for _, solver, (report,) in in_parts(scene("pile"), 2, 1, make):
        assert report.iterations == 1 and report.solver == "NEWTON" and (solver.iters, solver.fallback > 0) == (1, make_serial.fallback > 0)
        assert report.status == serial.report.status == solver.error


def test_a_step_without_fall_back_says_that_it_is_not_solved():
    for _, solver, (report,) in in_parts(scene("pile"), 2, 1, lambda: NewtonSolver(1e-14, maxiter=2, gsflag=False)):
        assert report.status == solver.error == "DIVERGED" and solver.iters == 2 and solver.fallback == 0


SLABS = BOX + """
from solfec.parallel import part_newton
part_newton.SHARED_FROM = 0
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/slabs')
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.3)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E9, poisson = 0.3, density = 1E3)
BODY (solfec, 'OBSTACLE', box ((-1, -1, -1), (8, 4, 1)), bulk)
for i in range (6):
  for k in range (3):  # bricks in bond, which touch four others each
    body = BODY (solfec, 'RIGID', box ((i + 0.5 * (k % 2), 0, 0.001 + 0.501 * k), (0.99, 1, 0.5)), bulk)
    INITIAL_VELOCITY (body, (0.1 * (i % 2), 0, -0.5), (0, 0, 0))
GRAVITY (solfec, (0, 0, -10))
OUTPUT (solfec, 0.01)
solver = NEWTON_SOLVER (1E-13, locdyn = LOCDYN)
RUN (solfec, solver, 0.03)
open ('merit%d' % RANK (), 'w').write ('%d %g' % (len (solver.merhist), solver.merhist[-1]))
"""


@pytest.mark.parametrize("blocks", ["ON", pytest.param("OFF", marks=pytest.mark.slow)])
def test_two_processes_of_mpi_agree_with_one(tmp_path, blocks):
    """Products with W by its blocks, or through velocities of bodies, with messages from the kernel: a wall in bond that is divided through bricks which touch."""
    needs_mpi()
    ends = []
    for count in (1, 2):
        (tmp_path / str(count)).mkdir()
        run(count, tmp_path / str(count), SLABS.replace('LOCDYN', repr(blocks)))
        frames = frames_of(tmp_path / str(count))
        ends.append([np.frombuffer(frames[name]) for name in sorted(frames) if name.startswith("frames/velo")])
        steps, merit = map(float, (tmp_path / str(count) / "merit0").read_text().split())
        assert steps > 0 and merit <= 1e-13
    for one, two in zip(*ends, strict=True):
        assert np.abs(one - two).max() <= 1e-4
