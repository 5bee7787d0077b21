"""Contact of spheres with spheres and obstacles, against closed forms and against itself done otherwise."""

import itertools
import math

import h5py
import numpy as np
import pytest

from solfec import _kernels
from solfec.errors import SolfecWarning
from solfec.parmec import CRITICAL, DEM, GRANULAR, GRAVITY, HISTORY, MATERIAL, OBSTACLE, PRESCRIBE, SPHERE, VELOCITY, model, pairs

NO_FILES = 1e9
FLOOR = [(-3, -3, 0, 9, -3, 0, 0, 9, 0)]
WEIGHT = 1000 * 4 / 3 * math.pi * 1e-3 * 10  # of a sphere of radius 0.1


def ball(height, color=1):
    return SPHERE((0, 0, height), 0.1, 0 if model.current().materials else MATERIAL(1000, 1, 0.3), color)


@pytest.mark.parametrize("ratio", [0.0, 0.05, 0.3])
def test_two_spheres_part_with_the_restitution_of_their_damping(ratio):
    ball(0)
    SPHERE((0.25, 0, 0), 0.1, 0, 1)
    VELOCITY(0, (1, 0, 0))
    GRANULAR(0, 0, 1e5, ratio)
    DEM(0.2, 2e-6, NO_FILES)
    v = model.current().particles.velocity[0, :2]
    restitution = v[1] - v[0]
    # a contact ends with its depth, so that it may pull a little before
    assert restitution == pytest.approx(math.exp(-math.pi * ratio / math.sqrt(1 - ratio**2)), abs=2e-3)
    assert v.sum() == pytest.approx(1, abs=1e-12)


def test_a_sliding_sphere_ends_up_rolling():
    ball(0.1 - WEIGHT / 1e5)
    OBSTACLE(FLOOR, 1)
    GRANULAR(0, 0, 1e5, 1.0, 0.3)
    GRAVITY(0.0, 0.0, -10.0)
    VELOCITY(0, (1, 0, 0))
    v, spin, t = HISTORY("VX"), HISTORY("OY"), HISTORY("TIME")
    DEM(0.1, 1e-4, (NO_FILES, 1e-4))
    v, t = np.array(v), np.array(t)
    sliding = (t > 0.01) & (t < 0.09)
    assert v[sliding] == pytest.approx(1 - 3 * t[sliding], abs=2e-3)
    end = np.argmin(np.abs(t - 2 / (7 * 0.3 * 10)))  # of the slip; the tangential spring is stretched then, and pulls on
    assert v[end] == pytest.approx(5 / 7, rel=5e-3)
    assert spin[end] == pytest.approx(v[end] / 0.1, rel=2e-2)


def test_without_friction_a_sphere_goes_on_sliding():
    ball(0.1 - WEIGHT / 1e5)
    OBSTACLE(FLOOR, 1)
    GRANULAR(0, 0, 1e5)
    GRAVITY(0.0, 0.0, -10.0)
    VELOCITY(0, (1, 0, 0))
    DEM(0.05, 1e-4, NO_FILES)
    particles = model.current().particles
    assert particles.velocity[:, 0] == pytest.approx([1, 0, 0], abs=1e-12)
    assert particles.position[2, 0] == pytest.approx(0.1 - WEIGHT / 1e5, rel=1e-9)
    assert not particles.spin[:, 0].any()


@pytest.mark.parametrize("colors", list(itertools.permutations((1, 2, 3))))
def test_every_order_of_colors_finds_its_law(colors):
    """Three balls of three colors on a floor of a fourth one sink by their weight over three stiffnesses."""
    material = MATERIAL(1000, 1, 0.3)
    stiffness = {1: 1e5, 2: 2e5, 3: 4e5}
    for k, color in enumerate(colors):
        SPHERE((k, 0, 0.0999), 0.1, material, color)
    OBSTACLE([(-30, -30, 0, 90, -30, 0, 0, 90, 0)], [4])
    for color in colors:
        GRANULAR(4, color, stiffness[color], 1.0, 0.3)
    GRANULAR(1, 2, 1.0)
    GRAVITY(0.0, 0.0, -10.0)
    DEM(1.0, 1e-4, NO_FILES)
    z = model.current().particles.position[2, :3]
    assert z == pytest.approx([0.1 - WEIGHT / stiffness[color] for color in colors], abs=1e-7)


def test_a_belt_drives_a_sphere_to_two_sevenths_of_its_speed():
    ball(0.1 - WEIGHT / 1e5)
    OBSTACLE(FLOOR, 1, (0, 0, 0), lambda t: (0.5, 0, 0))
    GRANULAR(0, 0, 1e5, 1.0, 0.3)
    GRAVITY(0.0, 0.0, -10.0)
    slip = 0.5 * 2 / 7 / (0.3 * 10)  # its time
    DEM(slip, 1e-4, NO_FILES)
    p = model.current().particles
    assert p.velocity[0, 0] == pytest.approx(1 / 7, rel=1e-2)
    assert abs(p.spin[1, 0]) == pytest.approx((0.5 - 1 / 7) / 0.1, rel=1e-2)
    assert model.current().triangles.corner[0, 0, 0] == pytest.approx(-3 + 0.5 * slip, abs=1e-4)


def test_obstacles_turn_about_their_moving_points():
    OBSTACLE([(1, 0, 0, 2, 0, 0, 1, 1, 0)], 1, (1, 0, 0), lambda t: (1, 0, 0), lambda t: (0, 0, math.pi))
    OBSTACLE([(5, 0, 0, 6, 0, 0, 5, 1, 0)], 2)
    DEM(0.5, 1 / 128, NO_FILES)
    time = 0.5 + 0.5 / 128
    corners = model.current().triangles.view("corner").transpose(2, 1, 0)
    c, s = math.cos(math.pi * time), math.sin(math.pi * time)
    assert corners[0] == pytest.approx(np.array([[1, 0, 0], [1 + c, s, 0], [1 - s, c, 0]]) + [time, 0, 0], abs=1e-12)
    assert corners[1].tolist() == [[5, 0, 0], [6, 0, 0], [5, 1, 0]]


def test_sides_and_corners_of_triangles_are_touched():
    """Balls that press on a face, a side and a corner get forces along the closest points."""
    material, r, deep = MATERIAL(1000, 1, 0.3), 0.1, 0.01
    OBSTACLE([(0, 0, 0, 1, 0, 0, 0, 1, 0)], 1)
    side, corner = np.array([0, -1, 1]) / math.sqrt(2), np.array([-1, -1, 1]) / math.sqrt(3)
    ways = [(np.array([0.3, 0.3, 0]), np.array([0, 0, -1.0])), (np.array([0.5, 0, 0]), side), (np.zeros(3), corner)]
    for point, way in ways:
        SPHERE(tuple(point + (r - deep) * way), r, material, 1)
    GRANULAR(0, 0, 1e3)
    DEM(1e-9, 1e-9, NO_FILES)
    force = model.current().particles.view("force").T
    assert force == pytest.approx(np.array([way * 1e3 * deep for _, way in ways]), abs=1e-6)


def test_analytical_particles_and_far_ones_touch_nothing_and_the_default_law_is_free():
    ball(0)
    ball(0.15)
    DEM(0.01, 1e-3, NO_FILES)
    assert (model.current().particles.view("velocity") == 0).all()


def box_of_balls(count=300, seed=1):
    """Balls of different sizes that fall into a box."""
    rng = np.random.default_rng(seed)
    material = MATERIAL(1000, 1, 0.3)
    for point in rng.permutation(np.stack(np.meshgrid(range(10), range(10), range(4)), -1).reshape(-1, 3))[:count]:
        SPHERE(tuple(0.1 * point + 0.06 + 0.002 * rng.normal(size=3)), float(rng.choice([0.05, 0.055, 0.02])), material, int(rng.integers(1, 3)))
    for axis in range(3):
        for side in (0, 1.03):
            corners = np.zeros((4, 3))
            corners[:, [k for k in range(3) if k != axis]] = [(0, 0), (3, 0), (3, 3), (0, 3)]
            corners[:, axis] = side
            if axis < 2 or side == 0:
                OBSTACLE([tuple(corners[[0, 1, 2]].ravel()), tuple(corners[[0, 2, 3]].ravel())], 1)
    GRANULAR(0, 0, 2e4, 0.3, (0.5, 0.4))
    GRANULAR(1, 2, 1e4, 0.2, 0.1)
    GRAVITY(0.0, 0.0, -10.0)


def state():
    p = model.current().particles
    return np.concatenate([p.view("position"), p.view("velocity"), p.view("spin")])


def test_results_do_not_depend_on_the_margin_or_on_threads(monkeypatch):
    outcomes = []
    for margin, threads in ((0.25, 1), (0.01, 1), (1.0, 1), (0.25, 3)):
        model.begin(None)
        box_of_balls()
        monkeypatch.setattr(pairs, "MARGIN", margin)
        before = _kernels.threads.get_threads()
        _kernels.threads.set_threads(threads)
        try:
            DEM(0.15, 2e-4, NO_FILES)
        finally:
            _kernels.threads.set_threads(before)
        outcomes.append(state())
        assert model.current().contacts.view("alive").sum() > 100
    assert all((outcome == outcomes[0]).all() for outcome in outcomes[1:])


def test_all_touching_pairs_are_found():
    box_of_balls()
    DEM(0.1, 2e-4, NO_FILES)
    now = model.current()
    p = now.particles
    one, two = np.triu_indices(p.n, 1)
    centres = p.view("position").T
    depth = p.radius[one] + p.radius[two] - np.linalg.norm(centres[one] - centres[two], axis=1)
    listed = set(zip(*now.contacts.view("pair").tolist()))
    touching = {(a, b) for a, b, d in zip(one.tolist(), two.tolist(), depth) if d > 0}
    assert touching <= listed
    assert len(touching) > 50


def test_parts_of_a_run_have_the_bits_of_the_whole():
    outcomes = []
    for parts in (1, 4):
        model.begin(None)
        box_of_balls(120)
        for _ in range(parts):
            DEM(0.125 / parts, 2**-13, NO_FILES)
        outcomes.append(state())
    assert (outcomes[0] == outcomes[1]).all()


def test_free_spheres_keep_their_momenta():
    rng = np.random.default_rng(5)
    material = MATERIAL(1000, 1, 0.3)
    for point in np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3):
        number = SPHERE(tuple(0.21 * point), 0.1, material, 1)
        VELOCITY(number, tuple(2 * rng.normal(size=3) - point), tuple(10 * rng.normal(size=3)))
    GRANULAR(0, 0, 1e6, 0.1, 0.3)
    p = model.current().particles

    def momenta():
        linear = p.view("mass") * p.view("velocity")
        return linear.sum(1), np.abs(linear).sum()

    before, size = momenta()
    DEM(0.1, 1e-5, NO_FILES)
    assert np.abs(momenta()[0] - before).max() < 1e-12 * size
    assert model.current().contacts.n > 0


def test_contacts_limit_the_critical_step():
    ball(0.0999)
    OBSTACLE(FLOOR, 1)
    assert CRITICAL() == math.inf
    GRANULAR(0, 0, 1e5, 0.1)
    mass = WEIGHT / 10
    turning = math.sqrt(1e5 * 0.0999**2 / (0.4 * mass * 0.01))  # of the lever arm from the centre to the point
    assert CRITICAL(perparticle=1)[0][2] in (pytest.approx(math.sqrt(1e5 / mass)), pytest.approx(turning, rel=0.01))


def test_contacts_and_obstacles_are_in_files():
    ball(0.1 - WEIGHT / 1e5)
    SPHERE((0.5, 0, 0.0999), 0.1, 0, 2)
    OBSTACLE(FLOOR, 7)
    GRANULAR(0, 0, 1e5, 1.0, 0.3)
    GRAVITY(0.0, 0.0, -10.0)
    DEM(0.5, 1e-3, 0.1, "balls")
    with h5py.File("balls0cd.h5") as file:
        last = file[str(max(map(int, file)))]
        assert last["PAIR"][:].tolist() == [[0, -1], [1, -1]]
        assert last["COLOR"][:].tolist() == [[1, 7], [2, 7]]
        assert last["FN"][:] == pytest.approx(WEIGHT, rel=1e-4)
        assert last["F"][:] == pytest.approx(np.array([[0, 0, WEIGHT]] * 2), abs=1e-3)
        assert last["DISPL"][:] == pytest.approx(WEIGHT / 1e5, rel=1e-4)
        assert last["GEOM"][:] == pytest.approx(np.array([[0, 0, 0], [0.5, 0, 0]]), abs=1e-9)
    with h5py.File("balls0.h5") as file:
        assert file["0/NUMBER"][:].tolist() == [-1]
        assert file["0/COLOR"][:].tolist() == [7]


@pytest.mark.parametrize(("call", "kind", "message"), [
    (lambda: GRANULAR(0, 1, 1e5), ValueError, "GRANULAR: 'color1' and 'color2' must be positive, or both 0"),
    (lambda: GRANULAR(1, 1, -1), ValueError, "GRANULAR: 'spring' must not be negative"),
    (lambda: GRANULAR(1, 1, 1, friction=(0.1, 0.2)), ValueError, "GRANULAR: 'friction': the dynamic coefficient"),
    (lambda: GRANULAR(1, 1, 1, friction=(0.1, 0.1, 0.1)), ValueError, "GRANULAR: 'friction' must hold 2"),
    (lambda: OBSTACLE([], 1), ValueError, "OBSTACLE: 'triangles' must not be empty"),
    (lambda: OBSTACLE([(0,) * 9], 1), ValueError, "OBSTACLE: 'triangles': triangle 0 has no area"),
    (lambda: OBSTACLE(FLOOR, [1, 2]), ValueError, "OBSTACLE: 'color' must hold a number for each of the 1"),
    (lambda: OBSTACLE(FLOOR, 0), ValueError, "OBSTACLE: 'color' must be at least 1"),
    (lambda: OBSTACLE(FLOOR, 1, (0, 0, 0)), TypeError, "OBSTACLE: a moving obstacle needs 'point' and"),
    (lambda: OBSTACLE(FLOOR, 1, linear=lambda t: (0, 0, 0)), TypeError, "OBSTACLE: a moving obstacle needs 'point' and"),
])  # fmt: skip
def test_wrong_arguments_are_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
    assert (model.current().obstacles.n, model.current().triangles.n, model.current().pairings.n) == (0, 0, 0)


def test_rolling_and_drilling_friction_warn():
    with pytest.warns(SolfecWarning, match="'rolling' and 'drilling' have no effect"):
        GRANULAR(0, 0, 1e5, rolling=0.1)


def test_a_prescribed_sphere_pushes_others():
    ball(0)
    SPHERE((0.2, 0, 0), 0.1, 0, 1)
    PRESCRIBE(0, lambda t: (0.1, 0, 0), lambda t: (0, 0, 0))
    VELOCITY(0, (0.1, 0, 0))
    GRANULAR(0, 0, 1e6, 1.0)
    DEM(0.2, 1e-5, NO_FILES)
    assert model.current().particles.velocity[0, 1] == pytest.approx(0.1, rel=0.3)
    assert model.current().particles.velocity[0, 0] == 0.1


def test_short_runs_search_no_more_often_than_a_long_one(monkeypatch):
    from solfec.parmec import engine

    counts = []
    for parts in (1, 32):
        model.begin(None)
        box_of_balls(60)
        searched = []
        monkeypatch.setattr(engine, "search", lambda now, searched=searched: (searched.append(1), pairs.search(now)))
        for _ in range(parts):
            DEM(0.125 / parts, 2**-12, NO_FILES)
        counts.append(len(searched))
    assert counts[0] == counts[1] < 100
