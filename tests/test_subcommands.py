"""`solfec info`, `plot`, `completion`, and the switches --quiet and --log."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

from solfec import cli, results
from solfec.results import plot
from solfec.switches import NEW_SWITCHES, SUBCOMMANDS, SWITCHES

DROP = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/drop')
bulk = BULK_MATERIAL(solfec, young=1E7, density=1000.0, label='stone')
floor = [c for z in (-1, 0) for y in (-2, 2) for x in (-2, 2) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', HULL(floor, 1, 1), bulk, label='floor')
cube = [c for z in (0, 1) for y in (0, 1) for x in (0, 1) for c in (x, y, z)]
BODY(solfec, 'PSEUDO_RIGID', HULL(cube, 2, 2), bulk, label='block')
GRAVITY(solfec, (0, 0, -10))
OUTPUT(solfec, 5E-3)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-4, 100), 0.02)
print('done')
"""


@pytest.fixture(scope="module")
def drop(run_once):
    """Directory in which the input has run, with `out/drop`."""
    return run_once(DROP, "three", "4")


@pytest.fixture
def say(drop, monkeypatch, command_line):
    """`say(*words)` runs a command line beside `out/drop`; its status, output and errors."""
    monkeypatch.chdir(drop)
    return command_line


# --- info --------------------------------------------------------------------------------------------------


def test_info_tells_what_results_hold(say):
    status, out, _ = say("info", "out/drop", "out/drop/drop.h5")
    assert status == 0 and out.count("drop.h5\n") == 2
    for text in ("by solfec 0.", "arguments    three 4", "5, time 0 to 0.02", "1 OBSTACLE, 1 PSEUDO_RIGID", "floor, block", "bulk stone; surface DEFAULT"):
        assert text in out, text


def test_info_for_programs(say):
    status, out, _ = say("info", "--json", "out/drop")
    (facts,) = json.loads(out)
    assert status == 0
    assert (facts["frames"], facts["time"], facts["steps"], facts["runs"]) == (5, [0.0, 0.02], 20, 1)
    assert facts["constraints"] == {"CONTACT": 1} and facts["arguments"] == ["three", "4"] and not facts["unfinished"]


def test_info_executes_nothing_and_names_what_it_cannot_read(say, tmp_path):
    assert say("info", str(tmp_path))[0] == 1
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "bad.h5").write_bytes(b"no HDF5 at all")
    (tmp_path / "bad" / "bad.py").write_text("raise SystemExit(7)")
    status, _, err = say("info", str(tmp_path / "bad"))
    assert status == 1 and "bad.h5: cannot be read" in err and len(err.splitlines()) == 1


# --- plot --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word, item",
    [
        ("KINETIC", (None, "KINETIC")),
        ("STEP", "STEP"),
        ("*:GAP", (None, "GAP")),
        ("block:KINETIC", ("block", "KINETIC")),
        ("2:R", (2, "R")),
        ("block:0,0.5,-1e3:DZ", ("block", (0.0, 0.5, -1000.0), "DZ")),
        ("a:b:0,0,1:MISES", ("a:b", (0.0, 0.0, 1.0), "MISES")),
        ("block:0,0,1:R", ("block", (0.0, 0.0, 1.0), None, "R")),
        ("*:-:1,2:CU", (None, None, (1, 2), "CU")),
    ],
)
def test_items_are_single_words(word, item):
    assert plot.parse_item(word) == item


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_plots_draw_a_panel_for_each_kind_of_item(say, tmp_path, ending):
    picture = tmp_path / f"picture.{ending}"
    status, out, err = say("plot", "-o", str(picture), "out/drop", "block:0,0,1:DZ", "block:0,0,1:MISES", "KINETIC", "EXTERNAL", "*:R")
    assert (status, out, err) == (0, f"{picture}\n", "")
    begin = picture.read_bytes()[:300]
    assert begin.startswith(b"\x89PNG") if ending == "png" else b"<svg" in begin or b"svg" in begin
    figure = plot.draw_items(np.arange(3.0), {"a": np.ones(3), "b": np.zeros(3), "c": np.ones(3)}, ["x", "y", "x"], "name")
    assert [axis.get_ylabel() for axis in figure.axes] == ["x", "y"] and [len(axis.lines) for axis in figure.axes] == [2, 1]


@pytest.mark.parametrize(
    "words, said",
    [
        (["block:DZ"], "DZ needs a body and a point"),
        (["nobody:KINETIC"], "there is no body nobody in the results"),
        (["9:KINETIC"], "there is no body 9 in the results"),
        (["block:0,0:DZ"], "DZ needs a body and a point"),
        (["block:dz"], "is no item"),
        (["*:0,0,0:1,2:R"], "R needs a direction, and 0,0,0 is none"),
        (["SPIN"], "unknown"),
        (["STEP", "-o", "picture.xyz"], "xyz"),
        (["STEP", "-o", "input.py/picture.png"], "input.py/picture.png: cannot be written"),
        (["STEP", "--from", "2", "--to", "1"], "t0 = 2 is larger than t1 = 1"),
    ],
)
def test_plots_that_cannot_be_drawn_say_why(say, words, said):
    status, out, err = say("plot", "out/drop", *words)
    assert status == 1 and out == "" and said in err and err.startswith("solfec plot: ")


@pytest.mark.parametrize("words", [["--csv", "-o", "input.py"], ["--vtkhdf", "-o", "input.py/new"]])
def test_exports_into_a_file_say_that_they_need_a_directory(say, words):
    status, out, err = say("export", "out/drop", *words)
    assert (status, out) == (1, "") and f"input.py is a file, and {words[0]} needs a directory" in err


@pytest.mark.parametrize(
    "words, size", [(["export", "out/drop", form, "-o", "full/x"], size) for form in ("--vtkhdf", "--xdmf") for size in (0, 3000, 20000)]
    + [(["export", "out/drop", form, "-o", "full/x"], 300) for form in ("--csv", "--gltf")] + [(["new", "full/x"], 100)],
)  # fmt: skip
def test_a_full_disk_is_an_error_that_names_the_file(drop, words, size):
    """HDF5 ended some exports with a traceback, and others with a violation of memory; `solfec new` left an empty file, which it did not replace later."""
    shutil.rmtree(drop / "full", ignore_errors=True)
    limited = "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); from solfec import cli; " \
              f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); sys.exit(cli.main(sys.argv[1:]))"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", limited, *words], cwd=drop, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert re.fullmatch(rf"solfec {words[0]}: full/x[.\w]*: cannot be written: File too large\n", done.stderr), done.stderr
    if words[0] == "new":
        assert cli.main(["new", str(drop / "full/x")]) == 0


@pytest.mark.parametrize("words", [["report", "-o", "page.html"], ["export", "--gltf", "-o", "scene.glb"]])
def test_numbers_of_a_damaged_file_that_overflow_are_an_error(say, drop, words):
    shutil.copytree(drop / "out/drop", drop / "damaged", dirs_exist_ok=True)
    with h5py.File(drop / "damaged/drop.h5", "r+") as file:
        file["frames/configurations"][6:] = 1e300
        file["frames/velocities"][6:] = 1e300
    status, out, err = say(words[0], "damaged/drop.h5", *words[1:])
    assert (status, out) == (1, "") and "seems damaged" in err and "Traceback" not in err


def test_sub_commands_explain_themselves(say):
    for name, *_ in SUBCOMMANDS:
        if name not in ("compare", "fclib"):
            status, out, _ = say(name, "--help")
            assert status == 0 and f"usage: solfec {name}" in out
    assert say("plot")[0] == 2


# --- completion and help -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_switch_and_sub_command(say, shell, tmp_path):
    status, out, _ = say("completion", shell)
    assert status == 0
    for switch, *_ in (*SWITCHES, *NEW_SWITCHES):
        assert (f" -l {switch[2:]} " if shell == "fish" and switch.startswith("--") else switch.lstrip("-")) in out
    assert all(name in out for name, *_ in SUBCOMMANDS)
    if shutil.which(shell):
        (tmp_path / "completion").write_text(out)
        check = [shell, "--no-execute" if shell == "fish" else "-n", str(tmp_path / "completion")]
        assert subprocess.run(check, capture_output=True, timeout=30).returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("line, words", [("solfec --qu", {"--quiet"}), ("solfec inf", {"info"}), ("solfec completion z", {"zsh"})])
def test_bash_completes(say, line, words):
    script = say("completion", "bash")[1]
    script += f'COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _solfec; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30)
    assert set(done.stdout.split()) == words, done.stderr


def test_help_lists_what_parses(say):
    out = say("--help")[1]
    for switch, value, _ in (*SWITCHES, *NEW_SWITCHES):
        assert f"  {switch} " in out
        if switch not in ("-w", "-c"):
            cli.parse([switch, *(["2x2" if value == "WxH" else "2"] if value else []), "input.py"])


# --- --quiet and --log -------------------------------------------------------------------------------------


def test_quiet_leaves_what_the_input_itself_prints(say, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "input.py").write_text(DROP)
    assert say("--quiet", "input.py") == (0, "done\n", "")
    assert say("--quiet", "-c", "input.py") == (0, "done\n", "")


def test_a_log_holds_all_that_is_printed_run_after_run(say, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "input.py").write_text(DROP)
    _, out, _ = say("--log", "run.log", "input.py", "a b")
    (tmp_path / "input.py").write_text(DROP + "SPHERE((0, 0, 0), -1, 1, 1)\n")
    status, again, err = say("--log", "run.log", "-w", "-y", "input.py")
    assert status == 1
    text = (tmp_path / "run.log").read_text()
    assert out in text and again in text and err in text
    assert "  solfec --log run.log input.py 'a b'\n" in text
    ends = [line for line in text.splitlines() if line.startswith("--- ") and " after " in line]
    assert ["status 0" in ends[0], "status 1" in ends[1]] == [True, True]


def test_a_log_that_cannot_be_opened_is_named(say):
    status, out, err = say("--log", "input.py/run.log", "input.py")
    assert status == 2 and "--log: input.py/run.log: Not a directory" in err and out == ""


# --- tables ------------------------------------------------------------------------------------------------


def test_tables_of_bodies_contacts_and_frames_are_columns_for_pandas(drop):
    with results.open(drop / "out" / "drop") as run:
        bodies, contacts, frames = run.bodies(), run.contacts(), run.frames()
        last = run.frame(-1)
        assert len({len(column) for column in bodies.values()}) == len({len(column) for column in contacts.values()}) == 1
        assert bodies["label"].tolist() == ["floor", "block"] and bodies["kind"].tolist() == ["OBSTACLE", "PSEUDO_RIGID"]
        assert bodies["z"][1] == last.configurations[7, 2] and bodies["vz"][1] == last.velocities[5, 2] and bodies["z"][0] == -0.5
        assert bodies["material"].tolist() == ["stone"] * 2 and bodies["mass"][1] == 1000.0
        weight = contacts["rz"].sum() * (1 if contacts["body1"][0] == 2 else -1)
        assert 5e3 < weight < 2e4 and abs(contacts["nz"][0]) == pytest.approx(1.0)
        assert {contacts["surface1"][0], contacts["surface2"][0]} == {1, 2}
        assert contacts["surface1"][0] == contacts["body1"][0]  # surface 1 is the floor's, 2 the block's
        assert frames["time"].tolist() == run.times.tolist() and frames["contacts"][-1] == 1
        assert np.array_equal(frames["kinetic"], run.history((None, "KINETIC"))[1])
        assert len(run.contacts(0)["id"]) == 0 and len(run.bodies(-2)["id"]) == 2


def test_pandas_takes_the_tables(drop):
    pandas = pytest.importorskip("pandas")
    with results.open(drop / "out" / "drop") as run:
        assert pandas.DataFrame(run.bodies()).set_index("label").loc["block", "vz"] == run.bodies()["vz"][1]
        assert pandas.DataFrame(run.contacts()).shape[0] == 1


def test_a_frame_that_does_not_exist_is_named(drop):
    with results.open(drop / "out" / "drop") as run, pytest.raises(RuntimeError, match="there is no frame 9, the results hold 5"):
        run.bodies(9)


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    """As in `solfec completion bash | head -1`, where the reader has gone before anything is printed."""
    command = [sys.executable, "-m", "solfec.cli", "completion", "bash"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 0
