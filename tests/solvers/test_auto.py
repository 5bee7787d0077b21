"""AUTO_SOLVER on steps of models, and the options of Gauss-Seidel that share its kernels."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import wall
from reference_rows import assembled, load

from solfec.solvers import auto, contact_problem, fclib
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.local_dynamics import RowKind

STEPS = ("m01_000", "m03_020", "m08_300", "m12_000", "m13_050")


@pytest.mark.parametrize("name", STEPS)
def test_residual_asked_for_is_reached_and_velocities_agree_with_tight_sweeps(name):
    local = assembled(load(name))
    report = AutoSolver(1e-9).solve(local)
    assert report.status == "OK" and report.solver == "AUTO"
    assert report.residual <= 2e-9
    other = assembled(load(name))
    sweeps = GaussSeidelSolver(1e-13, 20000).solve(other)
    n, size = local.n, np.abs(local.rows.B[:, : local.n]).max()
    if sweeps.residual <= 1e-9:
        assert local.rows.U[:, :n] == pytest.approx(other.rows.U[:, :n], abs=1e-5 * size)


def test_every_step_of_a_run_is_solved_from_the_last_one():
    scene, solver = wall(5), AutoSolver(1e-8)
    iterations = []
    for _ in range(5):
        scene.advance(solver) if hasattr(scene, "advance") else scene.solve(solver)
        assert solver.error == "OK"
        iterations.append(solver.iters)
    assert iterations[-1] <= iterations[0]


@pytest.mark.parametrize(("anderson", "islands"), [(True, False), (False, True), (True, True)])
def test_options_of_gauss_seidel_reach_the_residual(anderson, islands):
    local = assembled(load("m03_020"))
    solver = AcceleratedGaussSeidel(1e-8, 20000)
    solver.anderson, solver.islands = anderson, islands
    report = solver.solve(local)
    assert report.status == "OK" and report.residual <= 2e-8
    assert report.solver == "GAUSS_SEIDEL"
    assert np.isnan(solver.rerhist).all(), "residuals end these sweeps, not changes"


def test_exported_step_has_the_residual_of_the_step(tmp_path):
    local = assembled(load("m03_020"))
    if (local.rows.kind[: local.n] != RowKind.CONTACT).any():
        pytest.skip("the step holds other constraints")
    fclib.write_step(tmp_path / "step.hdf5", local)
    solution = contact_problem.solve(fclib.read(tmp_path / "step.hdf5"), 1e-9)
    AutoSolver(1e-9).solve(local)
    shift = auto.reduced_velocity(local)[0][:, : local.n] - local.rows.B[:, : local.n]
    assert solution.u == pytest.approx(local.rows.U[:, : local.n] + shift, abs=1e-6 * np.abs(solution.u).max() + 1e-9)
