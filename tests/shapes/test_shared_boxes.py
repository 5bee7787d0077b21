"""Boxes share their faces: each is the polyhedron of its own corners, whatever happens to others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solfec.shapes import characteristics, primitives, solids
from solfec.shapes.convex import Convex
from solfec.shapes.polyhedron import Polyhedron

LENGTH = st.floats(1e-3, 1e3)


def columns(convex: Convex) -> dict:
    compiled = primitives.compile([convex], 1e-6)
    return {name: getattr(compiled, name) for name in compiled.NAMES}


def checked(centre, size, surfaces) -> Convex:
    """Make the same box as a polyhedron that passes all checks."""
    return Convex([Polyhedron(solids.box_corners(centre, size), solids.BOX_FACES, surfaces, 3)])


@given(st.tuples(*[st.floats(-1e3, 1e3)] * 3), st.tuples(LENGTH, LENGTH, LENGTH), st.lists(st.integers(1, 3), min_size=6, max_size=6))
def test_a_box_is_the_polyhedron_of_its_corners(centre, size, surfaces):
    centre, size = np.array(centre), np.array(size)
    box, polyhedron = solids.box(centre, size, 3, surfaces), checked(centre, size, surfaces)
    for name, column in columns(polyhedron).items():
        np.testing.assert_array_equal(columns(box)[name], column, err_msg=name)
    volume, middle, _ = characteristics.characteristics([box])
    assert volume == pytest.approx(np.prod(size), rel=1e-9)
    assert middle == pytest.approx(centre, abs=1e-9 * (1.0 + np.abs(centre).max() + size.max()))


def test_a_box_that_is_scaled_or_mirrored_leaves_others_alone():
    zero, one, surfaces = np.zeros(3), np.ones(3), [1, 2, 3, 4, 5, 6]
    first, second = solids.box(zero, one, 0, surfaces), solids.box(zero, one, 0, surfaces)
    before = columns(second)
    first.scale(np.array([1.0, -2.0, 3.0]))
    assert characteristics.characteristics([first])[0] == pytest.approx(6.0)
    columns(first)
    for name, column in columns(second).items():
        np.testing.assert_array_equal(column, before[name], err_msg=name)


def test_boxes_without_thickness_are_refused():
    with pytest.raises(ValueError, match="no volume|collinear"):
        solids.box(np.zeros(3), np.array([1.0, 1.0, 1e-15]), 0, [1] * 6)
    with pytest.raises(ValueError, match="collinear|no volume"):
        solids.box(np.array([1e9, 0, 0]), np.array([1e-9, 1.0, 1.0]), 0, [1] * 6)
    with pytest.raises(ValueError, match="collinear|no volume"):
        solids.box(np.zeros(3), np.full(3, 1e-120), 0, [1] * 6)
    with pytest.raises(ValueError, match="magnitude|finite"):
        solids.box(np.array([1e60, 0, 0]), np.array([1e60, 1e60, 1e60]), 0, [1] * 6)
