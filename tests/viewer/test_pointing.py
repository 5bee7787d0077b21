"""Highlighted bodies, what tools point at, inertia in space, the camera by keys, contrast, and the question before a run ends."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import solfec
from solfec.errors import SolfecError
from solfec.viewer import fields, overlays, places
from solfec.viewer.sources import Live, Stored


@pytest.fixture
def app(window, scene):
    from solfec.viewer.application import Application

    made = Application([Stored(scene)], (320, 240))
    made.do("frame -1")
    made.do("look -60,25")
    made.do("fit")
    yield made
    made.close()


def pixels_of(app, body):
    """Colours (n, 3) of the pixels that show a body."""
    targets = app.draw()
    return targets.pixels()[targets.ids()[..., 0] == body][:, :3].astype(int)


def middle_of(app, body):
    """A pixel that shows a body, y from above."""
    rows, columns = np.nonzero(app.draw().ids()[..., 0] == body)
    k = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    return int(columns[k]), int(rows[k])


@pytest.mark.parametrize("result", ["none", "|v|", "bodies"])
def test_highlighted_bodies_are_tinted_whatever_colours_show(app, result):
    app.do("lighting on/off")
    app.do("outline/fill")
    app.do(f"result {result}")
    before = {body: pixels_of(app, body) for body in (2, 5, 6)}
    app.do("highlight by label ^b")
    for body, tinted in ((2, True), (5, True), (6, False)):
        now = pixels_of(app, body)
        assert (np.abs(now - before[body]).max() > 30) == tinted
        if tinted:  # towards orange
            assert (np.abs(now - (255, 140, 0)).sum(1) < np.abs(before[body] - (255, 140, 0)).sum(1)).mean() > 0.95
    app.do("highlight none")
    assert all((pixels_of(app, body) == before[body]).all() for body in before)


def test_highlighting_leaves_hidden_and_transparent_bodies_as_they_are(app):
    app.do("hide egg")
    app.do("toggle transparent fem")
    looks = app.view.looks.copy()
    app.do("highlight by label .")
    assert (app.view.looks == looks).all() and app.view.highlighted == {1, 2, 3, 4, 5, 6}
    with pytest.raises(SolfecError):
        app.do("highlight by label nobody")
    assert len(app.view.highlighted) == 6


def test_a_click_on_one_highlighted_body_acts_on_all(app):
    app.do("highlight by label ^b")
    app.do("hide")
    app.click(*middle_of(app, 5))
    assert app.visible().tolist() == [1, 3, 4, 6]
    app.do("show all")
    app.click(*middle_of(app, 6))
    assert app.visible().tolist() == [1, 2, 3, 4, 5]


def test_highlights_are_part_of_states(app, tmp_path):
    app.do("highlight by label fem")
    app.do(f"save state {tmp_path / 's.json'}")
    assert json.loads((tmp_path / "s.json").read_text())["highlighted"] == [4]
    app.do("highlight none")
    app.do("undo")
    assert app.view.highlighted == {4}
    app.do("highlight by label ball")
    app.do(f"load state {tmp_path / 's.json'}")
    assert app.view.highlighted == {4}


def test_tools_outline_the_body_under_the_pointer(app):
    at = middle_of(app, 5)
    plain = app.draw().pixels().copy()
    app.hover(*at)
    assert app.hint == "" and (app.draw().pixels() == plain).all()
    app.do("hide")
    app.draw()
    app.hover(*at)
    drawn = app.view.renderer.draw_calls
    now = app.draw().pixels()
    changed = (now != plain).any(axis=2)
    assert app.hint == "hide: body 5 ball"
    near = app.draw().ids()[..., 0] == 5
    for shift in (2, -2):
        near |= np.roll(near, shift, 0) | np.roll(near, shift, 1)
    assert changed.any() and not (changed & ~near).any()
    assert app.view.renderer.draw_calls - drawn == 1  # shapes are not drawn again
    app.do("leave tool")
    app.hover(*at)
    assert app.hint == "" and (app.draw().pixels() == plain).all()
    app.hover(-1, 10_000)


def test_tools_of_measurement_point_at_vertices(app):
    app.do("points distance")
    app.draw()
    corner = np.array((0.5, -0.5, 1.0))
    x, y = app.view.camera.project(np.array([corner + (-0.05, 0.05, 0.0)]), *app.size)[0, :2].astype(int)
    app.hover(x, y)
    assert app.hint.startswith("points distance: body 2 block") and app.pointed == pytest.approx(corner, abs=1e-3)
    app.do("leave tool")
    app.hover(x, y)
    assert app.pointed is None


def test_results_that_cannot_be_shown_are_passed_over(app):
    """Stored results hold no point forces: the next result is the one after them, both ways."""
    app.do("result constraint ranks")
    app.do("next result")
    assert app.view.result == "bodies"
    app.do("previous result")
    assert app.view.result == "constraint ranks"
    seen = set()
    while app.view.result not in seen:
        seen.add(app.view.result)
        app.do("next result")
    assert seen == {"", *fields.RESULTS} - {"forces"}


def test_pictures_larger_than_the_window(app, tmp_path):
    app.do("picture scale 3")
    app.do(f"PNG {tmp_path / 'white'}")
    app.do("transparent background on/off")
    app.do(f"PNG {tmp_path / 'clear'}")
    with Image.open(tmp_path / "white.png") as white, Image.open(tmp_path / "clear.png") as clear:
        assert white.size == clear.size == (960, 720) and white.mode == "RGB" and clear.mode == "RGBA"
        assert white.getpixel((2, 700)) == (255, 255, 255) and clear.getpixel((2, 700))[3] == 0
    for line in (f"BMP {tmp_path / 'clear'}", "picture scale 9", "picture scale 0", "picture scale x"):
        with pytest.raises(SolfecError):
            app.do(line)


# -- inertia ------------------------------------------------------------------------------------------------


@pytest.fixture
def boxes(window):
    """A box of 1 x 2 x 3 at the origin, turned a quarter about z, as a rigid, a pseudo-rigid and a finite element body, and a ball."""
    from solfec.viewer.application import Application

    model = solfec.SOLFEC("DYNAMIC", 1e-3)
    model.verbose = "OFF"
    bulk = solfec.BULK_MATERIAL(model, young=1e3, poisson=0.0, density=10.0)
    corners = [c for z in (-1.5, 1.5) for x, y in ((-0.5, -1), (0.5, -1), (0.5, 1), (-0.5, 1)) for c in (x, y, z)]
    for k, kind in enumerate(("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT")):
        mesh = solfec.HEX([c + 5 * k * (n % 3 == 0) for n, c in enumerate(corners)], 6, 6, 6, 1, [1] * 6)
        body = solfec.BODY(model, kind, mesh, bulk)
        if kind == "RIGID":
            solfec.INITIAL_VELOCITY(body, (0, 0, 0), (0, 0, np.pi / 2))
    solfec.BODY(model, "RIGID", solfec.SPHERE((0, 9, 0), 2, 1, 1), bulk)
    solfec.RUN(model, solfec.PENALTY_SOLVER(), 1.0)
    made = Application([Live(model._simulation, [])], (200, 150))
    yield made
    made.close()


def test_second_moments_are_those_of_the_shapes(boxes):
    """m l^2 / 12 of a box along each side, m r^2 / 5 of a ball; a quarter turn swaps x and y; six nodal masses along a side stand farther out, by 2 / 6^2."""
    found = places.second_moments(boxes.view.domain, np.arange(4))
    mass = 60.0
    assert np.diagonal(found[0]) == pytest.approx(np.array([4, 1, 9]) * mass / 12, rel=1e-4)
    assert np.diagonal(found[1]) == pytest.approx(np.array([1, 4, 9]) * mass / 12, rel=1e-9)
    assert np.diagonal(found[2]) == pytest.approx(np.array([1, 4, 9]) * mass / 12 * (1 + 2 / 6**2), rel=1e-9)
    ball = boxes.view.domain.bodies.mass[3]
    assert np.diagonal(found[3]) == pytest.approx(np.full(3, ball * 4 / 5), rel=1e-6)
    assert np.abs(found - np.stack([np.diag(np.diagonal(one)) for one in found])).max() < 0.05


def test_inertia_is_drawn_as_an_ellipsoid(boxes):
    """Of a ball it is the ball itself; of a box the longest axis has half of the length 3 sqrt(5 / 3)."""
    boxes.do("inertia of bodies")
    ends, colours = boxes.view.overlay.arrays()
    ball = np.linalg.norm(ends - (0, 9, 0), axis=1) < 2.5
    assert np.linalg.norm(ends[ball] - (0, 9, 0), axis=1) == pytest.approx(2.0, rel=1e-6)
    red = (colours == overlays.RED).all(axis=1) & (np.linalg.norm(ends[:, :2], axis=1) < 1e-6)
    assert sorted(ends[red][:, 2]) == pytest.approx([-1.5 * np.sqrt(5 / 3), 1.5 * np.sqrt(5 / 3)], rel=1e-6)
    assert len(ends) == 4 * 2 * (3 + 3 * overlays.ELLIPSE)
    boxes.do("inertia of bodies")
    assert not len(boxes.view.overlay.arrays()[0])


def test_inertia_of_obstacles_and_of_nothing(app, window):
    from solfec.viewer.application import Application

    app.do("hide .")
    app.do("show body 1")
    app.do("inertia of bodies")
    assert not len(app.view.overlay.arrays()[0])
    empty = Application([Live(solfec.SOLFEC("DYNAMIC", 1e-3)._simulation, [])], (64, 48))
    empty.do("inertia of bodies")
    empty.close()


# -- keys, contrast, the end --------------------------------------------------------------------------------


@pytest.fixture
def screen(context, scene):
    from solfec.viewer.screen import Screen

    opened = Screen([Stored(scene)], 400, 300, shown=False)
    for _ in range(3):
        opened.frame()
    yield opened
    opened.close()
    context.glfw.make_context_current(context.handle)


def press(screen, *keys):
    from imgui_bundle import imgui

    io = imgui.get_io()
    for down in (True, False):
        for key in keys if down else keys[::-1]:
            io.add_key_event(key, down)
        screen.frame()
    screen.frame()


def test_the_camera_goes_by_keys(screen):
    from imgui_bundle import imgui

    key, camera, app = imgui.Key, screen.app.view.camera, screen.app
    frame, rotation, target, distance = app.source.frame, camera.rotation.copy(), camera.target.copy(), camera.distance
    press(screen, key.mod_ctrl, key.left_arrow)
    turned = camera.rotation @ rotation.T
    assert np.degrees(np.arccos((np.trace(turned) - 1) / 2)) == pytest.approx(5.0) and app.log[-1] == "turn left"
    press(screen, key.mod_ctrl, key.right_arrow)
    assert camera.rotation == pytest.approx(rotation)
    press(screen, key.mod_shift, key.up_arrow)
    assert (camera.target - target) @ rotation[1] < 0 and np.abs((camera.target - target) @ rotation[[0, 2]].T).max() < 1e-9
    press(screen, key.page_up)
    assert camera.distance == pytest.approx(distance / 1.1)
    assert app.source.frame == frame
    press(screen, key.right_arrow)
    assert app.source.frame == frame + 1
    app.do("spin 90")
    assert camera.rotation[2] == pytest.approx(rotation[2]) and abs(camera.rotation[0] @ rotation[0]) < 1e-9


def test_a_key_with_ctrl_in_one_slow_frame(screen):
    """Ctrl is let go before the key, and both within a frame: the key was pressed with ctrl."""
    from imgui_bundle import imgui

    io, app, frame = imgui.get_io(), screen.app, screen.app.source.frame
    for events in (((imgui.Key.mod_ctrl, True),), ((imgui.Key.right_arrow, True), (imgui.Key.mod_ctrl, False)), ((imgui.Key.right_arrow, False),)):
        for key, down in events:
            io.add_key_event(key, down)
        screen.frame()
    assert app.log[-1] == "turn right" and app.source.frame == frame
    screen.frame()
    press(screen, imgui.Key.right_arrow)
    assert app.source.frame == frame + 1


def luminance(colour) -> float:
    """Relative luminance of a colour of ImGui (WCAG 2.1)."""
    share = np.array([colour.x, colour.y, colour.z])
    return float(np.where(share > 0.03928, ((share + 0.055) / 1.055) ** 2.4, share / 12.92) @ (0.2126, 0.7152, 0.0722))


def test_contrast_is_black_on_white(screen):
    from imgui_bundle import imgui

    def ratio(*kinds):
        light = sorted(luminance(imgui.get_style().color_(kind)) for kind in kinds)
        return (light[1] + 0.05) / (light[0] + 0.05)

    kinds = imgui.Col_
    screen.app.do("contrast on/off")
    screen.frame()
    for below in (kinds.window_bg, kinds.popup_bg, kinds.frame_bg, kinds.button, kinds.menu_bar_bg, kinds.header_hovered, kinds.button_hovered, kinds.frame_bg_hovered):
        assert ratio(kinds.text, below) > 10, below  # 7 is the level AAA
    assert ratio(kinds.border, kinds.window_bg) > 20 and imgui.get_style().frame_border_size == 2.0
    assert screen.app.view.renderer.ink == (0.0, 0.0, 0.0)
    screen.app.do("contrast on/off")
    screen.frame()
    assert imgui.get_style().frame_border_size == 0.0 and screen.app.view.renderer.ink != (0.0, 0.0, 0.0)


def test_quitting_asks_while_a_run_writes(window, tmp_path):
    from solfec.solvers.penalty import PenaltySolver
    from solfec.viewer.application import Application, MissingArgument

    for output in (None, str(tmp_path / "out")):
        model = solfec.SOLFEC("DYNAMIC", 1e-3, output)
        model.verbose = "OFF"
        solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, 0), 1, 1, 1), solfec.BULK_MATERIAL(model))
        app = Application([Live(model._simulation, [(PenaltySolver(), 0.01)])], (64, 48))
        app.do("quit")
        assert app.closing  # nothing has begun
        app.closing = False
        app.do("step")
        if output is None:
            app.do("quit")
        else:
            with pytest.raises(MissingArgument, match="its last state is written"):
                app.do("quit")
            with pytest.raises(SolfecError):
                app.do("quit no")
            assert not app.closing
            app.do("quit yes")
        assert app.closing
        app.close()
        assert not app.source.writes
