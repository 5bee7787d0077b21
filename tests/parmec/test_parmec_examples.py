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


def test_an_array_of_beads_swings_in_its_first_mode(tmp_path, capsys):
    step, period, wanted, high, amplitude = map(float, re.findall(r"([\d.]+) (?:s|m)\b", printed("spring-array.py", tmp_path, capsys)))
    n, mass, k = 9, 0.5, 2e3
    frequency = 2 * math.sqrt(2 * k / mass) * math.sin(math.pi / (2 * (n + 1)))
    assert wanted == pytest.approx(2 * math.pi / frequency, abs=1e-6)
    assert period == pytest.approx(wanted * (1 - (frequency * step) ** 2 / 24), rel=5e-6)  # the scheme's own frequency
    assert high == pytest.approx(1 / frequency, rel=2e-4)
    assert amplitude == pytest.approx(1 / frequency, abs=1e-6)


def test_a_tower_of_spheres_carries_what_falls_on_it(tmp_path, capsys):
    text = printed("impact-tower.py", tmp_path, capsys)
    hit, fall, place, rest, _ = map(float, re.findall(r"([\d.]+) (?:s|m|um)\b", text))
    assert hit == pytest.approx(math.sqrt(0.4 / 9.81), abs=2e-3)
    weight = 4 / 3 * math.pi * 0.05**3 * 2000 * 9.81
    assert rest == pytest.approx(1.05 - sum((18 - i) * weight for i in range(11)) / 1e6, abs=1e-6)
    assert place == pytest.approx(rest, abs=1e-4)  # it still swings a little
    assert fall == pytest.approx(math.sqrt(0.4 / 9.81), abs=1e-4)


def test_a_slice_of_a_core_uses_up_its_clearances(tmp_path, capsys):
    """Seven by seven bricks for a short time; the file has 21 by 21."""
    shutil.copy(INPUTS / "core-slice.py", tmp_path / "core-slice.py")
    assert parmec_command.main([str(tmp_path / "core-slice.py"), "7", "0.5"]) == 0
    count, steps, step, frame, moved, apart, _ = map(float, re.findall(r"([\d.]+(?:E-\d+)?)(?= (?:bricks|steps|s;|mm|um))", capsys.readouterr().out))
    assert count == 49
    assert steps == math.ceil(0.5 / step) or steps == pytest.approx(0.5 / step, rel=0.01)
    frequency = 6 * math.pi
    assert frame == pytest.approx(1e3 * 2 * 3 / frequency**2, abs=0.02)
    assert frame < moved < frame + 8 * 2 * 2 + 1  # the clearances of a row, each of 2 mm to either side
    mass, stiffness = 1700 * 0.45 * 0.45 * 0.8, 5e6
    # at most as far beyond the clearance as the keys of one brick need to stop a whole row
    assert 2.0 < apart < 2.0 + 1e3 * math.sqrt(7 * mass / (2 * stiffness)) * 2 * 3 / frequency
