"""Pictures without a display: identifiers behind pixels, picks, files.  Skipped, with the reason, where nothing can be drawn."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest
from PIL import Image

import solfec
from solfec import cli
from solfec.errors import SolfecError, SolfecWarning
from solfec.viewer.picking import nearest_vertex, pick
from solfec.viewer.pictures import picture

SIZE = 400, 300


def ids(shown):
    return shown.renderer.draw(shown.camera, *SIZE).ids()


def test_every_body_is_seen_and_only_bodies(shown):
    shown.look("-60,35")
    shown.fit(SIZE[0] / SIZE[1])
    seen = np.unique(ids(shown)[..., 0])
    assert seen.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_the_first_picture_shows_bodies_on_a_huge_floor_large_and_the_floor_up_to_its_horizon(window, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = solfec.SOLFEC("DYNAMIC", 1e-3, "out/plain")
    model.verbose = "OFF"
    bulk = solfec.BULK_MATERIAL(model, density=1000)
    solfec.BODY(model, "OBSTACLE", solfec.PLANE((0, 0, 0), (0, 0, 1), 400), bulk)
    solfec.BODY(model, "RIGID", solfec.BOX((0, 0, 0.5), (1, 1, 1)), bulk)
    solfec.RUN(model, solfec.PENALTY_SOLVER(), 2e-3)
    with solfec.view("out/plain", size=SIZE) as view:
        seen = ids(view.application.view)[..., 0]
        assert (seen == 2).mean() > 0.05 and (seen == 1).mean() > 0.4
        with pytest.raises(SolfecError, match=r"strings such as 'frame 10', not \(400, 300\)"):
            view.do(SIZE)
        view.do("fit")
        seen = ids(view.application.view)[..., 0]
        assert (seen == 2).mean() < 1e-3 and (seen == 1).any()


@pytest.mark.parametrize("ortho", [False, True])
def test_a_sphere_covers_its_projection(shown, ortho):
    shown.set_opacity([1, 2, 3, 4, 6], 0.0)
    camera = shown.camera
    camera.ortho = ortho
    shown.look("front")
    camera.target, camera.distance, camera.radius = np.array([2.0, 0.0, 1.5]), 1.6, 2.0
    centre = shown.domain.bodies.configurations.conf[:, shown.domain.bodies.conf_ptr[4] + 3]
    camera.target = centre.copy()
    found = int((ids(shown)[..., 0] == 5).sum())
    distance, half = 1.6, SIZE[1] / 2 / np.tan(np.radians(35))
    radius = half * 0.5 / (distance if ortho else np.sqrt(distance**2 - 0.25))
    assert found == pytest.approx(np.pi * radius**2, rel=0.01)


@pytest.mark.parametrize("ortho", [False, True])
def test_balls_and_ellipsoids_drawn_as_edges_are_lines_within_their_outlines(shown, ortho):
    shown.camera.ortho = ortho
    shown.look("front")
    for body in (5, 6):
        shown.set_opacity([1, 2, 3, 4, 5, 6], 0.0)
        shown.set_opacity([body], 1.0)
        shown.fit(SIZE[0] / SIZE[1])
        full = np.asarray(picture(shown, *SIZE, annotated=False)).min(axis=2) < 250
        shown.set_opacity([body], -1.0)
        edges = np.asarray(picture(shown, *SIZE, annotated=False)).min(axis=2) < 200
        rows, columns = np.nonzero(full)
        drawn_rows, drawn_columns = np.nonzero(edges)
        assert 0.01 < edges.sum() / full.sum() < 0.2  # lines, not faces
        for box, found in ((rows, drawn_rows), (columns, drawn_columns)):
            assert abs(found.min() - box.min()) < 3 and abs(found.max() - box.max()) < 3  # the outline


def test_bodies_without_a_result_are_grey_also_where_all_others_have_the_same_value(shown):
    shown.set_opacity([4], 0.0)  # leaves stress to the pseudo-rigid body, in which it is one tensor
    shown.show("mises")
    low, high = shown.renderer.range
    assert low == high > 0.0
    colours, owner = picture(shown, *SIZE, annotated=False), ids(shown)[..., 0]
    coloured = np.ptp(np.asarray(colours)[..., :3].astype(int), axis=2) > 30
    for body in (1, 2, 5, 6):
        assert coloured[owner == body].mean() < 0.02, body
    assert coloured[owner == 3].mean() > 0.9


def test_hidden_bodies_have_no_pixel_and_stay_hidden_in_other_frames(shown):
    shown.set_opacity([4], 0.0)
    assert not (ids(shown)[..., 0] == 4).any()
    shown.source.seek(0)
    shown.refresh()
    assert not (ids(shown)[..., 0] == 4).any()
    shown.set_opacity(None, 1.0)
    assert (ids(shown)[..., 0] == 4).any()


def test_nothing_is_seen_beyond_a_plane(shown):
    shown.look("front")
    shown.fit(SIZE[0] / SIZE[1])
    shown.renderer.planes = np.array([(1.0, 0.0, 0.0, 0.0)])  # x > 0 goes
    drawn = ids(shown)
    assert not np.isin(drawn[..., 0], [4, 5]).any() and (drawn[..., 0] == 6).any()
    targets = shown.renderer.targets
    y, x = np.argwhere(drawn[..., 0] > 0).T
    for k in range(0, len(x), 997):
        at = shown.camera.unproject(x[k] + 0.5, y[k] + 0.5, targets.depth(int(x[k]), int(y[k])), *SIZE)
        assert at[0] <= 1e-3


@pytest.mark.parametrize("corner", [(0.5, -0.5, 1.0), (3.0, -1.0, 1.0)])
def test_a_picked_point_is_where_it_is(shown, corner):
    shown.look("-60,35")
    shown.fit(SIZE[0] / SIZE[1])
    shown.source.seek(0)
    shown.refresh()
    inside = np.array(corner) - 0.02 * np.array((1, -1, 0))  # on the upper face, near the corner
    x, y, _ = shown.camera.project(inside[None], *SIZE)[0]
    shown.renderer.draw(shown.camera, *SIZE)
    found = pick(shown, int(x), int(y))
    pixel = shown.camera.project(found.point[None], *SIZE)[0]
    assert found.body == (2 if corner[0] == 0.5 else 4)
    assert found.point[2] == pytest.approx(1.0, abs=1e-9) and pixel[:2] == pytest.approx((int(x) + 0.5, int(y) + 0.5), abs=1e-6)
    vertex = nearest_vertex(shown, found)
    assert shown.domain.geometry.vertices.current[:, vertex] == pytest.approx(np.array(corner))


def test_a_picked_point_of_a_sphere_lies_on_it(shown):
    centre = shown.domain.bodies.configurations.conf[:, shown.domain.bodies.conf_ptr[4] + 3]
    shown.look("-60,35")
    shown.fit(SIZE[0] / SIZE[1])
    shown.renderer.draw(shown.camera, *SIZE)
    x, y, _ = shown.camera.project(centre[None], *SIZE)[0]
    found = pick(shown, int(x), int(y))
    assert found.body == 5 and np.linalg.norm(found.point - centre) == pytest.approx(0.5, abs=1e-4)


def test_nothing_is_picked_beside_the_bodies(shown):
    shown.renderer.draw(shown.camera, *SIZE)
    found = pick(shown, 0, 0)
    assert (found.body, found.constraint, found.point) == (0, 0, None) and nearest_vertex(shown, found) is None


def test_arrows_carry_identifiers_of_constraints(shown):
    from solfec.viewer.gl.renderer import CONSTRAINT

    shown.fit(SIZE[0] / SIZE[1])
    shown.show("R")
    drawn = ids(shown)
    arrows = drawn[drawn[..., 0] >= CONSTRAINT]
    assert len(arrows)
    table = shown.domain.constraints
    assert np.array_equal(table.view("id")[arrows[:, 1]], arrows[:, 0] - CONSTRAINT)


@pytest.mark.parametrize("result", ["", "mises", "|v|", "R", "gap", "constraints", "bodies", "surfaces"])
def test_draw_calls_are_few_and_without_errors(shown, result):
    shown.show(result)
    shown.renderer.draw(shown.camera, *SIZE)
    assert shown.renderer.draw_calls <= 7
    assert (shown.legend is None) == (result == "")


def test_flat_colours_are_those_of_the_legend(shown):
    from solfec.viewer.colours import colour_map

    shown.show("dz")
    low, high = shown.renderer.range
    shown.renderer.lighting, shown.renderer.edges = 0, False
    shown.look("top")
    shown.fit(SIZE[0] / SIZE[1])
    targets = shown.renderer.draw(shown.camera, *SIZE)
    drawn, pixels = targets.ids()[..., 0], targets.pixels()
    wanted = colour_map("viridis")[round(255 * (0.0 - low) / (high - low))]  # the floor does not move
    assert (pixels[drawn == 1][:, :3] == wanted).all()


def test_the_legend_of_materials_has_their_labels(shown):
    shown.show("materials")
    assert [word for _, word in shown.legend.words] == ["stone"]


def test_an_outline_is_drawn_round_the_chosen_body(shown):
    shown.fit(SIZE[0] / SIZE[1])
    before = shown.renderer.draw(shown.camera, *SIZE).pixels()
    shown.renderer.chosen = 4
    assert (shown.renderer.draw(shown.camera, *SIZE).pixels() != before).any()


@pytest.mark.parametrize("ortho", [False, True])
def test_faces_that_turn_from_the_middle_of_the_picture_are_as_light_as_others(shown, ortho):
    """A convex body alone takes no light from itself, also where perspective shows faces whose normals lean away."""
    shown.set_opacity([1, 3, 4, 5, 6], 0.0)
    shown.renderer.edges = False
    camera = shown.camera
    shown.look("180,85" if not ortho else "180,60")
    camera.ortho, camera.target, camera.distance, camera.radius = ortho, np.array([2.2, 0.0, 0.5]), 3.0, 4.0
    pictures = []
    for shown.renderer.lighting in (1, 2):
        targets = shown.renderer.draw(camera, *SIZE)
        pictures.append(targets.pixels()[..., :3].astype(int))
    body = targets.ids()[..., 0] == 2
    inside = body & np.roll(body, 4, 0) & np.roll(body, -4, 0) & np.roll(body, 4, 1) & np.roll(body, -4, 1)
    assert inside.sum() > 1000
    assert np.abs(pictures[0] - pictures[1])[inside].max() < 40


def test_buffers_refuse_other_types(window):
    from solfec.viewer.gl.buffers import Buffer

    with pytest.raises(TypeError, match="float64"):
        Buffer("f4").put(np.zeros(3))


def test_impossible_sizes_are_refused(shown):
    from solfec.viewer.gl.targets import Targets

    with pytest.raises(SolfecError, match="pixels each way"):
        Targets(10**6, 10)
    with pytest.raises(SolfecError, match="not inside"):
        shown.renderer.draw(shown.camera, *SIZE).ids(399, 0, 2, 1)


@pytest.mark.parametrize("ending", ["png", "bmp", "pdf"])
def test_view_writes_pictures(window, scene, tmp_path, capsys, ending):
    path = tmp_path / f"picture.{ending}"
    assert cli.main(["view", scene, "--screenshot", str(path), "--result", "mises", "--size", "201x99", "--time", "0.01", "--look", "-30,20"]) == 0
    assert capsys.readouterr().out == f"{path}\n" and path.stat().st_size > 1000
    if ending != "pdf":
        with Image.open(path) as image:
            assert image.size == (201, 99)
            assert len(image.convert("RGB").getcolors(100000)) > 100


def test_transparent_pictures_have_no_background(window, scene, tmp_path):
    path = tmp_path / "picture.png"
    assert cli.main(["view", scene, "--screenshot", str(path), "--transparent", "--plain", "--size", "200x150"]) == 0
    with Image.open(path) as image:
        alpha = np.asarray(image)[..., 3]
    assert alpha[0, 0] == 0 and alpha.max() == 255


@pytest.mark.parametrize(
    "words, status, said",
    [
        (["--result", "energy"], 1, "no result 'energy'"),
        (["--look", "here"], 1, "'here' is no view"),
        (["--frame", "77"], 1, "no frame 77"),
        (["--hide", "nobody"], 1, "'nobody' matches no body"),
        (["--zoom", "0"], 1, "positive factor"),
        (["--size", "0x10"], 2, "is no size"),
        (["--range", "2,1"], 2, "is no range"),
        (["--time", "0", "--frame", "0"], 2, "not allowed with"),
    ],
)
def test_view_says_what_is_wrong(window, scene, tmp_path, capsys, words, status, said):
    assert cli.main(["view", scene, "--screenshot", str(tmp_path / "p.png"), *words]) == status
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name, said", [("none/p.png", "cannot be written"), ("p.tiff", "pictures are")])
def test_pictures_that_cannot_be_written_are_an_error(window, scene, tmp_path, capsys, name, said):
    assert cli.main(["view", scene, "--screenshot", str(tmp_path / name)]) == 1
    assert said in capsys.readouterr().err


def test_results_that_are_not_there_are_an_error(window, tmp_path, capsys):
    assert cli.main(["view", str(tmp_path), "--screenshot", str(tmp_path / "p.png")]) == 1
    assert "no such results file" in capsys.readouterr().err


@pytest.mark.parametrize("module, message", [("imgui_bundle", "libX11.so.6: cannot open shared object file"), ("glfw", "Failed to load GLFW3 shared library.")])
def test_missing_libraries_of_the_system_are_named(scene, tmp_path, capsys, monkeypatch, module, message):
    def load(name):
        if name == module:
            raise ImportError(message)

    monkeypatch.setattr("solfec.viewer.importlib.import_module", load)
    assert cli.main(["view", scene, "--screenshot", str(tmp_path / "a.png")]) == 2
    said = capsys.readouterr().err
    assert f"the viewer needs libraries of the system ({message}); on Debian: apt install libegl1 libgl1" in said


def test_missing_packages_are_named(scene, tmp_path, capsys, monkeypatch):
    from solfec import viewer

    monkeypatch.setitem(viewer.PACKAGES, "no_such_module", "no-such-package")
    assert cli.main(["view", scene, "--screenshot", str(tmp_path / "p.png")]) == 2
    assert "no-such-package" in capsys.readouterr().err


def test_pictures_without_plots_say_what_draws_them(window, scene, tmp_path, capsys):
    target = str(tmp_path / "p.png")
    assert cli.main(["view", scene, "--screenshot", target, "--size", "80x60", "--do", "energies on/off; inspect 5; plot cz"]) == 0
    error = capsys.readouterr().err
    assert "only the window shows the panels energies, histories" in error
    plots = re.findall("'(solfec plot .*?)'", error)
    assert len(plots) == 2 and all(scene in plot for plot in plots)
    for plot in plots:
        assert cli.main([*shlex.split(plot)[1:], "-o", target]) == 0
        assert (np.asarray(Image.open(target).convert("L")) < 200).mean() > 1e-3  # lines
    assert cli.main(["view", scene, "--screenshot", target, "--size", "80x60", "--do", "energies on/off; energies on/off"]) == 0
    assert capsys.readouterr().err == ""
    with solfec.view(scene, window=False, size=(80, 60)) as view, pytest.warns(SolfecWarning, match="panel iterations; the plots are drawn by 'solfec plot"):
        view.do("iterations on/off")


def test_unknown_commands_are_corrected(window, scene, capsys):
    assert cli.main(["view", scene, "--screenshot", "p.png", "--do", "energies on"]) == 1
    assert "there is no command 'energies on'; did you mean 'energies on/off'?" in capsys.readouterr().err
