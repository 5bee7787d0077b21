"""Examples of hybrid inputs run as they stand, with the numbers that they should have."""

import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from solfec import cli, results

INPUTS = Path(__file__).parent.parent.parent / "inp" / "hybrid"


def test_two_cubes_meet_and_swing_as_their_equations_say(tmp_path, capsys):
    """hs0 of the report on the hybrid solver: free swing, an impact by momentum, and a swing of both masses."""
    for path in INPUTS.glob("two-cubes*.py"):
        shutil.copy(path, tmp_path / path.name)
    assert cli.main([str(tmp_path / "two-cubes.py")]) == 0
    touch, low = map(float, re.search(r"first contact at ([\d.]+) s; lowest by ([\d.]+)", capsys.readouterr().out).groups())
    gap, k, g = 0.1, 100.0, 10.0
    impact = brentq(lambda t: gap - g * t * t / 2 + g / k * (1 - math.cos(10 * t)), 0.1, 0.3)
    assert touch == pytest.approx(impact, abs=1.5e-3)
    place = -g / k * (1 - math.cos(10 * impact))
    speed = (-g / k * 10 * math.sin(10 * impact) - g * impact) / 2
    frequency, rest = math.sqrt(k / 2), -2 * g / k
    assert low == pytest.approx(-rest + math.hypot(place - rest, speed / frequency), abs=2e-3)
    run = results.open("out/two-cubes")
    t, z = run.history([(1, (0.5, 0.5, 0.5), "CZ")])
    t, z = np.array(t), np.array(z) - 0.5
    before, after = t < impact - 2e-3, (t > impact + 2e-3) & (t < impact + 0.1)
    assert z[before] == pytest.approx(-g / k * (1 - np.cos(10 * t[before])), abs=1e-6)
    together = rest + (place - rest) * np.cos(frequency * (t - impact)) + speed / frequency * np.sin(frequency * (t - impact))
    assert z[after] == pytest.approx(together[after], abs=2e-3)
