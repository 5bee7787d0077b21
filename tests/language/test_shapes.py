"""Shape commands: members, copies, transformations, emptying."""

from __future__ import annotations

import math

import numpy as np
import pytest
from unit_cube import CUBE

from solfec import CONVEX, COPY, HEX, HULL, MASS_CENTER, MESH, ROTATE, SCALE, SPHERE, TRANSLATE
from solfec.errors import SolfecWarning

SIDES = [4, 0, 3, 2, 1, 1, 4, 4, 5, 6, 7, 2, 4, 0, 1, 5, 4, 3, 4, 1, 2, 6, 5, 4, 4, 2, 3, 7, 6, 5, 4, 3, 0, 4, 7, 6]


def test_convex_counts_and_lists_its_vertices():
    cube = CONVEX(CUBE, SIDES, 1)
    assert cube.nver == 8
    assert cube.vertex(6) == (1.0, 1.0, 1.0)


def test_convex_accepts_numpy_arrays_tuples_and_keywords():
    assert CONVEX(np.array(CUBE), tuple(SIDES), 1).nver == 8
    assert CONVEX(vertices=np.reshape(CUBE, (8, 3)), faces=np.array(SIDES), volid=np.int64(1)).nver == 8


def test_new_convex_joins_a_collection_at_its_head_and_empties_the_argument():
    first = CONVEX(CUBE, SIDES, 1)
    second = HULL([5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1], 1, 1, first)
    assert second.nver == 4
    assert MASS_CENTER(second)[0] > 0.5
    with pytest.raises(ValueError, match="empty: its contents went into HULL"):
        first.nver  # noqa: B018
    with pytest.raises(TypeError, match="non-empty"):
        COPY(first)
    third = CONVEX(CUBE, SIDES, 1, convex=second)
    assert third.nver == 8


def test_a_failing_command_leaves_the_collection_alone():
    first = CONVEX(CUBE, SIDES, 1)
    with pytest.raises(RuntimeError):
        HULL([0] * 12, 1, 1, convex=first)
    assert first.nver == 8


def test_mesh_data_make_the_same_mesh():
    mesh = MESH(CUBE, [8, 0, 1, 2, 3, 4, 5, 6, 7, 1], [0, 4, 0, 1, 2, 3, 7])
    again = MESH(*mesh.get_data())
    assert again.nnod == 8
    assert again.nodes_on_surface(7) == [0, 1, 2, 3]
    assert again.nodes_on_surface(99) is None


def test_surface_identifier_of_a_mesh_may_be_a_number_or_a_list():
    element = [8, 0, 1, 2, 3, 4, 5, 6, 7, 1]
    assert MESH(CUBE, element, 5).nodes_on_surface(5) == MESH(CUBE, element, [5]).nodes_on_surface(5)


def test_mesh_node_is_read_and_moved():
    mesh = HEX(CUBE, 1, 1, 1, 1, [1] * 6)
    assert mesh.node(7) == (1.0, 1.0, 1.0)
    assert mesh.node(7, z=1.5) == (1.0, 1.0, 1.5)
    assert mesh.node(7) == (1.0, 1.0, 1.5)


@pytest.mark.parametrize("spelling", ["surids", "surfids"])
def test_hex_numbers_nodes_and_surfaces_as_documented(spelling):
    mesh = HEX(CUBE, 2, 1, 1, 1, dx=[1, 3], **{spelling: [11, 12, 13, 14, 15, 16]})
    assert mesh.nnod == 12
    assert [mesh.node(i)[0] for i in range(3)] == [0.0, 0.25, 1.0]
    on = {s: {mesh.node(n) for n in mesh.nodes_on_surface(s)} for s in range(11, 17)}
    assert {z for _, _, z in on[11]} == {0.0} and {z for _, _, z in on[16]} == {1.0}
    assert {x for x, _, _ in on[12]} == {0.0} and {x for x, _, _ in on[14]} == {1.0}
    assert {y for _, y, _ in on[15]} == {0.0} and {y for _, y, _ in on[13]} == {1.0}


def test_mesh_lists_faces_between_elements():
    mesh = HEX(CUBE, 2, 1, 1, 1, [1] * 6)
    assert [sorted(face) for face in mesh.inter_element_faces()] == [[1, 4, 7, 10]]
    assert mesh.inter_element_faces_on_plane((0.5, 0, 0), (2, 0, 0), ref=False) == mesh.inter_element_faces()
    assert mesh.inter_element_faces_on_plane((0.4, 0, 0), (1, 0, 0)) == []
    assert mesh.set_volid(3) == 3


def test_copy_returns_one_object_or_a_list_in_order():
    one, two = SPHERE((0, 0, 0), 1, 1, 1), HULL(CUBE, 1, 1)
    assert isinstance(COPY(one), SPHERE) and COPY(one) is not one
    copies = COPY((one, two))
    assert [type(shape) for shape in copies] == [SPHERE, CONVEX]
    assert isinstance(COPY([one]), SPHERE)
    TRANSLATE(copies[0], (1, 0, 0))
    assert one.center == (0.0, 0.0, 0.0)


def test_transformations_return_their_argument():
    ball, pair = SPHERE((1, 0, 0), 1, 1, 1), [SPHERE((1, 0, 0), 1, 1, 1), HULL(CUBE, 1, 1)]
    assert TRANSLATE(ball, (1, 2, 3)) is ball and ball.center == (2.0, 2.0, 3.0)
    assert ROTATE(pair, (0, 0, 0), (0, 0, 2), 90) is pair
    assert pair[0].center == pytest.approx((0, 1, 0), abs=1e-15)
    assert pair[1].vertex(1) == pytest.approx((0, 1, 0), abs=1e-15)
    assert SCALE(pair[1], [2, 3, 4]) is pair[1]


def test_transformations_of_points_return_new_tuples():
    assert TRANSLATE((1, 2, 3), (1, 1, 1)) == (2.0, 3.0, 4.0)
    assert SCALE([1, 2, 3], (2, 2, 2)) == (2.0, 4.0, 6.0)
    turned = ROTATE((1, 0, 0), (0, 0, 0), (0, 0, 1), 30)
    assert turned == pytest.approx((math.cos(math.pi / 6), 0.5, 0))


def test_scaling_a_sphere_off_the_origin_warns_that_the_centre_stays():
    ball = SPHERE((1, 0, 0), 1, 1, 1)
    with pytest.warns(SolfecWarning, match="leaves its centre"):
        SCALE(ball, (2, 2, 2))
    assert (ball.radius, ball.center) == (2.0, (1.0, 0.0, 0.0))


def test_mass_center_weighs_shapes_by_volume():
    shapes = [HULL(CUBE, 1, 1), TRANSLATE(SCALE(HULL(CUBE, 1, 1), (1, 1, 3)), (5, 0, 0))]
    assert MASS_CENTER(shapes) == pytest.approx(((0.5 + 3 * 5.5) / 4, 0.5, (0.5 + 3 * 1.5) / 4))


def test_faces_turned_inward_draw_a_warning_at_the_users_line():
    with pytest.warns(SolfecWarning, match="inward") as caught:
        CONVEX(CUBE, [4, 1, 2, 3, 0, 1] + SIDES[6:], 1)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("shape", [SPHERE((0, 0, 0), 1, 1, 1)])
def test_members_are_guarded(shape):
    with pytest.raises(ValueError, match="read-only"):
        shape.radius = 2
    with pytest.raises(AttributeError):
        shape.colour = 2
    with pytest.raises(AttributeError):
        shape.colour  # noqa: B018
