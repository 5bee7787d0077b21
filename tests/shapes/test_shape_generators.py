"""PIPE, ROUGH_HEX, MESH2CONVEX, BEND, integration points: numbering, identifiers, sizes, refusals."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sample_shapes import cube, polygon_cube, unit_mesh

from solfec.shapes import transform
from solfec.shapes.bend import bend
from solfec.shapes.characteristics import characteristics
from solfec.shapes.convex import Convex
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.hull import hull
from solfec.shapes.identifiers import ANY_SURFACE, INTERNAL_FACE
from solfec.shapes.integration_points import surface_integration_points, volume_integration_points
from solfec.shapes.mesh import Mesh
from solfec.shapes.mesh_to_convex import mesh_to_convex
from solfec.shapes.pipe import pipe
from solfec.shapes.primitives import compile
from solfec.shapes.rough_hex import principal_axes, rough_hex

SIDES = (1, 2, 3, 4)


def faces_with(mesh, surface):
    """Outward area vectors of boundary faces with an identifier, and their middles."""
    topology = mesh.topology
    corners = [mesh.nodes[topology.face_nodes[r, : topology.face_size[r]]] for r in np.flatnonzero(topology.face_surface == surface)]
    return np.array([np.cross(c[2] - c[0], c[3] - c[1]) / 2 for c in corners]), np.array([c.mean(0) for c in corners])


# --- pipes -------------------------------------------------------------------------------------------------


def test_pipe_numbers_nodes_across_the_wall_then_round_then_along():
    mesh = pipe((0, 0, 0), (0, 0, 2), 0.5, 1, 1, 8, 1, 0, SIDES)
    assert len(mesh.nodes) == 32
    assert mesh.nodes[0] == pytest.approx((0, 0.5, 0))
    assert mesh.nodes[1] == pytest.approx((0, 1.5, 0))
    assert mesh.nodes[2] == pytest.approx((-0.353553, 0.353553, 0), abs=1e-6)
    assert mesh.nodes[16] == pytest.approx((0, 0.5, 2))
    assert characteristics(mesh)[0] == pytest.approx(8 * math.sqrt(2))
    assert mesh.topology.nodes_of(7)[:4] == [14, 15, 1, 0]


def test_pipe_ids_are_base_far_end_inside_outside():
    mesh = pipe((0, 0, 0), (0, 0, 2), 0.5, 1, 1, 8, 1, 0, SIDES)
    for surface, radius, outward in ((1, None, -1), (2, None, 1), (3, 0.5, None), (4, 1.5, None)):
        areas, middles = faces_with(mesh, surface)
        assert len(areas) == 8
        if outward:
            assert (areas[:, 2] * outward > 0).all() and np.allclose(areas[:, :2], 0)
        else:
            assert np.hypot(*middles[:, :2].T) == pytest.approx(radius * math.cos(math.pi / 8))
            assert ((areas * middles).sum(1) * (radius - 1) > 0).all()


def test_pipe_along_x_starts_from_z_and_oblique_pipes_keep_their_radii():
    assert pipe((0, 0, 0), (2, 0, 0), 0.5, 1, 1, 8, 1, 0, SIDES).nodes[0] == pytest.approx((0, 0, 0.5))
    assert characteristics(pipe((0, 0, 0), (1, 1, 0), 0.5, 1, 1, 8, 1, 0, SIDES))[0] == pytest.approx(8.0)


@pytest.mark.parametrize(
    "changes, text",
    [({1: (0, 0, 0)}, "dir"), ({2: 0.0}, "rin"), ({3: -1.0}, "thi"), ({5: 2}, "nrad"), ({4: 0}, "ndir"), ({8: (1, 2, 3)}, "surfids")],
)
def test_bad_pipes_are_refused_by_name(changes, text):
    arguments = [(0, 0, 0), (0, 0, 1), 0.5, 1.0, 1, 8, 1, 0, SIDES]
    for place, value in changes.items():
        arguments[place] = value
    with pytest.raises(ValueError, match=text):
        pipe(*arguments)


# --- rough boxes -------------------------------------------------------------------------------------------


def test_rough_box_holds_the_shape_with_ten_epsilons_to_spare():
    points = np.random.default_rng(1).normal(size=(30, 3)) * (3, 1, 2)
    stone = hull(points, 0, 0)
    transform.rotate(stone, (0, 0, 0), (1, 2, 3), 40)
    mesh = rough_hex([stone], 2, 3, 4, epsilon=1e-3)
    assert len(mesh.nodes) == 3 * 4 * 5
    axes = (mesh.nodes[[1, 3, 12]] - mesh.nodes[0]) / np.sqrt(((mesh.nodes[[1, 3, 12]] - mesh.nodes[0]) ** 2).sum(1))[:, None]
    inside, outside = stone.polyhedra[0].vertices @ axes.T, mesh.nodes @ axes.T
    assert inside.min(0) - outside.min(0) == pytest.approx(0.01, rel=1e-6)
    assert outside.max(0) - inside.max(0) == pytest.approx(0.01, rel=1e-6)
    extent = np.diag(axes @ characteristics(stone)[2] @ axes.T)
    assert extent[0] < extent[1] < extent[2]
    assert (mesh.volume_ids == ANY_SURFACE).all()
    assert (mesh.topology.face_surface[mesh.topology.boundary] == ANY_SURFACE).all()


def test_rough_box_of_a_cube_is_along_the_global_axes():
    mesh = rough_hex([cube()], 1, 1, 1)
    assert mesh.nodes == pytest.approx(unit_mesh().nodes, abs=2e-5)


def test_axes_of_equal_eigenvalues_are_near_the_global_ones():
    turn = transform.rotation_matrix(np.array([0.0, 0.0, 1.0]), 30)
    axes = principal_axes(turn @ np.diag([2.0, 1.0, 1.0]) @ turn.T)
    assert abs(axes[:, 2]) == pytest.approx(turn[:, 0])
    assert np.linalg.det(axes) == pytest.approx(1)
    assert abs(axes[2, 0]) == pytest.approx(1) or abs(axes[2, 1]) == pytest.approx(1)


# --- elements as convexes ----------------------------------------------------------------------------------


def test_every_element_becomes_a_convex_the_last_inner_one_first():
    mesh = unit_mesh(3, 3, 3)
    mesh.volume_ids = np.arange(27, dtype=np.int32)
    convexes = mesh_to_convex(mesh)
    ids = [p.volume_id for p in convexes.polyhedra]
    assert ids == [13, *(e for e in range(26, -1, -1) if e != 13)]
    assert sum(characteristics(Convex([p]))[0] for p in convexes.polyhedra) == pytest.approx(1.0)
    assert convexes.polyhedra[-1].surfaces.tolist() == [11, 15, 12] + 3 * [INTERNAL_FACE]


def test_only_boundary_faces_of_converted_elements_are_outer():
    shape = compile(mesh_to_convex(unit_mesh(2, 1, 1)), 1e-6)
    assert shape.outer_count.tolist() == [5, 5]
    assert shape.face_count.tolist() == [6, 6]


def test_warped_elements_become_convex_ones():
    nodes = unit_mesh().nodes.copy()
    nodes[[5, 6], 2] += 0.1
    nodes = nodes[[0, 1, 3, 2, 4, 5, 7, 6]]
    mesh = Mesh.from_records(nodes.ravel(), [8, *range(8), 0], 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (polyhedron,) = mesh_to_convex(mesh).polyhedra
    for face in polyhedron.faces:
        a, b, c = polyhedron.vertices[list(face[:3])]
        assert ((polyhedron.vertices - a) @ np.cross(b - a, c - a)).max() < 1e-12


# --- bending -----------------------------------------------------------------------------------------------


def bar(length=3.0):
    """A bar with nodes at x = pi/2 and pi/2 + 1/2."""
    box = [0, 0, 0, length, 0, 0, length, 0.2, 0, 0, 0.2, 0, 0, 0, 0.1, length, 0, 0.1, length, 0.2, 0.1, 0, 0.2, 0.1]
    return hex_mesh(box, 3, 1, 1, 0, [0] * 6, dx=[math.pi / 2, 0.5, length - 0.5 - math.pi / 2])


def test_bending_maps_points_as_the_formula_says():
    mesh = bar()
    before = mesh.nodes.copy()
    bend(mesh, (0, 0, 1.1), (0, -2, 0), 90)
    for x, z, to in ((math.pi / 2, 0.1, (1, 1.1)), (math.pi / 2, 0.0, (1.1, 1.1)), (math.pi / 2 + 0.5, 0.0, (1.1, 1.6))):
        rows = np.flatnonzero((abs(before[:, 0] - x) < 1e-9) & (before[:, 2] == z))
        assert len(rows) == 2
        assert mesh.nodes[rows][:, [0, 2]] == pytest.approx(np.array([to, to]))
        assert mesh.nodes[rows, 1].tolist() == before[rows, 1].tolist()
    start = before[:, 0] == 0
    assert mesh.nodes[start].tolist() == before[start].tolist()


def test_bending_the_other_way_leaves_what_lies_behind():
    mesh = bar()
    before = mesh.nodes.copy()
    bend(mesh, (0, 0, 1.1), (0, 1, 0), 90)
    assert mesh.nodes.tolist() == before.tolist()


def test_axis_through_the_mesh_and_too_sharp_bends_are_refused_and_change_nothing():
    mesh = bar()
    before = mesh.nodes.copy()
    with pytest.raises(ValueError, match="axis passes through element 0"):
        bend(mesh, (0.7, 0.1, 0.05), (0, 1, 0), 90)
    ring = hex_mesh([c * s for c, s in zip(mesh.nodes[[0, 3, 7, 4, 8, 11, 15, 12]].ravel(), [2 * math.pi / 3, 1, 1] * 8)], 1, 1, 1, 0, [0] * 6)
    with pytest.raises(ValueError, match="too sharp: element"):
        bend(ring, (0, 0, 1.1), (0, -1, 0), 360)
    with pytest.raises(ValueError, match="angle"):
        bend(mesh, (0, 0, 1.1), (0, -1, 0), 0)
    assert mesh.nodes.tolist() == before.tolist()


# --- integration points ------------------------------------------------------------------------------------

ELEMENTS = {
    4: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1],
    5: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1],
    6: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1],
    8: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1],
}


@pytest.mark.parametrize("size", ELEMENTS)
def test_volume_points_integrate_second_moments(size):
    mesh = Mesh.from_records(ELEMENTS[size], [size, *range(size), 3], 0)
    points = volume_integration_points(mesh)
    assert len(points) == {4: 4, 5: 8, 6: 6, 8: 8}[size]
    volume, centre, euler = characteristics(mesh)
    low, high = (5 - math.sqrt(10)) / 15, (5 + math.sqrt(10)) / 15
    weights = np.full(len(points), 1 / len(points))
    if size == 5:  # heights weigh by the section: integral of (1 - z)^2 against 1 and z is 1/3 and 1/12
        share = (1 / 12 - high / 3) / (low - high) * 3
        weights = np.repeat([share / 4, (1 - share) / 4], 4)
    assert weights @ points == pytest.approx(centre)
    assert volume * np.einsum("p,pi,pj->ij", weights, points - centre, points - centre) == pytest.approx(euler)
    assert volume_integration_points(mesh, 3).tolist() == points.tolist()
    assert len(volume_integration_points(mesh, 4)) == 0


def test_hexahedron_points_run_round_the_lower_layer_first():
    low, high = 0.5 - 0.5 / math.sqrt(3), 0.5 + 0.5 / math.sqrt(3)
    points = volume_integration_points(unit_mesh())
    expected = [(low, low), (high, low), (high, high), (low, high)]
    assert points[:4] == pytest.approx(np.array([(x, y, low) for x, y in expected]))
    assert points[4:] == pytest.approx(np.array([(x, y, high) for x, y in expected]))


def test_surface_points_run_over_faces_backwards():
    points = surface_integration_points(unit_mesh())
    assert len(points) == 24
    assert points[:4, 2] == pytest.approx(1) and points[-4:, 2] == pytest.approx(0)
    low, high = 0.5 - 0.5 / math.sqrt(3), 0.5 + 0.5 / math.sqrt(3)
    assert points[:4, :2] == pytest.approx(np.array([(low, low), (high, low), (high, high), (low, high)]))
    assert surface_integration_points(unit_mesh(), 16).tolist() == points[:4].tolist()
    tetrahedron = Mesh.from_records(ELEMENTS[4], [4, 0, 1, 2, 3, 0], 0)
    assert surface_integration_points(tetrahedron)[-1] == pytest.approx((1 / 3, 1 / 3, 0))


# --- sizes -------------------------------------------------------------------------------------------------


def test_huge_coordinates_are_refused_by_row():
    with pytest.raises(ValueError, match="item 3"):
        Mesh.from_records([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1e200], [4, 0, 1, 2, 3, 0], 0)
    vertices = polygon_cube().polyhedra[0].vertices.copy()
    vertices[5, 1] = 1e80
    with pytest.raises(ValueError, match="item 5"):
        hull(vertices, 0, 0)
