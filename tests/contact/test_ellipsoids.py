"""Contacts of ellipsoids: common normals, least depth, continuity through touching; Solfec-1.0's where those are right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from builders import Ball, Ellipsoid, Polyhedron, box, compiled, from_planes, hull, random_rotation, rotation

from solfec.contact import narrow

DATA = Path(__file__).parents[1] / "data" / "contact"
CONTACTS = json.loads((DATA / "ellipsoid_contact.json").read_text())
DISTANCES = json.loads((DATA / "ellipsoid_distance.json").read_text())


def shape_of(data):
    """A shape from its reference description."""
    surface = data.get("surface", 0)
    if "semiaxes" in data:
        return Ellipsoid(np.array(data["center"]), np.array(data["rotation"]) * data["semiaxes"], surface)
    if "radius" in data or data.get("type") == "point":
        return Ball(np.array(data.get("center", data.get("point"))), data.get("radius", 0.0), surface)
    if "planes" not in data:
        return hull(np.array(data["vertices"]))
    return from_planes(data["vertices"], data["planes"], data["surfaces"])


def contacts(pairs, epsilon=1e-6, margin=0.0, frozen=False):
    """The contacts of pairs of shapes."""
    shapes = [shape for pair in pairs for shape in pair]
    first = np.arange(0, len(shapes), 2, dtype="i4")
    result = narrow.NarrowResult()
    narrow.narrow_phase(compiled(shapes, epsilon), len(pairs), first, first + 1, epsilon, frozen, result, margin)
    return result


def contact(one, two, **options):
    return contacts([(one, two)], **options)


def highest(shape, n):
    """Furthest extent of a shape along columns of n."""
    if isinstance(shape, Polyhedron):
        return (shape.vertices @ n).max(axis=0)
    axes = shape.axes if isinstance(shape, Ellipsoid) else shape.radius * np.eye(3)
    return shape.centre @ n + np.linalg.norm(axes.T @ n, axis=0)


def separation(one, two, n):
    return -highest(two, -n) - highest(one, n)


def brute_force(one, two, random, directions=4000, rounds=40):
    """The largest separation, from many directions refined by shrinking random steps."""
    n = random.normal(size=(3, directions))
    if isinstance(one, Polyhedron):
        n[:, : len(one.faces)] = np.array(list(normals_of(one))).T
    n /= np.linalg.norm(n, axis=0)
    s = separation(one, two, n)
    best = n[:, np.argsort(s)[-12:]]
    for k in range(rounds):
        trial = best[:, :, None] + 0.5 * 0.7**k * random.normal(size=(3, best.shape[1], 60))
        trial = np.concatenate((best[:, :, None], trial / np.linalg.norm(trial, axis=0)), axis=2)
        s = separation(one, two, trial.reshape(3, -1)).reshape(trial.shape[1:])
        best = trial[:, np.arange(best.shape[1]), s.argmax(axis=1)]
    return separation(one, two, best).max()


def normals_of(body):
    for face in body.faces:
        a, b, c = body.vertices[list(face[:3])]
        n = np.cross(b - a, c - a)
        yield n / np.linalg.norm(n)


def random_ellipsoid(random, size=1.0, flatness=1.0):
    radii = size * 10 ** random.uniform(-flatness, 0, 3)
    return Ellipsoid(np.zeros(3), random_rotation(random) * radii)


UNIT = box(0, 1, 0, 1, 0, 1)


def test_an_ellipsoid_on_a_box():
    found = contact(UNIT, Ellipsoid(np.array([0.5, 0.5, 1.28]), np.diag([0.4, 0.5, 0.3])))
    assert found.status[0] == 1 and found.outward[0] == 0 and found.area[0] == 1
    np.testing.assert_allclose(found.normal[:, 0], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(found.slave_point[:, 0], [0.5, 0.5, 0.98], atol=1e-12)
    np.testing.assert_allclose(found.master_point[:, 0], [0.5, 0.5, 0.98], atol=1e-12)
    assert found.gap[0] == pytest.approx(-0.02, abs=1e-12)
    assert found.surface[0, 0] == 6


def test_a_centre_inside_a_box_is_pushed_out_through_the_nearest_face():
    found = contact(UNIT, Ellipsoid(np.array([0.5, 0.5, 0.95]), 0.1 * np.eye(3)))
    np.testing.assert_allclose(found.normal[:, 0], [0, 0, 1], atol=1e-12)
    assert found.gap[0] == pytest.approx(-0.15, abs=1e-12)


def test_an_edge_pushes_along_the_common_normal():
    found = contact(UNIT, Ellipsoid(np.array([1.05, 1.05, 0.5]), 0.1 * np.eye(3)))
    np.testing.assert_allclose(found.normal[:, 0], np.array([1, 1, 0]) / np.sqrt(2), atol=1e-12)
    assert found.gap[0] == pytest.approx(np.sqrt(0.005) - 0.1, abs=1e-12)


def test_two_ellipsoids_tip_to_tip():
    found = contact(Ellipsoid(np.zeros(3), np.diag([1, 0.5, 0.5])), Ellipsoid(np.array([1.45, 0, 0]), 0.5 * np.eye(3)))
    np.testing.assert_allclose(found.normal[:, 0], [1, 0, 0], atol=1e-12)
    assert found.gap[0] == pytest.approx(-0.05, abs=1e-12) and found.outward[0] == 0


def test_ball_shaped_ellipsoids_are_spheres():
    random = np.random.default_rng(3)
    pairs, spheres = [], []
    for _ in range(60):
        a, b = random.uniform(0.2, 1, 2)
        shift = random.normal(size=3)
        shift *= (a + b) * random.uniform(0.5, 1.0) / np.linalg.norm(shift)
        pairs.append((Ellipsoid(np.zeros(3), a * random_rotation(random)), Ellipsoid(shift, b * random_rotation(random))))
        spheres.append((Ball(np.zeros(3), a), Ball(shift, b)))
        c = random.uniform(-0.3, 1.3, 3)
        pairs.append((UNIT, Ellipsoid(c, 0.3 * random_rotation(random))))
        spheres.append((UNIT, Ball(c, 0.3)))
    ours, theirs = contacts(pairs), contacts(spheres)
    np.testing.assert_array_equal(ours.status, theirs.status)
    hit = ours.view("status") == 1
    np.testing.assert_allclose(ours.view("gap")[hit], theirs.view("gap")[hit], atol=1e-10)
    np.testing.assert_allclose(ours.view("normal")[:, hit], theirs.view("normal")[:, hit], atol=1e-7)


@pytest.mark.parametrize("case", CONTACTS["cases"], ids=lambda c: f"{c['index']}-{c['kind']}-{c['name']}")
def test_contacts_of_solfec_1(case):
    """Solfec-1.0's witnesses are arbitrary common points: its normal need not be that of least depth, ours must be."""
    one, two = shape_of(case["one"]), shape_of(case["two"])
    found = contact(one, two, epsilon=CONTACTS["eps"])
    expected = case["contact"]
    if abs(case["distance"] - CONTACTS["eps"]) < 2e-6:
        return  # within the accuracy of Solfec-1.0's distances
    assert found.status[0] == (case["distance"] < CONTACTS["eps"])
    if expected is None or found.status[0] == 0:
        return
    assert found.area[0] == expected["area"]
    sides = (one, two) if found.outward[0] == 0 else (two, one)
    assert found.outward[0] + 1 == expected["outward"]
    assert found.gap[0] == pytest.approx(min(0.0, separation(*sides, found.normal[:, :1])[0]), abs=1e-9)
    assert found.gap[0] >= expected["gap"] - 2e-6
    difference = np.linalg.norm(found.normal[:, 0] - expected["normal"])
    if found.gap[0] < expected["gap"] + 1e-7 and isinstance(one, Polyhedron):
        assert difference < 1e-2
    if difference < 1e-6:
        assert found.gap[0] == pytest.approx(expected["gap"], abs=2e-6)


@pytest.mark.extreme_numbers  # points inside of ellipsoids are balls without a radius, and have no normal
def test_distances_agree_and_are_certified():
    pairs = [(shape_of(case["one"]), shape_of(case["two"])) for case in DISTANCES["cases"]]
    shapes = [shape for pair in pairs for shape in pair]
    first = np.arange(0, len(shapes), 2, dtype="i4")
    distance, p, q = narrow.gjk_distance(compiled(shapes), first, first + 1)
    stored = np.array([case["distance"] for case in DISTANCES["cases"]])
    bound = np.array([case["certified_lower_bound"] for case in DISTANCES["cases"]])
    assert (distance <= stored + 2e-6).all()
    assert (distance >= bound - 1e-9).all()
    apart = distance > 0
    np.testing.assert_allclose(np.linalg.norm(p - q, axis=0)[apart], distance[apart], atol=1e-8)
    for k in np.flatnonzero(distance > 1e-6):
        n = ((q - p)[:, k] / np.linalg.norm((q - p)[:, k]))[:, None]
        assert separation(*pairs[k], n)[0] == pytest.approx(distance[k], abs=1e-8)


@pytest.mark.parametrize("kind", ["ellipsoid", "sphere", "box", "hull"])
def test_the_normal_is_that_of_least_depth_or_largest_distance(kind):
    random = np.random.default_rng(11)
    for _ in range(40):
        one = {
            "ellipsoid": lambda: random_ellipsoid(random),
            "sphere": lambda: Ball(np.zeros(3), random.uniform(0.1, 1)),
            "box": lambda: box(-0.5, 0.5, -0.4, 0.4, -0.3, 0.3).moved(random_rotation(random)),
            "hull": lambda: hull(random.normal(size=(14, 3)) * 0.4),
        }[kind]()
        two = random_ellipsoid(random, 0.8)
        direction = random.normal(size=(3, 1))
        direction /= np.linalg.norm(direction)
        touching = highest(one, direction) + highest(two, -direction)
        two.centre = direction[:, 0] * (touching + 0.2 * random.uniform(-0.5, 1) * min(np.linalg.norm(two.axes, axis=0)))
        found = contact(one, two, margin=1.0, frozen=True)
        best = brute_force(one, two, random)
        assert found.status[0] == 1
        assert found.gap[0] >= best - 1e-6
        assert found.gap[0] == pytest.approx(separation(one, two, found.normal[:, :1])[0], abs=1e-9)


def test_normals_are_continuous_through_touching():
    """Sinking by small steps, the normal turns by small steps and the gap falls by as much as the ellipsoid sinks."""
    random = np.random.default_rng(5)
    for _ in range(10):
        one, two = box(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5).moved(random_rotation(random)), random_ellipsoid(random, 0.6, 0.5)
        direction = random.normal(size=3)
        direction /= np.linalg.norm(direction)
        start = (highest(one, direction[:, None]) + highest(two, -direction[:, None]))[0]
        depths = np.linspace(0.06, -0.01, 141)
        pairs = [(one, Ellipsoid(direction * (start + d), two.axes)) for d in depths]
        found = contacts(pairs, margin=0.5)
        assert (found.view("status") == 1).all()
        gap, normal = found.view("gap"), found.view("normal")
        near = np.flatnonzero(np.abs(gap) < 2e-3)
        if near.size < 2:
            continue
        turn = np.linalg.norm(np.diff(normal[:, near[0] : near[-1] + 1], axis=1), axis=0)
        assert turn.max() < 0.05
        assert (np.diff(gap) < 1e-12).all()


def test_moving_and_scaling_both_changes_nothing_else():
    random = np.random.default_rng(8)
    for scale in (1e-4, 1.0, 1e4):
        one = hull(random.normal(size=(12, 3)))
        two = random_ellipsoid(random)
        two.centre = np.array([0.9, 0.2, -0.1])
        turn, shift = random_rotation(random), scale * random.normal(size=3)
        ours = contact(one, two)
        moved = contact(one.moved(turn, shift, scale), two.moved(turn, shift, scale), epsilon=1e-6 * scale)
        assert ours.status[0] == moved.status[0] == 1
        assert moved.gap[0] == pytest.approx(scale * ours.gap[0], rel=1e-6, abs=1e-9 * scale)
        np.testing.assert_allclose(turn @ ours.normal[:, 0], moved.normal[:, 0], atol=1e-6)


def test_concentric_and_flat_ellipsoids_give_numbers():
    flat = Ellipsoid(np.zeros(3), np.diag([1, 1, 1e-3]))
    for other in (flat, Ellipsoid(np.zeros(3), np.diag([0.1, 0.1, 0.1])), Ball(np.zeros(3), 0.2), UNIT):
        found = contact(other, flat)
        assert found.status[0] == 1 and np.isfinite(found.gap[0]) and found.gap[0] <= 0
        assert np.linalg.norm(found.normal[:, 0]) == pytest.approx(1)
    turned = flat.moved(rotation([1, 0, 0], 0.3), (0, 0, 0.2))
    assert np.isfinite(contact(flat, turned).normal).all()
