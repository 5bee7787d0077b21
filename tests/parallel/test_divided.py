"""Models that run divided among several owners: migration, identifiers, the whole model that users see; in threads of one process."""

import copy
import itertools
import re
import sys

import numpy as np
import pytest
from courses import NOTHING, contents, course, scatter, solver
from jointed import Scene
from processes import ROOT, spmd

sys.path.append(str(ROOT / "benchmarks"))  # behind this folder, which has a module processes, too

import models  # noqa: E402

from solfec import BODY, BULK_MATERIAL, CONTACT_OPTIONS, CONTACT_SPARSIFY, GRAVITY, HULL, INITIAL_VELOCITY, SOLFEC, SPHERE, SURFACE_MATERIAL, divided  # noqa: E402
from solfec.divided import Divided  # noqa: E402
from solfec.errors import SolfecError  # noqa: E402
from solfec.kinds import BodyKind  # noqa: E402
from solfec.parallel.communicator import Alone  # noqa: E402
from solfec.parallel.partition import Balance, Partition, imbalance  # noqa: E402
from solfec.solvers import merit  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402
from solfec.solvers.penalty import PenaltySolver  # noqa: E402
from solfec.solvers.siconos import SiconosSolver  # noqa: E402


def crowd():
    """Spheres that fly through one another's regions, and through all leaves of a division."""
    model = models.spheres(60, side=3)
    rng = np.random.default_rng(3)
    for row in np.flatnonzero(model.bodies.view("kind") != BodyKind.OBSTACLE):
        model.states.set_velocity(int(model.bodies.id[row]), rng.uniform(-6, 6, 3) * (1, 1, 0.2), rng.uniform(-20, 20, 3))
    return model


@pytest.mark.parametrize("size", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_bodies_that_cross_leaves_keep_the_bits_of_the_whole(size):
    model = crowd()
    whole, still = course(model, 1, 30)
    parts, moves = course(model, size, 30, balance=Balance(1.05, 1.0, 5))
    assert parts == whole
    assert still == 0 and moves >= 2 * size  # every process moves bodies at least twice


def unequal():
    """Boxes of unlike sizes whose contacts are found ahead of time, on faces that they share, and sparsified."""
    solfec = SOLFEC("DYNAMIC", 1e-3, None, contacts="MANIFOLD")
    bulk = BULK_MATERIAL(solfec, density=1e3)

    def box(low, size, kind="RIGID", velocity=(0, 0, 0)):
        corners = [tuple(a + b * c for a, b, c in zip(low, corner, size)) for corner in itertools.product((0, 1), repeat=3)]
        INITIAL_VELOCITY(BODY(solfec, kind, HULL(corners, 1, 1), bulk), velocity, (0, 0, velocity[0]))

    box((-20, -20, -1), (40, 40, 1), "OBSTACLE")
    box((4, 0, 0.001), (3, 3, 3))
    for i in range(5):
        box((-5 + 1.2 * i, 0, 0.001), 3 * (0.4 + 0.1 * i,), velocity=(1, 0.3 * i - 0.5, 0))
        box((-5 + 1.2 * i, 0, 0.6 + 0.1 * i), (0.3, 0.3, 0.3))
        box((4.1 + 0.51 * i, 0.5, 3.004), (0.5, 0.5, 0.5))
    GRAVITY(solfec, (0, 0, -10))
    CONTACT_SPARSIFY(solfec, 0.05, 1e-4)
    return solfec._simulation.domain


def test_manifolds_have_the_bits_of_the_whole(fresh_session):
    model = settled(unequal())
    assert model.constraints.n > 20
    whole, _ = course(model, 1, 60)
    parts, moves = course(model, 3, 60, balance=Balance(1.02, 1.0, 2))
    assert parts == whole
    assert moves > 3


def test_absurd_divisions_have_the_bits_of_the_whole(monkeypatch):
    model = crowd()
    whole, _ = course(model, 1, 10)
    scatter(monkeypatch)
    assert course(model, 3, 10)[0] == whole


def test_what_users_change_between_steps_reaches_all_parts():
    model = models.stacks(4, 1, 3)

    def change(whole, step):
        bodies = whole.bodies.view("id")
        whole.states.set_velocity(int(bodies[-1]), (0.3, 0, 1.0), (0, 1, 0))
        if step == 9:
            whole.delete_body(int(bodies[1 + len(bodies) // 2]))
            whole.loads.set_gravity((1.0, 0, -9.0))

    assert course(model, 3, 30, between=change)[0] == course(model, 1, 30, between=change)[0]


def test_options_of_sweeps_have_the_bits_of_one_process():
    def make():
        chosen = solver(meritval=1e-4)
        chosen.reverse = True
        return chosen

    model = settled(models.stacks(3, 1, 3))
    whole, _ = course(model, 1, 6, looks=1, make=make)
    assert course(model, 2, 6, looks=1, make=make)[0] == whole
    assert any("status='OK'" in found[-1] and "iterations=1," not in found[-1] for found in whole)


def test_the_penalty_solver_has_the_bits_of_one_process():
    model = crowd()
    model.surface_materials.spring[0] = 1e6
    whole, _ = course(model, 1, 30, make=PenaltySolver)
    assert course(model, 3, 30, make=PenaltySolver)[0] == whole
    for _ in range(30):
        model.advance(PenaltySolver())
    serial, divided_one = contents(model), whole[-1]
    assert model.constraints.n > 5
    works, divided_works = (np.frombuffer(columns.pop(1)) for columns in (serial[0], divided_one[0]))
    assert serial[0] == divided_one[0]  # states of bodies
    assert works == pytest.approx(divided_works, rel=1e-12, abs=1e-12)  # contacts' velocities are added in another order
    assert model.contact_energy == pytest.approx(divided_one[2][2], rel=1e-12)
    residual = float(re.search(r"residual=([^,]+)", divided_one[3])[1])
    assert residual > 0 and model.report.residual == pytest.approx(residual, rel=1e-9)


def test_merit_and_residual_are_those_of_the_whole():
    model = settled(models.stacks(3, 1, 3))
    run = Divided(model, Alone(), solver(), Balance(), NOTHING)
    for _ in range(3):
        run.advance()
        assert (model.report.merit, model.report.residual) == pytest.approx(merit.evaluate(model.local_dynamics), rel=1e-12)
        assert model.report.residual > 0


def settled(model):
    """A model whose bodies have begun to touch."""
    for _ in range(60):
        model.advance(GaussSeidelSolver(1e-3, 50))
    return model


def faster(model):
    model.bodies.triples.velo[0, 7] += 1e-9


def bigger(model):
    model.geometry.vertices.reference[0, 3] += 1e-9


def denser(model):
    model.bodies.mass[2] *= 1.001


def later(model):
    model.time += model.step


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda model: model.delete_body(3), "bodies, properties of bodies, shapes, positions and velocities"),
        (faster, "positions and velocities;"), (bigger, "shapes;"), (denser, "properties of bodies;"), (later, "time and step;"),
    ],
)  # fmt: skip
def test_processes_that_make_different_models_are_told_with_the_same_words(change, name):
    copies = [models.block(2) for _ in range(3)]
    change(copies[1])

    def words(world):
        with pytest.raises(SolfecError) as error:
            Divided(copies[world.rank], world, solver(), Balance(), NOTHING)
        return str(error.value)

    said = spmd(3, words)
    assert f"processes 0 and 1 have made different models: they differ in {name}" in said[0]
    assert said[1] == said[2] == said[0]


def test_what_several_processes_do_not_support_is_refused():
    with pytest.raises(SolfecError, match="support GAUSS_SEIDEL_SOLVER, NEWTON_SOLVER, AUTO_SOLVER and PENALTY_SOLVER so far, not SICONOS_SOLVER"):
        divided.refuse(SiconosSolver.__new__(SiconosSolver))


def test_partitions_balance_weights_and_leave_no_leaf_empty():
    rng = np.random.default_rng(5)
    points, ids, weights = rng.random((3, 500)) ** 2, np.arange(7, 507), rng.uniform(1, 3, 500)
    for leaves in (1, 2, 3, 7, 8):
        tree = Partition(points, ids, weights, leaves)
        leaf = tree.leaf_of(points, ids)
        assert set(leaf) == set(range(leaves))
        assert imbalance(np.bincount(leaf, weights, leaves)) < 1.1
    same = np.zeros((3, 5))  # identifiers divide points that coincide
    assert np.bincount(Partition(same, np.arange(5), np.ones(5), 4).leaf_of(same, np.arange(5)), minlength=4).tolist() in ([1, 1, 1, 2], [1, 2, 1, 1], [2, 1, 1, 1], [1, 1, 2, 1])
    assert set(Partition(points[:, :2], ids[:2], weights[:2], 5).leaf_of(points[:, :2], ids[:2])) <= set(range(5))
    assert len(Partition(points[:, :0], ids[:0], weights[:0], 3).leaf_of(points[:, :0], ids[:0])) == 0


@pytest.mark.parametrize("size", [3, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 5))])
def test_contacts_wait_for_impacts_that_other_processes_know(size):
    """A contact is open in a step in which another one strikes a body of it, also where its process does not hold the body that strikes."""
    solfec = SOLFEC("DYNAMIC", 2e-3, None, contacts="MANIFOLD")
    SURFACE_MATERIAL(solfec, restitution=0.5)
    bulk = BULK_MATERIAL(solfec, density=1e3)
    for k in range(12):
        ball = BODY(solfec, "RIGID", SPHERE((0.4001 * k, 0, 0), 0.2, 1, 1), bulk)
        INITIAL_VELOCITY(ball, (float(k == 0), 0, 0), (0, 0, 0))
    model = solfec._simulation.domain
    assert course(model, size, 20, looks=1)[0] == course(model, 1, 20, looks=1)[0]


def falling_fast(margin=0.0):
    """Balls 1 mm above a floor that move by 5 to 10.5 mm in the first half step."""
    solfec = SOLFEC("DYNAMIC", 1e-3, None, contacts="MANIFOLD")
    if margin:
        CONTACT_OPTIONS(solfec, margin=margin)
    bulk = BULK_MATERIAL(solfec, density=1e3)
    corners = [tuple(np.subtract(corner, 0.5) * (20, 20, 2) - (0, 0, 1)) for corner in itertools.product((0, 1), repeat=3)]
    BODY(solfec, "OBSTACLE", HULL(corners, 1, 1), bulk)
    for k in range(12):
        INITIAL_VELOCITY(BODY(solfec, "RIGID", SPHERE((0.5 * k - 3, 0, 0.051), 0.05, 1, 1), bulk), (0, 0, -10.0 - k), (0, 0, 0))
    return solfec._simulation.domain


@pytest.mark.parametrize("size", [2, 3])
def test_bodies_that_begin_near_and_fast_meet_in_several_processes_as_in_one(size):
    model = falling_fast()
    assert course(model, size, 5)[0] == course(model, 1, 5)[0]
    whole = copy.deepcopy(model)
    for _ in range(5):
        whole.advance(solver())
    np.testing.assert_allclose(whole.bodies.configurations.conf[2, whole.bodies.conf_ptr[1 : whole.bodies.n] + 3], 0.05, atol=1e-8)


def test_processes_name_the_deepest_overlap_of_the_first_half_step():
    model = falling_fast(margin=1e-4)

    def program(world):
        whole = copy.deepcopy(model)
        run = Divided(whole, world, solver(), Balance(), NOTHING)
        for _ in range(3):
            run.advance()
        run.end()
        return whole.swallowed.told()

    found = {text for size in (1, 3) for text in spmd(size, program)}
    assert len(found) == 1 and "bodies 1 and 13 begin 0.001 apart and move by 0.0105" in found.pop()


def test_contacts_of_bodies_that_the_last_call_moves_away_stay_until_the_next_step():
    # the last frame and SOLFEC.ncon lacked those between bodies that no part held together any more
    scene = Scene()
    for k in range(6):
        for height in (0.0, 0.399):
            scene.ball((4.0 * k, 0, height))

    def program(world):
        whole = copy.deepcopy(scene.model)
        run = Divided(whole, world, solver(), Balance(), NOTHING)
        run.advance()
        run.show()
        whole.states.set_conf(1, (1, 0, 0, 0, 1, 0, 0, 0, 1, 50.0, 0, 0))
        before = whole.constraints.n, contents(whole)
        run.take()
        run.collect()
        run.end()
        return before, (whole.constraints.n, contents(whole))

    for before, after in spmd(3, program):
        assert before == after and before[0] == 6


def test_processes_count_steps_with_bodies_in_one_another_together():
    scene = Scene(step=2e-3)
    GRAVITY(scene.solfec, (0, 0, 0))
    scene.box((0, 0, 0))
    scene.box((0, 0, 0))
    scene.box((30, 0, 0))
    scene.box((31, 0, 0), velocity=(-1 / 3e-3, 0, 0))  # inside the other one in the middle of the second step

    def program(world):
        whole = copy.deepcopy(scene.model)
        run = Divided(whole, world, solver(), Balance(), NOTHING)
        for _ in range(2):
            run.advance()
        run.end()
        return whole.swallowed.told()

    found = {text for size in (1, 2, 4) for text in spmd(size, program)}
    assert len(found) == 1 and "in 2 steps" in (said := found.pop()) and "bodies 1 and 2" in said
