"""Unknown or unsupported settings of Config.mak raise an error before anything is installed or built."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

CASES = [
    (["DEBUG=maybe"], "DEBUG = maybe: yes or no is expected"),
    (["OPENMP=false"], "OPENMP = false: yes or no is expected"),
    (["SICONOS=1"], "SICONOS = 1: yes or no is expected"),
    (["MPI=YES"], "MPI = YES: yes or no is expected"),
    (["BLAS=openblas"], "BLAS = openblas: no kernel calls it"),
    (["LAPACK=mkl"], "LAPACK = mkl: no kernel calls it"),
    (["HDF5=/usr/lib/hdf5"], "HDF5 = /usr/lib/hdf5: results are written by the h5py package"),
    (["THREADS=two"], "THREADS = two: a positive whole number is expected"),
    (["THREADS=0"], "THREADS = 0: a positive whole number is expected"),
    (["FC=nofc -g"], "FC = nofc -g: there is no such Fortran compiler"),
    (["FC="], "there is no such Fortran compiler"),
    (["PYTHON=python2.99"], "PYTHON = python2.99: there is no such Python"),
    (["PYTHON=true"], "PYTHON = true does not run"),
    (["DEBUG=yes", "FFLAGS=-O3"], "DEBUG = yes has flags of its own"),
]


def settings(*words):
    return subprocess.run(["make", "-s", "settings", *words], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("words, message", CASES, ids=[" ".join(words) for words, _ in CASES])
def test_a_setting_that_nothing_would_obey_is_refused(words, message):
    outcome = settings(*words)
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("Config.mak: ") and message in outcome.stderr


@pytest.mark.parametrize("words", [[], ["FC=gfortran -g", "FFLAGS=-O2 -Wa,-g", "THREADS=2", "OPENMP=no"], ["DEBUG=yes"]])
def test_settings_that_are_obeyed_pass(words):
    outcome = settings(*words)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


def test_an_old_python_is_named_with_its_version(tmp_path):
    old = tmp_path / "python3.9"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 || echo old\n')
    old.chmod(0o755)
    assert f"PYTHON = {old}: Python 3.11 or newer is needed, this is Python 3.9.2" in settings(f"PYTHON={old}").stderr


def test_missing_packages_are_named_as_debian_names_them(tmp_path):
    """Without root nothing is installed: the line to run is printed."""
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "basename", "gcc"):
        (bare / name).symlink_to(subprocess.check_output(["which", name], text=True).strip())
    (bare / "id").write_text("#!/bin/sh\necho 1000\n")
    (bare / "id").chmod(0o755)
    outcome = subprocess.run(
        ["sh", "tools/system-packages.sh", "python3.14", "gfortran"], cwd=ROOT, env={"PATH": str(bare)}, capture_output=True, text=True
    )
    assert outcome.returncode == 1
    assert "sudo apt-get update && sudo apt-get install -y gfortran python3.14 python3.14-venv python3.14-dev\n" in outcome.stderr


def test_a_build_directory_that_is_gone_is_made_again(tmp_path):
    """The build follows the file of settings, which is written anew where there is no build."""
    for name in ("Makefile", "Config.mak", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    venv, ninja = tmp_path / ".venv", tmp_path / "build" / "cp" / "build.ninja"
    venv.mkdir()
    for name in (".system", ".packages"):
        (venv / name).touch()

    def renewed():
        before = written.stat().st_mtime_ns if written.exists() else 0
        subprocess.run(["make", "-s", ".venv/.settings"], cwd=tmp_path, check=True)
        return written.stat().st_mtime_ns > before

    written = venv / ".settings"
    assert renewed()
    ninja.parent.mkdir(parents=True)
    ninja.touch()
    assert not renewed()
    ninja.unlink()
    assert renewed()
