"""Walls that are knocked apart: AUTO_SOLVER solves every step, and contacts push within their cones."""

from __future__ import annotations

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.contact.manifold import choose
from solfec.domain import Domain
from solfec.shapes.hull import hull
from solfec.shapes.sphere import Sphere
from solfec.solvers.auto import AutoSolver


def box(lower, upper):
    (x0, y0, z0), (x1, y1, z1) = lower, upper
    return hull([(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)], 1, 1)


def hit_wall(friction: float) -> Domain:
    """Return a wall of 28 bricks, four points to a joint, and a ball at 5 m/s that touches it in the middle."""
    model, material = Domain(1e-3), BulkMaterial(density=2000.0)
    choose(model)
    model.surface_materials.friction[0] = friction
    model.loads.set_gravity((0.0, 0.0, -9.81))
    model.insert_body(BodyKind.OBSTACLE, [box((-4, -5, -1), (6, 5, 0))], material)
    for layer, column in np.ndindex(7, 4):
        corner = np.array([0.5 * column + 0.25 * (layer % 2), 0.0, 0.2 * layer])
        model.insert_body(BodyKind.RIGID, [box(corner, corner + [0.5, 0.25, 0.2])], material)
    ball = model.insert_body(BodyKind.RIGID, [Sphere(np.array([1.0, -0.3, 0.9]), 0.3, 1, 1)], material)
    model.states.set_velocity(ball, (0.0, 5.0, 0.0), (0.0, 0.0, 0.0))
    return model


@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_wall_that_a_ball_knocks_apart_is_solved_in_every_step(friction):
    model, solver = hit_wall(friction), AutoSolver(1e-6)
    for _ in range(35):
        model.advance(solver)
        assert solver.error == "OK" and model.report.residual <= 2e-6
        assert solver.iterations["newton"] <= 400, "the search went on far from a solution"
        pull = model.local_dynamics.rows.R[:, : model.local_dynamics.n]
        assert (pull[2] >= 0.0).all() and (np.hypot(pull[0], pull[1]) <= friction * pull[2] + 1e-9).all()
