"""MESH and HEX: numbering, boundary faces, identifiers, orientation, errors."""

from __future__ import annotations

import numpy as np
import pytest
from sample_shapes import UNIT_CORNERS, unit_mesh

from solfec.element_types import BY_SIZE
from solfec.shapes.characteristics import characteristics
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.mesh import Mesh

TET_NODES = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]


def boundary_surfaces(mesh, element):
    topology = mesh.topology
    rows = (topology.face_element == element) & topology.boundary
    return topology.face_surface[rows].tolist()


def face_normal(mesh, row):
    a, b, c = mesh.nodes[mesh.topology.face_nodes[row, :3]]
    normal = np.cross(b - a, c - a)
    return normal / np.linalg.norm(normal)


def check_hex_of_test_case(mesh):
    assert len(mesh.nodes) == 12
    assert sorted(set(mesh.nodes[:, 0])) == [0.0, 0.25, 1.0]
    assert mesh.topology.nodes_of(0) == [0, 1, 4, 3, 6, 7, 10, 9]
    assert mesh.topology.nodes_of(1) == [1, 2, 5, 4, 7, 8, 11, 10]
    assert boundary_surfaces(mesh, 0) == [11, 15, 13, 12, 16]
    assert boundary_surfaces(mesh, 1) == [11, 15, 14, 13, 16]
    outward = {11: (0, 0, -1), 12: (-1, 0, 0), 13: (0, 1, 0), 14: (1, 0, 0), 15: (0, -1, 0), 16: (0, 0, 1)}
    for row in np.flatnonzero(mesh.topology.boundary):
        assert face_normal(mesh, row) == pytest.approx(outward[int(mesh.topology.face_surface[row])])


def test_hex_numbering_and_surface_identifiers():
    check_hex_of_test_case(unit_mesh(2, 1, 1, dx=[1, 3]))


def test_hex_with_layers_upside_down_is_the_same_mesh():
    upside_down = UNIT_CORNERS[12:] + UNIT_CORNERS[:12]
    mesh = hex_mesh(upside_down, 2, 1, 1, 0, [11, 12, 13, 14, 15, 16], dx=[1, 3])
    check_hex_of_test_case(mesh)
    assert mesh.nodes.tolist() == unit_mesh(2, 1, 1, dx=[1, 3]).nodes.tolist()


def test_hex_of_a_skew_box_maps_corners_exactly():
    corners = np.array(UNIT_CORNERS, float).reshape(8, 3) @ [[2, 0.1, 0], [0.2, 1, 0.3], [0, 0.4, 3]] + [5, 6, 7]
    mesh = hex_mesh(corners.ravel(), 2, 3, 4, 9, range(6))
    assert mesh.nodes[[0, 2, 11, 9, 48, 50, 59, 57]] == pytest.approx(corners, rel=1e-15)
    assert mesh.volume_ids.tolist() == [9] * 24
    assert characteristics(mesh)[0] == pytest.approx(characteristics(hex_mesh(corners.ravel(), 1, 1, 1, 0, [0] * 6))[0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (dict(nodes=UNIT_CORNERS[:23]), "24 numbers"),
        (dict(i=0), "'i' must be positive"),
        (dict(k=-1), "'k' must be positive"),
        (dict(surfaces=[1, 2, 3, 4, 5]), "6 surface"),
        (dict(dx=[1]), "at least 2"),
        (dict(dy=[0.0]), "positive numbers"),
        (dict(nodes=[0] * 24), "two nodes in one place: 0 and 1"),
        (dict(nodes=UNIT_CORNERS[:12] * 2), "two nodes in one place"),
        (dict(nodes=[v for p in (0, 1, 2, 3, 8, 9, 10, 11) for v in (p % 4 in (1, 2), p % 4 > 1, 0)]), "in one place"),
        (dict(nodes=[*UNIT_CORNERS[:23], float("inf")]), "finite"),
        (dict(surfaces=[2**31 - 1] * 6), "must lie between"),
    ],
)
def test_hex_errors(change, text):
    arguments = dict(nodes=UNIT_CORNERS, i=2, j=1, k=1, volume_id=0, surfaces=[1] * 6) | change
    with pytest.raises(ValueError, match=text):
        hex_mesh(**arguments)


@pytest.mark.parametrize("size", [4, 5, 6, 8])
def test_faces_of_every_element_type_point_outward(size):
    nodes = {
        4: TET_NODES,
        5: UNIT_CORNERS[:12] + [0.5, 0.5, 1],
        6: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1],
        8: UNIT_CORNERS,
    }[size]
    mesh = Mesh.from_records(nodes, [size, *range(size), 0], 5)
    assert len(mesh.topology.face_index) == len(BY_SIZE[size].faces)
    for row in range(len(mesh.topology.face_index)):
        assert face_normal(mesh, row) @ (mesh.nodes.mean(0) - mesh.nodes[mesh.topology.face_nodes[row, 0]]) < 0


def test_surface_records_match_node_sets_and_the_rest_is_global():
    mesh = Mesh.from_records(TET_NODES, [4, 0, 1, 2, 3, 8], [5, 3, 3, 1, 0, 9, 4, 0, 1, 2, 3, 77])
    assert boundary_surfaces(mesh, 0) == [5, 9, 5, 5]
    assert mesh.nodes_on_surface(9) == [0, 1, 3]
    assert mesh.nodes_on_surface(77) == []
    assert mesh.volume_ids.tolist() == [8]


def test_inverted_tetrahedra_are_turned_round():
    mesh = Mesh.from_records(TET_NODES, [4, 0, 2, 1, 3, 0], 0)
    assert characteristics(mesh)[0] == pytest.approx(1 / 6)


def test_unused_nodes_draw_a_warning_and_leading_ones_are_dropped():
    with pytest.warns(UserWarning, match="3 nodes"):
        mesh = Mesh.from_records([9, 9, 9, *TET_NODES[:3], 8, 8, 8, *TET_NODES[3:], 7, 7, 7], [4, 1, 3, 4, 5, 0], [0, 3, 1, 4, 3, 6])
    assert mesh.nodes[0].tolist() == [0, 0, 0]
    assert len(mesh.nodes) == 5
    assert mesh.topology.nodes_of(0) == [0, 2, 3, 4]
    assert mesh.nodes_on_surface(6) == [0, 2, 3]


def test_records_of_a_mesh_rebuild_it_bulk_elements_first():
    mesh = unit_mesh(3, 3, 3, surfaces=(1, 2, 0, 4, 5, 6))
    nodes, elements, surfaces = mesh.records()
    assert elements[1:9] == mesh.topology.nodes_of(13)
    again = Mesh.from_records(nodes, elements, surfaces)
    assert again.nodes.tolist() == mesh.nodes.tolist()
    for surface in range(7):
        assert again.nodes_on_surface(surface) == mesh.nodes_on_surface(surface)


def test_internal_faces_are_listed_once_and_selected_by_plane():
    mesh = unit_mesh(2, 2, 2)
    assert len(mesh.internal_faces()) == 12
    on_plane = mesh.internal_faces_on_plane((0.5, 0, 0), (7, 0, 0), 1e-6)
    assert len(on_plane) == 4
    assert all(mesh.nodes[face][:, 0].tolist() == [0.5] * 4 for face in on_plane)


def test_node_overwritten_and_volume_identifier_set():
    mesh = unit_mesh()
    other = mesh.copy()
    mesh.set_node(7, (None, 2.0, None))
    mesh.set_volume_id(4)
    assert mesh.nodes[7].tolist() == [1.0, 2.0, 1.0]
    assert other.nodes[7].tolist() == [1.0, 1.0, 1.0]
    assert (mesh.volume_ids.tolist(), other.volume_ids.tolist()) == ([4], [0])


@pytest.mark.parametrize(
    ("nodes", "elements", "surfaces", "text"),
    [
        (TET_NODES, [7, 0, 1, 2, 3, 0], 0, "4, 5, 6 or 8"),
        (TET_NODES, [4, 0, 1, 2, 3], 0, "cut short"),
        (TET_NODES, [4, 0, 1, 2, 4, 0], 0, "out of the range 0 to 3"),
        (TET_NODES, [4, 0, 1, 2, -1, 0], 0, "out of the range"),
        (TET_NODES, [4, 0, 1, 2, 2, 0], 0, "repeats"),
        (TET_NODES, [], 0, "at least one element"),
        (TET_NODES[:9], [4, 0, 1, 2, 2, 0], 0, "at least 4 nodes"),
        (TET_NODES[:-1], [4, 0, 1, 2, 3, 0], 0, "three numbers"),
        (TET_NODES[:-1] + [float("nan")], [4, 0, 1, 2, 3, 0], 0, "finite"),
        (TET_NODES, [4, 0, 1, 2, 3, 0], [0, 5, 0, 1, 2, 3, 3], "3 or 4"),
        (TET_NODES, [4, 0, 1, 2, 3, 0], [0, 3, 0, 1, 2], "cut short"),
        (TET_NODES, [4, 0, 1, 2, 3, 0], [0, 3, 0, 1, 9, 2], "out of the range"),
        (TET_NODES, [4, 0, 1, 2, 3, 0], [0, 3, 0, 1, 1, 2], "repeats"),
        (TET_NODES, [4, 0, 1, 2, 3, 0], [], "global surface"),
        ([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0], [4, 0, 1, 2, 3, 0], 0, "no volume"),
        (UNIT_CORNERS, [8, 4, 5, 6, 7, 0, 1, 2, 3, 0], 0, "inverted"),
        ([*TET_NODES, 1, 1, 1, -1, -1, 2], [4, 0, 1, 2, 3, 0, 4, 1, 2, 3, 4, 0, 4, 1, 2, 3, 5, 0], 0, "more than two"),
    ],
)
def test_mesh_errors(nodes, elements, surfaces, text):
    with pytest.raises(ValueError, match=text):
        Mesh.from_records(nodes, elements, surfaces)


def test_flat_elements_and_faces_that_cross_themselves_are_refused_by_number():
    flat = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]
    with pytest.raises(ValueError, match="element 0 has no volume"):
        Mesh.from_records(flat, [4, 0, 1, 2, 3, 0], 0)
    with pytest.raises(ValueError, match="face 3 of element 0 crosses itself"):
        Mesh.from_records(UNIT_CORNERS, [8, 0, 1, 2, 3, 4, 5, 7, 6, 0], 0)
