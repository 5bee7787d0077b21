"""The benchmark of the coupling of both engines runs with the program as it is, whose methods it times."""

import json
import os
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "hybrid.py"


def test_a_few_steps_are_timed_by_their_parts():
    words = ["--outer", "2", "--inner", "1", "--steps", "3"]
    done = subprocess.run([sys.executable, str(BENCHMARK), *words], capture_output=True, text=True, timeout=120, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["cubes"] == 125 and row["implicit"] == 27 and row["steps"] >= 2
    assert row["engine_ms_per_implicit_step"] > 0 and row["implicit_ms_per_step"] > 0
