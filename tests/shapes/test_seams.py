"""Walls between glued convexes: CONTACT_OPTIONS (..., seams = 'OFF') takes them off the surface of a body."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solfec.shapes import primitives
from solfec.shapes.hull import hull
from solfec.shapes.identifiers import INTERNAL_FACE
from solfec.shapes.seams import area_vector, bare_parts
from solfec.shapes.transform import rotate, scale


def compiled(boxes, seams=False, size=1.0, angle=0.0):
    """Primitives of a body glued from boxes, given by two corners each."""
    parts = []
    for low, high in boxes:
        corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
        part = hull(np.array(corners, float), 1, 7)
        rotate(part, (0.1, 0.2, 0.3), (1, 2, 3), angle)
        scale(part, (size, size, size))
        parts.append(part)
    return primitives.compile(parts, 1e-6 * size, seams=seams)


HALVES = [((0, 0, 0), (1, 1, 1)), ((1, 0, 0), (2, 1, 1))]
STEP = [((0, 0, 0), (1, 1, 1)), ((1, 0, 0), (2, 1, 0.5))]  # the left wall is bare above the step
TEE = [((0, 0, 0), (2, 1, 1)), ((0, 0, 1), (1, 1, 2)), ((1, 0, 1), (2, 1, 2))]
TWICE = [((0, 0, 0), (1, 2, 1)), ((1, 0, 0), (2, 1.2, 1)), ((1, 0.2, 0), (2, 1.2, 1))]  # two overlap, and leave a part bare
CORE = [((x, y, 0), (x + 1, y + 1, 1)) for x in range(3) for y in range(3)]


@pytest.mark.parametrize("size, angle", [(1.0, 0.0), (1.0, 37.0), (1e-4, 200.0), (1e4, 71.0)])
@pytest.mark.parametrize(
    "boxes, outer",
    [(HALVES, [5, 5]), (STEP, [6, 5]), (TEE, [5, 4, 4]), (TWICE, [6, 5, 5]), (CORE, [4, 3, 4, 3, 2, 3, 4, 3, 4]), ([HALVES[0], ((1.01, 0, 0), (2, 1, 1))], [6, 6])],
)
def test_faces_wholly_against_others_are_no_surface(boxes, outer, size, angle):
    shape = compiled(boxes, False, size, angle)
    assert list(shape.outer_count) == outer
    assert list(shape.face_count) == [6] * len(boxes)
    for first, count, seen in zip(shape.face_ptr, shape.face_count, shape.outer_count):
        assert list(shape.face_surface[first : first + count]) == [7] * seen + [INTERNAL_FACE] * (count - seen)


def test_with_seams_all_faces_are_surface_and_only_the_order_of_faces_differs():
    kept, hidden = compiled(TEE, True), compiled(TEE, False)
    assert list(kept.outer_count) == [6, 6, 6]

    def polygons(shape, k):
        rows = range(shape.face_ptr[k], shape.face_ptr[k] + shape.face_count[k])
        return sorted(tuple(shape.corners[shape.face_corner_ptr[f] : shape.face_corner_ptr[f] + shape.face_corner_count[f]]) for f in rows)

    assert [polygons(kept, k) for k in range(3)] == [polygons(hidden, k) for k in range(3)]
    assert np.array_equal(kept.adjacency, hidden.adjacency)


def regular(sides, radius, middle, turn):
    angles = turn + 2 * np.pi * np.arange(sides) / sides
    return np.stack((middle[0] + radius * np.cos(angles), middle[1] + radius * np.sin(angles), np.zeros(sides)), 1)


def common_area(polygon, other, axis):
    return area_vector(polygon) @ axis - sum(area_vector(part) @ axis for part in bare_parts([polygon], other, axis))


@given(st.integers(3, 9), st.integers(3, 9), st.floats(-2, 2), st.floats(-2, 2), st.floats(0, 7), st.floats(0.1, 2))
def test_common_area_is_symmetric_bounded_and_whole_when_one_holds_the_other(one, two, x, y, turn, radius):
    first, second = regular(one, 1.0, (0, 0), 0.0), regular(two, radius, (x, y), turn)
    axis = np.array([0.0, 0.0, 1.0])
    areas = area_vector(first)[2], area_vector(second)[2]
    common = common_area(first, second[::-1], axis)
    assert common == pytest.approx(common_area(second, first[::-1], axis), abs=1e-9)
    assert -1e-12 <= common <= min(areas) + 1e-9
    distance = np.hypot(x, y)
    if distance > 1 + radius:
        assert common == pytest.approx(0, abs=1e-12)
    if distance + radius < np.cos(np.pi / one):
        assert common == pytest.approx(areas[1])
    assert all(common_area(part, second[::-1], axis) < 1e-9 for part in bare_parts([first], second[::-1], axis))
