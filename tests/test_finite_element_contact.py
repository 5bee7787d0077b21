"""Finite element bodies in contact: with each other, with rigid bodies and spheres, fixed at points."""

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.errors import SolfecError
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.mesh import Mesh
from solfec.shapes.sphere import Sphere
from solfec.solvers.gauss_seidel import GaussSeidelSolver

BOX = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float)
SOFT = BulkMaterial(young=1e7, poisson=0.3, density=1e3)


def cube(low, size=1.0, cells=2):
    return hex_mesh((BOX * size + low).tolist(), cells, cells, cells, 1, [1] * 6)


def stack(forms, scheme):
    """A deformable cube on the ground for every form, a rigid block and a ball on top of the last."""
    domain = Domain(2e-4)
    domain.insert_body(BodyKind.OBSTACLE, [cube((-1, -1, -3), 3.0, 1)], SOFT)
    for k, form in enumerate(forms):
        domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0.02 * k, 0.02 * k, k))], SOFT, form=form)
    height = len(forms)
    domain.insert_body(BodyKind.RIGID, [cube((0.1, 0.1, height), 0.4, 1)], SOFT)
    domain.insert_body(BodyKind.RIGID, [Sphere(np.array((0.75, 0.77, height + 0.2)), 0.2)], SOFT)
    domain.bodies.scheme[1 : 1 + len(forms)] = scheme
    domain.bodies.damping[1 : 1 + len(forms)] = 2e-4
    domain.loads.set_gravity((0.0, 0.0, -9.81))
    domain.surface_materials.friction[0] = 0.4
    return domain


@pytest.mark.parametrize("scheme", [Scheme.DEF_EXP, Scheme.DEF_LIM])
def test_contacts_carry_a_stack_whose_impulse_balances(scheme):
    """The momentum after n steps is that of gravity less what the ground took up."""
    domain = stack((Form.TL, Form.BC), scheme)
    bodies, ground, steps, elapsed = domain.bodies, 0.0, 100, 0.0
    for _ in range(steps):
        domain.advance(GaussSeidelSolver(1e-10, 2000))
        elapsed += domain.step
        constraints = domain.constraints
        on_ground = (constraints.view("master") == 0) | (constraints.view("slave") == 0)
        upward = (constraints.view("base")[2] * constraints.view("R")).sum(0)  # on the master
        ground += domain.step * np.where(constraints.view("master") == 0, -upward, upward)[on_ground].sum()
    fe = bodies.finite_elements
    momentum = (fe.mass * bodies.triples.velo[2, fe.velo_row]).sum()
    for row in range(3, 5):
        momentum += bodies.mass[row] * bodies.triples.velo[2, bodies.velo_slice(row)][-1]
    weight = bodies.mass[1:5].sum() * 9.81
    assert momentum == pytest.approx(ground - weight * elapsed, abs=1e-9 * weight)
    assert ground > 0.3 * weight * elapsed
    assert domain.constraints.view("gap").min() > -1e-5


def test_a_fixed_interior_point_stays():
    domain = Domain(1e-4)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0), cells=3)], SOFT, form=Form.TL)
    domain.fix_point(body, (0.5, 0.45, 0.55))
    domain.loads.set_gravity((0.0, 0.0, -9.81))
    for _ in range(100):
        domain.advance(GaussSeidelSolver(1e-12, 1000))
    assert np.abs(domain.displacement(body, (0.5, 0.45, 0.55))).max() < 1e-9
    assert domain.displacement(body, (0.0, 0.0, 0.0))[2] < -1e-5


def test_points_outside_are_named():
    domain = Domain(1e-4)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0))], SOFT, form=Form.TL)
    for command in (domain.fix_point, domain.displacement, domain.stress):
        with pytest.raises(SolfecError, match=r"body 1: the point \(0.5, 0.5, 1.1\) is outside"):
            command(body, (0.5, 0.5, 1.1))
    with pytest.raises(SolfecError, match="outside"):
        domain.loads.add_force(0, "SPATIAL", (2.0, 0.0, 0.0), (0, 0, 1), 1.0)


@pytest.mark.parametrize("form", [Form.TL, Form.BC])
@pytest.mark.parametrize("scheme", [Scheme.DEF_EXP, Scheme.DEF_LIM])
@pytest.mark.parametrize(("cohesion", "holds"), [(6e4, True), (5e3, False)])
def test_cohesion_holds_a_deformable_cube_up_to_its_strength(form, scheme, cohesion, holds):
    """A cube of 9.81 kN hangs on one square metre of cohesive contacts below another: it bobs by the stretch, or falls freely.

    A load that is there at once asks for twice its weight, less what damping takes.
    """
    domain = Domain(2e-4)
    domain.surface_materials.friction[0] = 1.0
    domain.surface_materials.cohesion[0] = cohesion
    upper = domain.insert_body(BodyKind.OBSTACLE, [cube((0, 0, 1), 1.0, 2)], SOFT)
    lower = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0), 1.0, 2)], SOFT, form=form)
    row = domain.body_row(lower)
    domain.bodies.scheme[row], domain.bodies.damping[row] = scheme, 1e-3
    domain.loads.set_gravity((0.0, 0.0, -9.81))
    while domain.time < 0.1:
        domain.advance(GaussSeidelSolver(1e-9, 2000))
    low = domain.displacement(lower, (0.5, 0.5, 0.0))[2]
    pulled = -(domain.constraints.view("base")[2] * domain.constraints.view("R")).sum(0).sum()
    if holds:
        stretch = 1e3 * 9.81 / (2 * 1e7)
        assert -2.5 * stretch < low < -0.5 * stretch
        assert abs(pulled) == pytest.approx(9810, rel=0.25)
        assert domain.constraints.contact_count
    else:
        assert low == pytest.approx(-0.5 * 9.81 * domain.time**2, rel=0.1)
        assert not domain.constraints.contact_count
    assert domain.displacement(upper, (0.5, 0.5, 1.5))[2] == 0.0


@pytest.mark.parametrize(("selfcontact", "apart"), [(1, True), (0, False)])
def test_arms_of_one_deformable_body_stop_each_other_where_selfcontact_is_on(selfcontact, apart):
    """A clamp of hexahedra, held at its back; forces close the arms, a tenth apart, with more than they can bear alone."""
    cells = []
    nodes = {}

    def number(point):
        return nodes.setdefault(tuple(round(c, 6) for c in point), len(nodes))

    for x in range(5):
        for z in range(3):
            if z == 1 and x > 0:
                continue  # the slot
            low, high = (0.0, 0.2, 0.3)[z], (0.2, 0.3, 0.5)[z]
            ring = [(0.2 * (x + i), 0.2 * j) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
            cells += [8, *(number((a, b, low)) for a, b in ring), *(number((a, b, high)) for a, b in ring), 0]
    mesh = Mesh.from_records(np.array(list(nodes), float).ravel(), cells)
    domain = Domain(1e-3)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], SOFT, form=Form.TL)
    row = domain.body_row(body)
    domain.bodies.scheme[row], domain.bodies.damping[row], domain.bodies.selfcontact[row] = Scheme.DEF_LIM, 5e-3, selfcontact
    for y in (0.0, 0.2):
        for z in (0.0, 0.5):
            domain.fix_point(body, (0.0, y, z))
    for y in (0.0, 0.2):
        domain.loads.add_force(row, "SPATIAL", (1.0, y, 0.5), (0, 0, -1), 2e3)
        domain.loads.add_force(row, "SPATIAL", (1.0, y, 0.0), (0, 0, 1), 2e3)
    for _ in range(150):
        domain.advance(GaussSeidelSolver(1e-6, 1000))
    up, down = (domain.displacement(body, (1.0, 0.1, z))[2] for z in (0.3, 0.2))
    gap = 0.1 + up - down
    assert (gap > -0.01) == apart
    assert bool(domain.constraints.contact_count) == apart
    assert up == pytest.approx(-down, rel=0.1)  # the normal is that of one of the tilted arms
