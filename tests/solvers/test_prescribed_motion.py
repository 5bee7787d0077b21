"""Fixed directions and prescribed motions of whole models: points, directions and time series that bodies follow."""

from __future__ import annotations

import math

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.constraints.table import ConstraintKind
from solfec.domain import Domain
from solfec.shapes.sphere import Sphere
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.time_series import TimeSeries

X, Y, Z = np.eye(3)
BULK = BulkMaterial(young=1e6, poisson=0.3, density=1.0)


def ball(domain, centre=(0.0, 0.0, 0.0), kind=BodyKind.RIGID, mass=1.0) -> int:
    """A ball with the given mass and unit tensor."""
    body = domain.insert_body(kind, [Sphere(centre, 0.1, 1, 1)], BULK)
    domain.states.set_characteristics(body, mass, 1.0, centre, np.eye(3))
    return body


def advance(domain, steps=1, epsilon=1e-10):
    solver = GaussSeidelSolver(epsilon, 1000)
    for _ in range(steps):
        domain.advance(solver)
        assert domain.report.status == "OK"


def column(domain, identifier, name):
    return getattr(domain.constraints, name)[..., domain.constraints.row_of(identifier)]


def test_a_prescribed_velocity_moves_a_ball_from_rest_by_half_a_step_less():
    domain = Domain(0.1)
    body = ball(domain)
    driven = domain.joints.prescribe_velocity(body, (0, 0, 0), X, 1.0)
    advance(domain)
    assert column(domain, driven, "R")[2] == pytest.approx(10.0)
    assert domain.states.conf(body)[9] == pytest.approx(0.05)
    advance(domain, 9)
    assert column(domain, driven, "R")[2] == pytest.approx(0.0, abs=1e-9)
    assert domain.states.conf(body)[9] == pytest.approx(0.95)


@pytest.mark.parametrize("velocity", [(0.84, 1.0, 0.0), (0.3, 0.4, 0.5), (100.0, 3.0, 1e-3)])
def test_round_off_of_a_motion_from_rest_is_no_error(velocity):
    """Nothing but the prescribed velocity moves the ball, so the free velocity is zero: an error of 1E-16 beside it was one beside nothing."""
    domain = Domain(1e-3)
    domain.joints.prescribe_velocities(ball(domain), (0, 0, 0), np.eye(3), velocity)
    solver = NewtonSolver()
    domain.advance(solver)
    assert domain.report.status == "OK" and solver.iters == 1 and solver.merhist == [0.0]


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (TimeSeries([0, 1], [0, 1]).derivative(), [1.0] * 12),  # a ramp of displacement goes on beyond its end
        (TimeSeries([0, 1, 2], [0, 1, 1]).derivative(), [1.0] * 9 + [0.0] * 3),  # at t = 1 the slope to the right counts
        (TimeSeries([0, 1, 2], [2, 2, 2]).integral(), [0.2 * k for k in range(1, 13)]),
        (TimeSeries([0, 1], [2, 2]).integral(), [min(0.2 * k, 2.0) for k in range(1, 13)]),
        (TimeSeries([0, 1], [0, 2]), [min(0.2 * k, 2.0) for k in range(1, 13)]),
    ],
    ids=["displacement", "displacement with a hold", "acceleration", "two points of acceleration", "velocity"],
)
def test_series_prescribe_the_velocity_at_the_end_of_each_step(series, expected):
    domain = Domain(0.1)
    body = ball(domain)
    domain.joints.prescribe_velocity(body, (0, 0, 0), Z, series)
    found = []
    for _ in expected:
        advance(domain)
        found.append(domain.states.velo(body)[5])
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_three_velocities_follow_three_directions():
    domain = Domain(0.1)
    body = ball(domain)
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    values = (1.0, TimeSeries([0, 1], [0, 2]), -3.0)
    driven = domain.joints.prescribe_velocities(body, (0, 0, 0), turn, values)
    advance(domain)
    np.testing.assert_allclose(column(domain, driven, "U"), (1.0, 0.2, -3.0), atol=1e-12)
    np.testing.assert_allclose(domain.states.velo(body)[3:], turn @ (1.0, 0.2, -3.0), atol=1e-12)
    np.testing.assert_array_equal(column(domain, driven, "base"), turn)


def test_many_prescribed_motions_share_equal_series():
    domain = Domain(0.1)
    for k in range(5):
        domain.joints.prescribe_velocity(ball(domain, (k, 0, 0)), (k, 0, 0), X, TimeSeries([0, 1], [0, 2]).integral())
    assert domain.constraints.series.n == 1
    advance(domain)
    assert [domain.states.velo(k)[3] for k in range(1, 6)] == pytest.approx([0.1] * 5)  # trapezoid, 2 points: the line to 1


def test_a_fixed_direction_leaves_the_others_free():
    domain = Domain(0.01)
    domain.loads.set_gravity((1.0, 2.0, -10.0))
    body = ball(domain)
    slanted = (X + Z) / math.sqrt(2)
    held = domain.joints.fix_direction(body, (0, 0, 0), slanted)
    advance(domain, 10)
    velocity = domain.states.velo(body)[3:]
    assert velocity @ slanted == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(velocity, 0.1 * np.array([5.5, 2.0, -5.5]), atol=1e-12)
    assert column(domain, held, "R")[2] == pytest.approx(9.0 / math.sqrt(2))


@pytest.mark.parametrize("impacts, reaction, first, second", [(True, 50.0, 0.5, 0.5), (False, 100.0, 1.0, 0.0)])
def test_two_equal_balls_held_along_x_share_or_as_in_solfec_1_swap_their_velocities_along_it(impacts, reaction, first, second):
    domain = Domain(0.01)
    domain.joint_impacts = impacts
    one, two = ball(domain), ball(domain, (1.0, 0, 0))
    domain.states.set_velocity(two, (1.0, 0.5, 0.0), (0, 0, 0))
    held = domain.joints.fix_direction(one, (0, 0, 0), X, two, (1.0, 0, 0))
    advance(domain)
    assert column(domain, held, "R")[2] == pytest.approx(reaction, rel=1e-3)
    assert domain.states.velo(one)[3] == pytest.approx(first, rel=1e-3)
    assert domain.states.velo(two)[3] == pytest.approx(second, abs=1e-3)
    assert domain.states.velo(two)[4] == pytest.approx(0.5)


def sliding(kind):
    """A spinning body and a second one whose centre is held along a direction that the first carries."""
    domain = Domain(1e-3)
    carrier = ball(domain, kind=kind, mass=1e6)
    slider = ball(domain, (1.0, 0, 0))
    if kind == BodyKind.PSEUDO_RIGID:
        domain.bodies.tensor[..., 0] *= 1e6
        domain.states.set_velo(carrier, (0, -2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0))
    else:
        domain.bodies.tensor[..., 0] *= 1e6
        domain.states.set_velocity(carrier, (0, 0, 0), (0, 0, 2.0))
    held = domain.joints.fix_direction(carrier, (0, 0, 0), Y, slider, (1.0, 0, 0))
    domain.states.set_velocity(slider, (0.0, 2.0, 0), (0, 0, 0))  # with the carrier's arm
    return domain, carrier, slider, held


@pytest.mark.parametrize("kind", [BodyKind.RIGID, BodyKind.PSEUDO_RIGID])
def test_a_direction_between_two_bodies_turns_with_the_first(kind):
    domain, carrier, slider, held = sliding(kind)
    advance(domain, 250)
    conf = domain.states.conf(carrier)
    gradient = conf[:9].reshape(3, 3) if kind == BodyKind.PSEUDO_RIGID else conf[:9].reshape(3, 3).T
    normal = gradient @ Y
    normal /= np.linalg.norm(normal)
    np.testing.assert_allclose(column(domain, held, "base")[:, 2], normal, atol=2e-3)
    # the heavy pseudo-rigid body feels no stiffness in that time: its gradient is I + t dF/dt
    turned = math.atan(0.5) if kind == BodyKind.PSEUDO_RIGID else 0.5
    assert normal[0] == pytest.approx(-math.sin(turned), abs=1e-3)
    # the slider, free along the carried x axis, stays on it and is thrown outwards: r'' = w^2 r
    place = domain.states.conf(slider)[9:]
    if kind == BodyKind.RIGID:
        assert place @ normal == pytest.approx(0.0, abs=2e-3)
        assert np.linalg.norm(place) == pytest.approx(math.cosh(0.5), rel=2e-3)


def test_an_obstacle_follows_prescribed_velocities_exactly():
    domain = Domain(0.01)
    plate = domain.insert_body(BodyKind.OBSTACLE, [Sphere((0, 0, 0), 1.0, 1, 1)], BULK)
    domain.joints.prescribe_velocities(plate, (0, 0, 0), np.eye(3), (1.0, 2.0, 3.0))
    advance(domain, 5)
    np.testing.assert_allclose(domain.states.velo(plate)[3:], (1.0, 2.0, 3.0), atol=1e-12)


def test_a_ball_resting_on_a_driven_obstacle_follows_one_step_later():
    domain = Domain(0.01)
    plate = domain.insert_body(BodyKind.OBSTACLE, [Sphere((0, 0, 0), 1.0, 1, 1)], BULK)
    body = domain.insert_body(BodyKind.RIGID, [Sphere((0, 0, 1.5 - 1e-4), 0.5, 1, 1)], BULK)
    domain.joints.prescribe_velocities(plate, (0, 0, 0), np.eye(3), (0.0, 0.0, 1.0))
    for expected in (0.0, 1.0):
        advance(domain)
        assert domain.states.velo(body)[5] == pytest.approx(expected, abs=1e-9)
        assert domain.states.velo(plate)[5] == pytest.approx(1.0)


def test_a_deleted_constraint_lets_go():
    domain = Domain(0.1)
    body = ball(domain)
    driven = domain.joints.prescribe_velocity(body, (0, 0, 0), X, TimeSeries([0, 1], [0, 1]))
    advance(domain, 2)
    domain.joints.delete_constraint(driven)
    advance(domain, 2)
    assert domain.states.velo(body)[3] == pytest.approx(0.2)
    assert domain.constraints.n == 0


def test_coincident_ends_of_a_link_make_a_fixed_point():
    domain = Domain(0.1)
    one, two = ball(domain), ball(domain, (0.1, 0, 0))
    joint = domain.joints.rigid_link(one, two, (0.05, 0, 0), (0.05, 0, 0))
    assert column(domain, joint, "kind") == ConstraintKind.FIXPNT


@pytest.mark.parametrize("make", [lambda: AutoSolver(1e-6), lambda: GaussSeidelSolver(1e-8, 1000)], ids=["auto", "gauss-seidel"])
@pytest.mark.parametrize("points", [1, 3])
def test_an_obstacle_that_points_hold_carries_what_hangs_from_it(make, points):
    domain = Domain(1e-3)
    domain.loads.set_gravity((0.0, 0.0, -10.0))
    beam, weight = ball(domain, (0.0, 0.0, 2.0), BodyKind.OBSTACLE, mass=5.0), ball(domain, mass=2.0)
    held = [domain.joints.fix_point(beam, (0.1 * (k == 1), 0.1 * (k == 2), 2.0)) for k in range(points)]
    domain.joints.spring(weight, (0.0, 0.0, 0.1), beam, (0.0, 0.0, 1.9), [(-1.0, 1e3), (1.0, -1e3)], (-1.0, 1.0))
    solver, carried = make(), []
    for _ in range(400):
        domain.advance(solver)
        assert domain.report.status == "OK" and domain.report.residual < 1e-5
        carried.append(sum(column(domain, one, "R")[2] for one in held))
    assert column(domain, held[0], "point")[2] == pytest.approx(2.0, abs=1e-9)
    # the weight swings about its rest, m g, between 0 and 2 m g, with the period 2 pi sqrt (m/k)
    assert max(carried) == pytest.approx(40.0, rel=1e-3)
    assert np.argmax(carried) * 1e-3 == pytest.approx(math.pi * math.sqrt(2.0 / 1e3), abs=2e-3)


@pytest.mark.parametrize("make", [lambda: AutoSolver(1e-6), lambda: GaussSeidelSolver(1e-8, 1000)], ids=["auto", "gauss-seidel"])
def test_a_shaken_table_is_as_exact_where_it_turns_back_as_elsewhere(make):
    amplitude, rate, mass, stiffness, damping, step = 0.02, 12.0, 2.0, 450.0, 6.0, 1e-3
    domain = Domain(step)
    table, weight = ball(domain, (0.0, 0.0, 0.0), BodyKind.OBSTACLE, mass=5.0), ball(domain, (3.0, 0.0, 0.0), mass=mass)
    times = step * np.arange(4001)
    wave = TimeSeries(times, amplitude * rate * np.cos(rate * times))
    domain.joints.prescribe_velocity(table, (0.0, 0.0, 0.0), X, wave)
    domain.joints.spring(weight, (3.0, 0.0, 0.0), table, (0.0, 0.0, 0.0), [(-1.0, stiffness), (1.0, -stiffness)], (-1.0, 1.0), X, dashpot=damping)
    solver, places = make(), []
    for _ in range(3999):
        domain.advance(solver)
        assert domain.report.status == "OK" and domain.report.residual < 1e-6
        assert domain.states.velo(table)[3] == pytest.approx(wave(domain.time), abs=1e-6 * amplitude * rate)
        places.append(domain.states.conf(weight)[9] - 3.0)
    ratio, share = rate / math.sqrt(stiffness / mass), damping / (2.0 * math.sqrt(stiffness * mass))
    gain = math.sqrt((1.0 + (2.0 * share * ratio) ** 2) / ((1.0 - ratio**2) ** 2 + (2.0 * share * ratio) ** 2))
    assert max(places[-1000:]) == pytest.approx(amplitude * gain, rel=0.01)
