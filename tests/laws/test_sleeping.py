"""Islands that sleep carry what they carried awake, wake when anything disturbs them, and move on as islands that never slept."""

import copy

import numpy as np
import pytest

import solfec as s
from solfec.errors import SolfecError
from solfec.solvers.gauss_seidel import GaussSeidelSolver

STEP, G = 1e-3, 9.81


def tower(count=4, sleeping="ON", ball=False, contacts="CLASSIC"):
    """A stack of unit cubes on an obstacle, and perhaps a ball that flies towards it."""
    solfec = s.SOLFEC("DYNAMIC", STEP, contacts=contacts)
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=0.6)
    stone = s.BULK_MATERIAL(solfec, density=1000.0)
    s.GRAVITY(solfec, (0, 0, -G))
    ground = s.BODY(solfec, "OBSTACLE", block((-5, -5, -1), (5, 5, 0)), stone)
    cubes = [s.BODY(solfec, "RIGID", block((0, 0, k), (1, 1, k + 1)), stone) for k in range(count)]
    missile = None
    if ball:
        missile = s.BODY(solfec, "RIGID", s.SPHERE((2.0, 0.5, count), 0.2, 1, 1), stone)
        s.INITIAL_VELOCITY(missile, (-4.0, 0, 0), (0, 0, 0))
    solfec.sleeping = sleeping
    return solfec, ground, cubes, missile


def block(low, high):
    (x0, y0, z0), (x1, y1, z1) = low, high
    return s.HULL([c for z in (z0, z1) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1)) for c in (x, y, z)], 1, 1)


def run(solfec, steps):
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-9, 2000), steps * STEP)


def asleep(solfec):
    return solfec._domain.bodies.view("rest") < 0


def normal_forces(solfec):
    """Sum of normal reactions by height of contacts."""
    table = solfec._domain.constraints
    heights = np.round(table.view("point")[2]).astype(int)
    return np.bincount(heights, weights=table.view("R")[2])


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
def test_sleeping_stack_carries_its_weight(contacts):
    solfec, *_ = tower(contacts=contacts)
    run(solfec, 150)
    assert asleep(solfec).tolist() == [False] + [True] * 4
    assert solfec._domain.local_dynamics.n == 0
    assert normal_forces(solfec)[:4] == pytest.approx([4000 * G, 3000 * G, 2000 * G, 1000 * G], rel=1e-5)


SOLVERS = {
    "GAUSS_SEIDEL by colours": lambda: by_colours(),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-16, 1000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-9),
}


def by_colours():
    solver = s.GAUSS_SEIDEL_SOLVER(1e-9, 2000)
    solver.colouring = "ON"
    return solver


@pytest.mark.parametrize("name", SOLVERS)
def test_stacks_sleep_and_wake_with_every_solver(name):
    solfec, _, cubes, _ = tower(contacts="MANIFOLD")
    s.RUN(solfec, SOLVERS[name](), 150 * STEP)
    assert asleep(solfec)[1:].all()
    assert normal_forces(solfec)[:4] == pytest.approx([4000 * G, 3000 * G, 2000 * G, 1000 * G], rel=1e-5)
    s.DELETE(solfec, cubes[0])
    s.RUN(solfec, SOLVERS[name](), 50 * STEP)
    assert 2.5 - cubes[2].conf[11] == pytest.approx(0.5 * G * (50 * STEP) ** 2, abs=1e-5)


def test_nothing_sleeps_unless_asked():
    solfec, *_ = tower(sleeping="OFF")
    run(solfec, 150)
    assert not asleep(solfec).any()


def test_struck_stack_moves_as_one_that_never_slept():
    """The ball needs 325 steps to reach the top cube; the stack sleeps until then, and no impulse is lost."""
    places, energies = [], []
    for sleeping in ("ON", "OFF"):
        solfec, _, cubes, ball = tower(sleeping=sleeping, ball=True)
        run(solfec, 150)
        assert asleep(solfec)[1:5].all() == (sleeping == "ON")
        assert not asleep(solfec)[5]
        run(solfec, 250)
        assert not asleep(solfec).any()
        places.append([body.conf for body in (*cubes, ball)])
        energies.append(solfec._domain.energy())
    assert np.abs(np.array(places[1])).max() > 1.0
    assert places[0] == pytest.approx(np.array(places[1]), abs=1e-6)
    assert energies[0] == pytest.approx(energies[1], rel=1e-5, abs=1e-3)


def test_stack_falls_when_its_bottom_cube_goes():
    solfec, _, cubes, _ = tower()
    run(solfec, 150)
    s.DELETE(solfec, cubes[0])
    run(solfec, 50)
    assert not asleep(solfec).any()
    fallen = 0.5 * G * (50 * STEP) ** 2
    assert [2.5 - cubes[2].conf[11], 3.5 - cubes[3].conf[11]] == pytest.approx([fallen] * 2, abs=1e-5)


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("how", ["bodies", "surfaces", "after a deletion"])
def test_stack_falls_when_contact_with_its_ground_is_excluded(how, contacts):
    solfec, ground, cubes, _ = tower(contacts=contacts)
    apart = s.BODY(solfec, "RIGID", block((3, 3, 0), (4, 4, 1)), s.BULK_MATERIAL(solfec, density=1.0))
    run(solfec, 150)
    assert asleep(solfec)[1:].all()
    if how == "surfaces":
        s.CONTACT_EXCLUDE_SURFACES(solfec, 1, 1)
    else:
        s.CONTACT_EXCLUDE_BODIES(ground, cubes[0])
    if how == "after a deletion":
        s.DELETE(solfec, apart)
    run(solfec, 50)
    fallen = 0.5 * G * (50 * STEP) ** 2
    assert 0.5 - cubes[0].conf[11] == pytest.approx(fallen, abs=1e-5)


def test_stack_follows_ground_that_begins_to_move_as_one_that_never_slept():
    places = []
    for sleeping in ("ON", "OFF"):
        solfec, ground, cubes, _ = tower(sleeping=sleeping)
        run(solfec, 150)
        s.SET_VELOCITY(ground, s.MASS_CENTER(ground), (1, 0, 0), 0.05)
        run(solfec, 100)
        assert not asleep(solfec).any()
        places.append([body.conf for body in cubes])
    assert places[0] == pytest.approx(np.array(places[1]), abs=1e-7)
    assert min(conf[9] for conf in places[1]) - 0.5 > 0.004


@pytest.mark.parametrize("change", ["gravity", "friction", "force", "velocity", "place", "constraint", "off"])
def test_changes_wake(change):
    solfec, _, cubes, _ = tower()
    run(solfec, 150)
    top = cubes[-1]
    if change == "gravity":
        s.GRAVITY(solfec, (1.0, 0, -G))
    elif change == "friction":
        s.SURFACE_MATERIAL(solfec, friction=0.1)
    elif change == "force":
        s.FORCE(top, "SPATIAL", s.MASS_CENTER(top), (1, 0, 0), 10.0)
    elif change == "velocity":
        s.INITIAL_VELOCITY(top, (0.1, 0, 0), (0, 0, 0))
    elif change == "constraint":
        s.FIX_POINT(top, s.MASS_CENTER(top))
    elif change == "off":
        solfec.sleeping = "OFF"
    else:
        top.conf = (*top.conf[:9], top.conf[9], top.conf[10], top.conf[11] + 0.1)
    run(solfec, 1)
    assert not asleep(solfec).any()
    run(solfec, 10)
    if change == "force":  # it stays on, so the stack does not sleep again
        run(solfec, 150)
        assert not asleep(solfec).any()


def test_only_the_touched_stack_wakes():
    solfec, *_ = tower(count=2)
    stone = solfec._domain.bulk_materials[0].label
    other = [s.BODY(solfec, "RIGID", block((3, 0, k), (4, 1, k + 1)), stone) for k in range(2)]
    run(solfec, 150)
    assert asleep(solfec)[1:].all()
    s.INITIAL_VELOCITY(other[1], (0, 0.2, 0), (0, 0, 0))
    run(solfec, 2)
    assert asleep(solfec).tolist() == [False, True, True, False, False]


def test_only_the_struck_stack_wakes():
    solfec, *_ = tower(count=2)
    stone = solfec._domain.bulk_materials[0].label
    for k in range(2):
        s.BODY(solfec, "RIGID", block((3, 0, k), (4, 1, k + 1)), stone)
    run(solfec, 150)
    missile = s.BODY(solfec, "RIGID", s.SPHERE((4.201, 0.5, 1.5), 0.2, 1, 1), stone)
    s.INITIAL_VELOCITY(missile, (-1.0, 0, 0), (0, 0, 0))
    run(solfec, 10)
    assert asleep(solfec).tolist() == [False, True, True, False, False, False]


def test_a_copy_goes_on_with_the_same_bits():
    solfec, *_ = tower(ball=True)
    run(solfec, 200)
    one, solver = solfec._domain, GaussSeidelSolver(1e-9, 2000)
    two = copy.deepcopy(one)
    for model in (one, two):
        for _ in range(200):
            model.advance(solver)
    assert not (one.bodies.view("rest") < 0).any()
    assert one.bodies.configurations.view("conf").tobytes() == two.bodies.configurations.view("conf").tobytes()


def test_energy_does_not_grow():
    solfec, *_ = tower()
    before = solfec._domain.energy()
    run(solfec, 300)
    change = solfec._domain.energy() - before
    assert change[0] == 0.0 and change[5] >= 0.0


@pytest.mark.parametrize("value", [0.0, -1.0, "YES", (0.1,), (0.1, 0), float("nan")])
def test_bad_settings_are_refused(value):
    solfec, *_ = tower(sleeping="OFF")
    with pytest.raises((SolfecError, TypeError, ValueError), match="sleeping"):
        solfec.sleeping = value


def test_quasi_statics_are_refused():
    solfec = s.SOLFEC("QUASI_STATIC", STEP)
    with pytest.raises((SolfecError, ValueError), match="dynamics"):
        solfec.sleeping = "ON"


@pytest.mark.parametrize("limit", ["ON", 0.5, (0.5, 1)])
def test_ball_does_not_sleep_at_the_highest_point_of_its_way(limit):
    solfec, *_ = tower(0, limit)
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 2), 0.1, 1, 1), s.BULK_MATERIAL(solfec, density=1000.0))
    s.INITIAL_VELOCITY(ball, (0, 0, 1.0), (0, 0, 0))
    run(solfec, 300)
    assert ball.conf[11] == pytest.approx(2 + 0.3 - 0.5 * G * 0.09, rel=1e-6)
