"""Errors of the viewer are one sentence each: files that cannot be written, results without shapes, a lost graphics card."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import h5py
import pytest

import solfec
from solfec import cli
from solfec.errors import SolfecError


def told(capsys) -> str:
    """Return the single line of an error."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize("switch, name", [("--screenshot", "p.png"), ("--screenshot", "p.pdf"), ("--html", "p.html"), ("--movie", "p.gif"), ("--movie", "p.mp4"), ("--movie", "p.avi")])
def test_a_full_disk_is_told(window, scene, tmp_path, capsys, switch, name):
    if not os.path.exists("/dev/full"):
        pytest.skip("this machine has no /dev/full")
    if name.endswith(("mp4", "avi")) and not shutil.which("ffmpeg"):
        pytest.skip("ffmpeg is not installed")
    path = tmp_path / name
    path.symlink_to("/dev/full")
    assert cli.main(["view", scene, switch, str(path), "--size", "64x48"]) == 1
    assert "No space left" in (text := told(capsys)) and name in text


def test_results_without_bodies_are_an_empty_picture(window, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = solfec.SOLFEC("DYNAMIC", 1e-3, "out/empty")
    model.verbose = "OFF"
    solfec.RUN(model, solfec.PENALTY_SOLVER(), 2e-3)
    model._simulation.close()
    for words in (["--screenshot", "p.png"], ["--screenshot", "p.png", "--result", "mises", "--cut", "x"], ["--html", "p.html"], ["--movie", "p.gif"]):
        assert cli.main(["view", "out/empty", *words]) == 0


def test_files_that_hold_no_results_are_refused(window, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with h5py.File("other.h5", "w") as file:
        file["numbers"] = [1.0, 2.0]
    (tmp_path / "text.h5").write_text("no results")
    for name in ("other.h5", "text.h5", "none", "."):
        assert cli.main(["view", name, "--screenshot", "p.png"]) == 1
        assert name.strip(".") in told(capsys)


def test_a_lost_graphics_card_is_told(window, scene, monkeypatch):
    from solfec.viewer import screen
    from solfec.viewer.sources import Stored

    opened = screen.Screen([Stored(scene)], 64, 48, shown=False)
    try:
        opened.frame()
        monkeypatch.setattr(screen.GL, "glGetError", lambda: 0x507)
        with pytest.raises(SolfecError, match="has lost the window's context: open the window again"):
            opened.frame()
    finally:
        monkeypatch.undo()
        opened.close()


def test_windows_of_odd_sizes_draw(window, scene):
    from solfec.viewer.application import Application
    from solfec.viewer.sources import Stored

    app = Application([Stored(scene)], (1, 1))
    for size in ((1, 1), (3, 200), (201, 7), (0, 0), (64, -3), (64, 48)):
        app.resize(*size)
        assert app.draw().pixels().shape[:2] == app.size[::-1]
    assert app.size == (64, 48)
    app.close()


def test_machines_without_egl_are_told(window, scene, tmp_path):
    """In a process of its own, to which no driver of EGL is shown."""
    hidden = dict(os.environ, __EGL_VENDOR_LIBRARY_DIRS=str(tmp_path), __EGL_VENDOR_LIBRARY_FILENAMES=str(tmp_path / "none"))
    command = [sys.executable, "-m", "solfec.cli", "view", scene, "--screenshot", str(tmp_path / "p.png")]
    outcome = subprocess.run(command, env=hidden, capture_output=True, text=True)
    assert outcome.returncode == 2 and outcome.stderr.count("\n") == 1
    assert "OpenGL 3.3 through EGL is not to be had here" in outcome.stderr and "b'" not in outcome.stderr
