"""Contact points, normals, gaps and areas against plain geometry: rectangles that overlap, balls, blocks apart and overlapping."""

from __future__ import annotations

import math

import numpy as np
import pytest
from coulomb import frame, turn
from hypothesis import given
from hypothesis import strategies as st
from law_rows import SOLVERS
from law_scenes import Model, Placement
from law_settings import examples

SEEDS = st.integers(0, 10**6)


def clipped(polygon, window) -> list:
    """The part of a convex polygon inside of another one, both counter-clockwise in the plane (Sutherland and Hodgman)."""
    result = list(polygon)
    for a, b in zip(window, [*window[1:], window[0]]):
        side = lambda p: (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])  # noqa: B023, E731
        given_points, result = result, []
        for p, q in zip(given_points, [*given_points[1:], *given_points[:1]]):
            one, two = side(p), side(q)
            if one >= 0:
                result.append(p)
            if one * two < 0:
                t = one / (one - two)
                result.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
    return result


def area_and_centroid(polygon) -> tuple[float, tuple]:
    """Return area and centroid of a polygon, from triangles with the first corner."""
    total, x, y = 0.0, 0.0, 0.0
    a = polygon[0]
    for b, c in zip(polygon[1:], polygon[2:]):
        part = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
        total += part
        x += part * (a[0] + b[0] + c[0]) / 3
        y += part * (a[1] + b[1] + c[1]) / 3
    return total, (x / total, y / total)


def rectangle(centre, half, angle) -> list:
    c, s = math.cos(angle), math.sin(angle)
    return [(centre[0] + c * x - s * y, centre[1] + s * x + c * y) for x, y in ((-half[0], -half[1]), (half[0], -half[1]), half, (-half[0], half[1]))]


def detect(model):
    """Make one very short step; return the constraint table."""
    model.domain.advance(SOLVERS["AUTO AUTO"](1e-6))
    return model.domain.constraints


def block_on_block(seed, gap, option, step=1e-9, turned=True):
    """Contacts of two rectangles that overlap in part, one above the other by `gap`, in a random placement: model, constraints, shared area."""
    random = np.random.default_rng(seed)
    rotation = turn(random.normal(size=3)) if turned else np.eye(3)
    at = Placement(rotation, random.normal(size=3))
    model = Model(option, 0.3, gravity=(0, 0, 0), placement=at, step=step)
    model.domain.settings.symmetric = True
    lower, upper = (0.3, 0.2), (0.25, 0.15)
    shift, angle = random.uniform(-0.2, 0.2, 2), random.uniform(0.1, 1.2)
    model.box((-0.3, -0.2, -0.1), (0.3, 0.2, 0.0), "obstacle")
    spin = np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])
    outer = model.at
    model.at = Placement(outer.rotation @ spin, outer.point((*shift, gap)))
    model.box((-upper[0], -upper[1], 0), (upper[0], upper[1], 0.1))
    model.at = outer
    shared = clipped(rectangle(shift, upper, angle), rectangle((0, 0), lower, 0.0))
    return model, detect(model), shared


def sides(table, row, model):
    """+1 where the movable block (id 2) is the master."""
    return 1.0 if model.domain.bodies.id[table.master[row]] == 2 else -1.0


@pytest.mark.parametrize("option, gap", [("default", -1e-4), ("margin", -1e-4), ("margin", 0.0), ("margin", 1e-3), ("gap_aware", 1e-3)])
@given(seed=SEEDS)
@examples(6)
def test_one_point_is_the_centroid_of_the_area_that_rectangles_share(option, gap, seed):
    model, table, shared = block_on_block(seed, gap, option)
    area, centroid = area_and_centroid(shared)
    assert table.n == 1
    normal = model.at.rotation @ np.array([0, 0, sides(table, 0, model)])
    np.testing.assert_allclose(table.base[..., 0], frame(normal), atol=1e-3)
    np.testing.assert_allclose(table.base[:, 2, 0], normal, atol=1e-6)
    assert table.gap[0] == pytest.approx(gap, abs=2e-6)
    # sides of the thin overlap count in the averages (7.1), (7.2): half the boundary, and the mean over it
    perimeter = sum(math.dist(p, q) for p, q in zip(shared, [*shared[1:], shared[0]]))
    assert table.area[0] == pytest.approx(area, abs=perimeter * (abs(gap) + 1e-5) + 0.06 * area * (gap > 0))
    point = model.at.rotation.T @ (table.point[:, 0] - model.at.origin)
    np.testing.assert_allclose(point[:2], centroid, atol=5e-3 + 2 * abs(gap) + 0.02 * (gap > 0))
    assert min(0.0, gap) - 2e-5 < point[2] < max(0.0, gap) + 2e-5


@pytest.mark.parametrize("option, gap", [("patch", -1e-4), ("margin and patch", -1e-4), ("margin and patch", 0.0), ("margin and patch", 1e-3), ("all three", 1.5e-3)])
@given(seed=SEEDS)
@examples(8)
def test_points_of_a_patch_are_corners_of_the_shared_area(option, gap, seed):
    model, table, shared = block_on_block(seed, gap, option)
    assert 3 <= table.n <= min(4, len(shared))
    points = (model.at.rotation.T @ (table.view("point") - model.at.origin[:, None])).T
    for k, point in enumerate(points):
        assert min(math.dist(point[:2], corner) for corner in shared) < 2e-5 + 2 * abs(min(gap, 0.0))
        assert min(0.0, gap) - 2e-5 < point[2] < max(0.0, gap) + 2e-5
        np.testing.assert_allclose(table.base[:, 2, k], model.at.rotation @ np.array([0, 0, sides(table, k, model)]), atol=1e-6)
    np.testing.assert_allclose(table.view("gap"), gap, atol=2e-6)
    area, _ = area_and_centroid(shared)
    corners = {min(range(len(shared)), key=lambda i: math.dist(point[:2], shared[i])) for point in points}
    assert len(corners) == table.n
    assert table.view("area").sum() == pytest.approx(area, rel=0.08, abs=2e-4)
    np.testing.assert_allclose(table.view("area"), table.view("area")[0], rtol=1e-9)
    # four far corners hold most of the area that all of them do
    chosen, _ = area_and_centroid([shared[i] for i in sorted(corners)])
    assert chosen > 0.5 * area


@given(seed=SEEDS, option=st.sampled_from(["default", "margin", "patch", "gap_aware"]))
@examples(15)
def test_balls_touch_on_the_line_between_their_centres(seed, option):
    random = np.random.default_rng(seed)
    one, two = random.uniform(0.1, 0.3, 2)
    direction = random.normal(size=3)
    direction /= np.linalg.norm(direction)
    gap = -10.0 ** random.uniform(-5, -2) if option in ("default", "patch") or random.random() < 0.5 else 1.5e-3
    model = Model(option, 0.3, gravity=(0, 0, 0), step=1e-9)
    centre = random.normal(size=3)
    model.ball(centre, one)
    model.ball(centre + (one + two + gap) * direction, two)
    table = detect(model)
    assert table.n == 1
    master_is_second = model.domain.bodies.id[table.master[0]] == 2
    np.testing.assert_allclose(table.base[:, 2, 0], direction if master_is_second else -direction, atol=1e-9)
    assert table.gap[0] == pytest.approx(gap, abs=1e-12)
    along = (table.point[:, 0] - centre) @ direction
    np.testing.assert_allclose(table.point[:, 0] - centre, along * direction, atol=1e-9)
    assert one + min(gap, 0.0) - 1e-9 <= along <= one + max(gap, 0.0) + 1e-9


@given(seed=SEEDS, option=st.sampled_from(["default", "margin", "gap_aware"]), where=st.sampled_from(["face", "edge", "corner"]))
@examples(15)
def test_a_ball_touches_a_block_at_its_nearest_point(seed, option, where):
    random = np.random.default_rng(seed)
    at = Placement(turn(random.normal(size=3)), random.normal(size=3))
    gap = -2e-3 if option == "default" or random.random() < 0.5 else 1e-3
    nearest = {"face": (0.05, -0.07, 0.1), "edge": (0.3, 0.04, 0.1), "corner": (0.3, 0.2, 0.1)}[where]
    outward = {"face": (0, 0, 1), "edge": (1, 0, 1.5), "corner": (1, 0.8, 1.5)}[where]
    outward = np.array(outward) / np.linalg.norm(outward)
    model = Model(option, 0.3, gravity=(0, 0, 0), step=1e-9, placement=at)
    model.box((-0.3, -0.2, -0.1), (0.3, 0.2, 0.1))
    ball = model.ball(np.array(nearest) + (0.15 + gap) * outward, 0.15)
    table = detect(model)
    assert table.n == 1
    sign = 1.0 if model.domain.bodies.id[table.master[0]] == ball else -1.0
    np.testing.assert_allclose(table.base[:, 2, 0], sign * at.rotation @ outward, atol=1e-6)
    assert table.gap[0] == pytest.approx(gap, abs=1e-6)
    found = at.rotation.T @ (table.point[:, 0] - at.origin)
    np.testing.assert_allclose(found, nearest, atol=abs(gap) + 1e-5)


@given(seed=SEEDS)
@examples(10)
def test_a_corner_in_a_face_has_the_face_s_normal_and_its_own_depth(seed):
    """A block that stands on one corner, apart within a margin: the nearest point is that corner."""
    random = np.random.default_rng(seed)
    model = Model("margin", 0.3, gravity=(0, 0, 0), step=1e-9)
    model.floor()
    spin = turn(random.normal(size=3))
    corners = np.array([spin @ np.array(c) for c in ((a, b, c) for a in (0, 0.2) for b in (0, 0.3) for c in (0, 0.25))])
    lowest = corners[corners[:, 2].argmin()]
    model.at = Placement(spin, np.array([0.1, 0.1, 1e-3]) - lowest)
    model.box((0, 0, 0), (0.2, 0.3, 0.25))
    if np.sort(corners[:, 2])[1] - lowest[2] < 0.02:
        return
    table = detect(model)
    assert table.n == 1
    assert abs(table.base[2, 2, 0]) == pytest.approx(1.0, abs=1e-9)
    assert table.gap[0] == pytest.approx(1e-3, abs=2e-6)
    np.testing.assert_allclose(table.point[:2, 0], (0.1, 0.1), atol=5e-3)


def test_contacts_live_on_while_bodies_touch_and_end_when_they_part():
    model = Model("patch", 0.3)
    model.floor()
    block = model.box((0, 0, 0), (0.2, 0.2, 0.1))
    model.advance(SOLVERS["AUTO AUTO"](1e-8), 3)
    table = model.domain.constraints
    kept = sorted(table.view("id"))
    model.advance(SOLVERS["AUTO AUTO"](1e-8), 5)
    assert sorted(table.view("id")) == kept and len(kept) == 4
    model.domain.states.set_velocity(block, (0, 0, 1.0), (0, 0, 0))
    model.advance(SOLVERS["AUTO AUTO"](1e-8), 3)
    assert table.n == 0
