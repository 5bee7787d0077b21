"""Sweeps in which processes read old reactions of one another: they come to the solution of exact sweeps, or say that they do not."""

import copy
import subprocess
import sys

import called
import jointed
import numpy as np
import pytest
from courses import NOTHING
from processes import ROOT, needs_mpi, run, spmd

sys.path.append(str(ROOT / "benchmarks"))  # behind this folder, which has a module processes, too

import models  # noqa: E402

from solfec.divided import Divided  # noqa: E402
from solfec.parallel.colours import hashes  # noqa: E402
from solfec.parallel.partition import Balance  # noqa: E402
from solfec.parallel.sweep_stages import BOTTOM, INNER, MIDDLE, TOP, colours_of  # noqa: E402
from solfec.solvers.gauss_seidel import VARIANTS, GaussSeidelSolver  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_session")


def heap():
    """Spheres that have begun to touch."""
    model = models.spheres(40, side=3)
    for _ in range(350):
        model.advance(GaussSeidelSolver(1e-3, 50))
    return model


def course(model, size, variant, loops=1, steps=2, epsilon=1e-7, maxiter=1000, scattered=False, **members):
    """Velocities after some steps, reports and numbers of rows, and warnings."""
    copies, told = [copy.deepcopy(model) for _ in range(size)], []

    def program(world):
        made = GaussSeidelSolver(epsilon, maxiter)
        made.colouring, made.variant, made.innerloops = "ON", variant, loops
        made.notify = told.append if world.rank == 0 else lambda text: None
        for name, value in members.items():
            setattr(made, name, value)
        whole = copies[world.rank]
        run = Divided(whole, world, made, Balance(), NOTHING)
        if scattered:
            run._tree.leaf_of = lambda centres, ids: hashes(ids, ids) % size
            run.divide()
        reports = []
        for _ in range(steps):
            run.advance()
            report = run.model.report
            reports.append((report.iterations, report.status, report.residual))
            stages = run._solver._stages if run.part is not None else None
            if stages:
                assert report.sets == tuple(stages.total) and report.colours == stages.colours > 0
        counts = run._solver._stages.counts if run.part is not None and run._solver._stages else None
        run.end()
        return whole.bodies.triples.view("velo").copy(), reports, counts

    results = spmd(size, program)
    for velocities, reports, _ in results:
        assert velocities.tobytes() == results[0][0].tobytes() and reports == results[0][1]
    return results[0][0], results[0][1], [counts for *_, counts in results], told


SCENES = {
    "block": lambda: models.block(2),
    "heap": heap,
    "wall": lambda: jointed.wall().model,
    "mechanisms": lambda: jointed.mechanisms().model,
    "sprung": lambda: called.sprung().model,
}


@pytest.mark.parametrize("scene", SCENES)
def test_variants_come_to_the_solution_of_exact_sweeps(scene):
    model = SCENES[scene]()
    exact, whole, *_ = course(model, 1, "FULL")
    more = {"block": [("FULL", 2), ("SPLIT", 2)], "wall": [("FULL", 2), ("SPLIT", 2)], "sprung": [("MIDDLE_JACOBI", 1), ("BOUNDARY_JACOBI", 1)]}
    for variant, loops in (("RANK_COLOURS", 1), ("SPLIT", 1), *more.get(scene, ())):
        found, reports, _, told = course(model, 2, variant, loops)
        assert bool(told) == (variant == "BOUNDARY_JACOBI")  # which warns in any case
        for (*_, residual), (*_, least) in zip(reports, whole):
            assert residual <= max(20 * least, 1e-5)
        assert np.abs(found - exact).max() < 1e-4 * max(1.0, np.abs(exact).max()), (variant, loops)


@pytest.mark.parametrize("scene", ["block", pytest.param("mechanisms", marks=pytest.mark.slow)])
def test_scattered_owners_and_backward_sweeps_come_to_the_same_solution(scene):
    model = SCENES[scene]()
    exact, *_ = course(model, 1, "FULL")
    for variant in ("RANK_COLOURS", "SPLIT"):
        found, reports, *_ = course(model, 3, variant, scattered=True, reverse=True)
        assert np.abs(found - exact).max() < 1e-4 * max(1.0, np.abs(exact).max()), variant


def test_a_merit_is_reached_with_divided_masses():
    model = models.block(2)
    exact, *_ = course(model, 1, "FULL", meritval=1e-12)
    found, reports, *_ = course(model, 2, "SPLIT", meritval=1e-12)
    assert all(status == "OK" for _, status, _ in reports)
    assert np.abs(found - exact).max() < 1e-5


def test_rank_colours_read_no_old_reactions():
    """Where there are no middle rows, MIDDLE_JACOBI is the same; SPLIT takes more sweeps than both."""
    model = models.block(2)
    sweeps = {variant: course(model, 2, variant, steps=1, epsilon=1e-6)[1][0][0] for variant in VARIANTS[:4]}
    assert sweeps["MIDDLE_JACOBI"] == sweeps["RANK_COLOURS"]
    assert sweeps["SPLIT"] > sweeps["RANK_COLOURS"]


def test_rows_are_top_middle_bottom_and_inner_ones():
    model = models.block(3)
    _, _, counts, _ = course(model, 2, "RANK_COLOURS", steps=1, maxiter=5)
    total = np.sum(counts, axis=0)
    assert total[TOP] > 0 and total[BOTTOM] > 0 and total[INNER] > 0 and total[MIDDLE] == 0  # two colours
    _, _, counts, _ = course(model, 3, "RANK_COLOURS", steps=1, maxiter=5, scattered=True)
    assert np.sum(counts, axis=0)[MIDDLE] > 0 and np.sum(counts) == total.sum()
    _, _, counts, _ = course(model, 2, "SPLIT", steps=1, maxiter=5)
    assert np.sum(counts, axis=0).tolist() == [0, total.sum() - total[INNER], 0, total[INNER]]


def test_colours_of_processes_are_the_lowest_that_are_free():
    assert colours_of([np.array([1, 2]), np.array([0, 2]), np.array([0, 1, 3]), np.array([2])]).tolist() == [0, 1, 2, 0]
    assert colours_of([np.zeros(0, int)] * 3).tolist() == [0, 0, 0]


def test_with_many_middle_rows_these_see_new_reactions_and_a_warning_says_so_once():
    found, reports, _, told = course(models.block(3), 3, "MIDDLE_JACOBI", scattered=True)
    expected = course(models.block(3), 3, "RANK_COLOURS", scattered=True)
    assert found.tobytes() == expected[0].tobytes() and reports == expected[1]
    assert told == ["GAUSS_SEIDEL_SOLVER: variant = 'MIDDLE_JACOBI' may diverge where more than a quarter of all constraints are middle ones; 'RANK_COLOURS' is used there"]


def test_what_diverges_goes_over_to_exact_sweeps_and_says_so_once():
    model = models.block(3)
    _, reports, _, told = course(model, 3, "BOUNDARY_JACOBI", loops=8, steps=2, epsilon=1e-6, maxiter=200, scattered=True)
    assert sum("shows what old reactions do" in text for text in told) == 1
    assert sum("diverges in this model: steps in which it does are solved by 'FULL'" in text for text in told) == 1
    assert all(np.isfinite(residual) for *_, residual in reports)


def test_variants_of_sweeps_that_one_process_makes_are_full_ones_and_a_warning_says_so_once():
    """Old inputs take MIDDLE_JACOBI for deformable bodies, as the manual of Solfec-1.0 recommends."""
    implicit = models.soft_cubes(2, 1, implicit=True)
    for model, more, reason in (
        (models.block(2), {"colouring": "OFF"}, "with 'anderson', 'islands' or colouring = 'OFF'"),
        (implicit, {}, "of a QUASI_STATIC analysis, or of a model with bodies of scheme 'DEF_LIM' or in a reduced base"),
    ):
        found, reports, _, told = course(model, 2, "MIDDLE_JACOBI", 2, **more)
        assert told == [f"GAUSS_SEIDEL_SOLVER: process 0 makes all sweeps {reason}: as with variant = 'FULL' and innerloops = 1"]
        expected = course(model, 2, "FULL", **more)
        assert found.tobytes() == expected[0].tobytes() and reports == expected[1]


def test_one_process_ignores_the_variant():
    model = models.block(2)
    assert course(model, 1, "SPLIT", 3)[0].tobytes() == course(model, 1, "FULL")[0].tobytes()


WALL = """
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/wall')
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.5)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E9, poisson = 0.3, density = 2E3)
def brick (x, z, wide, kind):
  corners = [(x+a*wide, b, z+c*0.1) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 0.1), (0, 0.1))]
  return BODY (solfec, kind, HULL (corners, 1, 1), bulk)
brick (-1, -0.1, 4, 'OBSTACLE')
for j in range (3):
  for i in range (4): brick (0.2*i + 0.1*(j%2), 0.1*j, 0.2, 'RIGID')
GRAVITY (solfec, (0, 0, -10))
solver = GAUSS_SEIDEL_SOLVER (1E-4, 1000)
solver.variant, solver.innerloops = VARIANT, LOOPS
RUN (solfec, solver, 0.003)
if solfec.mode == 'READ':
  for values in HISTORY (solfec, NAMES, 0.003, 0.003): print (*values)
elif RANK () == 0: print (solver.error, solver.variant)
"""
CLOCKS = "NAMES = ['CONS', 'GSCOLORS', 'GSTOP', 'GSMID', 'GSBOT', 'GSINN', 'CONSOL', 'PARBAL', 'GSINIT', 'GSRUN', 'GSCOM', 'GSMCOM']\n"


def test_processes_of_mpi_run_variants(tmp_path):
    needs_mpi()
    script = CLOCKS + WALL.replace("VARIANT", "'RANK_COLOURS'").replace("LOOPS", "2")
    said, errors = run(2, tmp_path, script)
    assert said.split() == ["OK", "RANK_COLOURS"] and not errors
    read = subprocess.run([sys.executable, "-m", "solfec.cli", "--quiet", "input.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    time, constraints, colours, top, middle, bottom, inner, solution, division, *clocks = map(float, read.split())
    assert colours == 2 and top > 0 == middle and bottom > 0 < inner and top + bottom + inner == constraints
    assert division == 0.0 and min(clocks[:3]) > 0.0 == clocks[3] and max(clocks) <= solution  # bodies hardly move, so none changes its owner
    facts = subprocess.run([sys.executable, "-m", "solfec.cli", "info", "out/wall"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert f"by 2 colours of processes: {top:.0f} top rows, 0 middle rows, {bottom:.0f} bottom rows, {inner:.0f} inner rows; GSINIT" in facts
