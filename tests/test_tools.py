"""`solfec export`, `report`, `compare`, `new` and `examples`, by their command lines."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
import pyvista

from solfec import cli, results
from solfec.tools import report
from solfec.tools.examples import examples

ROOT = Path(__file__).parent.parent
MODEL = """
solfec = SOLFEC('DYNAMIC', STEP, 'out/NAME', contacts='MANIFOLD')
stone = BULK_MATERIAL(solfec, young=1E6, density=1000, label='stone')
GRAVITY(solfec, (0, 0, -10))
BODY(solfec, 'OBSTACLE', PLANE((0, 0, 0), (0, 0, 1), 4), stone, label='ground')
box = BODY(solfec, 'RIGID', BOX((0, 0, 1), (1, 0.5, 0.2)), stone, label='box')
INITIAL_VELOCITY(box, (1, 0, 0), (0, 0, 3))
BODY(solfec, 'RIGID', SPHERE((0, 1, 2), 0.3, 0, 0), stone, label='ball')
soft = BODY(solfec, 'FINITE_ELEMENT', BOX((0, -1, 1), (0.4, 0.4, 0.4), divisions=(2, 2, 2)), stone, label='soft <one>')
OUTPUT(solfec, 0.02)
RUN(solfec, 0.1)
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Directory with out/one, and out/two of twice the step."""
    directory = tmp_path_factory.mktemp("tools")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        for name, step in (("one", "1E-3"), ("two", "2E-3")):
            Path("model.py").write_text(MODEL.replace("NAME", name).replace("STEP", step))
            assert cli.main(["--quiet", "model.py"]) == 0
    return directory


@pytest.fixture
def say(runs, monkeypatch, command_line):
    """`say(*words)` runs a command line beside `out/one`; its status, output and errors."""
    monkeypatch.chdir(runs)
    return command_line


def ran(say, name, text):
    """Run an input whose results are in out/NAME; return them, open."""
    Path(f"{name}.py").write_text(text)
    assert say(f"{name}.py")[0] == 0
    return results.open(f"out/{name}")


# --- export ------------------------------------------------------------------------------------------------


def test_pyvista_reads_all_times_of_an_export(say):
    assert say("export", "out/one", "--vtkhdf", "-o", "a/run") == (0, "a/run.vtkhdf\n", "")
    run = results.open("out/one")
    with h5py.File("a/run.vtkhdf") as file:
        assert file["VTKHDF/spheres/Steps/Values"][...].tolist() == run.times.tolist()
    reader = pyvista.get_reader("a/run.vtkhdf").reader
    for frame in range(len(run.times)):
        reader.SetStep(frame)
        reader.Update()
        blocks = pyvista.wrap(reader.GetOutputDataObject(0))
        bodies = run.bodies(frame)
        assert blocks["spheres"].points[0] == pytest.approx([bodies[axis][2] for axis in "xyz"], abs=1e-6)


def test_csv_files_hold_the_tables_of_results(say):
    assert say("export", "out/one", "--csv", "-o", "tables", "--bodies", "bo", "--from", "0.04")[0] == 0
    with open("tables/bodies.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    run = results.open("out/one")
    assert [(float(row["time"]), row["label"]) for row in rows] == [(time, "box") for time in run.times[2:]]
    assert [float(row["z"]) for row in rows] == [run.bodies(k)["z"][1] for k in range(2, 6)]
    with open("tables/frames.csv", newline="") as file:
        assert [float(row["kinetic"]) for row in csv.DictReader(file)] == run.steps["energy"][2:, 0].tolist()


def test_xdmf_is_written_where_it_is_asked_for(say):
    status, out, _ = say("export", "out/one", "--xdmf", "-o", "x/run", "--attributes", "disp", "--every", "5")
    assert status == 0 and [Path(line).name for line in out.split()] == ["run.h5", "run_grids.xmf", "run_spheres.xmf", "run_constraints.xmf"]
    assert Path("x/run/run_grids.xmf").read_text().count("<Time") == 2


def glb(path: str):
    """JSON of a file, and a function of the number of an accessor that returns its array."""
    data = Path(path).read_bytes()
    magic, version, length, size, kind = struct.unpack_from("<4sIIII", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), 0x4E4F534A) and not size % 4
    document = json.loads(data[20 : 20 + size])
    binary = data[28 + size :]

    def array(number: int) -> np.ndarray:
        entry = document["accessors"][number]
        view = document["bufferViews"][entry["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry["type"]]
        values = np.frombuffer(binary, "<f4" if entry["componentType"] == 5126 else "<u4", entry["count"] * width, view["byteOffset"])
        return values.reshape(-1, width)

    return document, array


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    corners = points[triangles]
    return float(np.linalg.det(corners).sum() / 6.0)


def test_gltf_holds_models_of_spheres_alone(say):
    text = "solfec = SOLFEC('DYNAMIC', 0.1, 'out/balls')\nBODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))\nRUN(solfec, 0.2)\n"
    ran(say, "balls", text).close()
    assert say("export", "out/balls", "--gltf", "-o", "balls.glb")[:2] == (0, "balls.glb\n")
    document, array = glb("balls.glb")
    part = document["meshes"][0]["primitives"][0]
    assert volume(array(part["attributes"]["POSITION"]).astype(float), array(part["indices"]).reshape(-1, 3)) == pytest.approx(4 / 3 * np.pi, rel=0.07)


def test_gltf_holds_shapes_and_motions(say):
    assert say("export", "out/one", "--gltf", "-o", "run.glb")[:2] == (0, "run.glb\n")
    document, array = glb("run.glb")
    run = results.open("out/one")
    assert [node["name"] for node in document["nodes"][1:]] == ["ground", "box", "ball", "soft <one>"]
    places = {}
    for mesh in document["meshes"]:
        (part,) = mesh["primitives"]
        points, triangles = array(part["attributes"]["POSITION"]).astype(float), array(part["indices"]).reshape(-1, 3)
        places[mesh["name"]] = points
        exact = {"ground": 6.4, "box": 0.1, "ball": 4 / 3 * np.pi * 0.027, "soft <one>": 0.064}[mesh["name"]]
        assert volume(points, triangles) == pytest.approx(exact, rel=0.07 if mesh["name"] == "ball" else 1e-5)  # outward, closed
    (animation,) = document["animations"]
    of = {(c["target"]["node"], c["target"]["path"]): animation["samplers"][c["sampler"]] for c in animation["channels"]}
    assert array(of[2, "translation"]["input"]).ravel() == pytest.approx(run.times)
    shifts, turns = array(of[2, "translation"]["output"]), array(of[2, "rotation"]["output"])
    for frame in range(len(run.times)):
        bodies = run.bodies(frame)
        assert shifts[frame] == pytest.approx([bodies[axis][1] for axis in "xyz"], abs=1e-6)
        assert turns[frame] == pytest.approx([0, 0, np.sin(1.5 * run.times[frame]), np.cos(1.5 * run.times[frame])], abs=1e-5)
    targets = document["meshes"][3]["primitives"][0]["targets"]
    middle = (places["soft <one>"] + array(targets[3]["POSITION"])).mean(0)
    assert middle == pytest.approx([run.bodies(3)[axis][3] for axis in "xyz"], abs=1e-5)
    assert array(of[4, "weights"]["output"]).reshape(6, 6).tolist() == np.eye(6).tolist()


@pytest.mark.parametrize(
    "words, status, text",
    [
        (["out/one"], 2, "one of the arguments --vtkhdf --xdmf --csv --gltf is required"),
        (["out/one", "--csv", "--attributes", "DISP"], 2, "--attributes is for --vtkhdf and --xdmf"),
        (["out/one", "--vtkhdf", "--attributes", "DIPS"], 2, "'DIPS' is none of DISP"),
        (["out/one", "--csv", "--every", "0"], 2, "--every needs a positive number"),
        (["out/one", "--csv", "--from", "3"], 1, "there is no frame between 3 and 0.1"),
        (["out/one", "--csv", "--bodies", "roof"], 1, "'roof' matches no body"),
        (["out/nowhere", "--csv"], 1, "no such results file"),
    ],
)
def test_exports_that_cannot_be_are_refused(say, words, status, text):
    found = say("export", *words)
    assert found[0] == status and text in found[2]


def test_xarray_has_histories_of_bodies(say):
    pytest.importorskip("xarray")
    with results.open("out/one") as run:
        data = run.dataset()
        assert data.time.values.tolist() == run.times.tolist() and data.kinetic.values.tolist() == run.steps["energy"][:, 0].tolist()
        assert data.body_z.sel(body=2).values.tolist() == [run.bodies(k)["z"][1] for k in range(6)]
        assert data.body_vz.where(data.label == "ball", drop=True).values[-1, 0] == run.bodies()["vz"][2]
        assert run.dataset(every=5).sizes == {"time": 2, "body": 4}
        with pytest.raises(ValueError, match="'every' must be at least 1"):
            run.dataset(0)
        with pytest.raises(TypeError, match="'every' must be a whole number of frames, not 1.5"):
            run.dataset(1.5)


def test_bodies_are_missing_before_they_exist(say):
    pytest.importorskip("xarray")
    with ran(
        say, "born",
        "s = SOLFEC('DYNAMIC', 1E-2, 'out/born')\ns.verbose = 'OFF'\nb = BULK_MATERIAL(s)\nBODY(s, 'RIGID', SPHERE((0, 0, 0), 1, 0, 0), b)\n"
        "def add():\n    if s.nbod == 1: BODY(s, 'RIGID', SPHERE((9, 0, 0), 1, 0, 0), b, label='late')\n    return 1\n"
        "CALLBACK(s, 0.02, (), add)\nRUN(s, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.05)\n",
    ) as run:  # fmt: skip
        data = run.dataset()
        late = data.body_x.sel(body=2).values
        assert np.isnan(late[0]) and late[-1] == 9.0 and data.label.values.tolist() == ["", "late"]


# --- compare -----------------------------------------------------------------------------------------------


def test_a_run_does_not_differ_from_itself(say):
    status, out, _ = say("compare", "out/one", "out/one/one.h5")
    assert status == 0 and out.endswith("no difference\n")


def test_differences_are_measured_at_common_times(say):
    status, out, _ = say("compare", "out/one", "out/two")
    one, two = results.open("out/one"), results.open("out/two")
    assert status == 1 and "they differ" in out
    apart = max(np.sqrt(sum((one.bodies(k)[axis] - two.bodies(k)[axis]) ** 2 for axis in "xyz")).max() for k in range(6))
    line = next(line for line in out.splitlines() if "place of bodies" in line)
    assert float(line.split()[3]) == pytest.approx(apart, rel=1e-2) and apart > 0
    assert say("compare", "out/one", "out/two", "--tolerance", "0.5")[0] == 0


def test_results_without_a_common_time_or_body_cannot_be_compared(say):
    assert say("compare", "out/one", "out/nowhere/x.h5")[0] == 2


# --- report ------------------------------------------------------------------------------------------------


def test_a_report_shows_model_energies_and_time(say):
    assert say("report", "out/one", "-o", "pages/one.html")[:2] == (0, "pages/one.html\n")
    page = Path("pages/one.html").read_text()
    assert "1 OBSTACLE, 2 RIGID, 1 FINITE_ELEMENT" in page and "soft &lt;one&gt;" in page and "<one>" not in page
    assert page.count("data:image/png;base64,") == (4 if "There are none" not in page else 1)
    assert "Nothing that this page looks for" in page and "CONSOL" in page


def test_a_report_warns_of_what_is_wrong(say):
    with ran(
        say, "bad",
        "s = SOLFEC('DYNAMIC', 1E-2, 'out/bad')\ns.verbose = 'OFF'\nb = BULK_MATERIAL(s)\nGRAVITY(s, (0, 0, -10))\n"
        "BODY(s, 'OBSTACLE', PLANE((0, 0, 0), (0, 0, 1), 2), b)\nBODY(s, 'RIGID', BOX((0, 0, 0.05), (0.2, 0.2, 0.2)), b)\n"
        "BODY(s, 'RIGID', SPHERE((4, 0, 0), 0.1, 0, 0), b, label='lost')\nRUN(s, GAUSS_SEIDEL_SOLVER(1E-3, 100), 3.0)\n",
    ) as run:  # fmt: skip
        found = " ".join(report.warnings(run))
    assert "Bodies overlap by 0.05" in found and "1 body is far away at the end, body 3" in found


def test_a_report_does_without_the_viewer(say, monkeypatch):
    monkeypatch.setattr("solfec.viewer.PACKAGES", {"no_such_module": "no-such-package"})
    with results.open("out/one") as run:
        assert "There are none: the viewer needs no-such-package" in report.pictures(run)


# --- new and examples --------------------------------------------------------------------------------------


def test_a_new_input_runs_and_is_not_overwritten(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "a/first"]) == 0
    assert "out/first" in Path("a/first.py").read_text()
    assert cli.main(["--quiet", "a/first.py"]) == 0
    with results.open("out/first") as run:
        last = run.bodies()
        assert run.times[-1] == pytest.approx(1.0) and last["z"][3] == pytest.approx(0.3, abs=0.02)
    assert cli.main(["new", "a/first.py"]) == 1
    for nameless in ("", ".", "a/", ".py"):  # hidden files without a name
        assert cli.main(["new", nameless]) == 1
    assert {path.name for path in tmp_path.rglob("*.py")} == {"first.py"}


def test_all_examples_are_listed_and_copied(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["examples"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert sorted(listed) == sorted(path.relative_to(ROOT / "inp").as_posix()[:-3] for path in (ROOT / "inp").rglob("*.py") if "out" not in path.parts)
    assert cli.main(["examples", "press", "cross-check", "-o", "mine"]) == 0
    assert sorted(path.name for path in Path("mine").iterdir()) == ["arch.py", "press.py", "sliding-block.py", "two-blocks.py", "wall.py"]
    assert Path("mine/press.py").read_text() == (ROOT / "inp/tutorial/press.py").read_text()
    capsys.readouterr()
    assert cli.main(["examples", "press", "-o", "mine"]) == 1 and "press.py exists already; nothing was copied" in capsys.readouterr().err
    assert cli.main(["examples", "pres"]) == 1 and "did you mean 'press'?" in capsys.readouterr().err


def test_every_example_has_a_title():
    from solfec.tools.examples import title

    assert not [name for name, path in examples().items() if not title(path)]
