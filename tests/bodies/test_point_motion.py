"""Points of bodies: placement, its inverse, and velocities by the operator H."""

import numpy as np
import pytest
from body_models import Model, skew

from solfec.bodies import motion
from solfec.bodies.table import BodyKind
from solfec.errors import SolfecError

kinds = pytest.mark.parametrize("kind", [BodyKind.OBSTACLE, BodyKind.RIGID, BodyKind.PSEUDO_RIGID], ids=lambda kind: kind.name)
random = np.random.default_rng(11)


def random_body(kind):
    """A body in a random state, behind another one of another kind."""
    model = Model()
    model.cube() if kind != BodyKind.PSEUDO_RIGID else model.rigid()
    row = model.cube() if kind == BodyKind.PSEUDO_RIGID else model.rigid(kind=kind)
    model.bodies.centre[:, row] = random.normal(size=3)
    gradient, _ = np.linalg.qr(random.normal(size=(3, 3)))
    gradient *= np.sign(np.linalg.det(gradient))
    if kind == BodyKind.PSEUDO_RIGID:
        gradient = gradient @ (np.eye(3) + 0.2 * random.uniform(-1, 1, (3, 3)))
        model.conf(row)[:, :3] = gradient.T
    else:
        model.conf(row)[:, :3] = gradient
    model.conf(row)[:, 3] = random.normal(size=3)
    model.velo(row)[...] = random.normal(size=model.velo(row).shape)
    return model, row


def shifted(model, row, size):
    """Configuration after the time `size` along the present velocity, to first order."""
    conf, velo = model.conf(row).copy(), model.velo(row)
    if model.bodies.kind[row] == BodyKind.PSEUDO_RIGID:
        return conf + size * velo
    conf[:, :3] += size * conf[:, :3] @ skew(velo[:, 0])
    conf[:, 3] += size * velo[:, 1]
    return conf


@kinds
def test_velocity_operator_is_the_derivative_of_the_motion(kind):
    model, row = random_body(kind)
    points = random.normal(size=(3, 20))
    rows = np.full(20, row, np.int32)
    velocities = motion.point_velocities(model.bodies, rows, points)
    size, conf = 1e-5, model.conf(row).copy()
    images = []
    for sign in (1, -1):
        model.conf(row)[...] = conf
        model.conf(row)[...] = shifted(model, row, sign * size)
        images.append(motion.spatial_points(model.bodies, rows, points))
    np.testing.assert_allclose(velocities, (images[0] - images[1]) / (2 * size), atol=2e-10)


@kinds
def test_referential_points_invert_spatial_points(kind):
    model, row = random_body(kind)
    points = np.asfortranarray(random.normal(size=(3, 20)))
    rows = np.full(20, row, np.int32)
    back = motion.referential_points(model.bodies, rows, motion.spatial_points(model.bodies, rows, points))
    np.testing.assert_allclose(back, points, atol=1e-14 * 50)


def test_points_of_different_bodies_in_one_call():
    model = Model()
    model.rigid(linear=(1, 0, 0))
    model.rigid(linear=(0, 2, 0))
    velocities = motion.point_velocities(model.bodies, [1, 0, 1], np.zeros((3, 3)))
    np.testing.assert_array_equal(velocities, np.array([[0, 2, 0], [1, 0, 0], [0, 2, 0]]).T)


def test_wrong_shapes_are_refused():
    model = Model()
    model.rigid()
    with pytest.raises(ValueError, match=r"shape \(3, 1\)"):
        motion.spatial_points(model.bodies, [0], np.zeros(3))


def test_a_body_turned_inside_out_has_no_referential_points():
    model = Model()
    model.cube(id=9)
    model.conf()[0, 0] = -1.0
    with pytest.raises(SolfecError, match="body 9"):
        motion.referential_points(model.bodies, [0], np.zeros((3, 1)))
