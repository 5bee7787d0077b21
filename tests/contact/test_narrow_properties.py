"""What must hold for any pair: symmetry, invariance under motion and scale, finite results, equal bits on any threads."""

from __future__ import annotations

import numpy as np
import pytest
from builders import Ball, Polyhedron, box, compiled, hull, random_rotation, rotation
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_threads import with_threads

from solfec.contact import narrow

EPSILON = 1e-6
SEEDS = st.integers(0, 2**32 - 1)


def contacts_of(pairs, epsilon=EPSILON):
    """Contacts of many pairs in one call."""
    geometry = compiled([shape for pair in pairs for shape in pair], epsilon)
    first = np.arange(0, 2 * len(pairs), 2, dtype="i4")
    result = narrow.NarrowResult()
    narrow.narrow_phase(geometry, len(pairs), first, first + 1, epsilon, False, result)
    return result


def turned(shape, random, reach=0.7):
    """A copy turned and moved at random."""
    return shape.moved(random_rotation(random), random.uniform(-reach, reach, 3))


def random_shape(random):
    """A box, a hull or a sphere."""
    kind = random.integers(5)
    if kind < 2:
        e = random.uniform(0.3, 1, 3)
        return box(-e[0], e[0], -e[1], e[1], -e[2], e[2])
    if kind < 4:
        return hull(random.normal(size=(random.integers(4, 25), 3)) * 0.6)
    return Ball(np.zeros(3), random.uniform(0.2, 1))


def check_sane(result):
    """No NaN, unit normals, no positive gap."""
    on = result.view("status") == 1
    for name in ("normal", "slave_point", "master_point", "gap", "area"):
        assert np.isfinite(result.view(name)[..., on]).all()
    np.testing.assert_allclose(np.linalg.norm(result.view("normal")[:, on], axis=0), 1, rtol=1e-12)
    assert (result.view("gap")[on] <= 0).all()
    assert (result.view("area")[on] >= 0).all()


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_swapping_the_bodies_turns_the_normal_and_nothing_else(seed):
    random = np.random.default_rng(seed)
    a, b = turned(random_shape(random), random), turned(random_shape(random), random)
    result = contacts_of([(a, b), (b, a)])
    check_sane(result)
    one, two = result.status[:2]
    assert one == two
    if not one or result.degenerate[0]:
        return
    if isinstance(a, Polyhedron) and isinstance(b, Polyhedron):
        np.testing.assert_allclose(result.normal[:, 0], -result.normal[:, 1], atol=1e-7)
    else:  # with spheres the roles do not depend on the order
        np.testing.assert_allclose(result.normal[:, 0], result.normal[:, 1], atol=1e-12)
        assert result.outward[0] != result.outward[1]
    np.testing.assert_allclose(result.slave_point[:, 0], result.slave_point[:, 1], atol=1e-9)
    np.testing.assert_allclose(result.gap[0], result.gap[1], atol=1e-7)
    np.testing.assert_allclose(result.area[0], result.area[1], rtol=1e-7)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.floats(-4, 4))
def test_contacts_move_and_scale_with_the_bodies(seed, exponent):
    random = np.random.default_rng(seed)
    a, b = turned(random_shape(random), random), turned(random_shape(random), random)
    frame, shift, scale = random_rotation(random), random.uniform(-5, 5, 3), 10**exponent
    one = contacts_of([(a, b)])
    two = contacts_of([[s.moved(scale=scale).moved(frame, shift * scale) for s in (a, b)]], EPSILON * scale)
    assert one.status[0] == two.status[0]
    if not one.status[0] or one.degenerate[0]:
        return
    check_sane(two)
    # Sphere roles follow the order of centres, which a rotation may change.
    sign = 1 if one.outward[0] == two.outward[0] else -1
    points = ("slave_point", "master_point")[::sign]
    np.testing.assert_allclose(two.normal[:, 0], sign * frame @ one.normal[:, 0], atol=1e-7)
    for mine, other in zip(("slave_point", "master_point"), points):
        np.testing.assert_allclose(
            getattr(two, mine)[:, 0] / scale, frame @ getattr(one, other)[:, 0] + shift, atol=1e-8
        )
    np.testing.assert_allclose(two.gap[0] / scale, one.gap[0], atol=1e-7)
    sphere = isinstance(a, Ball) or isinstance(b, Ball)
    np.testing.assert_allclose(two.area[0] / (1 if sphere else scale**2), one.area[0], rtol=1e-6, atol=1e-12)


def mixed_pairs(count):
    random = np.random.default_rng(7)
    return [(turned(random_shape(random), random), turned(random_shape(random), random)) for _ in range(count)]


def test_results_are_the_same_bits_on_any_number_of_threads():
    pairs = mixed_pairs(600)
    results = []
    for _ in with_threads(1, 2, 5):
        results.append(contacts_of(pairs))
    assert 0.2 < results[0].view("status").mean() < 1
    for name in results[0].COLUMNS:
        for other in results[1:]:
            np.testing.assert_array_equal(results[0].view(name), other.view(name))


def test_a_pair_does_not_depend_on_the_others_in_the_call():
    pairs = mixed_pairs(40)
    together = contacts_of(pairs)
    for k, pair in enumerate(pairs):
        alone = contacts_of([pair])
        for name in together.COLUMNS:
            np.testing.assert_array_equal(alone.view(name)[..., 0], together.view(name)[..., k])


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1.0, 1e4, 1e6])
def test_no_overlapping_pair_is_lost_at_any_scale_and_depth(scale):
    """A turned box whose lowest corner dips into another one by 1e-7 to 0.5 of the size."""
    random = np.random.default_rng(int(1e5 * scale))
    pairs = []
    for _ in range(60):
        depth = 10 ** random.uniform(-7, np.log10(0.5))
        frame = random_rotation(random)
        a = box(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5)
        b = a.moved(random_rotation(random))
        tip = b.vertices[np.argmin(b.vertices[:, 2])]
        b = b.moved(shift=(*random.uniform(-0.4, 0.4, 2), 0.5 - depth) - tip)
        shift = random.uniform(-2, 2, 3) * scale
        pairs.append([s.moved(frame, shift, scale) for s in (a, b)])
    result = contacts_of(pairs, EPSILON * scale)
    assert result.view("status").all()
    check_sane(result)
    for k, pair in enumerate(pairs):
        for shape in pair:
            assert height(shape, result.slave_point[:, k]) <= 2 * EPSILON * scale


def height(shape, point):
    """Largest distance of a point above the face planes."""
    x = shape.vertices
    planes = [(np.cross(x[f[1]] - x[f[0]], x[f[2]] - x[f[0]]), x[f[0]]) for f in shape.faces]
    return max((n / np.linalg.norm(n)) @ (point - p) for n, p in planes)


def test_clipped_volume_equals_a_half_space_enumeration():
    spatial = pytest.importorskip("scipy.spatial")
    random = np.random.default_rng(3)
    for scale in (1e-3, 1.0, 1e3):
        pair = [turned(box(-0.5, 0.5, -0.4, 0.4, -0.3, 0.3), random, 0.2).moved(scale=scale) for _ in range(2)]
        volume, centroid, area = narrow.overlap_volumes(compiled(pair), np.zeros(1, "i4"), np.ones(1, "i4"))
        planes = np.vstack([spatial.ConvexHull(s.vertices).equations for s in pair])
        corners = spatial.HalfspaceIntersection(planes, centroid[:, 0]).intersections
        exact = spatial.ConvexHull(corners)
        assert volume[0] == pytest.approx(exact.volume, rel=1e-9)
        assert area[0] == pytest.approx(exact.area, rel=1e-9)


def prism(sides):
    """A prism of unit circumradius and height 2 about the z axis."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    x = np.vstack([np.column_stack([ring, np.full(sides, z)]) for z in (-1.0, 1.0)])
    walls = [(k, (k + 1) % sides, sides + (k + 1) % sides, sides + k) for k in range(sides)]
    return Polyhedron(x, [tuple(range(sides))[::-1], tuple(range(sides, 2 * sides)), *walls], [1] * (sides + 2))


@pytest.mark.parametrize("sides", [7, 9, 24, 80])
def test_faces_of_many_corners_are_clipped_exactly(sides):
    """Two prisms turned about their common axis: a prism of twice the sides; and against a box over an edge."""
    a = prism(sides)
    b = a.moved(rotation((0, 0, 1), np.pi / sides), (0, 0, 0.5))
    c = box(0, 3, -3, 3, 0, 3).moved(rotation((0, 0, 1), 0.1))
    geometry = compiled([a, b, c])
    volume, _, area = narrow.overlap_volumes(geometry, np.zeros(2, "i4"), np.array([1, 2], "i4"))
    section = 2 * sides * np.tan(np.pi / (2 * sides)) * np.cos(np.pi / sides) ** 2  # about the inscribed circle
    rim = 2 * section / np.cos(np.pi / sides)
    np.testing.assert_allclose(volume[0], 1.5 * section, rtol=1e-12)
    np.testing.assert_allclose(area[0], 2 * section + 1.5 * rim, rtol=1e-12)
    whole = sides * np.cos(np.pi / sides) * np.sin(np.pi / sides)
    assert volume[1] == pytest.approx(0.5 * whole, rel=1e-12 if sides % 2 == 0 else 0.05)
    result = contacts_of([(a, b.moved(shift=(0, 0, 1.4)))])
    np.testing.assert_allclose(result.normal[:, 0], (0, 0, 1), atol=1e-12)
    assert result.gap[0] == pytest.approx(-0.1, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.floats(-4, 4), st.sampled_from([-5e-7, 0.0, 5e-7, 3e-6, 1e-3]))
def test_faces_that_lie_on_each_other_touch_the_same_way_swapped_moved_and_scaled(seed, exponent, depth):
    """Prisms and boxes with a common patch, in which slivers of the tolerance's width do not count where it is large."""
    random = np.random.default_rng(seed)
    one, two = (prism(int(random.integers(3, 9))) for _ in range(2))
    two = two.moved(rotation((0, 0, 1), random.uniform(0, np.pi)), (*random.uniform(-0.9, 0.9, 2), 2 - depth))
    turn, shift, scale = random_rotation(random), random.uniform(-5, 5, 3), 10**exponent
    result = contacts_of([(one, two), (two, one)])
    if not result.status.all():
        return
    moved = contacts_of([[s.moved(scale=scale).moved(turn, shift * scale) for s in (one, two)]], EPSILON * scale)
    check_sane(result)
    check_sane(moved)
    assert moved.status[0] == 1
    if result.area[0] < 0.05:  # only edges or corners share more
        return
    normal = result.normal[:, 0]
    np.testing.assert_allclose(normal, (0, 0, 1), atol=4e-3 if depth > EPSILON else 1e-9)
    assert result.gap[0] == pytest.approx(-max(depth, 0), abs=1e-8 + 4e-3 * depth)
    np.testing.assert_allclose(result.normal[:, 1], -normal, atol=1e-9)
    np.testing.assert_allclose(turn.T @ moved.normal[:, 0], normal, atol=1e-8)
    for name in ("gap", "area", "slave_point"):
        here, there, elsewhere = (np.asarray(x) for x in (*np.moveaxis(getattr(result, name)[..., :2], -1, 0), getattr(moved, name)[..., 0]))
        if name == "slave_point":
            elsewhere = turn.T @ (elsewhere / scale - shift)
        else:
            elsewhere = elsewhere / scale ** (2 if name == "area" else 1)
        np.testing.assert_allclose(there, here, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(elsewhere, here, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("edge", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("triangles", [False, True])
def test_boxes_face_to_face_keep_their_contact_at_any_depth(edge, triangles):
    """Triangulated boxes too: coplanar triangles of a hull must not break the patch."""
    random = np.random.default_rng(11)
    pairs, frames, depths, patches = [], [], [], []
    for _ in range(100):
        frame, shift = random_rotation(random), random.uniform(-10, 10, 3)
        depth = 10 ** random.uniform(np.log10(0.3 * EPSILON), -2)
        offset = random.uniform(-0.2, 0.2, 2) * edge
        a = box(*(-0.5 * edge, 0.5 * edge) * 3)
        if triangles:
            a = hull(a.vertices)
        b = a.moved(shift=(*offset, edge - depth))
        pairs.append((a.moved(frame, shift), b.moved(frame, shift)))
        frames.append(frame[:, 2])
        depths.append(depth)
        patches.append(np.prod(edge - np.abs(offset)))
    result = contacts_of(pairs)
    assert result.view("status").all()
    shallow = np.array(depths) <= 1e-3 * edge
    tilt = np.linalg.norm(result.view("normal").T - np.array(frames), axis=1)
    assert (tilt[shallow] < 1e-3).all()
    assert (np.abs(result.view("area") / patches - 1)[shallow] < 0.05).all()


@pytest.mark.parametrize("mismatch", [0, 1e-16, 1e-12, 1e-8, 5e-7, -1e-8])
def test_flush_walls_do_not_tilt_the_normal(mismatch):
    result = contacts_of([(box(0, 1, 0, 1, 0, 1), box(mismatch, 1, 0, 1 + mismatch, 0.9, 1.9))])
    np.testing.assert_allclose(result.normal[:, 0], (0, 0, 1), atol=2e-6)
    assert result.area[0] == pytest.approx(1.2, abs=1e-5)


@pytest.mark.parametrize("tilt", [1e-14, 1e-10, 1e-7])
def test_walls_tilted_within_the_tolerance_do_not_tilt_the_normal(tilt):
    upper = box(-0.5, 0.5, -0.5, 0.5, 0.4, 1.4)
    for axis in np.eye(3):
        result = contacts_of([(box(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5), upper.moved(rotation(axis, tilt)))])
        np.testing.assert_allclose(result.normal[:, 0], (0, 0, 1), atol=2e-6)
        assert result.area[0] == pytest.approx(1.2, abs=1e-5)


@pytest.mark.parametrize("size", [1.0, 1e2, 1e3])
def test_touching_edges_of_large_bodies_keep_their_normal(size):
    """Facets are slivers then, as narrow as the tolerance: their weights must not drown in round-off."""
    frame = rotation((0.3, -0.5, 0.8), 0.7)
    lower, upper = box(0, 1, 0, 1, 0, 1), box(1, 2, 0.25, 1.5, 1, 2)
    result = contacts_of([[shape.moved(frame, scale=size) for shape in (lower, upper)]])
    np.testing.assert_allclose(result.normal[:, 0], frame @ (0.5**0.5, 0, 0.5**0.5), atol=1e-5)


def test_crossing_edges_touch_only_within_the_tolerance():
    """No face plane separates two crossing edges: the distance itself decides."""
    a = box(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5).moved(rotation((1, 0, 0), np.pi / 4))
    top = 0.5**0.5
    for gap, expected in ((0.5e-6, 1), (0.99e-6, 1), (1.01e-6, 0), (1.4e-6, 0), (3e-6, 0)):
        b = box(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5).moved(rotation((0, 1, 0), np.pi / 4), (0, 0, 2 * top + gap))
        result = contacts_of([(a, b)])
        assert result.status[0] == expected
        if expected:
            np.testing.assert_allclose(result.normal[:, 0], (0, 0, 1), atol=1e-6)
            np.testing.assert_allclose(result.slave_point[:, 0], (0, 0, top), atol=2e-6)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.floats(0.05, 3))
def test_a_pair_is_in_contact_exactly_when_its_distance_is_within_the_tolerance(seed, ratio):
    """Hulls moved apart to a chosen multiple of the tolerance."""
    random = np.random.default_rng(seed)
    a = hull(random.normal(size=(10, 3)))
    b = hull(random.normal(size=(10, 3)) + 8 * random_rotation(random)[0])
    distance, p, q = narrow.gjk_distance(compiled([a, b]), np.zeros(1, "i4"), np.ones(1, "i4"))
    b = b.moved(shift=(p[:, 0] - q[:, 0]) * (1 - ratio * EPSILON / distance[0]))
    if abs(ratio - 1) > 1e-3:
        assert contacts_of([(a, b)]).status[0] == (ratio < 1)


def test_polyhedra_of_hundreds_of_faces():
    """Several mask words: a volume that a half-space enumeration confirms, a contact like that of spheres."""
    spatial = pytest.importorskip("scipy.spatial")
    random = np.random.default_rng(5)
    x = random.normal(size=(2, 200, 3))
    x /= np.linalg.norm(x, axis=2)[..., None]
    a, b = hull(x[0]), hull(x[1]).moved(shift=(1.5, 0, 0))
    assert len(a.faces) > 300
    volume, centroid, _ = narrow.overlap_volumes(compiled([a, b]), np.zeros(1, "i4"), np.ones(1, "i4"))
    planes = np.vstack([spatial.ConvexHull(s.vertices).equations for s in (a, b)])
    exact = spatial.ConvexHull(spatial.HalfspaceIntersection(planes, centroid[:, 0]).intersections).volume
    assert volume[0] == pytest.approx(exact, rel=1e-9)
    result = contacts_of([(a, b)])
    np.testing.assert_allclose(result.normal[:, 0], (1, 0, 0), atol=0.2)
    assert result.gap[0] == pytest.approx(-0.5, abs=0.1)


def test_internal_faces_do_not_count_for_the_normal():
    """Of an element only faces on the surface push: an internal side wall leaves the normal alone."""
    lower = box(0, 1, 0, 1, 0, 1)
    faces = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3)]
    upper = Polyhedron(box(0.5, 1.5, 0.25, 0.75, 0.9, 1.9).vertices, faces, [1] * 6, outer=2)
    result = contacts_of([(Polyhedron(lower.vertices, faces, [1] * 6, outer=2), upper)])
    np.testing.assert_allclose(result.normal[:, 0], (0, 0, 1), atol=1e-12)
    assert result.area[0] == pytest.approx(0.35, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.floats(-4, 4))
def test_the_surface_of_an_intersection_is_closed(seed, exponent):
    """Of a closed surface, and of no other, the volume does not depend on the origin, which a larger box of one body moves."""
    random = np.random.default_rng(seed)
    scale = 10**exponent
    pair = [turned(random_shape(random), random) for _ in range(2)]
    if any(isinstance(shape, Ball) for shape in pair):
        return
    geometry = compiled([shape.moved(scale=scale) for shape in pair])
    rows = np.zeros(1, "i4"), np.ones(1, "i4")
    volume, centroid, area = narrow.overlap_volumes(geometry, *rows)
    for side, corner in ((0, random.integers(3)), (1, 3 + random.integers(3))):
        geometry.primitives.box[corner, side] += (-1 if corner < 3 else 1) * scale * random.uniform(1, 4)
    other, where, same = narrow.overlap_volumes(geometry, *rows)
    assert other[0] == pytest.approx(volume[0], rel=1e-9, abs=1e-12 * scale**3)
    assert same[0] == pytest.approx(area[0], rel=1e-9, abs=1e-12 * scale**2)
    if volume[0] > 1e-6 * scale**3:
        np.testing.assert_allclose(where, centroid, atol=1e-7 * scale)


def test_volumes_are_exact_where_faces_differ_by_the_last_places_of_coordinates():
    """Hulls of points of a lattice share planes; far from the origin these are shared but for the rounding of coordinates."""
    random = np.random.default_rng(7)
    near, far = [], []
    while len(near) < 300:
        points = [random.integers(0, 4, (8, 3)).astype(float) for _ in range(2)]
        if any(np.linalg.matrix_rank(x - x[0]) < 3 for x in points):
            continue
        pair, turn, shift = [hull(np.unique(x, axis=0)) for x in points], random_rotation(random), random.uniform(-1e3, 1e3, 3)
        near += pair
        far += [shape.moved(turn, shift, 5e-3) for shape in pair]
    first = np.arange(0, 300, 2, dtype="i4")
    volume, there = (narrow.overlap_volumes(compiled(shapes), first, first + 1)[0] for shapes in (near, far))
    size = np.array([np.ptp(np.vstack([near[k].vertices, near[k + 1].vertices]), axis=0).max() for k in first])
    large = volume > 1e-3 * size**3  # of pairs that only touch, planes may lie on either side of the common point
    assert large.sum() > 50
    rounding = 1e3 * np.finfo(float).eps / 5e-3
    np.testing.assert_array_less(np.abs(there / 5e-3**3 - volume)[large], (rounding * size**2 + 1e-9 * volume)[large])
