"""Shapes follow their bodies: vertices, normals, boxes and extents at the present configuration."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import Model, box, mesh_box
from kernel_threads import with_threads

from solfec.bodies.table import BodyKind
from solfec.contact import detection
from solfec.shapes.ellipsoid import Ellipsoid, stretched
from solfec.shapes.sphere import Sphere

QUARTER_TURN = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
GRADIENT = np.array([[1.0, 0.5, 0], [0, 2, 0], [0, 0, 0.5]])


def updated(model):
    detection.update_geometry(model.geometry, model.bodies, model.epsilon)
    return model.geometry


def test_a_rigid_body_turned_about_its_centre_carries_its_vertices_and_normals():
    model = Model(epsilon=1e-3)
    row = model.add(box((0, 0, 0), (2, 1, 1)))
    model.conf(row)[:, :3] = QUARTER_TURN
    model.conf(row)[:, 3] = (4, 5, 6)
    geometry = updated(model)
    reference = geometry.vertices.view("reference")
    expected = QUARTER_TURN @ (reference - np.array([[1], [0.5], [0.5]])) + np.array([[4], [5], [6]])
    assert geometry.vertices.view("current") == pytest.approx(expected, abs=1e-15)
    normals = sorted(map(tuple, np.round(geometry.faces.view("normal").T).astype(int).tolist()))
    assert normals == sorted([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
    assert geometry.primitives.box[:, 0] == pytest.approx([3.5 - 1e-3, 4 - 1e-3, 5.5 - 1e-3, 4.501, 6.001, 6.501])


def test_a_pseudo_rigid_body_carries_its_vertices_by_its_gradient():
    model = Model()
    row = model.add(mesh_box((0, 0, 0), (1, 1, 1)), kind=BodyKind.PSEUDO_RIGID)
    model.conf(row)[:, :3] = GRADIENT.T  # triples are the rows of F
    geometry = updated(model)
    arms = geometry.vertices.view("reference") - 0.5
    assert geometry.vertices.view("current") == pytest.approx(GRADIENT @ arms + 0.5, abs=1e-15)
    slanted = np.cross(GRADIENT[:, 1], GRADIENT[:, 2])
    assert np.abs(geometry.faces.view("normal").T @ (slanted / np.linalg.norm(slanted))).max() == pytest.approx(1.0)


def test_a_sphere_keeps_its_radius_and_has_a_box_about_its_centre():
    model = Model(epsilon=1e-3)
    row = model.add(Sphere([1.0, 2.0, 3.0], 0.5), kind=BodyKind.PSEUDO_RIGID)
    model.conf(row)[:, :3] *= 2.0
    geometry = updated(model)
    assert geometry.primitives.box[:, 0] == pytest.approx([0.499, 1.499, 2.499, 1.501, 2.501, 3.501])


def test_extents_reach_ten_epsilons_beyond_the_boxes_of_all_primitives():
    model = Model(epsilon=1e-3)
    row = model.add(box((0, 0, 0), (1, 1, 1)), Sphere([2.0, 0.5, 0.5], 0.25))
    updated(model)
    assert model.bodies.extents[:, row] == pytest.approx([-0.011, -0.011, -0.011, 2.261, 1.011, 1.011])


def test_geometry_has_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(1)
    model = Model()
    for k in range(300):
        row = model.add(mesh_box((2 * k, 0, 0), (2 * k + 1, 1, 1), (2, 2, 1)))
        model.conf(row)[:, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    answers = []
    for _ in with_threads(1, 2, 3):
        geometry = updated(model)
        tables = (geometry.vertices.view("current"), geometry.faces.view("normal"), geometry.primitives.view("box"))
        answers.append(b"".join(array.tobytes() for array in tables))
    assert answers[0] == answers[1] == answers[2]


def random_ellipsoid(random):
    shape = Ellipsoid(random.normal(size=3), 10 ** random.uniform(-1, 0, 3), 0, 5)
    shape.rotation = np.linalg.qr(random.normal(size=(3, 3)))[0]
    shape.rotation *= np.linalg.det(shape.rotation)
    return shape


@pytest.mark.parametrize("seed", range(6))
def test_an_ellipsoid_of_a_pseudo_rigid_body_has_the_axes_of_the_deformed_quadric(seed):
    """A = F^-T A0 F^-1; contacts and boxes are those of a rigid ellipsoid that has this shape."""
    random = np.random.default_rng(seed)
    shape = random_ellipsoid(random)
    gradient = np.eye(3) + 0.4 * random.uniform(-1, 1, (3, 3))
    model = Model(epsilon=1e-6)
    row = model.add(shape.copy(), kind=BodyKind.PSEUDO_RIGID)
    model.conf(row)[:, :3] = gradient.T  # triples are the rows of F
    model.conf(row)[:, 3] = centre = random.normal(size=3)
    axes = updated(model).primitives.axes[:, :, 0]
    inverse = np.linalg.inv(gradient)
    quadric = inverse.T @ (shape.rotation / shape.radii**2) @ shape.rotation.T @ inverse
    np.testing.assert_allclose(np.linalg.inv(axes @ axes.T), quadric, rtol=1e-9, atol=1e-9 * np.abs(quadric).max())
    eigenvalues = np.linalg.eigvalsh(quadric)
    twin = Ellipsoid(centre, (1.0, 1.0, 1.0), 0, 5)
    twin.radii, twin.rotation = stretched(shape.radii, shape.rotation, gradient)
    np.testing.assert_allclose(np.sort(twin.radii), np.sort(eigenvalues**-0.5), rtol=1e-9)
    np.testing.assert_allclose(twin.rotation @ np.diag(twin.radii**-2.0) @ twin.rotation.T, quadric, rtol=1e-8, atol=1e-9 * np.abs(quadric).max())

    other = Model(epsilon=1e-6)
    other.add(twin)
    half = np.sqrt(np.diag(twin.inverse_shape()))
    for one in (model, other):
        one.add(box(centre - [1, 1, 3], centre + [1, 1, -0.95 * half[2]]), kind=BodyKind.OBSTACLE)
        one.detect()
    for name in ("base", "point", "gap", "surface"):
        np.testing.assert_allclose(model.constraints.view(name), other.constraints.view(name), atol=1e-9)
    assert model.constraints.gap[0] == pytest.approx(-0.05 * half[2])
    np.testing.assert_allclose(model.geometry.primitives.box[:, 0], other.geometry.primitives.box[:, 0], atol=1e-12)


def test_a_sphere_of_a_pseudo_rigid_body_moves_and_keeps_its_radius():
    model = Model(epsilon=1e-3)
    row = model.add(Sphere((1, 0, 0), 0.5, 0, 0), kind=BodyKind.PSEUDO_RIGID, centre=(0.0, 0.0, 0.0))
    model.conf(row)[:, :3] = GRADIENT.T
    primitives = updated(model).primitives
    centre = GRADIENT @ (1, 0, 0)
    np.testing.assert_allclose(primitives.box[:, 0], [*(centre - 0.501), *(centre + 0.501)])
