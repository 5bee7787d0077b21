"""The command `parmec`: switches, words, old inputs, errors with file and line."""

import subprocess
import sys

import pytest

from solfec import parmec_command
from solfec.parmec import model

FALL = """
ANALYTICAL (mass = 2)
GRAVITY (0., 0., -10.)
z = HISTORY ('PZ')
DEM (1.0, 0.01, (1E9, 0.01))
"""


def parmec(tmp_path, text, *words, status=0):
    """Run an input by the command in a process of its own."""
    (tmp_path / "input.py").write_text(text)
    command = [sys.executable, "-m", "solfec.parmec_command", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done


def test_an_input_finds_the_commands_and_its_words(tmp_path):
    done = parmec(tmp_path, FALL + "print(z[-1], ARGV (), ARGV (False))", "-ntasks", "1", "input.py", "a", "-b")
    assert done.stdout.split() == ["-5.049999999999995", "['a',", "'-b']", "['-ntasks',", "'1',", "'input.py',", "'a',", "'-b']"]


def test_words_are_the_same_when_a_run_goes_on_or_is_read(tmp_path):
    text = "OUTPUT (format = 'HDF5')\n" + FALL + "print(ARGV ())"
    for words in ((), ("-c",), ("-r",)):
        done = parmec(tmp_path, text, *words, "input.py", "a", "-c")
        assert done.stdout == "['a', '-c']\n"


def test_old_inputs_are_read_as_python_2(tmp_path):
    done = parmec(tmp_path, FALL + "print 'z', 7/2, z[-1] <> 0", "input.py")
    assert done.stdout == "z 3 True\n"


def test_modules_beside_an_input_import_the_commands(tmp_path):
    (tmp_path / "beside.py").write_text("from parmec import ANALYTICAL\nimport parmec\ndef make():\n  return ANALYTICAL (), parmec.ANALYTICAL ()\n")
    done = parmec(tmp_path, "import beside\nprint(beside.make (), ANALYTICAL ())", "input.py")
    assert done.stdout == "(0, 1) 2\n"


def test_errors_name_file_and_line(tmp_path):
    done = parmec(tmp_path, "ANALYTICAL ()\nVELOCITY (1, (0, 0, 1))\n", "input.py", status=1)
    assert done.stderr.startswith("input.py:2: ValueError: VELOCITY: 'parnum' must be the number of a particle, not 1; numbers 0 to 0 exist")


@pytest.mark.parametrize(("words", "message"), [
    ([], "there is no input file"),
    (["-ntasks", "0", "a.py"], "-ntasks needs a positive whole number"),
    (["-t"], "-t needs a positive whole number"),
    (["--nonsense", "a.py"], "unknown switch --nonsense"),
    (["missing.py"], "cannot read the input file 'missing.py'"),
])  # fmt: skip
def test_wrong_command_lines_are_explained(words, message, capsys):
    assert parmec_command.main(words) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "usage: parmec" in printed


def test_an_input_begins_with_an_empty_model_and_leaves_ours_alone(tmp_path, monkeypatch, capsys):
    from solfec.parmec import ANALYTICAL

    ANALYTICAL(mass=3)
    (tmp_path / "input.py").write_text(FALL + "print(len (z))")
    monkeypatch.chdir(tmp_path)
    assert parmec_command.main(["input.py"]) == 0
    assert capsys.readouterr().out == "100\n"
    assert model.current().particles.mass[:1].tolist() == [3]


def test_version_and_help(capsys):
    assert parmec_command.main(["--version"]) == 0
    assert parmec_command.main(["-h"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("parmec of solfec ")
    assert "usage: parmec" in printed
