"""Linear springs against closed forms."""

import math

import numpy as np
import pytest

from solfec import _kernels
from solfec.parmec import ANALYTICAL, DEM, EQM, GRAVITY, HISTORY, PRESCRIBE, RESET, RESTRAIN, SPRING, TSERIES, VELOCITY, model

pytestmark = pytest.mark.usefixtures("without_files")

NO_FILES = 1e9


def oscillator(mass=2.0, table=(-1, -200, 1, 200), speed=1.0, **more):
    """A mass on a spring along z, from rest length with a speed; the stroke is minus the displacement."""
    ANALYTICAL(mass=mass)
    VELOCITY(0, (0, 0, speed))
    return SPRING(0, (0, 0, 0), -1, (0, 0, -1), list(table), direction=(0, 0, 1), **more)


def rotation(vector):
    """The rotation matrix of a rotation vector."""
    angle, (x, y, z) = np.linalg.norm(vector), vector
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) / angle * skew + (1 - np.cos(angle)) / angle**2 * skew @ skew


def angular_momentum(step):
    """Of the first two particles, whose rotations are half a step ahead of their velocities."""
    p, total = model.current().particles, np.zeros(3)
    for i in range(2):
        back = p.rotation[:, :, i] @ rotation(-step / 2 * p.angular[:, i])
        total += back @ p.inertia[:, :, i] @ p.angular[:, i] + p.mass[i] * np.cross(p.position[:, i], p.velocity[:, i])
    return total


def zero_crossings(times, values):
    """Times at which samples change sign, by linear interpolation."""
    times, values = np.array(times), np.array(values)
    k = np.flatnonzero(values[:-1] * values[1:] < 0)
    return times[k] + (times[k + 1] - times[k]) * values[k] / (values[k] - values[k + 1])


@pytest.mark.parametrize("step", [0.002, 0.05])
def test_the_frequency_of_an_oscillator_is_that_of_the_scheme(step):
    oscillator()
    z, t = HISTORY("DZ"), HISTORY("TIME")
    DEM(20.0, step, (NO_FILES, step))
    crossings = zero_crossings(t[1:], z[1:])
    period = 2 * (crossings[-1] - crossings[0]) / (len(crossings) - 1)
    assert 2 * math.pi / period == pytest.approx(2 / step * math.asin(10 * step / 2), rel=2e-3 * (10 * step) ** 2 + 1e-6)


@pytest.mark.parametrize(("step", "stable"), [(0.199, True), (0.21, False)])
def test_an_undamped_oscillator_is_stable_below_two_over_omega(step, stable):
    oscillator()
    z = HISTORY("DZ")
    DEM(60 * step, step, (NO_FILES, step))
    assert (np.abs(z).max() < 3) == stable


@pytest.mark.parametrize("place", [(0, 0, 0), (1, 2, 3)])
def test_the_logarithmic_decrement_is_that_of_the_damping_ratio_anywhere(place):
    ANALYTICAL(mass=2, position=place)
    VELOCITY(0, (0, 0, 1))
    SPRING(0, place, -1, (place[0], place[1], place[2] - 1), [-1, -200, 1, 200], 0.1, (0, 0, 1))
    z = HISTORY("DZ")
    DEM(3.0, 0.0005, (NO_FILES, 0.0005))
    z = np.array(z)
    peaks = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    assert np.log(peaks[0] / peaks[1]) == pytest.approx(2 * math.pi * 0.1 / math.sqrt(0.99), rel=2e-3)


def test_two_bodies_swing_with_their_reduced_mass_and_keep_their_momentum():
    ANALYTICAL(mass=1)
    ANALYTICAL(mass=3, position=(1, 0, 0))
    SPRING(0, (0, 0, 0), 1, (1, 0, 0), [-1, -300, 1, 300])
    VELOCITY(1, (1, 0, 0))
    stroke, v0, v1 = HISTORY("STROKE"), HISTORY("VX", 0), HISTORY("VX", 1)
    DEM(1.0, 1 / 1024, (NO_FILES, 1 / 1024))
    assert np.array(v0) + 3 * np.array(v1) == pytest.approx(3, abs=1e-14)
    n = np.arange(1, len(stroke))
    frequency = 2 * 1024 * math.asin(20 / 2 / 1024)  # of the scheme
    assert stroke[1:] == pytest.approx(0.05 * np.sin(frequency * (n + 0.5) / 1024), abs=5e-6)


def test_a_lever_arm_adds_the_inertia_to_the_mass():
    ANALYTICAL(mass=1)
    SPRING(0, (1, 0, 0), -1, (1, 0, -1), [-1, -100, 1, 100], direction=(0, 0, 1))
    assert EQM(0, (1, 0, 0), direction=(0, 0, 1)) == pytest.approx(0.5)
    VELOCITY(0, (0, 0, 1e-4), (0, -1e-4, 0))  # the point moves along z
    stroke, t = HISTORY("STROKE"), HISTORY("TIME")
    DEM(4.0, 0.0005, (NO_FILES, 0.0005))
    crossings = zero_crossings(t[1:], stroke[1:])
    omega = math.pi * (len(crossings) - 1) / (crossings[-1] - crossings[0])
    assert omega == pytest.approx(math.sqrt(2 * 100), rel=1e-4)


def test_a_spring_on_two_turning_bodies_keeps_momentum_and_energy():
    """Follower, constant and planar springs with lever arms on both sides: forces are opposite, and moments of forces balance."""
    rng = np.random.default_rng(7)
    for k in range(2):
        ANALYTICAL([1 + k, 2, 3, 0.1, 0, 0.2], 1 + k, position=(2.0 * k, 0, 0))
        VELOCITY(k, rng.normal(size=3), rng.normal(size=3))
    for _ in range(4):
        ends = rng.normal(size=(2, 3)) * 0.3 + [[0, 0, 0], [2, 0, 0]]
        SPRING(0, tuple(ends[0]), 1, tuple(ends[1]), [-1, -50, 0, 0, 1, 80])
    p = model.current().particles

    def state():
        momentum = (p.mass[:2] * p.velocity[:, :2]).sum(1)
        return momentum, float((0.5 * p.mass[:2] * (p.velocity[:, :2] ** 2).sum(0)).sum())

    before = state()[0]
    DEM(2.0, 1 / 4096, NO_FILES)
    assert state()[0] == pytest.approx(before, abs=1e-12)
    # moments about one point vanish, up to the motion of one step between forces and now: no other loads act
    assert p.force[:, 0] == pytest.approx(-p.force[:, 1], abs=1e-12)
    angular = p.torque[:, :2].sum(1) + np.cross(p.position[:, 0] - p.position[:, 1], p.force[:, 0])
    assert np.abs(angular).max() < 5e-2 * max(1.0, np.abs(p.torque[:, :2]).max())


def test_a_unilateral_plane_returns_the_energy_of_a_drop():
    ANALYTICAL(mass=1, position=(0, 0, 0.5))
    GRAVITY(0.0, 0.0, -10.0)
    SPRING(0, (0, 0, 0.5), -1, [(0, 0, 0), (0, 0, 1)], [-1, 1e6, 0, 0, 1, 0])
    z, t = HISTORY("PZ"), HISTORY("TIME")
    DEM(1.2, 1e-5, (NO_FILES, 1e-4))
    z, t = np.array(z), np.array(t)
    assert z[t > 0.4].max() == pytest.approx(0.5, abs=1e-3)
    inside = t[(z < 0) & (t < 0.4)]
    assert inside[-1] - inside[0] == pytest.approx(math.pi * math.sqrt(1e-6), abs=3e-4)


def test_a_plane_turns_with_its_particle():
    """A body that spins about z carries the plane x = 0 with it: after a quarter turn its normal is along y."""
    ANALYTICAL(mass=1, position=(1, 0, 0))
    ANALYTICAL(mass=1)
    PRESCRIBE(1, angular=lambda t: (0, 0, math.pi / 2))
    VELOCITY(1, angular=(0, 0, math.pi / 2))
    RESTRAIN(0, [1, 0, 0, 0, 1, 0, 0, 0, 1])
    SPRING(0, (1, 0, 0), 1, [(0, 0, 0), (1, 0, 0)], [-1, 1, 0, 0, 1, 0])
    stroke = HISTORY("STROKE")
    DEM(1.0, 0.001, (NO_FILES, 0.001))
    angle = math.pi / 2 * (np.arange(1, len(stroke)) + 0.5) * 0.001
    # q is (0, 0, 0) of the second body, the normal (cos, sin, 0)
    assert stroke[1:] == pytest.approx(np.cos(angle), abs=1e-9)


def test_supports_of_a_beam_carry_a_load_that_slides_along_it_by_its_place():
    """A weight slides on the upper plane of a beam between springs: the moment of its force about the left one is that of its present place."""
    ANALYTICAL([0.1, 0.1, 0.1, 0, 0, 0], 1.0, position=(0.5, 0, 0))
    ANALYTICAL(mass=2, position=(0.25, 0, 0.1))
    RESTRAIN(0, [1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1])
    RESTRAIN(1, [0, 1, 0], [1, 0, 0, 0, 1, 0, 0, 0, 1])
    supports = [SPRING(0, (x, 0, 0), -1, (x, 0, -1), [-1, -1e4, 1, 1e4], 1.0, (0, 0, 1)) for x in (0.0, 1.0)]
    SPRING(1, (0.25, 0, 0.1), 0, [(0, 0, 0.1), (0, 0, 1)], [-1, 1e4, 0, 0, 1, 0], 1.0)
    GRAVITY(0.0, 0.0, -10.0)
    VELOCITY(1, (0.25, 0, 0))
    forces, x = [HISTORY("F", support) for support in supports], HISTORY("PX", 1)
    DEM(2.0, 1e-3, (NO_FILES, 0.1))
    assert x[-1] > 0.7
    for force, share in zip(forces, (1 - np.array(x), np.array(x))):
        assert np.array(force)[10:] == pytest.approx((5 + 20 * share)[10:], abs=0.1)


def test_a_plane_spring_between_two_free_bodies_keeps_their_angular_momentum():
    momenta = []
    for step in (2e-3, 1e-3):
        RESET()
        ANALYTICAL([10, 20, 25, 0, 0, 0], 15.0)
        ANALYTICAL([12, 9, 11, 0, 0, 0], 19.0, position=(1.2, 0.4, 0.3))
        VELOCITY(0, (0.3, -0.2, 0.1), (0.5, 1, -2))
        VELOCITY(1, (-0.2, 0.4, 0), (1, -0.5, 0.3))
        SPRING(0, (0.5, 0.2, 0.1), 1, [(0.9, 0.1, 0), (1, 0.2, 0.1)], [-1, 400, 1, -400])
        DEM(0.1, step, NO_FILES)
        before = angular_momentum(step)
        DEM(3.0, step, NO_FILES)
        momenta.append(np.linalg.norm(angular_momentum(step) - before) / np.linalg.norm(before))
    assert momenta[0] < 1e-3 and momenta[1] < 0.4 * momenta[0]


def test_a_dashpot_is_off_where_the_spring_has_no_force():
    ANALYTICAL(mass=1)
    VELOCITY(0, (0.1, 0, 0))
    SPRING(0, (0, 0, 0), -1, (-1, 0, 0), [-1, -10, -0.5, 0, 0.5, 0, 1, 10], [-1, -1e3, 1, 1e3], (1, 0, 0))
    v = HISTORY("VX")
    DEM(1.0, 0.001, (NO_FILES, 0.001))
    assert set(v) == {0.1}


def slide(friction, kskn, pull=0.0, speed=1.0):
    ANALYTICAL(mass=1, position=(0, 0, -0.001))
    RESTRAIN(0, angular=[1, 0, 0, 0, 1, 0, 0, 0, 1])
    VELOCITY(0, (speed, 0, 0))
    GRAVITY(pull, 0.0, -10.0)
    plane = [(0, 0, 0), (0, 0, 1)]
    SPRING(0, (0, 0, 0), -1, plane, [-1, 1e4, 0, 0, 1, 0], [-1, -200, 1, 200], friction=friction, kskn=kskn)
    # the point begins 0.001 above the mass centre: on the plane, so that the stroke is what the centre sinks


def test_coulomb_friction_stops_a_slider():
    slide(0.3, 0.0)
    model.current().links.lever[:, 0, 0] = 0  # the stroke begins at the static penetration
    v, x = HISTORY("VX"), HISTORY("DX")
    DEM(0.5, 0.0005, (NO_FILES, 0.0005))
    n = np.arange(1, 600)
    assert v[1:600] == pytest.approx(1 - 3 * 0.0005 * (n + 1), abs=1e-9)
    assert x[-1] == pytest.approx(1 / 6, abs=1e-3)


def test_a_sticking_spring_yields_by_the_pull_over_its_stiffness():
    slide(0.5, 0.5, pull=2.0, speed=0.0)
    x, friction = HISTORY("DX"), HISTORY("FF")
    DEM(3.0, 0.0005, (NO_FILES, 0.0005))
    assert x[-1] == pytest.approx(2.0 / (0.5 * 1e4), rel=1e-3)
    assert friction[-1] == pytest.approx(2.0, rel=1e-3)


def test_tables_of_springs_go_on_beyond_their_ends_and_series_do_not():
    links = []
    for place in (3.0, -1.0):
        number = ANALYTICAL(mass=1)
        links.append(SPRING(number, (0, 0, 0), -1, (0, 0, 0), [0, 0, 1, 10, 2, 30], direction=(-1, 0, 0)))
        model.current().particles.position[0, number] = place  # the stroke is x
    single = ANALYTICAL(mass=1)
    GRAVITY(0.0, 0.0, TSERIES([0, 0, 1, 10]))
    model.current().control.time[0] = 2.0
    forces = [HISTORY("SF", link) for link in links]
    pull = HISTORY("FZ", single)
    DEM(1e-9, 1e-9, (NO_FILES, 1e-12))
    assert [force[-1] for force in forces] == pytest.approx([50, -10], rel=1e-12)
    assert pull[-1] == 10


def driven_spring(path, **spring):
    """Elastic forces of a spring whose stroke follows a list of strokes, a thousandth a step."""
    ANALYTICAL(mass=1)
    speeds, place = [], 0.0
    for target in path:
        count = round(abs(target - place) / 0.001)
        speeds += [math.copysign(1.0, target - place)] * count
        place = target
    PRESCRIBE(0, linear=lambda t: (speeds[min(round(t / 0.001), len(speeds) - 1)], 0, 0))
    VELOCITY(0, (speeds[0], 0, 0))
    SPRING(0, (0, 0, 0), -1, (0, 0, 0), direction=(-1, 0, 0), **spring)
    force, stroke = HISTORY("SF"), HISTORY("STROKE")
    DEM(len(speeds) * 0.001 - 5e-4, 0.001, (NO_FILES, 0.001))
    return np.array(stroke[1:]), np.array(force[1:])


def test_a_yielded_spring_unloads_along_its_unloading_curve():
    stroke, force = driven_spring(
        [0.2, 0.1, 0.25], spring=[-1, -140, -0.1, -50, 0, 0, 0.1, 100, 1, 190], unload=[-1, -1000, 1, 1000], ylim=(-50, 100)
    )
    peak = int(stroke[:210].argmax())
    assert force[peak] == pytest.approx(100 + 100 * (stroke[peak] - 0.1), abs=1e-9)
    down = slice(peak + 1, peak + 95)
    assert force[down] == pytest.approx(force[peak] - 1000 * (stroke[peak] - stroke[down]), abs=1e-9)
    again = stroke[peak + 110 :] > stroke[peak] + 0.002
    assert force[peak + 110 :][again] == pytest.approx(100 + 100 * (stroke[peak + 110 :][again] - 0.1), abs=0.2)


def test_springs_within_their_limits_forget_nothing_and_yield_nothing():
    table = dict(spring=[-1, -140, -0.1, -50, 0, 0, 0.1, 100, 1, 190], unload=[-1, -1000, 1, 1000], ylim=(-50, 100))
    stroke, force = driven_spring([0.09, -0.09, 0.05], **table)
    assert force == pytest.approx(np.where(stroke > 0, 1000, 500) * stroke, abs=1e-9)


def test_an_inactive_spring_has_no_force():
    oscillator(inactive=True)
    v, status = HISTORY("VZ"), HISTORY("SS")
    DEM(0.1, 0.01, (NO_FILES, 0.01))
    assert set(v) == {1.0}
    assert set(status) == {-1}


@pytest.mark.parametrize("kind", ["follower", "constant", "planar", "plane"])
def test_many_springs_have_the_bits_of_any_number_of_threads(kind):
    """Two thousand springs with friction and dashpots, some nonlinear: bits with one thread and with three."""

    def run(threads):
        model.begin(None)
        rng = np.random.default_rng(3)
        n = 700
        for k in range(n):
            ANALYTICAL([1, 2, 3, 0, 0, 0], 1 + k % 3, position=tuple(rng.normal(size=3)))
        for k in range(3 * n):
            one, two = rng.choice(n, 2, replace=False)
            points = [tuple(model.current().particles.position[:, i] + 0.1 * rng.normal(size=3)) for i in (one, two)]
            geometry = [points[1], (0, 0, 1)] if kind == "plane" else points[1]
            direction = (1, 2, 3) if kind in ("constant", "planar") else None
            SPRING(int(one), points[0], int(two), geometry, [-1, -3, 0, 0, 0.1, 1, 1, 2], 0.2 if k % 5 else [-1, -1, 1, 1],
                   direction, "ON" if kind == "planar" else None, friction=0.1 * (k % 3), kskn=0.5 * (k % 2))  # fmt: skip
        before = _kernels.threads.get_threads()
        _kernels.threads.set_threads(threads)
        try:
            DEM(0.05, 0.001, NO_FILES)
        finally:
            _kernels.threads.set_threads(before)
        p = model.current().particles
        return np.concatenate([p.view("position"), p.view("velocity"), p.view("spin")])

    assert (run(1) == run(3)).all()
