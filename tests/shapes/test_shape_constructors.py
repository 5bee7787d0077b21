"""CONVEX and SPHERE: what their constructors accept, warn of and refuse."""

from __future__ import annotations

import pytest
from sample_shapes import BOX_FACES, TET_FACES, TET_VERTICES, UNIT_CORNERS, polygon_cube, tetrahedron

from solfec.shapes.convex import Convex
from solfec.shapes.sphere import Sphere


def test_convex_keeps_vertices_faces_and_identifiers():
    (polyhedron,) = polygon_cube().polyhedra
    assert polyhedron.vertices.ravel().tolist() == UNIT_CORNERS
    assert polyhedron.faces[0] == (0, 3, 2, 1)
    assert polyhedron.surfaces.tolist() == [1, 2, 3, 4, 5, 6]
    assert polyhedron.volume_id == 3


def test_prepended_polyhedra_come_first():
    collection = tetrahedron()
    collection.prepend(polygon_cube())
    assert [len(p.vertices) for p in collection.polyhedra] == [8, 4]


@pytest.mark.parametrize(
    ("vertices", "faces", "text"),
    [
        (TET_VERTICES[:-1], TET_FACES, "three numbers"),
        (TET_VERTICES[:9], TET_FACES, "at least 4 vertices"),
        (TET_VERTICES, [2, 0, 1, 5, *TET_FACES], "at least 3"),
        (TET_VERTICES, TET_FACES[:-1], "cut short"),
        (TET_VERTICES, TET_FACES[:-5], "at least 4 faces"),
        (TET_VERTICES, [3, 0, 2, 4, 7, *TET_FACES[5:]], "out of the range 0 to 3"),
        (TET_VERTICES, [3, 0, 2, -1, 7, *TET_FACES[5:]], "out of the range"),
        (TET_VERTICES, [3, 0, 2, 2, 7, *TET_FACES[5:]], "repeats"),
        (TET_VERTICES, [3, 0, 2, 1, -(2**31) + 1, *TET_FACES[5:]], "must lie between"),
        (TET_VERTICES[:-1] + [float("nan")], TET_FACES, "finite"),
        ([0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1], TET_FACES, "collinear"),
        (TET_VERTICES, [*TET_FACES[:-5], *TET_FACES[:5]], r"not closed: .* of face \d"),
        (UNIT_CORNERS[:18] + [0, 1, 1, 1, 1, 1], BOX_FACES, "face [2-5] crosses itself"),
        ([1e80 * v for v in TET_VERTICES], TET_FACES, "item 1 does"),
    ],
)
def test_convex_errors(vertices, faces, text):
    with pytest.raises(ValueError, match=text):
        Convex.from_records(vertices, faces, 0)


@pytest.mark.parametrize(
    ("vertices", "faces", "text"),
    [
        (TET_VERTICES, [3, 0, 1, 2, 7, *TET_FACES[5:]], "inward"),
        (UNIT_CORNERS[:-1] + [1.2], BOX_FACES, "face 5 of a CONVEX is not planar: its vertex 7 lies 0.2 off"),
    ],
)
def test_convex_warnings(vertices, faces, text):
    with pytest.warns(UserWarning, match=text):
        Convex.from_records(vertices, faces, 0)


@pytest.mark.parametrize(
    ("centre", "radius", "text"),
    [
        ((0, 0, 0), -1.0, "positive"),
        ((0, 0, 0), 0.0, "positive"),
        ((0, 0, 0), float("nan"), "finite"),
        ((0, 0, float("inf")), 1.0, "finite"),
        ((0, 0), 1.0, "three numbers"),
    ],
)
def test_sphere_errors(centre, radius, text):
    with pytest.raises(ValueError, match=text):
        Sphere(centre, radius)
