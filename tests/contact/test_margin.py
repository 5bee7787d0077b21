"""With a margin, pairs that are still apart are contacts with a positive gap, and touching changes nothing abruptly."""

from __future__ import annotations

import numpy as np
import pytest
from builders import Ball, box, compiled, hull, random_rotation
from detection_models import Model, mesh_box
from detection_models import box as convex_box

from solfec.bodies.table import BodyKind
from solfec.contact import narrow
from solfec.shapes.sphere import Sphere


def contacts(pairs, margin, epsilon=1e-6):
    shapes = [shape for pair in pairs for shape in pair]
    first = np.arange(0, len(shapes), 2, dtype="i4")
    result = narrow.NarrowResult()
    narrow.narrow_phase(compiled(shapes, epsilon), len(pairs), first, first + 1, epsilon, False, result, margin)
    return result


def test_boxes_apart_have_their_distance_as_gap_and_their_common_patch():
    found = contacts([(box(0, 1, 0, 1, 0, 1), box(0.2, 0.8, 0.2, 0.8, 1.01, 2))], 0.05)
    assert found.status[0] == 1
    assert found.gap[0] == pytest.approx(0.01, abs=1e-12)
    np.testing.assert_allclose(found.normal[:, 0], [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(found.slave_point[:, 0], [0.5, 0.5, 1], atol=1e-5)
    np.testing.assert_allclose(found.master_point[:, 0], [0.5, 0.5, 1.01], atol=1e-5)
    assert found.area[0] == pytest.approx(0.36, abs=0.03)
    assert contacts([(box(0, 1, 0, 1, 0, 1), box(0.2, 0.8, 0.2, 0.8, 1.06, 2))], 0.05).status[0] == 0


def test_no_margin_means_no_gap():
    assert contacts([(box(0, 1, 0, 1, 0, 1), box(0.2, 0.8, 0.2, 0.8, 1.01, 2))], 0.0).status[0] == 0


@pytest.mark.parametrize("other", ["box", "hull", "sphere"])
def test_normals_and_gaps_are_continuous_through_touching(other):
    random = np.random.default_rng(2)
    for _ in range(8):
        one = box(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5).moved(random_rotation(random))
        two = {
            "box": lambda: box(-0.4, 0.4, -0.3, 0.3, -0.5, 0.5).moved(random_rotation(random)),
            "hull": lambda: hull(random.normal(size=(12, 3)) * 0.3),
            "sphere": lambda: Ball(np.zeros(3), 0.4),
        }[other]()
        direction = random.normal(size=3)
        direction /= np.linalg.norm(direction)
        far = contacts([(one, two.moved(shift=3 * direction))], 10.0)
        start = 3 - far.gap[0] / abs(direction @ far.normal[:, 0])  # a little deeper than touching, or less
        steps = np.linspace(start + 0.04, start - 0.005, 200)
        found = contacts([(one, two.moved(shift=s * direction)) for s in steps], 0.02)
        hit = found.view("status") == 1
        gap, normal = found.view("gap")[hit], found.view("normal")[:, hit]
        if not hit.any() or gap.min() > -1e-4:
            continue
        sign = np.where(found.view("outward")[hit] == 0, 1, -1)
        turn = np.linalg.norm(np.diff(normal * sign, axis=1), axis=0)
        near = np.abs(gap[1:]) < 8e-4
        assert turn[near].max(initial=0) < 0.2
        assert np.abs(np.diff(gap)).max() < 2e-3
        assert gap.max() > 0.01


def test_contacts_apart_live_in_the_table():
    model = Model(margin=0.02)
    model.add(convex_box((-1, -1, -1), (1, 1, 0)), kind=BodyKind.OBSTACLE)
    block = model.add(convex_box((-0.5, -0.5, 0.015), (0.5, 0.5, 1)))
    ball = model.add(Sphere((0.8, 0.8, 0.21), 0.2, 0, 0))
    model.detect()
    gaps = model.constraints.view("gap")
    assert sorted(gaps) == pytest.approx([0.01, 0.015], abs=1e-9)
    model.constraints.view("R")[2] = 1.0
    for row in (block, ball):
        model.move(row, (0, 0, -0.012))
    model.detect()
    assert sorted(model.constraints.view("gap")) == pytest.approx([-0.002, 0.003], abs=1e-9)
    assert (model.constraints.view("R")[2] == 1.0).all()
    for row in (block, ball):
        model.move(row, (0, 0, 0.05))
    model.detect()
    assert model.constraints.n == 0


def test_faces_share_up_to_four_points_in_stable_slots():
    model = Model(patch=True, threshold=0.0)
    model.add(convex_box((-1, -1, -1), (1, 1, 0)), kind=BodyKind.OBSTACLE)
    block = model.add(convex_box((-0.5, -0.25, 0.0), (0.5, 0.25, 1)))
    model.detect()
    table = model.constraints
    assert table.n == 4 and sorted(table.view("slot")) == [0, 1, 2, 3]
    corners = {(x, y) for x in (-0.5, 0.5) for y in (-0.25, 0.25)}
    assert {tuple(np.round(p[:2], 6)) for p in table.view("point").T} == corners
    assert table.view("area").sum() == pytest.approx(0.5, rel=1e-4)
    ids, slots = table.view("id").copy(), table.view("slot").copy()
    for _ in range(20):
        model.move(block, (1e-3, 2e-3, -1e-5))
        model.detect()
        np.testing.assert_array_equal(table.view("id"), ids)
        np.testing.assert_array_equal(table.view("slot"), slots)
    assert (table.view("gap") < -1e-4).all()


def test_edges_and_spheres_keep_one_point_with_patches():
    model = Model(patch=True)
    model.add(convex_box((-1, -1, -1), (1, 1, 0)), kind=BodyKind.OBSTACLE)
    model.add(Sphere((0.0, 0.0, 0.19), 0.2, 0, 0))
    model.detect()
    assert model.constraints.n == 1 and model.constraints.slot[0] == 0


def test_elements_of_one_deformable_body_touch_unless_they_share_nodes():
    for flag, expected in ((0, 0), (1, 1)):
        model = Model()
        row = model.add(
            mesh_box((0, 0, 0), (1, 1, 1), (2, 1, 1)), mesh_box((0.2, 0.2, 0.999), (0.4, 0.4, 2)), kind=BodyKind.PSEUDO_RIGID
        )
        model.bodies.selfcontact[row] = flag
        model.detect()
        assert model.constraints.n == expected
    assert model.pairs() == [(row, row)]
    model.settings.exclude_bodies(1, 1)
    model.constraints.keep(np.zeros(1, bool))
    model.detect()
    assert model.constraints.n == 0


@pytest.mark.parametrize("cells, where, expected", [
    ((2, 1, 1), (0.6, 0.2), {1}),  # beside the seam: only the element beneath
    ((2, 1, 1), (0.4, 0.2), {0, 1}),  # over the seam
    ((2, 2, 1), (0.55, 0.55), {3}),
    ((1, 1, 2), (0.2, 0.2), {1}),  # the lower element only through the upper one
])  # fmt: skip
def test_seams_between_elements_are_no_edges_and_inner_faces_no_walls(cells, where, expected):
    for margin, gap in ((0.7, 0.15), (0.7, 0.001), (0.2, -0.01)):
        model = Model(margin=margin, threshold=0.0)
        model.add(mesh_box((0, 0, 0), (1, 1, 1), cells), kind=BodyKind.OBSTACLE)
        model.add(convex_box((*where, 1 + gap), (where[0] + 0.3, where[1] + 0.3, 1.5 + gap)))
        model.detect()
        table = model.constraints
        assert {side[1] for row in range(table.n) for side in model.key(row) if side[0] == 1} == expected
        assert np.abs(table.view("base")[2, 2]) == pytest.approx(1.0)
        assert table.view("gap") == pytest.approx(gap, abs=1e-6)


@pytest.mark.parametrize("lift", [0.3, -0.3])
def test_a_ridge_between_elements_is_an_edge_that_one_of_them_has(lift):
    """A box above a roof, or above a valley, is held along the line to the nearest point of the whole mesh."""
    roof = mesh_box((0, 0, 0), (2, 1, 1), (2, 1, 1))
    roof.nodes[(roof.nodes[:, 0] == 1) & (roof.nodes[:, 2] == 1), 2] += lift
    top = 1 + max(lift, 0.0)
    for x in (0.55, 0.9, 1.1, 1.45):
        model = Model(margin=0.4, threshold=0.0)
        model.add(roof.copy(), kind=BodyKind.OBSTACLE)
        model.add(convex_box((x - 0.02, 0.4, top + 0.05), (x + 0.02, 0.6, top + 0.3)))
        model.detect()
        gaps = model.constraints.view("gap")
        level = np.interp([x - 0.02, x + 0.02], [0, 1, 2], [1, 1 + lift, 1])
        nearest = ((top + 0.05 - level) / np.sqrt(1 + lift**2)).min()
        if lift > 0 and abs(x - 1) > 0.3 or lift < 0:
            assert gaps.min() == pytest.approx(nearest, rel=2e-2)
        assert len(gaps) in (1, 2)
