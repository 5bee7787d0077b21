"""FORCE on finite elements in all its forms: power, convected directions, callbacks; disable_rotation of every kind."""

import numpy as np
import pytest
from unit_cube import CUBE

from solfec import BODY, BULK_MATERIAL, FORCE, GAUSS_SEIDEL_SOLVER, HEX, INITIAL_VELOCITY, RUN, SOLFEC, TIME_SERIES, VELOCITY
from solfec.errors import SolfecWarning

pytestmark = pytest.mark.usefixtures("fresh_session")



def model_of(tmp_path, analysis="DYNAMIC", step=1e-3):
    model = SOLFEC(analysis, step, str(tmp_path / "out"))
    model.verbose = "OFF"
    return model, BULK_MATERIAL(model, young=1e7, poisson=0.3, density=1e3)


def power(body, time=0.0):
    """Power of all loads on a body in its present state."""
    domain = body._simulation.domain
    domain.bodies.triples.view("force")[:] = 0.0
    domain.loads.apply(domain.bodies, time, 1e-3)
    part = domain.bodies.velo_slice(domain.body_row(body.id))
    return (domain.bodies.triples.force[:, part] * domain.bodies.triples.velo[:, part]).sum()


@pytest.mark.parametrize("form", ["TL", "BC"])
@pytest.mark.parametrize("kind", ["SPATIAL", "CONVECTED"])
def test_the_power_of_a_force_is_that_of_its_point(tmp_path, form, kind):
    model, bulk = model_of(tmp_path)
    body = BODY(model, "FINITE_ELEMENT", HEX(CUBE, 2, 2, 2, 1, [1] * 6), bulk, form=form)
    gradient = np.eye(3) + 0.2 * np.random.default_rng(0).normal(size=(3, 3))
    nodes = np.array([body.mesh.node(n) for n in range(body.mesh.nnod)])
    body.conf = (nodes @ (gradient - np.eye(3)).T).ravel().tolist()
    body.velo = np.random.default_rng(1).normal(size=len(body.velo)).tolist()
    point, direction = (0.3, 0.6, 0.9), np.array((0.6, 0.0, 0.8))
    FORCE(body, kind, point, tuple(direction), TIME_SERIES([0, 0, 1, 10]))
    force = 5.0 * (gradient @ direction if kind == "CONVECTED" else direction)
    assert power(body, 0.5) == pytest.approx(force @ VELOCITY(body, point), rel=1e-12)


def test_callbacks_give_the_force_on_every_node(tmp_path):
    model, bulk = model_of(tmp_path)
    body = BODY(model, "FINITE_ELEMENT", HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk)
    INITIAL_VELOCITY(body, (1, 0, 0), (0, 0, 0))
    seen = []

    def drag(factor, name, q, u, t, h):
        seen.append((name, len(q), len(u), t, h))
        return [-factor * v for v in u]

    FORCE(body, "SPATIAL", (0, 0, 0), (1, 0, 0), drag, (2.0, "drag"))
    assert power(body) == pytest.approx(-2.0 * 8)
    RUN(model, GAUSS_SEIDEL_SOLVER(1e-6, 10), 1e-3)
    assert seen[1][:3] == ("drag", 24, 24) and seen[1][3] == pytest.approx(0.5 * seen[1][4])


@pytest.mark.parametrize("analysis", ["DYNAMIC", "QUASI_STATIC"])
def test_rotation_is_held_where_it_can_be(tmp_path, analysis):
    """Case 8: an eccentric force moves the body without turning it; of deformable bodies a warning says that nothing is held."""
    model, bulk = model_of(tmp_path, analysis, 0.01)
    body = BODY(model, "RIGID", HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk)
    body.disable_rotation = "ON"
    FORCE(body, "SPATIAL", (1, 1, 1), (1, 0, 0), 1e3)
    obstacle = BODY(model, "OBSTACLE", HEX([x + 5 for x in CUBE], 1, 1, 1, 1, [1] * 6), bulk)
    obstacle.disable_rotation = "ON"
    INITIAL_VELOCITY(obstacle, (0, 0, 1), (0, 2, 0))
    RUN(model, GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.1)
    for held in (body, obstacle):
        assert held.conf[:9] == (1, 0, 0, 0, 1, 0, 0, 0, 1) and held.velo[:3] == (0, 0, 0)
    assert obstacle.conf[11] == pytest.approx(5.5 + 0.1)
    assert body.conf[9] == pytest.approx(0.5 + (0.5 * 0.1**2 if analysis == "DYNAMIC" else 10 * 0.01**2))
    for kind in ("PSEUDO_RIGID", "FINITE_ELEMENT"):
        soft = BODY(model, kind, HEX([x - 5 for x in CUBE], 1, 1, 1, 1, [1] * 6), bulk)
        with pytest.warns(SolfecWarning, match="is for rigid bodies"):
            soft.disable_rotation = "ON"
