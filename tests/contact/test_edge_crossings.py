"""Polyhedra in general position, whose intersections are found from their edges, and where clipping takes over."""

from __future__ import annotations

import numpy as np
import pytest
from builders import Polyhedron, box, compiled, hull, random_rotation

from solfec.contact import narrow
from solfec.contact.current_faces import current_faces

EPSILON = 1e-6
ONE, TWO = np.zeros(1, "i4"), np.ones(1, "i4")


def ball(random, points, shift=(0.0, 0.0, 0.0)):
    """The hull of points on the unit sphere."""
    x = random.normal(size=(points, 3))
    return hull(x / np.linalg.norm(x, axis=1)[:, None]).moved(shift=shift)


def contacts(shapes, first):
    """Contacts of the shapes `first` with those that follow them, as arrays."""
    result = narrow.NarrowResult()
    first = np.asarray(first, "i4")
    narrow.narrow_phase(compiled(shapes), len(first), first, first + 1, EPSILON, False, result)
    assert result.view("status").all()
    return {name: np.array(result.view(name)) for name in ("normal", "slave_point", "gap", "area", "surface")}


@pytest.mark.parametrize("points", [4, 8, 20, 33, 35, 66])  # of 4 to 128 faces, in one mask word and in two
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_volume_surface_and_centroid_of_intersections(points, scale):
    spatial = pytest.importorskip("scipy.spatial")
    random = np.random.default_rng(points)
    for distance in (0.0, 0.3, 0.9):
        pair = [ball(random, points), ball(random, points + 1, random_rotation(random)[0] * distance)]
        volume, centroid, area = narrow.overlap_volumes(compiled([s.moved(scale=scale) for s in pair]), ONE, TWO)
        if not volume[0] > 1e-6 * scale**3:
            continue
        planes = np.vstack([spatial.ConvexHull(s.vertices).equations for s in pair])
        exact = spatial.ConvexHull(spatial.HalfspaceIntersection(planes, centroid[:, 0] / scale).intersections)
        assert volume[0] == pytest.approx(exact.volume * scale**3, rel=1e-9)
        assert area[0] == pytest.approx(exact.area * scale**2, rel=1e-9)


def test_a_body_within_another_is_the_intersection():
    inner = ball(np.random.default_rng(2), 20).moved(scale=0.1, shift=(0.1, 0.2, 0.0))
    outer = ball(np.random.default_rng(3), 30)
    volume, centroid, area = narrow.overlap_volumes(compiled([inner, outer, outer, inner]), np.array([0, 2]), np.array([1, 3]))
    alone, where, surface = narrow.overlap_volumes(compiled([inner, outer.moved(scale=3)]), ONE, TWO)
    np.testing.assert_allclose(volume, alone[0], rtol=1e-12)
    np.testing.assert_allclose(area, surface[0], rtol=1e-12)
    np.testing.assert_allclose(centroid, np.repeat(where, 2, axis=1), atol=1e-12)


def test_contacts_change_by_no_more_than_bodies_move_where_clipping_takes_over():
    """A vertex goes through a plane, and an edge passes another, in steps that are smaller than epsilon.

    Normals do not: weights of facets are means over their corners, and a facet gains or loses one.
    """
    random = np.random.default_rng(11)
    for _ in range(6):
        a, b = ball(random, 20), ball(random, 20, (0.3, 0.1, 0.0))
        for touch in (vertex_to_plane, edge_to_edge):
            shift = np.ones(3)
            while np.linalg.norm(shift) > 0.4:  # deep in each other
                shift, direction = touch(a, b, random)
            steps = np.linspace(-4, 4, 41) * EPSILON
            found = contacts([s for t in steps for s in (a, b.moved(shift=shift + t * direction))], range(0, 82, 2))
            step = steps[1] - steps[0]
            for name in ("slave_point", "area"):
                jumps = np.abs(np.diff(found[name], axis=-1)).max()
                assert jumps < 5 * step, name


def vertex_to_plane(a, b, random):
    """The shift of `b` that brings one of its vertices into a face of `a`, and the face's normal."""
    corners = a.vertices[list(a.faces[random.integers(len(a.faces))])]
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return corners.mean(axis=0) - b.vertices[random.integers(len(b.vertices))], normal / np.linalg.norm(normal)


def edge_to_edge(a, b, random):
    """The shift of `b` that lets two edges cross in their middles, and the direction normal to both."""
    one, two = (s.vertices[list(s.faces[random.integers(len(s.faces))])][:2] for s in (a, b))
    normal = np.cross(one[1] - one[0], two[1] - two[0])
    return one.mean(axis=0) - two.mean(axis=0), normal / np.linalg.norm(normal)


def test_contacts_do_not_depend_on_the_other_pairs_of_the_call():
    """Bits are the same whatever pairs came before, and however large bodies are for which work arrays have room."""
    random = np.random.default_rng(5)
    small = [ball(random, n, (0.4 * (k % 2), 0, 0)) for k, n in enumerate((20, 20, 12, 30, 50, 70, 12, 12))]
    large = [ball(random, 300), ball(random, 200, (0.3, 0, 0))]
    together = contacts(large + small, range(0, 10, 2))
    for k in range(0, 8, 2):
        alone = contacts(small[k : k + 2], [0])
        for name, values in alone.items():
            assert values[..., 0].tobytes() == together[name][..., 1 + k // 2].tobytes(), name


def listed_edges(geometry, primitive):
    """Edges of a primitive as (lower vertex, higher vertex, face along, face back); None where they are not listed."""
    faces = current_faces(geometry)
    count = int(faces.edge_count[primitive])
    first = faces.corner_ptr[faces.face_ptr[primitive]]
    if count < 0:
        return None
    short = max(geometry.primitives.vertex_count[primitive], faces.face_count[primitive]) <= 128
    packed = faces.edge[first : first + (count if short else 2 * count)]
    return set(map(tuple, packed.view("u1" if short else "u2").reshape(-1, 4).astype(int).tolist()))


@pytest.mark.parametrize("shape, edges", ((box(0, 1, 0, 1, 0, 1), 12), (ball(np.random.default_rng(3), 400), 1194)))
def test_edges_are_listed_with_the_faces_on_either_side(shape, edges):
    face_of = {side: k for k, f in enumerate(shape.faces, 1) for side in zip(f, (*f[1:], f[0]))}
    expected = {(one, two, face, face_of[two, one]) for (one, two), face in face_of.items() if one < two}
    assert listed_edges(compiled([shape]), 0) == expected and len(expected) == edges


def test_edges_stay_with_their_primitives_when_others_come_and_go():
    random = np.random.default_rng(8)
    shapes = [ball(random, points) for points in (10, 66, 30, 20)]  # of 16, 128, 56 and 36 faces
    geometry = compiled(shapes)
    before = [listed_edges(geometry, k) for k in range(4)]
    assert [len(edges) for edges in before] == [24, 192, 84, 54]
    geometry.remove(np.array([True, False, True, False]), np.array([-1, 0, -1, 1]))
    assert [listed_edges(geometry, k) for k in range(2)] == [before[1], before[3]]


def test_polyhedra_whose_edges_cannot_be_listed_are_clipped():
    """An open surface: the contact is that of the same body with its faces closed."""
    random = np.random.default_rng(4)
    a, b = ball(random, 20), ball(random, 20, (1.2, 0.0, 0.0))
    far = int(np.argmin([a.vertices[list(f)].mean(axis=0)[0] for f in a.faces]))
    opened = Polyhedron(a.vertices, [f for k, f in enumerate(a.faces) if k != far], [1] * (len(a.faces) - 1))
    many = ball(random, 80)
    geometry = compiled([opened, Polyhedron(many.vertices, many.faces[1:], many.surfaces[1:]), a])
    assert [listed_edges(geometry, k) is None for k in range(3)] == [True, True, False]
    closed, clipped = contacts([a, b], [0]), contacts([opened, b], [0])
    for name, values in closed.items():
        np.testing.assert_allclose(clipped[name], values, atol=3 * EPSILON, err_msg=name)
