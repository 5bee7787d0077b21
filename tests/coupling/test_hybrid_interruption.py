"""Runs with HYBRID_SOLVER that are stopped, interrupted or killed go on with the bits of one run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from test_hybrid_restart import MODEL, explicit_frames

STEPS = "40"


def solfec(folder, *words, text=None, wait=True):
    """Runs the model, or a changed text of it, in a process of its own."""
    (folder / "in.py").write_text(MODEL.read_text() if text is None else text)
    run = subprocess.Popen([sys.executable, "-m", "solfec.cli", *words, "in.py", STEPS], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return (run.communicate(timeout=240)[0], run.returncode) if wait else run


@pytest.mark.parametrize("how", [pytest.param("STOP", marks=pytest.mark.slow), pytest.param("SIGINT", marks=pytest.mark.slow), "SIGKILL"])
def test_runs_that_end_early_go_on_with_the_bits_of_one_run(how, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    said, status = solfec(whole)
    assert status == 0, said
    if how == "SIGKILL":
        # frames appear while the run is slowed down; it is killed at some moment behind the third one
        slow = MODEL.read_text().replace("RUN(solfec", "import time\nCALLBACK(solfec, 0.01, (), lambda: time.sleep(0.05) or 1)\nRUN(solfec")
        run = solfec(parts, text=slow, wait=False)
        file, end = parts / "out/model/model.h5", time.monotonic() + 120
        while time.monotonic() < end and run.poll() is None and not (file.exists() and frames_of(file) > 3):
            time.sleep(0.05)
        assert run.poll() is None
        run.kill()
        run.communicate()
    else:
        act = "open('out/model/STOP', 'w')" if how == "STOP" else "os.kill(os.getpid(), signal.SIGINT)"
        early = MODEL.read_text().replace("RUN(solfec", f"import os, signal\nCALLBACK(solfec, 0.01, (), lambda: (solfec.time > 0.105 and {act}, 1)[1])\nRUN(solfec")
        said, status = solfec(parts, text=early)
        assert status == (0 if how == "STOP" else 128 + signal.SIGINT), said
    assert 1 < frames_of(parts / "out/model/model.h5") < frames_of(whole / "out/model/model.h5")
    said, status = solfec(parts, "-c")
    assert status == 0, said
    (steps, columns, samples), (other_steps, other_columns, other_samples) = (explicit_frames(folder / "out/model/model.h5") for folder in (whole, parts))
    steps["finished"] = other_steps["finished"] = 0  # a frame at which a run ended is written before the explicit steps that follow it
    assert np.array_equal(steps["time"][-1], other_steps["time"][-1])
    last, other_last = len(columns) // len(steps), len(other_columns) // len(other_steps)
    assert all(map(np.array_equal, columns[-last:], other_columns[-other_last:]))
    assert (whole / "places").read_text() == (parts / "places").read_text()


def frames_of(path: Path) -> int:
    """How many frames of the explicit model a file holds that another process may be writing."""
    if not os.path.exists(path):
        return 0
    try:
        return len(explicit_frames(path)[0])
    except (OSError, KeyError):
        return 0
