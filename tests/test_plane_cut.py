"""Meshes cut by planes: volumes, closed surfaces, Euler numbers, no flat elements, whatever the plane."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solfec.bodies.finite_elements import FiniteElementMesh
from solfec.errors import SolfecError
from solfec.shapes.characteristics import characteristics
from solfec.shapes.mesh import Mesh, concave_corners, element_volumes
from solfec.shapes.plane_cut import refined, separated

CUBE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
PARTS = {  # elements that fill the unit cube
    "hexahedra": [(0, 1, 2, 3, 4, 5, 6, 7)],
    "wedges": [(0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7)],
    "tetrahedra": [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)],
}


def block(kind, counts, size=(1.0, 1.0, 1.0)):
    """A block of cells, each made of the elements of `kind`; the six sides have surface identifiers 1 to 6."""
    nx, ny, nz = counts
    number = lambda i, j, k: (k * (ny + 1) + j) * (nx + 1) + i  # noqa: E731
    nodes = [
        (size[0] * i / nx, size[1] * j / ny, size[2] * k / nz) for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1)
    ]
    elements = []
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                corner = [number(i + a, j + b, k + c) for a, b, c in CUBE]
                if kind == "pyramids":
                    centre = len(nodes)
                    nodes.append(tuple(np.mean([nodes[c] for c in corner], 0)))
                    faces = [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
                    lists = [[*(corner[f] for f in face), centre] for face in faces]
                else:
                    lists = [[corner[v] for v in part] for part in PARTS[kind]]
                for part in lists:
                    elements += [len(part), *part, i + 1]
    mesh = Mesh.from_records(np.ravel(nodes), elements, 9)
    surface = mesh.topology.face_surface.copy()
    middles = np.array([mesh.nodes[face[face >= 0]].mean(0) for face in mesh.topology.face_nodes])
    for axis in range(3):
        for end in range(2):
            surface[np.isclose(middles[:, axis], end * size[axis])] = 1 + 2 * axis + end
    return Mesh(mesh.nodes, mesh.topology.with_surfaces(surface), mesh.volume_ids)


def boundary_edges(mesh):
    """How many faces of the boundary have each directed edge; the boundary must be closed: as many have it in the opposite sense."""
    topology = mesh.topology
    edges = {}
    for face in topology.face_nodes[topology.boundary].tolist():
        face = [n for n in face if n >= 0]
        for a, b in zip(face, face[1:] + face[:1]):
            edges[a, b] = edges.get((a, b), 0) + 1
    assert all(edges.get((b, a)) == count for (a, b), count in edges.items()), "the surface is open"
    return edges


def euler_number(mesh):
    """V - E + F of the boundary, every edge of which must have two faces, in opposite senses."""
    edges = boundary_edges(mesh)
    assert set(edges.values()) == {1}
    return len({n for edge in edges for n in edge}) - len(edges) // 2 + int(mesh.topology.boundary.sum())


def pinches(mesh):
    """How many sheets of the boundary meet in a node beyond the first, summed over nodes."""
    topology = mesh.topology
    faces = [[n for n in face if n >= 0] for face in topology.face_nodes[topology.boundary].tolist()]
    ahead = {(node, face[k - 1]): face[(k + 1) % len(face)] for face in faces for k, node in enumerate(face)}
    sheets = 0
    while ahead:
        (node, last), neighbour = ahead.popitem()
        sheets += 1
        while neighbour != last:
            neighbour = ahead.pop((node, neighbour))
    return sheets - len({node for face in faces for node in face})


def bilinear_volumes(mesh):
    """Volumes of elements, and half of those of the tetrahedra between the corners of their quadrilaterals: how far other surfaces within may differ."""
    topology = mesh.topology
    volumes, room = np.zeros((2, topology.element_count))
    for element, face in zip(topology.face_element.tolist(), topology.face_nodes.tolist()):
        a, b, c, *d = mesh.nodes[[n for n in face if n >= 0]]
        fans = [[(a, b, c)]] if not d else [[(a, b, c), (a, c, d[0])], [(b, c, d[0]), (b, d[0], a)]]
        fluxes = [sum(np.linalg.det(corners) / 6 for corners in fan) for fan in fans]
        volumes[element] += np.mean(fluxes)
        room[element] += np.ptp(fluxes) / 2
    return volumes, room


def area_vectors(mesh, surface):
    """Sum of the area vectors of the boundary faces with an identifier, and of their sizes."""
    topology = mesh.topology
    total, size = np.zeros(3), 0.0
    for face in topology.face_nodes[topology.boundary & (topology.face_surface == surface)].tolist():
        corners = mesh.nodes[[n for n in face if n >= 0]]
        vector = 0.5 * np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]).sum(0)
        total, size = total + vector, size + np.linalg.norm(vector)
    return total, size


def check_elements(mesh):
    volumes = element_volumes(mesh.nodes, mesh.topology.element_ptr, mesh.topology.element_nodes)
    lengths = [np.ptp(mesh.nodes[mesh.topology.nodes_of(e)], axis=0).max() for e in range(mesh.topology.element_count)]
    assert (volumes > 1e-6 * np.array(lengths) ** 3).all()
    return volumes.sum()


def cut(mesh, point, normal, identifiers=(7, 8), near=None):
    normal = np.array(normal, float) / np.linalg.norm(normal)
    whole = refined(mesh, np.array(point, float), normal, 1e-9)
    return whole, separated(whole, identifiers, near, 1e-9)


def check_cut(mesh, point, normal):
    volume, centre, euler = characteristics([mesh], bilinear=True)
    whole, pieces = cut(mesh, point, normal)
    assert len(pieces) == 2
    assert sum(map(check_elements, (p.mesh for p in pieces))) == pytest.approx(volume, rel=1e-12)
    assert [euler_number(p.mesh) for p in pieces] == [2, 2]
    new = [area_vectors(p.mesh, identifier) for p, identifier in zip(pieces, (7, 8))]
    assert area_vectors(pieces[0].mesh, 8)[1] == area_vectors(pieces[1].mesh, 7)[1] == 0.0
    assert np.allclose(new[0][0], -new[1][0], atol=1e-12) and new[0][0] @ normal > 0.0
    for identifier in range(1, 7):  # the old surfaces keep their identifiers
        parts = [area_vectors(p.mesh, identifier)[1] for p in pieces]
        assert sum(parts) == pytest.approx(area_vectors(mesh, identifier)[1], rel=1e-12)
    parts = [characteristics([p.mesh], bilinear=True) for p in pieces]
    assert sum(v * c for v, c, _ in parts) == pytest.approx(volume * centre, rel=1e-11, abs=1e-13)
    about = sum(np.asarray(e) + v * np.outer(c - centre, c - centre) for v, c, e in parts)
    assert about == pytest.approx(np.asarray(euler), rel=1e-10, abs=1e-12)
    # linear fields are carried exactly, and elements know where they come from
    field = lambda x: x @ [[1.0, 2, 3], [0.5, -1, 4], [2, 0, 1]] + [5.0, 6, 7]  # noqa: E731
    for piece in pieces:
        carried = whole.interpolated(field(mesh.nodes))[piece.nodes]
        assert carried == pytest.approx(field(piece.mesh.nodes), rel=1e-12)
        origin = whole.elements[piece.elements]
        assert (piece.mesh.volume_ids == mesh.volume_ids[origin]).all()
        for number, element in enumerate(origin.tolist()):
            box = mesh.nodes[mesh.topology.nodes_of(element)]
            own = piece.mesh.nodes[piece.mesh.topology.nodes_of(number)]
            assert (own >= box.min(0) - 1e-12).all() and (own <= box.max(0) + 1e-12).all()
    return pieces


@pytest.mark.parametrize("kind", [*PARTS, "pyramids"])
@pytest.mark.parametrize("normal", [(0, 0, 1), (0.3, 0.5, 1), (1, 1, 1), (1, -2, 0.1)])
def test_cut_through_elements(kind, normal):
    check_cut(block(kind, (3, 2, 3)), (0.47, 0.52, 0.41), normal)


@pytest.mark.parametrize("kind", [*PARTS, "pyramids"])
def test_cut_along_faces_keeps_elements(kind):
    mesh = block(kind, (2, 2, 4))
    whole, pieces = cut(mesh, (0, 0, 0.5), (0, 0, 1))
    assert whole.mesh is mesh and not len(whole.sources)
    assert sorted(np.concatenate([whole.elements[p.elements] for p in pieces])) == list(range(mesh.topology.element_count))
    for piece in pieces:
        assert (piece.mesh.nodes == mesh.nodes[piece.nodes]).all()
    check_cut(mesh, (0, 0, 0.5), (0, 0, 1))


def test_only_crossed_elements_and_their_neighbours_fall_apart():
    mesh = block("hexahedra", (2, 2, 9))
    whole, pieces = cut(mesh, (0, 0, 0.5), (0, 0, 1))
    sizes = np.diff(whole.mesh.topology.element_ptr)
    assert (sizes == 8).sum() == 4 * 6 and len(np.unique(whole.elements[sizes < 8])) == 4 * 3


def test_nodes_near_the_plane_lie_on_it():
    """A plane one hundred-thousandth of an edge above a layer of nodes makes no slivers."""
    mesh = block("hexahedra", (2, 2, 4))
    _, pieces = cut(mesh, (0, 0, 0.5 + 2.5e-6), (0, 0, 1))
    assert [p.mesh.topology.element_count for p in pieces] == [8, 8]


def test_part_of_a_section():
    """A square ring cut in one of its posts stays one, with doubled nodes and no hole any more; cut through, it falls apart."""
    full = block("hexahedra", (3, 1, 3))
    keep = [e for e in range(9) if e != 4]
    ring = Mesh.from_records(full.nodes.ravel(), [x for e in keep for x in (8, *full.topology.nodes_of(e), 0)], 0)
    assert euler_number(ring) == 0
    for height in (0.5, 1 / 3):
        point = np.array((0.1, 0.5, height))
        _, one = cut(ring, point, (0, 0, 1), near=point)
        assert len(one) == 1 and euler_number(one[0].mesh) == 2
        assert check_elements(one[0].mesh) == pytest.approx(8 / 9)
        for identifier, sense in ((7, 1), (8, -1)):
            assert area_vectors(one[0].mesh, identifier)[0] == pytest.approx((0, 0, sense / 3))
        _, two = cut(ring, point, (0, 0, 1))
        assert [euler_number(piece.mesh) for piece in two] == [2] * len(two) and len(two) == 2
    assert cut(ring, (0.5, 0.5, 0.5), (0, 0, 1), near=np.array((0.5, 0.5, 0.5)))[1] is None


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from([*PARTS, "pyramids"]),
    counts=st.tuples(*[st.integers(1, 3)] * 3),
    size=st.tuples(*[st.floats(0.3, 3.0)] * 3),
    place=st.tuples(*[st.floats(0.02, 0.98)] * 3),
    normal=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.1),
    shear=st.floats(-0.4, 0.4),
)
def test_random_cuts(kind, counts, size, place, normal, shear):
    mesh = block(kind, counts, size)
    point = np.array(place) * size
    mesh = Mesh(mesh.nodes + shear * mesh.nodes[:, [2]] * [1, 0, 0], mesh.topology, mesh.volume_ids)
    point = point + shear * point[2] * np.array([1, 0, 0])
    heights = (mesh.nodes - point) @ (np.array(normal) / np.linalg.norm(normal))
    if heights.max() < 0.2 * np.ptp(heights) or -heights.min() < 0.2 * np.ptp(heights):
        return  # a corner that nodes near the plane may swallow
    check_cut(mesh, point, normal)


@pytest.mark.parametrize("warp, seed", [(0.1, 373), (0.1, 568), (0.1, 790), (0.1, 1130), (0.1, 1556), (0.2, 140), (0.2, 594), (0.3, 576)])
def test_faces_that_the_plane_meets_more_than_twice(warp, seed):
    """Neighbours at a face whose corners lie above and below in turn, or three on the plane, cut it alike; drawn from 3200 random cuts."""
    random = np.random.default_rng(seed)
    mesh = warped(["hexahedra", "wedges", "pyramids"][seed % 4], random.integers(1, 4, 3), warp, random)
    normal = random.normal(size=3)
    assert check_warped_cut(mesh, random.uniform(0.1, 0.9, 3), normal)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(
    kind=st.sampled_from([*PARTS, "pyramids"]),
    counts=st.tuples(*[st.integers(1, 3)] * 3),
    warp=st.floats(0.01, 0.3),
    seed=st.integers(0, 10**6),
    place=st.tuples(*[st.floats(0.1, 0.9)] * 3),
    normal=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.1),
)
def test_random_cuts_of_warped_elements(kind, counts, warp, seed, place, normal):
    check_warped_cut(warped(kind, counts, warp, np.random.default_rng(seed)), place, normal)


def warped(kind, counts, warp, random):
    """A block whose nodes have moved by up to `warp` of a cell, each on its own."""
    mesh = block(kind, counts)
    moved = mesh.nodes + warp * random.uniform(-1, 1, mesh.nodes.shape) / np.array(counts)
    return Mesh(moved, mesh.topology, mesh.volume_ids)


def note_checks(mesh):
    """Note which checks the elements of a mesh pass, and forget others."""
    mesh.topology.passed = {"upright"}
    if not concave_corners(mesh.nodes, mesh.topology.element_ptr, mesh.topology.element_nodes)[0].size:
        mesh.topology.passed.add("convex")
    with suppress(SolfecError):
        FiniteElementMesh.of(mesh).check()
        mesh.topology.passed.add("unfolded")


def check_warped_cut(mesh, point, normal):
    """Check the cut of a mesh with warped faces, unless its elements are too distorted or the plane misses it; return whether it was cut."""
    volumes, room = bilinear_volumes(mesh)
    if (volumes <= room).any():
        return False
    note_checks(mesh)
    try:
        whole, pieces = cut(mesh, point, normal)
    except ValueError as error:
        assert "use elements of a better shape" in str(error)
        return False
    known = set(whole.mesh.topology.passed)
    note_checks(whole.mesh)
    assert known <= whole.mesh.topology.passed  # a cut does not repeat checks that it says its elements pass
    if pieces is None:
        return False
    for piece in pieces:
        check_elements(piece.mesh)
        if max(boundary_edges(piece.mesh).values()) == 1:  # else it touches itself along an edge
            assert 2 - euler_number(piece.mesh) - pinches(piece.mesh) in (0, 2)  # a plane through a dent may leave a ring
        assert (piece.mesh.topology.face_surface[piece.mesh.topology.boundary] > 0).all()
    parts = np.bincount(whole.elements, bilinear_volumes(whole.mesh)[0], mesh.topology.element_count)
    assert (np.abs(parts - volumes) <= room + 1e-12 * volumes).all()
    return True
