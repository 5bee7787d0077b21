"""Made-up inputs in the styles of fifteen years print under Solfec what they print under Python 2.

What stands below `--- output` in `samples/language.txt` was printed by Python 2.7 (without NumPy: derived by hand).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent / "samples"


def samples(name: str) -> list:
    """Name, files and expected output of every sample of a file."""
    found = []
    parts = re.split(r"(?m)^=== (.*)\n", (SAMPLES / name).read_text())[1:]
    for title, body in zip(parts[::2], parts[1::2]):
        text, _, output = body.partition("--- output\n")
        files = re.split(r"(?m)^\+\+\+ (.*)\n", text)
        others = dict(zip(files[1::2], files[2::2]))
        found.append(pytest.param(files[0], others, output, id=title.replace(" ", "-")))
    return found


def write(others: dict) -> None:
    for path, text in others.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


@pytest.mark.parametrize(("text", "others", "output"), samples("language.txt"))
def test_old_language_prints_what_python_2_prints(run, text, others, output):
    write(others)
    outcome = run(None, "--python2", path=written(text))
    assert (outcome.out, outcome.err, outcome.status) == (output, "", 0)
    again = run(None, "--python2", path="main.py")
    assert again.out == output, "from the cache"


def written(text: str) -> str:
    Path("main.py").write_text(text)
    return "main.py"


@pytest.mark.parametrize(("text", "others", "output"), samples("models.txt"))
def test_old_models_run_unmodified(run, text, others, output):
    write(others)
    outcome = run(None, path=written(text))
    assert (outcome.out, outcome.status) == (output, 0), outcome.err


def test_an_error_stands_in_a_line_of_its_own(run):
    """Python 2 ends the line that a print left open; its text is then `one` and a line end."""
    outcome = run(None, "--python2", path=written("print 'one', int ('no')\n"))
    assert (outcome.out, outcome.status) == ("one\n", 1)
    assert outcome.err.startswith("main.py:1: ValueError: invalid literal")
