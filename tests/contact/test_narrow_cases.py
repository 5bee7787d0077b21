"""Contacts whose point, normal, gap and area follow by hand from the definition."""

from __future__ import annotations

import numpy as np
import pytest
from builders import Ball, Polyhedron, box, compiled, hull, random_rotation, rotation

from solfec.contact import narrow

EPSILON = 1e-6
UNIT = box(0, 1, 0, 1, 0, 1)


def contact_of(a, b, epsilon=EPSILON, frozen=False):
    """The contact of one pair as a dictionary, or None."""
    result = narrow.NarrowResult()
    geometry = compiled([a, b], epsilon)
    narrow.narrow_phase(geometry, 1, np.zeros(1, "i4"), np.ones(1, "i4"), epsilon, frozen, result)
    if not result.status[0]:
        return None
    return {name: result.view(name)[..., 0] for name in result.COLUMNS}


def agrees(contact, point, normal, gap, area, scale=1.0):
    """Compare with the tolerances that the definition leaves at unit scale."""
    np.testing.assert_allclose(contact["slave_point"], point, atol=2e-6 * scale, rtol=0)
    np.testing.assert_allclose(contact["master_point"], point, atol=2e-6 * scale, rtol=0)
    np.testing.assert_allclose(contact["normal"], normal, atol=5e-6, rtol=0)
    assert contact["gap"] == pytest.approx(gap, abs=2e-6 * scale)
    assert contact["area"] == pytest.approx(area, abs=1e-5 * scale**2)


CASES = {
    "huge boxes half in each other": (
        box(-500, 500, -500, 500, -1000, 0), box(-500, 500, -500, 500, -500, 500),
        (0, 0, -250), (0, 0, 1), -500, 2e6, 1000),
    "flush walls do not count": (UNIT, box(0, 1, 0, 1, 0.9, 1.9), (0.5, 0.5, 0.95), (0, 0, 1), -0.1, 1.2, 1),
    "flush faces touching": (UNIT, box(0, 1, 0, 1, 1, 2), (0.5, 0.5, 1), (0, 0, 1), 0, 1, 1),
    "faces apart by half the tolerance": (
        UNIT, box(0, 1, 0, 1, 1 + 5e-7, 2), (0.5, 0.5, 1), (0, 0, 1), 0, 1, 1),
    "small box on a large one": (
        UNIT, box(0.25, 0.75, 0.25, 0.75, 0.99, 1.49), (0.5, 0.5, 0.995), (0, 0, 1), -0.01, 0.26, 1),
    "box over an edge": (
        UNIT, box(0.5, 1.5, 0.25, 0.75, 0.9, 1.9), (0.75, 0.5, 0.95), (0.0399680, 0, 0.9992010), -0.100192, 0.35, 1),
    "flush floor does not tilt the normal": (
        UNIT, box(0.9, 1.9, 0.8, 1.8, 0, 1), (0.95, 0.9, 0.5), (4 / 17**0.5, 1 / 17**0.5, 0), -0.108690, 0.32, 1),
    "corners in each other": (
        UNIT, box(0.9, 1.9, 0.9, 1.9, 0.9, 1.9), (0.95, 0.95, 0.95), np.ones(3) / 3**0.5, -0.173205, 0.03, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_boxes_meet_as_computed_by_hand(name):
    a, b, point, normal, gap, area, scale = CASES[name]
    agrees(contact_of(a, b), point, normal, gap, area, scale)


@pytest.mark.parametrize("depth", [0.0, 3e-7, 0.9e-6])
def test_flush_boxes_have_the_area_and_the_point_of_their_common_patch_and_their_depth(depth):
    frame = random_rotation(np.random.default_rng(5))
    c = contact_of(UNIT.moved(frame), box(0.3, 1.4, -0.2, 0.6, 1 - depth, 2).moved(frame))
    assert 0.42 <= c["area"] <= 0.42 + 1.31e-6  # sides cut at their planes moved by epsilon; with slivers twice that and more
    np.testing.assert_allclose(c["slave_point"], frame @ (0.65, 0.3, 1), atol=1e-6, rtol=0)
    np.testing.assert_allclose(c["normal"], frame[:, 2], atol=1e-15, rtol=0)
    assert c["gap"] == pytest.approx(-depth, abs=1e-14)


@pytest.mark.parametrize("width", [1e-5, 1e-3, 0.03, 0.1, 1.0])
@pytest.mark.parametrize("tilt", [0.0, 1e-7])
def test_contacts_change_little_where_slivers_around_the_patch_begin_to_count(width, tilt):
    depths = np.concatenate([np.linspace(0, 3e-6, 31), [1e-5]])
    shapes = [s for d in depths for s in (UNIT, box(1 - width, 2, 0, 1, 1 - d, 2).moved(rotation((0, 1, 0), tilt)))]
    result, first = narrow.NarrowResult(), np.arange(0, len(shapes), 2, dtype="i4")
    narrow.narrow_phase(compiled(shapes), len(first), first, first + 1, EPSILON, False, result)
    assert result.view("status").all()
    area, point, gap = (result.view(name) for name in ("area", "slave_point", "gap"))
    assert np.abs(np.diff(area)).max() < 1e-4 * max(area.min(), width) + 1.2e-5
    assert np.abs(np.diff(point, axis=1)).max() < 1e-5
    assert (np.abs(np.diff(gap)) < 1.6 * np.diff(depths)).all()  # normals turn where patches are as narrow as they are deep


def test_surfaces_are_those_of_the_touching_faces_slave_first():
    a, b = box(0, 1, 0, 1, 0, 1, range(1, 7)), box(0, 1, 0, 1, 1, 2, range(11, 17))
    assert list(contact_of(a, b)["surface"]) == [6, 11]
    assert list(contact_of(b, a)["surface"]) == [11, 6]


def test_no_contact_beyond_the_tolerance():
    assert contact_of(UNIT, box(0, 1, 0, 1, 1 + 2e-6, 2)) is None


def test_touching_corners_make_a_contact_without_area():
    c = contact_of(UNIT, box(1, 2, 1, 2, 1, 2))
    assert c["area"] < 1e-10
    np.testing.assert_allclose(c["normal"], np.ones(3) / 3**0.5, atol=5e-6)
    assert c["gap"] == pytest.approx(0, abs=2e-6)


def test_touching_edges_make_a_contact_of_small_area():
    c = contact_of(UNIT, box(1, 2, 0, 1, 1, 2))
    np.testing.assert_allclose(c["normal"], np.array([1, 0, 1]) / 2**0.5, atol=5e-6)
    assert 0 < c["area"] < 1e-5


def test_box_inside_a_box_is_pushed_out_by_the_shortest_way():
    c = contact_of(UNIT, box(0.25, 0.75, 0.25, 0.75, 0.25, 0.75))
    assert c["degenerate"] == 1
    assert c["gap"] == pytest.approx(-0.75)
    np.testing.assert_array_equal(c["normal"], [0, 0, -1])  # the first of the slave's faces


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_a_stone_inside_a_floor_is_pushed_out_of_it(scale, swap):
    """None of the floor's faces is part of the intersection's surface, and the stone's own ones say nothing of the way out."""
    random = np.random.default_rng(3)
    floor = box(-50, 50, -50, 50, -100, 0)
    for depth in (0.51, 0.6, 3.0):
        points = random.normal(size=(12, 3))
        points *= 0.5 / np.linalg.norm(points, axis=1)[:, None]
        pair = [s.moved(scale=scale) for s in (floor, hull(points).moved(shift=(0, 0, -depth)))]
        c = contact_of(*pair[::-1] if swap else pair, EPSILON * min(scale, 1))
        np.testing.assert_allclose(c["normal"], (0, 0, -1 if swap else 1), atol=1e-9)
        assert c["degenerate"] == 1 and c["gap"] == pytest.approx((points[:, 2].min() - depth) * scale)


def test_an_element_inside_a_floor_is_pushed_out_against_its_outer_face():
    """Its only outer face is its lower one, although the wall is nearer than the floor's upper face."""
    brick = box(49.3, 49.9, 0, 1, -1.5, -0.5)
    c = contact_of(box(-50, 50, -50, 50, -100, 0), Polyhedron(brick.vertices, brick.faces, brick.surfaces, outer=1))
    np.testing.assert_allclose(c["normal"], (0, 0, 1), atol=1e-9)
    assert c["gap"] == pytest.approx(-1.5)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_tetrahedron_standing_on_its_tip_keeps_its_numbers_at_any_scale(scale):
    angle = np.array([0.3, 0.3 + 2 * np.pi / 3, 0.3 + 4 * np.pi / 3])
    x = np.vstack([[0, 0, -0.1], np.column_stack([np.cos(angle), np.sin(angle), np.full(3, 0.9)])])
    tip = Polyhedron(x, [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)], [1] * 4)
    c = contact_of(tip.moved(scale=scale), box(-1, 1, -1, 1, -1, 0).moved(scale=scale), EPSILON * min(scale, 1))
    agrees(c, (0, 0, -0.0230328 * scale), (0, 0, -1), -0.1 * scale, 0.0210189 * scale**2, scale)


def test_sphere_on_a_face():
    c = contact_of(UNIT, Ball((0.5, 0.5, 1.45), 0.5, 9))
    np.testing.assert_allclose(c["slave_point"], (0.5, 0.5, 1), atol=1e-12)
    np.testing.assert_allclose(c["master_point"], (0.5, 0.5, 0.95), atol=1e-12)
    np.testing.assert_allclose(c["normal"], (0, 0, 1), atol=1e-12)
    assert c["gap"] == pytest.approx(-0.05)
    assert c["area"] == 1
    assert list(c["surface"]) == [6, 9]
    assert c["outward"] == 0


def test_polyhedron_is_the_slave_of_a_sphere_in_either_order():
    c = contact_of(Ball((0.5, 0.5, 1.45), 0.5, 9), UNIT, frozen=True)
    assert c["outward"] == 1
    assert list(c["surface"]) == [6, 9]
    np.testing.assert_allclose(c["normal"], (0, 0, 1), atol=1e-12)


def test_sphere_on_an_edge():
    c = contact_of(UNIT, Ball((1.3, 1.4, 0.5), 0.6))
    np.testing.assert_allclose(c["normal"], (0.6, 0.8, 0), atol=1e-12)
    assert c["gap"] == pytest.approx(-0.1)


def test_sphere_with_its_centre_inside_leaves_through_the_nearest_face():
    c = contact_of(UNIT, Ball((0.47, 0.53, 0.91), 0.5))
    np.testing.assert_allclose(c["normal"], (0, 0, 1), atol=1e-12)
    assert c["gap"] == pytest.approx(-0.59)
    np.testing.assert_allclose(c["slave_point"], (0.47, 0.53, 1), atol=1e-12)


def test_sphere_above_an_internal_face_of_an_element_is_left_to_the_neighbour():
    faces = [f for f in UNIT.faces if f != (4, 5, 6, 7)] + [(4, 5, 6, 7)]
    element = Polyhedron(UNIT.vertices, faces, [1, 2, 3, 4, 5, 6], outer=5)
    assert contact_of(element, Ball((0.5, 0.5, 1.45), 0.5)) is None
    assert contact_of(element, Ball((1.0, 0.5, 1.45), 0.5)) is not None  # over the edge of an outer face


@pytest.mark.parametrize("order", [1, -1])
def test_spheres_give_the_normal_to_the_smaller_centre(order):
    pair = [Ball((0, 0, 0), 1, 5), Ball((1.9, 0, 0), 1, 6)][::order]
    c = contact_of(*pair)
    assert pair[c["outward"]].surface == 5
    assert list(c["surface"]) == [5, 6]
    np.testing.assert_allclose(c["normal"], (1, 0, 0))
    np.testing.assert_allclose(c["slave_point"], (0.95, 0, 0), atol=1e-15)
    assert c["gap"] == pytest.approx(-0.1)


def test_frozen_roles_of_spheres_stay():
    c = contact_of(Ball((1.9, 0, 0), 1, 6), Ball((0, 0, 0), 1, 5), frozen=True)
    assert c["outward"] == 0
    np.testing.assert_allclose(c["normal"], (-1, 0, 0))


def test_small_sphere_deep_in_a_large_one():
    c = contact_of(Ball((0, 0, 0), 0.1), Ball((0.8, 0, 0), 1))
    np.testing.assert_allclose(c["normal"], (1, 0, 0))
    assert c["gap"] == pytest.approx(-0.3)


def test_concentric_spheres_give_a_finite_contact():
    c = contact_of(Ball((1, 2, 3), 0.5), Ball((1, 2, 3), 0.5))
    assert np.linalg.norm(c["normal"]) == pytest.approx(1)
    assert c["gap"] == pytest.approx(-1)



def test_rows_out_of_range_are_refused():
    geometry = compiled([UNIT])
    with pytest.raises(IndexError):
        narrow.narrow_phase(
            geometry, 1, np.zeros(1, "i4"), np.full(1, 10**6, "i4"), 1e-6, False, narrow.NarrowResult()
        )
