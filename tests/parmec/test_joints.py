"""Torsion springs, ball joints and springs that come undone, against closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from solfec import parmec

pytestmark = pytest.mark.usefixtures("without_files")

NO_FILES = 1e9
BACK = [-1, 100, 1, -100]


@pytest.mark.parametrize(("axis", "name"), list(enumerate(("roll", "pitch", "yaw"))))
def test_torsion_springs_swing_with_the_inertia_about_their_axis(axis, name):
    parmec.ANALYTICAL([1, 2, 3, 0, 0, 0], 1)
    parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), **{f"k{name}": BACK})
    parmec.VELOCITY(0, angular=tuple(0.05 * np.eye(3)[axis]))
    angle, t = parmec.HISTORY(name.upper()), parmec.HISTORY("TIME")
    parmec.DEM(2.0, 1 / 1024, (NO_FILES, 1 / 1024))
    omega = math.sqrt(100 / (axis + 1))
    middle = np.array(t[1:]) + 0.5 / 1024
    assert angle[1:] == pytest.approx(0.05 / omega * np.sin(omega * middle), abs=1e-5 * 0.05)


def test_torsion_axes_need_not_be_those_of_coordinates_or_of_inertia():
    """Two bodies about an oblique common axis: the angle swings with their reduced inertia about it."""
    x, z = np.array([1, 2, 2]) / 3, np.array([2, 1, -2]) / 3
    for k in range(2):
        parmec.ANALYTICAL(((1 + k) * np.array([1, 1, 1, 0, 0, 0])).tolist(), 1)
    parmec.TORSION_SPRING(0, 1, tuple(z), tuple(x), kyaw=[-1, 60, 1, -60], dyaw=0.1)
    parmec.VELOCITY(0, angular=tuple(0.1 * z))
    angle, t = parmec.HISTORY("YAW"), parmec.HISTORY("TIME")
    parmec.DEM(2.0, 1 / 4096, (NO_FILES, 1 / 4096))
    reduced = 1 * 2 / 3
    omega = math.sqrt(60 / reduced)
    damped = omega * math.sqrt(1 - 0.01)
    middle = np.array(t[1:]) + 0.5 / 4096
    exact = 0.1 / damped * np.exp(-0.1 * omega * middle) * np.sin(damped * middle)
    assert angle[1:] == pytest.approx(exact, abs=2e-5)
    p = parmec.model.current().particles
    assert p.spin[:, 0] + 2 * p.spin[:, 1] == pytest.approx(0.1 * z, abs=1e-14)


def tumbling_pair(step):
    """Rotations (3, 3) and referential angular velocities after a second of two particles that tumble on a torsion spring about all axes."""
    parmec.RESET()
    for inertia, spin in zip(INERTIAS, SPINS):
        parmec.ANALYTICAL([*inertia, 0, 0, 0], 1)
        parmec.VELOCITY(parmec.model.current().particles.n - 1, angular=spin)
    parmec.TORSION_SPRING(0, 1, (0, 0, 1), (1, 0, 0), **{f"k{name}": [-1, k, 1, -k] for name, k in zip(("roll", "pitch", "yaw"), STIFFNESS)})
    parmec.DEM(1 - step / 2, step, NO_FILES)
    p = parmec.model.current().particles
    back = [Rotation.from_rotvec(-step / 2 * p.angular[:, i]).as_matrix() for i in range(2)]  # rotations are half a step ahead
    return np.concatenate([np.concatenate([(p.rotation[:, :, i] @ back[i]).ravel(), p.angular[:, i]]) for i in range(2)])


INERTIAS, SPINS, STIFFNESS = ((0.4, 0.9, 1.1), (1.2, 0.5, 0.8)), ((1, 2, -1.5), (-2, 1, 0.7)), (5.0, 8.0, 11.0)


def test_torsion_angles_of_two_particles_that_tumble_are_of_second_order():
    """The axes turn with the first particle, and the second one turns against them."""

    def slopes(_, y):
        turns, spins, angles = y[:18].reshape(2, 3, 3), y[18:24].reshape(2, 3), y[24:]
        rates = turns[0].T @ (turns[0] @ spins[0] - turns[1] @ spins[1])
        torque = turns[0] @ (-np.array(STIFFNESS) * angles)
        turning = [turn @ np.cross(spin, np.eye(3)).T for turn, spin in zip(turns, spins)]
        moments = [turn.T @ (sense * torque) - np.cross(spin, j * spin) for turn, spin, sense, j in zip(turns, spins, (1, -1), np.array(INERTIAS))]
        return np.concatenate([np.ravel(turning), *(moment / j for moment, j in zip(moments, np.array(INERTIAS))), rates])

    start = np.concatenate([np.eye(3).ravel(), np.eye(3).ravel(), *SPINS, np.zeros(3)])
    y = solve_ivp(slopes, (0, 1), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    exact = np.concatenate([y[:9], y[18:21], y[9:18], y[21:24]])
    errors = [np.abs(tumbling_pair(step) - exact).max() for step in (1 / 256, 1 / 512)]
    assert errors[0] < 4e-4
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_a_torsion_table_of_positive_slope_diverges():
    parmec.ANALYTICAL(mass=1)
    parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), kroll=[-1, -100, 1, 100])
    parmec.VELOCITY(0, angular=(1e-6, 0, 0))
    angle = parmec.HISTORY("ROLL")
    parmec.DEM(1.0, 1 / 4096, (NO_FILES, 1 / 4096))
    assert angle[-1] == pytest.approx(1e-7 * math.sinh(10), rel=2e-3)


def test_a_cone_keeps_its_direction_and_is_free_within():
    parmec.ANALYTICAL(mass=1)
    parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), kroll=[-1, 75, -0.25, 0, 0.25, 0, 1, -75], cone=("pitch", "roll"))
    parmec.VELOCITY(0, angular=(0.6, 0.8, 0))
    roll, pitch, torque, total = (parmec.HISTORY(name) for name in ("ROLL", "PITCH", "TRQTOT_R", "TRQTOT_P"))
    spins = parmec.HISTORY("OX")
    parmec.DEM(1.0, 1 / 1024, (NO_FILES, 1 / 1024))
    roll, pitch, size = np.array(roll), np.array(pitch), np.hypot(roll, pitch)
    assert roll * 0.8 == pytest.approx(pitch * 0.6, abs=1e-12)
    assert (np.array(torque)[size < 0.25] == 0).all()
    assert np.array(torque) * 0.8 == pytest.approx(np.array(total) * 0.6, abs=1e-10)
    # beyond 0.25: swing with sqrt(100)
    assert size.max() == pytest.approx(0.25 + 1 / 10, rel=1e-4)
    assert max(spins) == pytest.approx(0.6, rel=1e-14)


def test_a_pendulum_on_a_ball_joint_keeps_its_energy_and_its_point():
    gaps = []
    for steps in (2000, 4000):
        parmec.model.begin(None)
        parmec.ANALYTICAL([0.1, 0.1, 0.1, 0, 0, 0], 1, position=(1, 0, 0))
        parmec.BALL_JOINT(0, (0, 0, 0))
        parmec.GRAVITY(0.0, 0.0, -10.0)
        z, spin, gap = parmec.HISTORY("PZ"), parmec.HISTORY("OY"), parmec.HISTORY("|P|", 0, (0, 0, 0))
        parmec.DEM(2.0, 2.0 / steps, (NO_FILES, 2.0 / steps))
        height = (np.array(z[1:-1]) + np.array(z[2:])) / 2  # positions are half a step ahead, and known from step to step
        kinetic = 0.5 * 1.1 * np.array(spin[2:]) ** 2
        assert kinetic + 10 * height == pytest.approx(0, abs=0.05)
        gaps.append(max(gap))
    assert gaps[0] < 1e-4
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.2)


def chain(count, anchor=True):
    """Rods of length 1 and mass 1 from the origin along x, held together at their ends."""
    for k in range(count):
        parmec.ANALYTICAL([1, 1 / 12, 1 / 12, 0, 0, 0], 1, position=(k + 0.5, 0, 0))
    if anchor:
        parmec.BALL_JOINT(0, (0, 0, 0))
    for k in range(1, count):
        parmec.BALL_JOINT(k, (k, 0, 0), k - 1)
    parmec.GRAVITY(0.0, 0.0, -10.0)


def test_a_double_rod_pendulum_falls_as_its_equations_say():
    chain(2)
    ends = [parmec.HISTORY(name, 1, (2, 0, 0)) for name in ("PX", "PZ")]
    parmec.DEM(0.5, 1 / 4096, (NO_FILES, 1 / 4096))

    def slopes(_, y):  # rods hang at angles y[:2] from the x axis, down
        a, b, da, db = y
        mass = np.array([[4 / 3, math.cos(a - b) / 2], [math.cos(a - b) / 2, 1 / 3]])
        turning = math.sin(a - b) / 2 * np.array([-db * db, da * da])
        return [da, db, *np.linalg.solve(mass, turning + 10 * np.array([1.5 * math.cos(a), 0.5 * math.cos(b)]))]

    way = solve_ivp(slopes, (0, 1), [0, 0, 0, 0], rtol=1e-11, atol=1e-12, dense_output=True)
    a, b, _, _ = way.sol((np.arange(1, len(ends[0])) + 1.5) / 4096)
    assert ends[0][1:] == pytest.approx(np.cos(a) + np.cos(b), abs=2e-4)
    assert ends[1][1:] == pytest.approx(-np.sin(a) - np.sin(b), abs=2e-4)


def test_a_free_chain_keeps_its_momentum_and_a_long_one_hangs_together():
    chain(12, anchor=False)
    parmec.GRAVITY(0.0, 0.0, 0.0)
    parmec.VELOCITY(0, (0, 0, 1), (0, 1, 0))
    p = parmec.model.current().particles
    parmec.DEM(1.0, 1 / 2048, NO_FILES)
    assert p.view("velocity").sum(axis=1) == pytest.approx([0, 0, 1], abs=1e-12)
    joints = parmec.model.current().joints
    for j in range(joints.n):
        one, two = (p.position[:, joints.particle[s, j]] + p.rotation[:, :, joints.particle[s, j]] @ joints.arm[:, s, j] for s in (0, 1))
        assert np.abs(one - two).max() < 3e-4


def test_two_joints_on_an_axis_make_a_hinge_and_three_hold_no_more():
    """Joints that hold a direction twice: the reactions still carry the weight."""
    parmec.ANALYTICAL([0.1, 0.1, 0.1, 0, 0, 0], 1, position=(1, 0, 0))
    for y in (-1, 0, 1):
        parmec.BALL_JOINT(0, (0, y, 0))
    parmec.GRAVITY(0.0, 3.0, -10.0)
    reactions = [parmec.HISTORY(f"JREAC_{axis}", k) for axis in "XYZ" for k in range(3)]
    y, spin, z = parmec.HISTORY("PY"), parmec.HISTORY("OY"), parmec.HISTORY("PZ")
    parmec.DEM(1.0, 1 / 2048, (NO_FILES, 1 / 2048))
    assert np.abs(y).max() < 1e-6
    height = (np.array(z[1:-1]) + np.array(z[2:])) / 2
    assert 0.5 * 1.1 * np.array(spin[2:]) ** 2 + 10 * height == pytest.approx(0, abs=0.05)
    assert sum(np.array(r[1:]) for r in reactions[3:6]) == pytest.approx(-3, abs=1e-6)


def test_a_joint_follows_a_prescribed_particle():
    parmec.ANALYTICAL(mass=1)
    parmec.ANALYTICAL(mass=5, position=(0, 0, -1))
    parmec.PRESCRIBE(0, lambda t: (math.sin(5 * t), 0, 0), lambda t: (0, 0, 0))
    parmec.BALL_JOINT(1, (0, 0, 0), 0)
    parmec.GRAVITY(0.0, 0.0, -10.0)
    place, point = parmec.HISTORY("PX", 0), parmec.HISTORY("PX", 1, (0, 0, 0))
    parmec.DEM(2.0, 1 / 2048, (NO_FILES, 1 / 2048))
    assert np.ptp(place) > 0.3
    assert point == pytest.approx(place, abs=2e-3)


def test_joints_and_restraints_hold_different_directions_of_one_particle():
    """A pendulum that is pushed out of its plane, and held in it: the joint carries what moves in the plane, the restraint the push."""
    spins, reactions = [], []
    for push in (0.0, 3.0):
        parmec.model.begin(None)
        parmec.ANALYTICAL([0.1, 0.2, 0.3, 0, 0, 0], 1, position=(1, 0, 0))
        parmec.BALL_JOINT(0, (0, 0, 0))
        parmec.RESTRAIN(0, [0, 1, 0], [1, 0, 0, 0, 0, 1])
        parmec.GRAVITY(0.0, push, -10.0)
        spin, side, across = parmec.HISTORY("OY"), parmec.HISTORY("PY"), parmec.HISTORY("JREAC_Y")
        reactions.append([parmec.HISTORY("JREAC_X"), parmec.HISTORY("JREAC_Z")])
        parmec.DEM(1.0, 1 / 1024, (NO_FILES, 1 / 1024))
        assert not any(side)
        assert np.abs(across).max() < 1e-12
        spins.append(spin)
    assert spins[0] == spins[1]
    assert reactions[0] == reactions[1]


@pytest.mark.parametrize("angular", [[1, 0, 0], [1, 2, 3, 0, 1, 1]])
def test_points_of_joints_stay_together_about_axes_that_are_no_principal_ones(angular):
    """Restraints hold axes that couple with the others through products of inertia, against torques of reactions, too."""
    gaps = []
    for steps in (1024, 2048):
        parmec.model.begin(None)
        for k in range(3):
            parmec.ANALYTICAL([1, 2, 3, 0.3, -0.2, 0.4], 1, position=(k + 0.5, 0, 0))
        parmec.BALL_JOINT(0, (0, 0, 0))
        parmec.BALL_JOINT(1, (1, 0, 0), 0)
        parmec.BALL_JOINT(2, (2, 0, 0), 1)
        parmec.RESTRAIN(1, [1, 1, 0], angular)
        parmec.GRAVITY(0.5, 1.0, -2.0)
        ends = [[parmec.HISTORY(f"P{axis}", k, (k, 0, 0)) for axis in "XYZ"] for k in range(3)]
        others = [[parmec.HISTORY(f"P{axis}", k - 1, (k, 0, 0)) for axis in "XYZ"] for k in (1, 2)]
        spins = [parmec.HISTORY(f"O{axis}", 1) for axis in "XYZ"]
        parmec.DEM(1.0, 1 / steps, (NO_FILES, 1 / steps))
        gap = [np.linalg.norm(np.array(one) - other, axis=0).max() for one, other in zip(ends, [np.zeros((3, 1)), *map(np.array, others)])]
        gaps.append(max(gap))
        axes = np.reshape(angular, (-1, 3))
        assert axes @ np.array(spins) == pytest.approx(0, abs=1e-10)
        assert np.abs(spins).max() > 0.05
    assert gaps[0] < 1e-4
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.3)


# --- springs that come undone --------------------------------------------------------------------------------


def hanging(**more):
    parmec.ANALYTICAL(mass=1)
    parmec.GRAVITY(0.0, 0.0, -10.0)
    parmec.SPRING(0, (0, 0, 0), -1, (0, 0, 1), [-1, -100, 1, 100], direction=(0, 0, 1), **more)


def test_a_spring_lets_go_at_its_limit_and_another_one_catches():
    hanging()
    parmec.SPRING(0, (0, 0, 0), -1, [(0, 0, -0.5), (0, 0, 1)], [-1, 1000, 0, 0, 1, 0], [-1, -60, 1, 60], inactive=True)
    parmec.UNSPRING(0, 0, (None, 15), activate=1)
    z, v, force, status = parmec.HISTORY("PZ"), parmec.HISTORY("VZ"), parmec.HISTORY("SF"), parmec.HISTORY("SS", 0)
    parmec.DEM(3.0, 1 / 8192, (NO_FILES, 1 / 8192))
    gone = int(np.argmax(np.array(status[1:]) == -1)) + 1
    assert z[gone] == pytest.approx(-0.15, abs=1e-3)
    assert v[gone] ** 2 == pytest.approx(0.75, abs=1e-2)
    assert force[gone] >= 15
    assert set(force[gone + 1 :]) == {0.0}
    assert set(status[1:gone]) == {-2}
    assert z[-1] == pytest.approx(-0.51, abs=1e-6)
    assert v[-1] == pytest.approx(0, abs=1e-6)


def test_a_spring_unloads_along_a_series():
    hanging()
    series = parmec.TSERIES([-100, -100, 0, 0, 10, 30, 100, 1000])  # slopes 1, 3 and more
    parmec.UNSPRING([0], [0], (None, 15), unload={0: series})
    z, force, status = parmec.HISTORY("STROKE"), parmec.HISTORY("SF"), parmec.HISTORY("SS")
    parmec.DEM(2.0, 1 / 8192, (NO_FILES, 1 / 8192))
    z, force, status = np.array(z), np.array(force), np.array(status)
    falling = np.flatnonzero(status == series)
    falling = falling[force[falling] < 15]
    assert len(falling) > 100
    drop, moved = -np.diff(force), np.abs(np.diff(z))
    assert drop[falling[1:-1] - 1] == pytest.approx(3 * moved[falling[1:-1] - 1], abs=1e-12)
    assert force[status == -1][1:] == pytest.approx(0)


def test_limits_are_looked_at_every_few_steps_and_counted():
    times = {}
    for steps, wanted in ((1, 1), (64, 1), (1, 50)):
        parmec.model.begin(None)
        hanging()
        parmec.UNSPRING(0, 0, (None, 15), nsteps=steps, nfreq=wanted)
        status, t = parmec.HISTORY("SS"), parmec.HISTORY("TIME")
        parmec.DEM(0.5, 1 / 1024, (NO_FILES, 1 / 1024))
        times[steps, wanted] = round(1024 * t[status.index(-1)])
    assert times[64, 1] % 64 == 0
    assert 0 <= times[64, 1] - times[1, 1] < 64
    assert times[1, 50] - times[1, 1] == 49


@pytest.mark.parametrize(("operator", "size", "passed"), [
    ("SUM", False, []), ("MAX", False, [1.0]), ("MIN", False, [-1.0]), ("SUM", True, [1.0, 11.0, 19.0]), ("MIN", True, [1.0]),
])  # fmt: skip
def test_quantities_of_several_springs_are_combined(operator, size, passed):
    """Two springs with opposite forces of up to 10: which limits are passed shows what was combined."""
    released = []
    for limit in (-11.0, -1.0, 1.0, 11.0, 19.0, 21.0):
        parmec.model.begin(None)
        parmec.ANALYTICAL(mass=1)
        parmec.GRAVITY(0.0, 0.0, -10.0)
        for direction in ((0, 0, 1), (0, 0, -1)):
            parmec.SPRING(0, (0, 0, 0), -1, (0, 0, 0), [-1, -50, 1, 50], direction=direction)
        watched = parmec.SPRING(0, (0, 0, 0), -1, (0, 0, 0), [-1, -1, 1, 1], direction=(1, 0, 0))
        parmec.UNSPRING([0, 1], watched, (None, limit) if limit > 0 else (limit, None), operator=operator, abs=size)
        parmec.DEM(0.6, 1 / 1024, NO_FILES)
        if parmec.model.current().links.status[watched] == -1:
            released.append(limit)
    assert released == passed
