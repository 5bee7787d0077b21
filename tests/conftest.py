"""Running example inputs as a user would: through the command line, in an empty directory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from solfec import _kernels, kernel_checks

ROOT = Path(__file__).parent.parent

# The default suite tries the same examples every time; HYPOTHESIS_PROFILE=explore looks for new ones.
hypothesis.settings.register_profile("gate", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


@pytest.fixture
def solfec(tmp_path):
    """`solfec(input, *arguments)` runs an input of inp/ (or an absolute path) in tmp_path; returns the finished process."""

    def run(source, *arguments, switches=(), status=0, threads=1):
        source = Path(source)
        path = source if source.is_absolute() else ROOT / "inp" / source
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive", MPLCONFIGDIR=str(tmp_path))
        process = subprocess.run(
            [sys.executable, "-m", "solfec.cli", *map(str, switches), str(path), *map(str, arguments)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280,
        )  # fmt: skip
        assert process.returncode == status, process.stdout[-2000:] + process.stderr[-4000:]
        return process

    run.directory = tmp_path
    return run


@pytest.fixture(scope="session")
def solfec_values():
    """Numbers computed by Solfec-1.0 for the models of the example inputs."""
    return json.loads((ROOT / "tests" / "data" / "models.json").read_text())


@pytest.fixture(autouse=True)
def floating_point_checks(request):
    """In builds with DEBUG = yes a kernel that overflows, divides by zero or makes a NaN fails its test."""
    if not _kernels.threads.has_checks() or request.node.get_closest_marker("extreme_numbers"):
        yield
        return
    replaced = kernel_checks.watch_floating_point()
    yield
    kernel_checks.unwrap(replaced)
