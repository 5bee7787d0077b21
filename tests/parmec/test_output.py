"""Files of DEM hold what the model holds, and other programs read them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from solfec import parmec
from solfec.errors import SolfecError, SolfecWarning

BOX = [0, 0, 0, 2, 0, 0, 2, 3, 0, 0, 3, 0, 0, 0, 4, 2, 0, 4, 2, 3, 4, 0, 3, 4]


def scene():
    """A box, a sphere and an analytical particle, which springs join; everything moves and turns."""
    parmec.MATERIAL(1, 1, 0.3)
    parmec.MESH(BOX, [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, [1, 4, 0, 1, 2, 3, 5])
    parmec.SPHERE((5, 0, 0), 0.5, 0, 2)
    parmec.ANALYTICAL(position=(7, 1, 1))
    for k in range(3):
        parmec.VELOCITY(k, (k, 1, 0), (0.1, 0.2 * k, 0.3))
    parmec.SPRING(0, (2, 3, 4), 1, (5, 0, 0.5), [-1, -10, 1, 10], [-1, -1, 1, 1])
    parmec.SPRING(1, (5, 0, 0), 2, (7, 1, 1), [-1, -10, 1, 10], direction=(1, 1, 0))
    parmec.SPRING(2, (7, 1, 1), -1, [(0, 0, 0), (0, 0, 1)], [-1, 10, 0, 0, 1, 0])
    parmec.GRAVITY(0.0, 0.0, -1.0)


def turned(number, point):
    """A referential point where it is now."""
    p = parmec.model.current().particles
    return p.position[:, number] + p.rotation[:, :, number] @ (np.array(point) - p.reference[:, number])


def test_xdmf_files_hold_every_frame(tmp_path):
    scene()
    parmec.DEM(0.5, 1 / 64, 0.125, "scene")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"scene0{suffix}.{ending}" for suffix in ("", "rb", "sl", "sp") for ending in ("h5", "xmf")]
    p = parmec.model.current().particles
    with h5py.File("scene0rb.h5") as file:
        times = [file[str(k)].attrs["TIME"] for k in range(len(file))]
        assert times == pytest.approx([0, 0.125, 0.25, 0.375])
        assert file["0/GEOM"][:].tolist() == [[1, 1.5, 2], [5, 0, 0], [7, 1, 1]]
        assert set(file["0"]) == set("GEOM NUMBER DISPL LINVEL ANGVEL FORCE TORQUE ORIENT ORIENT1 ORIENT2 ORIENT3".split())
    parmec.model.current().writer.write()  # one more, of the present state
    with h5py.File("scene0rb.h5") as file:
        now = file["4"]
        assert (now["LINVEL"][:] == p.view("velocity").T).all()
        assert (now["ORIENT"][:].reshape(-1, 3, 3) == p.view("rotation").transpose(2, 1, 0)).all()
    with h5py.File("scene0.h5") as file:
        geometry, topology = file["4/GEOM"][:], file["4/TOPO"][:]
        assert topology.tolist() == [[4, 3 * k, 3 * k + 1, 3 * k + 2] for k in range(12)]
        corners = np.array([turned(0, corner) for corner in np.array(BOX).reshape(-1, 3)])
        distance = np.linalg.norm(geometry[:, None] - corners, axis=2).min(axis=1)
        assert distance.max() < 1e-14
        assert file["4/COLOR"][:].tolist().count(5) == 2
        begun = file["0/GEOM"][:]
        assert file["4/DISPL"][:] == pytest.approx(geometry - begun, abs=1e-14)
        faces = geometry.reshape(-1, 3, 3)  # outward: their volume is the box's
        assert np.linalg.det(faces - geometry.mean(0)).sum() / 6 == pytest.approx(24)
    with h5py.File("scene0sl.h5") as file:
        now, links = file["4"], parmec.model.current().links
        assert now["GEOM"][0] == pytest.approx((turned(0, (2, 3, 4)) + turned(1, (5, 0, 0.5))) / 2)
        assert now["ORIENT"][1] == pytest.approx(np.array([1, 1, 0]) / np.sqrt(2))
        assert now["ORIENT"][2].tolist() == [0, 0, 1]
        along = turned(1, (5, 0, 0.5)) - turned(0, (2, 3, 4))
        assert now["ORIENT"][0] == pytest.approx(along / np.linalg.norm(along))
        assert now["F"][:].tolist() == links.view("total").tolist()


def test_xdmf_files_are_read_by_vtk():
    pyvista = pytest.importorskip("pyvista")
    scene()
    parmec.DEM(0.25, 1 / 64, 0.125, "scene")
    for suffix, cells in (("", 12), ("rb", 3), ("sl", 3)):
        reader = pyvista.XdmfReader(f"scene0{suffix}.xmf")
        assert reader.time_values == pytest.approx([0, 0.125])
        reader.set_active_time_value(0.125)
        grid = reader.read()
        while isinstance(grid, pyvista.MultiBlock):
            grid = grid[0]
        assert grid.n_cells == cells
        with h5py.File(f"scene0{suffix}.h5") as file:
            assert grid.points == pytest.approx(file["1/GEOM"][:])
            assert grid.point_data["DISPL"] == pytest.approx(file["1/DISPL"][:])


def test_vtk_files_are_read_by_vtk(tmp_path):
    pyvista = pytest.importorskip("pyvista")
    scene()
    parmec.OUTPUT(format=["VTK"])
    parmec.DEM(0.25, 1 / 64, 0.125, "scene")
    assert sorted(path.name for path in tmp_path.glob("scene0.vtk.*")) == ["scene0.vtk.0", "scene0.vtk.1"]
    assert not list(tmp_path.glob("*.h5"))
    shutil.copy("scene0rb.vtk.1", "rb.vtk")
    grid = pyvista.read("rb.vtk")
    assert grid.n_cells == 3
    assert grid.point_data["NUMBER"].tolist() == [0, 1, 2]
    assert grid.point_data["LINVEL"].shape == (3, 3)
    assert grid.point_data["ORIENT"].shape == (3, 9)
    shutil.copy("scene0.vtk.0", "mesh.vtk")
    assert pyvista.read("mesh.vtk").cell_data["COLOR"].tolist().count(5) == 2


def test_dump_files_hold_spheres(tmp_path):
    scene()
    parmec.SPHERE((9, 0, 0), 0.25, 0, 1)
    parmec.OUTPUT(["NUMBER", "LINVEL"], format="DUMP")
    parmec.DEM(0.25, 1 / 64, 0.125, "scene")
    lines = (tmp_path / "scene0.dump").read_text().splitlines()
    assert lines.count("ITEM: ATOMS id x y z radius vx vy vz") == 2
    assert lines[:4] == ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", "2"]
    assert lines[9].split() == ["2", "5.0", "0.0", "0.0", "0.5", "1.0", "1.0", "0.0"]


def test_subsets_have_files_and_values_of_their_own(tmp_path):
    scene()
    parmec.OUTPUT(["DISPL"], mode="RB")
    parmec.OUTPUT(["NUMBER"], [1, 2], ["RB"])
    parmec.DEM(0.1, 0.1, 0.1, "some")
    assert sorted(path.name for path in tmp_path.glob("*.h5")) == ["some0rb.h5", "some1rb.h5"]
    with h5py.File("some0rb.h5") as file:
        assert set(file["0"]) == {"GEOM", "DISPL"}
        assert len(file["0/GEOM"]) == 1
    with h5py.File("some1rb.h5") as file:
        assert file["0/NUMBER"][:].tolist() == [1, 2]


def test_files_go_on_in_the_next_dem():
    scene()
    parmec.DEM(0.25, 1 / 64, 0.0625, "scene")
    parmec.DEM(0.25, 1 / 64, 0.0625)
    with h5py.File("scene0rb.h5") as file:
        times = sorted(group.attrs["TIME"] for group in file.values())
    assert np.array(times) == pytest.approx(np.arange(8) / 16)
    with pytest.raises(ValueError, match="DEM: 'prefix' can be given before the first step only"):
        parmec.DEM(0.25, 1 / 64, 0.125, "other")


def test_intervals_may_change_with_time():
    scene()
    series = parmec.TSERIES([0, 0.1, 1, 0.4])
    times = parmec.HISTORY("TIME")
    parmec.DEM(1.0, 1 / 64, (lambda t: 0.25, series), "scene")
    with h5py.File("scene0rb.h5") as file:
        assert sorted(group.attrs["TIME"] for group in file.values()) == pytest.approx([0, 0.25, 0.5, 0.75])
    assert (np.diff(times)[1:] > np.diff(times)[:-1]).any()
    assert np.diff(times)[0] < 0.2 < 0.25 < np.diff(times)[-1]


def test_histories_are_read_back_from_files():
    scene()
    parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), kyaw=[-1, 5, 1, -5])
    parmec.BALL_JOINT(2, (7, 1, 2))
    particles = [("TIME", 0, None), ("PX", 0, (2, 3, 4)), ("DY", 0, (2, 3, 4)), ("|V|", 0, (2, 3, 4)), ("PZ", [0, 1], None), ("OX", 2, None),
                 ("|F|", 2, None), ("TZ", 1, None)]  # fmt: skip
    wanted = {"rb": particles, "sl": [(name, 1, None) for name in ("LENGTH", "STROKE", "F", "SF", "FF", "SS")],
              "st": [(name, 0, None) for name in ("YAW", "TRQTOT_Y", "XDIR_X", "ZDIR_Z")], "jt": [("JREAC_Z", 0, None), ("|JREAC|", 0, None)]}  # fmt: skip
    recorded = {(kind, name): parmec.HISTORY(name, *rest) for kind, items in wanted.items() for name, *rest in items}
    parmec.DEM(0.5, 1 / 64, 0.125, "scene")
    parmec.model.begin(None)
    read = {(kind, name): parmec.HISTORY(name, *rest, h5file=f"scene0{kind}.h5") for kind, items in wanted.items() for name, *rest in items}
    assert not any(read.values())
    parmec.HISTORY("TIME", h5file="scene0rb.h5", h5last=True)
    for key, values in recorded.items():
        assert len(values) == 4
        assert read[key] == pytest.approx(values, abs=1e-12), key


@pytest.mark.parametrize(("name", "source", "file", "message"), [
    ("ROLL", 0, "scene0rb.h5", "has not what 'ROLL' needs"), ("PX", 9, "scene0rb.h5", "has no number 9"), ("PX", 0, "none.h5", "cannot read 'none.h5'"),
])  # fmt: skip
def test_what_files_do_not_hold_is_named(name, source, file, message):
    scene()
    parmec.DEM(0.1, 0.1, 0.1, "scene")
    with pytest.raises(SolfecError, match=message):
        parmec.HISTORY(name, source, h5file=file, h5last=True)


def test_a_file_stop_ends_a_run_after_the_step_at_hand(tmp_path, capsys):
    parmec.ANALYTICAL()
    (tmp_path / "STOP").touch()

    def gravity(time):
        if time > 0.5:
            (tmp_path / "STOP").touch()
        return 0.0

    parmec.GRAVITY(gravity, 0.0, 0.0)
    times = parmec.HISTORY("TIME")
    parmec.DEM(1.0, 1 / 64, (1e9, 1 / 64))
    assert 0.5 < times[-1] < 0.6
    assert not (tmp_path / "STOP").exists()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"DEM: an old file {tmp_path / 'STOP'} was removed"
    assert lines[1].startswith("DEM: stopped at time 0.5")


def test_progress_is_told_on_terminals_only(monkeypatch, capsys):
    parmec.ANALYTICAL()
    parmec.DEM(1.0, 1 / 64, 1e9)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    parmec.GRAVITY(lambda t: 0.0, 0.0, 0.0)  # Python is asked in every step
    parmec.DEM(1.0, 1 / 64, 1e9)
    printed = capsys.readouterr().out
    assert printed.endswith("DEM 100 %\n")
    assert printed.count("DEM") > 50


def test_med_without_its_package_is_refused(monkeypatch):
    monkeypatch.setattr("solfec.parmec.med_files.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="MED needs the package medcoupling"):
        parmec.OUTPUT(format="MED")
    parmec.OUTPUT(format="VTK")


@pytest.mark.parametrize(("arguments", "message"), [
    ({"mode": "XX"}, "OUTPUT: 'mode' must be one of"), ({"entities": ["SPEED"]}, "OUTPUT: 'entities' must be one of"),
    ({"subset": 9}, "OUTPUT: 'subset' must be the number of a particle"), ({"format": "PDF"}, "OUTPUT: 'format' must be one of"),
])  # fmt: skip
def test_wrong_words_are_refused(arguments, message):
    scene()
    with pytest.raises(ValueError, match=message):
        parmec.OUTPUT(**arguments)
    assert len(parmec.model.current().output_sets) == 1


def test_an_area_that_no_file_holds_draws_a_warning():
    scene()
    with pytest.warns(SolfecWarning, match="OUTPUT: files have no AREA"):
        parmec.OUTPUT(["AREA", "FN"])


def test_torsion_springs_and_joints_have_files_in_global_components():
    parmec.ANALYTICAL(position=(1, 0, 0), rotation=[0, 1, 0, -1, 0, 0, 0, 0, 1])
    parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), kroll=[-1, 100, 1, -100], refpnt=(1, 0, 0))
    parmec.BALL_JOINT(0, (1, 0, 0))
    parmec.VELOCITY(0, angular=(0, 0.5, 0))  # about the particle's own x
    parmec.GRAVITY(0.0, 0.0, -1.0)
    roll = parmec.HISTORY("ROLL")
    parmec.DEM(0.1, 1 / 64, (1 / 64, 1 / 64), "turn")
    with h5py.File("turn0st.h5") as file:
        last = file[str(len(file) - 1)]
        assert set(last) == {"GEOM", "NUMBER", "XDIR", "YDIR", "ZDIR", "TRQROT", "TRQTOT", "TRQSPR"}
        assert last["GEOM"][0].tolist() == [1, 0, 0]
        assert last["XDIR"][0] == pytest.approx([0, 1, 0])
        assert last["TRQROT"][0] == pytest.approx([0, roll[-1], 0])
        assert last["TRQTOT"][0] == pytest.approx([0, -100 * roll[-1], 0])
    with h5py.File("turn0jt.h5") as file:
        assert file["2/JREAC"][0] == pytest.approx([0, 0, 1])


def test_files_of_an_earlier_run_do_not_go_on(tmp_path):
    """Contacts come later than frame 0: their file is the new run's, also where an old one lies there."""
    for height in (1.2, 1.1):
        parmec.model.begin(None)
        parmec.MATERIAL(1000, 1e6, 0.3)
        parmec.SPHERE((0, 0, 1), 1, 0, 1)
        parmec.SPHERE((0, 0, 2 + height), 1, 0, 1)
        parmec.GRANULAR(1, 1, 1e8)
        parmec.VELOCITY(1, (0, 0, -1.0))
        parmec.OUTPUT(format=["XDMF", "DUMP"])
        parmec.DEM(0.25, 1e-3, 0.01, "late")
        with h5py.File("late0cd.h5") as file:
            assert min(map(int, file)) == pytest.approx(100 * (height - 1), abs=1.5)
        assert (tmp_path / "late0.dump").read_text().count("TIMESTEP") == 25
    assert (tmp_path / "late0cd.xmf").read_text().count("<Time") < 20


KILLED = """
import os, re, sys
import h5py
import scipy.spatial  # once for all children
from solfec import parmec
from solfec.errors import SolfecError, SolfecWarning
from solfec.parmec import files, model
from solfec.results import frame_file

def fall():
  model.begin(None)
  parmec.MATERIAL(1000, 1e6, 0.3)
  parmec.SPHERE((0, 0, 0), 0.5, 0, 1)
  parmec.SPHERE((0, 0, 1.001), 0.5, 0, 1)
  parmec.VELOCITY(1, (0, 0, -1))
  parmec.OUTPUT(mode=['CD', 'SPH'], format=['XDMF', 'DUMP'])

def ends_after(count):
  left = [count]
  def counted(function):
    def call(*arguments):
      left[0] -= 1
      if left[0] < 0:
        os._exit(9)
      return function(*arguments)
    return call
  for name in ('pwrite', 'replace', 'ftruncate'):
    setattr(os, name, counted(getattr(os, name)))
  files.open = counted(open)

def in_child(work):
  child = os.fork()
  if child == 0:
    try:
      work()
    except BaseException as error:
      print(repr(error), flush=True)
      os._exit(1)
    os._exit(0)
  return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def killed(count):
  ends_after(count)
  fall()
  parmec.DEM(3e-3, 1e-3, prefix='a')

def go_on():
  # a run that goes on knows how many frames were whole: those of all files that are there
  frames = 3
  for path in (path for path in os.listdir() if path.endswith('.h5')):
    with frame_file.reading(path) as file:
      frames = min(frames, 1 + max(map(int, file)))
  if not os.path.exists('a0sp.h5'):
    frames = 0
  fall()
  writer = model.current().writer = files.Writer(model.current(), 'a')
  writer.rewind(frames)
  parmec.DEM(2e-3, 1e-3)
  for path in (path for path in os.listdir() if path.endswith('.h5')):
    with h5py.File(path) as file:
      own = sorted(map(int, file))
    named = [int(n) for n in re.findall('Grid Name="([0-9]+)"', open(path[:-3] + '.xmf').read())]
    assert own == named, (path, own, named)
    if path == 'a0sp.h5':
      assert own == list(range(writer.frames)), own
  assert open('a0.dump').read().count('ITEM: TIMESTEP') >= writer.frames - 1

for count in range(int(sys.argv[1]), 400, int(sys.argv[2])):
  status = in_child(lambda: killed(count))
  if status == 0:
    print('whole after', count)
    break
  assert status == 9, count
  assert in_child(go_on) == 0, count
  for path in os.listdir():
    os.remove(path)
"""


@pytest.mark.parametrize(("first", "stride"), [(4, 9), pytest.param(0, 1, marks=pytest.mark.slow)])
def test_files_that_were_killed_at_any_write_go_on(first, stride, tmp_path):
    """A contact appears in the midst of the run, so that files begin in several frames."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(first), str(stride)], cwd=tmp_path, capture_output=True, text=True, timeout=280, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "whole after" in done.stdout


@pytest.mark.parametrize("name", ["a0sp.h5", "a0.dump"])
def test_damaged_files_that_should_go_on_are_named(name):
    parmec.MATERIAL(1000, 1e6, 0.3)
    parmec.SPHERE((0, 0, 0), 0.5, 0, 1)
    parmec.OUTPUT(mode="SPH", format=["XDMF", "DUMP"])
    parmec.DEM(3e-3, 1e-3, prefix="a")
    Path(name).write_bytes(b"\xff" * 100)
    with pytest.raises(SolfecError, match=f"{name}: cannot be continued, it seems damaged: .*; remove it, and a new file begins"):
        parmec.model.current().writer.rewind(2)
