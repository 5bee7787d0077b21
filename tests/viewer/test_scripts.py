"""Viewer scripts: names of the input, Python 2, RENDER and VIEW, the console, the record that is a script, undo, states, paths."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from test_live import INPUT, frames, under_viewer

from solfec import cli
from solfec.errors import SolfecError
from solfec.viewer import live

OLD = """
print 'half', 1/2, len(s.bodies), sys.argv
fresh = 3/2
for body in s.bodies:
    if body.label == 'block': RENDER (s, body)
"""


@pytest.fixture
def app(window, scene, tmp_path, monkeypatch):
    """Results without an input."""
    from solfec.viewer.application import Application
    from solfec.viewer.sources import Stored

    monkeypatch.chdir(tmp_path)
    made = Application([Stored(scene)], (160, 120))
    yield made
    made.close()


def test_scripts_see_results_that_no_input_made(app, capsys):
    Path("s.py").write_text(
        "import sys\nSEEK(solfec, 0.01)\nprint(sys.argv, VIEWER(), len(solfec.bodies))\nRENDER(solfec, BYLABEL(solfec, 'BODY', 'fem'))\nVIEW('result mises')\n"
    )
    before = sys.argv
    app.do("run python script s one 'two three'")
    assert capsys.readouterr().out == "['s.py', 'one', 'two three'] True 6\n" and sys.argv is before
    assert app.visible().tolist() == [4] and app.view.result == "mises" and app.source.time == pytest.approx(0.01)
    app.do("previous selection")
    assert len(app.visible()) == 6
    app.do("python RENDER(solfec, solfec.bodies[:2]); x = 5")
    assert app.visible().tolist() == [5, 6]
    app.do("python RENDER(solfec)")
    assert len(app.visible()) == 6


def test_errors_of_scripts_are_told_with_their_place_and_the_viewer_goes_on(app, capsys):
    Path("bad.py").write_text("a = 1\n\nb = a / 0\n")
    with pytest.raises(SolfecError, match=r"bad.py:3: ZeroDivisionError: division by zero"):
        app.do("run python script bad")
    told = capsys.readouterr().err
    assert 'File "bad.py", line 3' in told and "scripts.py" not in told
    for line, text in (
        ("run python script none", "none.py: the script cannot be read"), ("python RENDER(solfec, [])", "empty list"),
        ("python RENDER(3)", "SOLFEC"), ("python RENDER(solfec, [1])", "BODY object"), ("python VIEW('nonsense')", "no command"),
        ("python VIEW('frame')", "needs words"), ("python 1 +", "SyntaxError"), ("python raise SystemExit(4)", "ended with 4"),
    ):  # fmt: skip
        with pytest.raises(SolfecError, match=text):
            app.do(line)
    app.do("python raise SystemExit")
    app.do("frame 2")


def test_the_console_prints_values_and_keeps_names(app, capsys):
    app.do("python y = 6 * 7")
    app.do("python y")
    app.do("python _ + 1")
    assert capsys.readouterr().out == "42\n43\n"
    assert app.console.splitlines()[-4:] == [">>> y", "42", ">>> _ + 1", "43"]


def test_scripts_run_in_the_names_of_the_input_and_in_python_2(window, tmp_path, monkeypatch, capsys):
    """A script of Python 2 under an input of Python 2 in which the model runs: names it binds stay, looks change no bits."""
    from solfec.viewer.application import Application

    told = []

    def look(now, size, wire):
        app = Application(live.sources(now), (80, 60))
        app.do("step")
        app.do("run python script old one")
        app.do("python print fresh, 7/2")
        told.append((app.visible().tolist(), now.namespace["fresh"], app.console))
        while not app.source.finished:
            app.do("step")
        app.close()

    (tmp_path / "old.py").write_text(OLD)
    text = INPUT.replace("open('seen'", "import sys\nprint 'input'\nopen('seen'")
    assert under_viewer(tmp_path, monkeypatch, look, text) == 0
    assert told[0][:2] == ([2], 1)
    assert "half 0 4 ['old.py', 'one']" in told[0][2] and told[0][2].endswith("1 3\n")
    monkeypatch.chdir(tmp_path)
    batch = tmp_path / "batch"
    batch.mkdir()
    monkeypatch.chdir(batch)
    (batch / "input.py").write_text(text)
    assert cli.main(["--quiet", "input.py"]) == 0
    one, other = frames(batch), frames(tmp_path)
    assert one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_frames_that_scripts_load_are_shown(window, tmp_path, monkeypatch):
    """An input in READ mode: the viewer shows its own domain."""
    from solfec.viewer.application import Application

    times = []

    def look(now, size, wire):
        app = Application(live.sources(now), (80, 60))
        app.do("python SEEK(s, 0.01)")
        times.append(app.source.time)
        app.do("frame 0")
        app.do("python print(s.time)")
        times.append(float(app.console.split()[-1]))
        app.do("python FORWARD(s, 2)")
        times.append((app.source.frame, app.view.source.time))
        app.close()

    (tmp_path / "input.py").write_text(INPUT)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["--quiet", "input.py"]) == 0
    assert under_viewer(tmp_path, monkeypatch, look) == 0
    assert times[0] == pytest.approx(0.01) and times[1] == 0.0 and times[2][0] == 2


def test_scripts_hide_the_bodies_of_the_frame_they_seek(window, tmp_path, monkeypatch):
    """Some of which the frame before lacks: they were shown, or others hidden."""
    from solfec.viewer.application import Application
    from solfec.viewer.sources import Stored

    monkeypatch.chdir(tmp_path)
    Path("gone.py").write_text(
        "s = SOLFEC('DYNAMIC', 0.01, 'out/gone')\ns.verbose = 'OFF'\nm = BULK_MATERIAL(s)\n"
        "balls = [BODY(s, 'RIGID', SPHERE((3 * k, 0, 0), 1, 1, 1), m, label='b%d' % k) for k in range(4)]\n"
        "def call():\n    if s.time > 0.03 and s.nbod == 4: DELETE(s, balls[0])\nCALLBACK(s, 0.01, (), call)\nRUN(s, PENALTY_SOLVER(), 0.06)\n"
    )
    assert cli.main(["gone.py"]) == 0
    Path("s.py").write_text("SEEK(solfec, 0.01)\nRENDER(solfec, BYLABEL(solfec, 'BODY', 'b3'))\n")
    Path("t.py").write_text("SEEK(solfec, 0.06)\nVIEW('show all')\nSEEK(solfec, 0.01)\nVIEW('hide 1')\n")
    app = Application([Stored("out/gone")], (160, 120))
    app.do("frame -1")
    app.do("run python script s")
    assert app.visible().tolist() == [4]
    app.do("run python script t")
    assert sorted(app.visible().tolist()) == [2, 3, 4]
    app.close()


def test_bodies_stay_hidden_while_frames_lack_them(window, tmp_path, monkeypatch):
    """Films ignored --hide for bodies that are born during the run, since their first frame lacks them; selections mixed up bodies."""
    from solfec.viewer.application import Application
    from solfec.viewer.sources import Stored

    monkeypatch.chdir(tmp_path)
    Path("born.py").write_text(
        "s = SOLFEC('DYNAMIC', 0.01, 'out/born')\ns.verbose = 'OFF'\nm = BULK_MATERIAL(s)\n"
        "balls = [BODY(s, 'RIGID', SPHERE((3 * k, 0, 0), 1, 1, 1), m, label='b%d' % k) for k in range(3)]\ncount = []\n"
        "def call():\n    count.append(1)\n    if len(count) == 3: BODY(s, 'RIGID', SPHERE((9, 0, 0), 1, 1, 1), m, label='late')\n"
        "    if len(count) == 4: DELETE(s, balls[0])\nCALLBACK(s, 0.01, (), call)\nRUN(s, PENALTY_SOLVER(), 0.06)\n"
    )
    assert cli.main(["born.py"]) == 0
    app = Application([Stored("out/born")], (160, 120))
    app.do("frame -1")
    app.do("hide late")
    for frame in (0, -1):
        app.do(f"frame {frame}")
    assert sorted(app.visible().tolist()) == [2, 3]
    app.do("save state look")
    app.do("python RENDER(solfec, BYLABEL(solfec, 'BODY', 'late'))")
    app.do("frame 0")
    app.do("previous selection")
    assert sorted(app.visible().tolist()) == [1, 2, 3]
    app.do("frame -1")
    assert sorted(app.visible().tolist()) == [2, 3]
    app.do("show all")
    app.do("frame 0")
    app.do("load state look")
    assert app.source.frame > 0 and sorted(app.visible().tolist()) == [2, 3]
    app.close()
    assert cli.main(["view", "out/born", "--html", "page.html", "--hide", "late"]) == 0
    labels = re.search(r'"labels": (\[.*?\])', Path("page.html").read_text())[1]  # also of bodies that are gone at the end
    assert sorted(json.loads(labels)) == ["body 1 (b0)", "body 2 (b1)", "body 3 (b2)"]


def state_of(app):
    from solfec.viewer.states import capture

    return capture(app)


def test_the_record_is_a_script_that_shows_the_same(app, window, scene):
    from solfec.viewer.application import Application
    from solfec.viewer.sources import Stored

    for line in (
        "result mises", "Euler cut x:0.5", "move cut 1 0.25", "move cut 1 0.5", "Lagrange cut -y:0", "hide ball", "frame 1", "frame 3",
        "look 20,30", "toggle transparent block", "click 0.5 0.5", "2D selection", "rectangle 0.1 0.1 0.9 0.9", "legend extents 0 2E4",
        "frames of bodies", "undo", "follow body 4", "bigger arrows", "colours cividis",
    ):  # fmt: skip
        app.do(line)
    app.view.camera.turn(0.3, 0.1)
    app.note_camera()
    app.do("save script record")
    assert app.log.count("frame 1") == 0 and app.log.count("move cut 1 0.25") == 0  # of many moves the last one
    other = Application([Stored(scene)], (160, 120))
    other.do("run python script record")
    assert state_of(other) == state_of(app)
    other.close()


def test_undo_and_redo_go_through_states(app):
    first = state_of(app)
    app.do("result dx")
    second = state_of(app)
    app.do("hide ball")
    app.do("undo")
    assert state_of(app) == second
    app.do("undo")
    assert state_of(app) == first
    with pytest.raises(SolfecError, match="nothing to undo"):
        app.do("undo")
    app.do("redo")
    assert state_of(app) == second
    app.do("top")
    with pytest.raises(SolfecError, match="nothing to do again"):
        app.do("redo")


def test_states_and_camera_paths_in_files(app):
    app.do("result vz")
    app.do("hide egg")
    before = state_of(app)
    app.do("save state s.json")
    app.do("show all")
    app.do("frame 4")
    app.do("load state s.json")
    assert state_of(app) == before
    app.do("front")
    app.do("add camera key")
    front = app.view.camera.rotation.copy()
    app.do("frame 4")
    app.do("top")
    app.do("add camera key")
    app.do("save camera path.json")
    app.do("clear camera keys")
    app.do("load camera path.json")
    app.do("frame 0")
    assert app.view.camera.rotation == pytest.approx(front, abs=1e-12)
    app.do("frame 2")
    middle = app.view.camera.rotation
    assert middle[2] == pytest.approx([0, -np.sqrt(0.5), np.sqrt(0.5)]) and middle @ middle.T == pytest.approx(np.eye(3))
    for name, text in (("a.json", "{}"), ("b.json", "no"), ("c.json", '{"keys": []}')):
        Path(name).write_text(text)
        for word in ("load state", "load camera"):
            with pytest.raises(SolfecError, match=name):
                app.do(f"{word} {name}")
    for word in ("save state", "save camera", "save script"):
        with pytest.raises(SolfecError, match="cannot be written"):
            app.do(f"{word} none/x")


def test_scripts_and_cameras_on_the_command_line(window, scene, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("s.py").write_text("import sys\nprint(sys.argv[1])\nVIEW('save camera c.json')\n")
    assert cli.main(["view", scene, "--screenshot", "p.png", "--size", "80x60", "--script", "s.py word"]) == 0
    assert capsys.readouterr().out == "word\np.png\n"
    assert cli.main(["view", scene, "--screenshot", "p.png", "--size", "80x60", "--camera", "c.json"]) == 0
    assert cli.main(["view", scene, "--screenshot", "p.png", "--size", "80x60", "--camera", "none.json"]) == 1
    assert "none.json: cannot be read" in capsys.readouterr().err
