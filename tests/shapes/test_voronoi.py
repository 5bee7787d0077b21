"""Cells of points in convexes: volumes, closed surfaces, nearest points, faces that neighbours share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solfec as s
from solfec.shapes.characteristics import characteristics

CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]


def volume(shape):
    return characteristics([shape._content])[0]


def check_cells(whole, points, cells):
    """Volumes sum up; surfaces are closed; of random points in a cell the cell's point is the nearest one."""
    assert sum(map(volume, cells)) == pytest.approx(whole, rel=1e-12)
    random = np.random.default_rng(0)
    for number, cell in enumerate(cells):
        (polyhedron,) = cell._content.polyhedra
        edges = [(a, b) for face in polyhedron.faces for a, b in zip(face, [*face[1:], face[0]])]
        assert len(edges) == len(set(edges)) and {(b, a) for a, b in edges} == set(edges)
        assert len(polyhedron.vertices) - len(edges) // 2 + len(polyhedron.faces) == 2
        weights = random.dirichlet(np.ones(len(polyhedron.vertices)), 8)
        inside = weights @ polyhedron.vertices
        distance = np.linalg.norm(inside[:, None] - points, axis=2)
        assert (distance[:, number] <= distance.min(1) + 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(count=st.integers(1, 40), seed=st.integers(0, 10**6), size=st.tuples(*[st.floats(0.2, 5.0)] * 3))
def test_random_cells_of_a_box(count, seed, size):
    points = np.random.default_rng(seed).uniform(0.01, 0.99, (count, 3)) * size
    cells = s.VORONOI(s.SCALE(s.HULL(CORNERS, 3, 1), size), points.tolist(), 7)
    assert len(cells) == count
    check_cells(np.prod(size), points, cells)


def test_regular_points_make_cubes_with_surfaces_inside_and_outside():
    grid = [((i + 0.5) / 3, (j + 0.5) / 3, (k + 0.5) / 3) for i in range(3) for j in range(3) for k in range(3)]
    cells = s.VORONOI(s.HULL(CORNERS, 3, 1), grid, 7)
    assert [volume(cell) for cell in cells] == pytest.approx([1 / 27] * 27, rel=1e-12)
    middle = cells[13]._content.polyhedra[0]
    assert set(middle.surfaces.tolist()) == {7} and middle.volume_id == 3
    corner = cells[0]._content.polyhedra[0]
    assert sorted(corner.surfaces.tolist()) == [1, 1, 1, 7, 7, 7]


def test_points_in_a_plane_and_few_points():
    plane = [(0.1 + 0.05 * i, 0.2 + 0.3 * (i % 3), 0.5) for i in range(16)]
    check_cells(1.0, np.array(plane), s.VORONOI(s.HULL(CORNERS, 1, 1), plane))
    (one,) = s.VORONOI(s.HULL(CORNERS, 1, 1), [(0.5, 0.5, 0.5)])
    assert volume(one) == 1.0


def test_a_number_gives_random_points_that_can_be_had_again():
    cells = [s.VORONOI(s.HULL(CORNERS, 1, 1), 50, random=n) for n in (0, 0, 1)]
    volumes = [[volume(cell) for cell in each] for each in cells]
    assert volumes[0] == volumes[1] != volumes[2] and len(volumes[0]) == 50
    assert sum(volumes[2]) == pytest.approx(1.0, rel=1e-12)


def test_relaxed_cells_are_more_alike():
    spread = [np.std([volume(cell) for cell in s.VORONOI(s.HULL(CORNERS, 1, 1), 60, relax=n)]) for n in (0, 5)]
    assert spread[1] < 0.6 * spread[0]


def test_several_convexes_have_cells_of_their_own():
    shapes = [s.HULL(CORNERS, 1, 1), s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 2, 1), (3, 1, 1)), (1, 0, 0))]
    cells = s.VORONOI(shapes, 40)
    ids = [cell._content.polyhedra[0].volume_id for cell in cells]
    assert len(cells) == 40 and ids == sorted(ids) and 20 < ids.count(2) < 38
    assert sum(map(volume, cells)) == pytest.approx(4.0, rel=1e-12)
    with pytest.raises(TypeError, match="the contents went into VORONOI"):
        s.MASS_CENTER(shapes[0])


@pytest.mark.parametrize(
    "seeds, match",
    [
        ([(2, 0, 0)], "point 0 of 'seeds', .* is outside of the shape"),
        ([(0.5, 0.5, 0.5)] * 2, "in one place"),
        ([], "at least one point"),
        (0, "'seeds' must be at least 1"),
        ([(0.5, 0.5)], "'seeds\\[0\\]'"),
    ],
)
def test_refusals(seeds, match):
    with pytest.raises((ValueError, TypeError), match=match):
        s.VORONOI(s.HULL(CORNERS, 1, 1), seeds)


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match="only CONVEX objects, or one MESH, have cells"):
        s.VORONOI(s.SPHERE((0, 0, 0), 1, 1, 1), 3)
    with pytest.raises(ValueError, match="8 elements has no 9 cells"):
        s.VORONOI(s.HEX(CORNERS, 2, 2, 2, 1, [1] * 6), 9)


def test_a_mesh_is_parted_between_its_elements():
    """Every element is in the cell of the point that is nearest to its middle; faces between cells have the new identifier, and match."""
    mesh = s.HEX(CORNERS, 6, 5, 4, 1, [1] * 6)
    points = [(0.2, 0.2, 0.3), (0.8, 0.2, 0.6), (0.5, 0.8, 0.5)]
    cells = s.VORONOI(mesh, points, surfid=7)
    assert len(cells) == 3
    assert sum(volume(cell) for cell in cells) == pytest.approx(1.0, rel=1e-12)
    faces = {}
    for cell in cells:
        content = cell._content
        middles = np.array([content.nodes[content.topology.nodes_of(e)].mean(0) for e in range(content.topology.element_count)])
        nearest = {int(np.argmin([np.linalg.norm(middle - point) for point in points])) for middle in middles}
        assert len(nearest) == 1
        boundary = content.topology.boundary
        for nodes, surface in zip(content.topology.face_nodes[boundary], content.topology.face_surface[boundary]):
            corners = content.nodes[nodes]
            key = tuple(sorted(map(tuple, np.round(corners, 9).tolist())))
            faces.setdefault(key, []).append(int(surface))
            assert np.isclose(corners, np.round(corners)).all(0).any() == (surface == 1)
    assert {tuple(found) for found in faces.values()} == {(1,), (7, 7)}



def test_cells_of_a_body_rest_on_each_other():
    """A cube of cells dropped on a floor: nothing is lost, and energy does not grow."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None)
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=0.6)
    stone = s.BULK_MATERIAL(solfec, density=2e3)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, 1), (9, 9, 1)), (-4, -4, -1)), stone)
    bodies = [s.BODY(solfec, "RIGID", cell, stone) for cell in s.VORONOI(s.HULL(CORNERS, 1, 1), 20, 2)]
    assert sum(body.mass for body in bodies) == pytest.approx(2e3, rel=1e-12)
    domain = solfec._simulation.domain
    total = lambda: domain.energy()[0] + sum(b.mass * 10 * b.conf[11] for b in bodies)  # noqa: E731
    start = total()
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-4, 200), 0.2)
    assert len(solfec.bodies) == 21 and total() <= start * (1 + 1e-6)
