"""The merit function and the residual."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import Scene, wall
from reference_rows import assembled, load

from solfec.solvers import merit
from solfec.solvers.gauss_seidel import GaussSeidelSolver


@pytest.mark.parametrize("mass", [0.1, 1.0, 30.0])
def test_an_unresisted_approach_has_unit_merit_whatever_the_mass(mass):
    scene = Scene(0.01)
    scene.contact(scene.body(mass=mass, velocity=(0, 0, -1.0)), scene.obstacle())
    local = scene.assemble()
    local.rows.U[:, 0] = local.rows.B[:, 0]
    value, residual = merit.evaluate(local)
    # free energies are compared with 1 J at least down to the machine epsilon only
    assert value == pytest.approx(1.0)
    assert local.rows.merit[0] == pytest.approx(2.0)
    assert residual == pytest.approx(1.0)


def test_a_prescribed_velocity_not_yet_reached_has_unit_merit():
    scene = Scene(0.01)
    scene.fix("VELODIR", scene.body(), value=[1.0, 0, 0])
    local = scene.assemble()
    value, _ = merit.evaluate(local)
    assert value == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["m01_000", "m02_100", "m08_000", "m12_000", "m13_000"])
def test_merit_of_a_loose_solution_equals_that_of_solfec(name):
    data = load(name)
    report = GaussSeidelSolver(1e-4, 3000, diagepsilon=1e-13).solve(assembled(data))
    assert report.merit == pytest.approx(float(data["merit_LOOSE"]), rel=1e-4)


def test_the_residual_falls_with_the_tolerance_and_ignores_units():
    values = []
    for epsilon in (1e-2, 1e-5, 1e-8):
        scene = wall(3)
        scene.advance(GaussSeidelSolver(epsilon, 10000))
        values.append(scene.report.residual)
    assert values[0] > values[1] > values[2]
    assert values[2] < 1e-6
    heavy = wall(3)
    heavy.bodies.triples.inverse_inertia[:] *= 1e-6
    heavy.advance(GaussSeidelSolver(1e-5, 10000))
    assert heavy.report.residual == pytest.approx(values[1], rel=1e-6)


def test_every_row_gets_its_own_figures():
    scene = wall(2)
    scene.advance(GaussSeidelSolver(1e-3, 1000))
    members = scene.constraints.view("merit")
    assert members.sum() == pytest.approx(2 * scene.report.merit)
    size = np.sqrt((scene.local.rows.B[:, : scene.local.n] ** 2).sum())
    assert np.sqrt((scene.constraints.view("residual") ** 2).sum()) / size == pytest.approx(
        scene.report.residual
    )
