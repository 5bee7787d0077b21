"""STOP, INT, TERM and a full disk end a run with everything written so far in order."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from solfec import results

ENDLESS = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/endless')
solfec.verbose = 'OFF'
body = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))
GRAVITY(solfec, (0, 0, -10))
OUTPUT(solfec, {interval})
print('ready', flush=True)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 1E6)
print('after', solfec.time, flush=True)
"""


def prepare(limit):
    """Give the process the usual SIGHUP (tests may run under nohup, whose children ignore it), and a limit of sizes of files."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def start(tmp_path, interval=1e6, limit=None):
    """Start an endless run in a process of its own."""
    (tmp_path / "input.py").write_text(ENDLESS.format(interval=interval))
    return subprocess.Popen(
        [sys.executable, "-m", "solfec.cli", "input.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: prepare(limit),
    )


def running(tmp_path):
    """Start an endless run, and wait for its first frame."""
    process = start(tmp_path)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    deadline = time.monotonic() + 30
    while not (tmp_path / "out/endless/endless.h5").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.2)
    return process


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_finishes_the_step_writes_the_frame_and_gives_its_status(tmp_path, number, status):
    process = running(tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == status, err
    assert out == "" and "Traceback" not in err
    times = results.open(str(tmp_path / "out/endless")).times
    assert len(times) == 2 and times[1] > 0.0


def test_stop_file_ends_the_run_normally_and_is_used_up(tmp_path):
    process = running(tmp_path)
    (tmp_path / "out/endless/STOP").touch()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "after" in out
    assert not (tmp_path / "out/endless/STOP").exists()
    assert results.open(str(tmp_path / "out/endless")).times[-1] == pytest.approx(float(out.split()[-1]))


LEFT = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let commands in the background ignore it
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/endless')
solfec.verbose = 'OFF'
BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))
if {step}:
    solfec.after_motion(lambda bodies, time, step: os.kill(os.getpid(), {number}) if time > 0.0095 else None)
for now in solfec.steps(AUTO_SOLVER(), 1.0):
    if now > 0.0095:
        if not {step}:
            os.kill(os.getpid(), {number})
        break
deadline = time.monotonic() + 20
while time.monotonic() < deadline:
    time.sleep(0.01)
print('went on')
"""


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("step", [True, False])
def test_a_signal_in_the_last_step_of_a_loop_that_is_left_ends_the_input(tmp_path, step, number, status):
    """The loop is over and cannot raise; a scheduler's TERM or a Ctrl-C must not be lost with it."""
    process = run_in_shell(tmp_path, "", LEFT.format(step=step, number=int(number)))
    assert process.returncode == status and process.stdout == process.stderr == ""
    assert results.open(str(tmp_path / "out/endless")).times[-1] == pytest.approx(0.01)


def test_two_terms_have_the_status_of_one(tmp_path):
    twice = "import os\ndef twice(*arguments):\n    for k in (1, 2):\n        os.kill(os.getpid(), 15)\n"
    process = run_in_shell(tmp_path, "", twice + SHORT.replace("RUN(", "solfec.after_motion(twice)\nRUN("))
    assert process.returncode == 143 and process.stderr == ""


def test_term_before_a_run_gives_its_status(tmp_path):
    """The input sleeps in naps: Python looks for signals before a system call, and one that comes just then waits until its end."""
    (tmp_path / "input.py").write_text("import time\nprint('ready', flush=True)\nfor k in range(3000):\n    time.sleep(0.01)\n")
    process = subprocess.Popen([sys.executable, "-m", "solfec.cli", "input.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143


def test_full_disk_ends_the_run_with_its_cause_and_keeps_the_frames_before(tmp_path):
    process = start(tmp_path, interval=0, limit=400_000)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    line = ENDLESS.splitlines().index("RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 1E6)") + 1
    assert err.startswith(f"input.py:{line}: "), err
    assert os.strerror(27) in err.splitlines()[0] and "cannot be written" in err.splitlines()[0]
    stored = results.open(str(tmp_path / "out/endless"))
    assert len(stored.times) > 10
    assert stored.frame(len(stored.times) - 1).step["time"] == pytest.approx(1e-3 * (len(stored.times) - 1))


SHORT = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/short')
BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.01)
"""


def run_in_shell(tmp_path, tail, text=SHORT):
    """Run a command line in a shell whose status is that of the run, not that of the program that reads its output."""
    (tmp_path / "input.py").write_text(text)
    line = f"set -o pipefail; '{sys.executable}' -m solfec.cli -i 0 input.py {tail}"
    return subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60)


def test_a_run_outlives_the_readers_of_what_its_input_prints(tmp_path):
    """Reports find out first that the reader has gone; the input's own print, too, goes nowhere then."""
    short = SHORT.replace("RUN(", "CALLBACK(solfec, 1E-3, (), lambda: print('step'))\nRUN(") + "print('end')\n"
    process = run_in_shell(tmp_path, "| true", short)
    assert process.returncode == 0 and process.stderr == ""
    assert results.open(str(tmp_path / "out/short")).times[-1] == pytest.approx(0.01)


def test_a_stop_that_cannot_be_removed_stops_once_and_is_named_the_next_time(tmp_path):
    process = running(tmp_path)
    (tmp_path / "out/endless/STOP").mkdir()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "STOP, which could not be removed: Is a directory" in out and "after" in out
    again = subprocess.run([sys.executable, "-m", "solfec.cli", "-c", "input.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert again.returncode == 1
    assert "input.py:8: RUN: an old file out/endless/STOP would stop this run, and it cannot be removed: Is a directory" in again.stderr


@pytest.mark.parametrize("tail", [">&-", "| true"])
def test_a_run_outlives_the_readers_of_its_reports(tmp_path, tail):
    process = run_in_shell(tmp_path, tail)
    assert process.returncode == 0 and process.stderr == ""
    assert results.open(str(tmp_path / "out/short")).times[-1] == pytest.approx(0.01)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_reports_that_a_full_disk_refuses_do_not_end_the_run(tmp_path):
    process = run_in_shell(tmp_path, ">/dev/full")
    assert "Traceback" not in process.stderr and "Exception" not in process.stderr
    assert results.open(str(tmp_path / "out/short")).times[-1] == pytest.approx(0.01)
