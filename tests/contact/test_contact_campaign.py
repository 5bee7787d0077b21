"""Generated pairs of every kind: no crash, no hang, no lost contact, no number that is none; the same for any threads.

The default run takes a sample; the slow one 100 000 pairs.
"""

from __future__ import annotations

import numpy as np
import pytest
from builders import Ball, Ellipsoid, Polyhedron, box, compiled, hull, random_rotation, rotation

from solfec import _kernels
from solfec.contact import narrow

EPSILON = 1e-6
BATCH = 500


def random_shape(random):
    """A box, a hull (round, flat or needle-like), a sphere or an ellipsoid about the origin, of size about one."""
    kind = random.integers(5)
    turn = random_rotation(random)
    if kind == 0:
        half = 0.5 * 10 ** random.uniform(-1.5, 0, 3)
        return box(-half[0], half[0], -half[1], half[1], -half[2], half[2]).moved(turn)
    if kind in (1, 2):
        points = random.normal(size=(random.integers(5, 24), 3)) * 10 ** random.uniform(-0.8 * (kind == 2), 0, 3)
        return hull(0.4 * points).moved(turn)
    if kind == 3:
        return Ball(np.zeros(3), 0.5 * 10 ** random.uniform(-1, 0))
    return Ellipsoid(np.zeros(3), turn * 0.5 * 10 ** random.uniform(-1, 0, 3))


def highest(shape, n):
    if isinstance(shape, Polyhedron):
        return (shape.vertices @ n).max()
    if isinstance(shape, Ball):
        return shape.centre @ n + shape.radius
    return shape.centre @ n + np.linalg.norm(shape.axes.T @ n)


def face_of(shape, random):
    """Centre and outward normal of a face."""
    corners = shape.vertices[list(shape.faces[random.integers(len(shape.faces))])]
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return corners.mean(axis=0), normal / np.linalg.norm(normal)


def flush_pair(one, two, random):
    """Two polyhedra, a face of each on a face of the other but for a depth or a gap, nearly parallel or exactly."""
    (p, n), (q, m) = face_of(one, random), face_of(two, random)
    axis = np.cross(m, -n)
    sine = np.linalg.norm(axis)
    turn = rotation(axis if sine > 1e-9 else np.cross(n, np.eye(3)[np.argmin(np.abs(n))]), np.arctan2(sine, -m @ n))
    turn = rotation(random.normal(size=3), random.choice([0.0, 1e-9, 1e-6, 1e-4])) @ rotation(n, random.uniform(0, 6)) @ turn
    depth = random.choice([1e-1, 1e-3, 1e-5, 1.5e-6, 1e-6, 1e-7, 0.0, -1e-7, -9e-7])
    lateral = np.cross(n, random.normal(size=3)) * random.choice([0.0, 0.1])
    return one, two.moved(turn).moved(shift=p - turn @ q + lateral - depth * n), depth


def random_pair(random):
    """Two shapes whose supports along a direction overlap by a depth, or leave a gap; and that depth."""
    one, two = random_shape(random), random_shape(random)
    if isinstance(one, Polyhedron) and isinstance(two, Polyhedron) and random.random() < 0.3:
        return flush_pair(one, two, random)
    n = random.normal(size=3)
    n /= np.linalg.norm(n)
    depth = random.choice([0.5, 1e-1, 1e-2, 1e-4, 1e-6, 0.0, -1e-7, -1e-5, -1e-2]) * random.uniform(0.5, 1)
    lateral = np.cross(n, random.normal(size=3)) * random.choice([0.0, 0.0, 0.3])
    return one, two.moved(shift=n * (highest(one, n) + highest(two, -n) - depth) + lateral), depth


def find(geometry, count, threads):
    _kernels.threads.set_threads(threads)
    result = narrow.NarrowResult()
    first = np.arange(0, 2 * count, 2, dtype="i4")
    narrow.narrow_phase(geometry, count, first, first + 1, EPSILON, False, result)
    return result, narrow.gjk_distance(geometry, first, first + 1)[0]


def check_batch(seed):
    random = np.random.default_rng(seed)
    pairs = [random_pair(random) for _ in range(BATCH)]
    shapes = [shape for one, two, _ in pairs for shape in (one, two)]
    scale = 10 ** random.uniform(-4, 4)
    geometry = compiled(shapes, EPSILON)
    before = _kernels.threads.get_threads()
    try:
        result, distance = find(geometry, BATCH, 1)
        again, _ = find(geometry, BATCH, 2)
    finally:
        _kernels.threads.set_threads(before)
    hit = result.view("status") == 1
    for name in result.COLUMNS:
        assert result.view(name)[..., hit].tobytes() == again.view(name)[..., hit].tobytes(), (seed, name)
    expected = distance < EPSILON
    certain = np.abs(distance - EPSILON) > 1e-9
    assert (hit == expected)[certain].all(), (seed, np.flatnonzero((hit != expected) & certain))
    assert np.isfinite(result.view("normal")[:, hit]).all() and np.isfinite(result.view("gap")[hit]).all(), seed
    assert np.abs(np.linalg.norm(result.view("normal")[:, hit], axis=0) - 1).max() < 1e-12, seed
    assert (result.view("gap")[hit] <= 0).all() and (result.view("area")[hit] >= 0).all(), seed
    box_low, box_high = geometry.primitives.view("box")[:3], geometry.primitives.view("box")[3:]
    point = result.view("slave_point")
    for side in (0, 1):
        low, high = box_low[:, side::2], box_high[:, side::2]
        curved = (geometry.primitives.view("kind")[0::2] >= 2) | (geometry.primitives.view("kind")[1::2] >= 2)
        inside = ((point >= low - 2 * EPSILON) & (point <= high + 2 * EPSILON)).all(axis=0)
        assert inside[hit & ~curved].all(), seed
    scaled = compiled([shape.moved(scale=scale) for shape in shapes[:40]], EPSILON * scale)
    larger = narrow.NarrowResult()
    first = np.arange(0, 40, 2, dtype="i4")
    narrow.narrow_phase(scaled, 20, first, first + 1, EPSILON * scale, False, larger)
    clear = np.abs(distance[:20] - EPSILON) > 1e-9
    np.testing.assert_array_equal(larger.status[:20][clear], result.status[:20][clear])
    return BATCH


def test_a_sample_of_generated_pairs():
    for seed in range(2):
        check_batch(seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_100_000_generated_pairs():
    assert sum(check_batch(seed) for seed in range(2, 202)) == 100_000
