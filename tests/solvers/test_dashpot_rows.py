"""SPRING_DASHPOT contacts in AUTO_SOLVER: contacts that yield, solved with all others."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import Scene, wall

from solfec.constraints.table import SurfaceModel
from solfec.solvers.auto import AutoSolver
from solfec.solvers.contact_problem import Method
from solfec.solvers.gauss_seidel import GaussSeidelSolver


@pytest.mark.parametrize(
    ("dashpot", "power", "reaction", "velocity"),
    [(0.0, 1.0, 0.975610, -0.0902439), (-1.0, 1.0, 5.461082, None), (0.0, 1.5, 0.0315853, None)],
    ids=["spring", "critical dashpot", "power 3/2"],
)
def test_one_contact_has_the_implicit_force(dashpot, power, reaction, velocity):
    """Unit mass, h = 0.01, s = 1000, gap -0.001, V_N = -0.1: values by hand."""
    scene = Scene(0.01)
    material = scene.material(model=SurfaceModel.SPRING_DASHPOT, spring=1000.0, dashpot=dashpot, hpow=power, friction=0.0)
    row = scene.contact(scene.body(velocity=(0, 0, -0.1)), scene.obstacle(), material=material, gap=-0.001)
    solver = AutoSolver(1e-9)
    scene.advance(solver)
    assert solver.error == "OK" and "GAUSS_SEIDEL" not in solver.methods
    assert scene.reaction(row)[2] == pytest.approx(reaction, rel=1e-6)
    if velocity:
        assert scene.constraints.U[2, row] == pytest.approx(velocity, rel=1e-6)


@pytest.mark.parametrize(("dashpot", "power"), [(0.0, 1.0), (5.0, 1.0), (-1.0, 1.0), (0.0, 1.5)])
@pytest.mark.parametrize("method", [Method.AUTO, Method.NEWTON, Method.ADMM], ids=lambda method: method.name)
def test_pile_of_springs_and_rigid_contacts_agrees_with_sweeps(dashpot, power, method):
    reactions, auto = [], AutoSolver(1e-9, 5000, method=method)
    for solver in (auto, GaussSeidelSolver(1e-13, 20000)):
        scene = wall(3, friction=0.8)
        soft = scene.material(model=SurfaceModel.SPRING_DASHPOT, spring=2e5, dashpot=dashpot, hpow=power, friction=0.8)
        scene.constraints.material[: scene.constraints.n : 2] = soft
        scene.constraints.gap[: scene.constraints.n : 2] = -1e-4
        scene.constraints.gap[4] = 1e-4  # not touching yet
        scene.advance(solver)
        reactions.append(scene.constraints.view("R").copy())
        assert scene.report.status == "OK" and solver.error == "OK"
    assert "GAUSS_SEIDEL" not in auto.methods
    assert np.abs(reactions[1][2, ::2]).max() > 0.1, "springs carry"
    np.testing.assert_allclose(reactions[0][2, ::2], reactions[1][2, ::2], atol=1e-5 * np.abs(reactions[1]).max())


def test_cohesive_springs_are_swept():
    scene = Scene(0.01)
    material = scene.material(model=SurfaceModel.SPRING_DASHPOT, spring=1e5, friction=0.5, cohesion=20.0)
    scene.contact(scene.body(velocity=(0, 0, -0.1)), scene.obstacle(), material=material, gap=-1e-6, area=1.0, cohesion=20.0)
    solver = AutoSolver(1e-9)
    scene.advance(solver)
    assert solver.methods == {"GAUSS_SEIDEL": 1}
