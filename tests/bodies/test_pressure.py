"""PRESSURE and TORQUE: resultants, power on moving surfaces, dead loads on finite elements, Lame's cylinder."""

import numpy as np
import pytest
from body_models import Model
from unit_cube import CUBE

import solfec as s


@pytest.fixture
def solfec(new_model):
    """`solfec(analysis, step)` makes a silent SOLFEC object in a session of its own."""
    return new_model


def warped_block(seed=1):
    nodes = np.reshape(CUBE, (8, 3)) + 0.1 * np.random.default_rng(seed).uniform(-1, 1, (8, 3))
    return nodes.ravel().tolist()


def forces(model, body, time=0.0, step=1e-3):
    """Generalised force (n, 3) of the loads at the present configuration."""
    domain = model._simulation.domain
    domain.bodies.triples.view("force")[:] = 0.0
    domain.loads.apply(domain.bodies, time, step)
    return domain.bodies.triples.force[:, domain.bodies.velo_slice(domain.body_row(body.id))].T.copy()


def triangles(mesh, surface, move):
    """Area vectors and centroids of the moved triangles of a surface of a one-element mesh."""
    topology = mesh._content.topology
    faces = topology.face_nodes[topology.boundary & (topology.face_surface == surface)]
    corners = mesh._content.nodes[np.concatenate((faces[:, :3], faces[:, [0, 2, 3]]))]
    moved = move(corners.reshape(-1, 3)).reshape(-1, 3, 3)
    area = 0.5 * np.cross(moved[:, 1] - moved[:, 0], moved[:, 2] - moved[:, 0])
    return area, corners.mean(1)


@pytest.mark.parametrize("kind", ["RIGID", "PSEUDO_RIGID"])
def test_the_power_of_a_pressure_is_that_of_the_present_surface(solfec, kind):
    model = solfec()
    body = s.BODY(model, kind, s.HEX(warped_block(), 1, 1, 1, 1, [1, 2, 3, 4, 5, 6]), s.BULK_MATERIAL(model))
    mesh = body.mesh
    if kind == "RIGID":
        s.BODY_CHARS(body, 2.0, 1.0, (0.3, 0.6, 0.1), (1, 0, 0, 0, 1, 0, 0, 0, 1))  # the mass centre is no centroid
    s.PRESSURE(body, 3, -7.0)
    s.PRESSURE(body, 4, s.TIME_SERIES([0, 0, 2, 4]))
    rng = np.random.default_rng(2)
    if kind == "RIGID":
        gradient, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        gradient *= np.sign(np.linalg.det(gradient))
        body.conf = [*gradient.T.ravel(), 1.0, 2.0, 3.0]
        body.velo = rng.normal(size=6).tolist()
        rate = gradient @ np.cross(np.eye(3), body.velo[:3])  # R ^W
    else:
        gradient = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
        body.conf = [*gradient.ravel(), 1.0, 2.0, 3.0]
        body.velo = rng.normal(size=12).tolist()
        rate = np.reshape(body.velo[:9], (3, 3))
    centre = np.array(body.center)
    found = (forces(model, body, time=0.5) * np.reshape(body.velo, (-1, 3))).sum()
    expected = 0.0
    for surface, value in ((3, -7.0), (4, 1.0)):
        area, at = triangles(mesh, surface, lambda x: 1.0 + np.arange(3) + (x - centre) @ gradient.T)
        velocity = np.array(body.velo[-3:]) + (at - centre) @ rate.T
        expected += value * (area * velocity).sum()
    assert found == pytest.approx(expected, rel=1e-12)


def test_pressure_on_finite_elements_is_a_dead_load_of_value_times_area(solfec):
    model = solfec()
    body = s.BODY(model, "FINITE_ELEMENT", s.HEX(CUBE, 2, 3, 2, 1, [1, 2, 3, 4, 5, 6]), s.BULK_MATERIAL(model))
    s.PRESSURE(body, 6, -2.0)  # the upper face
    before = forces(model, body)
    np.testing.assert_allclose(before.sum(0), (0.0, 0.0, -2.0), atol=1e-15)
    nodes = np.array([body.mesh.node(k) for k in range(body.mesh.nnod)])
    np.testing.assert_allclose(np.cross(nodes, before).sum(0), np.cross((0.5, 0.5, 1.0), (0, 0, -2.0)), atol=1e-15)
    assert (nodes[before.any(1), 2] == 1.0).all()
    body.conf = np.random.default_rng(0).normal(size=len(body.conf)).tolist()
    assert (forces(model, body) == before).all()


def test_a_pulled_bar_is_longer_by_p_l_over_e(solfec):
    """Case 26: held at one end, dead pressure at the other; (1 + u)(2 u + u**2)/2 E = p for St Venant-Kirchhoff material."""
    model = solfec("QUASI_STATIC", 0.1)
    nodes = [0.1 * x if k % 3 < 2 else x for k, x in enumerate(CUBE)]
    body = s.BODY(model, "FINITE_ELEMENT", s.HEX(nodes, 1, 1, 5, 1, [1, 2, 3, 4, 5, 6]),
                s.BULK_MATERIAL(model, young=1e6, poisson=0.0, density=100))  # fmt: skip
    for x in (0.0, 0.1):
        for y in (0.0, 0.1):
            s.FIX_DIRECTION(body, (x, y, 0.0), (0, 0, 1))
    s.FIX_DIRECTION(body, (0, 0, 0), (1, 0, 0)), s.FIX_DIRECTION(body, (0, 0, 0), (0, 1, 0)), s.FIX_DIRECTION(body, (0.1, 0, 0), (0, 1, 0))
    s.PRESSURE(body, 6, 1e3)
    s.RUN(model, s.AUTO_SOLVER(1e-10), 1.0)
    stretch = 1.0 + s.DISPLACEMENT(body, (0.05, 0.05, 1.0))[2]
    assert stretch - 1.0 == pytest.approx(1e3 / 1e6, rel=2e-3)
    assert stretch * (stretch**2 - 1) / 2 * 1e6 == pytest.approx(1e3, rel=1e-8)
    assert s.STRESS(body, (0.03, 0.07, 0.4))[2] == pytest.approx(1e3, rel=1e-7)


@pytest.mark.parametrize("form", ["TL", "BC"])
def test_a_thick_cylinder_under_pressure_widens_as_lame_says(solfec, form):
    """Case 28, free ends: u(r) = p a**2/(b**2 - a**2)/E ((1 - nu) r + (1 + nu) b**2/r), and its hoop stress."""
    model = solfec("QUASI_STATIC", 0.1)
    tube = s.BODY(model, "FINITE_ELEMENT", s.PIPE((0, 0, 0), (0, 0, 0.1), 1.0, 1.0, 1, 48, 16, 1, [1, 2, 3, 4]),
                s.BULK_MATERIAL(model, young=1e6, poisson=0.3, density=1.0), form=form)  # fmt: skip
    s.PRESSURE(tube, 3, -1.0)  # the inner wall
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 1.0)
    for r in (1.0, 2.0):
        expected = 1.0 / 3.0 / 1e6 * (0.7 * r + 1.3 * 4.0 / r)
        assert np.hypot(*s.DISPLACEMENT(tube, (r, 0, 0.05))[:2]) == pytest.approx(expected, rel=0.01)
    assert s.STRESS(tube, (1.5, 0.0, 0.0))[1] == pytest.approx(1.0 / 3.0 * (1 + 4.0 / 1.5**2), rel=0.02)


@pytest.mark.parametrize("scheme", ["RIG_POS", "RIG_NEG", "RIG_IMP"])
def test_a_torque_about_a_principal_axis_turns_a_body_exactly(solfec, scheme):
    """Case 7."""
    model = solfec(step=1e-2)
    body = s.BODY(model, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), s.BULK_MATERIAL(model))
    s.BODY_CHARS(body, 1, 1, (0, 0, 0), (2, 0, 0, 0, 3, 0, 0, 0, 4))
    body.scheme = scheme
    s.TORQUE(body, "CONVECTED", (0, 0, 1), 3.0) if scheme == "RIG_POS" else s.TORQUE(body, "SPATIAL", (0, 0, 1), 3.0)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.5)
    assert body.velo[2] == pytest.approx(3.0 / 4.0 * 0.5, rel=1e-12)
    assert np.arctan2(body.conf[1], body.conf[0]) == pytest.approx(0.5 * 3.0 / 4.0 * 0.25, rel=1e-9)


def test_surfaces_and_bodies_without_a_mesh_are_refused(solfec):
    model = solfec()
    bulk = s.BULK_MATERIAL(model)
    corners = [tuple(CUBE[k : k + 3]) for k in range(0, 24, 3)]
    ball = s.BODY(model, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), bulk)
    two = s.BODY(model, "RIGID", [s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), s.SPHERE((5, 0, 0), 1, 1, 1)], bulk)
    inside = s.BODY(model, "FINITE_ELEMENT", s.HULL(corners, 1, 1), bulk, mesh=s.HEX(CUBE, 1, 1, 1, 1, [1] * 6))
    for body in (ball, two, inside):
        with pytest.raises(ValueError, match="is not a single mesh"):
            s.PRESSURE(body, 1, 1.0)
    block = s.BODY(model, "FINITE_ELEMENT", s.HEX(CUBE, 1, 1, 1, 1, [1, 1, 2, 2, 3, 3]), bulk)
    with pytest.raises(ValueError, match=r"no outer face of body 4 has the surface identifier 9 \(there are 1, 2, 3\)"):
        s.PRESSURE(block, 9, 1.0)
    with pytest.raises(ValueError, match="obstacle"):
        s.PRESSURE(s.BODY(model, "OBSTACLE", s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk), 1, 1.0)
    with pytest.raises(ValueError, match="can only be applied to bodies of kind 'RIGID'"):
        s.TORQUE(block, "SPATIAL", (0, 0, 1), 1.0)


def test_pressures_of_deleted_bodies_go_with_them():
    model = Model()
    for k in range(3):
        model.rigid(id=k + 1)
    face = np.array([[[0, 0, 0], [2, 0, 0], [0, 1, 0]]], float)
    for k in range(3):
        model.loads.add_pressure(k, face, None, float(k + 1))
    renumbered = model.bodies.remove(np.array([False, True, False]))
    model.loads.remap(renumbered)
    model.bodies.triples.view("force")[:] = 0.0
    model.loads.apply(model.bodies, 0.0, 1.0)
    np.testing.assert_allclose(model.bodies.triples.force[2, [1, 3]], (1.0, 3.0))


def test_stored_settings_bring_pressures_back(solfec):
    from solfec.results import settings
    from solfec.results.functions import Functions

    model = solfec()
    bulk = s.BULK_MATERIAL(model)
    block = s.BODY(model, "FINITE_ELEMENT", s.HEX(CUBE, 2, 2, 2, 1, [1, 2, 3, 4, 5, 6]), bulk)
    rigid = s.BODY(model, "RIGID", s.HEX(warped_block(), 1, 1, 1, 1, [1] * 6), bulk)
    s.PRESSURE(block, 2, s.TIME_SERIES([0, 1, 1, 3])), s.PRESSURE(rigid, 1, -4.0), s.PRESSURE(block, 5, 0.1)
    domain = model._simulation.domain
    before = [forces(model, body, 0.7).tobytes() for body in (block, rigid)]
    mark = settings.fingerprint(domain)
    functions = Functions()
    described = settings.describe(domain, functions)
    s.PRESSURE(block, 1, 5.0)
    assert settings.fingerprint(domain) != mark
    settings.apply(domain, described, functions)
    assert [forces(model, body, 0.7).tobytes() for body in (block, rigid)] == before
