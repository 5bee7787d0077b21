"""Shapes that are not what they should be are refused, or drawn to attention, by face, element, vertex or node."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sample_shapes import BOX_FACES, UNIT_CORNERS

from solfec import BODY, BULK_MATERIAL, CONVEX, ELLIP, HEX, HULL, MASS_CENTER, MESH, SCALE, SOLFEC, SPHERE, TRANSLATE
from solfec.errors import SolfecWarning

BOX = [*BOX_FACES]
HEXAHEDRON = [8, *range(8), 1]
TETRAHEDRON = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]


def moved(vertex, place):
    """Corners of a unit cube with one of them elsewhere."""
    corners = list(UNIT_CORNERS)
    corners[3 * vertex : 3 * vertex + 3] = place
    return corners


REFUSED = {
    "open surface": (lambda: CONVEX(UNIT_CORNERS, BOX[:-6], 1), "the surface is not closed: no other face has the edge .-. of face ."),
    "flat convex": (lambda: CONVEX(UNIT_CORNERS[:12], [3, 0, 2, 1, 1, 3, 0, 3, 2, 1, 3, 0, 1, 3, 1, 3, 1, 2, 3, 1], 1), "no volume"),
    "self-crossing face": (lambda: CONVEX(UNIT_CORNERS[:18] + [0, 1, 1, 1, 1, 1], BOX, 1), "face . crosses itself"),
    "vertices in one place": (lambda: CONVEX(moved(6, (1, 1, 0)), BOX, 1), "first three vertices of face . are collinear"),
    "huge convex": (lambda: CONVEX([1e60 * x for x in UNIT_CORNERS], BOX, 1), "must not exceed 1e\\+50"),
    "flat hull": (lambda: HULL([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 0], 1, 1), "coplanar .they span a plane"),
    "point as a hull": (lambda: HULL([1, 2, 3] * 5, 1, 1), "coincide .they span a point"),
    "sphere without radius": (lambda: SPHERE((0, 0, 0), 0, 1, 1), "'radius' must be positive"),
    "ellipsoid without an axis": (lambda: ELLIP((0, 0, 0), (1, 0, 1), 1, 1), "'radii' must be positive"),
    "inverted element": (lambda: MESH(UNIT_CORNERS, [8, 4, 5, 6, 7, 0, 1, 2, 3, 1], 0), "element 0 is inverted: its volume is -1"),
    "repeated node": (lambda: MESH(UNIT_CORNERS, [8, 0, 1, 2, 3, 4, 5, 6, 6, 1], 0), "element 0 repeats a node number"),
    "nodes in one place": (lambda: MESH(moved(7, (1, 1, 1)), HEXAHEDRON, 0), "element 0 has two nodes in one place: 6 and 7"),
    "flat element": (lambda: MESH(UNIT_CORNERS[:12], [4, 0, 1, 2, 3, 1], 0), "element 0 has no volume"),
    "element face that crosses itself": (lambda: MESH(UNIT_CORNERS, [8, 0, 1, 2, 3, 4, 5, 7, 6, 1], 0), "face 3 of element 0 crosses"),
    "element given twice": (lambda: MESH(UNIT_CORNERS, HEXAHEDRON * 2, 0), "elements 0 and 1 have the same|elements 0 and 1 overlap"),
    "elements on one side of a face": (
        lambda: MESH([*TETRAHEDRON, 0.2, 0.2, 0.2], [4, 0, 1, 2, 3, 1, 4, 0, 1, 2, 4, 1], 0),
        r"elements 0 and 1 overlap: they lie on one side of the face \[0, 2, 1\] that they share"),
    "twisted box": (lambda: HEX(moved(6, (0.1, 0.1, 0.1)), 2, 2, 2, 1, [1] * 6), "element 7 is inverted"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_by_name(name):
    make, words = REFUSED[name]
    with pytest.raises((ValueError, RuntimeError), match=words):
        make()


NOTED = {
    "inward face": (lambda: CONVEX(UNIT_CORNERS, [4, 0, 1, 2, 3, 1, *BOX[6:]], 1), "face 0 of a CONVEX points inward: .* turned round"),
    "bent face": (lambda: CONVEX(moved(6, (1, 1, 1.5)), BOX, 1), "face . of a CONVEX is not planar: its vertex . lies 0.4"),
    "dented convex": (
        lambda: CONVEX([*TETRAHEDRON, 0.3, 0.3, 0.3], [3, 0, 2, 1, 1, 3, 0, 1, 3, 1, 3, 2, 0, 3, 1, 3, 1, 2, 4, 1, 3, 2, 3, 4, 1, 3, 3, 1, 4, 1], 1),
        "not convex: vertex . lies .* outside face ."),
    "unused vertex": (lambda: CONVEX([*UNIT_CORNERS, 5, 5, 5], BOX, 1), "vertex 8 of a CONVEX is not used by any face"),
    "unused node": (lambda: MESH([*TETRAHEDRON, 5, 5, 5], [4, 0, 1, 2, 3, 1], 0), "1 node of a MESH is not used by any element"),
    "concave element": (lambda: MESH(moved(6, (0.1, 0.1, 0.1)), HEXAHEDRON, 0), "element 0 of a MESH is concave at node 6"),
    "face of no element": (lambda: MESH(UNIT_CORNERS, HEXAHEDRON, [0, 4, 0, 1, 2, 6, 5]), r"nodes \[0, 1, 2, 6\] in 'surfids' is no outer face"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTED)
def test_it_draws_a_warning_by_name(name):
    make, words = NOTED[name]
    with pytest.warns(SolfecWarning, match=words):
        make()


def test_faces_of_a_convex_of_many_sides_have_their_own_numbers():
    """They are compared with vertices in parts; the last two, base and end, are in the third part."""
    sides = 2100
    angles = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack((np.cos(angles), np.sin(angles), np.zeros(sides)), 1)
    vertices = np.concatenate((ring, ring + (0, 0, 1)))
    vertices[7, 2] = 0.0005
    walls = [v for k in range(sides) for v in (4, k, (k + 1) % sides, sides + (k + 1) % sides, sides + k, 1)]
    base, end = range(sides)[::-1], range(sides, 2 * sides)
    with pytest.warns(SolfecWarning, match=f"face {sides} of a CONVEX is not planar: its vertex 7 lies 0.0005 off its plane"):
        CONVEX(vertices.ravel().tolist(), [*walls, sides, *base, 1, sides, *end, 1], 1)


def test_inward_faces_are_turned_so_that_the_convex_is_right():
    with pytest.warns(SolfecWarning, match="face 0 .* inward, and so do 5 more"):
        faces = np.array(BOX).reshape(6, 6)
        faces[:, 1:5] = faces[:, 4:0:-1]
        box = CONVEX(UNIT_CORNERS, faces.ravel().tolist(), 1)
    assert MASS_CENTER(box) == pytest.approx((0.5, 0.5, 0.5))


@pytest.fixture
def body(tmp_path):
    def make(shape):
        model = SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "out"))
        return BODY(model, "RIGID", shape, BULK_MATERIAL(model, "KIRCHHOFF", young=1e6, poisson=0.3, density=1e3))

    return make


def block(number=6, place=None, cells=1):
    mesh = HEX(UNIT_CORNERS, cells, 1, 1, 1, [1] * 6)
    if place:
        mesh.node(number, *place)
    return mesh


@pytest.mark.parametrize("make, words", [
    (lambda: SCALE(SCALE(HULL(UNIT_CORNERS, 1, 1), (1e30, 1, 1)), (1e30, 1, 1)), "coordinates of the shape reach 1e\\+60; they must not exceed 1e\\+50"),
    (lambda: SCALE(HULL(UNIT_CORNERS, 1, 1), (1e-200, 1, 1)), "no volume"),
    (lambda: SCALE(block(), (1, 1, 1e-13)), "element 0 has two nodes in one place: 0 and 4"),
    (lambda: block(0, (5, 0, 0), 2), "face 0 of element 0 crosses itself"),
])  # fmt: skip
def test_bodies_refuse_what_transformations_made_of_a_shape(body, make, words):
    with pytest.raises(ValueError, match=words):
        body(make())


def test_bodies_warn_where_geometric_epsilon_drowns_in_round_off(body):
    with pytest.warns(SolfecWarning, match="reach 1e\\+10, where floating-point numbers are 1.9e-06 apart: too coarse for the geom"):
        body(TRANSLATE(HULL(UNIT_CORNERS, 1, 1), (1e10, 0, 0)))
    with pytest.warns(SolfecWarning, match="reach 1e\\+12"):
        body(SPHERE((1e12, 0, 0), 1, 1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body(TRANSLATE(HULL(UNIT_CORNERS, 1, 1), (1e6, 0, 0)))


@pytest.mark.parametrize(("size", "warned"), [(9e-5, True), (1.1e-4, False)])
def test_a_body_nearly_as_small_as_epsilon_draws_a_warning(body, size, warned):
    # grains of three epsilons fell through floors in silence
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        body(SPHERE((5, 0, 0), size / 2, 1, 1))
    assert ["the shape is 9e-05 long: too small" in str(warning.message) for warning in caught] == [True] * warned


def test_bodies_warn_of_elements_made_concave_by_moving_a_node(body):
    with pytest.warns(SolfecWarning, match="element 0 of a MESH is concave at node 6"):
        body(block(6, (0.3, 0.3, 0.3)))
