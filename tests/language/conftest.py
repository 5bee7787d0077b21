"""Inputs run through the command line's own entry function, in a directory of their own."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import pytest

from solfec import cli


@dataclass
class Outcome:
    """Status, output and errors of one run."""

    status: int
    out: str
    err: str
    path: str


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`run(text, *words)` writes text to input.py, runs `solfec *words input.py` and returns the outcome.

    The word 'PATH' marks the place of the input path when it is not the last one.
    """
    monkeypatch.chdir(tmp_path)

    def run(text: str | None, *words: str, path: str = "input.py") -> Outcome:
        if text is not None:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(textwrap.dedent(text))
        line = [path if word == "PATH" else word for word in words]
        capsys.readouterr()
        status = cli.main(line if "PATH" in words else [*line, path])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err, path)

    return run


@pytest.fixture
def good(run):
    """Like `run`, for inputs that must end well; returns what they print."""

    def good(text: str | None, *words: str, **options) -> str:
        outcome = run(text, *words, **options)
        assert outcome.status == 0, outcome.err
        return outcome.out

    return good
