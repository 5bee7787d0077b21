"""The reference of accuracy is neither the motion of driven obstacles, nor an absolute energy, nor zero."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import Scene, wall

from solfec.solvers import merit
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver

SOLVERS = {
    "sweeps": lambda: GaussSeidelSolver(1e-6, 1000),
    "merit": lambda: GaussSeidelSolver(1e-2, 1000, meritval=1e-10),
    "newton": NewtonSolver,
    "auto": AutoSolver,
}  # fmt: skip


def stack_on_a_belt(mass: float, speed: float, height: int = 6) -> Scene:
    """Balls on top of each other, and on an obstacle of some mass that is pushed aside."""
    scene = Scene(1e-3, (0.0, 0.0, -9.81))
    scene.materials.friction[0] = 0.5
    belt = scene.obstacle(mass=mass, centre=(0, 0, -1), inertia=mass)
    balls = [scene.body(centre=(0, 0, k), inertia=0.1) for k in range(height)]
    for direction, value in (((1, 0, 0), speed), ((0, 1, 0), 0.0), ((0, 0, 1), 0.0)):
        scene.fix("VELODIR", belt, normal=direction, value=(value, 0.0, 0.0))
    for k, ball in enumerate(balls):
        scene.contact(ball, balls[k - 1] if k else belt, (0, 0, k - 0.5))
    return scene


@pytest.mark.parametrize("make", SOLVERS.values(), ids=list(SOLVERS))
def test_what_a_driven_obstacle_weighs_does_not_matter(make):
    runs = []
    for mass in (1.0, 1e9):
        scene, solver, iterations = stack_on_a_belt(mass, 3.0), make(), []
        for _ in range(10):
            scene.advance(solver)
            iterations.append(solver.iters)
            assert scene.report.status == "OK"
        runs.append((iterations, scene.constraints.R[:, 3 : scene.constraints.n].copy(), scene.linear[:, 1:].copy()))
    assert runs[0][0] == runs[1][0] and max(runs[0][0]) > 1
    for light, heavy in zip(runs[0][1:], runs[1][1:], strict=True):  # the belt's own speed is met to rounding
        np.testing.assert_allclose(light, heavy, rtol=1e-9, atol=1e-9)
    assert abs(runs[1][2][2]).max() < 1e-4  # nothing sinks


def test_figures_of_bodies_do_not_depend_on_what_drives_an_obstacle():
    figures = []
    for mass in (1.0, 1e9):
        scene = stack_on_a_belt(mass, 0.0)
        scene.predict()
        local = scene.assemble()
        local.velocities(local.rows.U)
        figures.append(merit.evaluate(local))
    assert figures[0] == figures[1]
    contacts = scene.constraints.n - 3
    assert figures[0][1] == pytest.approx(np.linalg.norm(local.rows.residual[:contacts]) / np.linalg.norm(local.rows.B[:, :contacts]))


def test_an_obstacle_that_is_driven_alone_is_driven():
    for make in SOLVERS.values():
        scene = stack_on_a_belt(1e6, 3.0, height=0)
        scene.advance(make())
        assert scene.report.status == "OK"
        assert scene.linear[0, 0] == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("make", SOLVERS.values(), ids=list(SOLVERS))
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3])
def test_small_bodies_are_held_like_large_ones(make, size):
    """A wall of balls in other units: masses go with the cube of their size, steps with its root."""
    scene = wall(2, step=1e-3 * size**0.5, friction=0.3)
    triples = scene.bodies.triples
    for body in range(1, scene.bodies.n):
        triples.inverse_inertia[..., 2 * body] /= size**5
        triples.inverse_inertia[..., 2 * body + 1] /= size**3
    scene.bodies.centre[:] *= size
    for name in ("master_point", "slave_point", "point"):
        getattr(scene.constraints, name)[:] *= size
    for _ in range(5):
        scene.advance(make())
        assert scene.report.status == "OK"
    fallen = scene.step * 9.81
    assert abs(scene.linear[2, 1:]).max() < 1e-3 * fallen
    assert scene.constraints.R[2].max() == pytest.approx(2 * 9.81 * size**3, rel=1e-2)


@pytest.mark.parametrize("make", SOLVERS.values(), ids=list(SOLVERS))
def test_reactions_that_nothing_asks_for_end(make):
    """No gravity, no motion, but reactions of the step before."""
    scene = wall(2, gravity=0.0)
    scene.constraints.R[2, : scene.constraints.n] = 5.0
    scene.advance(make())
    assert scene.report.status == "OK"
    assert abs(scene.linear).max() < 1e-7 and scene.report.residual < 1e-6


def test_merit_without_free_energy_is_zero_where_nothing_is_wrong_and_otherwise_not():
    scene = wall(2, gravity=0.0)
    scene.predict()
    local = scene.assemble()
    local.velocities(local.rows.U)
    assert merit.evaluate(local) == (0.0, 0.0)
    local.rows.R[2, 0] = 1e-9
    local.velocities(local.rows.U)
    assert merit.evaluate(local)[0] > 1.0
