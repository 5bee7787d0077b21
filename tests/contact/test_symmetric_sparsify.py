"""CONTACT_SPARSIFY (..., symmetric='ON'): both bodies of a contact are treated alike, and only contacts that stay count."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import LIMITS, Model, box, load, mesh_box, reference_model, tabulated
from hypothesis import given, settings

from solfec import _kernels

CONVEX, ELEMENT, SPHERE = 0, 1, 2


@pytest.mark.parametrize("obstacle_is_slave", [True, False])
@pytest.mark.parametrize("threshold, left", [(0.01, 1), (0.005, 2), (0.0, 2)])
def test_a_thin_convex_goes_whichever_body_is_the_master(obstacle_is_slave, threshold, left):
    model = Model(threshold=threshold, symmetric=True)
    low = -0.5 if obstacle_is_slave else 0.001
    model.add(box((low, -0.5, -1), (low + 3, 1.5, 0)))
    model.add(box((0, 0, -1e-7), (0.995, 1, 1)), box((0.995, 0, -1e-7), (1, 1, 1)))
    assert model.detect() == 2 - left
    assert model.constraints.n == left


def test_a_small_contact_stays_where_larger_ones_beside_it_are_further_apart():
    """Crossing edges have no area: bodies that only they carried sank in."""
    areas, gaps = np.array([1.0, 0.0, 0.0]), np.array([1e-3, -1e-5, 1e-3])
    contacts = [(0, 1, 0, 1, (x, 0.0, 0.0), area) for x, area in zip((0.0, 0.5, 1.0), areas)]
    shapes, _geometry, table = tabulated(contacts, np.array([ELEMENT, ELEMENT], np.int32), [[], []], np.asfortranarray(np.repeat(np.eye(3)[:, :, None], 3, axis=2)))
    table.gap[:3] = gaps
    keep, limits = np.zeros(3, np.int32), np.array([0.01, 0.0, 1e-6])
    _kernels.contact_detection.sparsify_symmetrically(shapes.handles, table.handle, 0, 0, 3, np.arange(3, dtype=np.int32), limits, np.zeros(3), keep)
    assert keep.tolist() == [1, 1, 0]


def test_contacts_of_three_bodies_at_one_point_all_stay():
    model = Model(min_distance=1e-3, symmetric=True)
    model.add(box((-1, -1, -1), (1, 1, 0)))
    for _ in range(2):
        model.add(box((-0.5, -0.5, 0), (0.5, 0.5, 1)))
    model.settings.exclude_bodies(2, 3)
    assert model.detect() == 0
    assert sorted(model.pairs()) == [(0, 1), (0, 2)]


def test_large_contacts_stay_and_identifiers_follow_one_another():
    """Crossed strips of cells: what stays in every cluster is the largest, not the one that was found last."""
    model = Model(threshold=0.2, symmetric=True)
    model.add(mesh_box((0, 0, -1), (1, 1, 0), (3, 1, 1), dx=[0.05, 0.9, 0.05]))
    model.add(mesh_box((0, 0, 0), (1, 1, 1), (1, 3, 1), dy=[0.05, 0.9, 0.05]))
    assert model.detect() == 8
    assert model.constraints.area[0] == pytest.approx(0.81, abs=1e-4)
    model.add(box((5, 5, 5), (6, 6, 6)))
    model.add(box((5, 5, 6), (6, 6, 7)))
    model.detect()
    assert model.constraints.view("id").tolist() == [1, 2]


def test_an_arch_keeps_its_large_contacts_and_its_edges():
    model = reference_model(load("arch_sparse_000"))
    model.settings.symmetric = True
    assert model.detect() == 236 - 60
    assert model.constraints.n == 60


def as_specified(contacts, new, order, kind, adjacent, threshold, min_area, min_distance):
    """The rules word by word: rows of new contacts that go."""
    stay = list(range(new))

    def near(p, q):
        return p == q or (kind[p] == kind[q] and q in adjacent[p])

    for c in order:
        slave, master, *own, point, area = contacts[c]
        for k in stay:
            s, m, *other, x, a = contacts[k]
            if {s, m} != {slave, master}:
                continue
            other = other if s == slave else other[::-1]
            if area < threshold * a and near(own[0], other[0]) and near(own[1], other[1]):
                break
            if np.abs(np.subtract(point, x)).max() < 2 * min_distance:
                break
        else:
            if area >= min_area:
                stay.append(c)
    return set(order) - set(stay)


@settings(max_examples=100, deadline=None)
@given(**LIMITS)
def test_rules_hold_word_by_word(seed, threshold, min_area, min_distance):
    rng = np.random.default_rng(seed)
    bodies, per_body, count = 3, 5, 60
    owner = np.repeat(np.arange(bodies), per_body)
    kind = rng.choice([CONVEX, ELEMENT, ELEMENT, SPHERE], owner.size).astype(np.int32)
    adjacent = [[q for q in range(owner.size) if owner[q] == owner[p] and rng.random() < 0.4] for p in range(owner.size)]
    contacts = []
    for _ in range(count):
        slave, master = rng.choice(bodies, 2, replace=False)
        sides = [int(per_body * side + rng.integers(per_body)) for side in (slave, master)]
        point = np.round(rng.uniform(-1, 1, 3), 1) + rng.choice([0.0, 1e-6, -3e-7], 3)
        contacts.append((int(slave), int(master), *sides, point, float(10 ** rng.uniform(-3, 0))))
    new = int(rng.integers(0, count))
    area = np.array([c[5] for c in contacts])
    order = (new + np.argsort(-area[new:], kind="stable")).astype(np.int32)
    base = np.asfortranarray(np.repeat(np.eye(3)[:, :, None], count, axis=2) * rng.choice([-1.0, 1.0], count))
    shapes, _geometry, table = tabulated(contacts, kind, adjacent, base)
    keep, gained, limits = np.zeros(count - new, np.int32), np.zeros(count), np.array([threshold, min_area, min_distance])
    removed, failure = _kernels.contact_detection.sparsify_symmetrically(shapes.handles, table.handle, 0, new, count, order, limits, gained, keep)
    assert not failure
    gone = as_specified(contacts, new, order.tolist(), kind, adjacent, threshold, min_area, min_distance)
    assert {new + k for k in np.flatnonzero(keep == 0)} == gone and removed == len(gone)
    assert not gained[sorted(gone)].any()
    if threshold == 0.0 and min_area == 0.0:  # all of them have gone since another one stays at their place, which takes over their areas
        assert gained.sum() == pytest.approx(area[sorted(gone)].sum())
