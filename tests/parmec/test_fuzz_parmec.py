"""Whatever is given to a command of the explicit engine, it works or raises a documented error that names the command."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz_parmec.py")


def findings(seed, calls, directory):
    """Return the failures in many calls in a separate process, which must not crash."""
    done = subprocess.run([sys.executable, str(FUZZ), str(seed), str(calls)], cwd=directory, capture_output=True, text=True, timeout=1800)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def test_spoilt_calls_raise_documented_errors(tmp_path):
    assert findings(1, 500, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.timeout(2000)
@pytest.mark.parametrize("seed", range(2, 6))
def test_five_thousand_spoilt_calls_raise_documented_errors(seed, tmp_path):
    assert findings(seed, 1250, tmp_path) == ""


def test_mass_beyond_the_range_of_numbers_is_refused(tmp_path):
    from solfec.parmec import ANALYTICAL, MATERIAL, SPHERE, model

    MATERIAL(1000, 1e6, 0.3)
    for radius in (5e-324, 1e-80, 1e300):
        with pytest.raises(ValueError, match="too small or too large"):
            SPHERE((0, 0, 0), radius, 0, 1)
    with pytest.raises(ValueError, match="too small or too large"):
        ANALYTICAL(mass=5e-324)
    assert model.current().particles.n == 0
