"""Is a point in a body?  Also inside the bulk of a mesh, which has no primitives, and near sharp edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_shapes import cube, unit_mesh

from solfec.contact.geometry import Geometry
from solfec.shapes.hull import hull
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
