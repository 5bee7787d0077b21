"""Volume, centre and Euler tensor: hand-derived values, scaling laws and invariance."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_shapes import UNIT_CORNERS, cube, polygon_cube, tetrahedron, unit_mesh

from solfec.shapes import transform
from solfec.shapes.characteristics import characteristics
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.hull import hull
from solfec.shapes.mesh import Mesh
from solfec.shapes.sphere import Sphere

NUMBERS = st.floats(-10.0, 10.0)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)


def test_unit_tetrahedron():
    volume, centre, euler = characteristics(tetrahedron())
    assert volume == pytest.approx(1 / 6, rel=1e-14)
    assert centre == pytest.approx([0.25] * 3, rel=1e-14)
    assert euler == pytest.approx(np.full((3, 3), -1 / 480) + np.eye(3) * (1 / 160 + 1 / 480), rel=1e-13)


@pytest.mark.parametrize("shape", [cube(), polygon_cube(), unit_mesh(), unit_mesh(2, 3, 1, dx=[1, 3])])
def test_unit_cube_in_every_representation(shape):
    volume, centre, euler = characteristics(shape)
    assert volume == pytest.approx(1.0, rel=1e-14)
    assert centre == pytest.approx([0.5] * 3, rel=1e-14)
    assert euler == pytest.approx(np.eye(3) / 12, rel=1e-13, abs=1e-16)


def test_sphere():
    volume, centre, euler = characteristics(Sphere((1, 0, 0), 2.0))
    assert volume == pytest.approx(33.5103216, rel=1e-8)
    assert centre.tolist() == [1.0, 0.0, 0.0]
    assert euler == pytest.approx(0.8 * volume * np.eye(3), rel=1e-14)


def test_list_of_shapes_sums_and_counts_overlaps_twice():
    ball = Sphere((3, 0, 0), 0.5)
    volume, centre, _ = characteristics([cube(), cube(), ball])
    bulk = math.pi / 6
    assert volume == pytest.approx(2 + bulk)
    assert centre[0] == pytest.approx((2 * 0.5 + 3 * bulk) / (2 + bulk))


@pytest.mark.parametrize(("top", "volume"), [((1, 1.1, 1, 1.1), 1 + 1 / 30), ((1.1, 1, 1.1, 1), 1 + 2 / 30)])
def test_warped_hexahedron_follows_the_fan_about_the_first_face_node(top, volume):
    corners = np.array(UNIT_CORNERS, float).reshape(8, 3)
    corners[4:, 2] = top
    mesh = hex_mesh(corners.ravel(), 1, 1, 1, 0, [0] * 6)
    assert characteristics(mesh)[0] == pytest.approx(volume, rel=1e-14)


def test_accuracy_far_from_the_origin():
    shape = transform.translate(cube(), (1e6, -1e6, 1e6))
    volume, centre, euler = characteristics(shape)
    assert volume == pytest.approx(1.0, rel=1e-12)
    assert centre == pytest.approx([1e6 + 0.5, -1e6 + 0.5, 1e6 + 0.5], rel=1e-15)
    assert euler == pytest.approx(np.eye(3) / 12, rel=1e-9, abs=1e-10)


def test_all_element_types_together_fill_their_box():
    nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0.5, 0.5, 2, 2, 0.5, 0, 2, 0.5, 1]
    elements = [8, 0, 1, 2, 3, 4, 5, 6, 7, 0, 5, 4, 5, 6, 7, 8, 0, 6, 1, 9, 2, 5, 10, 6, 0, 4, 4, 5, 6, 8, 0][:-6]
    mesh = Mesh.from_records(nodes, elements, 0)
    assert characteristics(mesh)[0] == pytest.approx(1 + 1 / 3 + 0.5, rel=1e-14)


@settings(max_examples=30, deadline=None)
@given(VECTORS, VECTORS, st.floats(-360.0, 360.0), st.integers(0, 2**31))
def test_invariance_under_rigid_motion(vector, axis, angle, seed):
    if math.hypot(*axis) < 1e-3:
        axis = (0, 0, 1)
    shape = hull(np.random.default_rng(seed).random((12, 3)))
    before = characteristics(shape)
    transform.rotate(transform.translate(shape, vector), (1, 2, 3), axis, angle)
    after = characteristics(shape)
    turn = transform.rotation_matrix(np.array(axis, float), angle)
    centre = transform.rotate(transform.translate(tuple(before[1].tolist()), vector), (1, 2, 3), axis, angle)
    assert after[0] == pytest.approx(before[0], rel=1e-11)
    assert after[1] == pytest.approx(centre, abs=1e-12)
    assert after[2] == pytest.approx(turn @ before[2] @ turn.T, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.tuples(*[st.sampled_from([-2.5, -1.0, 0.3, 1.0, 4.0])] * 3), st.integers(0, 2**31))
def test_scaling_laws_also_under_reflection(factors, seed):
    mesh = unit_mesh(2, 1, 2)
    solid = hull(np.random.default_rng(seed).random((9, 3)))
    for shape in (mesh, solid):
        volume, centre, euler = characteristics(shape)
        scaled = characteristics(transform.scale(shape, factors))
        size = abs(np.prod(factors))
        assert scaled[0] == pytest.approx(volume * size, rel=1e-11)
        assert scaled[1] == pytest.approx(centre * factors, rel=1e-10, abs=1e-12)
        assert scaled[2] == pytest.approx(euler * size * np.outer(factors, factors), rel=1e-9, abs=1e-12 * size)


def test_inward_faces_are_an_error():
    shape = tetrahedron()
    shape.polyhedra[0].face_set = shape.polyhedra[0].face_set.mirrored()
    with pytest.raises(ValueError, match="no positive volume"):
        characteristics(shape)


def test_corners_of_a_box_in_any_order_give_the_same_hull():
    corners = np.array(list(itertools.product((0, 2), (0, 3), (0, 5))), float)
    for order in ([0, 1, 2, 3, 4, 5, 6, 7], [7, 2, 4, 1, 0, 6, 3, 5]):
        assert characteristics(hull(corners[order]))[0] == pytest.approx(30.0, rel=1e-14)


WARPED = json.loads((Path(__file__).parent.parent / "data" / "warped-elements.json").read_text())["cases"]


@pytest.mark.parametrize("case", WARPED, ids=lambda case: case["name"])
def test_bilinear_faces_enclose_what_the_map_of_the_element_fills(case):
    """The numbers are volume integrals; fans of faces that are not plane are up to 8 % off."""
    mesh = Mesh.from_records(np.ravel(case["nodes"]), [len(case["element"]), *case["element"], 0])
    volume, centre, euler = characteristics(mesh, bilinear=True)
    assert case["density"] * volume == pytest.approx(case["mass"], rel=1e-13)
    assert centre == pytest.approx(case["centre"], abs=1e-13)
    assert case["density"] * euler.ravel() == pytest.approx(case["tensor"], rel=1e-11, abs=1e-12)
    assert case["density"] * characteristics(mesh)[0] == pytest.approx(case["fans"], rel=1e-13)


def test_bilinear_faces_do_not_depend_on_the_order_of_nodes():
    nodes = np.reshape(UNIT_CORNERS, (8, 3)) + np.random.default_rng(3).uniform(-0.2, 0.2, (8, 3))
    turned = [1, 2, 3, 0, 5, 6, 7, 4]  # another first node of every face
    one, other = (characteristics(Mesh.from_records(nodes.ravel(), [8, *order, 0]), bilinear=True) for order in (range(8), turned))
    assert one[0] == pytest.approx(other[0], rel=1e-14)
    assert one[2] == pytest.approx(other[2], rel=1e-12, abs=1e-14)


def test_plane_faces_have_the_same_bits_either_way():
    mesh = unit_mesh(3, 2, 4, dx=[1, 2, 3])
    for one, other in zip(characteristics(mesh), characteristics(mesh, bilinear=True)):
        assert np.array_equal(one, other)
