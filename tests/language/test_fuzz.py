"""Whatever is given to a command, it works or raises a documented error that names the command."""

from pathlib import Path

import pytest
from spoilt_calls import campaign, run

FUZZ = Path(__file__).with_name("fuzz.py")
JOINTS = "BALL HINGE SLIDER CYLINDRICAL UNIVERSAL WELD DISTANCE ROPE GEAR RACK MOTOR SET_ROTATION".split()


def findings(seed: int, calls: int, directory, *commands: str) -> str:
    """Return the failures in many calls."""
    done = run(FUZZ, seed, calls, directory, *commands)
    told = [line for line in done.stderr.splitlines() if not line.startswith("RUN: results exist")]  # that RUN reads
    return done.stdout + "\n".join(told)


@campaign(400, range(2, 10), 2500)
def test_spoilt_calls_raise_documented_errors(seed, count, tmp_path):
    assert findings(seed, count, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.timeout(2000)
@pytest.mark.parametrize("seed", range(2))
def test_two_hundred_spoilt_calls_of_each_joint_raise_documented_errors(seed, tmp_path):
    assert findings(seed, 125 * len(JOINTS), tmp_path, *JOINTS) == ""
