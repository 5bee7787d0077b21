"""MED files, read back by medcoupling and by their datasets."""

import glob
import subprocess
import sys

import h5py
import numpy as np
import pytest

from solfec.parmec import DEM, GRANULAR, MATERIAL, MESH, OUTPUT, SPHERE, SPRING, VELOCITY, model

mc = pytest.importorskip("medcoupling")
TETRAHEDRON = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
STEP = 1 / 1024


def frames(path, name, place=None):
    """Times (n,) and values (n, points, components) of a field."""
    place = mc.ON_NODES if place is None else place
    steps = mc.GetAllFieldIterations(path, name)
    values = [mc.ReadField(place, path, "PARMEC mesh", 0, name, frame, order).getArray().toNumPyArray() for frame, order, _ in steps]
    return np.array([time for _, _, time in steps]), np.array(values).reshape(len(steps), len(values[0]), -1)


def points(path):
    return mc.ReadUMeshFromFile(path, "PARMEC mesh").getCoords().toNumPyArray()


def test_triangles_have_one_mesh_and_their_motion():
    material = MATERIAL(1000, 1e9, 0.3)
    MESH(TETRAHEDRON, [4, 0, 1, 2, 3, material], material, 7)
    VELOCITY(0, (1, 0, -2), (0, 0, 3))
    OUTPUT(mode="MESH", format=["MED", "XDMF"])
    DEM(5 * STEP, STEP, prefix="a")
    times, moved = frames("a0.med", "DISPL")
    mesh = mc.ReadUMeshFromFile("a0.med", "PARMEC mesh")
    assert mesh.getMeshDimension() == 2
    assert mesh.getNumberOfCells() == 4
    with h5py.File("a0.h5") as file:
        assert len(times) == len(file) >= 5
        for k in range(len(file)):
            assert times[k] == file[str(k)].attrs["TIME"]
            np.testing.assert_allclose(points("a0.med") + moved[k], file[f"{k}/GEOM"][...], atol=1e-15)
            np.testing.assert_array_equal(frames("a0.med", "ANGVEL", mc.ON_CELLS)[1][k], file[f"{k}/ANGVEL"][...])
    volume = mesh.getCoords().toNumPyArray().reshape(-1, 3, 3)
    assert np.einsum("ni,ni->", volume[:, 0], np.cross(volume[:, 1], volume[:, 2])) / 6 == pytest.approx(1 / 6, rel=1e-14)  # outward
    assert frames("a0.med", "COLOR", mc.ON_CELLS)[1][0].ravel().tolist() == [7] * 4


def test_springs_have_the_motion_of_their_points():
    for i in range(2):
        SPHERE((3 * i, 0, 0), 1, MATERIAL(1, 1e9, 0.3), 1)
        VELOCITY(i, (0, 1, 0))
    SPRING(0, (0, 0, 0), 1, (3, 0, 0), [-1, -1, 1, 1])
    OUTPUT(mode=["SL", "SPH"], format="MED")
    DEM(4 * STEP, STEP, prefix="a")
    times, moved = frames("a0sl.med", "MOTION")
    assert points("a0sl.med") == pytest.approx(np.array([[1.5, 0, 0]]))
    assert moved[1:, 0, 1] == pytest.approx(times[1:] + 1.5 * STEP)
    assert frames("a0sl.med", "LENGTH")[1].ravel() == pytest.approx(3.0)
    _, spheres = frames("a0sp.med", "DISPL")
    assert spheres[:, :, 1] == pytest.approx(np.repeat(moved[:, 0, 1:2], 2, axis=1))
    assert frames("a0sp.med", "RADIUS")[1].ravel() == pytest.approx(1.0)


def fall(number=3):
    """Spheres that reach one that rests above the others' places at different times."""
    material = MATERIAL(1, 1e9, 0.3)
    for i in range(number):
        SPHERE((3 * i, 0, 0), 1, material, 1)
        SPHERE((3 * i, 0, 2.001 + 0.004 * i), 1, material, 1)
        VELOCITY(2 * i + 1, (0, 0, -1))
    GRANULAR(1, 1, 1e3, 0.1)


def test_another_number_of_contacts_begins_another_file():
    fall()
    OUTPUT(mode="CD", format="MED")
    DEM(16 * STEP, STEP, prefix="a")
    found = sorted(glob.glob("a0cd*.med"))
    assert len(found) == 3
    assert [len(points(path)) for path in sorted(found, key=lambda path: frames(path, "F")[0][0])] == [1, 2, 3]
    counted = sum(len(frames(path, "F")[0]) for path in found)
    numbers = np.concatenate([[frame for frame, _, _ in mc.GetAllFieldIterations(path, "F")] for path in found])
    assert counted == len(set(numbers.tolist())) == numbers.max() - numbers.min() + 1


def test_runs_that_go_on_cut_frames_and_new_ones_remove_files():
    fall()
    OUTPUT(mode=["CD", "SPH"], format="MED")
    DEM(16 * STEP, STEP, prefix="a")
    writer = model.current().writer
    writer.rewind(9)
    assert [frame for frame, _, _ in mc.GetAllFieldIterations("a0sp.med", "DISPL")] == list(range(9))
    left = [frame for path in glob.glob("a0cd*.med") for frame, _, _ in mc.GetAllFieldIterations(path, "F")]
    assert max(left) == 8
    DEM(2 * STEP, STEP)
    assert [frame for frame, _, _ in mc.GetAllFieldIterations("a0sp.med", "DISPL")][:10] == list(range(10))
    writer._remove_old()
    assert glob.glob("*.med") == []


FALL = """
m = MATERIAL (1., 1E9, 0.3)
for i in range (3):
  SPHERE ((3*i, 0, 0), 1, m, 1)
  SPHERE ((3*i, 0, 2.001+0.004*i), 1, m, 1)
  VELOCITY (2*i+1, (0, 0, -1))
GRANULAR (1, 1, 1E3, 0.1)
OUTPUT (mode = ['CD', 'SPH'], format = ['MED', 'HDF5'])
DEM (%g, 1E-3, 0.003)
"""


def test_a_run_that_is_continued_has_the_files_of_a_whole_one(tmp_path):
    def run(folder, duration, *words):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "in.py").write_text(FALL % duration)
        subprocess.run([sys.executable, "-m", "solfec.parmec_command", *words, "in.py"], cwd=tmp_path / folder, check=True, timeout=120)

    run("whole", 0.03)
    run("parts", 0.015)
    run("parts", 0.03, "-c")
    found = [sorted(path.name for path in (tmp_path / folder).glob("*.med")) for folder in ("whole", "parts")]
    assert found[0] == found[1]
    assert len(found[0]) == 4
    for name in found[0]:
        whole, parts = (str(tmp_path / folder / name) for folder in ("whole", "parts"))
        np.testing.assert_array_equal(points(whole), points(parts))
        assert sorted(mc.GetAllFieldNames(whole)) == sorted(mc.GetAllFieldNames(parts))
        for field in mc.GetAllFieldNames(whole):
            for one, two in zip(frames(whole, field), frames(parts, field), strict=True):
                np.testing.assert_array_equal(one, two)
