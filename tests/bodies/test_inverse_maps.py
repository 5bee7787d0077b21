"""Places of points in elements that have been pressed out of shape."""

import itertools

import numpy as np
import pytest

from solfec import _kernels

CORNERS = {
    4: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    5: [(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0), (0, 0, 1)],
    6: [(0, 0, -1), (1, 0, -1), (0, 1, -1), (0, 0, 1), (1, 0, 1), (0, 1, 1)],
    8: [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)],
}


def weights_at(size, xi):
    """Shape functions in plain Python, as the textbook writes them."""
    x, y, z = xi
    if size == 4:
        return np.array([1 - x - y - z, x, y, z])
    if size == 6:
        return np.array([t * h for h in ((1 - z) / 2, (1 + z) / 2) for t in (1 - x - y, x, y)])
    if size == 5:
        ratio = x * y * z / (1 - z) if z < 1 else 0.0
        return np.array([((1 + a * x) * (1 + b * y) - z + a * b * ratio) / 4 for a, b, _ in CORNERS[5][:4]] + [z])
    return np.array([(1 + a * x) * (1 + b * y) * (1 + c * z) / 8 for a, b, c in CORNERS[8]])


def grid(size, n):
    """Natural coordinates all over an element."""
    line = np.linspace(-1, 1, n)
    for x, y, z in itertools.product(line, line, line):
        if size == 8:
            yield x, y, z
            continue
        if size == 5:
            h = (z + 1) / 2
            yield x * (1 - h), y * (1 - h), h
            continue
        a, b, c = (x + 1) / 2, (y + 1) / 2, (z + 1) / 2
        if size == 6 and a + b <= 1 + 1e-12:
            yield a, b, z
        if size == 4 and a + b + c <= 1 + 1e-12:
            yield a, b, c


def places(size, nodes, points):
    """Natural coordinates, shape functions and distances by the kernel."""
    n = len(points)
    table = np.zeros((8, 1), np.int32, order="F")
    table[:size, 0] = np.arange(size)
    natural, weights, distance = np.zeros((3, n), order="F"), np.zeros((8, n), order="F"), np.zeros(n)
    zeros = np.zeros(n, np.int32)
    _kernels.finite_element_points.weigh_points(
        np.asfortranarray(np.transpose(points)), zeros, zeros, np.array([size], np.int32), table, np.asfortranarray(nodes.T), natural,
        weights, distance,
    )  # fmt: skip
    return natural.T, weights[:size].T, distance


def pressed(size, rng):
    """Nodes of an element with one or two corners pressed deep into it."""
    nodes = np.array(CORNERS[size], float) + 0.1 * rng.standard_normal((size, 3))
    middle = nodes.mean(0)
    for corner in rng.choice(size, rng.integers(1, 3), replace=False):
        nodes[corner] += rng.uniform(0.4, 1.2) * (middle - nodes[corner])
    return nodes


def inside_out(size, nodes):
    """Whether a corner's edges, by differences of shape functions, span no positive volume."""
    centre = np.mean(CORNERS[size], 0)
    for corner in CORNERS[size]:
        xi = np.array(corner) + 1e-7 * (centre - corner)
        sides = [(weights_at(size, xi + d) - weights_at(size, xi - d)) @ nodes for d in 1e-8 * np.eye(3)]
        if np.linalg.det(sides) <= 0:
            return True
    return False


@pytest.mark.parametrize("size", [5, 6, 8])
def test_points_of_elements_whose_corners_are_inside_out_have_the_nearest_place(size):
    """No place of a grid over the element is nearer to a point than the one found: points in the element, round and far from it."""
    rng, tried = np.random.default_rng(size), 0
    while tried < 25:
        nodes = pressed(size, rng)
        if not inside_out(size, nodes):
            continue
        tried += 1
        shapes = np.array([weights_at(size, xi) for xi in grid(size, 15)])
        inside = shapes[rng.choice(len(shapes), 6)] @ nodes
        points = np.vstack([inside, nodes, nodes.mean(0) + rng.uniform(0.5, 4.0, (6, 1)) * rng.standard_normal((6, 3))])
        natural, weights, _ = places(size, nodes, points)
        assert weights == pytest.approx(np.array([weights_at(size, xi) for xi in natural]), abs=1e-14)
        away = np.linalg.norm(weights @ nodes - points, axis=1)
        least = np.linalg.norm((shapes @ nodes)[None] - points[:, None], axis=2).min(1)
        # elements that are not convex have several places whose distance is least around, some hardly farther than the nearest
        assert (away <= least * 1.01 + 1e-7).all(), (nodes, natural)
        assert (weights > -0.2).all()  # of the pyramid, whose shape functions are negative in places


@pytest.mark.parametrize("size", [4, 5, 6, 8])
def test_points_of_sound_elements_have_their_places(size):
    rng = np.random.default_rng(size)
    shapes = np.array([weights_at(size, xi) for xi in grid(size, 7)])
    for _ in range(20):
        nodes = np.array(CORNERS[size], float) + 0.1 * rng.standard_normal((size, 3))
        natural, weights, distance = places(size, nodes, shapes @ nodes)
        assert np.abs(weights @ nodes - shapes @ nodes).max() < 1e-12
        assert weights == pytest.approx(shapes, abs=1e-9)
        assert distance.max() < 1e-8


@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks refuse NaN")
def test_nodes_that_are_not_finite_have_no_places():
    nodes = np.array(CORNERS[8], float)
    nodes[3, 1] = np.nan
    assert places(8, nodes, np.zeros((1, 3)))[2][0] > 1e300
