"""Models that run under the viewer: the same frames as a batch run, whatever is looked at."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from viewer_inputs import FLOOR

from solfec import cli
from solfec.errors import SolfecError
from solfec.time_step import CLOCKS
from solfec.viewer import live, sources

INPUTS = Path(__file__).parent.parent.parent / "inp"
HYBRID = INPUTS / "hybrid"
INPUT = f"""
s = SOLFEC('DYNAMIC', 1E-3, 'out/run')
{FLOOR}
BODY(s, 'RIGID', box((-.5, -.5, .01), (.5, .5, 1), 2, 2), b, label='block')
BODY(s, 'FINITE_ELEMENT', HEX([1, -1, .001, 2, -1, .001, 2, 1, .001, 1, 1, .001, 1, -1, 1, 2, -1, 1, 2, 1, 1, 1, 1, 1], 2, 2, 2, 4, [4] * 6), b)
BODY(s, 'RIGID', SPHERE((-2, 0, .52), .5, 5, 5), b, label='ball')
OUTPUT(s, 2E-3)
calls = []
CALLBACK(s, 5E-3, s, lambda model: calls.append(model.time) or 1)
RUN(s, GAUSS_SEIDEL_SOLVER(1E-4, 100), 0.01)
RUN(s, GAUSS_SEIDEL_SOLVER(1E-5, 100), 0.0105)
open('seen', 'w').write(repr((VIEWER(), calls)))
"""


@pytest.fixture
def batch(tmp_path, monkeypatch):
    """Directory of the same input, run as a batch."""
    directory = tmp_path / "batch"
    directory.mkdir()
    monkeypatch.chdir(directory)
    (directory / "input.py").write_text(INPUT)
    assert cli.main(["--quiet", "input.py"]) == 0
    return directory


def under_viewer(directory, monkeypatch, look, text=INPUT):
    """Run an input under the viewer, whose window is replaced by a function; return the status."""
    directory.mkdir(exist_ok=True)
    monkeypatch.chdir(directory)
    monkeypatch.setattr("solfec.viewer.require_display", lambda: None)
    monkeypatch.setattr(live, "look", look)
    (directory / "input.py").write_text(text)
    return cli.main(["--quiet", "-v", "input.py"])


def frames(directory, name="run"):
    """All that the frames of results hold, but the wall time of phases."""
    found = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset) and name.startswith("frames"):
            found[name] = item[...]

    with h5py.File(directory / "out" / name / f"{name}.h5") as file:
        file.visititems(take)
    steps = found.pop("frames/steps")
    return found | {name: steps[name].copy() for name in steps.dtype.names if name not in CLOCKS}


def same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].shape == other[name].shape, name
        assert one[name].tobytes() == other[name].tobytes(), name


def test_a_run_that_is_looked_at_has_the_bits_of_a_batch_run(window, batch, tmp_path, monkeypatch):
    """Every entry of the menus is used while it runs."""
    from solfec.viewer.application import Application
    from solfec.viewer.commands import COMMANDS

    def look(now, size, wire):
        app = Application(live.sources(now), (160, 120))
        words = {"Euler cut": "x", "result": "sx", "look": "1,2", "select by label": "b", "highlight by label": "b", "legend extents": "0 1"}
        names = [name for name in COMMANDS if name not in ("run/stop", "step", "quit")]
        while not app.source.finished:
            name = names.pop(0) if names else "next result"
            app.try_to(f"{name} {words[name]}" if name in words else name)
            app.click(80, 60)
            app.do("step")
            app.draw()
        assert not names or app.source.domain.step_number == 21
        for view in app.views:
            view.source.close()

    assert under_viewer(tmp_path / "live", monkeypatch, look) == 0
    assert (tmp_path / "live" / "seen").read_text() == "(True, [])"  # the input is over before the first step
    assert (batch / "seen").read_text().startswith("(False, [0.0")
    same(frames(batch), frames(tmp_path / "live"))


def test_a_hybrid_run_that_is_looked_at_has_the_bits_of_a_batch_run(window, tmp_path, monkeypatch):
    """Both engines go step by step, and the last state is written when the window closes."""
    from solfec.viewer.application import Application

    for name in ("batch", "live"):
        (tmp_path / name).mkdir()
        shutil.copy(HYBRID / "two-cubes-spring.py", tmp_path / name)
    text = (HYBRID / "two-cubes.py").read_text().replace("os.path.dirname (os.path.abspath (__file__))", "os.getcwd ()").replace("0.5, 0.1, 100.0", "0.3, 0.1, 100.0")
    monkeypatch.chdir(tmp_path / "batch")
    (tmp_path / "batch" / "input.py").write_text(text)
    assert cli.main(["--quiet", "input.py"]) == 0

    def look(now, size, wire):
        app = Application(live.sources(now), (64, 48))
        steps = 0
        while not app.source.finished:
            app.do("step")
            app.do("next result")
            app.draw()
            steps += 1
        assert steps >= 300
        app.close()

    assert under_viewer(tmp_path / "live", monkeypatch, look, text) == 0
    same(frames(tmp_path / "batch", "two-cubes"), frames(tmp_path / "live", "two-cubes"))


@pytest.mark.parametrize("name", sorted(path.name for path in INPUTS.glob("*.py")))
def test_examples_open_under_the_viewer(window, tmp_path, monkeypatch, capsys, name):
    """They print nothing before they have run, and are drawn before and after a step."""
    from solfec.viewer.application import Application

    opened = []

    def look(now, size, wire):
        app = Application(live.sources(now), (64, 48))
        for line in ("result bodies", "step"):
            app.do(line)
            assert len(np.unique(app.draw().ids()[..., 0])) > 1
        opened.append(app.source.time)
        app.close()

    assert under_viewer(tmp_path, monkeypatch, look, (INPUTS / name).read_text()) == 0
    assert opened[0] > 0 and capsys.readouterr().out == ""


def test_leaving_in_the_midst_writes_the_last_state(tmp_path, monkeypatch):
    def look(now, size, wire):
        (source,) = live.sources(now)
        for _ in range(3):
            source.step()
        assert source.time == pytest.approx(0.003) and len(source.energies()["time"]) == 3
        source.close()
        source.close()

    assert under_viewer(tmp_path, monkeypatch, look) == 0
    with h5py.File(tmp_path / "out" / "run" / "run.h5") as file:
        assert file["frames/steps"]["time"] == pytest.approx([0.0, 0.002, 0.003])


def test_budgets_make_one_step_at_least_and_the_end_is_told(tmp_path, monkeypatch):
    def look(now, size, wire):
        (source,) = live.sources(now)
        source.go_on(0.0)
        assert source.domain.step_number == 1
        source.go_on(60.0)
        assert source.finished and source.time == pytest.approx(0.021)
        with pytest.raises(SolfecError, match="solfec view out/run"):
            source.seek(0)

    assert under_viewer(tmp_path, monkeypatch, look) == 0


def test_inputs_without_run_have_the_penalty_solver(tmp_path, monkeypatch):
    def look(now, size, wire):
        (source,) = live.sources(now)
        for _ in range(30):
            source.step()
        source.close()

    assert under_viewer(tmp_path, monkeypatch, look, INPUT.split("RUN(")[0]) == 0
    with h5py.File(tmp_path / "out" / "run" / "run.h5") as file:
        assert file["frames/steps"]["step_number"][-1] == 30 and set(file["frames/steps"]["solver"][1:]) == {b"PENALTY"}


def test_results_that_exist_are_shown_as_they_are(batch, monkeypatch):
    def look(now, size, wire):
        (source,) = live.sources(now)
        assert isinstance(source, sources.Stored) and len(source.times) > 5

    assert under_viewer(batch, monkeypatch, look) == 0


def test_errors_of_a_run_reach_the_command_line(tmp_path, monkeypatch, capsys):
    def look(now, size, wire):
        live.sources(now)[0].go_on(60.0)

    text = INPUT.replace("calls.append(model.time) or 1", "1 / 0")
    assert under_viewer(tmp_path, monkeypatch, look, text) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_inputs_without_a_model_have_nothing_to_show(tmp_path, monkeypatch, capsys):
    original = live.look
    assert under_viewer(tmp_path, monkeypatch, original, "x = 1") == 1
    assert "makes no SOLFEC object" in capsys.readouterr().err


def test_failing_inputs_open_no_window(tmp_path, monkeypatch, capsys):
    def look(now, size, wire):
        raise AssertionError("a window")

    assert under_viewer(tmp_path, monkeypatch, look, "1 / 0") == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_viewing_needs_a_display_before_the_input_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    (tmp_path / "input.py").write_text("open('ran', 'w')")
    assert cli.main(["-v", "input.py"]) == 2
    assert "-v: " in capsys.readouterr().err and not (tmp_path / "ran").exists()


def test_switches_of_the_window(tmp_path):
    (tmp_path / "input.py").write_text("")
    found = cli.parse(["-v", "-f", "-g", "640X480", str(tmp_path / "input.py")])
    assert found.view and found.wire and found.size == (640, 480)
