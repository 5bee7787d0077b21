"""Whatever is given to a command of the explicit engine, it works or raises a documented error that names the command."""

from pathlib import Path

import pytest
from spoilt_calls import campaign, run

FUZZ = Path(__file__).with_name("fuzz_parmec.py")


@campaign(500, range(2, 6), 1250)
def test_spoilt_calls_raise_documented_errors(seed, count, tmp_path):
    done = run(FUZZ, seed, count, tmp_path)
    assert done.stdout + done.stderr == ""


def test_mass_beyond_the_range_of_numbers_is_refused(tmp_path):
    from solfec.parmec import ANALYTICAL, MATERIAL, SPHERE, model

    MATERIAL(1000, 1e6, 0.3)
    for radius in (5e-324, 1e-80, 1e300):
        with pytest.raises(ValueError, match="too small or too large"):
            SPHERE((0, 0, 0), radius, 0, 1)
    with pytest.raises(ValueError, match="too small or too large"):
        ANALYTICAL(mass=5e-324)
    assert model.current().particles.n == 0
