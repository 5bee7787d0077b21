"""Is a point in a body?  Also inside the bulk of a mesh, which has no primitives, and near sharp edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_shapes import cube, unit_mesh
from scipy.optimize import nnls

from solfec.contact.geometry import Geometry
from solfec.shapes.hull import hull
from solfec.shapes.mesh import Mesh
from solfec.shapes.point_query import contains
from solfec.shapes.primitives import compile
from solfec.shapes.sphere import Sphere

EPSILON = 1e-6


def body(*shapes):
    """Tables with another body first, and the rows of this one."""
    geometry = Geometry()
    geometry.add(0, compile(cube(corner=(50, 50, 50)), EPSILON))
    return geometry, *geometry.add(1, compile(list(shapes), EPSILON))


@pytest.mark.parametrize(
    ("point", "inside"),
    [
        ((0.5, 0.5, 0.5), True),
        ((0, 0, 0), True),
        ((1 + 5e-7, 0.5, 0.5), True),
        ((1 + 2e-6, 0.5, 0.5), False),
        ((1 + 9e-7, 1 + 9e-7, 0.5), False),
        ((50.5, 50.5, 50.5), False),
    ],
)
@pytest.mark.parametrize("shape", [cube(), unit_mesh(), unit_mesh(4, 4, 4)], ids=["convex", "element", "mesh"])
def test_cube(shape, point, inside):
    assert contains(*body(shape), point, EPSILON) is inside


def test_sphere():
    where = body(Sphere((1, 0, 0), 0.5))
    assert contains(*where, (1.5 + 9e-7, 0, 0), EPSILON)
    assert not contains(*where, (1.5 + 2e-6, 0, 0), EPSILON)


def test_sharp_wedges_do_not_reach_beyond_their_edges():
    needle = hull([[0, 0, 0], [1, 1e-4, 0], [1, -1e-4, 0], [1, 0, 1e-4], [1, 0, -1e-4]])
    where = body(needle)
    assert contains(*where, (-9e-7, 0, 0), EPSILON)
    assert not contains(*where, (-1e-3, 0, 0), EPSILON)


def test_points_between_bulk_elements_and_outside_a_hollow():
    where = body(unit_mesh(6, 6, 6))
    rng = np.random.default_rng(0)
    for point in rng.uniform(-0.5, 1.5, (200, 3)):
        assert contains(*where, point, EPSILON) is bool(((point >= 0) & (point <= 1)).all())


def test_any_primitive_of_the_body_will_do():
    where = body(cube(), Sphere((3, 0, 0), 0.5), cube(corner=(6, 0, 0)))
    assert contains(*where, (6.5, 0.5, 0.5), EPSILON)
    assert contains(*where, (3.2, 0, 0), EPSILON)
    assert not contains(*where, (4.5, 0, 0), EPSILON)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_convex_combinations_of_vertices_are_inside(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(15, 3))
    where = body(hull(points))
    weights = rng.dirichlet(np.ones(15))
    assert contains(*where, weights @ points, EPSILON)
    assert not contains(*where, points.max(0) + 1e-3, EPSILON)


def hull_distance(vertices, point):
    """Distance of a point to a convex hull, by non-negative least squares over the vertices' weights."""
    heavy = 1e6  # holds the sum of the weights at one
    system = np.vstack([(vertices - point).T, np.full(len(vertices), heavy)])
    weights, _ = nnls(system, np.array([0.0, 0.0, 0.0, heavy]))
    return np.linalg.norm((weights / weights.sum()) @ (vertices - point))


WARPED = {  # corners of elements, and how far each of their coordinates is moved by chance
    4: np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float),
    5: np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], float),
    6: np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], float),
    8: np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float),
}


@pytest.mark.parametrize("whole", [False, True], ids=["split", "whole"])
@pytest.mark.parametrize("size", [4, 5, 6, 8])
def test_warped_elements_hold_the_hull_of_their_nodes_and_nothing_beyond(size, whole):
    rng = np.random.default_rng(size)
    for _ in range(20):
        nodes = WARPED[size] + rng.uniform(-0.15, 0.15, (size, 3))
        geometry = Geometry()
        where = geometry, *geometry.add(0, compile(Mesh.from_records(nodes.ravel(), [size, *range(size), 0], 1), EPSILON, whole), whole)
        for node in nodes:
            assert contains(*where, node, EPSILON)
        for point in rng.uniform(-0.3, 1.3, (40, 3)):
            distance = hull_distance(nodes, point)
            if abs(distance - EPSILON) > 1e-7:
                assert contains(*where, point, EPSILON) is bool(distance < EPSILON)
