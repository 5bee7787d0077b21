"""All solvers on one problem: 27 balls stacked on a floor, one step from rest."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import Scene, wall

from solfec.solvers import siconos_library, siconos_process
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver
from solfec.solvers.contact_problem import Method
from solfec.solvers.gauss_seidel import DiagonalSolver, GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.penalty import PenaltySolver
from solfec.solvers.siconos import SiconosSolver

WEIGHT = 27 * 9.81


def accelerated() -> AcceleratedGaussSeidel:
    solver = AcceleratedGaussSeidel(1e-7, 3000)
    solver.anderson = True
    return solver


SOLVERS = {
    **{name: lambda name=name: GaussSeidelSolver(1e-9, 3000, diagsolver=name) for name in DiagonalSolver.__members__},
    **{f"AUTO, {method.name}": lambda method=method: AutoSolver(1e-7, 20000, method=method) for method in Method},
    "ANDERSON": accelerated,
    "GMRES": lambda: NewtonSolver(1e-9, 2000, gsflag=False),
    "DIAG": lambda: NewtonSolver(1e-9, 2000, linver="DIAG", gsflag=False),
    **{f"SICONOS, {name}": lambda name=name: SiconosSolver(1e-7, 20000, solver=name) for name in ("NSGS", "NSN_AC", "ADMM")},
}


def solved(name) -> Scene:
    if "SICONOS" in name and not siconos_process.is_installed():
        pytest.skip(siconos_library.MISSING)
    scene = wall(3)
    scene.advance(SOLVERS[name]())
    return scene


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_carries_the_pile(name):
    scene = solved(name)
    assert scene.report.status == "OK" and scene.report.merit <= 1e-8 and scene.report.residual <= 1e-4
    floor = scene.constraints.view("slave") == 0
    assert scene.constraints.view("R")[2, floor].sum() == pytest.approx(WEIGHT, rel=1e-4)
    assert 0.5 * (scene.linear**2).sum() < 1e-6 * 27 * 0.5 * (9.81 * scene.step) ** 2


@pytest.mark.parametrize("diagsolver", DiagonalSolver.__members__)
@pytest.mark.parametrize(
    ("restitution", "cohesion", "normal_v", "reaction", "velocity"),
    [(0.5, 0.0, -1.0, 1.5, 0.5), (0.0, 1.0, 0.5, -0.5, 0.0), (0.0, 1.0, 2.0, -1.0, 1.0)],
    ids=["restitution", "cohesion holds", "cohesion breaks"],
)
def test_all_block_solvers_know_restitution_and_cohesion(diagsolver, restitution, cohesion, normal_v, reaction, velocity):
    scene = Scene(1.0)  # unit mass and step: W = I
    material = scene.material(friction=0.5, restitution=restitution, cohesion=cohesion)
    ball = scene.body(velocity=(0, 0, normal_v))
    row = scene.contact(ball, scene.obstacle(), material=material, cohesion=cohesion)
    scene.advance(GaussSeidelSolver(1e-12, 100, diagsolver=diagsolver))
    assert scene.reaction(row)[2] == pytest.approx(reaction, abs=1e-9)
    assert scene.constraints.U[2, row] == pytest.approx(velocity, abs=1e-9)


@pytest.mark.parametrize(("variant", "reaction", "velocity"), [("IMPLICIT", 0.975610, -0.0902439), ("EXPLICIT", 1.0, -0.09)])
def test_penalty_leaves_the_velocity_of_its_own_force(variant, reaction, velocity):
    scene = Scene(0.01)
    material = scene.material(friction=0.0, spring=1000.0)
    ball = scene.body(velocity=(0, 0, -0.1))
    row = scene.contact(ball, scene.obstacle(), material=material, gap=-0.001)
    scene.advance(PenaltySolver(variant))
    assert scene.reaction(row)[2] == pytest.approx(reaction, rel=2e-6)
    assert (scene.constraints.U[2, row], scene.linear[2, ball]) == pytest.approx((velocity, velocity), rel=2e-6)


def test_velocities_do_not_depend_on_the_solver():
    reference = wall(3)
    random = np.random.default_rng(2)
    push = 0.2 * random.standard_normal(reference.linear[:, 1:].shape)
    found = {}
    for name in ("SEMISMOOTH_NEWTON", "AUTO, AUTO", "AUTO, ADMM", "AUTO, ANDERSON", "GMRES"):
        scene = wall(3)
        scene.linear[:, 1:] += push
        scene.advance(SOLVERS[name]())
        assert scene.report.status == "OK", name
        found[name] = scene.linear.copy()
    for name, linear in found.items():
        np.testing.assert_allclose(linear, found["SEMISMOOTH_NEWTON"], atol=2e-5, err_msg=name)
