"""Tables as arrays for drawing, results as values, colours and camera: all of it without OpenGL."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import solfec
from solfec import cli
from solfec.errors import SolfecError
from solfec.viewer import arrays, colours, cuts, fields
from solfec.viewer.camera import VIEWS, Camera
from solfec.viewer.legend import left, listed
from solfec.viewer.presentation import Legend
from solfec.viewer.sources import Stored

CUBE = [c for z in (0, 1) for y in (0, 1) for x in (0, 1) for c in (x, y, z)]
F = np.array([[1.1, 0.05, 0.0], [0.0, 0.95, 0.1], [0.02, 0.0, 1.05]])
YOUNG, POISSON = 1e6, 0.25


def model(tmp_path):
    made = solfec.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "out"))
    return made, solfec.BULK_MATERIAL(made, "KIRCHHOFF", young=YOUNG, poisson=POISSON, density=1.0)


def domain_of(made):
    simulation = made._simulation if hasattr(made, "_simulation") else made.simulation
    simulation.domain.states.update_shapes()
    return simulation.domain


def expected_stress():
    """The Cauchy stress of F from the law written out: S = lambda tr E I + 2 mu E."""
    lame, shear = YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON), YOUNG / 2 / (1 + POISSON)
    strain = (F.T @ F - np.eye(3)) / 2
    stress = F @ (lame * np.trace(strain) * np.eye(3) + 2 * shear * strain) @ F.T / np.linalg.det(F)
    deviator = stress - np.trace(stress) / 3 * np.eye(3)
    return [*(stress[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))), np.sqrt(1.5 * (deviator**2).sum())]


def test_a_cube_is_twelve_triangles_and_twelve_edges(tmp_path):
    made, bulk = model(tmp_path)
    solfec.BODY(made, "RIGID", solfec.HULL(CUBE, 7, 5), bulk)
    domain = domain_of(made)
    topology = arrays.Topology(domain)
    x = arrays.positions(domain, topology.origin) + topology.origin
    a, b, c = (x[topology.triangles[:, k]] for k in range(3))
    normals = 0.5 * np.cross(b - a, c - a)
    assert len(topology.edges) == 12 and len(topology.triangles) == 12
    assert np.linalg.norm(normals, axis=1).sum() == pytest.approx(6)
    assert np.einsum("ni,ni->", normals, (a + b + c) / 3) / 3 == pytest.approx(1)  # the volume: all normals point outwards
    owners, _ = topology.owners(domain)
    assert set(owners[:, 1]) == {1} and set(topology.triangle_surface) == {5} | set(topology.triangle_surface[:1])


def test_points_keep_their_digits_far_from_the_origin(tmp_path):
    made, bulk = model(tmp_path)
    far = np.array(CUBE, float) * 1e-3 + 1e6
    solfec.BODY(made, "OBSTACLE", solfec.HULL(far.tolist(), 1, 1), bulk)
    domain = domain_of(made)
    topology = arrays.Topology(domain)
    assert np.ptp(arrays.positions(domain, topology.origin), axis=0) == pytest.approx(1e-3, rel=1e-4)


def test_an_ellipsoid_is_its_axes(scene):
    source = Stored(scene)
    topology = arrays.Topology(source.domain)
    drawn = arrays.quadrics(source.domain, topology)
    assert drawn[:, :3] + topology.origin == pytest.approx(np.array([(2, 0, 1.5), (-2, 0, 0.6)]), abs=1e-6)
    sizes = np.linalg.norm(drawn[:, 3:].reshape(-1, 3, 3), axis=2)
    assert np.sort(sizes, axis=1) == pytest.approx(np.array([(0.5, 0.5, 0.5), (0.5, 0.6, 0.9)]))


@pytest.mark.parametrize("kind", ["PSEUDO_RIGID", "FINITE_ELEMENT", "INSIDE OF A MESH"])
def test_stress_of_a_homogeneous_deformation_is_that_of_the_law(tmp_path, kind):
    made, bulk = model(tmp_path)
    corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    shape = solfec.HULL(CUBE, 1, 1) if kind == "PSEUDO_RIGID" else solfec.HEX(corners, 2, 2, 2, 1, [1] * 6)
    if kind == "INSIDE OF A MESH":
        inner = solfec.HULL((0.1 + 0.8 * np.array(CUBE)).tolist(), 1, 1)
        solfec.BODY(made, "FINITE_ELEMENT", inner, bulk, mesh=shape)
    else:
        solfec.BODY(made, kind, shape, bulk)
    domain = domain_of(made)
    bodies = domain.bodies
    conf = bodies.configurations.conf
    if kind == "PSEUDO_RIGID":
        conf[:, :3] = F.T  # triples are rows of F
    else:
        nodes = bodies.meshes[1].nodes
        conf[:, : len(nodes)] = (nodes @ (F - np.eye(3)).T).T
    domain.states.update_shapes()
    vertices = domain.geometry.vertices
    assert vertices.view("current").T - 0.5 == pytest.approx((vertices.view("reference").T - 0.5) @ F.T + (0.0 if kind == "PSEUDO_RIGID" else 0.5 * (F.sum(1) - 1)))
    found = fields.stresses(domain)
    assert found == pytest.approx(np.tile(expected_stress(), (len(found), 1)), rel=1e-9, abs=1e-6)


def test_rigid_bodies_have_no_stress(scene):
    domain = Stored(scene).domain
    rigid = domain.bodies.view("kind")[domain.geometry.vertices.view("body")] < 2
    assert np.array_equal(np.isnan(fields.at_vertices(domain, "mises")), rigid)


def test_velocities_of_a_turning_body_are_omega_cross_r(tmp_path):
    made, bulk = model(tmp_path)
    body = solfec.BODY(made, "RIGID", solfec.HULL(CUBE, 1, 1), bulk)
    solfec.INITIAL_VELOCITY(body, (1, 2, 3), (0.5, -1, 2))
    domain = domain_of(made)
    x = domain.geometry.vertices.view("current").T
    wanted = (1, 2, 3) + np.cross((0.5, -1, 2), x - 0.5)
    for k, name in enumerate(("vx", "vy", "vz")):
        assert fields.at_vertices(domain, name) == pytest.approx(wanted[:, k])
    assert fields.at_vertices(domain, "|v|") == pytest.approx(np.linalg.norm(wanted, axis=1))


def test_vertices_inside_of_a_mesh_have_its_velocities(tmp_path):
    made, bulk = model(tmp_path)
    mesh = solfec.HEX([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], 2, 2, 2, 1, [1] * 6)
    solfec.BODY(made, "OBSTACLE", solfec.HULL((np.array(CUBE) - 5).tolist(), 1, 1), bulk)
    body = solfec.BODY(made, "FINITE_ELEMENT", solfec.HULL((0.1 + 0.8 * np.array(CUBE)).tolist(), 1, 1), bulk, mesh=mesh)
    solfec.INITIAL_VELOCITY(body, (1, 2, 3), (0, 0, 2))
    domain = domain_of(made)
    inside = domain.geometry.vertices.view("body") == 1
    x = domain.geometry.vertices.view("current")[:, inside].T
    wanted = (1, 2, 3) + np.cross((0, 0, 2), x - 0.5)
    assert fields.velocities(domain)[:, inside].T == pytest.approx(wanted) and len(wanted) == 8
    assert not fields.velocities(domain)[:, ~inside].any()


def test_velocities_of_nodes_are_those_of_the_table(scene):
    source = Stored(scene)
    source.seek(-1)
    domain, bodies = source.domain, source.domain.bodies
    row = int(np.flatnonzero(bodies.view("kind") == 3)[0])
    at = np.flatnonzero(domain.geometry.vertices.view("body") == row)
    node = domain.geometry.vertices.view("node")[at]
    assert np.array_equal(fields.velocities(domain)[:, at], bodies.triples.velo[:, bodies.velo_slice(row)][:, node])


def test_arrows_split_reactions_into_normal_and_tangential_parts(scene):
    source = Stored(scene)
    source.seek(-1)
    table = source.domain.constraints
    _, whole, signed = fields.at_constraints(source.domain, "R")
    _, normal, _ = fields.at_constraints(source.domain, "RN")
    _, tangent, size = fields.at_constraints(source.domain, "RT")
    assert len(whole) == table.n > 5 and whole == pytest.approx(normal + tangent)
    assert np.einsum("ni,ni->n", tangent, table.view("base")[:, 2].T) == pytest.approx(0, abs=1e-9 * np.abs(whole).max())
    assert (size >= 0).all() and np.abs(signed) == pytest.approx(np.linalg.norm(table.view("R"), axis=0))


@pytest.mark.parametrize("name", fields.KINDS[:-1])
def test_categories_have_a_word_each(scene, name):
    domain = Stored(scene).domain
    topology = arrays.Topology(domain)
    triangles, quadrics, words = fields.categories(domain, topology, name)
    assert len(triangles) == len(topology.triangles) and len(quadrics) == 2
    assert set(triangles) | set(quadrics) == set(range(len(words)))
    if name == "bodies":
        assert words == ["OBS", "RIG", "PRB", "FEM"]


@pytest.mark.parametrize("stored", [False, True])
def test_elements_show_the_material_that_was_applied_to_them(tmp_path, stored):
    made, stiff = model(tmp_path)
    soft = solfec.BULK_MATERIAL(made, label="soft", young=1.0, density=1.0)
    nodes, elements, surfaces = solfec.HEX([*CUBE[:6], *CUBE[9:12], *CUBE[6:9], *CUBE[12:18], *CUBE[21:], *CUBE[18:21]], 3, 3, 3, 1, [1] * 6).get_data()
    for number in (0, 13):  # the inner element, and the one in the middle of an outer face
        elements[10 * number + 9] = 2
    body = solfec.BODY(made, "FINITE_ELEMENT", solfec.MESH(nodes, elements, surfaces), stiff)
    solfec.BODY(made, "RIGID", solfec.SPHERE((5, 0, 0), 1, 1, 1), soft)
    solfec.APPLY_BULKMAT(made, body, 2, soft)
    made.verbose = "OFF"
    solfec.RUN(made, solfec.PENALTY_SOLVER(), 1e-6)
    domain = Stored(str(tmp_path / "out")).domain if stored else domain_of(made)
    triangles, quadrics, words = fields.categories(domain, arrays.Topology(domain), "materials")
    assert sorted(words) == ["BULK_MATERIAL_0", "soft"] and [words[k] for k in quadrics] == ["soft"]
    assert [words[k] for k in triangles].count("soft") == 2
    cells = cuts.Cells(domain)
    number, same = fields.material_categories(domain, cells.body, cells.element)
    assert same == words and [words[k] for k in number].count("soft") == 2


def test_unknown_results_are_refused():
    assert fields.named("MISES") == "mises" and fields.named("r") == "R"
    with pytest.raises(SolfecError, match="no result 'energy'"):
        fields.named("energy")


@pytest.mark.parametrize("name", colours.MAPS)
def test_maps_have_256_colours(name):
    assert colours.colour_map(name).shape == (256, 3)
    assert len(np.unique(colours.colour_map(name), axis=0)) > 150


def test_classic_goes_from_blue_to_red():
    table = colours.colour_map("classic")
    assert table[0].tolist() == [0, 0, 255] and table[-1].tolist() == [255, 0, 0]
    with pytest.raises(SolfecError, match="jet"):
        colours.colour_map("jet")


def test_legends_of_one_value_show_it_once():
    assert colours.numbers(2.0, 2.0) == [(0.5, "2.00e+00")]
    assert [text for _, text in colours.numbers(-1, 1, 3)] == ["-1.00e+00", "0.00e+00", "1.00e+00"]
    assert [text for _, text in colours.numbers(-0.8, 0.8, 9)][4] == "0.00e+00"
    assert colours.finite_range(np.array([np.nan, 3.0, 1.0])) == (1.0, 3.0)
    assert colours.finite_range(np.array([5e-6, 5e-6 * (1 + 1e-9)])) == (5e-6 * (1 + 1e-9),) * 2


def test_legends_of_narrow_ranges_tell_their_numbers_apart():
    words = [text for _, text in colours.numbers(-1000.5, -1000.0)]
    assert len(set(words)) == 9 and float(words[0]) == -1000.5 and float(words[-1]) == -1000.0
    assert [text for _, text in colours.numbers(0.0, 2.0, 3, logarithmic=True)] == ["1.00e+00", "1.00e+01", "1.00e+02"]


def test_legends_without_room_for_all_words_say_how_many_are_missing():
    legend = Legend("surfaces", words=[(k, str(k)) for k in range(40)])
    assert listed(legend, 40) == (legend.words, "") and listed(legend, 10) == (legend.words[:9], "and 31 more")


@pytest.mark.parametrize("word, least", [("BULK_MATERIAL_0", 40.0), ("a" * 500, 100.0)])
def test_words_of_legends_end_inside_of_the_picture_and_their_colours_stay_in_it(word, least):
    x = left(Legend("materials", words=[(0, word)]), 400.0, 40.0, 20.0, lambda text: 8.0 * len(text))
    assert 200.0 <= x <= 400.0 - least
    assert len(word) > 100 or x + 20.0 + 8.0 * len(word) <= 400.0


points = st.tuples(*[st.floats(-100, 100)] * 3)


@given(points, points, st.floats(-180, 180), st.floats(-90, 90), st.booleans(), st.floats(0.3, 3))
def test_a_box_that_is_fitted_is_seen(low, high, azimuth, elevation, ortho, aspect):
    low, high = np.minimum(low, high), np.maximum(low, high) + 1e-3
    camera = Camera()
    camera.ortho = ortho
    camera.look(azimuth, elevation)
    camera.fit(low, high, aspect)
    width, height = int(1000 * aspect), 1000
    corners = np.array(np.meshgrid(*zip(low, high))).reshape(3, -1).T
    seen = camera.project(corners, width, height)
    assert (seen[:, :2] >= 0).all() and (seen[:, :2] <= (width, height)).all() and (seen[:, 2] > 0).all() and (seen[:, 2] < 1).all()
    fills = max(np.ptp(seen[:, 0]) / width, np.ptp(seen[:, 1]) / height) > 0.9
    closest = ((corners - camera.eye()) @ -camera.rotation[2]).min() < 0.06 * camera.distance  # a stick seen from its end
    assert fills or (closest and not ortho)
    assert seen[:, :2].min(0) + seen[:, :2].max(0) == pytest.approx((width, height), abs=1e-3 * height)  # in the middle
    for corner, (x, y, depth) in zip(corners, seen):
        assert camera.unproject(x, y, depth, width, height) == pytest.approx(corner, abs=1e-6 * camera.distance + 1e-9)


def boxed(*bodies) -> np.ndarray:
    return np.array([(*low, *high) for low, high in bodies], float).T


def test_a_floor_that_dwarfs_a_model_is_framed_nearby():
    floor, block = ((-100, -100, -10), (100, 100, 0)), ((0, 0, 0), (1, 1, 1))
    nothing, fixed = np.zeros((6, 0)), np.array([True, False])
    low, high = arrays.framed(boxed(floor, block), fixed, nothing)
    assert np.linalg.norm(high - low) < 3.1 and (low < 0).all() and (high >= 1).all()  # the block fills the picture, with ground below and around
    low, high = arrays.framed(boxed(floor, block), fixed, boxed(((0, 0, 30), (1, 1, 31))))
    assert high[2] == 31 and low[2] < 0  # it has fallen from there
    low, high = arrays.framed(boxed(floor, ((0, 0, 9), (1, 1, 10))), fixed, nothing)
    assert low[2] == 0 and high[2] == 10  # it is above the floor, which is seen
    small = ((-0.5, -0.5, -0.5), (1.5, 1.5, 0))
    assert arrays.framed(boxed(small, block), fixed, nothing)[0].tolist() == [-0.5, -0.5, -0.5]  # no giant: all of it
    for others in ([True, True], [False, False]):
        assert arrays.framed(boxed(floor, block), np.array(others), nothing)[1].tolist() == [100, 100, 1]
    tiles = [((x, y, -1), (x + 1, y + 1, 0)) for x in range(-50, 50) for y in range(-50, 50)]
    low, high = arrays.framed(boxed(*tiles, block), np.array([True] * 10000 + [False]), nothing)
    assert np.linalg.norm(high - low) < 6  # a floor of tiles: those nearby


def test_views_look_where_they_say():
    camera = Camera()
    for name, right, up in (("front", (1, 0, 0), (0, 0, 1)), ("right", (0, 1, 0), (0, 0, 1)), ("top", (1, 0, 0), (0, 1, 0))):
        camera.look(*VIEWS[name])
        assert camera.rotation[:2] == pytest.approx(np.array([right, up]), abs=1e-12)


def test_turning_keeps_a_rotation_and_follows_the_pointer():
    camera = Camera()
    camera.look(-90, 0)
    camera.turn(np.pi / 2, 0)  # the pointer goes right: what was on the left comes to the front
    assert camera.rotation[2] == pytest.approx([-1, 0, 0], abs=1e-12)
    for _ in range(2000):
        camera.turn(0.01, 0.02, 0.03)
    assert camera.rotation @ camera.rotation.T == pytest.approx(np.eye(3), abs=1e-12)


def test_cameras_survive_a_file():
    camera, other = Camera(), Camera()
    camera.look(10, 20)
    camera.zoom(3)
    other.from_json(camera.to_json())
    assert other.rotation == pytest.approx(camera.rotation) and other.distance == camera.distance
    for bad in ("{}", "[", json.dumps(json.loads(camera.to_json()) | {"distance": -1})):
        with pytest.raises(SolfecError, match="describes no camera"):
            other.from_json(bad)


def test_frames_beyond_the_last_are_refused(scene):
    source = Stored(scene)
    source.seek_time(0.0101)
    assert source.time == pytest.approx(0.01)
    source.seek(-1)
    assert source.time == pytest.approx(0.02)
    with pytest.raises(SolfecError, match="no frame 99"):
        source.seek(99)


def test_results_that_another_run_replaces_are_followed(tmp_path, monkeypatch):
    """A window that shows frame 10 while the input runs anew, for fewer frames and then for more."""
    monkeypatch.chdir(tmp_path)
    text = "s = SOLFEC('DYNAMIC', 1E-3, 'out/run')\nBODY(s, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(s))\nRUN(s, PENALTY_SOLVER(), {})"

    def run(duration):
        (tmp_path / "in.py").write_text(text.format(duration))
        assert cli.main(["--quiet", "-y", "-w", "in.py"]) == 0

    run(0.01)
    source = Stored("out/run")
    source.seek(10)
    assert not source.refresh()
    run(0.004)
    assert source.refresh() and source.frame == 4 and source.time == pytest.approx(0.004)
    run(0.02)
    assert source.refresh() and source.frame == 4 and len(source.times) == 21
