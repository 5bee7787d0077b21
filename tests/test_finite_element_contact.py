"""Finite element bodies in contact: with each other, with rigid bodies and spheres, fixed at points."""

import numpy as np
import pytest
from unit_cube import cube

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.errors import SolfecError
from solfec.shapes.mesh import Mesh
from solfec.shapes.sphere import Sphere
from solfec.solvers.gauss_seidel import GaussSeidelSolver

SOFT = BulkMaterial(young=1e7, poisson=0.3, density=1e3)


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
    sag = -domain.points.displacement(3, (0.5, 0.5, 2.0))[2]  # of the second cube's top
    assert domain.constraints.view("gap").min() > -0.01 * sag  # one point holds a quarter of a face, which tilts by the sag's slope


def test_steps_with_contacts_solve_free_velocities_with_the_factor_of_their_local_dynamics():
    """A cube of form 'TL' that stands on the ground needs one factor a step for W; no conjugate gradients come before it."""
    domain = stack((Form.TL,), Scheme.DEF_LIM)
    solver = GaussSeidelSolver(1e-10, 2000)
    for _ in range(5):
        domain.advance(solver)
    (elements,) = domain.bodies.finite_elements.implicit.elements
    made = elements.factorisations
    for _ in range(5):
        domain.advance(solver)
        assert domain.constraints.contact_count >= 4
        assert elements.products == 0
    assert elements.factorisations == made + 5


def test_a_fixed_interior_point_stays():
    domain = Domain(1e-4)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0), cells=3)], SOFT, form=Form.TL)
    domain.joints.fix_point(body, (0.5, 0.45, 0.55))
    domain.loads.set_gravity((0.0, 0.0, -9.81))
    for _ in range(100):
        domain.advance(GaussSeidelSolver(1e-12, 1000))
    assert np.abs(domain.points.displacement(body, (0.5, 0.45, 0.55))).max() < 1e-9
    assert domain.points.displacement(body, (0.0, 0.0, 0.0))[2] < -1e-5


def test_points_outside_are_named():
    domain = Domain(1e-4)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0))], SOFT, form=Form.TL)
    for command in (domain.joints.fix_point, domain.points.displacement, domain.points.stress):
        with pytest.raises(SolfecError, match=r"body 1: the point \(0.5, 0.5, 1.1\) is outside"):
            command(body, (0.5, 0.5, 1.1))
    with pytest.raises(SolfecError, match="outside"):
        domain.loads.add_force(0, "SPATIAL", (2.0, 0.0, 0.0), (0, 0, 1), 1.0)


def hanging(form, scheme, cohesion):
    """A cube of 9.81 kN, let go below another that it sticks to by one square metre, friction 1: its fall, contacts that are left, and
    the greatest (|R_T| - R_N) / area of a contact, and mean of -R_N, while it hung."""
    domain = Domain(2e-4)
    domain.surface_materials.friction[0] = 1.0
    domain.surface_materials.cohesion[0] = cohesion
    domain.insert_body(BodyKind.OBSTACLE, [cube((0, 0, 1), 1.0, 2)], SOFT)
    lower = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0), 1.0, 2)], SOFT, form=form)
    row = domain.body_row(lower)
    domain.bodies.scheme[row], domain.bodies.damping[row] = scheme, 1e-3
    domain.loads.set_gravity((0.0, 0.0, -9.81))
    strain, pull = 0.0, 0.0
    while domain.time < 0.05:
        domain.advance(GaussSeidelSolver(1e-9, 2000))
        if domain.constraints.contact_count:
            reaction, area = domain.constraints.view("R"), domain.constraints.view("area")
            strain = max(strain, ((np.hypot(*reaction[:2]) - reaction[2]) / area).max())
            pull = max(pull, -reaction[2].sum())
    fall = domain.points.displacement(lower, (0.5, 0.5, 0.0))[2]
    return fall, domain.constraints.contact_count, strain, pull, domain.time


@pytest.mark.parametrize("form", [Form.TL, Form.BC])
@pytest.mark.parametrize("scheme", [Scheme.DEF_EXP, Scheme.DEF_LIM])
def test_cohesion_holds_a_deformable_cube_up_to_its_strength(form, scheme):
    """Contacts break where friction can hold no more, |R_T| > mu (R_N + c A): one per cent on either side of what they bear."""
    fall, contacts, strain, pull, _ = hanging(form, scheme, 1e9)
    assert contacts == 4
    assert 9810 < pull < 2 * 9810  # a load that is there at once asks for twice its weight, less what damping takes
    stretch = 1e3 * 9.81 / (2 * 1e7)
    assert -2 * stretch < fall < 0
    assert hanging(form, scheme, 1.01 * strain)[:2] == (pytest.approx(fall, rel=1e-9), 4)
    fall, contacts, _, _, time = hanging(form, scheme, 0.99 * strain)
    assert contacts == 0
    assert -0.5 * 9.81 * time**2 < fall < -5 * stretch
    assert hanging(form, scheme, 5e3)[0] == pytest.approx(-0.5 * 9.81 * time**2, rel=0.12)  # half its weight holds for an instant


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
            domain.joints.fix_point(body, (0.0, y, z))
    for y in (0.0, 0.2):
        domain.loads.add_force(row, "SPATIAL", (1.0, y, 0.5), (0, 0, -1), 2e3)
        domain.loads.add_force(row, "SPATIAL", (1.0, y, 0.0), (0, 0, 1), 2e3)
    for _ in range(150):
        domain.advance(GaussSeidelSolver(1e-6, 1000))
    up, down = (domain.points.displacement(body, (1.0, 0.1, z))[2] for z in (0.3, 0.2))
    gap = 0.1 + up - down
    assert (gap > -0.01) == apart
    assert bool(domain.constraints.contact_count) == apart
    if not apart:
        assert up == pytest.approx(-down, rel=1e-6)
        return
    # the normal is that of one of the tilted arms, which bend: what is across it differs by their slope where they touch, a little more than on average
    slope = max(abs(domain.points.displacement(body, (1.0, 0.1, z))[2] - domain.points.displacement(body, (0.8, 0.1, z))[2]) for z in (0.2, 0.3)) / 0.2
    assert slope < 0.15
    assert up == pytest.approx(-down, rel=1.1 * slope)
