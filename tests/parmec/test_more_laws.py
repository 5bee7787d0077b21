"""Arguments of commands that other tests leave at their defaults, against closed forms."""

import math

import numpy as np
import pytest
from kernel_threads import with_threads

from solfec import _kernels, parmec, parmec_command

pytestmark = pytest.mark.usefixtures("without_files")

NO_FILES = 1e9
NO_ROTATION = [1, 0, 0, 0, 1, 0, 0, 0, 1]


@pytest.mark.parametrize(("pull", "speed"), [(4.0, 0.0), (6.0, 2.0)])
def test_static_friction_holds_what_dynamic_friction_lets_slide(pull, speed):
    """Coefficients 0.5 and 0.2 under g = 10: a pull of 4 is held; 6 slides with 6 - 0.2 g."""
    weight = 1000 * 4 / 3 * math.pi * 1e-3 * 10
    parmec.SPHERE((0, 0, 0.1 - weight / 1e5), 0.1, parmec.MATERIAL(1000, 1, 0.3), 1)
    parmec.RESTRAIN(0, angular=NO_ROTATION)
    parmec.OBSTACLE([(-9, -9, 0, 99, -9, 0, 0, 99, 0)], [2])
    parmec.GRANULAR(1, 2, 1e5, 1.0, (0.5, 0.2))
    parmec.GRAVITY(pull, 0.0, -10.0)
    parmec.DEM(0.5, 1e-4, NO_FILES)
    assert parmec.model.current().particles.velocity[0, 0] == pytest.approx(speed, abs=0.01)


@pytest.mark.parametrize(("entity", "limit", "stroke"), [
    ("STROKE", -0.03, 0.03), ("SF", -2.0, 0.02), ("F", -2.0, None), ("FF", 1.5, None),
])  # fmt: skip
def test_unspring_looks_at_the_quantity_that_is_asked_for(entity, limit, stroke):
    """A mass that moves up and sideways along a damped spring with friction 0.5: force -(100 z + v), friction half of it."""
    parmec.ANALYTICAL(mass=1)
    parmec.VELOCITY(0, (1, 0, 1))
    parmec.SPRING(0, (0, 0, 0), -1, (0, 0, -1), [-1, -100, 1, 100], [-1, -1, 1, 1], (0, 0, 1), friction=0.5)
    parmec.UNSPRING(0, 0, (None, limit) if limit > 0 else (limit, None), entity=entity)
    values, strokes, rates = parmec.HISTORY(entity), parmec.HISTORY("STROKE"), parmec.HISTORY("VZ")
    status = parmec.HISTORY("SS")
    parmec.DEM(0.2, 1e-4, (NO_FILES, 1e-4))
    gone = status.index(-1)
    assert abs(values[gone - 1]) < abs(limit) <= abs(values[gone])
    assert abs(values[gone]) == pytest.approx(abs(limit), rel=0.01)
    if stroke:
        assert -strokes[gone] == pytest.approx(stroke, rel=0.01)
    else:
        force = 100 * strokes[gone] - rates[gone - 1]
        assert abs(force) * (0.5 if entity == "FF" else 1.0) == pytest.approx(abs(limit), rel=0.01)


@pytest.mark.parametrize("ratio", [4, 0.25])
def test_a_mass_on_a_spring_swings_on_under_a_dem_with_another_step(ratio):
    """Positions belong to the middle of the step that comes; half an old step ahead of velocities they were wrong in first order, by up to 6 mm of 0.1 m here."""
    errors = []
    for step in (4e-3, 2e-3):
        parmec.RESET()
        parmec.ANALYTICAL(mass=1)
        parmec.VELOCITY(0, (0, 0, 1))
        parmec.SPRING(0, (0, 0, 0), -1, (0, 0, 1), [-1, -100, 1, 100], direction=(0, 0, 1))
        parmec.DEM(0.4, step, NO_FILES)
        parmec.DEM(0.6, step * ratio, NO_FILES)
        now = parmec.model.current()
        time = now.time + 0.5 * now.control.step[0]
        errors.append(abs(now.particles.position[2, 0] - 0.1 * math.sin(10 * time)))
    assert errors[0] < 1e-3 and errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("members", [("roll", "pitch", "yaw"), ("pitch", "yaw"), ("roll", "yaw")])
def test_a_damped_cone_swings_along_any_of_its_directions(members):
    """The ratio is of sqrt (k I) with I the root of the sum of the members' squared inertias, here 2 each."""
    parmec.ANALYTICAL([2, 2, 2, 0, 0, 0])
    first = "roll" if "roll" in members else "pitch"
    parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), cone=members, **{f"k{first}": [-1, 50, 1, -50], f"d{first}": 0.1})
    along = np.array([name in members for name in ("roll", "pitch", "yaw")]) / math.sqrt(len(members))
    parmec.VELOCITY(0, angular=tuple(0.1 * along))
    angles, t = [parmec.HISTORY(name) for name in ("ROLL", "PITCH", "YAW")], parmec.HISTORY("TIME")
    parmec.DEM(1.0, 1e-4, (NO_FILES, 1e-2))
    ratio = 0.1 * math.sqrt(50 * math.sqrt(4 * len(members))) / math.sqrt(50 * 2)
    omega, middle = 5 * math.sqrt(1 - ratio**2), np.array(t[1:]) + 0.5e-4
    size = 0.1 / omega * np.exp(-5 * ratio * middle) * np.sin(omega * middle)
    assert np.array(angles)[:, 1:] == pytest.approx(np.outer(along, size), abs=5e-6)


def test_both_accelerations_can_be_prescribed_at_once():
    parmec.ANALYTICAL([1, 2, 3, 0.1, 0.2, 0.3], 4)
    parmec.PRESCRIBE(0, lambda t: (t, 0, 0), lambda t: (0, 0, 2 * t), kind="aa")
    force = parmec.HISTORY("FX")
    parmec.DEM(1.0, 1e-3, (NO_FILES, 1e-3))
    p = parmec.model.current().particles
    assert p.velocity[:, 0] == pytest.approx([0.5, 0, 0], abs=1e-3)
    assert p.spin[:, 0] == pytest.approx([0, 0, 1], abs=2e-3)
    assert force[-1] == pytest.approx(4 * 0.999)


def test_triangles_of_an_obstacle_have_colors_of_their_own():
    material = parmec.MATERIAL(1000, 1, 0.3)
    for k in range(2):
        parmec.SPHERE((2 * k, 0, 0.0999), 0.1, material, 1)
    parmec.OBSTACLE([(-1, -1, 0, 1, -1, 0, 0, 1, 0), (1.2, -1, 0, 3, -1, 0, 2, 2, 0)], [2, 3])
    parmec.GRANULAR(1, 2, 1e5, 1.0)
    parmec.GRANULAR(3, 1, 2e5, 1.0)
    parmec.GRAVITY(0.0, 0.0, -10.0)
    parmec.DEM(2.0, 1e-4, NO_FILES)
    weight = 1000 * 4 / 3 * math.pi * 1e-3 * 10
    assert 0.1 - parmec.model.current().particles.position[2, :2] == pytest.approx([weight / 1e5, weight / 2e5], rel=1e-6)


def test_equivalent_mass_of_two_points_counts_the_lever_arm():
    """Along z: 1/m1 + 1/m2 + a^2/J1; along x no lever arm turns the first particle."""
    parmec.ANALYTICAL([1, 2, 3, 0, 0, 0], 2.0)
    parmec.ANALYTICAL([1, 1, 1, 0, 0, 0], 3.0, position=(5, 0, 0))
    assert parmec.EQM(0, (0, 1, 0), 1, (5, 0, 0), (0, 0, 1)) == pytest.approx(1 / (1 / 2 + 1 / 3 + 1))
    assert parmec.EQM(0, (0, 0, 0), 1, (5, 0, 0), (1, 0, 0)) == pytest.approx(1.2)


def test_series_can_be_written_in_four_ways(tmp_path):
    (tmp_path / "series.txt").write_text("# time value\n0 1\n2 3\n")
    for points in ("series.txt", [0, 1, 2, 3], [[0, 1], [2, 3]], [(0, 1), (2, 3)]):
        parmec.RESET()
        parmec.ANALYTICAL()
        parmec.GRAVITY(parmec.TSERIES(points), 0.0, 0.0)
        pull, t = parmec.HISTORY("FX"), parmec.HISTORY("TIME")
        parmec.DEM(3.0, 1 / 64, (NO_FILES, 1 / 64))
        assert pull[1:] == pytest.approx(np.minimum(1 + np.array(t[1:]), 3), rel=1e-14)


def test_reset_forgets_conditions_of_unspring():
    for watched in (True, False):
        parmec.RESET()
        parmec.ANALYTICAL(mass=1)
        parmec.GRAVITY(0.0, 0.0, -10.0)
        parmec.SPRING(0, (0, 0, 0), -1, (0, 0, 1), [-1, -100, 1, 100], direction=(0, 0, 1))
        force = parmec.HISTORY("SF")
        if watched:
            parmec.UNSPRING(0, 0, (None, 15))
        parmec.DEM(0.5, 1e-3, (NO_FILES, 1e-3))
    assert max(force) == pytest.approx(20, rel=1e-3)


@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are run on one thread")
@pytest.mark.parametrize(("words", "threads"), [(["-ntasks", "3"], 3), (["-t", "1"], 1)])
def test_ntasks_is_the_number_of_threads(words, threads, tmp_path, capsys):
    (tmp_path / "input.py").write_text("from solfec import _kernels\nprint (_kernels.threads.get_threads ())\n")
    before = _kernels.threads.get_threads()
    try:
        assert parmec_command.main([*words, str(tmp_path / "input.py")]) == 0
    finally:
        _kernels.threads.set_threads(before)
    assert capsys.readouterr().out == f"{threads}\n"


MIXED = """
import random
random.seed (4)
n, place = 700, lambda k: (k % 40, k // 40, 0)
for k in range (n):
  ANALYTICAL ([1 + .1*(k % 3), 2, 2.5, .1, 0, .2], 1 + k % 4, position = place (k))
  VELOCITY (k, (random.gauss (0, 1), random.gauss (0, 1), 0), (random.gauss (0, 1), 0.3, 0.2))
for k in range (n - 1):
  a, b = place (k), place (k + 1)
  if k % 7 == 0: BALL_JOINT (k, ((a[0] + b[0])/2., (a[1] + b[1])/2., .2), k + 1)
  elif k % 7 == 1: TORSION_SPRING (k, k + 1, (0, 0, 1), (1, 0, 0), kroll = [-1, 10, 1, -10], droll = 0.1, cone = ('roll', 'pitch'))
  else: SPRING (k, a, k + 1, b, [-1, -30, 0, 0, 1, 40], 0.1 if k % 2 else [-1, -1, 1, 1], friction = 0.2*(k % 3), kskn = 0.3*(k % 2))
for k in range (0, n, 3): SPRING (k, place (k), -1, [place (k), (0, 0, 1)], [-1, 100, 0, 0, 1, 0], [-1, -1, 1, 1], friction = 0.1)
w = SPRING (5, place (5), 400, place (400), [-1, -5, 1, 5], unload = [-1, -20, 1, 20], ylim = (-1, 1))
UNSPRING (w, w, (-20, 20))
for k in range (0, n, 50): RESTRAIN (k, [1, 0, 0])
PRESCRIBE (n - 1, lambda t: (t, 0, 0))
z = TSERIES (0.1)
DAMPING ((z, z, z), (z, z, z))
GRAVITY (0., 0., -1.)
DEM (0.02, 0.002, 1E9, adaptive = ADAPTIVE)
"""


@pytest.mark.parametrize("adaptive", [0.0, 0.2])
def test_joints_torsion_springs_and_all_other_loads_have_the_bits_of_any_number_of_threads(adaptive):
    found = []
    for _ in with_threads(1, 3):
        parmec.RESET()
        exec(MIXED.replace("ADAPTIVE", str(adaptive)), {name: parmec.load(name) for name in parmec.COMMANDS})
        now = parmec.model.current()
        columns = [now.particles.view(name).copy() for name in ("position", "rotation", "velocity", "angular", "force", "torque")]
        found.append([*columns, now.links.view("force").copy(), now.torsions.view("total").copy(), now.joints.view("reaction").copy()])
    assert all(np.abs(column).max() > 0 for column in found[0])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
