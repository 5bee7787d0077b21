"""Sections of bodies by planes: areas, values, and what of them is seen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, QhullError

import solfec
from solfec import cli
from solfec.errors import SolfecError
from solfec.viewer import cuts
from solfec.viewer.sources import Stored

CUBE = np.array(list(itertools.product((0, 1), repeat=3)), float)


@pytest.fixture(scope="module")
def cube(tmp_path_factory):
    """A rigid cube of unit edges, its domain and cells."""
    made = solfec.SOLFEC("DYNAMIC", 1e-3, str(tmp_path_factory.mktemp("cube") / "out"))
    solfec.BODY(made, "RIGID", solfec.HULL(CUBE.ravel().tolist(), 1, 1), solfec.BULK_MATERIAL(made))
    domain = solfec.language.handles.simulation_of(made).domain
    domain.states.update_shapes()
    return domain, cuts.Cells(domain)


def area_by_hull(normal, offset):
    """Area of the cube's section: the hull, in the plane, of where its twelve edges meet the plane."""
    found = []
    for a, b in itertools.combinations(CUBE, 2):
        if np.abs(a - b).sum() == 1 and (a @ normal - offset) * (b @ normal - offset) < 0:
            part = (offset - a @ normal) / ((b - a) @ normal)
            found.append(a + part * (b - a))
    if len(found) < 3:
        return 0.0
    u = np.linalg.svd(normal[None])[2][1:]
    try:
        return ConvexHull(np.array(found) @ u.T).volume
    except QhullError:  # all but a line
        return 0.0


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.1), st.floats(0.05, 0.95))
def test_areas_of_sections_of_a_cube(cube, normal, part):
    domain, cells = cube
    normal = np.array(normal) / np.linalg.norm(normal)
    heights = CUBE @ normal
    offset = heights.min() + part * np.ptp(heights)
    if np.abs(heights - offset).min() < 1e-6:
        return
    found = cuts.section(cells, cuts.Plane(normal, offset), cells.points(domain), np.zeros(8))
    assert found.area() == pytest.approx(area_by_hull(normal, offset), rel=1e-6, abs=1e-9)
    assert found.corners @ normal == pytest.approx(offset)


def test_the_middle_of_a_cube_is_a_hexagon(cube):
    domain, cells = cube
    found = cuts.section(cells, cuts.Plane.of("1,1,1", (0.5, 0.5, 0.5)), cells.points(domain), np.zeros(8))
    assert found.area() == pytest.approx(0.75 * np.sqrt(3)) and len(found.corners) == 4


def test_planes_beside_a_cube_cut_nothing(cube):
    domain, cells = cube
    assert cuts.section(cells, cuts.Plane.of("x:2", (0, 0, 0)), cells.points(domain), np.zeros(8)).area() == 0


def test_values_of_sections_are_those_of_the_points(cube):
    domain, cells = cube
    points = cells.points(domain)
    found = cuts.section(cells, cuts.Plane.of("1,2,3", (0.5, 0.5, 0.5)), points, points @ (2, -1, 5) + 1)
    assert found.values == pytest.approx(found.corners @ (2, -1, 5) + 1)


def test_all_elements_of_a_mesh_are_cut(scene):
    domain = Stored(scene).domain
    cells = cuts.Cells(domain)
    row = domain.body_row(4)
    assert (cells.body == row).sum() == 32  # elements inside of the mesh, too
    points = cells.points(domain)
    found = cuts.section(cells, cuts.Plane.of("x:2.2", (0, 0, 0)), points, np.zeros(len(points)))
    assert found.area(row) == pytest.approx(2.0) and found.area(domain.body_row(1)) == pytest.approx(4.0)


@pytest.mark.parametrize("text", ["w", "0,0,0", "1,2", "x:y", "", "nan,0,0", "1,0,0,0"])
def test_words_that_are_no_plane_are_refused(text):
    with pytest.raises(SolfecError, match="is no cut"):
        cuts.Plane.of(text, (0, 0, 0))


def test_words_of_planes():
    plane = cuts.Plane.of("-z", (1, 2, 3))
    assert plane.normal.tolist() == [0, 0, -1] and plane.offset == -3
    assert cuts.Plane.of("0,3,4:2", (0, 0, 0)).row().tolist() == [0, 0.6, 0.8, 2]


def test_cuts_are_closed_in_the_colours_of_the_result(shown):
    """Through a cut body nothing of its inside is seen: the plane covers as many pixels as its area requires."""
    shown.camera.ortho = True
    shown.look("front")
    shown.cut("-y:0")
    shown.show("mises")
    shown.fit(4 / 3)
    ids = shown.renderer.draw(shown.camera, 400, 300).ids()
    pixel = 2 * shown.camera.distance * np.tan(np.radians(35)) / 300
    for body, area in ((2, 1.0), (3, 0.48), (4, 2.0)):
        caps = (ids[..., 0] == body) & (ids[..., 1] > 0x20000000)
        assert caps.sum() * pixel**2 == pytest.approx(area, rel=0.06)
        assert (ids[..., 0] == body).sum() == caps.sum()
    assert (ids[..., 0] == 5).sum() * pixel**2 == pytest.approx(np.pi / 4, rel=0.03)  # the sphere's cap
    assert shown.renderer.draw_calls <= 8
    shown.clear_cuts()
    assert not (shown.renderer.draw(shown.camera, 400, 300).ids()[..., 1] & 0x20000000).any()


def test_there_are_four_cuts_at_most(shown):
    for axis in ("x", "y", "z", "-x"):
        shown.cut(f"{axis}:9")
    with pytest.raises(SolfecError, match="4 cuts"):
        shown.cut("x")


def test_view_cuts(window, scene, tmp_path, capsys):
    path = str(tmp_path / "p.png")
    assert cli.main(["view", scene, "--screenshot", path, "--cut", "-y:0", "--cut", "x:2.2", "--size", "100x100"]) == 0
    assert cli.main(["view", scene, "--screenshot", path, "--cut", "q", "--size", "100x100"]) == 1
    assert "'q' is no cut" in capsys.readouterr().err
