"""COPY, SCALE, TRANSLATE, ROTATE: round trips, independence of copies, reflections, points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_shapes import polygon_cube, unit_mesh

from solfec.shapes import transform
from solfec.shapes.primitives import compile
from solfec.shapes.sphere import Sphere

NUMBERS = st.floats(-100.0, 100.0)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)


def everything():
    return [polygon_cube(), unit_mesh(2, 2, 1), Sphere((1, 2, 3), 0.5)]


def coordinates(shapes):
    return np.vstack([shapes[0].polyhedra[0].vertices, shapes[1].nodes, shapes[2].centre])


@pytest.mark.filterwarnings("ignore:SCALE changes")
@settings(max_examples=30, deadline=None)
@given(VECTORS, VECTORS, VECTORS.filter(lambda v: np.hypot(*v[:2]) > 0.1), st.floats(-720, 720))
def test_motions_are_undone_by_their_inverses(vector, point, axis, angle):
    shapes = everything()
    before = coordinates(shapes)
    back = tuple(-x for x in vector)
    transform.translate(transform.translate(shapes, vector), back)
    transform.rotate(transform.rotate(shapes, point, axis, angle), point, axis, -angle)
    transform.scale(transform.scale(shapes, (2, 4, 8)), (1 / 2, 1 / 4, 1 / 8))
    assert coordinates(shapes) == pytest.approx(before, abs=1e-11)
    assert shapes[2].radius == 0.5


def test_shapes_are_changed_in_place_and_returned():
    shape = polygon_cube()
    assert transform.translate(shape, (1, 0, 0)) is shape
    assert transform.rotate(shape, (0, 0, 0), (0, 0, 1), 30) is shape
    assert transform.scale(shape, (1, 2, 3)) is shape
    shapes = everything()
    assert transform.translate(shapes, (1, 0, 0)) is shapes


@pytest.mark.filterwarnings("ignore:SCALE changes")
def test_copies_are_independent_and_keep_the_order():
    shapes = everything()
    copies = transform.copy(shapes)
    assert [type(c) for c in copies] == [type(s) for s in shapes]
    before = coordinates(shapes)
    transform.scale(transform.rotate(transform.translate(copies, (1, 2, 3)), (0, 0, 0), (1, 0, 0), 10), (2, 3, 4))
    assert coordinates(shapes).tolist() == before.tolist()


def test_tuples_give_new_tuples():
    assert transform.translate((1, 2, 3), (1, 1, 1)) == (2.0, 3.0, 4.0)
    assert transform.scale((1, 2, 3), (2, 2, 0)) == (2.0, 4.0, 0.0)
    assert transform.rotate((2, 0, 0), (1, 0, 0), (0, 0, 5), 90) == (1.0, 1.0, 0.0)


def test_quarter_turns_about_coordinate_axes_are_exact():
    shape = transform.rotate(polygon_cube(), (0, 0, 0), (0, 0, 2), 450)
    assert set(shape.polyhedra[0].vertices.ravel()) == {-1.0, 0.0, 1.0}


def test_spheres_scale_their_radius_by_the_first_factor_and_stay():
    with pytest.warns(UserWarning, match="leaves its centre"):
        sphere = transform.scale(Sphere((1, 2, 3), 0.5), (-2, 5, 7))
    assert sphere.radius == 1.0
    assert sphere.centre.tolist() == [1, 2, 3]


@pytest.mark.parametrize("factors", [(-1, 1, 1), (1, -2, 1), (-1, -1, -3)])
def test_reflections_keep_faces_outward_and_identifiers_in_place(factors):
    for shape in (polygon_cube(), unit_mesh(surfaces=(1, 5, 4, 3, 2, 6))):
        before = surface_normals(compile(shape, 1e-6))
        after = surface_normals(compile(transform.scale(shape, factors), 1e-6))
        for surface, normal in before.items():
            assert after[surface] == pytest.approx(normal * np.sign(factors))


def surface_normals(primitives):
    """Unit normal of the face with every identifier."""
    normals = {}
    for surface, start in zip(primitives.face_surface.tolist(), primitives.face_corner_ptr.tolist()):
        a, b, c = primitives.vertices[:, primitives.corners[start : start + 3]].T
        normal = np.cross(b - a, c - a)
        normals[surface] = normal / np.linalg.norm(normal)
    return normals


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: transform.translate(s, (1, 2)), "'vector' must be three numbers"),
        (lambda s: transform.translate(s, (1, 2, float("nan"))), "finite"),
        (lambda s: transform.scale(s, (1, 0, 1)), "must not be zero"),
        (lambda s: transform.rotate(s, (0, 0, 0), (0, 0, 0), 10), "must not be zero"),
        (lambda s: transform.rotate(s, (0, 0, 0), (0, 0, 1), float("inf")), "finite"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call(polygon_cube())
