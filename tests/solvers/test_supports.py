"""With SOLFEC.exact_supports, supports of quasi-static steps do not creep, whatever the solver's accuracy."""

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form
from solfec.domain import Domain
from solfec.shapes.mesh import Mesh
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.time_series import TimeSeries


def block(cells, size):
    """A box of hexahedra."""
    axes = [np.linspace(0, s, n + 1) for s, n in zip(size, cells)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(points)).reshape([n + 1 for n in cells])
    a, b = slice(None, -1), slice(1, None)
    corners = [(a, a, a), (b, a, a), (b, b, a), (a, b, a), (a, a, b), (b, a, b), (b, b, b), (a, b, b)]
    elements = np.stack([number[c].ravel() for c in corners], axis=1)
    records = np.concatenate([np.full((len(elements), 1), 8), elements, np.zeros((len(elements), 1), int)], axis=1)
    return Mesh.from_records(points.ravel(), records.ravel().tolist())


@pytest.mark.parametrize("solver", [NewtonSolver(1e-6, 100), GaussSeidelSolver(1e-3, 1000)], ids=["Newton", "Gauss-Seidel"])
def test_a_clamped_beam_keeps_its_place_though_its_solver_is_loose(solver):
    domain = Domain(0.01, epsilon=1e-6, dynamic=False)
    mesh = block((6, 1, 1), (6.0, 1.0, 1.0))
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], BulkMaterial(young=1e9, poisson=0.3, density=1000), form=Form.TL)
    clamped = mesh.nodes[mesh.nodes[:, 0] < 1e-9]
    for node in clamped:
        domain.joints.fix_point(body, node)
    domain.joints.fix_point(body, clamped[0])  # twice: that carries nothing
    for axis in ((1, 0, 0), (0, 1, 0)):
        domain.joints.fix_direction(body, clamped[0], axis)
    domain.loads.add_force(domain.body_row(body), "SPATIAL", (6, 0.5, 0.5), (0, 0, 1), -1e5)
    domain.exact_supports = True
    for _ in range(30):
        domain.advance(solver)
    sag = domain.points.displacement(body, (6, 0.5, 0.5))[2]
    assert sag < -0.01
    for node in clamped:
        assert np.abs(domain.points.displacement(body, node)).max() < 1e-11 * abs(sag)
    assert domain.report.residual < 1e-10


def test_a_driven_end_arrives_where_its_velocity_takes_it():
    domain = Domain(0.01, epsilon=1e-6, dynamic=False)
    mesh = block((3, 1, 1), (3.0, 1.0, 1.0))
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], BulkMaterial(young=1e9, poisson=0.0, density=1000), form=Form.TL)
    for node in mesh.nodes[mesh.nodes[:, 0] < 1e-9]:
        domain.joints.fix_point(body, node)
    for node in mesh.nodes[mesh.nodes[:, 0] > 3 - 1e-9]:
        domain.joints.prescribe_velocity(body, node, (1, 0, 0), 0.1)
    domain.exact_supports = True
    for _ in range(20):
        domain.advance(NewtonSolver(1e-4, 100))
    assert domain.points.displacement(body, (3, 0, 0))[0] == pytest.approx(0.1 * 20 * 0.01, rel=1e-11)
    reactions = domain.constraints.view("R")
    assert abs(reactions).max() > 1e5


def test_supports_creep_as_the_solver_lets_them_unless_asked_for():
    """And the member may be set between steps."""
    places = []
    for held in (False, True):
        domain = Domain(0.01, epsilon=1e-6, dynamic=False)
        mesh = block((6, 1, 1), (6.0, 1.0, 1.0))
        body = domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], BulkMaterial(young=1e9, poisson=0.3, density=1000), form=Form.TL)
        for node in mesh.nodes[mesh.nodes[:, 0] < 1e-9]:
            domain.joints.fix_point(body, node)
        domain.loads.add_force(domain.body_row(body), "SPATIAL", (6, 0.5, 0.5), (0, 0, 1), TimeSeries([0, 1], [0, -1e6]))
        solver = NewtonSolver(1e-6, 100)
        domain.advance(solver)
        before = domain.points.displacement(body, (0, 0, 0)).copy()
        domain.exact_supports = held
        for _ in range(10):
            domain.advance(solver)
        places.append(np.abs(domain.points.displacement(body, (0, 0, 0)) - before).max())
    assert places[0] > 1e-9 and places[1] < 1e-13
