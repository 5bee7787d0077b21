"""SPLIT and MESH_SPLIT: volumes and identifiers are conserved, parts are closed, numbering is ordered."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_shapes import cube, polygon_cube, unit_mesh

from solfec.errors import SolfecWarning
from solfec.shapes.characteristics import characteristics
from solfec.shapes.convex import Convex
from solfec.shapes.hull import hull
from solfec.shapes.identifiers import INTERNAL_FACE
from solfec.shapes.mesh import Mesh
from solfec.shapes.mesh_parts import connected_parts, submesh
from solfec.shapes.mesh_split import mesh_split
from solfec.shapes.mesh_topology import MeshTopology
from solfec.shapes.plane_cut import refined, separated
from solfec.shapes.primitives import compile
from solfec.shapes.split import split

UP = (0, 0, 1)


def volumes(shapes):
    return [characteristics(shape)[0] for shape in shapes]


def area_by_id(shape):
    """Area of boundary faces by surface identifier."""
    areas: dict[int, float] = {}
    if isinstance(shape, Mesh):
        topology = shape.topology
        rows = np.flatnonzero(topology.boundary)
        faces = [shape.nodes[topology.face_nodes[r, : topology.face_size[r]]] for r in rows]
        items = zip(topology.face_surface[rows].tolist(), faces)
    else:
        items = [(s, p.vertices[list(f)]) for p in shape.polyhedra for f, s in zip(p.faces, p.surfaces.tolist())]
    for surface, c in items:
        area = 0.5 * np.sqrt((np.cross(c[1:-1] - c[0], c[2:] - c[0]).sum(0) ** 2).sum())
        areas[surface] = areas.get(surface, 0.0) + area
    return areas


def closed(polyhedron):
    """Whether every edge has its partner and Euler's formula holds."""
    edges = {e for f in polyhedron.faces for e in zip(f, f[1:] + f[:1])}
    count = len(polyhedron.vertices) - len(edges) // 2 + len(polyhedron.faces)
    return all((b, a) in edges for a, b in edges) and len(edges) == sum(map(len, polyhedron.faces)) and count == 2


def u_shape():
    """A mesh of two legs on a foot."""
    mesh = unit_mesh(3, 1, 2)
    topology = mesh.topology
    return submesh(mesh, np.array([0, 1, 2, 3, 5]), np.where(topology.boundary, topology.face_surface, 9))


# --- convexes ----------------------------------------------------------------------------------------------


def test_hull_is_split_into_lower_and_upper_part_with_identifiers():
    (lower,), (upper,) = split([cube(surface=7)], (0, 0, 0.25), (0, 0, 3), (21, 22))
    assert volumes([lower, upper]) == pytest.approx([0.25, 0.75])
    assert area_by_id(lower) == pytest.approx({7: 2.0, 21: 1.0})
    assert area_by_id(upper) == pytest.approx({7: 4.0, 22: 1.0})
    face = lower.polyhedra[0].faces[lower.polyhedra[0].surfaces.tolist().index(21)]
    a, b, c = lower.polyhedra[0].vertices[list(face[:3])]
    assert np.cross(b - a, c - a)[2] > 0


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-5, 1.0, 1e5]))
def test_random_hulls_are_split_without_loss(seed, scale):
    random = np.random.default_rng(seed)
    stone = hull(scale * random.normal(size=(random.integers(4, 40), 3)), 3, 5, 1e-6 * scale)
    before = volumes([stone])[0], area_by_id(stone)
    below, above = split([stone], 0.3 * scale * random.normal(size=3), random.normal(size=3), (21, 22), epsilon=1e-6 * scale)
    assert sum(volumes(below + above)) == pytest.approx(before[0], rel=1e-9)
    after = [area_by_id(part) for part in below + above]
    assert sum(a.get(5, 0.0) for a in after) == pytest.approx(before[1][5], rel=1e-9)
    assert sum(a.get(21, 0.0) for a in after) == pytest.approx(sum(a.get(22, 0.0) for a in after), rel=1e-9)
    for part in below + above:
        (polyhedron,) = part.polyhedra
        assert closed(polyhedron) and polyhedron.volume_id == 3
        compile(part, 1e-6 * scale)


def test_plane_through_an_edge_a_face_or_outside_leaves_wholes():
    for height, lower in ((0.0, False), (1.0, True), (1.0 + 5e-7, True), (2.0, True), (-1.0, False)):
        below, above = split([cube()], (0, 0, height), UP)
        assert (len(below), len(above)) == ((1, 0) if lower else (0, 1))
    below, above = split([polygon_cube()], (0, 0, 0), (1, -1, 0))
    assert volumes(below + above) == pytest.approx([0.5, 0.5])
    assert [len(p.polyhedra[0].faces) for p in below + above] == [5, 5]


def test_each_convex_of_a_collection_is_a_part_of_its_own():
    pair = cube(corner=(2, 0, 0))
    pair.prepend(cube())
    below, above = split([pair], (0, 0, 0.5), UP)
    assert [len(part.polyhedra) for part in below + above] == [1, 1, 1, 1]


def test_connected_split_of_convexes_stops_at_the_gap():
    row = Convex([p for x in (0, 1, 5) for p in cube(corner=(x, 0, 0), surface=1).polyhedra])
    below, above = split([row], (0.5, 0.5, 0.5), UP, (2, 3), connected=True)
    assert above == []
    assert len(below) == 1 and len(below[0].polyhedra) == 5
    assert volumes(below) == pytest.approx([3.0])
    assert area_by_id(below[0])[2] == pytest.approx(2.0)
    with pytest.warns(SolfecWarning, match="none has a section at the point"):
        below, above = split([row], (3, 0.5, 0.5), UP, connected=True)
    assert len(below[0].polyhedra) == 3 and above == []


def test_spheres_are_not_split_and_nothing_is_changed():
    from solfec.shapes.sphere import Sphere

    stone = cube()
    with pytest.raises(ValueError, match="Sphere cannot be split"):
        split([stone, Sphere((0, 0, 0), 1)], (0, 0, 0.5), UP)
    assert len(stone.polyhedra) == 1


# --- meshes ------------------------------------------------------------------------------------------------


def test_mesh_is_split_between_its_elements():
    mesh = unit_mesh(2, 2, 4)
    mesh.volume_ids = np.arange(16, dtype=np.int32)
    (lower,), (upper,) = split([mesh], (0, 0, 0.5), UP, (21, 22))
    assert volumes([lower, upper]) == pytest.approx([0.5, 0.5])
    assert lower.volume_ids.tolist() == [*range(8)] and upper.volume_ids.tolist() == [*range(8, 16)]
    assert lower.nodes.tolist() == mesh.nodes[:27].tolist() and upper.nodes.tolist() == mesh.nodes[18:].tolist()
    assert area_by_id(lower) == pytest.approx({11: 1, 12: 0.5, 13: 0.5, 14: 0.5, 15: 0.5, 21: 1})
    assert area_by_id(upper) == pytest.approx({16: 1, 12: 0.5, 13: 0.5, 14: 0.5, 15: 0.5, 22: 1})
    assert len(mesh.nodes) == 45


def test_disconnected_parts_come_apart():
    below, above = split([u_shape()], (0, 0, 0.5), UP)
    assert volumes(below) == pytest.approx([0.5])
    assert volumes(above) == pytest.approx([1 / 6, 1 / 6])


def test_plane_through_elements_is_an_error_without_remeshing():
    with pytest.raises(ValueError, match="passes through element 0"):
        split([unit_mesh(2, 2, 2)], (0, 0, 0.3), UP, remesh=False)


def test_mesh_is_split_where_the_plane_misses_it():
    assert [len(side) for side in split([unit_mesh()], (0, 0, 3), UP)] == [1, 0]
    assert [len(side) for side in split([unit_mesh()], (0, 0, 0), UP)] == [0, 1]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_remeshed_halves_keep_volume_and_identifiers(seed):
    pytest.importorskip("tetgen", reason="the optional package tetgen is not installed")
    random = np.random.default_rng(seed)
    mesh = unit_mesh(3, 2, 2)
    mesh.volume_ids = np.arange(12, dtype=np.int32) // 6
    with pytest.warns(SolfecWarning, match="tetrahedra"):
        below, above = split([mesh], 0.5 + 0.1 * random.normal(size=3), random.normal(size=3), (21, 22))
    assert len(below) == len(above) == 1
    assert sum(volumes(below + above)) == pytest.approx(1.0, rel=1e-9)
    lower, upper = area_by_id(below[0]), area_by_id(above[0])
    assert lower.pop(21) == pytest.approx(upper.pop(22))
    for surface in range(11, 17):
        assert lower.get(surface, 0) + upper.get(surface, 0) == pytest.approx(1.0)
    assert set(lower) | set(upper) == set(range(11, 17))
    assert {*below[0].volume_ids.tolist(), *above[0].volume_ids.tolist()} == {0, 1}


def test_remeshed_section_of_a_ring_has_its_hole():
    pytest.importorskip("tetgen", reason="the optional package tetgen is not installed")
    from solfec.shapes.pipe import pipe

    ring = pipe((0, 0, 0), (0, 0, 1), 1, 0.5, 2, 8, 1, 0, (1, 2, 3, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (lower,), (upper,) = split([ring], (0, 0, 0.3), UP, (21, 22))
        across = split([ring], (0.01, 0, 0), (1, 0.1, 0))
    assert volumes([lower])[0] / volumes([upper])[0] == pytest.approx(3 / 7)
    assert area_by_id(lower)[21] == pytest.approx(area_by_id(ring)[1])
    assert [len(side) for side in across] == [1, 1]
    assert sum(volumes(across[0] + across[1])) == pytest.approx(volumes([ring])[0])


def test_connected_split_cuts_one_leg_only():
    legs = u_shape()
    below, above = split([legs], (0.1, 0.1, 0.5), UP, (21, 22), connected=True)
    assert volumes(below) == pytest.approx([4 / 6]) and volumes(above) == pytest.approx([1 / 6])
    with pytest.warns(SolfecWarning, match="not at the point"):
        below, above = split([legs], (0.5, 0.1, 0.5), UP, connected=True)
    assert above == [] and below == [legs]


# --- along given faces -------------------------------------------------------------------------------------


def plane_faces(mesh, keep=lambda points: True):
    """Inner faces at half height."""
    return [f for f in mesh.internal_faces_on_plane((0, 0, 0.5), UP, 1e-9) if keep(mesh.nodes[f])]


def test_cut_through_the_whole_mesh_gives_two_parts_with_ordered_nodes():
    mesh = unit_mesh(4, 4, 4)
    lower, upper = mesh_split(mesh, faceset=plane_faces(mesh), first_id=21, second_id=22)
    assert lower.nodes.tolist() == mesh.nodes[:75].tolist() and upper.nodes.tolist() == mesh.nodes[50:].tolist()
    down = area_by_id(lower)
    listed = plane_faces(mesh)[0]
    a, b, c = mesh.nodes[listed[:3]]
    first, second = (21, 22) if np.cross(b - a, c - a)[2] > 0 else (22, 21)
    assert down[first] == pytest.approx(1.0) and second not in down
    assert area_by_id(upper)[second] == pytest.approx(1.0)


def test_reversed_faces_exchange_the_identifiers():
    mesh = unit_mesh(2, 2, 2)
    faces = [f if mesh.nodes[f][0] @ np.cross(*(np.diff(mesh.nodes[f[:3]], axis=0))) > 0 else f[::-1] for f in plane_faces(mesh)]
    one = mesh_split(mesh, faceset=faces, first_id=21, second_id=22)
    two = mesh_split(mesh, faceset=[f[::-1] for f in faces], first_id=22, second_id=21)
    assert [area_by_id(p) for p in one] == [area_by_id(p) for p in two]


def test_node_set_cuts_the_faces_between_its_nodes():
    mesh = unit_mesh(4, 4, 4)
    parts = mesh_split(mesh, nodeset=np.flatnonzero(mesh.nodes[:, 2] == 0.5), first_id=21, second_id=22)
    assert volumes(parts) == pytest.approx([0.5, 0.5])
    assert all(area_by_id(part)[21] == pytest.approx(1.0) and 22 not in area_by_id(part) for part in parts)


def test_cut_that_ends_inside_shares_the_nodes_of_its_front():
    mesh = unit_mesh(4, 4, 4)
    half = plane_faces(mesh, lambda points: points[:, 0].max() <= 0.5)
    (part,) = mesh_split(mesh, faceset=half, first_id=21, second_id=22)
    assert len(part.nodes) == len(mesh.nodes) + 10
    assert part.nodes[:125].tolist() == mesh.nodes.tolist()
    doubled = part.nodes[125:]
    assert (doubled[:, 0] < 0.5).all() and (doubled[:, 2] == 0.5).all()
    assert area_by_id(part)[21] == area_by_id(part)[22] == pytest.approx(0.5)
    assert volumes([part]) == pytest.approx([1.0])


def test_inner_cut_doubles_the_encircled_node_only():
    mesh = unit_mesh(4, 4, 4)
    inner = plane_faces(mesh, lambda points: (abs(points[:, :2] - 0.5) < 0.3).all())
    assert len(inner) == 4
    (part,) = mesh_split(mesh, faceset=inner, first_id=21, second_id=22)
    assert part.nodes[125:].tolist() == [[0.5, 0.5, 0.5]]
    assert area_by_id(part)[21] == pytest.approx(0.25)


def test_cuts_that_open_nothing_say_so():
    mesh = unit_mesh(4, 4, 4)
    inner = plane_faces(mesh, lambda points: (abs(points[:, :2] - 0.5) < 0.3).all())
    with pytest.warns(SolfecWarning, match="opened nothing"):
        assert mesh_split(mesh, faceset=inner[:1]) is None
    with pytest.warns(SolfecWarning, match=r"items \[0\] of 'faceset'"):
        assert mesh_split(mesh, faceset=[[0, 1, 6, 5]]) is None
    assert mesh_split(mesh, nodeset=[0, 1]) is None
    with pytest.raises(ValueError, match="3 or 4"):
        mesh_split(mesh, faceset=[[0, 1]])
    with pytest.raises(ValueError, match="out of the range"):
        mesh_split(mesh, nodeset=[125])


def test_block_falls_into_quarters():
    mesh = unit_mesh(4, 2, 4)
    crossing = plane_faces(mesh) + mesh.internal_faces_on_plane((0.5, 0, 0), (1, 0, 0), 1e-9)
    parts = mesh_split(mesh, faceset=crossing)
    assert volumes(parts) == pytest.approx([0.25] * 4)
    assert [len(part.nodes) for part in parts] == [27] * 4
    assert all(len(connected_parts(part)) == 1 for part in parts)


def made_anew(topology):
    """Faces are those that elements and nodes alone determine."""
    anew = MeshTopology(topology.node_count, topology.element_ptr, topology.element_nodes)
    assert np.array_equal(topology.face_surface == INTERNAL_FACE, topology.face_neighbour >= 0)
    return all(np.array_equal(getattr(topology, name), getattr(anew, name)) for name in ("face_element", "face_index", "face_size", "face_nodes", "face_neighbour"))


@pytest.mark.parametrize("normal", [(0, 0, 1), (0.1, 0.3, 1)], ids=["between elements", "through elements"])
def test_faces_of_parts_follow_from_those_of_the_whole(normal):
    whole = refined(unit_mesh(3, 4, 4), np.array((0.5, 0.5, 0.5)), np.array(normal) / np.linalg.norm(normal), 1e-6)
    pieces = separated(whole, (7, 8))
    assert len(pieces) == 2 and all(made_anew(piece.mesh.topology) for piece in pieces)


def test_faces_of_a_cut_that_ends_inside_follow_from_those_of_the_whole():
    mesh = unit_mesh(4, 4, 4)
    half = plane_faces(mesh, lambda points: points[:, 0].max() <= 0.5)
    (part,) = mesh_split(mesh, faceset=half, first_id=21, second_id=22)
    assert part.topology.node_count == mesh.topology.node_count + 10 and made_anew(part.topology)
