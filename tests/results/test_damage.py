"""Damaged and hostile results files end with an error that names the file and the field; nothing in them reaches a kernel, a terminal or other files."""

import os
import shutil
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from mutation import MODEL
from spoilt_calls import campaign, run

from solfec import cli, results
from solfec.errors import SolfecError
from solfec.results import journal

MUTATION = Path(__file__).with_name("mutation.py")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A directory with the model and its results."""
    directory = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        Path("model.py").write_text(MODEL)
        assert cli.main(["--quiet", "model.py", "0.01"]) == 0
    return directory


@pytest.fixture
def look(whole, tmp_path, monkeypatch, capfd):
    """`look(change)` damages a copy by change(h5py file) and returns what reading and continuing it say."""
    monkeypatch.chdir(tmp_path)

    def look(change, status=1):
        said = []
        for words in (["model.py", "0.01"], ["-c", "model.py", "0.014"]):
            shutil.rmtree("here", ignore_errors=True)
            shutil.copytree(whole, "here")
            monkeypatch.chdir("here")
            with h5py.File("out/m/m.h5", "r+") as file:
                change(file)
            assert cli.main(["--quiet", *words]) == status
            said.append(capfd.readouterr().err.split("\n")[0])
            monkeypatch.chdir("..")
        return said

    return look


def put(name, field, value, row=-1):
    def change(file):
        rows = file[name][...]
        (rows if field is None else rows[field])[row] = value
        file[name][...] = rows

    return change


@pytest.mark.parametrize(
    "name, field, value",
    [
        ("model/mesh_vertices", None, 10**6), ("model/mesh_vertices", None, -1), ("model/mesh_primitives", None, 10**6),
        ("model/mesh_elements", "node", 10**6), ("model/mesh_elements", "size", 7), ("model/mesh_elements", "material", 10**6),
        ("model/vertices", None, np.nan), ("model/vertex_lists", None, 10**6), ("model/corners", None, -2), ("model/adjacency", None, 99),
        ("model/faces", "corner_ptr", 10**6), ("model/faces", "corner_count", 1), ("model/primitives", "vertex_ptr", -1),
        ("model/primitives", "outer_count", 1000), ("model/primitives", "kind", 9), ("model/mesh_nodes", "place", np.inf),
        ("frames/body_lists", "definition", -1), ("frames/body_lists", "conf_first", 10**6), ("frames/body_lists", "id", 1),
        ("frames/steps", "list_first", 1000), ("frames/steps", "step", np.nan), ("frames/constraints", "master", 10**6),
        ("frames/constraints", "slave_primitive", 10**6), ("frames/constraints", "kind", 77), ("frames/configurations", None, np.nan),
        ("model/functions", "first", 10**9), ("model/function_knots", None, np.nan), ("model/bodies", "node_count", 10**6), ("model/bodies", "id", -(2**62)),
    ],
)  # fmt: skip
def test_a_wrong_number_is_an_error_that_names_file_and_field(look, name, field, value):
    for said in look(put(name, field, value)):
        assert "out/m/m.h5" in said and "seems damaged" in said, said
        assert name.split("/")[1] in said or name in ("frames/steps", "model/bodies"), said


@pytest.mark.parametrize("name", ["frames/steps", "frames/constraints", "model/mesh_elements", "model/settings"])
@pytest.mark.parametrize("how", ["group", "numbers", "gone"])
def test_another_form_of_a_table_is_an_error_that_names_the_file(look, name, how):
    def change(file):
        del file[name]
        if how == "group":
            file.create_group(name)
        elif how == "numbers":
            file[name] = np.arange(9.0)

    for said in look(change):
        assert "out/m/m.h5" in said and "Error:" not in said, said


@pytest.mark.parametrize("text", [b"[]", b'{"surface materials": -1}', b"{", b"null"])
def test_settings_of_another_form_are_an_error_that_names_the_file(look, text):
    def change(file):
        rows = file["model/settings"][...]
        rows["first"], rows["length"] = 0, len(text)
        file["model/settings"][...] = rows
        file["model/texts"][: len(text)] = np.frombuffer(text, "u1")

    for said in look(change):
        assert "out/m/m.h5" in said and "Error:" not in said, said


def test_a_file_without_frames_is_called_damaged_and_numbers_of_frames_are_checked(whole, tmp_path):
    (tmp_path / "m").mkdir()
    shutil.copy(whole / "out/m/m.h5", tmp_path / "m/m.h5")
    with results.open(tmp_path / "m") as run:
        for wrong in ("x", 1.5, None):
            with pytest.raises(SolfecError, match=f"the number of a frame is a whole number, not {wrong!r}"):
                run.bodies(wrong)
        assert run.bodies(np.int64(0))["id"].tolist() == run.bodies(0)["id"].tolist()
    with h5py.File(tmp_path / "m/m.h5", "r+") as file:
        del file["frames"]
    with pytest.raises(SolfecError, match="m.h5: /frames is missing, the file seems damaged"):
        results.open(tmp_path / "m")


def test_a_file_that_this_process_holds_with_locking_is_an_error_that_says_what_to_do(whole, tmp_path):
    shutil.copy(whole / "out/m/m.h5", tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5", "r", locking=True), pytest.raises(SolfecError, match="m.h5: this process .* locking=False"):
        results.open(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5", "r", locking=False), results.open(tmp_path / "m.h5") as run:
        assert len(run.steps)


@pytest.mark.parametrize("size, count", [(1, 2**61), (0, 0), (10**15, 0), (4096, 1)])
def test_a_journal_whose_header_is_damaged_does_not_hide_results(whole, tmp_path, monkeypatch, capfd, size, count):
    shutil.copytree(whole, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    length = os.path.getsize("out/m/m.h5")
    for magic in (b"SOLFJRN2", journal.MAGIC):
        Path("out/m/m.h5.journal").write_bytes(journal.HEADER.pack(magic, 5, 4, size, journal.HEADER.size, count, zlib.crc32(b"", 5)))
        assert cli.main(["info", "out/m"]) == 0
        assert cli.main(["--quiet", "model.py", "0.01"]) == 0
        assert os.path.getsize("out/m/m.h5") == length
    assert cli.main(["--quiet", "-c", "model.py", "0.014"]) == 0
    assert len(results.open("out/m").times) == 15


def test_a_journal_that_cannot_be_read_does_not_hide_results(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "here")
    (tmp_path / "here/out/m/m.h5.journal").mkdir()
    assert len(results.open(tmp_path / "here/out/m").times) == 11


@pytest.mark.parametrize("how", ["external", "link", "soft link", "virtual"])
def test_parts_that_lie_in_other_files_are_refused(whole, tmp_path, monkeypatch, how):
    shutil.copytree(whole, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    Path("secret").write_bytes(b"TOPSECRET" * 100)
    with h5py.File("other.h5", "w") as other:
        other["input"] = np.zeros(90, "u1")
    with h5py.File("out/m/m.h5", "r+") as file:
        del file["model/input"]
        if how == "external":
            file["model"].create_dataset("input", shape=(90,), dtype="u1", external=[(os.path.abspath("secret"), 0, 90)])
        elif how == "link":
            file["model/input"] = h5py.ExternalLink(os.path.abspath("other.h5"), "/input")
        elif how == "soft link":
            file["model/input"] = h5py.SoftLink("/model/texts")
        else:
            layout = h5py.VirtualLayout(shape=(90,), dtype="u1")
            layout[:] = h5py.VirtualSource(os.path.abspath("other.h5"), "input", shape=(90,))
            file.create_virtual_dataset("model/input", layout)
    for action in (results.open, results.ResultsWriter.append):
        with pytest.raises(SolfecError, match="/model/input is"):
            action("out/m")


PLANTED = "S = SOLFEC('DYNAMIC', 1E-3, 'o/m')\nBODY(S, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(S))\nRUN(S, PENALTY_SOLVER(), 0.002)\n"


def test_a_table_that_cannot_grow_is_named_when_the_run_is_continued(whole, tmp_path, monkeypatch, capfd):
    shutil.copytree(whole, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    with h5py.File("out/m/m.h5", "r+") as file:
        rows = file["model/base_numbers"][...]
        del file["model/base_numbers"]
        file["model/base_numbers"] = rows  # of a fixed length
    assert cli.main(["--quiet", "-c", "model.py", "0.014"]) == 1
    assert "out/m/m.h5: /model/base_numbers cannot grow, the file seems damaged" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["m.h5.new", "m.h5.new.journal", "m.h5.journal", "m.py.new", "m.py", "STATE", "STATE.new"])
@pytest.mark.parametrize("plant", [os.symlink, os.link])
@pytest.mark.parametrize("again", [[], ["-c"]])
def test_planted_links_are_not_followed(tmp_path, monkeypatch, name, plant, again):
    monkeypatch.chdir(tmp_path)
    Path("in.py").write_text(PLANTED)
    if again:
        assert cli.main(["--quiet", "in.py"]) == 0
        Path("in.py").write_text(PLANTED.replace("0.002", "0.004"))
    os.makedirs("o/m", exist_ok=True)
    Path("victim").write_text("precious")
    with_room = Path("o/m") / name
    with_room.unlink(missing_ok=True)
    plant(os.path.abspath("victim"), with_room)
    assert cli.main(["--quiet", *again, "in.py"]) == 0
    assert Path("victim").read_text() == "precious"
    assert len(results.open("o/m").times) == (5 if again else 3)


def test_control_characters_do_not_reach_the_terminal(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    label = "\\x1b]0;owned\\x07\\x1b[2J"
    Path("in.py").write_text(PLANTED.replace("(S))\n", f"(S), label='{label}')\nBYLABEL(S, 'BODY', '{label}')\n"))
    assert cli.main(["in.py"]) == 0
    assert cli.main(["info", "o/m"]) == 0
    Path("bad.py").write_text(f"raise ValueError('{label}')\n")
    assert cli.main(["bad.py"]) == 1
    out, err = capfd.readouterr()
    assert "\x1b" not in out + err and "\\x1b]0;owned\\x07" in out and "\\x1b]0;owned\\x07" in err


@campaign(8, range(2, 7), 400, timeout=7200)
def test_files_with_damage_of_every_sort_never_end_in_a_crash_or_an_error_of_pythons_own(seed, count, tmp_path):
    assert run(MUTATION, seed, count, tmp_path).stdout == ""
