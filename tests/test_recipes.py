"""The recipes of docs/developing: each patch fits the sources and really adds what it says, with its own test."""

import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest
import solfec._kernels
import solfec._table_types

ROOT = Path(__file__).parent.parent
PATCHES = sorted((ROOT / "docs" / "developing").glob("*.patch"))
RUN = """
import runpy, sys
sys.path[:0] = {places!r}
import pytest, solfec
assert solfec.__file__.startswith({root!r})
for script in ("tests/stub.py", "tests/test_command_table.py"):  # what the recipe says to run
    runpy.run_path(script, run_name="__main__")
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-n", "0", *{tests!r}]))
"""


def added_tests(patch: Path) -> list[str]:
    """Test files that a patch adds."""
    return [line[6:] for line in patch.read_text().splitlines() if line.startswith("+++ b/tests/") and "test_" in line]


def tree_with(patch: Path, place: Path) -> Path:
    """A copy of the sources with a patch, beside the compiled module as it is."""
    for name in ("solfec", "tests", "docs", "tools", "benchmarks", "pyproject.toml", "Makefile", "parmec.py"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, place / name, **({"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}))
    for module in (solfec._kernels, solfec._table_types):
        shutil.copy(module.__file__, place / "solfec")
    subprocess.run(["git", "apply", "-C1", str(patch)], cwd=place, check=True)
    return place


def test_there_are_recipes():
    assert {patch.stem for patch in PATCHES} >= {"command", "export"}
    assert all(added_tests(patch) for patch in PATCHES)


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_recipe_fits_the_sources(patch):
    subprocess.run(["git", "apply", "--check", "-C1", str(patch)], cwd=ROOT, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_recipe_adds_what_it_says(patch, tmp_path):
    root = tree_with(patch, tmp_path)
    tests = [*added_tests(patch), "tests/test_command_table.py", "tests/language/test_commands.py"]
    text = RUN.format(places=[str(root), *site.getsitepackages()], root=str(root), tests=tests)
    # without site, the hook of an editable installation stays out
    done = subprocess.run([sys.executable, "-S", "-c", text], cwd=root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
