"""Running example inputs as a user would: through the command line, in an empty directory."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from solfec import SOLFEC, _kernels, cli, kernel_checks
from solfec.language import session
from solfec.parmec import model

ROOT = Path(__file__).parent.parent

# The default suite tries the same examples every time; HYPOTHESIS_PROFILE=explore looks for new ones.
hypothesis.settings.register_profile("gate", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


def pytest_configure(config):
    """Read which cases the slow tier takes because of their time (tools/long_cases.py)."""
    config.long_cases = set((ROOT / "tests/long_cases.txt").read_text().splitlines())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark them before those that are marked are left out."""
    for item in items:
        if item.nodeid in config.long_cases:
            item.add_marker(pytest.mark.slow)


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


@pytest.fixture
def fresh_session():
    """A session of its own for the commands of a test; afterwards the previous one goes on."""
    before = session.begin(session.Session())
    yield
    session.begin(before)


@pytest.fixture
def new_model(fresh_session, tmp_path):
    """`new_model(analysis, step, **options)` makes a silent SOLFEC object with a directory of its own."""
    count = itertools.count()

    def make(analysis="DYNAMIC", step=1e-3, **options):
        model = SOLFEC(analysis, step, str(tmp_path / f"out{next(count)}"), **options)
        model.verbose = "OFF"
        return model

    return make


@pytest.fixture
def empty_models(tmp_path, monkeypatch, fresh_session):
    """A session of its own, an empty explicit model and an empty directory; afterwards the previous ones go on."""
    monkeypatch.chdir(tmp_path)
    before = model.begin(None)
    yield
    model.begin(before)


@pytest.fixture
def threads():
    """Set the number of threads until the test ends."""
    before = _kernels.threads.get_threads()
    yield _kernels.threads.set_threads
    _kernels.threads.set_threads(before)


@pytest.fixture
def one_thread(threads):
    """Kernels use one thread: processor time of several threads is that of all."""
    threads(1)


@pytest.fixture(scope="session")
def run_once(tmp_path_factory):
    """`run_once(text, *arguments, then=())` runs an input in a directory of its own, then command lines; returns the directory."""

    def run(text, *arguments, then=()):
        directory = tmp_path_factory.mktemp("run")
        (directory / "input.py").write_text(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(directory)
            for words in (["--quiet", "input.py", *arguments], *then):
                assert cli.main(list(words)) == 0
        return directory

    return run


@pytest.fixture
def command_line(capsys):
    """`command_line(*words)` runs a command line in this process; its status, output and errors."""

    def run(*words):
        capsys.readouterr()
        status = cli.main(list(words))
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture
def run_text(tmp_path, monkeypatch, capsys):
    """`run_text(text, *switches, status=0)` runs an input as `solfec` does; returns what it prints, or its errors."""
    monkeypatch.chdir(tmp_path)

    def run(text, *switches, status=0):
        (tmp_path / "input.py").write_text(text)
        capsys.readouterr()
        assert cli.main([*switches, "input.py"]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

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
