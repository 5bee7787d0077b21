"""Particles: masses and inertias of shapes, free motion, prescribed and restrained motion, loads on all particles."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from solfec.parmec import ANALYTICAL, DAMPING, DEM, GRAVITY, HISTORY, MATERIAL, MESH, PRESCRIBE, RESTRAIN, SPHERE, TSERIES, VELOCITY, model

pytestmark = pytest.mark.usefixtures("without_files")

BOX = [0, 0, 0, 2, 0, 0, 2, 3, 0, 0, 3, 0, 0, 0, 4, 2, 0, 4, 2, 3, 4, 0, 3, 4]


def particles():
    return model.current().particles


def test_a_sphere_has_the_mass_and_inertia_of_a_ball():
    assert SPHERE((1, 2, 3), 0.5, MATERIAL(10, 1, 0.2), 1) == 0
    mass = 10 * math.pi / 6
    assert particles().mass[0] == pytest.approx(mass, rel=1e-14)
    assert particles().inertia[:, :, 0] == pytest.approx(0.4 * mass * 0.25 * np.eye(3), rel=1e-14)


def test_a_box_has_the_mass_centre_and_inertia_of_a_box():
    MATERIAL(10, 1, 0.2)
    MESH(BOX, [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, [1, 4, 0, 1, 2, 3, 5])
    mass = 10 * 24
    assert particles().mass[0] == pytest.approx(mass, rel=1e-14)
    assert particles().position[:, 0] == pytest.approx([1, 1.5, 2], rel=1e-14)
    assert particles().inertia[:, :, 0] == pytest.approx(mass / 12 * np.diag([9 + 16, 4 + 16, 4 + 9]), abs=1e-10)
    surface = model.current().surfaces[0]
    assert len(surface.triangles) == 12
    assert sorted(surface.colours) == [1] * 10 + [5] * 2


def test_elements_of_a_mesh_have_densities_of_their_own():
    light, heavy = MATERIAL(1, 1, 0.2), MATERIAL(3, 1, 0.2)
    nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 2, 1, 0, 2, 1, 1, 2, 0, 1, 2]
    MESH(nodes, [8, 0, 1, 2, 3, 4, 5, 6, 7, light, 8, 4, 5, 6, 7, 8, 9, 10, 11, heavy], light, 1)
    assert particles().mass[0] == pytest.approx(4)
    assert particles().position[:, 0] == pytest.approx([0.5, 0.5, (0.5 + 3 * 1.5) / 4])
    reduced = 1 * 3 / 4  # of the two cubes, one above the other
    assert particles().inertia[:, :, 0] == pytest.approx(np.diag([4 / 6 + reduced, 4 / 6 + reduced, 4 / 6]))


def test_all_element_types_make_the_same_cube():
    material = MATERIAL(6, 1, 0.2)
    cube = np.array(BOX, float).reshape(8, 3) / [2, 3, 4]
    centre = [*cube.ravel(), 0.5, 0.5, 0.5]
    faces = [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    pyramids = [item for face in faces for item in (5, *face, 8, material)]
    wedges = [6, 0, 1, 2, 4, 5, 6, material, 6, 0, 2, 3, 4, 6, 7, material]
    tetrahedra = [n for t in [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)] for n in (4, *t, material)]
    MESH(centre, pyramids, material, 1)
    MESH(cube.ravel().tolist(), wedges, material, 1)
    MESH(cube.ravel().tolist(), tetrahedra, material, 1)
    for number in range(3):
        assert particles().mass[number] == pytest.approx(6, rel=1e-13)
        assert particles().position[:, number] == pytest.approx([0.5] * 3, rel=1e-13)
        assert particles().inertia[:, :, number] == pytest.approx(np.eye(3), abs=1e-13)


def test_an_existing_particle_becomes_analytical_and_keeps_what_is_not_given():
    SPHERE((1, 2, 3), 0.5, MATERIAL(10, 1, 0.2), 1)
    inertia = particles().inertia[:, :, 0].copy()
    assert ANALYTICAL(mass=7, particle=0) == 0
    assert (particles().mass[0], particles().kind[0]) == (7, 0)
    assert (particles().inertia[:, :, 0] == inertia).all()
    assert particles().position[:, 0].tolist() == [1, 2, 3]


def test_free_fall_is_the_leapfrog_parabola():
    ANALYTICAL(mass=2)
    GRAVITY(0.0, 0.0, -10.0)
    z, v, t = HISTORY("PZ"), HISTORY("VZ"), HISTORY("TIME")
    DEM(1.0, 0.01)
    n = np.rint(np.array(t[1:]) / 0.01) + 1  # steps taken when a sample is written
    assert z[1:] == pytest.approx(-10 * 1e-4 * n * (n + 1) / 2, rel=1e-12)
    assert v[1:] == pytest.approx(-10 * n * 0.01, rel=1e-12)


def top_at(times):
    """Referential angular velocity and rotation of a free body, by an accurate integrator and quaternions."""
    inertia = np.array([1.0, 2, 3])

    def slopes(_, y):
        spin, q = y[:3], y[3:]
        dq = 0.5 * np.array([-q[1:] @ spin, *(q[0] * spin + np.cross(q[1:], spin))])
        return [*(np.cross(inertia * spin, spin) / inertia), *dq]

    way = solve_ivp(slopes, (0, times[-1]), [0.5, 2, 0.1, 1, 0, 0, 0], t_eval=times, rtol=1e-12, atol=1e-13)
    return way.y[:3].T, Rotation.from_quat(way.y[[4, 5, 6, 3]].T)


def test_a_free_top_converges_with_second_order():
    errors = []
    for steps in (512, 1024):  # of which sums have no rounding
        model.begin(None)
        ANALYTICAL([1, 2, 3, 0, 0, 0], 1)
        VELOCITY(0, angular=(0.5, 2, 0.1))
        DEM(5.0, 5.0 / steps, 1e9)
        spins, turns = top_at([0, 5.0, 5.0 + 2.5 / steps])
        turn = particles().rotation[:, :, 0]  # half a step ahead of the velocities
        errors.append((np.abs(turn - turns[2].as_matrix()).max(), np.abs(particles().angular[:, 0] - spins[1]).max()))
    assert errors[0][0] < 0.05  # the axis is close to the unstable one
    ratios = np.array(errors[0]) / errors[1]
    assert ratios == pytest.approx([4, 4], rel=0.1)


def test_a_free_top_keeps_energy_and_angular_momentum():
    ANALYTICAL([1, 2, 3, 0, 0, 0], 1)
    VELOCITY(0, angular=(0.5, 2, 0.1))
    p, inertia = particles(), np.array([1.0, 2, 3])
    energies, momenta = [], []
    for _ in range(20):
        DEM(0.1, 0.001)
        energies.append(0.5 * inertia @ p.angular[:, 0] ** 2)
        momenta.append(np.linalg.norm(inertia * p.angular[:, 0]))
    assert np.array(energies) == pytest.approx(0.5 * (0.25 + 8 + 0.03), rel=1e-5)
    assert np.array(momenta) == pytest.approx(np.linalg.norm([0.5, 4, 0.3]), rel=1e-5)
    turn = p.rotation[:, :, 0]
    assert np.abs(turn.T @ turn - np.eye(3)).max() < 1e-12


def test_damping_decays_by_a_factor_per_step():
    ANALYTICAL([1, 2, 3, 0, 0, 0], mass=2)
    VELOCITY(0, (3, 0, 0), (0, 0, 2))
    DAMPING(lambda t: (0.5, 0, 0), lambda t: (0, 0, 0.25))
    DEM(2.0, 0.01)
    assert particles().velocity[0, 0] == pytest.approx(3 * 0.995**200, rel=1e-12)
    assert particles().spin[2, 0] == pytest.approx(2 * 0.9975**200, rel=1e-12)


def test_functions_and_series_of_time_do_the_same():
    ANALYTICAL(mass=1)
    triangle = TSERIES([0, 0, 1, 10, 2, 0])
    GRAVITY(triangle, lambda t: 10 * max(0.0, min(t, 2 - t)), 0.0)
    DEM(3.0, 0.01)
    x, y, _ = particles().position[:, 0]
    assert x == pytest.approx(y, abs=1e-12)
    assert particles().velocity[:2, 0] == pytest.approx([10, 10], rel=1e-12)
    assert x == pytest.approx(20 + 10 * 0.005, abs=0.06)  # half a step ahead, and sums for integrals


def test_prescribed_velocities_move_bodies_one_step_later():
    ANALYTICAL(mass=1)
    PRESCRIBE(0, linear=lambda t: (t, 0, 0))
    x, t = HISTORY("PX"), HISTORY("TIME")
    DEM(1.0, 0.01)
    n = np.rint(np.array(t[1:]) / 0.01) + 1
    assert x[1:] == pytest.approx(1e-4 * (n - 1) * (n - 2) / 2, abs=1e-14)  # the sum of h t_j over j < n-1


def test_a_prescribed_acceleration_is_the_acceleration():
    ANALYTICAL(mass=3)
    PRESCRIBE(0, linear=lambda t: (1, 0, 0), kind="av")
    v, t = HISTORY("VX"), HISTORY("TIME")
    DEM(1.0, 0.01)
    assert v[1:] == pytest.approx(np.array(t[1:]) + 0.01, rel=1e-12)


def test_a_prescribed_spin_about_any_axis_stays_what_it_is_told():
    ANALYTICAL([1, 2, 3, 0.1, 0.2, 0.3], 1)
    PRESCRIBE(0, angular=lambda t: (0.3, 0.4, 0.5))
    DEM(2.0, 0.01)
    expected = Rotation.from_rotvec(np.array([0.3, 0.4, 0.5]) * 1.99)  # the first step has the initial spin, none
    assert particles().rotation[:, :, 0] == pytest.approx(expected.as_matrix(), abs=1e-12)


def test_a_prescribed_angular_acceleration_is_the_acceleration():
    ANALYTICAL([1, 2, 3, 0.1, 0.2, 0.3], 1)
    PRESCRIBE(0, angular=lambda t: (0.3, 0.4, 0.5), kind="va")
    DEM(1.0, 0.001)
    assert particles().spin[:, 0] == pytest.approx([0.3, 0.4, 0.5], rel=2e-3)


def test_restrained_directions_leave_the_others_alone():
    ANALYTICAL(mass=1)
    RESTRAIN(0, [1, 1, 0])
    VELOCITY(0, (1, 1, 1))
    GRAVITY(1.0, 2.0, 3.0)
    DEM(1.0, 0.01)
    assert particles().velocity[:, 0] == pytest.approx([-0.5, 0.5, 4.0], rel=1e-12)


def test_a_fully_restrained_particle_stays():
    ANALYTICAL([1, 2, 3, 0, 0, 0])
    RESTRAIN(0, [1, 2, 3, 0, 1, 0, 1, 0, 0], [1, 0, 0, 0, 1, 0, 0, 1, 1])
    VELOCITY(0, (1, 1, 1), (1, 2, 3))
    GRAVITY(1.0, 2.0, 3.0)
    DEM(1.0, 0.01)
    assert (particles().position[:, 0] == 0).all()
    assert (particles().rotation[:, :, 0] == np.eye(3)).all()


def test_a_particle_turns_steadily_about_the_axis_that_restraints_leave_it():
    """The axis is no principal one: without torques about the others the particle would tumble."""
    ANALYTICAL([2, 3, 1.5, 0.3, 0.4, 0.5], 1)
    RESTRAIN(0, angular=[1, 0, 0, 0, 1, 0])
    VELOCITY(0, angular=(0, 0, 1))
    DEM(1.0, 1 / 256)
    assert particles().spin[:, 0] == pytest.approx([0, 0, 1], abs=1e-6)
    assert particles().rotation[:, :, 0] == pytest.approx(Rotation.from_rotvec([0, 0, 1 + 1 / 512]).as_matrix(), abs=1e-6)
    assert particles().rotation[2, 2, 0] == pytest.approx(1, abs=1e-14)


def test_a_particle_that_does_not_turn_about_one_axis_keeps_its_energy():
    """Free rotation with the inertias 1, 2, 3, but for the torque along x that keeps the spin across x: J W' + W x J W = s L^T x, x . L W = 0."""
    inertia = np.diag([1.0, 2.0, 3.0])

    def rates(_, y):
        turn, spin = y[:9].reshape(3, 3), y[9:]
        free, along = np.linalg.solve(inertia, -np.cross(spin, inertia @ spin)), np.linalg.solve(inertia, turn[0])
        return np.concatenate([(turn @ np.cross(spin, np.eye(3), axisb=0, axisc=0)).ravel(), free - along * (turn[0] @ free) / (turn[0] @ along)])

    exact = solve_ivp(rates, (0, 1), [*np.eye(3).ravel(), 0, 1, 1], rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for step in (1 / 128, 1 / 256):
        model.begin(None)
        ANALYTICAL([1, 2, 3, 0, 0, 0], 1)
        RESTRAIN(0, angular=[1, 0, 0])
        VELOCITY(0, angular=(0, 1, 1))
        DEM(1.0, step)
        assert abs(particles().spin[0, 0]) < 1e-9
        spin = particles().angular[:, 0]
        assert spin @ inertia @ spin == pytest.approx(5, abs=1e-4)
        errors.append(np.abs(spin - exact[9:]).max())
    assert errors[0] < 2e-5 and errors[1] < 0.27 * errors[0]


def test_a_second_dem_goes_on_where_the_first_one_ended():
    ANALYTICAL([1, 2, 3, 0, 0, 0])
    VELOCITY(0, (1, 2, 3), (0.1, 0.2, 0.3))
    GRAVITY(0.0, 0.0, -1.0)
    times = HISTORY("TIME")
    DEM(0.5, 0.0078125)
    DEM(0.5, 0.0078125)
    parts = particles().position[:, 0].copy(), particles().rotation[:, :, 0].copy()
    assert np.diff(times) == pytest.approx(0.0078125)
    model.begin(None)
    ANALYTICAL([1, 2, 3, 0, 0, 0])
    VELOCITY(0, (1, 2, 3), (0.1, 0.2, 0.3))
    GRAVITY(0.0, 0.0, -1.0)
    whole = HISTORY("TIME")
    DEM(1.0, 0.0078125)
    assert whole == times
    assert (parts[0] == particles().position[:, 0]).all()
    assert (parts[1] == particles().rotation[:, :, 0]).all()


def test_histories_average_over_several_particles():
    for k in range(3):
        ANALYTICAL(mass=1 + k, position=(k, 0, 0))
        VELOCITY(k, (3 * k, 4 * k, 0))
    speeds, places = HISTORY("|V|", [0, 1, 2]), HISTORY("PX", [1, 2])
    DEM(0.1, 0.1)
    assert speeds[0] == pytest.approx(5)  # the average of 0, 5 and 10
    assert places[0] == pytest.approx(1.5)


def test_a_function_that_moves_many_particles_is_called_once_a_step():
    calls = []

    def shake(time):
        calls.append(time)
        return time, 2 * time, 3 * time

    for k in range(5):
        ANALYTICAL(position=(k, 0, 0))
        PRESCRIBE(k, shake, shake)
    DEM(0.1, 1 / 64, 1e9)
    steps = int(model.current().control.steps[0])
    assert len(calls) == steps + 1  # and once when DEM begins
    velocity = model.current().particles.view("velocity")
    assert (velocity == velocity[:, :1]).all()
    assert velocity[:, 0].tolist() == [calls[-1], 2 * calls[-1], 3 * calls[-1]]


def test_a_function_that_moves_a_list_of_particles_returns_an_array():
    calls = []

    def wave(time):
        calls.append(time)
        return np.stack([np.zeros(4), np.arange(4), time + np.arange(4)], axis=1)

    numbers = [ANALYTICAL(position=(k, 0, 0)) for k in range(6)][5:1:-1]
    PRESCRIBE(numbers, wave, lambda time: (0, 0, 2))
    DEM(0.1, 1 / 64, 1e9)
    table = model.current().particles
    assert len(calls) == int(model.current().control.steps[0]) + 1
    np.testing.assert_array_equal(table.velocity[:, numbers].T, np.stack([np.zeros(4), np.arange(4), calls[-1] + np.arange(4)], axis=1))
    assert (table.spin[2, numbers] == 2).all()
    assert not table.velocity[:, :2].any()
    PRESCRIBE(numbers[0], lambda time: (7, 7, 7))  # one of them goes its own way
    DEM(1 / 64, 1 / 64, 1e9)
    assert table.velocity[:, numbers[0]].tolist() == [7, 7, 7]
    assert table.velocity[1, numbers[1]] == 1


@pytest.mark.parametrize(("numbers", "value", "message"), [
    ([0, 1], np.zeros((3, 3)), "must return three numbers, or three for each of its 2 particles"), ([0, 0], (1, 2, 3), "each at most once"),
    ([], (1, 2, 3), "must hold the number of a particle"), ([0, 5], (1, 2, 3), r"'parnum\[1\]' must be the number of a particle, not 5"),
])  # fmt: skip
def test_wrong_lists_and_arrays_are_refused(numbers, value, message):
    for k in range(2):
        ANALYTICAL(position=(k, 0, 0))
    with pytest.raises(Exception, match=message):
        PRESCRIBE(numbers, lambda time: value)
        DEM(0.1, 0.1, 1e9)
