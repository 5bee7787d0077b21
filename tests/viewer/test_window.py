"""The window's commands, menus, keys and tools, by events and without a display."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from viewer_words import WORDS

from solfec import cli
from solfec.errors import SolfecError

REFUSED = {"stop run": "no run goes on here", "show forces": "no point forces", "camera path on/off": "no path"}  # with these results
# Menu, entry and key of Solfec-1.0's viewer (docs/viewer.md, The viewer), but "kinds of" and results, which have no keys.
OLD_MENU = """
render: 2D selection 2, 3D selection 3, 2D wireframe 4, 3D wireframe 5, previous selection p, toggle bodies b
tools: run python script P, highlight by label K, select by label k, display points D, legend extents e, toggle transparent t, transparent all T
tools: transparent none n, Euler cut c, Lagrange cut C, clear cuts s, hide h, show all a, toggle rough mesh r, next result +, previous result -
tools: bigger arrows ], smaller arrows [, toggle output path o, point coordinates x, points distance d, points angle g, trackball center L
tools: wireframe all w, wireframe none W, legends on/off l, lighting on/off m
analysis: run/stop RETURN, step SPACE, seek to UP, forward RIGHT, backward LEFT, skip DOWN
"""


@pytest.fixture(scope="module")
def screen(context, scene):
    """A window without a display."""
    from solfec.viewer.screen import Screen
    from solfec.viewer.sources import Stored

    opened = Screen([Stored(scene), Stored(scene)], 640, 480, shown=False)
    yield opened
    opened.close()


@pytest.fixture
def app(screen, tmp_path, monkeypatch):
    """The window's application in its initial state."""
    from solfec.viewer.application import Application

    monkeypatch.chdir(tmp_path)
    screen.window.glfw.make_context_current(screen.window.handle)
    sources = [view.source for view in screen.app.views]
    for source in sources:
        source.seek(0)
    screen.app = screen.interface.app = Application(sources, screen.window.size)
    screen.interface.question = None
    for _ in range(3):
        screen.frame()
    return screen.app


def names():
    from solfec.viewer.commands import COMMANDS

    return COMMANDS


def test_menus_and_keys_are_those_of_the_manual():
    commands = names()
    for line in OLD_MENU.strip().splitlines():
        menu, _, entries = line.partition(": ")
        for item in entries.split(", "):
            name, _, key = item.rpartition(" ")
            assert commands[name].menu == menu and commands[name].key == key, name
    assert commands["previous domain"].key == "<" and commands["next domain"].key == ">" and commands["leave tool"].key == "ESC"
    keys = [command.key for command in commands.values() if command.key]
    assert len(keys) == len(set(keys))


def test_every_command_is_done(screen, app):
    """In an order in which each finds what it needs; the results hold no point forces, and no run goes on."""
    Path("script.py").write_text("import sys\nRENDER(solfec)\nVIEW('fit')\nprint(sys.argv)\n")
    app.do("select by label fem")
    app.do("modal analysis 7")
    late = ["animate eigenshape", "no eigenshape", "camera path on/off", "clear camera keys", "clear plots", "redo", "quit"]
    early = ["inspect", "Euler cut", "Lagrange cut", "move cut", "remove cut", "save state", "save camera", "modal analysis", "modal shape"]
    first = [name for name in early if name in names()] + [name for name in names() if name not in (*early, *late)]
    for name in [*first, *late]:
        line = f"{name} {WORDS[name]}".strip() if name in WORDS else name
        if name == "camera path on/off":
            app.do("add camera key")
        elif name == "HTML":
            app.do("clear cuts")
        elif name == "plot":
            app.do("inspect 2")
        elif name == "redo":
            app.do("undo")
        elif name == "animate eigenshape":
            app.do("show all")
            app.do("inspect 4")
            app.do("modal shape 7")
        if name in REFUSED and name != "camera path on/off":
            with pytest.raises(SolfecError, match=REFUSED[name]):
                app.do(line)
        else:
            app.do(line)
            assert not app.error, (name, app.error)
        app.closing = False
        screen.frame()
    app.do("AVI START/STOP") if app.recorder is not None else None
    assert {os.path.splitext(name)[1] for name in os.listdir()} == {".png", ".bmp", ".pdf", ".eps", ".gif", ".html", ".json", ".py"}


def test_every_command_has_a_help_text():
    assert [name for name, command in names().items() if not command.help.strip().endswith(".")] == []


def test_commands_ask_for_words_and_refuse_others(app):
    from solfec.viewer.application import MissingArgument

    for name, command in names().items():
        if command.question and not command.optional:
            with pytest.raises(MissingArgument):
                app.do(name)
        elif not command.question:
            with pytest.raises(SolfecError):
                app.do(f"{name} nonsense")
    for line in ("nonsense", "frame x", "frame 999", "seek to x", "seek to nan", "skip 0", "speed -1", "result nothing", "legend extents 1", "legend extents 2 1",
                 "select by label nobody", "Euler cut 0,0,0", "colours jet", "look up", "PNG /no/such/directory/p"):  # fmt: skip
        with pytest.raises(SolfecError):
            app.do(line)


def test_selections_are_a_stack(app):
    assert app.visible().tolist() == [1, 2, 3, 4, 5, 6]
    app.do("select by label ^b")
    assert app.visible().tolist() == [2, 5]
    app.do("select by label block")
    assert app.visible().tolist() == [2]
    app.do("previous selection")
    assert app.visible().tolist() == [2, 5]
    app.do("previous selection")
    assert app.visible().tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("tool, hidden", [("2D selection", False), ("3D selection", True)])
def test_rectangles_select_what_is_seen_or_what_is_behind(app, tool, hidden):
    """From above a block stands under a smaller one: seen is a rim of it, and nothing of it right in the middle."""
    app.do("top")
    app.do("perspective/ortho")
    app.do("fit")
    middle, corner = app.view.camera.project(np.array([(0, 0, 1.6), (0.3, 0.3, 1.6)]), *app.size)[:, :2].astype(int)
    app.do(tool)
    reach = abs(corner - middle).max()
    app.rectangle(*(middle - reach), *(middle + reach))
    if not hidden:
        assert app.visible().tolist() == [3]
    app.do("show all")
    edge = app.view.camera.project(np.array([(0.7, 0.7, 1.0)]), *app.size)[0, :2].astype(int)
    app.do(tool)
    app.rectangle(*edge, *(2 * middle - edge))
    assert app.visible().tolist() == ([2, 3] if hidden else [1, 2, 3])


def test_wireframe_rectangles_take_the_faces_away(app):
    app.do("3D wireframe")
    app.rectangle(0, 0, *app.size)
    assert (app.view.looks[:, 3] == -1).all()
    assert not app.draw().ids()[..., 0].astype(bool)[..., None].repeat(2, 2)[np.isin(app.draw().ids()[..., 0], [1, 2, 3, 4])].any()
    app.do("wireframe none")
    assert (app.view.looks[:, 3] == 1).all()


def point_at(screen, x, y):
    """Put the pointer to a place; ImGui asks the window for it in every frame, as no pointer enters one that is not shown."""
    screen.window.glfw.set_cursor_pos(screen.window.handle, x, y)


def pixel_of(app, point):
    return tuple(app.view.camera.project(np.array([point]), *app.size)[0, :2].astype(int))


def test_tools_measure(app, capsys):
    app.do("look -60,35")
    a, b, c = ((-4, -4, 0), (4, -4, 0), (0.5, -0.5, 1))
    app.do("points distance")
    for point, way in ((a, (0.05, 0.05, 0)), (b, (-0.05, 0.05, 0))):
        app.click(*pixel_of(app, np.add(point, way)))
    assert app.message == "distance 8" and "distance 8" in capsys.readouterr().out
    app.do("points angle")
    for point, way in ((a, (0.05, 0.05, 0)), (b, (-0.05, 0.05, 0)), (c, (-0.03, 0.03, 0))):
        app.click(*pixel_of(app, np.add(point, way)))
    u, v = np.subtract(a, b), np.subtract(c, b)
    assert float(app.message.split()[1]) == pytest.approx(np.degrees(np.arccos(u @ v / np.linalg.norm(u) / np.linalg.norm(v))), rel=1e-5)
    app.do("point coordinates")
    app.click(*pixel_of(app, np.add(c, (-0.03, 0.03, 0))))
    assert "(0.5, -0.5, 1)" in app.message
    app.do("trackball center")
    app.click(*pixel_of(app, np.add(c, (-0.03, 0.03, 0))))
    assert app.view.camera.target == pytest.approx(c) and app.tool == ""


def test_clicks_inspect_hide_and_fade(app):
    app.do("look -60,35")
    app.click(*pixel_of(app, (0.45, -0.45, 1)))
    assert app.view.renderer.chosen == 2 and app.message.startswith("body 2 (block), RIG, mass 1000,")
    app.do("toggle transparent")
    app.click(*pixel_of(app, (3, -3, 0)))
    assert app.view.looks[0, 3] == pytest.approx(0.35)
    app.do("hide")
    app.click(*pixel_of(app, (0.45, -0.45, 1)))
    assert 2 not in app.visible()
    app.click(-5, 10)  # beside the window: nothing


def frames_played(app, now, seconds, count):
    """Frames shown in so many ticks of an application, between which the clock `now` advances."""
    seen = []
    for _ in range(count):
        now[0] += seconds
        app.tick()
        seen.append(app.source.frame)
    return seen


def test_playing_goes_at_the_pace_of_the_stored_times(app, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("solfec.viewer.application.time.monotonic", lambda: now[0])
    app.do("speed 0.01")
    app.do("run/stop")
    seen = frames_played(app, now, 0.25, 12)
    assert seen == [0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4] and not app.playing


def test_entries_are_clicked_and_keys_are_pressed(screen, app):
    from imgui_bundle import imgui

    io = imgui.get_io()

    def press(place):
        point_at(screen, *place)
        screen.frame()
        for down in (True, False):
            io.add_mouse_button_event(0, down)
            screen.frame()
        screen.frame()

    press(screen.interface.places["menu tools"])
    assert "hide" in screen.interface.places
    press(screen.interface.places["hide"])
    assert app.tool == "hide"
    point_at(screen, 300, 460)
    for key in (imgui.Key.escape, imgui.Key.right_arrow, imgui.Key.right_arrow):
        for down in (True, False):
            io.add_key_event(key, down)
            screen.frame()
    assert app.tool == "" and app.source.frame == 2
    screen.interface.typed("w")
    assert (app.view.looks[:, 3] == -1).all()
    press(screen.interface.places["button run/stop"])
    assert app.log[-1] == "run/stop"
    app.playing = False


def test_dialogs_ask_for_what_is_missing(screen, app):
    from imgui_bundle import imgui

    io = imgui.get_io()
    screen.interface.typed("k")
    for _ in range(3):
        screen.frame()
    for character in "ball":
        io.add_input_character(ord(character))
        screen.frame()
    for down in (True, False):
        io.add_key_event(imgui.Key.enter, down)
        screen.frame()
    screen.frame()
    assert app.visible().tolist() == [5] and app.log[-1] == "select by label ball" and not app.playing


def test_dragging_turns_and_an_error_is_shown(screen, app):
    from imgui_bundle import imgui

    io, before = imgui.get_io(), app.view.camera.rotation.copy()
    point_at(screen, 300, 200)
    screen.frame()
    io.add_mouse_button_event(0, True)
    screen.frame()
    point_at(screen, 360, 220)
    screen.frame()
    io.add_mouse_button_event(0, False)
    screen.frame()
    assert np.abs(app.view.camera.rotation - before).max() > 0.05 and app.message == ""
    assert app.try_to("frame 99") is None and "no frame 99" in app.error
    screen.frame()


def test_random_commands_do_no_harm(screen, app):
    random = np.random.default_rng(7)
    commands = list(names())
    for _ in range(300):
        name = commands[random.integers(len(commands))]
        if name in ("PNG", "BMP", "PDF", "EPS", "HTML", "AVI START/STOP", "quit"):
            continue
        app.try_to(f"{name} {WORDS[name]}" if name in WORDS and random.random() < 0.8 else name)
        if random.random() < 0.3:
            app.click(*random.integers(0, 480, 2).tolist())
        if random.random() < 0.2:
            app.rectangle(*random.integers(-50, 700, 4).tolist())
    screen.frame()
    assert app.view.renderer.draw_calls <= 8


def test_results_that_grow_are_followed(app, monkeypatch):
    now = [time.monotonic() + 10.0]
    monkeypatch.setattr("solfec.viewer.application.time.monotonic", lambda: now[0])
    app.do("follow last frame")
    app.do("frame 1")
    monkeypatch.setattr(type(app.source), "refresh", lambda self: True)
    app.tick()
    assert app.source.frame == len(app.source.times) - 1


def test_windows_need_a_display(window, scene, capsys, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert cli.main(["view", scene]) == 2
    assert "there is no display" in capsys.readouterr().err


def test_commands_come_from_the_command_line(window, scene, tmp_path, capsys):
    path = str(tmp_path / "p.png")
    assert cli.main(["view", scene, "--screenshot", path, "--size", "80x60", "--do", "result mises; hide; frame 1"]) == 0
    assert cli.main(["view", scene, "--screenshot", path, "--do", "frame"]) == 1
    assert "number of the frame" in capsys.readouterr().err
    assert cli.main(["view", scene, "--plain"]) == 2


@pytest.fixture
def display():
    """Environment with a display of Xvfb."""
    for tool in ("Xvfb", "xdotool"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed: no window was opened")
    number = next(n for n in range(90, 130) if not os.path.exists(f"/tmp/.X{n}-lock"))
    server = subprocess.Popen(["Xvfb", f":{number}", "-screen", "0", "800x600x24"], stderr=subprocess.DEVNULL)
    time.sleep(2)
    yield dict(os.environ, DISPLAY=f":{number}")
    server.terminate()
    server.wait(timeout=10)


@pytest.mark.slow
def test_a_window_on_a_display(window, scene, tmp_path, display):
    """Keys, a drag, a menu, the slider and the palette by xdotool; the window's record tells what arrived, and it ends with status 0."""
    command = [sys.executable, "-m", "solfec.cli", "view", scene, "--size", "600x400"]
    viewer = subprocess.Popen(command, env=display, stdout=subprocess.PIPE, text=True, cwd=tmp_path)

    def do(*words) -> str:
        found = subprocess.run(["xdotool", *map(str, words)], env=display, capture_output=True, text=True, timeout=60, check=True).stdout
        time.sleep(0.7)
        return found

    try:
        number = do("search", "--sync", "--name", "solfec").split()[0]
        do("windowfocus", number)
        do("key", "Left", "w")
        do("mousemove", "--window", number, 150, 250, "mousedown", 1)
        do("mousemove", "--window", number, 200, 270)
        do("mouseup", 1)
        do("mousemove", "--window", number, 300, 385, "click", 1)  # the middle of the time line
        do("mousemove", "--window", number, 30, 8, "click", 1)  # the first menu
        do("mousemove", "--window", number, 40, 34, "click", 1)  # its first entry
        do("key", "ctrl+p")
        do("type", "save script")
        do("key", "Return")
        do("type", "record")
        do("key", "Return")
        do("key", "q")
        assert viewer.wait(timeout=30) == 0
        assert "left drag: turn" in viewer.stdout.read()
    finally:
        viewer.kill()
    record = (tmp_path / "record.py").read_text()
    for entry in ("backward", "wireframe all", "camera {", "frame 2", "previous domain"):
        assert f"VIEW('{entry}" in record
