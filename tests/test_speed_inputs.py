"""Inputs whose time per step `benchmarks/legacy_like.py` measures: small sizes of them run, and their contacts are solved."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import legacy_like  # noqa: E402

OWN = [name for name, (path, *_) in legacy_like.ROWS.items() if path.startswith("speed/")]
AGAIN = ("array of 5^3 cubes, TL", "drum, 500 rigid ellipsoids", "drum, 450 spheres", "stacks of ten cubes, MANIFOLD", "towers of thin bricks, MANIFOLD",
         "slice of a core of elements", "implicit dominoes of elements, NEWTON")  # other arguments of inputs that run elsewhere, and long ones  # fmt: skip
APART = ("drum, 500 pseudo-rigid ellipsoids", "torrent", "stacks of ten cubes")  # small sizes that fall or bounce at the end


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in AGAIN else ()) for name in OWN])
def test_rows_of_the_benchmark_run_and_touch(name):
    found = legacy_like.summary(name, 1, [legacy_like.profile(name, quick=True, threads=1)])
    assert found["steps"] > 0 and 0 < found["ms_per_step"] and 50 < found["megabytes"] < 500
    assert found["contacts"] > 0 or name in APART
    assert found["residual"] < 0.02  # sweeps end by the change of reactions, 1E-3, where residuals may be ten times as large


def test_stacks_do_not_sink(solfec):
    """Cubes that have come down by 5 mm for each below them."""
    printed = solfec("speed/stacks.py", 3, "MANIFOLD", 1.0, 0.2).stdout
    assert float(re.search(r"lie (\S+) m in the ground", printed).group(1)) < 2e-6


def test_inputs_name_a_word_that_they_do_not_know(solfec):
    failed = solfec("speed/array.py", 2, "SOFT", status=1)
    assert "must be RIGID, TL or BC" in failed.stderr
