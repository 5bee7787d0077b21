"""Commands that are given a path make its directories; old inputs find this very `solfec` in PATH."""

import os
import sys

import pytest

MODEL = """
from pathlib import Path

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/deep/model')
solfec.verbose = 'OFF'
bulk = BULK_MATERIAL(solfec, young=1E7, poisson=0.25, density=1E3)
nodes = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
body = BODY(solfec, 'FINITE_ELEMENT', HEX(nodes, 1, 1, 1, 1, [1]*6), bulk, form='BC')
ground = BODY(solfec, 'OBSTACLE', HULL([-1,-1,-1, 2,-1,-1, 2,2,-1, -1,2,-1, -1,-1,0, 2,-1,0, 2,2,0, -1,2,0], 2, 2), bulk)
GRAVITY(solfec, (0, 0, -10))
"""
WRITERS = {
    "MODAL_ANALYSIS(body, 8, 'new/a/modes')": "new/a/modes.h5",
    "BODY_MM_EXPORT(body, 'new/a/M', 'new/b/K')": "new/b/K",
    "MBFCP_EXPORT(solfec, 'new/a/model.mbfcp')": "new/a/model.mbfcp",
    "XDMF_EXPORT(solfec, 0, 'new/a/x')": "new/a/x/x_grids.xmf",
    "VTK_EXPORT(solfec, 0, Path('new/a/model'))": "new/a/model.vtkhdf",
    "SOLFEC_EXPORT(solfec, 0, 'new/a/part')": "new/a/part/part.h5",
    "RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.002); LOCDYN_DUMP(solfec, 'new/a/rows')": "new/a/rows",
    "RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.002); FCLIB_EXPORT(solfec, Path('new/a/step.hdf5'))": "new/a/step.hdf5",
}


@pytest.mark.parametrize("command", WRITERS)
def test_a_command_makes_the_directories_that_it_writes_to(good, command, tmp_path):
    good(MODEL + command)
    assert (tmp_path / WRITERS[command]).stat().st_size > 0


def test_solfec_makes_its_output_directory(good, tmp_path):
    good(MODEL + "with open('out/deep/model/notes.txt', 'w') as file: file.write('ours')")
    assert (tmp_path / "out/deep/model/notes.txt").read_text() == "ours"


def test_directories_of_logs_and_plots_are_made(good, tmp_path, capsys):
    from solfec import cli

    good(MODEL + "RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.002)", "--log", "new/run.log", "PATH")
    assert cli.main(["plot", "out/deep/model", "-o", "new/pictures/energy.svg"]) == 0
    assert (tmp_path / "new/run.log").stat().st_size and (tmp_path / "new/pictures/energy.svg").stat().st_size


def test_an_input_finds_this_solfec_in_its_path(good, monkeypatch):
    """Inputs of Solfec-1.0 look the program up to run others; a virtual environment that is not activated is not in PATH."""
    before = os.pathsep.join(["/usr/bin", "/bin"])
    monkeypatch.setenv("PATH", before)
    out = good("import shutil, subprocess\nprint(shutil.which('solfec'))\nprint(subprocess.check_output(['solfec', '--version']).decode())")
    found, version = out.split()[0], out.split()[1:]
    assert os.path.dirname(found) == os.path.dirname(sys.executable) and version[0] == "solfec"
    assert os.environ["PATH"] == before
