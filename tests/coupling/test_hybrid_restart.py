"""Runs with HYBRID_SOLVER that go on, and are read: the explicit model is in the frames."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from solfec import cli
from solfec.parmec import stored_state

MODEL = Path(__file__).parent.parent / "restart" / "models" / "hybrid.py"


def explicit_frames(path):
    """Return all data of the explicit model in frames, except wall-clock times."""
    with h5py.File(path) as file:
        frames = stored_state.StoredFrames(file["explicit"])
        steps = frames.steps
        steps["seconds"] = 0
        steps["samples_first"] = steps["samples"] = 0
        columns = [frames.column(name, column, row) for row in steps for name in stored_state.STATE for column in file[f"explicit/frames/{name}"]]
        return steps, columns, file["explicit/frames/samples"][...]


@pytest.mark.parametrize("stops", [[10, 16, 26], [1, 2, 3, 5, 26]])
def test_a_continued_run_has_the_explicit_bits_of_one_run(tmp_path, monkeypatch, stops):
    found = []
    for name, parts in (("whole", stops[-1:]), ("parts", stops)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        for steps in parts:
            assert cli.main(["-c", str(MODEL), str(steps)]) == 0
        found.append((*explicit_frames("out/model/model.h5"), Path("places").read_text()))
    (steps, columns, samples, places), (other_steps, other_columns, other_samples, other_places) = found
    # only frames at which a part ended may be written after the explicit steps that the whole run takes behind them
    assert steps["finished"].sum() == other_steps["finished"].sum() == 1  # the frame at time zero
    assert np.array_equal(steps, other_steps)
    assert all(map(np.array_equal, columns, other_columns))
    assert np.array_equal(samples, other_samples)
    assert places == other_places
    with h5py.File("explicit0rb.h5") as one, h5py.File("../whole/explicit0rb.h5") as two:
        assert list(one) == list(two)
        for frame in one:
            assert np.array_equal(one[f"{frame}/GEOM"][...], two[f"{frame}/GEOM"][...])


def test_a_continued_run_keeps_the_step_that_finite_elements_allow(tmp_path, monkeypatch):
    """The step is lowered before the first frame, so that the input's own one is no edit."""
    soft = "BODY(solfec, 'FINITE_ELEMENT', BOX((50, 50, 50), (1, 1, 1), divisions=(4, 4, 4)), BULK_MATERIAL(solfec, young=1E7, density=1E3, label='soft'))\n"
    text, found = MODEL.read_text(), []
    assert "hybrid = HYBRID_SOLVER" in text
    for name, parts in (("whole", [20]), ("parts", [7, 20])):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Path("model.py").write_text(text.replace("hybrid = HYBRID_SOLVER", soft + "hybrid = HYBRID_SOLVER"))
        for steps in parts:
            assert cli.main(["-c", "model.py", str(steps)]) == 0
        found.append(explicit_frames(next(Path("out").rglob("*.h5"))))
    (steps, columns, _), (other_steps, other_columns, _) = found
    assert steps["step"].max() < 1e-3  # without elements it is 2.5 ms
    assert np.array_equal(steps["time"], other_steps["time"])
    assert all(map(np.array_equal, columns, other_columns))


def test_a_frame_that_is_read_holds_the_explicit_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["-c", str(MODEL), "20"]) == 0
    text = MODEL.read_text() + """
if solfec.mode == 'READ':
  from solfec.parmec import model
  explicit = model.current()
  for time in (0.2, 0.05):
    SEEK(solfec, time)
    one, other = lower.conf[11], explicit.particles.position[2, 1]
    print('%.17g %.17g %d' % (one, other, len(places)))
"""
    Path("copy.py").write_text(text)
    capsys.readouterr()
    assert cli.main(["copy.py", "20"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if len(line.split()) == 3]
    steps, _, _ = explicit_frames("out/model/model.h5")
    with h5py.File("out/model/model.h5") as file:
        positions, counts = file["explicit/frames/particles/position"], file["explicit/frames/steps"]["samples"]
        for (_, other, count), frame in zip(lines, (20, 5)):
            assert float(other) == positions[steps["particles_first"][frame] + 1][2]
            assert int(count) == counts[: frame + 1].sum()
    assert len(lines) == 2


def test_results_without_an_explicit_model_are_not_continued(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("plain.py").write_text(MODEL.read_text().replace("RUN(solfec, hybrid,", "RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 100),"))
    assert cli.main(["plain.py", "5"]) == 0
    assert cli.main(["-c", str(MODEL), "10"]) == 1
    assert "do not hold the explicit model" in capsys.readouterr().err


SWINGING = """
import math
step, duration = [float(word) for word in NON_SOLFEC_ARGV()]
corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
solfec = SOLFEC('DYNAMIC', step, 'out/swinging')
body = BODY(solfec, 'RIGID', HEX(corners, 1, 1, 1, 1, [1] * 6), BULK_MATERIAL(solfec, density=1))
INITIAL_VELOCITY(body, (0, 0, 1), (0, 0, 0))
open('swing.py', 'w').write('''
MESH (corners, [8, 0, 1, 2, 3, 4, 5, 6, 7, MATERIAL (1, 1, 0.3)], 0, 1)
SPRING (0, (.5, .5, 0), -1, (.5, .5, -1), [-1, -100, 1, 100], direction = (0, 0, 1))
''')
OUTPUT(solfec, 0.125)
RUN(solfec, HYBRID_SOLVER('swing.py', BOUND, {0: body.id}, GAUSS_SEIDEL_SOLVER(1E-6, 100)), duration)
print('error', body.conf[11] - 0.5 - 0.1 * math.sin(10 * solfec.time))
"""


@pytest.mark.parametrize("bound", ["step / 4", "1 / 1024"], ids=["another explicit step", "the same explicit step"])
def test_a_run_that_continues_with_another_step_is_of_second_order(bound, tmp_path, monkeypatch, capsys):
    """The explicit model is half an implicit step of the new length ahead; the last frame holds it half a step of the old one behind."""
    errors = []
    for step in (1 / 128, 1 / 256):
        (tmp_path / str(step)).mkdir()
        monkeypatch.chdir(tmp_path / str(step))
        Path("input.py").write_text(SWINGING.replace("BOUND", bound))
        for words in ((step, 1.0), (step / 2, 2.0)):
            assert cli.main(["-c", "--quiet", "input.py", *map(str, words)]) == 0
        errors.append(abs(float(capsys.readouterr().out.split()[-1])))
    assert errors[0] < 2e-4 and errors[1] < 0.3 * errors[0]
