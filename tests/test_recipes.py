"""The recipes of docs/developing: each patch fits the sources and really adds what it says, with its own test."""

import os
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
FILES = ("meson.build", "meson_options.txt", "pyproject.toml", "Makefile", "parmec.py", "abaqusreader.py")
BUILT_FROM = ("solfec/kinds.py", "solfec/element_types.py", "solfec/constraints/table.py")  # what the build reads, beside fortran/
RUN = """
import runpy, sys
sys.path[:0] = {places!r}
import pytest, solfec
assert solfec.__file__.startswith({root!r})
for script in ("tests/stub.py", "tests/test_command_table.py"):  # what the recipe says to run
    runpy.run_path(script, run_name="__main__")
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-n", "0", *{tests!r}]))
"""


def touched(patch: Path) -> list[str]:
    """Files of the program that a patch changes or adds: no documents, no tests."""
    return [line[6:] for line in patch.read_text().splitlines() if line.startswith(("+++ b/solfec/", "+++ b/fortran/"))]


def added_tests(patch: Path) -> list[str]:
    """Test files that a patch adds."""
    return [line[6:] for line in patch.read_text().splitlines() if line.startswith("+++ b/tests/") and "test_" in line]


def tree_with(patch: Path, place: Path) -> Path:
    """A copy of the sources with a patch, beside the compiled module: built anew where the patch changes what it is made of."""
    for name in ("solfec", "fortran", "tests", "docs", "tools", "benchmarks", *FILES):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, place / name, **({"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}))
    subprocess.run(["git", "apply", "-C1", str(patch)], cwd=place, check=True)
    if any(name.startswith("fortran/") or name in BUILT_FROM for name in touched(patch)):
        build(place)
    else:
        for module in (solfec._kernels, solfec._table_types):
            shutil.copy(module.__file__, place / "solfec")
    return place


def build(place: Path) -> None:
    """Build the kernels of a copy, without optimisation."""
    programs = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    setup = [sys.executable, "-m", "mesonbuild.mesonmain", "setup", "build", ".", "-Dkernel_flags=['-O0']"]
    for command in (setup, ["ninja", "-C", "build"]):
        done = subprocess.run(command, cwd=place, env=programs, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    for made in (place / "build" / "fortran").glob("_*.*"):
        if made.suffix in (".so", ".py"):
            shutil.copy(made, place / "solfec")


def test_there_are_recipes():
    assert {patch.stem for patch in PATCHES} >= {"command", "export", "law", "joint", "element"}
    assert all(added_tests(patch) for patch in PATCHES)


@pytest.mark.parametrize("name", ["law", "joint"])
def test_laws_and_joints_touch_four_files_at_most(name):
    files = touched(ROOT / "docs" / "developing" / f"{name}.patch")
    assert len(set(files)) == len(files) <= 4 and "solfec/kinds.py" in files


def test_an_element_type_is_a_record_and_its_kernel():
    assert touched(ROOT / "docs" / "developing" / "element.patch") == ["fortran/bodies/element_shapes.f90", "solfec/element_types.py"]


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_recipe_fits_the_sources(patch):
    subprocess.run(["git", "apply", "--check", "-C1", str(patch)], cwd=ROOT, check=True)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_recipe_adds_what_it_says(patch, tmp_path):
    root = tree_with(patch, tmp_path)
    tests = [*added_tests(patch), "tests/test_command_table.py", "tests/language/test_commands.py"]
    text = RUN.format(places=[str(root), *site.getsitepackages()], root=str(root), tests=tests)
    # without site, the hook of an editable installation stays out
    done = subprocess.run([sys.executable, "-S", "-c", text], cwd=root, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
