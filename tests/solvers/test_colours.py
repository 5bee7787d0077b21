"""Gauss-Seidel by colours: what stands in a colour, the same bits for any number of threads, the same solution."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_threads import with_threads
from particle_scene import Scene, wall

from solfec.bodies.table import BodyKind
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.local_dynamics import COLOURED_FROM, LocalDynamics

FORMS = pytest.mark.parametrize("stored", [True, False], ids=["stored", "velocity"])


def assembled(scene: Scene, colouring: str, stored=None) -> LocalDynamics:
    local = LocalDynamics()
    local.assemble(
        scene.constraints, scene.bodies, scene.materials, scene.step, True, stored=stored, colouring=colouring
    )
    return local


def shaken(side: int) -> Scene:
    """A pile of balls with random velocities."""
    scene = wall(side)
    scene.linear[:, 1:] += 0.3 * np.random.default_rng(5).standard_normal(scene.linear[:, 1:].shape)
    return scene


@pytest.fixture(scope="module")
def pile() -> Scene:
    """A shaken pile of 1000 balls; every fifth contact is doubled, so that pairs have several."""
    scene = shaken(10)
    c = scene.constraints
    for row in range(0, c.n, 5):
        scene.contact(c.master[row], c.slave[row], c.point[:, row] + 0.01, c.base[:, 2, row], birth=1)
    scene.predict()
    return scene


def chunks_of(local: LocalDynamics):
    """(colour, rows) of every chunk."""
    for colour in range(local.colours):
        for k in range(local.colour_ptr[colour], local.colour_ptr[colour + 1]):
            yield colour, np.arange(local.rows.chunk_ptr[k], local.rows.chunk_ptr[k + 1])


def test_chunks_of_a_colour_share_no_body_that_moves(pile):
    local = assembled(pile, "ON")
    assert 2 < local.colours < 20
    moves = pile.bodies.view("kind") != BodyKind.OBSTACLE
    owners: dict[int, dict[int, int]] = {}
    rows_seen = []
    for chunk, (colour, rows) in enumerate(chunks_of(local)):
        constraints = local.rows.order[rows]
        for k in np.concatenate([pile.constraints.master[constraints], pile.constraints.slave[constraints]]):
            if moves[k]:
                assert owners.setdefault(colour, {}).setdefault(int(k), chunk) == chunk
        rows_seen.append(rows)
    rows_seen = np.concatenate(rows_seen)
    np.testing.assert_array_equal(rows_seen, np.arange(rows_seen.size))
    assert rows_seen.size > 0.8 * local.n


def test_every_constraint_stands_in_one_row_and_the_rest_in_the_order_of_keys(pile):
    local, plain = assembled(pile, "ON"), assembled(pile, "OFF")
    order, natural = local.rows.order[: local.n], plain.rows.order[: plain.n]
    np.testing.assert_array_equal(np.sort(order), np.arange(local.n))
    tail = order[local.rows.chunk_ptr[local.colour_ptr[local.colours]] :]
    place = np.argsort(natural)
    assert (np.diff(place[tail]) > 0).all()
    assert plain.colours == 0


def test_contacts_of_a_pair_stand_together(pile):
    local = assembled(pile, "ON")
    order = local.rows.order[: local.n]
    pairs = np.stack([pile.constraints.master[order], pile.constraints.slave[order]])
    runs = 1 + np.count_nonzero((np.diff(pairs) != 0).any(0))
    assert runs == np.unique(pairs, axis=1).shape[1]


@FORMS
@pytest.mark.parametrize("reverse", [False, True])
def test_bits_do_not_depend_on_the_number_of_threads(pile, stored, reverse):
    results = []
    for _ in with_threads(1, 2, 3):
        local = assembled(pile, "ON", stored)
        solver = GaussSeidelSolver(1e-12, 12, meritval=1e-12)
        solver.reverse = reverse
        solver.solve(local)
        results.append((local.rows.R[:, : local.n].copy(), solver.rerhist, solver.merhist))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0][0], other[0])
        assert results[0][1:] == other[1:]


@FORMS
def test_coloured_sweeps_find_the_same_velocities(stored):
    scene = shaken(7)
    velocities, residuals = [], []
    for colouring in ("OFF", "ON"):
        local = assembled(scene, colouring, stored)
        assert (local.colours > 0) == (colouring == "ON")
        report = GaussSeidelSolver(1e-8, 5000).solve(local)
        assert report.status == "OK"
        residuals.append(report.residual)
        u = np.empty((3, local.n))
        u[:, local.rows.order[: local.n]] = local.rows.U[:, : local.n]
        velocities.append(u)
    assert max(residuals) < 1e-6
    np.testing.assert_allclose(*velocities, atol=1e-5)


def test_models_above_two_thousand_rows_are_coloured_by_themselves(pile):
    assert pile.constraints.n > COLOURED_FROM
    assert assembled(pile, "AUTO").colours > 0
    small = wall(7)
    assert small.constraints.n < COLOURED_FROM
    assert assembled(small, "AUTO").colours == 0
    assert GaussSeidelSolver(1e-3, 10).colouring == "AUTO"


def test_a_hub_that_touches_everything_is_swept_serially():
    scene = Scene(1e-3, (0, 0, -10.0))
    hub = scene.body(mass=100.0)
    floor = scene.obstacle()
    scene.contact(hub, floor)
    for k in range(400):
        scene.contact(scene.body(centre=(k, 0, 1)), hub, (k, 0, 0.5))
    scene.predict()
    local = assembled(scene, "ON", stored=False)
    assert local.colours == 0
    report = GaussSeidelSolver(1e-6, 2000).solve(local)
    assert report.status == "OK"


def test_the_users_constraints_come_last_in_either_order():
    scene = Scene(1e-3, (0, 0, -10.0))
    floor = scene.obstacle()
    balls = [scene.body(centre=(2 * k, 0, 0)) for k in range(300)]
    for ball in balls[:5]:
        scene.fix("FIXPNT", ball, slave=-1)
    for ball in balls:
        scene.contact(ball, floor)
    scene.predict()
    local = assembled(scene, "ON")
    assert local.colours == 1
    np.testing.assert_array_equal(local.rows.order[300:305], [4, 3, 2, 1, 0])
    assert (local.rows.order[:300] >= 5).all()
    assert GaussSeidelSolver(1e-8, 100).solve(local).status == "OK"


@pytest.mark.extreme_numbers
def test_a_number_that_is_not_finite_is_reported_from_any_colour(pile):
    local = assembled(pile, "ON")
    local.rows.free[2, 77] = np.nan
    report = GaussSeidelSolver(1e-6, 50).solve(local)
    assert report.status == "DIAGONAL_FAILED"
