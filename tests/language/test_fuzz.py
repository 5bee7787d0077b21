"""Whatever is given to a command, it works or raises a documented error that names the command."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz.py")


JOINTS = "BALL HINGE SLIDER CYLINDRICAL UNIVERSAL WELD DISTANCE ROPE GEAR RACK MOTOR SET_ROTATION".split()


def findings(seed: int, calls: int, directory, *commands: str) -> str:
    """Return the failures in many calls in a separate process, which must not crash."""
    process = subprocess.run(
        [sys.executable, str(FUZZ), str(seed), str(calls), *commands], cwd=directory, capture_output=True, text=True, timeout=1800
    )
    assert process.returncode in (0, 1), process.stderr
    told = [line for line in process.stderr.splitlines() if not line.startswith("RUN: results exist")]  # that RUN reads
    return process.stdout + "\n".join(told)


def test_spoilt_calls_raise_documented_errors(tmp_path):
    assert findings(1, 400, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.timeout(2000)
@pytest.mark.parametrize("seed", range(2, 10))
def test_twenty_thousand_spoilt_calls_raise_documented_errors(seed, tmp_path):
    assert findings(seed, 2500, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.timeout(2000)
@pytest.mark.parametrize("seed", range(2))
def test_two_hundred_spoilt_calls_of_each_joint_raise_documented_errors(seed, tmp_path):
    assert findings(seed, 125 * len(JOINTS), tmp_path, *JOINTS) == ""
