"""A run that is killed, interrupted or stopped by file loses no frame, and `-c` leads to the frames of one run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from forks import fork
from test_restart_bits import assert_equal, frames_of, solfec

from solfec import _kernels, cli, results

MODEL = Path(__file__).parent / "models" / "births_and_deaths.py"
DELETING = MODEL.with_name("implicit_births_and_deaths.py")  # callbacks delete bodies beside implicit elements
STEPS = 120


def start(steps: int, model: Path = MODEL) -> int:
    """Continue a model in a process of its own; its identifier."""
    return fork(lambda: cli.main(["-c", str(model), str(steps)]), 1)


def frames_so_far() -> int:
    if not os.path.exists("out/model/model.h5"):
        return 0
    with results.open("out/model") as run:
        return len(run.times)


def end(process: int, number: int) -> int:
    """Send a signal to a process of `start`; its status, or minus the signal that ended it."""
    os.kill(process, number)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.fixture(scope="module")
def one_run(tmp_path_factory):
    """Frames of one run."""
    directory = tmp_path_factory.mktemp("whole")
    _kernels.threads.set_threads(1)  # the forked processes have no other threads
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        solfec("-c", MODEL, STEPS)
    return frames_of(directory)


@pytest.fixture
def whole(one_run, tmp_path, monkeypatch, capsys):
    """Frames of one run; the present directory is another one, and empty."""
    monkeypatch.chdir(tmp_path)
    return one_run


def kill_again_and_again(kills: int, whole, directory: Path, model: Path = MODEL) -> int:
    """Kill a run at random moments, again from the start when it is complete; returns the number of kills that met it."""
    met, wait = 0, 0.02
    while met < kills:
        before = frames_so_far()
        process = start(STEPS, model)
        time.sleep(random.uniform(0.0, wait))
        if end(process, signal.SIGKILL) == -signal.SIGKILL:
            met += 1
        after = frames_so_far()
        assert after >= before, "frames were lost"
        wait = 0.4 if after > before else wait + 0.1
        if after == len(whole["model"]):
            assert_equal(whole, frames_of(directory))
            os.unlink("out/model/model.h5")
            Path("out/model/model.py").unlink(missing_ok=True)  # a kill just after the new results got their name leaves no copy of the input
    assert os.waitstatus_to_exitcode(os.waitpid(start(STEPS, model), 0)[1]) == 0
    assert_equal(whole, frames_of(directory))
    return met


def test_a_run_killed_five_times_and_continued_has_the_frames_of_one_run(whole, tmp_path):
    assert kill_again_and_again(5, whole, tmp_path) == 5


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_run_killed_two_hundred_times_and_continued_has_the_frames_of_one_run(whole, tmp_path):
    assert kill_again_and_again(200, whole, tmp_path) == 200


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_run_whose_callbacks_delete_bodies_killed_a_hundred_times_has_the_frames_of_one_run(tmp_path, monkeypatch, capsys):
    _kernels.threads.set_threads(1)
    frames = []
    for place, kills in (("whole", 0), ("parts", 100)):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        if kills:
            assert kill_again_and_again(kills, frames[0], tmp_path / place, DELETING) == kills
        else:
            solfec("-c", DELETING, STEPS)
        frames.append(frames_of(tmp_path / place))


def interrupt(how: str) -> int | None:
    """Interrupt a run by a signal or a file; return its status, or None if it was complete before that."""
    process = start(STEPS)
    while frames_so_far() < 30:
        time.sleep(0.005)
    if how == "STOP":
        Path("out/model/STOP").touch()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    else:
        status = end(process, getattr(signal, "SIG" + how))
    return status if frames_so_far() <= STEPS else None


@pytest.mark.parametrize("how", ["INT", "TERM", "STOP"])
def test_a_run_that_is_interrupted_and_continued_has_the_frames_of_one_run(how, whole, tmp_path):
    for _ in range(20):  # a busy machine may look at the frames when the run is over
        status = interrupt(how)
        if status is not None:
            break
        shutil.rmtree("out")
    assert status == {"INT": 130, "TERM": 143, "STOP": 0}[how]
    assert 30 <= frames_so_far() <= STEPS
    solfec("-c", MODEL, STEPS)
    assert_equal(whole, frames_of(tmp_path))
