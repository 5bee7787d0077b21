"""Benchmarks refuse unknown arguments before anything is timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
SCRIPTS = sorted(path.name for path in BENCHMARKS.glob("*.py") if "__main__" in path.read_text() and "words." in path.read_text())


def test_most_benchmarks_are_among_these():
    assert len(SCRIPTS) > 10


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_unknown_word_ends_a_benchmark_with_a_line_that_names_it(script):
    done = subprocess.run([sys.executable, str(BENCHMARKS / script), "NOSUCH"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "NOSUCH" in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr, done.stderr
