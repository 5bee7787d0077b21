"""The command line: words, modes, output directories and exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from solfec import cli, results
from solfec.parallel import communicator

SHOW = "print(NON_SOLFEC_ARGV(), SUBDIR())"
FALL = """
    import sys
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
    solfec.verbose = 'OFF'
    body = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))
    GRAVITY(solfec, (0, 0, -10))
    OUTPUT(solfec, 2E-3)
    mode = solfec.mode
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.01)
    print(mode, solfec.outpath, round(solfec.time, 9))
"""


# --- words -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, arguments, subdirectory",
    [
        ("PATH", None, None),
        ("PATH a -x 3", ["a", "-x", "3"], None),
        ("a PATH b", ["a", "b"], None),
        ("-s sub PATH", None, "sub"),
        ("PATH a -s sub b", ["a", "b"], "sub"),
        ("-i 5 a PATH -w", ["a"], None),
        ("PATH -y -t --version", ["-y", "-t", "--version"], None),
        ("-t 2 -y PATH 2", ["2"], None),
    ],
)
def test_switches_path_and_arguments_are_told_apart(good, words, arguments, subdirectory):
    assert good(SHOW, *words.split()) == f"{arguments} {subdirectory}\n"


def test_path_is_the_first_word_that_names_something(good, tmp_path):
    (tmp_path / "data").mkdir()
    arguments = cli.parse(["later.py", "data", "input.py"])
    assert (arguments.path, arguments.words) == ("data", ["later.py", "input.py"])


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "usage: solfec"),
        (["-w"], "-w: the path of an input must follow"),
        (["missing.py", "3"], "there is no input file 'missing.py'"),
        (["3", "missing.py"], "there is no input file 'missing.py'"),
        (["-s"], "-s needs a value"),
        (["-i", "soon"], "-i needs a number of seconds, not 'soon'"),
        (["-t", "0"], "-t needs a positive whole number"),
        (["-t", "100000"], "-t needs a positive whole number up to 1024, not '100000'"),
        (["--colour"], "unknown switch --colour"),
        (["-c", "-w", "input.py"], "choose one"),
        (["-f", "input.py"], "-f is for the viewer: -v"),
        (["-g", "512x512", "input.py"], "-g is for the viewer: -v"),
        (["-v", "-g", "512", "input.py"], "-g needs a size such as 800x600, not '512'"),
        (["-v", "--convert", "input.py"], "choose one"),
        (["empty/empty.h5"], "'empty/empty.h5' is no input file; its directory gives what it holds: solfec empty"),
        (["empty"], "holds no copy of an input file"),
    ],
)
def test_wrong_command_line_gives_usage_and_status_two(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/empty.h5").touch()
    assert cli.main(words) == 2
    captured = capsys.readouterr()
    assert said in captured.err and "usage: solfec" in captured.err and captured.out == ""


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_several_processes_of_mpiexec_do_not_compute_one_model_each(tmp_path, monkeypatch, capsys, name):
    (tmp_path / "input.py").write_text("print('computed')")
    monkeypatch.setenv(name, "2")
    monkeypatch.setattr(communicator, "_world", None)
    assert cli.main([str(tmp_path / "input.py")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "2 processes were started, and MPI knows of 1" in captured.err or "pip install 'solfec[mpi]'" in captured.err
    monkeypatch.setenv(name, "1")
    assert cli.main([str(tmp_path / "input.py")]) == 0


def test_version_and_help(capsys):
    assert cli.main(["--version"]) == 0 and cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("solfec 0.") and "-s NAME" in out


# --- exit statuses -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line, status", [("pass", 0), ("sys.exit(0)", 0), ("sys.exit(7)", 7), ("sys.exit()", 0), ("sys.exit('why')", 1), ("1 / 0", 1), ("raise KeyboardInterrupt", 130)]
)
def test_exit_status_follows_the_input(run, line, status):
    assert run(f"import sys\n{line}\n").status == status


def test_text_given_to_exit_is_printed(run):
    assert run("import sys\nsys.exit('why')\n").err == "why\n"


def test_own_frames_are_shown_on_request(run):
    plain, full = run("SPHERE((0, 0, 0), -1, 1, 1)\n"), run(None, "--traceback")
    assert "Traceback" not in plain.err and "Traceback" in full.err and "checks.py" in full.err


def test_surroundings_are_restored_after_an_input(run):
    before = (sys.argv, list(sys.path), sys.modules["__main__"])
    run("import sys\nsys.path.append('x')\nsys.argv.append('y')\n1 / 0\n")
    assert before == (sys.argv, sys.path, sys.modules["__main__"])


# --- modes and directories ---------------------------------------------------------------------------------


def test_second_run_reads(good):
    assert good(FALL) == "WRITE out/fall 0.01\n"
    assert good(FALL) == "READ out/fall 0.0\n"


@pytest.mark.parametrize("switches", [(), ("-w", "-y")])
def test_results_of_a_second_object_are_complete_as_soon_as_run_returns(good, switches):
    again = """
    other = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
    ball = BODY(other, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(other))
    SEEK(other, 0.01)
    print(other.mode, other.time, DISPLACEMENT(ball, (0, 0, 0)) == DISPLACEMENT(body, (0, 0, 0)))
    """
    assert good(FALL + again, *switches).splitlines()[1] == "READ 0.01 True"


def test_without_a_terminal_overwriting_takes_two_switches(run, good):
    good(FALL)
    stamp = os.stat("out/fall/fall.h5").st_mtime_ns
    outcome = run(FALL, "-w")
    assert outcome.status == 1 and "put -y before the input's path" in outcome.err
    assert os.stat("out/fall/fall.h5").st_mtime_ns == stamp
    assert good(FALL, "-w", "-y").startswith("WRITE")


@pytest.mark.parametrize("answer, status", [("y", 0), ("n", 1), ("", 1), ("yes", 1)])
def test_on_a_terminal_overwriting_asks(run, good, monkeypatch, answer, status):
    good(FALL)

    class Terminal:
        def isatty(self):
            return True

        def readline(self):
            return answer + "\n"

    monkeypatch.setattr(sys, "stdin", Terminal())
    outcome = run(FALL, "-w")
    assert outcome.status == status
    assert "will be overwritten" in outcome.out


def test_old_results_stay_until_the_first_new_frame(run, good):
    good(FALL)
    outcome = run(FALL.replace("RUN(", "stop; RUN("), "-w", "-y")
    assert outcome.status == 1
    assert results.open("out/fall").times[-1] == pytest.approx(0.01)


def test_subdirectory_is_appended(good):
    assert good(FALL, "-s", "4") == "WRITE out/fall/4 0.01\n"
    assert os.path.isfile("out/fall/4/4.h5") and os.path.isfile("out/fall/4/4.py")


def test_output_directory_is_an_input_path(good):
    good(FALL)
    os.rename("out/fall", "moved")
    os.rename("moved/fall.py", "moved/moved.py")
    os.rename("moved/fall.h5", "moved/moved.h5")
    assert good(None, "moved/", path="moved/").startswith("READ moved 0.0")


def test_trailing_slash_of_an_output_path_is_dropped(good):
    good(FALL.replace("'out/fall'", "'out/fall/'"))
    assert os.path.isfile("out/fall/fall.h5")


def test_input_copy_and_arguments_are_kept_with_the_results(good, tmp_path):
    good(FALL, "PATH", "one", "two")
    with results.open("out/fall") as stored:
        assert stored.arguments == ["one", "two"]
        assert stored.input_text == (tmp_path / "input.py").read_text() == open("out/fall/fall.py").read()


def test_cleanup_removes_an_empty_directory_and_nothing_else(good):
    text = FALL.replace("RUN(", "print(").replace("verbose = 'OFF'", "cleanup = 'ON'")
    os.makedirs("out/fall")
    good(text)
    assert not os.path.exists("out/fall")
    good(FALL)
    good(text, "-w", "-y")
    assert results.open("out/fall").times[-1] == pytest.approx(0.01)


def test_input_may_change_the_directory(run):
    outcome = run("import os\nos.mkdir('d')\nos.chdir('d')\nSPHERE((0, 0, 0), -1, 1, 1)\n")
    assert outcome.err.startswith("input.py:4: ") and "    SPHERE((0, 0, 0), -1, 1, 1)" in outcome.err


def test_number_of_threads_is_set(good):
    text = "from solfec import _kernels\nprint(_kernels.threads.get_threads())"
    assert good(text, "-t", "1") == "1\n"


def test_launcher_runs(tmp_path):
    (tmp_path / "input.py").write_text("print(NON_SOLFEC_ARGV()); import sys; sys.exit(5)")
    command = [os.path.join(os.path.dirname(sys.executable), "solfec")]
    if not os.path.exists(command[0]):
        command = [sys.executable, "-m", "solfec.cli"]
    done = subprocess.run([*command, "input.py", "a"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (5, "['a']\n")


def test_text_that_the_encoding_of_a_terminal_has_not_is_escaped(tmp_path):
    """Labels, and old inputs that were converted, ended commands with a UnicodeEncodeError from the depths."""
    (tmp_path / "input.py").write_text(textwrap.dedent(FALL).replace("(solfec))", "(solfec), label='Gewölbe')"), encoding="utf-8")
    (tmp_path / "old.py").write_text("# -*- coding: utf-8 -*-\nprint 'ä'\n", encoding="utf-8")
    ascii_only = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ascii_only.pop("PYTHONIOENCODING", None)

    def said(*words: str) -> bytes:
        done = subprocess.run([sys.executable, "-m", "solfec.cli", *words], cwd=tmp_path, env=ascii_only, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr
        return done.stdout

    said("input.py")
    assert b"Gew\\xf6lbe" in said("info", "out/fall")
    assert b"Gew\\xf6lbe" in said("check", "input.py")
    assert "print('ä')" in said("--convert", "old.py").decode("utf-8")
    said("new", "Brücke")
    assert "solfec Brücke.py" in (tmp_path / "Brücke.py").read_text(encoding="utf-8")
    (tmp_path / "named.py").write_text("SOLFEC('DYNAMIC', 1E-3, 'out/Gewölbe')", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "solfec.cli", "named.py"], cwd=tmp_path, env=ascii_only, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1 and b"named.py:1: ValueError: SOLFEC: 'output': names of files cannot have" in done.stderr
    assert b"PYTHONUTF8=1" in done.stderr


BLOCKS = """
solfec = SOLFEC('DYNAMIC', 1E-3, output=None)
bulk = BULK_MATERIAL(solfec, model='KIRCHHOFF', young=1E7, poisson=0.2, density=1800)
SURFACE_MATERIAL(solfec, model='SIGNORINI_COULOMB', friction=0.2)
corners = [c for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', TRANSLATE(HULL(corners, 1, 1), (0, 0, -1)), bulk)
block = BODY(solfec, 'FINITE_ELEMENT', HEX(corners, 2, 2, 2, 1, [1] * 6), bulk, form='BC')
block.scheme = 'DEF_LIM'
SET_VELOCITY(block, (1, 1, 1), (1, 0, 0), 0.1)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 2E-3)
"""


@pytest.mark.parametrize("text", ["", BLOCKS], ids=["nothing", "implicit blocks on a hull"])
def test_inputs_load_no_libraries_that_few_inputs_need(tmp_path, text):
    if text:
        pytest.importorskip("cvxopt")  # else SciPy orders the elimination
    slow = {"scipy.sparse", "scipy.linalg", "scipy.spatial", "matplotlib", "meshio", "pyvista"}
    (tmp_path / "input.py").write_text(f"{text}\nimport sys\nprint(sorted({slow} & set(sys.modules)))\n")
    process = subprocess.run([sys.executable, "-m", "solfec.cli", "--quiet", "input.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (process.stdout, process.returncode) == ("[]\n", 0), process.stderr


def test_a_model_without_bodies_runs_and_says_that_it_has_none(good):
    text = "solfec = SOLFEC('DYNAMIC', 1E-3, 'out/empty')\nRUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.01)\n"
    assert good(text).splitlines()[0] == "0 bodies; 0 degrees of freedom; step 0.001"
