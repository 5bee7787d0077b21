"""Equivalent masses and critical steps."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from solfec.errors import SolfecError
from solfec.parmec import ANALYTICAL, CRITICAL, DEM, EQM, HISTORY, MATERIAL, MESH, RESET, SPRING, TORSION_SPRING, VELOCITY

pytestmark = pytest.mark.usefixtures("without_files")

CASES = json.loads((Path(__file__).parent.parent / "data" / "parmec.json").read_text())
CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]


def cube():
    return MESH(CUBE, [8, 0, 1, 2, 3, 4, 5, 6, 7, MATERIAL(1000, 1e9, 0.3)], 0, 1)


def test_equivalent_masses_of_a_cube_are_parmecs():
    cube()
    expected = CASES["eqm_cube"]["value"]
    found = {
        "EQM_centre": EQM(0, (0.5, 0.5, 0.5)),
        "EQM_corner": EQM(0, (1, 1, 1)),
        "EQM_corner_dir_z": EQM(0, (1, 1, 1), direction=(0, 0, 1)),
        "EQM_face_dir_x": EQM(0, (1, 0.5, 0.5), direction=(1, 0, 0)),
        "EQM_face_dir_z": EQM(0, (1, 0.5, 0.5), direction=(0, 0, 2)),
        "EQM_face_nodir": EQM(0, (1, 0.5, 0.5)),
    }
    assert found == pytest.approx(expected, rel=1e-12)


def test_equivalent_mass_of_two_particles_is_the_reduced_one():
    ANALYTICAL(mass=2)
    ANALYTICAL(mass=6, position=(1, 0, 0))
    assert EQM(0, (0, 0, 0), 1, (1, 0, 0), (1, 0, 0)) == pytest.approx(1.5, rel=1e-14)


def test_equivalent_mass_at_a_lever_arm_of_a_diagonal_matrix():
    ANALYTICAL(mass=2)
    assert EQM(0, (0.5, 0, 0)) == pytest.approx(2.0)  # along the arm nothing turns
    assert EQM(0, (0.5, 0, 0), direction=(0, 1, 0)) == pytest.approx(1 / (1 / 2 + 0.25))


def test_critical_steps_of_a_corner_are_parmecs():
    cube()
    SPRING(0, (1, 1, 1), -1, (1, 1, 1), [-1, -1e7, 1, 1e7], [-1, -8e5, 1, 8e5])
    expected = CASES["critical_cube_corner"]["value"]
    assert CRITICAL() == pytest.approx(expected["CRITICAL"], rel=1e-12)
    assert CRITICAL(perparticle=1)[0] == pytest.approx(expected["perparticle"][0], rel=1e-8)
    assert CRITICAL(perparticle=1)[0][2] == pytest.approx(math.sqrt(45000), rel=1e-14)  # Parmec's eigenvalues have nine digits
    springs, particles = CRITICAL(5, 5)
    assert springs[0] == pytest.approx(expected["perspring"][0], rel=1e-12)
    assert len(springs) == len(particles) == 1


def test_critical_step_without_lever_arm_is_that_of_translation():
    ANALYTICAL(mass=2)
    SPRING(0, (0, 0, 0), -1, (0, 0, -1), [-1, -200, 1, 200], [-1, -4, 1, 4], (0, 0, 1))
    closed = 2 / 10 * (math.sqrt(1.01) - 0.1)
    assert CRITICAL(perspring=1)[0] == pytest.approx((closed, 0, 10.0, 0.1), rel=1e-12)
    assert CRITICAL() == pytest.approx(closed, rel=1e-12)


def test_nothing_limits_a_free_particle_and_dem_refuses_an_infinite_step():
    ANALYTICAL()
    assert CRITICAL() == math.inf
    assert CRITICAL(perspring=3, perparticle=3) == ([], [])
    with pytest.raises(ValueError, match="DEM: 'step'"):
        DEM(1.0, CRITICAL())


def largest_stroke(step):
    ANALYTICAL(mass=2)
    SPRING(0, (0, 0, 0), -1, (0, 0, -1), [-1, -200, 1, 200], direction=(0, 0, 1))
    VELOCITY(0, (0, 0, 1))
    strokes = HISTORY("STROKE")
    DEM(100 * step, step, (1e9, step))
    return np.abs(strokes).max()


@pytest.mark.extreme_numbers
def test_an_undamped_oscillator_is_stable_below_the_critical_step():
    assert largest_stroke(0.19) < 0.5
    RESET()
    with pytest.raises(SolfecError, match="DEM: particle 0 has no finite position"):
        for _ in range(30):
            largest_stroke(0.25)


def test_adaptive_steps_follow_the_critical_one_below_the_given_step():
    case = CASES["adaptive_step"]
    ANALYTICAL(mass=2)
    SPRING(0, (0, 0, 0), -1, (0, 0, -1), [-1, -200, 1, 200], direction=(0, 0, 1))
    VELOCITY(0, (0, 0, 1))
    places = HISTORY("DZ")
    DEM(case["duration"], case["step"], adaptive=0.5)
    assert np.array(places)[case["index"]] == pytest.approx(case["history"]["DZ(0)"], abs=1e-10)


def test_adaptive_steps_get_shorter_when_a_table_gets_stiffer():
    ANALYTICAL(mass=1)
    SPRING(0, (0, 0, 0), -1, (0, 0, -1), [-1, -100, 0, 0, 1, 10000], direction=(0, 0, -1))  # stroke grows with z
    VELOCITY(0, (0, 0, 1))
    times, strokes = HISTORY("TIME"), HISTORY("STROKE")
    DEM(1.0, 0.015, (1e9, 1e-9), adaptive=0.1)
    steps, stiff = np.diff(times)[2:], np.array(strokes[1:-2]) > 0  # the stroke of a step decides on the length of the next one
    assert 0 < stiff.sum() < stiff.size
    assert steps == pytest.approx(np.where(stiff, 0.1 * 2 / 100, 0.015), rel=1e-9)


def test_the_first_of_adaptive_steps_obeys_the_critical_one():
    """The longest step is far beyond stability: a weight of 1 m/s on a spring keeps its amplitude of 0.1 m, also in a second run."""
    oscillator_of_ten_radians()
    places, times = HISTORY("DZ"), HISTORY("TIME")
    for _ in range(2):
        DEM(5.0, 1.0, (1e9, 1e-9), adaptive=0.1)
        assert np.diff(times)[1:] == pytest.approx(0.1 * 0.2, rel=1e-9)
    assert np.abs(places).max() == pytest.approx(0.1, rel=0.01)


def test_the_first_of_adaptive_steps_counts_torsion_springs():
    ANALYTICAL(mass=1)
    TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), kroll=[-1, 100, 1, -100])
    VELOCITY(0, angular=(1, 0, 0))
    angles = HISTORY("ROLL")
    DEM(5.0, 1.0, (1e9, 1e-9), adaptive=0.1)
    assert np.abs(angles).max() == pytest.approx(0.1, rel=0.01)


def oscillator_of_ten_radians():
    """A mass of 2 on a spring of 200, whose critical step is 0.2."""
    ANALYTICAL(mass=2)
    SPRING(0, (0, 0, 0), -1, (0, 0, -1), [-1, -200, 1, 200], direction=(0, 0, 1))
    VELOCITY(0, (0, 0, 1))


def test_step_of_particles_is_twice_too_long_where_a_spring_joins_their_lever_arms():
    """The highest frequency is 2 sqrt(k/m), which the estimate of a spring by itself has."""
    for x in (0, 2):
        ANALYTICAL(mass=1, position=(x, 0, 0))
    SPRING(0, (1, 0, 0), 1, (1, 0, 0), [-1, -100, 1, 100], direction=(0, 0, 1))
    assert CRITICAL() == pytest.approx(0.2, rel=1e-12)
    assert CRITICAL(1)[0][0] == pytest.approx(0.1, rel=1e-12)
    VELOCITY(0, (0, 0, 1e-6))
    strokes = HISTORY("STROKE")
    DEM(20.0, 0.095, (1e9, 1e-9))
    assert np.abs(strokes).max() < 1e-5
    DEM(20.0, 0.105, (1e9, 1e-9))
    assert np.abs(strokes).max() > 1


def test_step_of_particles_is_too_long_by_the_root_of_two_where_neighbours_move_against_each_other():
    """A row of equal masses: the estimate takes neighbours for fixed, where the highest frequency is 2 sqrt(k/m)."""
    count, k, m = 40, 100.0, 0.5
    for i in range(count):
        ANALYTICAL([1, 1, 1, 0, 0, 0], m, position=(i, 0, 0))
    for i in range(-1, count):
        SPRING(max(i, 0), (i if i < 0 else i, 0, 0), i + 1 if 0 <= i < count - 1 else -1, (i + 1, 0, 0), [-1, -k, 1, k], direction=(1, 0, 0))
    matrix = (k / m) * (2 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1))
    stable = 2 / math.sqrt(np.linalg.eigvalsh(matrix)[-1])
    assert CRITICAL() == pytest.approx(math.sqrt(2 * m / k), rel=1e-12)
    assert CRITICAL() / stable == pytest.approx(math.sqrt(2), rel=1e-3)
    assert CRITICAL(1)[0][0] / stable == pytest.approx(math.sqrt(2), rel=1e-3)
    for i in range(count):
        VELOCITY(i, (1e-3 * (-1) ** i, 0, 0))
    x = HISTORY("DX", count // 2)
    DEM(200 * stable, 0.95 * stable)
    assert max(map(abs, x)) < 1e-3
    DEM(30 * stable, 1.3 * stable)  # below the estimate
    assert 1.3 * stable < CRITICAL()
    assert max(map(abs, x)) > 1e3
