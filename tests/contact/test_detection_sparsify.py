"""Sparsification removes the contacts that the manual and Solfec-1.0 remove, and no others."""

from __future__ import annotations

import time

import numpy as np
import pytest
from detection_models import LIMITS, Model, box, mesh_box, tabulated
from hypothesis import given, settings
from hypothesis import strategies as st

from solfec import _kernels
from solfec.bodies.table import BodyKind
from solfec.shapes.sphere import Sphere

CONVEX, ELEMENT, SPHERE = 0, 1, 2
DEPTH = 1e-7


def block_on_obstacle(obstacle_is_slave, as_mesh, **options):
    """A block of a wide and a thin part on a one-piece obstacle: patches of 0.995 and 0.005."""
    model = Model(**options)
    left = -0.1 if obstacle_is_slave else 1e-4  # who has the smaller lower bound in x is the slave
    make = mesh_box if as_mesh else box
    model.add(make((left, -0.1, -1), (2, 1.1, 0)), kind=BodyKind.OBSTACLE)
    if as_mesh:
        model.add(mesh_box((0, 0, -DEPTH), (1, 1, 1), (1, 2, 1), dy=[0.995, 0.005]))
    else:
        model.add(box((0, 0, -DEPTH), (1, 0.995, 1)), box((0, 0.995, -DEPTH), (1, 1, 1)))
    return model


@pytest.mark.parametrize("obstacle_is_slave", [True, False])
@pytest.mark.parametrize("threshold, left", [(0.01, 1), (0.005, 2), (0.0, 2)])
def test_the_contact_of_a_thin_element_goes_below_the_threshold(obstacle_is_slave, threshold, left):
    model = block_on_obstacle(obstacle_is_slave, as_mesh=True, threshold=threshold)
    assert model.detect() == 2 - left
    assert set(model.pairs()) == {(0, 1) if obstacle_is_slave else (1, 0)}
    assert model.constraints.view("area").max() == pytest.approx(0.995, rel=1e-3)


@pytest.mark.parametrize("obstacle_is_slave, left", [(True, 1), (False, 2)])
def test_the_contact_of_a_thin_convex_goes_only_when_its_body_is_the_master(obstacle_is_slave, left):
    model = block_on_obstacle(obstacle_is_slave, as_mesh=False, threshold=0.01)
    model.detect()
    assert model.constraints.n == left


def test_a_contact_below_the_least_area_goes_whatever_the_threshold():
    model = block_on_obstacle(True, as_mesh=False, threshold=0.0, min_area=0.01)
    assert model.detect() == 1


def test_a_vertex_touch_is_a_contact_unless_a_least_area_is_asked_for():
    for min_area, left in ((0.0, 1), (1e-9, 0)):
        model = Model(min_area=min_area)
        model.add(box((0, 0, 0), (1, 1, 1)))
        model.add(box((1, 1, 1), (2, 2, 2)))
        model.detect()
        assert model.constraints.n == left


@pytest.mark.parametrize("shift, left", [(0.0, 1), (1.9e-3, 1), (2.1e-3, 2)])
def test_coincident_contacts_of_three_bodies_lose_all_but_one(shift, left):
    model = Model(min_distance=1e-3)
    model.add(box((-1, -1, -1), (1, 1, 0)))
    model.add(box((-0.5, -0.5, 0), (0.5, 0.5, 1)))
    model.add(box((-0.5 + shift, -0.5, 0), (0.5 + shift, 0.5, 1)))
    model.settings.exclude_bodies(2, 3)
    model.detect()
    assert model.constraints.n == left
    assert model.pairs()[-1] == (0, 2)  # of coincident new contacts the later one stays


def test_a_new_contact_yields_to_an_old_one_at_the_same_point():
    model = Model(min_distance=1e-3)
    model.add(box((-1, -1, -1), (1, 1, 0)))
    model.add(box((-0.5, -0.5, 0), (0.5, 0.5, 1)))
    model.add(box((-0.5, -0.5, 5), (0.5, 0.5, 6)))
    model.settings.exclude_bodies(2, 3)
    model.detect()
    model.move(2, (0, 0, -5))
    assert model.detect() == 1
    assert model.pairs() == [(0, 1)]


def as_specified(contacts, new, kind, adjacent, threshold, min_area, min_distance, within):
    """The rules word by word: rows of new contacts that go."""
    gone = set()
    for c in range(new, len(contacts)):
        slave, master, _, own, point, area = contacts[c]
        if area < min_area:
            gone.add(c)
            continue
        for k, (s, m, s_primitive, m_primitive, x, a) in enumerate(contacts):
            if k == c or not {s, m} & {slave, master}:
                continue
            if area < threshold * a:
                if {s, m} == {slave, master}:
                    other = m_primitive if m == master else s_primitive
                    same_kind = kind[own] == kind[other]
                    itself = own == other and kind[own] == ELEMENT
                    if same_kind and kind[own] != SPHERE and (itself or (own != other and other in adjacent[own])):
                        gone.add(c)
            elif within and {s, m} != {slave, master}:
                continue
            elif np.abs(np.subtract(point, x)).max() < 2 * min_distance and (k < new or c < k):
                gone.add(c)
    return gone


@settings(max_examples=150, deadline=None)
@given(**LIMITS, within=st.integers(0, 1))
def test_rules_hold_word_by_word(seed, threshold, min_area, min_distance, within):
    rng = np.random.default_rng(seed)
    bodies, per_body = 4, 5
    owner = np.repeat(np.arange(bodies), per_body)
    kind = rng.choice([CONVEX, ELEMENT, ELEMENT, SPHERE], owner.size).astype(np.int32)
    adjacent = [[q for q in range(owner.size) if owner[q] == owner[p] and rng.random() < 0.4] for p in range(owner.size)]
    contacts = []
    for _ in range(60):
        slave, master = rng.choice(bodies, 2, replace=False)
        sides = [int(per_body * side + rng.integers(per_body)) for side in (slave, master)]
        point = np.round(rng.uniform(-1, 1, 3), 1) + rng.choice([0.0, 1e-6, -3e-7], 3)
        contacts.append((int(slave), int(master), *sides, point, float(10 ** rng.uniform(-3, 0))))
    new = int(rng.integers(0, 60))
    shapes, _geometry, table = tabulated(contacts, kind, adjacent)
    keep, limits = np.zeros(60, np.int32), np.array([threshold, min_area, min_distance])
    removed, failure = _kernels.contact_detection.sparsify_new(shapes.handles, table.handle, 0, new, 60, limits, within, bodies, 7, keep)
    assert not failure
    gone = as_specified(contacts, new, kind, adjacent, threshold, min_area, min_distance, within)
    assert {new + k for k in np.flatnonzero(keep[: 60 - new] == 0)} == gone
    assert removed == len(gone)
    assert table.id[new:60][keep[: 60 - new] == 1].tolist() == list(range(7, 67 - new - removed))


def test_bodies_in_one_place_are_sparsified_in_no_time():
    """Each of 44850 contacts had looked through most of the others: 1.4 s a step."""
    model = Model()
    for _ in range(300):
        model.add(Sphere((0.0, 0.0, 0.0), 0.5, 0, 0))
    assert model.detect() == 300 * 299 // 2 - 1 and model.constraints.n == 1
    times = []
    for _ in range(5):
        start = time.perf_counter()
        assert model.detect() == 300 * 299 // 2 - 1
        times.append(time.perf_counter() - start)
    assert min(times) < 0.4
