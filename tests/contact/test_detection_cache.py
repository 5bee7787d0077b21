"""What detection keeps from step to step changes nothing but the time: same contacts, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import Model, box, mesh_box

from solfec.bodies.table import BodyKind
from solfec.shapes.sphere import Sphere

OBSTACLE = BodyKind.OBSTACLE


def pile(**settings):
    """Boxes, meshes and spheres on a floor, in places drawn at random."""
    random = np.random.default_rng(4)
    model = Model(**settings)
    model.add(box((-4, -4, -1), (4, 4, 0)), kind=OBSTACLE)
    for k in range(60):
        x, y = random.uniform(-3.5, 3.5, 2)
        z = random.uniform(0.0, 1.5)
        size = random.uniform(0.3, 0.6)
        low, high = (x, y, z), (x + size, y + size, z + size)
        if k % 3 == 0:
            model.add(box(low, high))
        elif k % 3 == 1:
            model.add(mesh_box(low, high, (2, 2, 2)))
        else:
            model.add(Sphere((x, y, z + 0.3), 0.3, 0, 0))
    return model


def forget(model):
    """Lose everything that is kept."""
    model.geometry.workspace = None
    model.constraints.view("evaluated")[:] = -1


def same(one, two):
    for name in one.constraints.COLUMNS:
        if name != "evaluated":
            a, b = one.constraints.view(name), two.constraints.view(name)
            assert a.tobytes() == b.tobytes(), name


def turned(axes, angle):
    """Columns of an orthogonal matrix after a turn about the last axis."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return axes @ np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("options", [{}, {"margin": 0.05}, {"patch": True}, {"margin": 0.05, "patch": True}])
@pytest.mark.parametrize("pace", [1e-4, 3e-2])
def test_results_are_those_of_a_search_and_evaluation_of_all(options, pace):
    kept, fresh = pile(**options), pile(**options)
    random = np.random.default_rng(7)
    for step in range(25):
        for row in random.choice(np.arange(1, 61), 12 if step % 4 else 0, replace=False):
            vector = pace * random.normal(size=3)
            for model in (kept, fresh):
                model.move(row, vector)
                model.conf(row)[:, :3] = turned(model.conf(row)[:, :3], vector[0])
        forget(fresh)
        assert kept.detect() == fresh.detect()
        same(kept, fresh)
    assert kept.constraints.n > 15


def test_a_body_that_turned_far_from_others_meets_them_with_its_present_faces():
    model = Model()
    cube, ball = model.add(box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))), model.add(Sphere((5.0, 0.0, 0.0), 0.2, 0, 0))
    for angle in np.radians([0.0, 10.0, 20.0, 30.0]):
        model.conf(cube)[:, :3] = turned(np.eye(3), angle)
        model.detect()
        assert model.constraints.n == 0
    normal = model.conf(cube)[:, 0].copy()
    model.conf(ball)[:, 3] = 0.699 * normal
    model.detect()
    assert np.abs(normal @ model.constraints.base[:, 2, 0]) == pytest.approx(1.0, abs=1e-14)
    assert model.constraints.gap[0] == pytest.approx(-0.001, abs=1e-14)


def test_exclusions_and_deletions_in_between_are_seen():
    kept, fresh = pile(), pile()
    for model in (kept, fresh):
        model.detect()
        model.settings.exclude_bodies(*model.bodies.id[list(model.pairs()[3])])
        model.constraints.keep(np.arange(model.constraints.n) < 2)
    forget(fresh)
    for model in (kept, fresh):
        model.detect()
    same(kept, fresh)


def test_what_rests_is_not_looked_at_again():
    """After a step in which nothing moved, no pair of primitives is evaluated."""
    model = pile(min_distance=0.0, threshold=0.0)
    for _ in range(3):
        model.detect()
    work = model.geometry.workspace
    searches = work.pairs_state
    model.detect()
    assert work.known + work.found == 0 and work.pairs_state is searches
    model.move(model.pairs()[0][1], (0.0, 0.0, 1e-6))
    model.detect()
    assert 0 < work.known + work.found < 40


def terrain(**settings):
    """Tiles that are obstacles, one body each, and boxes and spheres on them."""
    random = np.random.default_rng(5)
    model = Model(**settings)
    for x in range(8):
        for y in range(8):
            height = 0.02 * random.normal()
            model.add(box((x, y, height - 1), (x + 1, y + 1, height)), kind=OBSTACLE)
    for k in range(40):
        x, y = random.uniform(0.3, 7.2, 2)
        if k % 2:
            model.add(box((x, y, 0), (x + 0.5, y + 0.5, 0.5)))
        else:
            model.add(Sphere((x, y, 0.2), 0.22, 0, 0))
    return model


@pytest.mark.parametrize("options", [{}, {"margin": 0.05}])
def test_obstacles_that_start_to_move_or_are_added_meet_what_they_would(options):
    """Boxes of obstacles are sorted once; results are those of sorting them in every step."""
    kept, fresh = terrain(**options), terrain(**options)
    random = np.random.default_rng(7)
    for step in range(30):
        moves = {int(row): 0.03 * random.normal(size=3) for row in random.choice(np.arange(64, 104), 10, replace=False)}
        if step >= 10 and step % 3:  # two tiles move then
            moves.update({9: np.array([0.0, 0.0, 0.04]), 30: np.array([0.1, 0.0, 0.0])})
        for model in (kept, fresh):
            for row, vector in moves.items():
                model.move(row, vector)
            if step == 20:
                model.add(box((2, 2, 0.1), (6, 6, 0.3)), kind=OBSTACLE)
        forget(fresh)
        assert kept.detect() == fresh.detect()
        same(kept, fresh)
    still = kept.geometry.workspace.still
    assert kept.constraints.n > 40
    assert set(range(64)) - set(still.bodies) == {9, 30} and 104 in still.bodies


def test_still_obstacles_are_sorted_once_and_searched_by_what_moves():
    model = terrain()
    model.detect()
    still = model.geometry.workspace.still
    grid, sorted_at = still.cells, still.sorted
    model.move(70, (0.5, 0.0, 0.0))
    before = model.geometry.workspace.searched
    model.detect()
    assert model.geometry.workspace.searched > before  # pairs were searched anew
    assert still.cells is grid and still.sorted == sorted_at
    assert still.bodies.tolist() == list(range(64)) and still.movable.tolist() == list(range(64, 104))


def test_contacts_find_their_pairs_again_whatever_rows_they_have():
    """Where a contact's pair is kept is remembered by rows, which other contacts take when some are deleted."""
    kept, fresh = pile(), pile()
    random = np.random.default_rng(11)
    for step in range(12):
        keep = random.random(1000) < (0.7 if step % 3 == 1 else 1.0)
        for model in (kept, fresh):
            model.constraints.keep(keep[: model.constraints.n])
        if step % 4 == 3:
            for row in range(1, 61):
                for model in (kept, fresh):
                    model.move(row, (0.002 * row, 0.0, 0.0))
        forget(fresh)
        assert kept.detect() == fresh.detect()
        same(kept, fresh)
    assert kept.constraints.n > 15
