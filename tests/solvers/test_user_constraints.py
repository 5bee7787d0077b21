"""Fixed points, prescribed velocities and rigid links from step to step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from particle_scene import Scene, base_of

from solfec.constraints import user
from solfec.solvers.gauss_seidel import GaussSeidelSolver

FORMS = pytest.mark.parametrize("stored", [True, False], ids=["stored", "velocity"])


def solver() -> GaussSeidelSolver:
    return GaussSeidelSolver(1e-10, 1000)


@pytest.mark.parametrize(
    ("normal", "first", "second"),
    [
        ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
        ((0, 1, 0), (0, 0, 1), (-1, 0, 0)),
        ((0, 0, 1), (0, -1, 0), (-1, 0, 0)),
    ],
)
def test_bases_of_links_follow_the_convention_of_solfec(normal, first, second):
    scene = Scene(0.01)
    scene.fix("RIGLNK", scene.body(centre=normal), slave_point=(0.0, 0.0, 0.0), length=0.9)
    user.update(scene.constraints, scene.bodies, 0.0, 0.01)
    base = scene.constraints.base[..., 0]
    np.testing.assert_allclose(base, np.stack([first, second, normal], axis=1), atol=1e-15)
    assert np.linalg.det(base) == pytest.approx(-1)
    assert scene.constraints.gap[0] == pytest.approx(0.1)


def test_bases_are_orthonormal_and_left_handed_for_any_direction():
    random = np.random.default_rng(2)
    scene = Scene(0.01)
    for _ in range(50):
        direction = random.standard_normal(3)
        scene.fix("RIGLNK", scene.body(centre=direction), slave_point=(0.0, 0.0, 0.0), length=1.0)
    user.update(scene.constraints, scene.bodies, 0.0, 0.01)
    for row in range(50):
        base = scene.constraints.base[..., row]
        np.testing.assert_allclose(base.T @ base, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(base, base_of(base[:, 2]), atol=1e-14)
        assert np.linalg.det(base) < 0


def test_points_follow_rotated_and_deformed_bodies():
    scene = Scene(0.01)
    body = scene.body(centre=(1.0, 0, 0))
    conf = scene.bodies.configurations.conf
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    conf[:, :3], conf[:, 3] = turn, (5.0, 6.0, 7.0)
    row = scene.fix("FIXPNT", body, master_point=(2.0, 0.5, 0.25))
    user.update(scene.constraints, scene.bodies, 0.0, 0.01)
    np.testing.assert_allclose(scene.constraints.point[:, row], turn @ (1.0, 0.5, 0.25) + (5.0, 6.0, 7.0))
    np.testing.assert_array_equal(scene.constraints.base[..., row], np.eye(3))


def test_a_fixed_point_that_moves_initially_flips_its_velocity_every_step():
    scene = Scene(0.01)
    body = scene.body(mass=2.0, velocity=(1.0, 0, 0))
    row = scene.fix("FIXPNT", body)
    for sign in (-1, 1, -1):
        scene.advance(solver())
        np.testing.assert_allclose(scene.reaction(row), (sign * 400.0, 0, 0), atol=1e-9)
        np.testing.assert_allclose(scene.linear[:, body], (sign * 1.0, 0, 0), atol=1e-12)
        np.testing.assert_allclose(scene.centres[:, body], 0, atol=1e-14)


@FORMS
def test_a_fixed_point_carries_the_weight(stored):
    scene = Scene(0.01, (0, 0, -10.0))
    body = scene.body(mass=2.0)
    row = scene.fix("FIXPNT", body)
    for _ in range(5):
        scene.advance(solver(), stored)
        np.testing.assert_allclose(scene.reaction(row), (0, 0, 20.0), atol=1e-11)
        np.testing.assert_allclose(scene.linear[:, body], 0, atol=1e-13)


def test_two_bodies_pinned_together_share_their_momentum():
    scene = Scene(0.01)
    one, two = scene.body(mass=3.0), scene.body(mass=1.0, velocity=(0, 0, 4.0))
    scene.fix("FIXPNT", one, two)
    scene.advance(solver())
    momentum = 3.0 * scene.linear[:, one] + scene.linear[:, two]
    np.testing.assert_allclose(momentum, (0, 0, 4.0), atol=1e-12)
    np.testing.assert_allclose(scene.centres[:, one], scene.centres[:, two], atol=1e-14)


def test_two_equal_particles_on_a_slider_swap_their_velocities():
    scene = Scene(0.01)
    master, slave = scene.body(), scene.body(velocity=(1.0, 0, 0))
    row = scene.fix("FIXDIR", master, slave, normal=(1.0, 0, 0))
    scene.advance(solver())
    assert scene.reaction(row)[2] == pytest.approx(100.0)
    np.testing.assert_allclose(scene.linear[0], (1.0, 0.0), atol=1e-12)


def test_a_prescribed_velocity_is_reached_at_the_end_of_the_first_step():
    scene = Scene(0.1)
    body = scene.body()
    row = scene.fix("VELODIR", body, value=[1.0, 0, 0])
    for step in range(10):
        scene.advance(solver())
        assert scene.reaction(row)[2] == pytest.approx(10.0 if step == 0 else 0.0, abs=1e-9)
        if step == 0:
            assert scene.centres[2, body] == pytest.approx(0.05)
    assert scene.centres[2, body] == pytest.approx(0.95)


def test_a_moving_obstacle_carries_a_ball_one_step_later():
    scene = Scene(0.01)
    plate, ball = scene.obstacle(), scene.body()
    scene.fix("VELODIR", plate, value=[1.0, 0, 0])
    scene.contact(ball, plate, gap=-1e-4)
    for expected in (0.0, 1.0):
        scene.advance(solver())
        assert scene.linear[2, ball] == pytest.approx(expected, abs=1e-12)
        assert scene.linear[2, plate] == pytest.approx(1.0)


@FORMS
def test_a_hanging_weight_pulls_its_link(stored):
    scene = Scene(0.01, (0, 0, -10.0))
    body = scene.body(centre=(0, 0, -1.0))
    row = scene.fix("RIGLNK", body, slave_point=(0.0, 0.0, 0.0), length=1.0)
    scene.advance(solver(), stored)
    assert scene.reaction(row)[2] == pytest.approx(-10.0)


def test_links_break_by_tension_and_fixed_points_by_any_force():
    scene = Scene(0.01, (0, 0, -10.0))
    hanging, standing, pinned = (scene.body(centre=(0, 0, z)) for z in (-1.0, 1.0, 0.0))
    scene.fix("RIGLNK", hanging, slave_point=(0.0, 0.0, 0.0), length=1.0, strength=5.0)
    scene.fix("RIGLNK", standing, slave_point=(0.0, 0.0, 0.0), length=1.0, strength=5.0)
    scene.fix("FIXPNT", pinned, strength=5.0)
    scene.contact(standing, scene.obstacle(), gap=0.0)
    scene.advance(solver())
    assert user.find_overloaded(scene.constraints).tolist() == [True, False, True, False]
    scene.constraints.strength[:3] = 1e6
    assert user.find_overloaded(scene.constraints) is None


def test_a_pendulum_of_large_amplitude_keeps_its_length_and_period():
    h, gravity = 1e-3, math.pi**2
    scene = Scene(h, (0, 0, -gravity))
    body = scene.body(centre=(1.0, 0, 0))
    row = scene.fix("RIGLNK", body, slave_point=(0.0, 0.0, 0.0), length=1.0)
    changes, last, exact = [], None, solver()
    for step in range(2400):
        scene.advance(exact)
        if step == 0:
            first = (math.sqrt(1 - (0.5 * h**2 * gravity) ** 2) - 1) * 2 / h**2
            assert scene.reaction(row)[2] == pytest.approx(first, rel=1e-3)
        assert abs(np.linalg.norm(scene.centres[:, body]) - 1.0) < 1e-9
        velocity = scene.linear[2, body]
        if last is not None and velocity * last < 0:
            changes.append((step + 1) * h)
        last = velocity
    np.testing.assert_allclose(changes, (0.591, 1.181, 1.771, 2.361), atol=0.002)
    assert changes[3] == pytest.approx(2.360681, rel=0.01)


def test_a_link_too_fast_to_hold_stops_stretching_instead():
    scene = Scene(1.0)
    body = scene.body(centre=(1.0, 0, 0), velocity=(1.0, 10.0, 0))
    scene.fix("RIGLNK", body, slave_point=(0.0, 0.0, 0.0), length=1.0)
    scene.advance(solver())
    assert scene.report.status == "OK"
    assert np.isfinite(scene.linear).all()
