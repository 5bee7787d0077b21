"""Results of finite element bodies: restarts with equal bits, rebuilt bodies, histories of points."""

import numpy as np
import pytest
from unit_cube import assert_goes_on, cube

from solfec.bodies.materials import BulkMaterial, Law
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.results import ResultsReader, ResultsWriter
from solfec.solvers.gauss_seidel import GaussSeidelSolver


def model():
    """A hanging and a resting deformable cube, explicit and implicit, of either form."""
    domain = Domain(1e-4)
    soft = BulkMaterial(young=1e7, poisson=0.3, density=1e3)
    domain.insert_body(BodyKind.OBSTACLE, [cube((-1, -1, -3), 3.0, 1)], soft)
    domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0))], soft, form=Form.BC)
    domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0.1, 0.1, 1))], soft, form=Form.TL)
    hung = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((4, 0, 0))], soft, form=Form.TL)
    domain.bodies.scheme[1] = Scheme.DEF_LIM
    domain.bodies.scheme[3] = Scheme.DEF_LIM
    domain.joints.fix_point(hung, (4.2, 0.3, 1.0))
    domain.loads.set_gravity((0.0, 1.0, -9.81))
    return domain


def run(domain, steps):
    for _ in range(steps):
        domain.advance(GaussSeidelSolver(1e-8, 500))


@pytest.mark.parametrize("empty", [False, True])
def test_restart_goes_on_with_equal_bits(tmp_path, empty):
    """Also into a domain without bodies, which are rebuilt from the file."""
    again = Domain(1e-4) if empty else model()
    again.loads.set_gravity((0.0, 1.0, -9.81))
    assert_goes_on(tmp_path, model(), again, run)


def test_history_of_a_point_is_what_the_domain_says(tmp_path):
    domain, point, places, velocities = model(), (0.3, 0.4, 0.25), [], []
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        for _ in range(4):
            run(domain, 3)
            writer.write_frame(domain)
            places.append(domain.points.displacement(2, point))
            velocities.append(domain.points.velocity(2, point))
    with ResultsReader(tmp_path / "run") as reader:
        _, dz, vy = reader.history([(2, point, "DZ"), (2, point, "VY")], 0.0, 1.0, 1)
    assert np.abs(dz - np.array(places)[:, 2]).max() < 1e-15
    assert np.abs(vy - np.array(velocities)[:, 1]).max() < 1e-15


@pytest.mark.parametrize("point", [(0.3, 0.4, 0.25), (0.5, 0.5, 0.5), (0.0, 0.0, 1.0)], ids=["inside", "inner node", "corner"])
@pytest.mark.parametrize("option", [{}, {"enhanced": 1}, {"law": Law.NEO_HOOKEAN}], ids=["plain", "enhanced", "neo-hookean"])
def test_history_of_stress_is_what_the_domain_says(tmp_path, point, option):
    domain, stresses = model(), []
    for name, value in option.items():
        getattr(domain.bodies, name)[1] = value
    soft = domain.insert_body(BodyKind.PSEUDO_RIGID, [cube((8, 0, 0))], BulkMaterial(young=1e7, poisson=0.3, density=1000.0))
    domain.states.set_conf(soft, (1.1, 0.1, 0, 0, 0.9, 0.2, 0, 0, 1.05, 8.5, 0.5, 0.5))
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        for _ in range(3):
            run(domain, 3)
            writer.write_frame(domain)
            stresses.append(np.stack([domain.points.stress(body, point) for body in (2, soft, 1)]))
    names = ["SX", "SY", "SZ", "SXY", "SXZ", "SYZ", "MISES"]
    with ResultsReader(tmp_path / "run") as reader:
        values = reader.history([(body, point, name) for body in (2, soft, 1) for name in names])[1:]
    expected = np.array(stresses).reshape(3, 21).T
    assert np.abs(expected[:14]).max(axis=1).min() > 0 and (expected[14:] == 0).all()
    assert np.allclose(values, expected, rtol=1e-9, atol=1e-6)
