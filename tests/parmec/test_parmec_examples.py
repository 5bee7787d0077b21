"""Examples of inputs of the explicit engine run as they stand, with the numbers that they should have."""

import math
import re
import shutil
from pathlib import Path

import pytest

from solfec import parmec_command

INPUTS = Path(__file__).parent.parent.parent / "inp" / "parmec"


def printed(name, tmp_path, capsys):
    """What an example prints."""
    shutil.copy(INPUTS / name, tmp_path / name)
    assert parmec_command.main([str(tmp_path / name)]) == 0
    return capsys.readouterr().out


def test_pendulum_has_the_period_of_a_rod(tmp_path, capsys):
    period = float(re.search(r"period: ([\d.]+)", printed("pendulum.py", tmp_path, capsys))[1])
    assert period == pytest.approx(2 * math.pi * math.sqrt(2 / 3 / 9.81) * (1 + 0.02**2 / 16), abs=1e-4)


def test_bricks_use_up_their_clearances(tmp_path, capsys):
    text = printed("brick-array.py", tmp_path, capsys)
    step, shaken, moved, over = map(float, re.findall(r"([\d.]+(?:E-\d+)?) (?:s|mm|um)", text))
    stiffness, mass = 1e6, 1.7
    assert step == pytest.approx(0.2 * 2 / math.sqrt(2 * stiffness / mass) * (math.sqrt(1 + 0.1**2) - 0.1), rel=0.1)
    assert shaken == pytest.approx(1e3 * 2 * 3 / (6 * math.pi) ** 2, abs=0.02)
    assert shaken < moved < shaken + 11  # the clearances of the row, each a millimetre
    assert 0 < over < 1e6 * 12 * mass * 3 / stiffness * 20
