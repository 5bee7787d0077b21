"""Kernels are chosen for the processor; results name them, and runs that others go on with say so."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from solfec import cli, kernel_level

V3 = set(" ".join(kernel_level.LEVELS[level] for level in ("v2", "v3")).split())
ALL = V3 | set(kernel_level.LEVELS["v4"].split())
RUN = """
solfec = SOLFEC('DYNAMIC', 1E-2, 'out/fall')
GRAVITY(solfec, (0, 0, -10))
BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 0, 0), BULK_MATERIAL(solfec))
RUN(solfec, AUTO_SOLVER(), %g)
"""


@pytest.mark.parametrize(
    "able, built, wanted, level",
    [
        (ALL, ["v2", "v3", "v4"], None, "v4"),
        (V3, ["v2", "v3", "v4"], None, "v3"),
        (ALL - {"avx2"}, ["v2", "v3", "v4"], None, "v2"),  # avx512 alone is no level
        (ALL, ["v2", "v3", "v4"], "v2", "v2"),
        (ALL, ["v2"], None, "v2"),
        (V3, ["v3", "v4"], None, "v3"),
    ],
)
def test_the_highest_level_that_runs_is_taken_unless_another_is_wanted(able, built, wanted, level):
    assert kernel_level.best(able, built, wanted) == level


@pytest.mark.parametrize(
    "able, wanted, said",
    [
        (V3, "v4", "SOLFEC_KERNELS=v4: kernels of x86-64-v4 need avx512bw"),
        (V3 - {"popcnt"}, None, "kernels of x86-64-v2 need popcnt, which this processor lacks"),
        (V3, "v9", "SOLFEC_KERNELS=v9: this installation has kernels of v2, v3, v4"),
    ],
)
def test_kernels_that_the_processor_cannot_run_are_refused_before_they_run(able, wanted, said):
    with pytest.raises(ImportError, match=said):
        kernel_level.best(able, ["v2", "v3", "v4"], wanted)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels are those of x86-64")
def test_features_are_those_that_linux_names():
    theirs = {"sse3": "pni", "lahf": "lahf_lm", "lzcnt": "abm"}
    with open("/proc/cpuinfo") as file:
        words = set(next(line for line in file if line.startswith("flags")).split())
    assert kernel_level.features() == {name for name in kernel_level.PLACES if theirs.get(name, name) in words}
    assert set(kernel_level.PLACES) == ALL


def test_folders_of_levels_are_looked_into_where_they_are(tmp_path, monkeypatch):
    assert kernel_level.choose(str(tmp_path)) == []
    for level in ("v2", "v3"):
        (tmp_path / "levels" / level).mkdir(parents=True)
    monkeypatch.setattr(kernel_level, "features", lambda: ALL)
    monkeypatch.setattr(kernel_level, "chosen", kernel_level.NATIVE)
    assert kernel_level.choose(str(tmp_path)) == [str(tmp_path / "levels" / "v3")] and kernel_level.chosen == "v3"


def test_a_level_that_an_installation_lacks_is_an_error():
    done = subprocess.run([sys.executable, "-c", "import solfec"], env=dict(os.environ, SOLFEC_KERNELS="v1"), capture_output=True, text=True)
    assert done.returncode == 1 and "SOLFEC_KERNELS=v1: this installation has kernels of" in done.stderr


@pytest.mark.parametrize("command", [[str(Path(sys.executable).with_name("solfec"))], [sys.executable, "-m", "solfec"]], ids=["solfec", "python -m"])
def test_the_command_says_so_in_one_line(command, tmp_path):
    done = subprocess.run([*command, "info", tmp_path], env=dict(os.environ, SOLFEC_KERNELS="v1"), capture_output=True, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("solfec: SOLFEC_KERNELS=v1: this installation has kernels of")


def test_results_name_kernels_and_a_run_that_others_continue_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fall.py").write_text(RUN % 0.1)
    assert cli.main(["fall.py"]) == 0 and cli.main(["info", "out/fall"]) == 0
    assert f"kernels {kernel_level.chosen}" in capsys.readouterr().out
    (tmp_path / "fall.py").write_text(RUN % 0.2)
    with h5py.File("out/fall/fall.h5", "r+") as file:
        assert bytes(file.attrs["kernels"]).rstrip(b"\0").decode() == kernel_level.chosen
        file.attrs["kernels"] = b"v0"
    assert cli.main(["-c", "fall.py"]) == 0
    printed = capsys.readouterr()
    assert f"begun with kernels of v0; these are of {kernel_level.chosen}, and last digits may differ" in printed.out + printed.err
