"""Faces that lie flush on one another touch, though rounding puts some of their points above and others below."""

from __future__ import annotations

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.domain import Domain
from solfec.shapes.hull import hull
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver


def box(lower, upper):
    x, y, z = zip(lower, upper, strict=True)
    return hull([(a, b, c) for c in z for b in y for a in x], 1, 1)


def stack(count: int, gap_aware=0.0, shift=0.0) -> Domain:
    """Flush boxes of 0.2 x 0.2 x 0.1 on the ground, the lowest one `shift` above it, with a margin and patches."""
    domain = Domain(1e-3)
    bulk = BulkMaterial(density=1000.0, young=1e9, poisson=0.25)
    domain.surface_materials.friction[0], domain.surface_materials.gap_aware[0] = 0.5, gap_aware
    domain.settings.margin, domain.settings.patch, domain.settings.symmetric = 1e-3, True, True
    domain.loads.set_gravity((0, 0, -9.81))
    domain.insert_body(BodyKind.OBSTACLE, [box((-5, -5, -1), (5, 5, 0))], bulk)
    for k in range(count):
        domain.insert_body(BodyKind.RIGID, [box((-0.1, -0.1, 0.1 * k + shift), (0.1, 0.1, 0.1 * k + 0.1 + shift))], bulk)
    return domain


SOLVERS = {"auto": lambda: AutoSolver(1e-8), "newton": lambda: NewtonSolver(1e-12), "sweeps": lambda: GaussSeidelSolver(1e-7, 20000)}


@pytest.mark.parametrize("make", SOLVERS.values(), ids=list(SOLVERS))
@pytest.mark.parametrize("gap_aware", [0.0, 1e-3])
def test_flush_boxes_rest_from_the_first_step(make, gap_aware):
    domain = stack(8, gap_aware)
    solver, above = make(), 0
    for _ in range(10):
        domain.advance(solver)
        above += (domain.constraints.view("gap") > 0.0).sum()
        assert abs(domain.bodies.triples.velo[:, : domain.bodies.triples.n]).max() < 1e-5
    assert above > 0  # rounding was there


def test_a_gap_beyond_epsilon_is_one():
    for gap, falls in ((0.5e-6, False), (2e-6, True)):
        domain = stack(1, shift=gap)
        domain.advance(AutoSolver())
        assert (domain.bodies.triples.velo[2, 3] < -0.5 * 9.81e-3) == falls
        assert domain.constraints.view("R")[2].any() != falls


def test_a_larger_epsilon_closes_more():
    domain = stack(1, shift=5e-5)
    domain.epsilon = 1e-4
    domain.advance(AutoSolver())
    assert np.abs(domain.bodies.triples.velo[2, 3]) < 1e-9
