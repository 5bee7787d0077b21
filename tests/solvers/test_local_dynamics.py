"""W, B and V against Solfec-1.0, the order of rows, and reactions back on bodies."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_threads import with_threads
from particle_scene import Scene, wall
from reference_rows import assembled, dense, load

from solfec.bodies.table import BodyKind, Energy
from solfec.errors import SolfecError
from solfec.solvers.assembly import assemble_rows
from solfec.solvers.gauss_seidel import GaussSeidelSolver

MODELS = [
    "m01_000", "m01_005", "m01_060", "m02_000", "m02_100", "m03_000", "m03_020", "m03_100", "m08_000", "m08_100",
    "m08_300", "m11_000", "m11_050", "m11_150", "m12_000", "m12_004", "m13_000", "m13_010", "m13_050",
]  # fmt: skip


def relative(value, expected) -> float:
    return float(np.abs(value - expected).max() / max(np.abs(expected).max(), 1e-300))


@pytest.mark.parametrize("name", MODELS)
def test_local_dynamics_of_rigid_models_equal_those_of_solfec(name):
    data = load(name)
    local = assembled(data)
    rows, n = local.rows, local.n
    assert relative(local.matrix(), dense(data)) < 1e-12
    np.testing.assert_allclose(rows.B[:, :n].T, data["B"], rtol=1e-12, atol=1e-12 * np.abs(data["B"]).max())
    np.testing.assert_allclose(
        rows.V[:, :n].T, data["V"], rtol=1e-12, atol=1e-14 + 1e-12 * np.abs(data["V"]).max()
    )
    assert (
        relative(rows.block[14, :n], data["rho"]) < 1e-7
    )  # closed form: half the digits at double eigenvalues


@pytest.mark.parametrize("name", MODELS)
def test_rows_stand_in_the_order_of_solfecs_sweep(name):
    data = load(name)
    local = assembled(data)
    ids = local.constraints.id[local.rows.order[: local.n]]
    assert (ids == data["id"]).all()


def test_user_constraints_follow_the_contacts_last_created_first():
    scene = Scene(0.01)
    ground = scene.obstacle()
    one, two = scene.body(), scene.body(centre=(1, 0, 0))
    first = scene.fix("FIXPNT", one)
    second = scene.fix("FIXPNT", two)
    old = [scene.contact(one, ground, birth=3), scene.contact(two, ground, birth=3)]
    new = [scene.contact(two, one, birth=7)]
    local = scene.assemble()
    assert local.rows.order[:5].tolist() == [*new, *old, second, first]


def test_w_is_symmetric_and_couples_exactly_the_rows_that_share_a_moving_body():
    scene = wall(3)
    local = scene.assemble()
    w = local.matrix()
    assert np.abs(w - w.T).max() <= 1e-16 * np.abs(w).max()
    constraints = scene.constraints
    order = local.rows.order[: local.n]
    sides = [{int(constraints.master[i]), int(constraints.slave[i])} - {0} for i in order]
    coupled = np.abs(w.reshape(local.n, 3, local.n, 3)).max(axis=(1, 3)) > 0
    expected = np.array([[bool(a & b) for b in sides] for a in sides])
    assert (coupled <= expected).all()
    count = local.rows.block_ptr[local.n]
    assert count == expected.sum() - local.n
    assert local.visits >= count


def test_contacts_do_not_move_an_obstacle_but_other_constraints_do():
    scene = Scene(0.01)
    obstacle = scene.obstacle(mass=5.0, velocity=(0, 0, 2.0))
    ball = scene.body(mass=2.0)
    held = scene.fix("VELODIR", obstacle, value=[1.0, 0, 0])
    touching = scene.contact(ball, obstacle)
    local = scene.assemble()
    contact = local.rows.order[: local.n].tolist().index(touching)
    w = local.matrix().reshape(2, 3, 2, 3)
    np.testing.assert_allclose(w[contact, :, contact, :], 0.01 / 2.0 * np.eye(3), rtol=1e-14)
    np.testing.assert_allclose(w[1 - contact, 2, 1 - contact, 2], 0.01 / 5.0, rtol=1e-14)
    assert np.abs(w[contact, :, 1 - contact, :]).max() == 0.0
    assert local.rows.B[2, contact] == pytest.approx(-2.0)  # its velocity is felt all the same
    assert held == 0


@pytest.mark.extreme_numbers
def test_a_contact_of_a_body_with_itself_uses_the_difference_of_both_operators():
    scene = Scene(0.01)
    body = scene.body(kind=BodyKind.RIGID, velocity=(3, 1, 2), inertia=0.5)
    row = scene.contact(body, body, (1.0, 0, 0))
    scene.constraints.slave_point[:, row] = (0.0, 1.0, 0.0)
    scene.bodies.triples.velo[:, 0] = (0.1, 0.2, 0.3)
    local = scene.assemble()
    base = scene.constraints.base[..., row]
    arm = np.array([1.0, -1.0, 0.0])
    skew = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    operator = -base.T @ skew
    np.testing.assert_allclose(local.matrix(), 0.01 / 0.5 * operator @ operator.T, atol=1e-16)
    np.testing.assert_allclose(local.rows.B[:, 0], base.T @ np.cross((0.1, 0.2, 0.3), arm), atol=1e-15)


def test_pseudo_rigid_bodies_contribute_through_the_rows_of_their_gradient():
    scene = Scene(0.01)
    body = scene.bodies.add(BodyKind.PSEUDO_RIGID, mass=2.0, centre=np.zeros(3), tensor=0.5 * np.eye(3))
    inverse = scene.bodies.triples.inverse_inertia
    inverse[..., :3] = 2.0 * np.eye(3)[..., None]
    inverse[..., 3] = 0.5 * np.eye(3)
    ground = scene.bodies.add(BodyKind.OBSTACLE, mass=1.0)
    scene.contact(body, ground, (0.3, 0.4, -0.5))
    local = scene.assemble()
    # W = h (X.E^-1 X + 1/m) I for every base
    np.testing.assert_allclose(local.matrix(), 0.01 * (2.0 * 0.5 + 0.5) * np.eye(3), atol=1e-16)


def test_a_sphere_resting_on_a_plane():
    h, mass, radius, gravity = 0.01, 1.0, 0.3, 10.0
    scene = Scene(h, (0, 0, -gravity))
    ball = scene.body(mass=mass, inertia=0.4 * mass * radius**2)
    row = scene.contact(ball, scene.obstacle(centre=(0, 0, -1)), (0, 0, -radius))
    scene.predict()
    local = scene.assemble()
    np.testing.assert_allclose(local.matrix(), np.diag([0.035, 0.035, 0.01]), atol=1e-15)
    assert local.rows.B[2, 0] == pytest.approx(-0.1)
    GaussSeidelSolver(1e-10, 10).solve(local)
    scene.correct()
    np.testing.assert_allclose(scene.reaction(row), (0, 0, 10), atol=1e-12)
    np.testing.assert_allclose(scene.constraints.U[:, row], 0, atol=1e-15)
    np.testing.assert_allclose(scene.linear[:, ball], 0, atol=1e-15)


@pytest.mark.parametrize("name", ["m01_005", "m08_100", "m13_010"])
def test_reactions_on_bodies_give_the_velocities_that_the_rows_promise(name):
    data = load(name)
    local = assembled(data)
    GaussSeidelSolver(1e-8, 5000).solve(local)
    promised = local.rows.U[:, : local.n].copy()
    bodies = local.bodies
    local.apply_reactions()
    n = bodies.triples.n
    bodies.triples.velo[:, :n] += local.step * np.einsum(
        "ijk,jk->ik", bodies.triples.inverse_inertia[..., :n], bodies.triples.reaction[:, :n]
    )
    again = assembled(data)
    again.bodies.triples.velo[:, :n] = bodies.triples.velo[:, :n]
    assemble_rows(again)
    np.testing.assert_allclose(again.rows.B[:, : local.n], promised, atol=1e-14)


def test_contact_work_is_counted_in_full_on_both_bodies_and_once_in_the_total():
    scene = Scene(0.01)
    scene.materials.friction[0] = 0.5
    one = scene.body(velocity=(0, 0, 0))
    two = scene.body(centre=(0, 0, 0), velocity=(1.0, 0, -2.0))
    ground = scene.obstacle()
    scene.contact(two, one)
    scene.predict()
    kinetic = 0.5 * 5.0
    GaussSeidelSolver(1e-12, 50).solve(scene.assemble())
    contact, friction = scene.correct()
    assert contact + friction == pytest.approx(0.5 * (scene.linear**2).sum() - kinetic)
    assert contact < 0 and friction < 0
    energy = scene.bodies.energy
    for body in (one, two):
        assert energy[Energy.CONTACT, body] == pytest.approx(contact)
        assert energy[Energy.FRICTION, body] == pytest.approx(friction)
    assert not energy[:, ground].any()


def test_results_do_not_depend_on_the_number_of_threads():
    results = []
    for _ in with_threads(1, 2):
        scene = wall(7)
        work = scene.advance(GaussSeidelSolver(1e-3, 30))
        rows, n = scene.local.rows, scene.local.n
        results.append(
            [work, rows.B[:, :n].copy(), scene.local.matrix(), rows.R[:, :n].copy(), rows.U[:, :n].copy(),
             rows.residual[:n].copy(), scene.bodies.triples.reaction.copy(), scene.report.merit]
        )  # fmt: skip
    for one, two in zip(*results, strict=True):
        assert np.array_equal(one, two)


def test_the_numbers_of_a_contact_do_not_depend_on_how_many_others_there_are():
    answers = []
    for others in range(10):
        random = np.random.default_rng(3)
        scene = Scene(0.01)
        ground = scene.obstacle()
        for _ in range(others + 1):
            ball = scene.body(mass=random.uniform(1, 2), inertia=random.uniform(1, 2), velocity=random.normal(size=3))
            scene.bodies.triples.velo[:, 2 * ball] = random.normal(size=3)
            scene.contact(ball, ground, point=random.normal(size=3), normal=(0.6, 0.0, 0.8))
        scene.predict()
        scene.assemble()
        rows = scene.local.rows
        answers.append([rows.diagonal[..., 0].tobytes(), rows.B[:, 0].tobytes(), rows.V[:, 0].tobytes()])
    assert all(answer == answers[0] for answer in answers)


def test_a_body_that_cannot_be_moved_is_named():
    scene = Scene(0.01)
    body = scene.body()
    scene.bodies.id[body] = 12
    scene.bodies.triples.inverse_inertia[..., 2 * body : 2 * body + 2] = 0.0
    scene.fix("FIXPNT", body)
    with pytest.raises(SolfecError, match="constraint 1 .* body 12"):
        scene.assemble()


def test_assembling_again_allocates_nothing():
    scene = wall(4)
    local = scene.assemble()
    tables = (local.rows, local.entries, local.blocks, local.attachments, local.pointers)
    before = [(table.capacity, table.generation) for table in tables]
    work = local.triples
    for _ in range(3):
        scene.assemble()
    assert [(table.capacity, table.generation) for table in tables] == before
    assert local.triples is work
