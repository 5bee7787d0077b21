"""Bodies that the mouse pulls, and planes of cuts that it moves."""

from __future__ import annotations

import numpy as np
import pytest

import solfec
from solfec import cli
from solfec.viewer import drag
from solfec.viewer.sources import Live, Stored

INPUT = """
s = SOLFEC('DYNAMIC', 1E-3, 'out/run')
BODY(s, 'RIGID', SPHERE((0, 0, 0), 0.5, 1, 1), BULK_MATERIAL(s, density=1000), label='ball')
OUTPUT(s, 1E-2)
RUN(s, PENALTY_SOLVER(), %g)
"""


class Io:
    """Stand-in for ImGui's state of the mouse."""

    def __init__(self, ctrl=True, clicked=False, down=True):
        self.key_ctrl, self.mouse_clicked, self.mouse_down = ctrl, [False, clicked], [False, down]


@pytest.fixture
def app(window):
    """A ball and a box that run in memory."""
    from solfec.viewer.application import Application

    model = solfec.SOLFEC("DYNAMIC", 1e-3)
    model.verbose = "OFF"
    bulk = solfec.BULK_MATERIAL(model, density=1000)
    solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, 0), 0.5, 1, 1), bulk, label="ball")
    solfec.BODY(model, "OBSTACLE", solfec.SPHERE((3, 0, 0), 0.5, 1, 1), bulk)
    mesh = solfec.HEX([4, 0, 0, 5, 0, 0, 5, 1, 0, 4, 1, 0, 4, 0, 1, 5, 0, 1, 5, 1, 1, 4, 1, 1], 2, 2, 2, 1, [1] * 6)
    solfec.BODY(model, "FINITE_ELEMENT", mesh, bulk)
    made = Application([Live(model._simulation, [])], (200, 150))
    made.do("front")
    yield made
    made.close()


def test_a_pulled_ball_comes_to_the_pointer_and_stays(app):
    """Critical damping: after ten times its period of 10 steps it rests at the pointer; its work is external energy."""
    domain = app.view.domain
    at = app.view.camera.project(np.zeros((1, 3)), *app.size)[0, :2].astype(int)
    mouse = drag.Drag()
    assert mouse.mouse(app, Io(clicked=True), *at) and mouse.spring.body == 1 and domain.touched
    mouse.mouse(app, Io(), at[0] + 30, at[1])
    goal = mouse.spring.place.copy()
    pull = mouse.spring.act
    assert pull in domain.loads.sources
    assert goal[0] > 0.3
    for _ in range(30):
        app.do("step")
    assert domain.bodies.energy[2, 0] > 0 and domain.bodies.energy[0, 0] > 0
    for _ in range(500):
        app.do("step")
    assert mouse.spring.point() == pytest.approx(goal, abs=0.03 * goal[0])
    mouse.mouse(app, Io(), at[0] + 30, at[1])
    assert app.view.overlay.ends  # a line to the pointer
    mouse.mouse(app, Io(down=False), *at)
    assert mouse.spring is None and pull not in domain.loads.sources and not app.view.overlay.ends


def test_elements_are_pulled_too(app):
    domain = app.view.domain
    spring = drag.Spring(domain, 3, np.array([4.0, 0.0, 0.0]))
    spring.place = np.array([4.0, -0.2, 0.0])
    for _ in range(100):
        app.do("step")
    assert spring.point()[1] < -1e-3
    spring.release()


def test_obstacles_and_stored_results_are_not_pulled(app, window, scene):
    at = app.view.camera.project(np.array([[3.0, 0, 0]]), *app.size)[0, :2].astype(int)
    mouse = drag.Drag()
    assert not mouse.mouse(app, Io(clicked=True), *at)
    assert "is an obstacle" in app.error and not app.view.domain.touched
    from solfec.viewer.application import Application

    other = Application([Stored(scene)], (80, 60))
    assert not mouse.mouse(other, Io(clicked=True), 40, 30) and "stored results cannot be pulled" in other.error
    other.close()


def test_runs_that_continue_touched_results_warn(window, tmp_path, monkeypatch, capsys):
    from solfec.viewer import live

    def look(now, size, wire):
        (source,) = live.sources(now)
        spring = drag.Spring(source.domain, 1, np.zeros(3))
        source.touched()
        spring.place = np.array([0.1, 0.0, 0.0])
        while not source.finished:
            source.step()
        source.close()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("solfec.viewer.require_display", lambda: None)
    monkeypatch.setattr(live, "look", look)
    (tmp_path / "input.py").write_text(INPUT % 0.05)
    assert cli.main(["--quiet", "-v", "input.py"]) == 0
    (tmp_path / "input.py").write_text(INPUT % 0.1)
    capsys.readouterr()
    assert cli.main(["--quiet", "-c", "input.py"]) == 0
    assert "touched by hand in the viewer" in capsys.readouterr().err


def test_the_mouse_takes_handles_of_cuts(window, scene):
    from solfec.viewer.application import Application

    app = Application([Stored(scene)], (400, 300))
    app.view.shown_in_space.add("planes")
    app.do("front")
    app.do("Euler cut x:0.5")
    from solfec.viewer.overlays import handle

    x, y = app.view.camera.project(handle(app.view, app.view.planes[0])[0][None], *app.size)[0, :2].astype(int)
    number, start, along, offset = drag.cut_handle_at(app, x + 2, y)
    assert number == 1 and offset == 0.5 and along[0] > 0 and abs(along[1]) < 1e-6 * along[0]
    assert drag.cut_handle_at(app, x + 60, y) is None
    moved = app.view.camera.project((handle(app.view, app.view.planes[0])[0] + (1, 0, 0))[None], *app.size)[0, 0] - x
    assert along[0] == pytest.approx(moved, rel=0.05)
    app.close()
