"""Results that another process is writing, seen while they grow."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from solfec import cli, results

FALL = """
import os, time
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
bulk = BULK_MATERIAL(solfec, density=1E3)
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 5), 0.1, 1, 1), bulk)
GRAVITY(solfec, (0, 0, -10))
OUTPUT(solfec, 0.01)
def pause(solfec):
    if solfec.time > 0.2:
        while os.path.exists('waiting') and not os.path.exists('go on'): time.sleep(0.01)
    return 1
CALLBACK(solfec, 0.01, solfec, pause)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-4, 100), 0.4)
"""


def until(condition, seconds: float = 60.0) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "nothing happened"
        time.sleep(0.05)


def test_a_run_of_another_process_is_watched_and_does_not_notice(window, tmp_path, monkeypatch):
    from solfec.viewer.application import Application
    from solfec.viewer.sources import Stored

    monkeypatch.chdir(tmp_path)
    (tmp_path / "fall.py").write_text(FALL)
    (tmp_path / "waiting").touch()
    command = [sys.executable, "-m", "solfec.cli", "--quiet", "fall.py"]
    writer = subprocess.Popen(command, env=dict(os.environ, OMP_NUM_THREADS="1"))
    try:
        until(lambda: writer.poll() is not None or _frames("out/fall") > 3)
        assert writer.poll() is None
        app = Application([Stored("out/fall")], (160, 120))
        app.do("follow last frame")
        until(lambda: app.tick() or app.source.domain.time > 0.15)
        half = app.source.domain.time
        assert writer.poll() is None
        (tmp_path / "go on").touch()
        assert writer.wait(60) == 0
        until(lambda: app.tick() or app.source.domain.time > 0.399)
        assert half < 0.3 and len(app.source.times) == 41
        height = app.source.domain.geometry.vertices.view("current")[2, 0]  # of what is drawn: the ball's centre
        app.close()
    finally:
        writer.kill()
        writer.wait()
    assert height == pytest.approx(5 - 0.5 * 10 * 0.4**2, abs=1e-9)
    watched = _configurations("out/fall")
    (tmp_path / "fall.py").write_text(FALL.replace("out/fall", "out/unwatched"))
    (tmp_path / "waiting").unlink()
    assert cli.main(["--quiet", "fall.py"]) == 0
    assert np.array_equal(watched, _configurations("out/unwatched"))


def _frames(path: str) -> int:
    try:
        with results.open(path) as run:
            return len(run.times)
    except Exception:  # the file is not there yet
        return 0


def _configurations(path: str) -> np.ndarray:
    with results.open(path) as run:
        return np.array([run.frame(k).configurations for k in range(len(run.times))])
