"""What legacy inputs import besides the commands."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_parmec_command import parmec

from solfec import cli
from solfec.parmec import MATERIAL, MESH, model
from solfec.parmec.hexahedra import MESH_HEX
from solfec.parmec.sweeps import acc_sweep

SWEEPS = json.loads((Path(__file__).parent.parent / "data" / "parmec.json").read_text())["acc_sweep"]
CUBE = [(0, 0, 0), (2, 0, 0), (2, 3, 0), (0, 3, 0), (0, 0, 4), (2, 0, 4), (2, 3, 4), (0, 3, 4)]


@pytest.mark.parametrize("case", SWEEPS, ids=lambda case: f"{case['lofq']:g} to {case['hifq']:g} Hz")
def test_sweeps_are_parmecs(case):
    histories = acc_sweep(case["step"], case["stop"], case["lofq"], case["hifq"], case["amag"])
    assert [len(history) for history in histories] == case["lengths"]
    for name, history in zip(("vt", "vd", "vv", "va"), histories):
        assert np.array(history)[case["index"]] == pytest.approx(case[name], abs=1e-12)


def test_a_dwell_has_the_velocity_of_a_sine():
    _, _, v, a = map(np.array, acc_sweep(0.0005, 5.0, 2.0, 2.0, 3.0))
    omega = 4 * np.pi
    assert np.abs(a).max() == pytest.approx(3, rel=1e-4)
    assert np.ptp(v) / 2 == pytest.approx(3 / omega, rel=1e-3)


def test_a_short_sweep_is_refused():
    with pytest.raises(ValueError, match="at least 5 maxima"):
        acc_sweep(0.001, 1.0, 1.0, 1.0, 1.0)


def test_a_grid_of_hexahedra_is_the_body_of_one(tmp_path):
    material = MATERIAL(10, 1, 0.3)
    assert MESH_HEX(CUBE, 2, 3, 4, material, [1, 2, 3, 4, 5, 6], dx=[1, 3]) == 0
    MESH(np.ravel(CUBE).tolist(), [8, 0, 1, 2, 3, 4, 5, 6, 7, material], material, 1)
    p = model.current().particles
    assert p.mass[0] == pytest.approx(240)
    assert p.inertia[:, :, 0] == pytest.approx(p.inertia[:, :, 1], abs=1e-9)
    surface = model.current().surfaces[0]
    faces = surface.points[surface.triangles]
    for color, (axis, value) in {1: (2, 0), 2: (0, 0), 3: (1, 3), 4: (0, 2), 5: (1, 0), 6: (2, 4)}.items():
        assert (faces[surface.colours == color][..., axis] == value).all()
        assert (surface.colours == color).any()


@pytest.mark.parametrize(("arguments", "message"), [
    ((CUBE[:7], 1, 1, 1, 0, [1] * 6), "MESH_HEX: 'nodes' must hold 8"), ((CUBE, 0, 1, 1, 0, [1] * 6), "MESH_HEX: 'i' must be at least 1"),
    ((CUBE, 1, 1, 1, 1, [1] * 6), "MESH_HEX: 'material' must be"), ((CUBE, 1, 1, 1, 0, [1] * 5), "MESH_HEX: 'colors' must hold 6"),
])  # fmt: skip
def test_wrong_grids_are_refused(arguments, message):
    MATERIAL(10, 1, 0.3)
    with pytest.raises(ValueError, match=message):
        MESH_HEX(*arguments)


LEGACY = """
import os, sys
def where (program):
  for path in os.environ["PATH"].split (os.pathsep):
    if os.path.exists (os.path.join (path, program)):
      return path
  return None
path = where ('parmec4')
if path == None:
  print 'ERROR: parmec4 is not in PATH'
  sys.exit (1)
sys.path.append (os.path.join (path, 'python'))
from acc_sweep import acc_sweep
from mesh_hex import MESH_HEX
from progress_bar import *
vt, vd, vv, va = acc_sweep (0.001, 5.0, 2., 8., 5.0)
print len (vt)
"""


def test_legacy_inputs_find_their_helpers(tmp_path):
    end = "progress_bar (3, 3, 'done', length = 4)\nprint MESH_HEX ([(0,0,0),(1,0,0),(1,1,0),(0,1,0),(0,0,1),(1,0,1),(1,1,1),(0,1,1)], 1, 1, 1, MATERIAL (1, 1, .3), [1]*6)\n"
    done = parmec(tmp_path, LEGACY + end, "input.py")
    assert done.stdout == "5100\n\ndone |####| 100.0% \n0\n"


def test_inputs_of_solfec_find_them_too(tmp_path, monkeypatch, capsys):
    (tmp_path / "input.py").write_text(LEGACY)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["input.py"]) == 0
    assert capsys.readouterr().out == "5100\n"
