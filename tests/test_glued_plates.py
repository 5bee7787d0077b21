"""The strength of glued plates is the same for every solver and contact option, although reactions in patches of four points are not unique."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.domain import Domain
from solfec.shapes.hull import hull
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver

SIDE, THICKNESS, COHESION, FRICTION = 0.2, 0.02, 1000.0, 0.5
STRENGTH = COHESION * SIDE**2  # 40 N in tension, 20 N in shear
SOLVERS = {
    "auto": AutoSolver,
    "sweeps": lambda: GaussSeidelSolver(1e-6, 1000),
    "gradient": lambda: GaussSeidelSolver(1e-6, 1000, diagsolver="PROJECTED_GRADIENT"),
    "newton": NewtonSolver,
}
OPTIONS = pytest.mark.parametrize(("margin", "patch", "gap_aware"), list(itertools.product((0.0, 1e-3), (False, True), (0.0, 1e-3))))
MAKERS = pytest.mark.parametrize("make", SOLVERS.values(), ids=list(SOLVERS))


def box(lower, upper):
    x, y, z = zip(lower, upper, strict=True)
    return hull([(a, b, c) for c in z for b in y for a in x], 1, 1)


def plate(margin, patch, gap_aware, gap=0.0) -> tuple[Domain, int]:
    """A plate of 0.8 kg on the ground, to which it is glued."""
    domain = Domain(1e-3)
    materials, bulk = domain.surface_materials, BulkMaterial(density=1000.0, young=1e9, poisson=0.25)
    materials.friction[0], materials.cohesion[0], materials.gap_aware[0] = FRICTION, COHESION, gap_aware
    domain.settings.margin, domain.settings.patch = max(margin, gap_aware), patch
    domain.insert_body(BodyKind.OBSTACLE, [box((-5, -5, -1), (5, 5, -gap))], bulk)
    half = 0.5 * SIDE
    return domain, domain.insert_body(BodyKind.RIGID, [box((-half, -half, 0.0), (half, half, THICKNESS))], bulk)


def holds(make, domain, body, steps=30, moved=2e-5) -> bool:  # a loose plate would be 2E-4 away
    """Whether the plate stays where it is."""
    solver = make()
    before = domain.states.conf(body).copy()
    for _ in range(steps):
        domain.advance(solver)
    return abs(domain.states.conf(body) - before).max() < moved


@MAKERS
@OPTIONS
@pytest.mark.parametrize(
    ("direction", "force"),
    [((0, 0, 1), 38.0), ((0, 0, 1), 20.0), ((1, 0, 0), 19.8), ((0.6, 0.8, 0.0), 19.8), ((0, 0, -1), 500.0)],
    ids=["tension", "half tension", "shear", "oblique shear", "pressure"],
)
def test_glue_holds_below_its_strength(make, margin, patch, gap_aware, direction, force):
    domain, body = plate(margin, patch, gap_aware)
    z = THICKNESS / 2 if direction[2] else 0.0  # shear in the plane of the joint
    domain.loads.add_force(domain.body_row(body), "SPATIAL", (0, 0, z), direction, force)
    assert holds(make, domain, body)
    assert (domain.constraints.view("cohesion")[-domain.constraints.contact_count :] == COHESION).all()


@MAKERS
@OPTIONS
@pytest.mark.parametrize(
    ("direction", "force"), [((0, 0, 1), 42.0), ((0, 0, 1), 40.4), ((1, 0, 0), 21.0), ((0.6, 0.8, 0.0), 20.2)],
    ids=["tension", "a little tension", "shear", "a little oblique shear"],
)  # fmt: skip
def test_glue_breaks_above_its_strength(make, margin, patch, gap_aware, direction, force):
    domain, body = plate(margin, patch, gap_aware)
    z = THICKNESS / 2 if direction[2] else 0.0
    domain.loads.add_force(domain.body_row(body), "SPATIAL", (0, 0, z), direction, force)
    assert not holds(make, domain, body)
    assert not domain.constraints.view("cohesion").any()


@MAKERS
def test_a_patch_holds_a_torque_and_gives_way_to_a_larger_one(make):
    """Four points of 5 N in shear, 0.141 m off the axis: 2.83 N m."""
    limit = FRICTION * STRENGTH * SIDE / np.sqrt(2)
    for share, expected in ((0.95, True), (1.05, False)):
        domain, body = plate(1e-3, True, 0.0)
        domain.loads.add_torque(domain.body_row(body), "SPATIAL", (0, 0, 1), share * limit)
        assert holds(make, domain, body) == expected


@MAKERS
def test_a_patch_peels_from_the_edge_that_is_pulled(make):
    """A pull above an edge: the two points below it carry all of the moment, and break first."""
    domain, body = plate(1e-3, True, 0.0)
    domain.loads.add_force(domain.body_row(body), "SPATIAL", (SIDE / 2, 0, THICKNESS), (0, 0, 1), 0.55 * STRENGTH)
    solver = make()
    for _ in range(3):
        domain.advance(solver)
    cohesion, point = domain.constraints.view("cohesion"), domain.constraints.view("point")
    assert not cohesion[point[0] > 0].any()
    for _ in range(100):
        domain.advance(solver)
    assert domain.bodies.triples.velo[2, -1] != 0.0 or domain.states.conf(body)[11] > THICKNESS / 2 + 1e-3


@MAKERS
@pytest.mark.parametrize("gap", [1e-15, 1e-7, 1e-4])
def test_only_bodies_that_touch_at_the_start_are_glued(make, gap):
    domain, body = plate(1e-3, True, 0.0, gap)
    domain.loads.add_force(domain.body_row(body), "SPATIAL", (0, 0, THICKNESS / 2), (0, 0, 1), 20.0)
    assert holds(make, domain, body) == (gap <= domain.epsilon)
