"""compile(): order of primitives, closed outward faces, merged and split faces, adjacency."""

from __future__ import annotations

import numpy as np
import pytest
from sample_shapes import UNIT_CORNERS, cube, polygon_cube, tetrahedron, unit_mesh

from solfec.contact.geometry import Geometry, PrimitiveKind
from solfec.shapes import transform
from solfec.shapes.convex import Convex
from solfec.shapes.ellipsoid import Ellipsoid
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.hull import hull
from solfec.shapes.identifiers import INTERNAL_FACE
from solfec.shapes.mesh import Mesh
from solfec.shapes.primitives import compile, join
from solfec.shapes.sphere import Sphere

EPSILON = 1e-6


def faces_of(shape, primitive):
    """Corner lists of one primitive's faces."""
    first = shape.face_ptr[primitive]
    rows = range(first, first + shape.face_count[primitive])
    return [
        shape.corners[shape.face_corner_ptr[r] : shape.face_corner_ptr[r] + shape.face_corner_count[r]].tolist()
        for r in rows
    ]


def neighbours(shape, primitive):
    start = shape.adjacent_ptr[primitive]
    return shape.adjacency[start : start + shape.adjacent_count[primitive]].tolist()


def normal_of(shape, face):
    a, b, c = shape.vertices[:, face[:3]].T
    normal = np.cross(b - a, c - a)
    return normal / np.linalg.norm(normal)


def check_closed_and_outward(shape):
    """Faces of every polyhedron meet pairwise, and no vertex of it lies above any plane."""
    size = np.ptp(shape.vertices, axis=1).max()
    for primitive in np.flatnonzero(shape.kind != PrimitiveKind.SPHERE):
        faces = faces_of(shape, primitive)
        start = shape.vertex_ptr[primitive]
        own = shape.vertex_list[start : start + shape.vertex_count[primitive]].tolist()
        assert set(v for f in faces for v in f) == set(own)
        edges = [e for f in faces for e in zip(f, f[1:] + f[:1])]
        assert len(set(edges)) == len(edges)
        assert {(b, a) for a, b in edges} == set(edges)
        for face in faces:
            heights = normal_of(shape, face) @ (shape.vertices[:, own] - shape.vertices[:, face[:1]])
            assert heights.max() <= 1e-8 * size


def test_convexes_come_first_then_meshes_and_spheres_in_order():
    far = transform.translate(tetrahedron(), (5, 0, 0))
    pair = polygon_cube()
    pair.prepend(far)
    shape = compile([Sphere((9, 9, 9), 1, 2, 3), pair, unit_mesh(2, 1, 1), cube()], EPSILON)
    kinds = [PrimitiveKind(k).name for k in shape.kind]
    assert kinds == ["CONVEX"] * 3 + ["SPHERE"] + ["ELEMENT"] * 2
    assert shape.vertex_count.tolist() == [4, 8, 8, 1, 8, 8]
    assert shape.radius.tolist() == [0, 0, 0, 1, 0, 0]
    assert shape.surface[3] == 3
    assert shape.volume_id.tolist() == [0, 3, 0, 2, 0, 0]
    assert shape.vertices[:, shape.vertex_list[shape.vertex_ptr[3]]].tolist() == [9, 9, 9]
    check_closed_and_outward(shape)


def test_columns_have_the_types_of_the_tables():
    shape = compile([cube(), unit_mesh(2, 2, 2), Sphere((0, 0, 0), 1), Ellipsoid((0, 0, 0), (1, 2, 3))], EPSILON)
    for name in shape.NAMES:
        expected = np.float64 if name in ("vertices", "radius", "radii", "orientation") else np.int32
        assert getattr(shape, name).dtype == expected, name
    assert shape.vertices.flags.f_contiguous


def test_primitives_join_the_geometry_tables():
    geometry = Geometry()
    for body in range(2):
        geometry.add(body, compile([cube(), unit_mesh(2, 1, 1)], EPSILON))
    assert geometry.primitives.n == 6
    assert geometry.primitives.view("body").tolist() == [0, 0, 0, 1, 1, 1]
    start = geometry.primitives.adjacent_ptr[5]
    assert geometry.adjacency.primitive[start : start + 2].tolist() == [4, 5]


def test_a_primitive_has_the_same_rows_alone_as_among_others():
    ellipsoid = Ellipsoid((1, 2, 3), (1, 2, 3), 4, 5)
    transform.rotate(ellipsoid, (0, 0, 0), (1, 1, 0), 30.0)
    shapes = [hull(np.random.default_rng(3).random((20, 3)), 2, 7), cube(surface=3), Sphere((4, 5, 6), 2.0, 8, 9), ellipsoid]
    parts = [compile(shape, EPSILON) for shape in shapes]
    alone, together = Geometry(), Geometry()
    for body in range(20):  # tables grow meanwhile
        together.add(body, join(parts))
        for part in parts:
            alone.add(body, part)
    for one, other in zip(alone.tables, together.tables):
        for name in set(one.COLUMNS) - {"number"}:
            np.testing.assert_array_equal(one.view(name), other.view(name), err_msg=name)
    assert alone.primitives.view("number").max() == 0


def test_triangulated_cube_becomes_six_squares():
    vertices = np.array(UNIT_CORNERS, float)
    quads = [(0, 3, 2, 1), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (4, 5, 6, 7)]
    records = []
    for a, b, c, d in quads:
        records += [3, a, b, c, 1, 3, a, c, d, 1]
    shape = compile(Convex.from_records(vertices, records, 0), EPSILON)
    assert shape.face_corner_count.tolist() == [4] * 6
    check_closed_and_outward(shape)


def test_coplanar_faces_with_different_identifiers_stay_apart():
    records = [3, 0, 2, 1, 1, 3, 0, 3, 2, 2]
    records += [4, 0, 1, 5, 4, 1, 4, 1, 2, 6, 5, 1, 4, 2, 3, 7, 6, 1, 4, 0, 4, 7, 3, 1, 3, 4, 5, 6, 1, 3, 4, 6, 7, 1]
    shape = compile(Convex.from_records(UNIT_CORNERS, records, 0), EPSILON)
    assert sorted(shape.face_corner_count.tolist()) == [3, 3, 4, 4, 4, 4, 4]
    assert sorted(shape.face_surface.tolist()) == [1, 1, 1, 1, 1, 1, 2]
    check_closed_and_outward(shape)


def test_round_hulls_compile_to_closed_outward_faces():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(200, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    shape = compile(hull(points), EPSILON)
    assert shape.face_count[0] == 396
    check_closed_and_outward(shape)


def test_boundary_faces_come_first_in_ascending_index():
    shape = compile(unit_mesh(2, 1, 1), EPSILON)
    assert shape.face_surface.tolist() == [11, 15, 13, 12, 16, INTERNAL_FACE, 11, 15, 14, 13, 16, INTERNAL_FACE]
    assert shape.outer_count.tolist() == [5, 5]
    check_closed_and_outward(shape)


def test_elements_without_free_faces_are_left_out_with_their_own_nodes():
    mesh = unit_mesh(5, 5, 5)
    shape = compile(mesh, EPSILON)
    assert len(shape.kind) == 125 - 27
    assert shape.vertices.shape[1] == 216 - 8
    check_closed_and_outward(shape)


@pytest.mark.parametrize(
    ("top", "normals"),
    [
        ((1, 1.1, 1, 1.1), [(-0.0990148, -0.0990148, 0.990148), (0.0990148, 0.0990148, 0.990148)]),
        ((1.1, 1, 1.1, 1), [(-0.0990148, 0.0990148, 0.990148), (0.0990148, -0.0990148, 0.990148)]),
    ],
)
def test_warped_faces_are_split_along_their_ridge(top, normals):
    corners = np.array(UNIT_CORNERS, float).reshape(8, 3)
    corners[4:, 2] = top
    shape = compile(hex_mesh(corners.ravel(), 1, 1, 1, 0, [1, 2, 3, 4, 5, 6]), EPSILON)
    assert shape.face_surface.tolist() == [1, 5, 4, 3, 2, 6, 6]
    assert shape.outer_count.tolist() == [7]
    found = sorted(tuple(normal_of(shape, face)) for face in faces_of(shape, 0)[-2:])
    assert np.array(found) == pytest.approx(np.array(sorted(normals)), abs=1e-6)
    check_closed_and_outward(shape)


@pytest.mark.parametrize(("lift", "faces"), [(5e-4, 7), (5e-9, 7), (5e-10, 6)])
def test_faces_stay_whole_whose_warp_is_round_off(lift, faces):
    corners = np.array(UNIT_CORNERS, float).reshape(8, 3)
    corners[5, 2] += lift
    shape = compile(hex_mesh(corners.ravel(), 1, 1, 1, 0, [0] * 6), EPSILON)
    assert shape.face_count.tolist() == [faces]


def test_elements_are_adjacent_when_they_share_a_node():
    shape = compile(unit_mesh(2, 2, 2), EPSILON)
    assert all(neighbours(shape, p) == list(range(8)) for p in range(8))
    row = compile(unit_mesh(4, 1, 1), EPSILON)
    assert [neighbours(row, p) for p in range(4)] == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]


@pytest.mark.parametrize(
    ("offset", "touching"),
    [
        ((1, 0, 0), True),
        ((1, 1, 0), True),
        ((1, 1, 1), True),
        ((1 + 5e-7, 0, 0), True),
        ((1 + 2e-6, 0, 0), False),
        ((1 + 8e-7, 1 + 8e-7, 0), False),
        ((1, 1 + 3e-6, 0), False),
        ((0.5, 0.25, 0.5), True),
        ((0, 0, 0), True),
        ((1.5, 0, 0), False),
    ],
)
def test_convexes_are_adjacent_when_closer_than_epsilon(offset, touching):
    shape = compile([cube(), cube(corner=offset)], EPSILON)
    assert [neighbours(shape, p) for p in range(2)] == ([[1], [0]] if touching else [[], []])


def test_boxes_that_overlap_do_not_make_convexes_adjacent():
    other = transform.translate(transform.scale(tetrahedron(), (-1, -1, -1)), (1, 1, 0.5))
    shape = compile([tetrahedron(), other], EPSILON)
    assert neighbours(shape, 0) == []


def test_adjacency_of_mixed_lists_counts_convexes_only_among_themselves():
    shape = compile([unit_mesh(2, 1, 1), cube(), cube(corner=(1, 0, 0)), Sphere((0, 0, 0), 1)], EPSILON)
    assert [neighbours(shape, p) for p in range(5)] == [[1], [0], [2, 3], [2, 3], []]


def test_brick_walls_find_all_their_neighbours():
    bricks = [cube(corner=(i, j, k)).polyhedra[0] for i in range(5) for j in range(5) for k in range(5)]
    shape = compile(Convex(bricks), EPSILON)
    place = np.array([(i, j, k) for i in range(5) for j in range(5) for k in range(5)])
    for p in (0, 31, 62, 124):
        near = np.flatnonzero(np.abs(place - place[p]).max(1) <= 1).tolist()
        near.remove(p)
        assert neighbours(shape, p) == near


def test_rigid_copies_share_what_is_constant_and_agree_with_fresh_ones():
    base = hull(np.random.default_rng(3).random((20, 3)))
    compile(base, EPSILON)
    moved = transform.rotate(transform.translate(base.copy(), (3, 2, 1)), (0, 0, 0), (1, 2, 3), 40)
    fresh = hull(moved.polyhedra[0].vertices)
    one, two = compile(moved, EPSILON), compile(fresh, EPSILON)
    assert one.vertices.tolist() == two.vertices.tolist()
    assert {frozenset(f) for f in faces_of(one, 0)} == {frozenset(f) for f in faces_of(two, 0)}


def test_stretching_and_moved_nodes_are_seen_by_compile():
    mesh = unit_mesh()
    assert compile(mesh, EPSILON).face_count.tolist() == [6]
    mesh.set_node(6, (None, None, 1 + 5e-9))
    assert compile(mesh, EPSILON).face_count.tolist() == [7]
    transform.scale(mesh, (1, 1, 0.1))
    assert compile(mesh, EPSILON).face_count.tolist() == [6]


def test_mixed_elements_compile():
    nodes = UNIT_CORNERS + [0.5, 0.5, 2]
    mesh = Mesh.from_records(nodes, [8, *range(8), 1, 5, 4, 5, 6, 7, 8, 2], 3)
    shape = compile(mesh, EPSILON)
    assert shape.face_count.tolist() == [6, 5]
    assert shape.outer_count.tolist() == [5, 4]
    assert shape.volume_id.tolist() == [1, 2]
    check_closed_and_outward(shape)
