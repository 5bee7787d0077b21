"""Finite element bodies in contact: with each other, with rigid bodies and spheres, fixed at points."""

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.errors import SolfecError
from solfec.shapes.hex_mesh import hex_mesh
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
