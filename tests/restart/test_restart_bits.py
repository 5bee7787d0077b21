"""A run that is stopped and continued (`-c`) has the frames of one that is not, to the last bit.

To cover something new add an input to `tests/restart/models`: it writes to 'out/model' (or several directories that begin
so), runs `int(NON_SOLFEC_ARGV()[0])` steps and writes a frame at every step, which is what happens without OUTPUT.  The
tests below run 26 steps of it in one go, and again stopped after 10 and 16 steps, and compare all frames.
Whatever a step carries to the next one must be stored with the frames, or this fails: state in columns of the body or
constraint table is stored by itself (`solfec/results/layout.py`), what the user sets by `solfec/results/settings.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solfec import cli, results
from solfec.time_step import CLOCKS

MODELS = sorted((Path(__file__).parent / "models").glob("*.py"))
OWN = (*CLOCKS, "settings", "born", "deleted")  # of a frame: wall time; where the file keeps settings; counted from the frame before


def solfec(*words) -> None:
    assert cli.main([*map(str, words)]) == 0


def frames_of(directory: Path) -> dict[str, list]:
    """All frames of all results below a directory, as bytes."""
    found = {}
    for file in sorted(directory.glob("out/**/*.h5")):
        with results.open(file) as run:
            found[file.stem] = [contents(run, k) for k in range(len(run.times))]
    return found


def contents(run, number: int) -> dict[str, bytes]:
    frame = run.frame(number)
    names = [name for name in frame.step.dtype.names if name not in OWN and not name.endswith("_first")]
    parts = {name: frame.step[name].tobytes() for name in names}
    parts |= {name: np.ascontiguousarray(getattr(frame, name)).tobytes() for name in ("bodies", "configurations", "velocities", "constraints", "user_constraints")}
    definitions = run.table("model/bodies")[frame.listed["definition"]]
    return parts | {"ids": frame.listed["id"].tobytes(), "definitions": definitions.tobytes(), "settings": repr(run.settings(number)), "tensions": repr(run.tensions(int(frame.step["step_number"])))}


def assert_equal(whole: dict, parted: dict) -> None:
    assert whole.keys() == parted.keys() and whole
    for name, frames in whole.items():
        assert len(frames) == len(parted[name])
        for k, (one, other) in enumerate(zip(frames, parted[name])):
            differ = [part for part in one if one[part] != other[part]]
            assert not differ, f"{name}: frame {k} differs in {differ}"


def compare(model: Path, directory: Path, monkeypatch, stops: list[int]) -> None:
    """Run a model in one go and stopped after the given steps; the frames of both, which must be equal."""
    for name, parts in (("whole", stops[-1:]), ("parts", stops)):
        (directory / name).mkdir()
        monkeypatch.chdir(directory / name)
        for steps in parts:
            solfec("-c", model, steps)
    whole = frames_of(directory / "whole")
    assert all(len(frames) > stops[-1] for frames in whole.values())
    assert_equal(whole, frames_of(directory / "parts"))


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_a_continued_run_has_the_bits_of_one_run(model, tmp_path, monkeypatch, capsys):
    compare(model, tmp_path, monkeypatch, [10, 16, 26])


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_a_run_continued_again_and_again_has_the_bits_of_one_run(model, tmp_path, monkeypatch, capsys):
    compare(model, tmp_path, monkeypatch, [1, 2, 5, 20, 23, 35, 60, 61, 100])


@pytest.mark.parametrize("name", ["births_and_deaths", pytest.param("implicit_births_and_deaths", marks=pytest.mark.slow)])
def test_a_run_stopped_at_every_step_has_the_bits_of_one_run(name, tmp_path, monkeypatch, capsys):
    """Whatever callbacks that are owed to the continued run change."""
    model = next(model for model in MODELS if model.stem == name)
    compare(model, tmp_path, monkeypatch, [*range(1, 41), 45])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_any_run_stopped_at_every_step_has_the_bits_of_one_run(model, tmp_path, monkeypatch, capsys):
    compare(model, tmp_path, monkeypatch, [*range(1, 41), 45])
