"""Case 10: H of every kind of body is the derivative of its motion, and reactions do the work of what they act on."""

import numpy as np
import pytest
from finite_element_models import ElementModel
from unit_cube import BOX

from solfec.bodies import modal
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.reduced_base import ReducedBase
from solfec.bodies.table import REDUCED_FORMS, BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.shapes.hex_mesh import hex_mesh
from solfec.solvers.gauss_seidel import GaussSeidelSolver

SOFT = BulkMaterial(young=1e6, poisson=0.3, density=1e3)
KINDS = [
    ("RIGID", BodyKind.RIGID, Form.NONE, Scheme.RIG_NEG), ("PSEUDO_RIGID", BodyKind.PSEUDO_RIGID, Form.NONE, Scheme.DEF_EXP),
    ("PSEUDO_RIGID implicit", BodyKind.PSEUDO_RIGID, Form.NONE, Scheme.DEF_LIM),
    ("TL", BodyKind.FINITE_ELEMENT, Form.TL, Scheme.DEF_EXP), ("TL implicit", BodyKind.FINITE_ELEMENT, Form.TL, Scheme.DEF_LIM),
    ("BC", BodyKind.FINITE_ELEMENT, Form.BC, Scheme.DEF_EXP), ("BC implicit", BodyKind.FINITE_ELEMENT, Form.BC, Scheme.DEF_LIM),
    ("BC-MODAL", BodyKind.FINITE_ELEMENT, Form.BC_MODAL, Scheme.DEF_LIM), ("BC-RO", BodyKind.FINITE_ELEMENT, Form.BC_RO, Scheme.DEF_LIM),
]  # fmt: skip
kinds = pytest.mark.parametrize("kind, form, scheme", [case[1:] for case in KINDS], ids=[case[0] for case in KINDS])


def base_of(mesh, form):
    """Twelve modes of a body of this mesh for the reduced forms, else nothing."""
    if form not in REDUCED_FORMS:
        return None
    model = ElementModel()
    model.add(mesh, 1e6, 0.3, 1e3, Form.BC)
    model.initialise()
    values, vectors = modal.lowest_modes(*modal.matrices(model.bodies, 0), 12, mesh.nodes)
    return ReducedBase(values, vectors if form == Form.BC_MODAL else np.linalg.qr(vectors.T)[0].T)


def insert(domain, kind, form, scheme, low=(0, 0, 0)):
    mesh = hex_mesh((BOX + low).tolist(), 2, 2, 2, 1, [1] * 6)
    body = domain.insert_body(kind, [mesh], SOFT, form=form, base=base_of(mesh, form))
    domain.bodies.scheme[domain.body_row(body)] = scheme
    return body


@kinds
def test_velocities_of_points_are_the_derivative_of_their_motion(kind, form, scheme):
    """Free flight of a body that turns and vibrates: central differences of displacements over two small steps."""
    step = 1e-5
    domain, random = Domain(step), np.random.default_rng(1)
    body = insert(domain, kind, form, scheme)
    domain.states.set_velocity(body, (1, 2, 3), (2, -1, 3))
    domain.states.set_velo(body, domain.states.velo(body) + 0.1 * random.normal(size=len(domain.states.velo(body))) * (kind != BodyKind.RIGID))
    solver = GaussSeidelSolver(1e-6, 10)
    for _ in range(300):  # well away from the identity
        domain.advance(solver)
    points = random.uniform(0.1, 0.9, (6, 3))
    places, velocities = [], []
    for _ in range(3):
        places.append([domain.points.displacement(body, point) for point in points])
        velocities.append([domain.points.velocity(body, point) for point in points])
        domain.advance(solver)
    difference = (np.array(places[2]) - places[0]) / (2 * step)
    assert np.abs(velocities[1]).max() > 2.0
    # q(t+h) - q(t-h) = h (u(t-h)/2 + u(t) + u(t+h)/2); and what turns in a step, squared
    mean = 0.25 * np.array(velocities[0]) + 0.5 * np.array(velocities[1]) + 0.25 * np.array(velocities[2])
    assert np.abs(difference - mean).max() < 5e-8


@kinds
def test_reactions_do_the_work_of_the_velocities_they_act_on(kind, form, scheme):
    """r . u(t) of all bodies is the sum of R . V over contacts and joints, whatever H is made of."""
    domain = Domain(1e-4)
    domain.surface_materials.friction[0] = 0.4
    domain.insert_body(BodyKind.OBSTACLE, [hex_mesh((BOX * (6, 6, 1) - (2, 2, 1)).tolist(), 1, 1, 1, 1, [1] * 6)], SOFT)
    lower = insert(domain, kind, form, scheme, (0.0, 0.0, -1e-4))
    upper = insert(domain, kind, form, scheme, (0.2, 0.3, 1 - 3e-4))
    other = domain.insert_body(BodyKind.RIGID, [hex_mesh((BOX + (3, 0, 0.5)).tolist(), 1, 1, 1, 1, [1] * 6)], SOFT)
    domain.joints.rigid_link(lower, other, (0.9, 0.4, 0.6), (3.1, 0.5, 0.9))
    domain.joints.fix_direction(upper, (0.5, 0.6, 1.5), (0.6, 0.0, 0.8))
    domain.joints.prescribe_velocity(other, (3.5, 0.5, 1.2), (0, 1, 0), 0.7)
    for body, spin in ((lower, (0.3, 1.0, -2.0)), (upper, (-1.0, 0.5, 2.0)), (other, (0.0, 3.0, 0.0))):
        domain.states.set_velocity(body, (0.5, -0.4, -1.0), spin)
    domain.advance(GaussSeidelSolver(1e-10, 2000))
    table, bodies = domain.constraints, domain.bodies
    assert table.contact_count >= 2 and (np.abs(table.R[:, : table.n]).max(0) > 0).sum() >= 5
    local = (table.R[:, : table.n] * table.V[:, : table.n]).sum()
    nodal = sum(
        (bodies.triples.reaction[:, part] * bodies.triples.velo_prev[:, part]).sum()
        for part in (bodies.velo_slice(row) for row in range(bodies.n) if bodies.kind[row] != BodyKind.OBSTACLE)
    )
    scale = np.abs(table.R[:, : table.n] * table.V[:, : table.n]).sum()
    assert nodal == pytest.approx(local, abs=1e-12 * scale)
