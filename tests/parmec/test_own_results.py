"""Own results of the explicit engine: runs go on with the bits of one that was not stopped, and are read instead of computed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from solfec import parmec_command
from solfec.parmec import model, stored_state
from solfec.results import frame_file

# every kind of state: contacts, yielding and undone springs, cones, joints, functions of time, two calls of DEM, adaptive steps
RICH = """
import sys
MATERIAL (1e3, 1e6, 0.3)
for i in range (3):
  SPHERE ((0.1*i, 0, 0.6 + 0.9*i), 0.4, 0, 1)
OBSTACLE ([(-5,-5,0, 5,-5,0, 0,5,0)], [1], (0,0,0), lambda t: (0.1*t, 0, 0), lambda t: (0, 0, 0.1))
GRANULAR (0, 0, 1e6, 0.3, (0.3, 0.2), kskn = 0.5)
p = ANALYTICAL (position = (3,0,0), mass = 2)
q = ANALYTICAL (position = (3,0,2), mass = 2, inertia = [1,2,3,0,0,0])
SPRING (p, (3,0,0), q, (3,.3,2), [-1,-100,1,100], [-1,-5,1,5], unload = [-1,-200,1,200], ylim = (-3,3))
SPRING (p, (3,0,0), -1, (3,0,-1), [-1,-100,1,100])
SPRING (p, (3,0,0), -1, [(3,.1,0), (1,0,1)], [-1,-100,1,100], friction = 0.3, kskn = 0.5)
TORSION_SPRING (p, q, (0,0,1), (1,0,0), kroll = [-1,10,1,-10])
VELOCITY (q, (1,2,5), (1,.2,.3))
BALL_JOINT (q, (3,0,3))
s = SPRING (0, (0,0,0.6), -1, (0,1,.6), [-1,-1000,1,1000])
fall = TSERIES ([0, 0, 1e4, 1e4])
UNSPRING (s, s, (-20, 20), entity = 'SF')
GRAVITY (0., lambda t: 0.5*t, -10.)
m = ANALYTICAL (position = (9,0,0))
PRESCRIBE (m, lambda t: (t, 0, 1))
OUTPUT (format = ['HDF5', 'XDMF', 'DUMP'])
h, t = HISTORY ('PZ', 2), HISTORY ('TIME')
DEM (0.3, 1e-3, (0.05, 0.01))
VELOCITY (p, (0,1,0))
h2 = HISTORY ('|V|', p)
DEM (0.4, 1e-3, (0.05, 0.01), adaptive = 0.3)
print (len (h), len (h2), repr (sum (h)), repr (sum (h2)), repr (sum (t)), repr (h[-1]))
"""


def parmec(folder, *words, status=0, wait=True):
    """Run `in.py` by the command in a process of its own."""
    command = [sys.executable, "-m", "solfec.parmec_command", *words, "in.py"]
    begun = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if not wait:
        return begun
    out, err = begun.communicate(timeout=120)
    assert begun.returncode == status, err
    return out, err


def last_state(path):
    """Columns of the last frame."""
    with h5py.File(path) as file:
        frames = stored_state.StoredFrames(file)
        row = frames.steps[-1]
        return {
            (name, column): frames.column(name, column, row)
            for name in stored_state.STATE
            for column in file[f"frames/{name}"]
        }  # fmt: skip


def same_state(one, two):
    """Whether two states are equal bit for bit."""
    one, two = last_state(one), last_state(two)
    assert {key for key in one if not np.array_equal(one[key], two[key])} == set()


def same_files(one, two):
    """Whether files of frames have equal contents."""
    names = sorted(path.name for path in one.iterdir() if path.suffix in (".xmf", ".dump") or "in0" in path.name)
    assert names == sorted(path.name for path in two.iterdir() if path.suffix in (".xmf", ".dump") or "in0" in path.name)
    for name in names:
        if not name.endswith(".h5"):
            assert (one / name).read_text() == (two / name).read_text(), name
            continue
        with h5py.File(one / name) as a, h5py.File(two / name) as b:
            assert list(a) == list(b)
            for frame in a:
                assert a[frame].attrs["TIME"] == b[frame].attrs["TIME"]
                for data in a[frame]:
                    assert np.array_equal(a[f"{frame}/{data}"][...], b[f"{frame}/{data}"][...]), (name, frame, data)


@pytest.fixture
def folders(tmp_path):
    """Two directories with the input."""
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in.py").write_text(RICH)
    return tmp_path / "whole", tmp_path / "parts"


@pytest.mark.parametrize("place", [pytest.param(0.12, marks=pytest.mark.slow), 0.3005, 0.52])
def test_continued_runs_have_the_bits_of_whole_ones(folders, place):
    """The run is ended after a step in the first or the second DEM, as Ctrl-C ends it."""
    whole, parts = folders
    said, _ = parmec(whole)
    stop = RICH.replace("0.5*t, -10.)", f"STOP (t) or 0.5*t, -10.)\nimport os, signal\ndef STOP (t):\n  if t > {place}: os.kill (os.getpid (), signal.SIGINT)")
    (parts / "in.py").write_text(stop)
    parmec(parts, status=130)
    with h5py.File(parts / "in.results.h5") as file:
        assert file["frames/steps"]["finished"][-1] == 0
        assert file["frames/steps"]["time"][-1] == pytest.approx(place, abs=2e-3)
    (parts / "in.py").write_text(RICH)
    again, told = parmec(parts, "-c")
    assert "continued from time" in told
    assert again == said
    same_state(whole / "in.results.h5", parts / "in.results.h5")
    same_files(whole, parts)


def test_killed_runs_are_continued(folders):
    whole, parts = folders
    for folder in folders:
        (folder / "in.py").write_text(RICH.replace("DEM (0.3, 1e-3, (0.05, 0.01))", "DEM (0.3, 1e-4, (0.004, 0.01))"))
    said, _ = parmec(whole)
    for delay in (0.3, 0.2):
        begun = parmec(parts, *(["-c"] if (parts / "in.results.h5").exists() else []), wait=False)
        end = time.monotonic() + 60
        while not (parts / "in.results.h5").exists() and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(delay)
        begun.kill()
        begun.communicate()
    again, _ = parmec(parts, "-c")
    assert again == said
    same_state(whole / "in.results.h5", parts / "in.results.h5")
    same_files(whole, parts)


def test_frames_in_the_journal_of_a_killed_run_are_read_and_continued(folders):
    """A copy in the midst of a run is what a kill leaves: the file has the frame of its beginning, the journal all others."""
    whole, parts = folders
    model = RICH.replace("DEM (0.3, 1e-3, (0.05, 0.01))", "DEM (0.3, 1e-3, (0.01, 0.01))").replace("['HDF5', 'XDMF', 'DUMP']", "'HDF5'")
    copy = "COPY (t) or 0.5*t, -10.)\nimport glob, os, shutil\ndef COPY (t):\n  if t > 0.2055 and not os.listdir ('copy'): [shutil.copy (f, 'copy') for f in glob.glob ('in.results.h5*')]"
    (whole / "copy").mkdir()
    (whole / "in.py").write_text("from solfec.results import frame_file\nframe_file.LONGEST_WAIT = 1e9\n" + model.replace("0.5*t, -10.)", copy))
    said, _ = parmec(whole)
    left = whole / "copy/in.results.h5"
    with h5py.File(left) as file:
        assert len(file["frames/steps"]) == 1
    with frame_file.reading(left) as file:
        assert stored_state.StoredFrames(file).steps["time"] == pytest.approx(0.01 * np.arange(21), abs=2e-3)
    assert '"frames": 21' in subprocess.run([sys.executable, "-m", "solfec.cli", "info", "--json", left], capture_output=True, text=True, check=True).stdout
    for file in (whole / "copy").iterdir():
        shutil.copy(file, parts)
    (parts / "in.py").write_text(model)
    again, told = parmec(parts, "-c")
    assert "continued from time 0.2" in told and again == said
    same_state(whole / "in.results.h5", parts / "in.results.h5")
    assert not (parts / "in.results.h5.journal").exists()


def test_what_was_finished_is_passed_over_and_a_longer_duration_goes_on(folders):
    whole, parts = folders
    said, _ = parmec(parts)
    again, told = parmec(parts, "-c")
    assert again == said
    assert told.count("passed over") == 2
    for folder in folders:
        (folder / "in.py").write_text(RICH.replace("DEM (0.4", "DEM (0.6"))
    longer, _ = parmec(whole)
    assert parmec(parts, "-c")[0] == longer != said
    # the run of 0.4 has a frame at its end that the longer one has not
    same_state(whole / "in.results.h5", parts / "in.results.h5")


def test_a_run_that_goes_on_takes_the_step_of_the_input(folders):
    """A mass on a spring: sin (10 t)/10 to second order, at the time to which its position belongs."""
    errors, folder = [], folders[0]
    for step in (1 / 128, 1 / 256):
        for name in folder.glob("in.results.h5*"):
            name.unlink()
        for length, duration in ((step, 0.5), (step / 4, 1.0)):
            (folder / "in.py").write_text(
                "ANALYTICAL ()\nVELOCITY (0, (0, 0, 1))\nSPRING (0, (0, 0, 0), -1, (0, 0, 1), [-1, -100, 1, 100], direction = (0, 0, 1))\n"
                f"OUTPUT (format = 'HDF5')\nDEM ({duration}, {length}, 0.1)\n"
            )
            parmec(folder, "-c")
        state = last_state(folder / "in.results.h5")
        now, then = state["control", "time"][0], state["control", "step"][0]
        assert then == step / 4
        errors.append(abs(state["particles", "position"][0, 2] - 0.1 * np.sin(10 * (now + then / 2))))
    assert errors[0] < 2e-4 and errors[1] < 0.3 * errors[0]


def test_reading_computes_nothing(folders):
    whole, _ = folders
    said, _ = parmec(whole)
    before = {path.name: path.stat().st_mtime_ns for path in whole.iterdir()}
    (whole / "in.py").write_text(RICH.replace("-10.)", "1/0)", 1).replace("lambda t: 0.5*t, 1/0)", "lambda t: 1/0, -10.)"))
    again, told = parmec(whole, "-r")
    assert again == said
    assert "read from" in told
    assert {name: when for name, when in before.items() if name != "in.py"} == {
        path.name: path.stat().st_mtime_ns for path in whole.iterdir() if path.name != "in.py"
    }


def test_a_file_stop_ends_a_run_that_goes_on_later(folders):
    whole, parts = folders
    said, _ = parmec(whole)
    stop = RICH.replace("0.5*t, -10.)", "STOP (t) or 0.5*t, -10.)\ndef STOP (t):\n  if t > 0.55: open ('STOP', 'w')")
    (parts / "in.py").write_text(stop)
    out, _ = parmec(parts)
    assert "stopped at time" in out
    assert not (parts / "STOP").exists()
    (parts / "in.py").write_text(RICH)
    assert parmec(parts, "-c")[0] == said
    same_state(whole / "in.results.h5", parts / "in.results.h5")
    same_files(whole, parts)


def test_runs_change_only_columns_that_are_stored(folders, capsys):
    """A column that a run changes and frames do not hold would be lost."""
    whole, _ = folders
    os.chdir(whole)
    before = {}

    def look(self, finished):
        now = model.current()
        columns = {(n, c): t.view(c).copy() for n, t in vars(now).items() if t in now.tables for c in t.COLUMNS}
        changed.update(key for key, values in columns.items() if key in before and not np.array_equal(before[key], values))
        before.update(columns)

    changed = set()
    patch = pytest.MonkeyPatch()
    patch.setattr("solfec.parmec.continuation.Results.store", look)
    try:
        (whole / "in.py").write_text(RICH.split("VELOCITY (p, (0,1,0))")[0])  # what the user changes between two DEM calls is the input's
        assert parmec_command.main(["in.py"]) == 0
    finally:
        patch.undo()
    assert {"contacts", "particles", "links", "laws", "torsions", "joints", "releases", "obstacles", "triangles"} <= {name for name, _ in changed}
    stored = {(n, c) for n, columns in stored_state.STATE.items() for c in columns or [key[1] for key in before if key[0] == n]}
    rebuilt = {(n, c) for n, columns in stored_state.OWN.items() for c in columns} | {key for key in before if key[0] in stored_state.REBUILT}
    assert changed - stored - rebuilt == set()


def test_info_and_plot_know_them(folders, capsys):
    from solfec import cli

    whole, _ = folders
    parmec(whole)
    path = str(whole / "in.results.h5")
    assert cli.main(["info", path]) == 0
    text = capsys.readouterr().out
    assert "explicit engine" in text
    assert "6 particles" in text
    assert "4 springs, 1 torsion springs, 1 joints" in text
    assert cli.main(["info", "--json", path]) == 0
    facts = json.loads(capsys.readouterr().out)[0]
    assert facts["particles"] == 6
    assert facts["time"][1] == pytest.approx(0.7, abs=2e-3)
    assert cli.main(["plot", path, "-o", str(whole / "a.png")]) == 0
    assert cli.main(["plot", path, "2:PZ", "0:STROKE", "3:|V|", "KINETIC", "-o", str(whole / "b.png")]) == 0
    assert (whole / "b.png").stat().st_size > (whole / "a.png").stat().st_size > 10000
    for wrong, message in (("99:PZ", "99"), ("PZ", "NUMBER:ENTITY"), ("0:NOTHING", "NOTHING")):
        assert cli.main(["plot", path, wrong]) == 1
        assert message in capsys.readouterr().err


def test_histories_of_frames_are_those_of_the_run(folders):
    from solfec.parmec import stored_run

    whole, _ = folders
    (whole / "in.py").write_text(RICH.split("VELOCITY (p, (0,1,0))")[0].replace("(0.05, 0.01))", "(0.01, 0.01))") + "import json\njson.dump ([t, h], open ('h.json', 'w'))")
    parmec(whole)
    times, height = json.loads((whole / "h.json").read_text())
    found, values = stored_run.history(str(whole / "in.results.h5"), ["2:PZ"])
    places = np.searchsorted(found, np.array(times[1:]) - 1e-9)
    assert found[places] == pytest.approx(times[1:], abs=1e-12)
    assert values[places].tolist() == height[1:]


@pytest.mark.parametrize(("words", "change", "message"), [
    (["-c"], ("SPHERE ((0.1*i", "SPHERE ((0.2*i"), "was another one when the run began"),
    (["-c"], ("range (3)", "range (4)"), "rows of particles"),
    (["-r"], ("print (", "DEM (0.1, 1e-3)\nprint ("), "the 3rd one"),
])  # fmt: skip
def test_results_of_other_models_are_refused(folders, words, change, message):
    whole, _ = folders
    parmec(whole)
    (whole / "in.py").write_text(RICH.replace(*change))
    _, told = parmec(whole, *words, status=1)
    assert message in told
    assert "\nin.py:" in "\n" + told


def test_results_that_are_not_there_are_named(folders):
    whole, _ = folders
    _, told = parmec(whole, "-r", status=1)
    assert "in.results.h5: no such results file" in told
    (whole / "in.py").write_text(RICH.replace("OUTPUT (format = ['HDF5', 'XDMF', 'DUMP'])", "OUTPUT (format = 'DUMP')"))
    first, _ = parmec(whole, "-c")  # begins, and keeps results
    assert parmec(whole, "-r")[0] == first
    (whole / "in.results.h5").write_bytes(b"nonsense")
    assert "seems damaged" in parmec(whole, "-r", status=1)[1]
    assert parmec(whole, "-r", "-c", status=2)[1].startswith("parmec: -c goes on computing")


def test_two_runs_do_not_write_the_same_results(folders):
    whole, _ = folders
    (whole / "in.py").write_text(RICH.replace("DEM (0.3, 1e-3", "DEM (30.0, 1e-5"))
    begun = parmec(whole, wait=False)
    end = time.monotonic() + 60
    while not (whole / "in.results.h5").exists() and time.monotonic() < end:
        time.sleep(0.02)
    try:
        assert "another run is writing these results" in parmec(whole, "-c", status=1)[1]
    finally:
        begun.send_signal(signal.SIGINT)
        begun.communicate()
    with h5py.File(whole / "in.results.h5") as file:
        assert len(file["frames/steps"])
