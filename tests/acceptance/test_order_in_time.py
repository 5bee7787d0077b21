"""Second order of time integration, on the bar of docs/figures/convergence.py."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "figures" / "convergence.py"
spec = importlib.util.spec_from_file_location("convergence", SCRIPT)
convergence = importlib.util.module_from_spec(spec)
spec.loader.exec_module(convergence)


@pytest.mark.parametrize("name", convergence.CASES)
def test_errors_fall_with_the_square_of_the_step(name):
    errors = convergence.errors(*convergence.CASES[name], counts=(80, 160) if name == "pseudo-rigid, DEF_LIM" else (40, 80))
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(2, abs=0.1)
