"""The broad phase finds every overlapping pair once, in one order, whatever sizes, places and threads there are."""

from __future__ import annotations

import time

import numpy as np
import pytest
from detection_models import Model, box
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_threads import with_threads

from solfec import _kernels
from solfec.bodies.table import BodyTable
from solfec.contact.current_faces import current_faces
from solfec.contact.geometry import Geometry
from solfec.contact.still import CLASSES, FIGURES, SPARE_CELLS
from solfec.contact.workspace import workspace_of

OBSTACLE, RIGID = 0, 1


def find(boxes, body=None, kinds=None, excluded=(), capacity=4, still=False):
    """Pairs of primitive rows found for boxes (6, n); one rigid body per box unless given.

    With `still` the boxes of obstacles are in a grid of their own.
    """
    n = boxes.shape[1]
    body = np.arange(n) if body is None else np.asarray(body)
    kinds = np.full(body.max(initial=0) + 1, RIGID) if kinds is None else np.asarray(kinds)
    boxes = np.asfortranarray(boxes)
    bodies, geometry = BodyTable(), Geometry()
    for kind in kinds:
        bodies.add(int(kind), id=bodies.n + 1)
    geometry.primitives.append(n, outer_count=1, body=body.astype(np.int32))
    geometry.version += 1
    faces, work = current_faces(geometry), workspace_of(geometry, bodies)
    work.fit_search(geometry.primitives.capacity)
    work.fat[:, :n] = boxes
    apart = still & (kinds[body] == OBSTACLE)
    members = np.flatnonzero(apart).astype(np.int32)
    columns = (
        np.zeros((members.size + 8, 6), np.float32, order="F"), np.zeros((members.size + 8, 3), np.int32, order="F"),
        np.zeros(4 * members.size + SPARE_CELLS, np.int32),
    )  # fmt: skip
    grid, capacities = np.zeros((FIGURES, CLASSES), order="F"), geometry.primitives
    _kernels.broad_phase.sort_still(
        members, work.fat, capacities.kind, capacities.outer_count, work.rows, work.records, grid, *columns
    )
    work.still.movable = np.flatnonzero(~apart).astype(np.int32)
    handles = np.array([*bodies.handles, *faces.handles, work.handle, work.still.handle], np.longlong)
    pairs = np.asfortranarray(np.array(excluded, np.int64).reshape(-1, 2).T)
    while True:
        work.enlarge_pairs(capacity)
        found = _kernels.broad_phase.find_pairs(
            handles, grid, *columns, pairs, work.bounds, work.box_numbers, work.rows, work.records, work.cells
        )
        assert found >= 0
        if found <= capacity:
            return list(zip(work.low[:found].tolist(), work.high[:found].tolist()))
        capacity = found


def brute_force(boxes):
    """All pairs of overlapping boxes, strict in x, touching counts in y and z."""
    low, high = boxes[:3], boxes[3:]
    pairs = []
    for i in range(boxes.shape[1]):
        meets = (low[0, i] < high[0, i + 1 :]) & (low[0, i + 1 :] < high[0, i])
        for axis in (1, 2):
            meets &= (low[axis, i] <= high[axis, i + 1 :]) & (low[axis, i + 1 :] <= high[axis, i])
        pairs += [(i, int(j)) for j in i + 1 + np.flatnonzero(meets)]
    return pairs


def random_boxes(seed, n, spread, sizes, rounded):
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.3, 1.0, (3, n)) * 10.0 ** rng.uniform(0.0, sizes, n)
    centre = rng.uniform(-1.0, 1.0, (3, n)) * 10.0 ** rng.uniform(-1.0, spread, n) * n ** (1 / 3)
    if rounded:
        centre, half = np.round(centre), np.ceil(half)
    return np.concatenate((centre - half, centre + half))


@pytest.mark.extreme_numbers
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 150),
    spread=st.sampled_from((0.0, 1.0, 6.0, 15.0, 200.0)),
    sizes=st.sampled_from((0.0, 0.2, 1.0, 4.0)),
    rounded=st.booleans(),
)
def test_pairs_are_those_of_brute_force(seed, n, spread, sizes, rounded):
    boxes = random_boxes(seed, n, spread, sizes, rounded)
    assert find(boxes) == brute_force(boxes)


def test_spread_out_clusters_are_searched_completely_in_wrapped_cells():
    rng = np.random.default_rng(3)
    centre = rng.uniform(0, 8, (3, 600)) + 1e7 * rng.integers(0, 4, (3, 600))
    boxes = np.concatenate((centre, centre + 1.0))
    pairs = brute_force(boxes)
    assert len(pairs) > 30
    assert find(boxes) == pairs


@pytest.mark.parametrize("place", [0.0, 1e3, -1e9])
def test_touching_and_gaps_below_single_precision_are_told_apart(place):
    """Boxes that touch, overlap or are apart by a few units in the last place of their coordinates, on every side."""
    rng = np.random.default_rng(8)
    low = place + np.stack(np.meshgrid(*[np.arange(9.0)] * 3)).reshape(3, -1)
    high = low + 1.0
    low += np.spacing(high) * rng.integers(-2, 3, low.shape)
    boxes = np.concatenate((low, high))[:, rng.permutation(low.shape[1])]
    pairs = brute_force(boxes)
    exact = brute_force(np.round(boxes))
    assert len(set(pairs) - set(exact)) > 100 and len(set(exact) - set(pairs)) > 100
    assert find(boxes) == pairs


def test_rows_of_few_many_and_no_partners_come_sorted():
    """Thousands of rows, of which some large boxes meet hundreds; groups of rows that meet nothing; excluded ones."""
    rng = np.random.default_rng(9)
    low = rng.uniform(0, 60, (3, 9000))
    size = np.where(rng.random(9000) < 0.005, 15.0, 1.5)
    low[:, 2000:6500] += 1e3 * np.arange(4500)  # these are alone
    boxes = np.concatenate((low, low + size))
    pairs = brute_force(boxes)
    partners = np.bincount([one for one, _ in pairs])
    assert partners.max() > 40 and np.any((partners > 8) & (partners < 16)) and np.any((partners > 16) & (partners < 40))
    assert find(boxes) == pairs
    excluded = sorted({(one + 1, two + 1) for one, two in pairs[::3]})
    assert find(boxes, excluded=excluded) == [pair for k, pair in enumerate(pairs) if k % 3]


@pytest.mark.extreme_numbers
def test_boxes_without_finite_bounds_are_left_out():
    boxes = np.array([[0.0, 0, 0, 1, 1, 1], [np.nan, 0, 0, 1, 1, 1], [-np.inf, 0, 0, np.inf, 1, 1], [0.5, 0, 0, 2, 1, 1]]).T
    assert find(boxes) == [(0, 3)]


def test_boxes_of_one_body_and_of_two_obstacles_do_not_meet():
    boxes = np.tile(np.array([[0.0, 0, 0, 1, 1, 1]]).T, 4)
    assert find(boxes, body=[0, 0, 1, 2], kinds=[RIGID, OBSTACLE, OBSTACLE]) == [(0, 2), (0, 3), (1, 2), (1, 3)]


@pytest.mark.extreme_numbers
@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 120),
    spread=st.sampled_from((0.0, 1.0, 6.0, 200.0)),
    sizes=st.sampled_from((0.0, 1.0, 4.0)),
    larger=st.sampled_from((1e-3, 1.0, 1e3)),
    share=st.sampled_from((0.02, 0.5, 0.98, 1.0)),
)
def test_still_obstacles_in_a_grid_of_their_own_meet_the_same_boxes(seed, n, spread, sizes, larger, share):
    boxes = random_boxes(seed, n, spread, sizes, rounded=False)
    kinds = np.where(np.random.default_rng(seed).random(n) < share, OBSTACLE, RIGID)
    middle, half = 0.5 * (boxes[:3] + boxes[3:]), 0.5 * (boxes[3:] - boxes[:3]) * np.where(kinds == OBSTACLE, larger, 1.0)
    boxes = np.concatenate((middle - half, middle + half))
    expected = [(i, j) for i, j in brute_force(boxes) if kinds[i] != OBSTACLE or kinds[j] != OBSTACLE]
    assert find(boxes, kinds=kinds, still=True) == expected
    assert find(boxes, kinds=kinds) == expected


def test_many_still_obstacles_meet_the_same_boxes_for_any_number_of_threads():
    rng = np.random.default_rng(6)
    low = rng.uniform(0, 30, (3, 9000))
    kinds = np.where(rng.random(9000) < 0.8, OBSTACLE, RIGID)
    boxes = np.concatenate((low, low + 10.0 ** rng.uniform(-1, 0.3, (3, 9000))))
    expected = find(boxes, kinds=kinds)
    for _ in with_threads(1, 2, 8):
        assert find(boxes, kinds=kinds, still=True) == expected
    assert len(expected) > 1000


def test_excluded_bodies_are_left_out():
    boxes = np.tile(np.array([[0.0, 0, 0, 1, 1, 1]]).T, 3)
    assert find(boxes, excluded=[(1, 2)]) == [(0, 2), (1, 2)]


def test_known_contacts_are_left_out_and_of_others_the_first_has_the_smaller_lower_bound_in_x():
    model = Model()
    model.add(box((0, 0, 0), (1, 1, 1)))
    model.add(box((-0.5, 0.9, 0), (0.6, 1.9, 1)))
    model.add(box((0, -0.9, 0), (1, 0.1, 1)))
    model.detect()
    assert model.pairs() == [(1, 0), (0, 2)]
    model.detect()
    assert model.pairs() == [(1, 0), (0, 2)]


def test_pairs_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(5)
    low = rng.uniform(0, 20, (3, 6000))
    boxes = np.concatenate((low, low + 10.0 ** rng.uniform(-1, 0.3, (3, 6000))))
    answers = []
    for _ in with_threads(1, 2, 8):
        answers.append(find(boxes))
    assert len(answers[0]) > 1000
    assert answers[0] == answers[1] == answers[2]


def test_inner_elements_take_no_part():
    model = Model()
    model.add(box((0, 0, 0), (1, 1, 1)))
    model.add(box((0, 0, 0), (1, 1, 1)))
    model.geometry.primitives.outer_count[1] = 0
    assert model.detect() == 0
    assert model.pairs() == []


def packed_boxes(n, sizes):
    """A packing over a floor; edges within a factor of 10^sizes."""
    rng = np.random.default_rng(0)
    side = int(np.ceil(n ** (1 / 3)))
    number = np.arange(n)
    low = np.stack((number % side, number // side % side, number // side**2)) + rng.uniform(0, 0.3, (3, n))
    floor = np.array([[-1.0, -1, -1, side + 1, side + 1, 0.1]]).T
    return np.concatenate((floor, np.concatenate((low, low + 10.0 ** rng.uniform(-sizes, 0, n)))), axis=1)


@pytest.mark.parametrize("sizes", [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_search_time_grows_with_the_number_of_bodies_and_not_with_its_square(sizes):
    times, threads = [], _kernels.threads.get_threads()
    _kernels.threads.set_threads(1)  # whose own time does not depend on what else the machine does
    try:
        for n in (4_000, 64_000):
            boxes = packed_boxes(n, sizes)
            best = np.inf
            for _ in range(5 if n < 10_000 else 2):
                start = time.thread_time()
                find(boxes, capacity=20 * n)
                best = min(best, time.thread_time() - start)
            times.append(best)
    finally:
        _kernels.threads.set_threads(threads)
    assert times[1] < 80 * times[0]  # 16 times the bodies; the square would be 256
