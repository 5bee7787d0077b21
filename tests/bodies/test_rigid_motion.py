"""Rigid bodies and obstacles: analytic motions, conservation, disabled rotation."""

import numpy as np
import pytest
from body_models import RIGID_SCHEMES, Model, skew
from hypothesis import given, settings
from hypothesis import strategies as st

from solfec.bodies import motion
from solfec.bodies.table import BodyKind, Energy, Scheme

schemes = pytest.mark.parametrize("scheme", RIGID_SCHEMES, ids=lambda scheme: scheme.name)


@schemes
def test_free_fall_is_exact_at_step_ends(scheme):
    model, h, gravity = Model(), 1e-2, np.array([0.3, 0.0, -9.81])
    model.rigid(scheme=scheme)
    model.loads.set_gravity(gravity)
    model.initialise().run(h, 100)
    np.testing.assert_allclose(model.velo()[:, 1], 100 * h * gravity, rtol=1e-13)
    np.testing.assert_allclose(model.conf()[:, 3], 0.5 * gravity * (100 * h) ** 2, rtol=1e-13)


@schemes
def test_gravity_does_not_turn_a_body_and_its_work_is_the_kinetic_energy(scheme):
    model = Model()
    model.rigid(scheme=scheme, mass=2.5)
    model.loads.set_gravity((0, 0, -9.81))
    model.initialise().run(1e-2, 50)
    assert (model.gradient() == np.eye(3)).all()
    assert model.energy(Energy.EXTERNAL) == pytest.approx(model.energy(Energy.KINETIC), rel=1e-13)
    assert model.energy(Energy.KINETIC) == pytest.approx(0.5 * 2.5 * (9.81 * 0.5) ** 2, rel=1e-13)


def test_projectile_with_drag_callback_lands_where_it_should():
    model, h, mass = Model(), 1.976 / 1024, 3.0
    model.rigid(mass=mass, linear=(2.54, 0, 12.7))
    model.loads.set_gravity((0, 0, -9.81456))
    model.loads.add_callback(0, lambda q, u, t, h: tuple(-mass * v for v in u[3:6]) + (0,) * 6)
    model.initialise().run(h, 1024)
    assert model.velo()[0, 1] == pytest.approx(2.54 * (1 - h) ** 1024, rel=1e-12)
    assert model.conf()[0, 3] == pytest.approx(2.186458, abs=1e-6)
    assert model.conf()[2, 3] == pytest.approx(-0.012803, abs=1e-6)


HEAVY_TOP = {
    Scheme.RIG_POS: (1.99e-6, 3.41e-5, 7.42e-4),
    Scheme.RIG_NEG: (-2.81e-6, -4.46e-5, -9.30e-4),
    Scheme.RIG_IMP: (-1.7e-6, -1.6e-5, -1.54e-4),
}
HEAVY_TOP_MOMENTUM_DRIFT_OF_POS = (1.7e-6, 4.8e-5, 1.3e-3)


@schemes
@pytest.mark.parametrize("number, h", [(0, 1e-3), (1, 3e-3), (2, 9e-3)])
def test_heavy_top_keeps_its_energy_as_well_as_the_scheme_allows(scheme, number, h):
    model = Model()
    model.rigid((5.0, 5.0, 1.0), scheme=scheme, angular=(0, 0, 50.0))
    model.conf()[:, :3] = exponential((0.05, 0.0, 0.0))

    def torque(q, u, t, h):
        return (0.0, 0.0, 0.0, -20 * q[7], 20 * q[6], 0.0, 0.0, 0.0, 0.0)  # -20 (R e3) x e3

    def energy():
        omega = model.velo()[:, 0]
        return 0.5 * omega @ model.bodies.tensor[:, :, 0] @ omega + 20 * model.gradient()[2, 2]

    model.loads.add_callback(0, torque)
    model.initialise()
    before, momentum = energy(), model.spatial_momentum()[2]
    assert before == pytest.approx(1269.9750052, abs=1e-7)
    model.run(h, round(10 / h))
    assert energy() - before == pytest.approx(HEAVY_TOP[scheme][number], rel=0.05)
    drift = abs(model.spatial_momentum()[2] - momentum)
    if scheme == Scheme.RIG_POS:
        assert drift == pytest.approx(HEAVY_TOP_MOMENTUM_DRIFT_OF_POS[number], rel=0.05)
    else:
        assert drift < 1e-11


def test_free_body_energy_grows_decays_or_stays_with_the_scheme():
    change = {}
    for scheme in RIGID_SCHEMES:
        model = Model()
        model.rigid((1.0, 2.0, 3.0), scheme=scheme, angular=(1, 2, 3))
        model.initialise()
        before, momentum = model.energy(Energy.KINETIC), model.spatial_momentum()
        model.run(0.01, 1000)
        change[scheme] = model.energy(Energy.KINETIC) / before - 1
        drift = np.linalg.norm(model.spatial_momentum() - momentum)
        assert drift == pytest.approx(1.12e-2, rel=0.01) if scheme == Scheme.RIG_POS else drift < 1e-12
    assert change[Scheme.RIG_POS] == pytest.approx(1.305e-4, rel=0.01)
    assert change[Scheme.RIG_NEG] == pytest.approx(-1.306e-4, rel=0.01)
    assert abs(change[Scheme.RIG_IMP]) < 2e-5


@schemes
def test_convected_torque_about_a_principal_axis_accelerates_uniformly(scheme):
    model, h, torque = Model(), 1e-2, 0.7
    model.rigid((1.0, 2.0, 3.0), scheme=scheme)
    model.loads.add_torque(0, "CONVECTED", (0, 0, 1), torque)
    model.initialise().run(h, 200)
    time = 200 * h
    np.testing.assert_allclose(model.velo()[:, 0], (0, 0, torque * time / 3), atol=1e-13)
    np.testing.assert_allclose(model.gradient(), exponential((0, 0, 0.5 * torque / 3 * time**2)), atol=1e-12)


@schemes
def test_disabled_rotation_leaves_pure_translation(scheme):
    model, h = Model(), 1e-2
    model.rigid(mass=2.0, scheme=scheme, rotation_disabled=1)
    model.velo()[:, 0] = (0, 0, 5.0)
    model.loads.add_force(0, "SPATIAL", (0, 1, 0), (1, 0, 0), 4.0)
    model.loads.add_torque(0, "CONVECTED", (1, 1, 0), 4.0)
    model.initialise()
    model.bodies.triples.reaction[:, :2] = np.array([[9.0, 8.0, 7.0], [0.0, 0.0, 0.0]]).T  # a moment of constraints
    model.run(h, 100)
    assert (model.velo()[:, 0] == 0).all()
    assert (model.gradient() == np.eye(3)).all()
    np.testing.assert_allclose(model.velo()[:, 1], (2.0, 0, 0), atol=1e-13)
    assert model.energy(Energy.KINETIC) == pytest.approx(4.0)
    assert model.energy(Energy.EXTERNAL) == pytest.approx(4.0)


def test_disabled_rotation_gives_a_point_the_compliance_of_a_mass_point():
    model = Model()
    model.rigid(mass=2.0, rotation_disabled=1)
    model.initialise()
    operator = np.empty((3, 6))
    for i in range(6):
        model.velo()[...] = np.eye(6)[i].reshape(2, 3).T
        operator[:, i] = motion.point_velocities(model.bodies, [0], [[0.3], [0.4], [0.5]])[:, 0]
    inverse = np.zeros((6, 6))
    inverse[:3, :3], inverse[3:, 3:] = model.bodies.triples.inverse_inertia[:, :, :2].transpose(2, 0, 1)
    np.testing.assert_allclose(operator @ inverse @ operator.T, np.eye(3) / 2.0, atol=1e-16)


def test_moving_obstacle_moves_uniformly_and_ignores_gravity():
    model = Model()
    model.rigid(kind=BodyKind.OBSTACLE, linear=(1, 0, 0), angular=(0, 0, 0.5))
    model.loads.set_gravity((0, 0, -9.81))
    model.initialise().run(0.01, 100)
    np.testing.assert_allclose(model.conf()[:, 3], (1, 0, 0), atol=1e-13)
    np.testing.assert_allclose(model.velo()[:, 1], (1, 0, 0), atol=0)
    np.testing.assert_allclose(model.gradient(), exponential((0, 0, 0.5)), atol=1e-13)
    assert (model.bodies.energy[:, 0] == 0).all()


def test_reaction_accelerates_a_driven_obstacle():
    model, h = Model(), 0.01
    model.rigid(kind=BodyKind.OBSTACLE, mass=2.0)
    model.initialise()
    model.bodies.triples.reaction[:, 1] = (0, 0, 3.0)
    model.run(h, 10)
    np.testing.assert_allclose(model.velo()[:, 1], (0, 0, 1.5 * 10 * h), rtol=1e-13)


def test_obstacles_turn_by_the_implicit_scheme_whatever_their_scheme_says():
    obstacle, body = Model(), Model()
    obstacle.rigid(kind=BodyKind.OBSTACLE, scheme=Scheme.RIG_POS, angular=(1, 2, 3))
    body.rigid(scheme=Scheme.RIG_IMP, angular=(1, 2, 3))
    for model in (obstacle, body):
        model.initialise().run(0.01, 20)
    assert (obstacle.conf() == body.conf()).all()


def test_rotation_that_is_no_longer_one_is_corrected():
    model = Model()
    model.rigid(angular=(0.1, 0.2, 0.3))
    model.conf()[:, :3] = exponential((1, 2, 3)) @ (np.eye(3) + 1e-4 * np.arange(9).reshape(3, 3))
    model.initialise().run(1e-3, 1)
    rotation = model.gradient()
    assert np.abs(rotation.T @ rotation - np.eye(3)).max() < 1e-15


@settings(max_examples=40, deadline=None)
@given(
    scheme=st.sampled_from(RIGID_SCHEMES),
    angular=st.tuples(*[st.floats(-20, 20)] * 3),
    inertia=st.tuples(*[st.floats(0.5, 2.0)] * 3),
    step=st.floats(1e-4, 0.02),
)
def test_rotation_stays_orthogonal_and_momentum_is_conserved(scheme, angular, inertia, step):
    moments = np.array([inertia[1] + inertia[2], inertia[0] + inertia[2], inertia[0] + inertia[1]])
    model = Model()
    model.rigid(moments, scheme=scheme, angular=angular)
    model.initialise()
    before = model.spatial_momentum()
    model.run(step, 50)
    rotation = model.gradient()
    assert np.abs(rotation.T @ rotation - np.eye(3)).max() < 2e-12
    assert np.linalg.det(rotation) > 0.5
    if scheme != Scheme.RIG_POS:
        assert np.linalg.norm(model.spatial_momentum() - before) <= 1e-12 * max(np.linalg.norm(before), 1e-6)


def exponential(psi):
    """Rotation by |psi| about psi."""
    psi = np.asarray(psi, float)
    angle = np.linalg.norm(psi)
    axis = skew(psi / angle)
    return np.eye(3) + np.sin(angle) * axis + (1 - np.cos(angle)) * axis @ axis
