"""HULL: exact at every scale, polygons instead of coplanar triangles, clear errors for flat input."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_shapes import cube

from solfec.shapes.characteristics import characteristics
from solfec.shapes.hull import hexahedron, hull
from solfec.shapes.primitives import compile

DATA = Path(__file__).parents[1] / "data" / "shapes" / "convex_hull.json.gz"
CASES = json.loads(gzip.decompress(DATA.read_bytes()))["cases"]
THIN_OR_TINY = ("plate thickness=1e-05", "plate thickness=1e-06", "random scaled 0.001")  # beyond Solfec-1.0
SIMPLICIAL = ("random cube", "sphere surface", "gaussian", "tetrahedron", "regular octahedron", "icosahedron")


def face_area(vertices, face):
    points = vertices[list(face)] - vertices[face[0]]
    return np.linalg.norm(np.cross(points[1:-1], points[2:]).sum(0)) / 2


def signed_heights(polyhedron):
    """Distances of all vertices from all face planes (nf, nv)."""
    vertices = polyhedron.vertices
    lead = vertices[[f[:3] for f in polyhedron.faces]]
    normals = np.cross(lead[:, 1] - lead[:, 0], lead[:, 2] - lead[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return normals @ vertices.T - (normals * lead[:, 0]).sum(1)[:, None], normals, lead[:, 0]


@pytest.mark.parametrize("case", [c for c in CASES if c["ok"]], ids=lambda c: c["name"])
def test_reference_hulls(case):
    shape = hull(case["points"])
    (polyhedron,) = shape.polyhedra
    volume, centre, euler = characteristics(shape)
    area = sum(face_area(polyhedron.vertices, face) for face in polyhedron.faces)
    size = float(np.ptp(case["points"], axis=0).max())
    if "near duplicates 1e-6" in case["name"]:  # points within epsilon are merged: a shell of that thickness is free
        assert abs(volume - case["exact_volume"]) <= 1e-6 * case["exact_area"]
        return
    assert volume == pytest.approx(case["exact_volume"], rel=1e-9)
    assert area == pytest.approx(case["exact_area"], rel=1e-9)
    assert centre == pytest.approx(case["centroid"], abs=1e-9 * size)
    inertia = np.trace(euler) * np.eye(3) - euler
    assert inertia == pytest.approx(np.array(case["inertia"]), abs=1e-9 * volume * size**2)
    if case["name"].startswith(SIMPLICIAL):
        assert len(polyhedron.faces) == case["triangles"]


def test_a_plate_thinner_than_epsilon_is_flat():
    (case,) = (c for c in CASES if c["name"] == "plate thickness=1e-06")
    with pytest.raises(RuntimeError, match="span a plane"):
        hull(case["points"], epsilon=1.1e-6)


@pytest.mark.parametrize("name", THIN_OR_TINY)
def test_thin_and_tiny_sets_that_solfec_1_0_refuses(name):
    (case,) = (c for c in CASES if c["name"] == name)
    from scipy.spatial import ConvexHull

    points = np.array(case["points"])
    assert characteristics(hull(points, epsilon=1e-9))[0] == pytest.approx(ConvexHull(points).volume, rel=1e-9)


@pytest.mark.parametrize("edge", [1.0, 1e-2, 1e-3, 1e-6, 1e6])
def test_cube_is_exact_at_every_scale(edge):
    shape = cube(edge)
    (polyhedron,) = shape.polyhedra
    assert polyhedron.vertices.shape == (8, 3)
    assert sorted(map(len, polyhedron.faces)) == [4] * 6
    assert characteristics(shape)[0] == pytest.approx(edge**3, rel=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_rotated_boxes_far_away_have_six_faces(seed):
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    edges = 10.0 ** rng.uniform(-1, 1, 3)
    corners = np.array(list(itertools.product((0, 1), repeat=3))) * edges
    (polyhedron,) = hull(corners @ rotation.T + rng.uniform(-10, 10, 3)).polyhedra
    assert sorted(map(len, polyhedron.faces)) == [4] * 6


def test_interior_points_edge_midpoints_and_face_centres_vanish():
    grid = np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=3)))
    (polyhedron,) = hull(grid, 1, 2).polyhedra
    assert polyhedron.vertices.shape == (8, 3)
    assert len(polyhedron.faces) == 6
    assert polyhedron.surfaces.tolist() == [2] * 6
    assert polyhedron.volume_id == 1


def test_centre_and_near_duplicates_leave_eight_vertices():
    rng = np.random.default_rng(1)
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    duplicates = corners[rng.integers(0, 8, 100)] + rng.uniform(-1e-7, 1e-7, (100, 3))
    shape = hull(np.vstack((corners, [[0.5, 0.5, 0.5]], duplicates)))
    assert shape.polyhedra[0].vertices.tolist() == corners.tolist()
    assert characteristics(shape)[0] == 1.0


@pytest.mark.parametrize(
    ("points", "what"),
    [
        ([[1, 2, 3]] * 5, "point"),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]], "line"),
        ([[x, y, x + y] for x in range(4) for y in range(2)], "plane"),
        ([[x, y, 0.3 * x - 0.7 * y + 5.1] for x, y in itertools.product((0.1, 0.7, 1.3), repeat=2)], "plane"),
    ],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_flat_input_is_refused_with_its_rank(points, what, scale):
    with pytest.raises(RuntimeError, match=f"span a {what}"):
        hull(np.array(points, float) * scale)


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ([0, 0, 0, 1, 0, 0, 0, 1, 0], "at least 4"),
        ([0] * 13, "three numbers"),
        ([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, float("nan")], "finite"),
    ],
)
def test_bad_point_lists(points, text):
    with pytest.raises(ValueError, match=text):
        hull(points)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(4, 40), st.integers(-6, 6), st.booleans())
def test_hull_contains_its_points_and_is_convex_and_closed(seed, count, exponent, rounded):
    points = np.random.default_rng(seed).random((count, 3))
    if rounded:
        points = np.vstack((np.round(points * 3), list(itertools.product((0, 3), repeat=3))))
    points = points * 10.0**exponent
    size = np.ptp(points, axis=0).max()
    (polyhedron,) = hull(points, epsilon=0.0).polyhedra
    heights, normals, base = signed_heights(polyhedron)
    assert heights.max() <= 2e-9 * size
    assert (normals @ points.T - (normals * base).sum(1)[:, None]).max() <= 2e-9 * size
    edges = [e for f in polyhedron.faces for e in zip(f, f[1:] + f[:1])]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)


ORDERS = {  # of corners of a unit cube
    "HEX": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
    "x, y, z": [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)],
    "z, y, x": [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)],  # their mirror image
}


def wedge(order: str, turn: np.ndarray, taper: float) -> np.ndarray:
    """Corners of a turned box that gets narrower to its top: its faces stay plane."""
    corners = np.array(ORDERS[order], float) - 0.5
    corners[:, :2] *= 1.0 - taper * (corners[:, 2:] + 0.5)
    return (corners * (1.0, 2.0, 0.5)) @ turn.T + 3.0


def outlines(polyhedron) -> set:
    """Faces as coordinates, from their least corner on."""
    faces = set()
    for face in polyhedron.faces:
        corners = [tuple(corner) for corner in polyhedron.vertices[list(face)].tolist()]
        first = corners.index(min(corners))
        faces.add(tuple(corners[first:] + corners[:first]))
    return faces


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.0, 0.9))
def test_a_listed_hexahedron_has_the_faces_that_qhull_finds(order, seed, taper):
    random = np.random.default_rng(seed)
    corners = wedge(order, np.linalg.qr(random.normal(size=(3, 3)))[0], taper)
    assert hexahedron(corners) is not None
    shuffled = corners[[0, 6, 3, 5, 1, 7, 2, 4]]
    assert hexahedron(shuffled) is None, "these go to Qhull"
    (listed,), (found,) = hull(corners).polyhedra, hull(shuffled).polyhedra
    assert outlines(listed) == outlines(found)


def bent(corner: int, by) -> np.ndarray:
    corners = np.array(ORDERS["HEX"], float)
    corners[corner] += by
    return corners


@pytest.mark.parametrize(
    "corners",
    [bent(6, (0, 0, 1e-6)), bent(6, (-0.6, -0.6, -0.6)), bent(6, (0, -1, 0)), np.array(ORDERS["HEX"]) * (1, 1, 1e-4), bent(5, (0.5, 0.5, 0))],
    ids=["warped", "not convex", "two corners in one place", "thin", "crossed"],
)
def test_eight_points_that_are_no_hexahedron_are_told_from_one(corners):
    assert hexahedron(np.asarray(corners, float)) is None


def test_hexahedra_of_one_hull_each_do_not_share_what_they_change():
    corners = np.array(ORDERS["HEX"], float)
    (one,), (two,) = hull(corners, 1, 2).polyhedra, hull(corners + 5.0, 1, 2).polyhedra
    two.scale(np.array([-1.0, 1.0, 1.0]))
    assert signed_heights(one)[0].max() <= 1e-12 and signed_heights(two)[0].max() <= 1e-12
    assert hull(corners, 1, 3).polyhedra[0].surfaces.tolist() == [3] * 6 and one.surfaces.tolist() == [2] * 6


@pytest.mark.parametrize("sides", [4, 5, 6, 9, 16, 40])
def test_rounding_does_not_choose_the_corner_at_which_a_regular_face_begins(sides):
    """All corners of a regular prism's ends are alike; bits of contacts depend on the first, so it must not change with the machine or the prism's turn."""
    angle = 2 * np.pi * np.arange(sides) / sides
    prism = np.array([(np.cos(a), np.sin(a), z) for z in (0.0, 1.5) for a in angle])
    order = np.random.default_rng(sides).permutation(2 * sides)
    for turn in (0.0, 0.3, 1.0, 2.5):
        c, s = np.cos(turn), np.sin(turn)
        turned = (prism @ np.array([(c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)]))[order]
        (polyhedron,) = hull(turned).polyhedra
        ends = [face for face in polyhedron.faces if len(face) == sides and np.ptp(polyhedron.vertices[list(face), 2]) < 1e-12]
        assert len(polyhedron.faces) == sides + 2 and len(ends) >= 2
        assert all(face[0] == min(face) for face in ends)


def test_a_hull_of_very_many_faces_needs_no_deep_stack():
    points = np.random.default_rng(5).normal(size=(40_000, 3))
    shape = hull(points / np.linalg.norm(points, axis=1)[:, None])
    faces = len(shape.polyhedra[0].faces)
    assert 79_000 < faces <= 2 * 40_000 - 4  # some triangles are so small that they lie in the planes of others
    assert compile(shape, 1e-6).face_surface.size == faces
