"""Runs of several processes, as users start them: `mpiexec -n N solfec input.py`."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from processes import differences, frames_of, needs_mpi, run, start, sweeps

pytestmark = pytest.mark.usefixtures("mpi")

HEAP = """
solfec = SOLFEC ('DYNAMIC', 2E-3, 'out/heap')
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.3)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E9, poisson = 0.3, density = 1E3)
floor = [(-3,-3,-1), (3,-3,-1), (3,3,-1), (-3,3,-1), (-3,-3,0), (3,-3,0), (3,3,0), (-3,3,0)]
BODY (solfec, 'OBSTACLE', HULL (floor, 1, 1), bulk)
for k in range (2):
  for j in range (3):
    for i in range (3):
      ball = BODY (solfec, 'RIGID', SPHERE ((-1.2+0.62*i+0.05*k, -1.2+0.62*j-0.04*k, 0.301+0.61*k), 0.3, 2, 2), bulk)
      INITIAL_VELOCITY (ball, (1.0 - i, 2.0 - j, 0), (0, 0, 3))
GRAVITY (solfec, (0, 0, -10))
""" + sweeps(200)
SCENE = f"""
import sys
sys.path.insert (0, {str(Path(__file__).parent)!r})
import breaking, deformable, jointed
jointed.Scene.path = 'out/heap'
solfec = %s ().solfec
""" + sweeps(50)
RUN = """
RUN (solfec, solver, 0.06)
moved = sum (HERE (solfec, body) for body in solfec.bodies)
open ('seen%d' % RANK (), 'w').write ('%d %d %d' % (NCPU (), solfec.ncon, moved))
"""
BY_DEFAULT = "RUN (solfec, 0.06)\n"
SUMS = {"frames/steps/energy", "frames/steps/merit", "frames/steps/residual", "frames/constraints/merit"}  # that a serial run adds in another order
READING = """
read = []
for time in (0.0, 0.02, 0.05):
  SEEK (solfec, time)
  read.append ([(body.id, body.label, body.fragments and [part.id for part in body.fragments]) for body in solfec.bodies])
  read.append ([(body.id, body.conf, ENERGY (body).kinetic) for body in solfec.bodies])
open ('read%d' % RANK (), 'w').write (repr (read))
"""
CALLED = """
def call ():
  %s
CALLBACK (solfec, 0.004, (), call)
"""


@pytest.fixture(scope="module")
def mpi():
    needs_mpi()


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """Directory of a serial run."""
    directory = tmp_path_factory.mktemp("serial")
    run_serially(directory, HEAP + RUN)
    return directory


def run_serially(directory, script, *switches):
    (directory / "input.py").write_text(script)
    command = [sys.executable, "-m", "solfec.cli", "--quiet", *switches, "input.py"]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True, timeout=120, text=True).stderr


def test_two_processes_write_what_one_writes(serial, tmp_path):
    said, errors = run(2, tmp_path, HEAP + RUN)
    assert not errors and not said
    heading, *rows = (tmp_path / "out/heap/STATE").read_text().splitlines()[-9:]
    assert heading.split() == "2 PROCESSES SUM MIN AVG MAX".split()
    bodies, boxes, constraints, *_ = (list(map(int, row.split()[-4:])) for row in rows[:3])
    assert bodies[0] == boxes[0] == 19 and bodies[1] + bodies[3] == 19 and bodies[2] == 9
    seen = [list(map(int, (tmp_path / f"seen{rank}").read_text().split())) for rank in range(2)]
    assert [one[0] for one in seen] == [2, 2]
    assert seen[0][1] == seen[1][1] == constraints[0] > 5
    assert seen[0][2] + seen[1][2] == 19 and min(seen[0][2], seen[1][2]) > 6
    assert differences(frames_of(serial), frames_of(tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 4, 7, 8])
def test_more_processes_write_what_one_writes(serial, tmp_path, count):
    run(count, tmp_path, HEAP + RUN)
    assert differences(frames_of(serial), frames_of(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "count", "duration"),
    [("breaking.bonded_cracks", 2, 0.036), *(pytest.param(name, count, 0.04, marks=pytest.mark.slow) for name in ("breaking.cracking", "breaking.bonded_cracks", "breaking.wall", "breaking.checked") for count in (1, 2, 3, 7))],
)  # fmt: skip
def test_bodies_and_bonds_that_break_write_what_one_process_writes(name, count, duration, tmp_path):
    """Frames with their bodies, causes of births and deaths, shapes, averages of stresses, bonds, and records of fracture checks."""
    directories = [tmp_path / name for name in ("one", "many")]
    for directory in directories:
        directory.mkdir()
    script = SCENE % name + f"RUN (solfec, solver, {duration})"
    expected = run_serially(directories[0], script)
    said, errors = run(count, directories[1], script)
    unsolved, before = ([line for line in text.splitlines() if "did not reach" in line] for text in (errors, expected))
    assert not said and unsolved == before and "not finite" not in expected + errors  # not even contacts of bonds without area
    assert differences(*map(frames_of, directories)) == []


@pytest.mark.slow
def test_bodies_of_all_kinds_fall_apart_as_in_a_serial_run(tmp_path):
    """Also implicit ones, whose forces agree to round-off, and by RT_SPLIT in a callback."""
    from solfec.results import ResultsReader

    directories = [tmp_path / name for name in ("one", "many")]
    script = (Path(__file__).parents[1] / "restart/models/fragmentation.py").read_text().replace("int(NON_SOLFEC_ARGV()[0])", "20")
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], script)
    run(3, directories[1], script)
    with ResultsReader(directories[0] / "out/model") as one, ResultsReader(directories[1] / "out/model") as other:
        events, last = one.events, len(one.times) - 1
        assert events.tobytes() == other.events.tobytes() and {1, 2} <= set(events["cause"].tolist())
        np.testing.assert_allclose(one.frame(last).configurations, other.frame(last).configurations, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize("name", ["jointed.mechanisms", "jointed.brittle", "deformable.bricks", "deformable.cubes"])
def test_joints_and_soft_bodies_write_what_one_process_writes(name, count, tmp_path):
    directories = [tmp_path / name for name in ("one", "many")]
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], SCENE % name + "RUN (solfec, solver, 0.06)")
    run(count, directories[1], SCENE % name + "RUN (solfec, solver, 0.06)")
    assert differences(*map(frames_of, directories)) == []


@pytest.mark.parametrize("count", [2, *(pytest.param(count, marks=pytest.mark.slow) for count in (1, 3, 4, 7))])
def test_the_solver_that_runs_take_by_default_gives_what_a_serial_run_gives(count, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    for directory in (one, many):
        directory.mkdir()
    run_serially(one, HEAP + BY_DEFAULT)
    said, errors = run(count, many, HEAP + BY_DEFAULT)
    assert not said and not errors
    assert set(differences(frames_of(one), frames_of(many))) <= SUMS


@pytest.mark.slow
def test_a_run_with_the_default_solver_is_continued_by_another_number_of_processes(tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    for directory in (one, many):
        directory.mkdir()
    script = SCENE % "jointed.mechanisms" + "solver = AUTO_SOLVER ()\n"
    run_serially(one, script + RUN)
    continued(many, script, (4, 1, 3))
    assert_same_frames(many, one, but=["merit"])  # a serial run adds it in another order


@pytest.mark.slow
def test_an_error_of_a_solver_in_one_process_ends_all(tmp_path):
    script = HEAP + "solver = GAUSS_SEIDEL_SOLVER (1E-16, 1, failure = 'EXIT')\nsolver.colouring = 'OFF'\n" + RUN
    _, errors = run(2, tmp_path, script, status=1)
    assert errors.count("GAUSS_SEIDEL_SOLVER failed with error code DIVERGED") >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), [("core", "2, 2, 0.004"), ("bridge", "60, 5, 0.02")])
def test_large_models_write_what_one_process_writes(name, arguments, tmp_path):
    script = (Path(__file__).parents[2] / f"inp/parallel/{name}.py").read_text().replace(f"out/parallel/{name}", "out/heap")
    script = script.replace("NON_SOLFEC_ARGV() or ()", arguments)
    directories = [tmp_path / name for name in ("one", "many")]
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], script)
    run(3, directories[1], script)
    assert differences(*map(frames_of, directories)) == []


@pytest.mark.parametrize("analysis", ["QUASI_STATIC", pytest.param("DYNAMIC", marks=pytest.mark.slow)])
def test_soft_implicit_bodies_move_as_in_one_process(analysis, tmp_path):
    soft = "for body in [body for body in solfec.bodies if body.id % 3 == 0]: BODY (solfec, 'PSEUDO_RIGID', HULL ([(x + 0.3 * body.id, y, z) for x in (2, 2.2) " \
           "for y in (0, 0.2) for z in (0.01, 0.2)], 2, 2), bulk).scheme = 'DEF_LIM'\n"
    script = HEAP.replace("DYNAMIC", analysis) + soft + "solver = AUTO_SOLVER ()\n" + RUN
    one, many = tmp_path / "one", tmp_path / "many"
    for directory in (one, many):
        directory.mkdir()
    run_serially(one, script)
    run(2, many, script)
    assert set(differences(frames_of(one), frames_of(many))) <= SUMS


def continued(directory, script, counts, stops=(0.02, 0.04), what="solfec.time", every=0.004):
    """Make a run in parts by so many processes each: all but the last one until something, looked at from time to time, exceeds its stop."""
    stop = CALLED.replace("0.004", str(every)) % f"return 0 if {what} > float (NON_SOLFEC_ARGV () [0]) else 1"
    for part, count in enumerate(counts):
        until = stops[part] if part < len(counts) - 1 else 1e9
        run(count, directory, script + stop + RUN, *["-c"][: part > 0], arguments=[until])


def assert_same_frames(directory, serial, but=()):
    """Assert that every frame of a serial run is among those of another one, but for some fields."""
    from solfec.results import ResultsReader

    with ResultsReader(directory / "out/heap") as one, ResultsReader(serial / "out/heap") as other:
        for number in range(len(other.times)):
            same = one.nearest(other.times[number])
            for part in ("bodies", "configurations", "velocities", "constraints"):
                found, expected = getattr(one.frame(same), part).copy(), getattr(other.frame(number), part).copy()
                for field in set(but).intersection(found.dtype.names or ()):
                    found[field] = expected[field] = 0
                assert found.tobytes() == expected.tobytes()


@pytest.mark.slow
def test_a_run_is_continued_by_another_number_of_processes(serial, tmp_path):
    continued(tmp_path, HEAP, (4, 1, 3))
    apart = differences(frames_of(serial), frames_of(tmp_path))
    assert [name for name in apart if "callback" not in name and not name.startswith("model/")] != []  # frames at the stops
    assert_same_frames(tmp_path, serial)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jointed.mechanisms", "jointed.brittle", "jointed.wall", "jointed.held_to_space", "jointed.linked", "deformable.bricks", "deformable.cubes"])
def test_a_run_with_joints_or_soft_bodies_is_continued_by_another_number_of_processes(name, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    for directory in (one, many):
        directory.mkdir()
    run_serially(one, SCENE % name + RUN)
    continued(many, SCENE % name, (4, 1, 3))
    assert_same_frames(many, one)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["breaking.cracking", "breaking.bonded_cracks"])
def test_a_run_whose_bodies_crack_is_continued_right_after_cracks_have_opened(name, tmp_path):
    """By other numbers of processes, also before the new faces are bonded; serial runs and several processes read the results alike."""
    one, many = tmp_path / "one", tmp_path / "many"
    for directory in (one, many):
        directory.mkdir()
    script = SCENE % name
    run_serially(one, script + RUN)
    continued(many, script, (2, 3, 2), (15, 23), "max (body.id for body in solfec.bodies)", 1e-6)
    assert_same_frames(many, one)
    for directory in (one, many):
        run_serially(directory, script + RUN + READING)
    assert (one / "read0").read_text() == (many / "read0").read_text()
    run(2, many, script + RUN + READING)
    assert (one / "read0").read_text() == (many / "read0").read_text() == (many / "read1").read_text()


def test_all_processes_read_what_one_of_them_moves(tmp_path):
    """In callbacks, in loops over steps and after RUN, an input reads attributes of any body, wherever it is."""
    read = "\n  ".join(("def read (): return [(body.id, body.velo, ENERGY (body)) for body in solfec.bodies]", ""))
    script = HEAP + read + "\nseen = []\n" + CALLED % "seen.append (read ())" + "RUN (solfec, solver, 0.01)\nfor time in solfec.steps (solver, 0.004): seen.append (read ())\n"
    run(3, tmp_path, script + "seen.append (read ())\nassert any (HERE (solfec, body) for body in solfec.bodies)\nopen ('seen%d' % RANK (), 'w').write (repr (seen))")
    seen = [(tmp_path / f"seen{rank}").read_text() for rank in range(3)]
    assert seen[0] == seen[1] == seen[2] and seen[0].count("(1, (") >= 5


def test_a_warning_about_fragments_is_told_once(tmp_path):
    load = "FORCE (solfec.bodies[-2], 'SPATIAL', (0, 0, 0), (1, 0, 0), lambda q, u, t, h: [0] * 9)\n"
    _, errors = run(2, tmp_path, SCENE % "breaking.burst" + load + "RUN (solfec, solver, 0.01)")
    assert errors.count("the force that a function gave it acts no longer") == 1


def test_an_error_of_one_process_ends_all(tmp_path):
    script = HEAP + CALLED % "if RANK () == 1: raise ValueError ('only here')" + RUN
    began = time.monotonic()
    _, errors = run(2, tmp_path, script, status=1)
    assert "process 1: ValueError: only here" in errors
    assert time.monotonic() - began < 30


def test_a_callback_that_ends_the_input_of_one_process_ends_all(tmp_path):
    """Others would wait for its messages for ever; if all of them end their inputs, that is no error."""
    ends = HEAP + CALLED % "if RANK () < int (NON_SOLFEC_ARGV () [0]): raise SystemExit (0)" + RUN
    _, errors = run(2, tmp_path, ends, status=1, arguments=[1])
    assert errors.count("CALLBACK: 1 of 2 processes end their input here, and others do not") == 1
    assert run(2, tmp_path, ends, "-w", "-y", arguments=[2]) == ("", "")
    assert not list(tmp_path.glob("seen?"))


def test_a_function_that_ends_the_input_of_one_process_ends_all(tmp_path, monkeypatch):
    monkeypatch.setenv("SOLFEC_PATIENCE", "1")
    ends = "def end (q, u, t, h): raise SystemExit\nFORCE (ball, 'SPATIAL', ball.center, (1, 0, 0), end)\n"
    _, errors = run(2, tmp_path, HEAP + ends + RUN, status=1)
    assert "has ended its input within a RUN" in errors


@pytest.mark.slow
def test_an_error_of_all_processes_is_told_once(tmp_path):
    said, errors = run(3, tmp_path, "FIX_POINT (3, 4)", status=1)
    assert errors.count("input.py:1: ") == 1 and "BadType" not in errors
    assert "Abort" not in errors


@pytest.mark.slow
def test_processes_that_go_different_ways_are_told(tmp_path):
    _, errors = run(2, tmp_path, HEAP + "if RANK () == 0:" + RUN.replace("\n", "\n  "), status=1)
    assert "another one is at RUN number 1 of out/heap; all must call the same commands" in errors
    _, errors = run(2, tmp_path, HEAP + "BARRIER () if RANK () else RUN (solfec, solver, 1)", status=1)
    assert "process 0 is at RUN number 1" in errors or "process 1 is at BARRIER" in errors


def test_a_loop_over_steps_that_one_process_leaves_is_told(tmp_path):
    """The message names the time at which it was left, and no types of Python."""
    loop = "for time in solfec.steps (solver, 0.02):\n  if time > 0.009 and RANK () == 1: break\n"
    _, errors = run(2, tmp_path, HEAP + loop, status=1)
    assert "SOLFEC.steps: another process has left the loop over steps at time 0.01; all must leave it in the same step" in errors
    assert "Traceback" not in errors and "Exception ignored" not in errors
    run_serially(tmp_path, HEAP + "assert DURATION (solfec) [1] >= 0.01")


def test_a_loop_over_steps_beside_a_run_is_told(tmp_path):
    """The two exchange different messages after each step, and would wait for ever."""
    both = "if RANK ():\n  for time in solfec.steps (solver, 0.02): pass\nelse: RUN (solfec, solver, 0.02)\n"
    _, errors = run(2, tmp_path, HEAP + both, status=1)
    assert "process 1 is at SOLFEC.steps, as RUN number 1 of out/heap" in errors or "process 0 is at RUN number 1 of out/heap" in errors


LAST = {
    "callback": "def last ():\n  change ()\n  return 0\nCALLBACK (solfec, 0.01, (), last)\nRUN (solfec, solver, 0.02)\n",
    "loop": "for time in solfec.steps (solver, 0.02):\n  change ()\n  break\n",
}


@pytest.mark.parametrize("way", LAST)
def test_changes_of_the_model_just_before_a_run_is_ended_stay(way, tmp_path):
    """States that parts had before must not come back."""
    change = "def change ():\n  ball.velo = [0, 0, 0, 7, 0, 0]\n  DELETE (solfec, solfec.bodies[1])\n"
    end = "print (solfec.nbod, ball.velo[3])\n"
    assert run(2, tmp_path, HEAP + change + LAST[way] + end)[0].split("\n")[:2] == run(1, tmp_path, HEAP + change + LAST[way] + end, "-w", "-y")[0].split("\n")[:1] * 2


DIFFERENT = {
    "friction": "SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.3 + 0.1 * RANK ())",
    "gravity": "GRAVITY (solfec, (0, 0, -9.81 - RANK ()))",
    "force": "FORCE (ball, 'SPATIAL', MASS_CENTER (ball), (1, 0, 0), TIME_SERIES ([0, 0, 1, 1 + RANK ()]))",
    "solver": "solver.epsilon = 1e-5 * (1 + RANK ())",
}


@pytest.mark.slow
@pytest.mark.parametrize("difference", DIFFERENT)
def test_settings_that_differ_among_processes_are_told_once(tmp_path, difference):
    _, errors = run(3, tmp_path, HEAP + DIFFERENT[difference] + "\n" + RUN, status=1)
    assert errors.count("processes 0 and 1 have made different models: they differ in loads, materials or other settings") == 1, errors


def test_processes_that_catch_an_error_of_a_run_may_evaluate_it_for_as_long_as_they_like(tmp_path, monkeypatch):
    monkeypatch.setenv("SOLFEC_PATIENCE", "1")
    caught = """
import time
def fail (): raise ValueError
CALLBACK (solfec, 0.004, (), fail)
try: RUN (solfec, solver, 0.06)
except ValueError: pass
if RANK () == 0:
  time.sleep (3)
  print ('evaluated')
"""
    output, _ = run(2, tmp_path, HEAP + caught)
    assert "evaluated" in output


CONSTRAINED = {
    "point": "FIX_POINT (ball, (ball.center[0], ball.center[1], ball.center[2] + 0.1 * RANK ()))",
    "direction": "FIX_DIRECTION (ball, ball.center, (1, 0, RANK ()))",
    "velocity": "SET_VELOCITY (ball, ball.center, (1, 0, 0), 1.0 + RANK ())",
    "series": "SET_VELOCITY (ball, ball.center, (1, 0, 0), TIME_SERIES ([0, 0, 1, 1 + RANK ()]))",
    "curve": "PUT_SPRING (ball, ball.center, solfec.bodies[3], solfec.bodies[3].center, [-1, 9 + RANK (), 1, -9], (-5, 5))",
    "dashpot": "PUT_SPRING (ball, ball.center, solfec.bodies[3], solfec.bodies[3].center, [-1, 9, 1, -9], (-5, 5), dashpot = RANK ())",
    "axis": "HINGE (ball, None, ball.center, (1, 0, RANK ()))",
    "motor": "MOTOR (HINGE (ball, None, ball.center, (0, 0, 1)), 'RATE', 1.0 + RANK ())",
    "body": "FIX_DIRECTION (ball, ball.center, (0, 0, 1), solfec.bodies[3 + RANK ()], solfec.bodies[3 + RANK ()].center)",
}


@pytest.mark.parametrize("difference", ["velocity", "body", *(pytest.param(name, marks=pytest.mark.slow) for name in CONSTRAINED if name not in ("velocity", "body"))])
def test_constraints_that_differ_among_processes_are_told(tmp_path, difference):
    """As those of an input that draws them by chance."""
    _, errors = run(2, tmp_path, HEAP + CONSTRAINED[difference] + "\n" + RUN, status=1)
    assert errors.count("processes 0 and 1 have made different models: they differ in points, directions, motions or laws of constraints") == 1, errors


def test_divisions_that_differ_among_processes_are_told(tmp_path):
    _, errors = run(2, tmp_path, HEAP + "IMBALANCE_TOLERANCE (solfec, 1.1, 1.0, 1 + RANK ())\n" + RUN, status=1)
    assert errors.count("made different models: they differ in IMBALANCE_TOLERANCE;") == 1, errors


@pytest.mark.parametrize("difference", ["OUTPUT (solfec, 0.01 * (1 + RANK ()))", pytest.param("CALLBACK (solfec, 1.0 + RANK (), (), list)", marks=pytest.mark.slow)])
def test_times_that_differ_among_processes_are_told(tmp_path, difference):
    _, errors = run(2, tmp_path, HEAP + difference + "\n" + RUN, status=1)
    assert errors.count("made different models: they differ in duration of RUN, or intervals of OUTPUT, CALLBACK or samples") == 1, errors


def test_processes_of_different_inputs_are_told(tmp_path):
    """As of a launcher that starts one program with two command lines."""
    (tmp_path / "other.py").write_text(HEAP + RUN.replace("0.06", "0.05"))
    _, errors = run(1, tmp_path, HEAP + RUN, status=1, arguments=[":", "-n", 1, sys.executable, "-m", "solfec.cli", "--quiet", "other.py"])
    assert errors.count("made different models: they differ in duration of RUN") == 1, errors


@pytest.mark.slow
def test_what_is_not_built_is_refused_before_anything_is_written(tmp_path):
    _, errors = run(2, tmp_path, HEAP + "solver = SICONOS_SOLVER ()\n" + RUN, status=1)
    assert errors.count("several processes support") == 1
    assert not list(tmp_path.rglob("*.h5"))


FUNCTIONS = """
for ball in solfec.bodies[:6]:
  FORCE (ball, 'SPATIAL', (0, 0, 0), (1, 0, 0), lambda q, u, t, h: (-50*u[3], 20*q[9], 0, 0, 0, 0, 0, 0, 1))
PUT_SPRING (solfec.bodies[0], solfec.bodies[0].center, solfec.bodies[8], solfec.bodies[8].center, lambda s, v: -200*s - v, (-9, 9))
solfec.add_forces (lambda bodies, time, step: -0.1 * bodies.mass[:, None] * bodies.velocity)
"""


def test_functions_within_steps_give_what_one_process_gives(tmp_path):
    """Functions are made by each process, and none is sent."""
    directories = [tmp_path / name for name in ("one", "many")]
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], HEAP + FUNCTIONS + RUN)
    run(3, directories[1], HEAP + FUNCTIONS + RUN)
    assert differences(*map(frames_of, directories)) == []


SWITCHED = """
cubes = [BODY (solfec, 'RIGID', HEX ([x for p in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)) for x in (0.7*i - 2 + 0.4*p[0], 1 + 0.4*p[1], 0.01 + 0.4*p[2])],
         2, 2, 2, 1, [1] * 6), BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E6, poisson = 0.3, density = 1E3)) for i in range (6)]
for k, cube in enumerate (cubes): INITIAL_VELOCITY (cube, (1 - 0.4 * k, -1, 0), (0, 0, 1))
kinds, seen = ['RIGID', 'PSEUDO_RIGID', 'FINITE_ELEMENT'], set ()
def switch ():
  for cube in cubes[len (seen) % 2::2]: BODY_SWITCH (cube, kinds[(kinds.index (cube.kind) + 1) % 3])
  seen.add (solfec.time)
CALLBACK (solfec, 0.01, (), switch)
"""


@pytest.mark.parametrize("count", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_bodies_that_become_another_kind_write_what_one_process_writes(count, tmp_path):
    """BODY_SWITCH in a callback, from rigid to pseudo-rigid, finite elements and back, in contact."""
    directories = [tmp_path / name for name in ("one", "many")]
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], HEAP + SWITCHED + RUN)
    run(count, directories[1], HEAP + SWITCHED + RUN)
    assert differences(*map(frames_of, directories)) == []


PUSHED = """
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/pushed')
solfec.verbose = 'OFF'
cube = BODY (solfec, 'RIGID', BOX ((0, 0, 0), (1, 1, 1)), BULK_MATERIAL (solfec, young = 1E7, density = 1000))
FORCE (cube, 'SPATIAL', (0, 0, 0), (1, 0, 0), 1000.0)
def switch ():
  if abs (solfec.time - 0.01) < 1E-6: BODY_SWITCH (solfec.bodies[0], 'PSEUDO_RIGID')
CALLBACK (solfec, 0.005, (), switch)
OUTPUT (solfec, 0.004)
RUN (solfec, GAUSS_SEIDEL_SOLVER (1E-4, 10), float (NON_SOLFEC_ARGV () [0]))
if RANK () == 0: print (round (VELOCITY (solfec.bodies[0], solfec.bodies[0].center) [0], 5))
"""


def test_a_switched_body_keeps_its_force_in_a_run_that_is_continued(tmp_path):
    """It has the place of the old body among all bodies; a cube of a ton gets 1 m/s in a second."""
    assert run(2, tmp_path, PUSHED, arguments=[0.03])[0] == "0.03\n"
    assert run(1, tmp_path, PUSHED, "-c", arguments=[0.1])[0] == "0.1\n"


def wait_for(condition, process):
    """Wait until a run has begun to write."""
    until = time.monotonic() + 60
    while not condition():
        assert process.poll() is None and time.monotonic() < until, process.communicate()
        time.sleep(0.05)


@pytest.mark.slow
def test_the_file_stop_and_signals_end_all_processes(tmp_path):
    file = tmp_path / "out/heap/heap.h5"
    long = HEAP + RUN.replace("0.06", "1000")
    process = start(3, tmp_path, long)
    wait_for(file.exists, process)
    (tmp_path / "out/heap/STOP").touch()
    said, errors = process.communicate(timeout=30)
    assert process.returncode == 0 and len(list(tmp_path.glob("seen?"))) == 3, errors
    assert not (tmp_path / "out/heap/STOP").exists()
    (tmp_path / "out/heap/heap.h5").unlink()
    process = start(3, tmp_path, long)
    wait_for(file.exists, process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode not in (0, None)
    run_serially(tmp_path, HEAP + "print (DURATION (solfec))")


@pytest.mark.slow
def test_a_killed_process_ends_all_and_frames_stay(tmp_path):
    script = HEAP + "import os; open ('pid%d' % RANK (), 'w').write (str (os.getpid ()))" + RUN.replace("0.06", "1000")
    process = start(3, tmp_path, script)
    wait_for((tmp_path / "out/heap/heap.h5").exists, process)
    os.kill(int((tmp_path / "pid2").read_text()), signal.SIGKILL)
    began = time.monotonic()
    process.communicate(timeout=30)
    assert time.monotonic() - began < 5 and process.returncode != 0
    run_serially(tmp_path, HEAP + "assert DURATION (solfec)[0] == 0")


@pytest.mark.parametrize("place", ["a callback", "the input"])
def test_processes_that_wait_long_for_one_say_so(tmp_path, monkeypatch, place):
    monkeypatch.setenv("SOLFEC_PATIENCE", "0.5")
    hangs = "import time; time.sleep (3.0 if RANK () == 1 else 0.0)"
    script = HEAP + CALLED % f"{hangs}; return 0" + RUN if place == "a callback" else HEAP + RUN + hangs + "\nRUN (solfec, solver, 0.01)\n"
    if place == "a callback":
        script = script.replace("0.004, ()", "0.04, ()")
    _, errors = run(3, tmp_path, script)
    assert set(re.findall("process ([0-9]) has waited for others", errors)) == {"0", "2"}  # two of them may stand in one line


DUMPS = """
calls = []
def call ():
  calls.append (solfec.time)
  if len (calls) == 5: LOCDYN_DUMP (solfec, 'called')
CALLBACK (solfec, 0.004, (), call)
RUN (solfec, solver, 0.024)
LOCDYN_DUMP (solfec, 'dump')
"""
IMPLICIT = """
for k in range (3):
  soft = BODY (solfec, 'PSEUDO_RIGID', HULL ([(x + 0.3 * k, y, z) for x in (2, 2.2) for y in (0, 0.2) for z in (-0.01, 0.2)], 2, 2), bulk)
  soft.scheme = 'DEF_LIM'
"""


@pytest.mark.parametrize(
    ("script", "fclib"),
    [(SCENE % "jointed.mechanisms", False), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((HEAP + IMPLICIT + "solver = AUTO_SOLVER ()\n", True), (SCENE % "deformable.bricks", False)))],
)  # fmt: skip
def test_local_dynamics_are_dumped_as_by_one_process(script, fclib, tmp_path):
    """What LOCDYN_DUMP is for: to compare them between numbers of processes."""
    from solfec.solvers.dump import compare

    script += DUMPS + ("FCLIB_EXPORT (solfec, 'problem.hdf5')\n" if fclib else "")
    directories = [tmp_path / name for name in ("one", "two", "three")]
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], script)
    for count, directory in enumerate(directories[1:], 2):
        run(count, directory, script)
        for name in ("called", "dump"):
            assert len((directory / name).read_text().splitlines()) > 5
            assert compare(directories[0] / name, directory / name) == []
        assert (directory / "problem.hdf5").exists() == fclib


@pytest.mark.slow
def test_a_dump_by_one_of_several_processes_and_without_a_step_is_told(tmp_path):
    _, errors = run(2, tmp_path, HEAP + RUN + "if RANK () == 0: LOCDYN_DUMP (solfec, 'dump')\nBARRIER ()\n", status=1)
    assert "process 0 is at LOCDYN_DUMP ('dump')" in errors and "all must call the same commands" in errors
    _, errors = run(2, tmp_path, HEAP + "LOCDYN_DUMP (solfec, 'dump')\n", status=1)
    assert "LOCDYN_DUMP: there is no step of this run whose local dynamics still stand" in errors
    _, errors = run(2, tmp_path, HEAP + RUN + "DELETE (solfec, ball)\nDELETE (solfec, solfec.bodies [-1])\nLOCDYN_DUMP (solfec, 'dump')\n", "-w", "-y", status=1)
    assert "LOCDYN_DUMP: there is no step of this run whose local dynamics still stand" in errors
    spread = HEAP.replace("SURFACE_MATERIAL", "solfec.spread = 'ON'\nSURFACE_MATERIAL", 1)
    _, errors = run(2, tmp_path, spread + RUN + "LOCDYN_DUMP (solfec, 'dump')\n", "-w", "-y", status=1)
    assert "LOCDYN_DUMP: no process can have all constraints of a model with SOLFEC.spread = 'ON'" in errors


@pytest.mark.slow
def test_more_processes_than_bodies(tmp_path):
    few = HEAP.replace("range (2)", "range (1)").replace("range (3)", "range (1)")
    directories = [tmp_path / name for name in ("one", "many")]
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], few + RUN)
    run(4, directories[1], few + RUN)
    assert differences(*map(frames_of, directories)) == []


def test_modes_are_stored_by_all_processes_at_once(tmp_path):
    """Each finds the file behind the command; their unfinished files had one name, and processes deleted those of the others."""
    needs_mpi()
    script = """
solfec = SOLFEC ('DYNAMIC', 1E-3)
body = BODY (solfec, 'FINITE_ELEMENT', BOX ((0, 0, 0), (2, 1, 1), divisions = (2, 1, 1)), BULK_MATERIAL (solfec))
for n in range (20):
  made = MODAL_ANALYSIS (body, 8, 'modes%d' % n)
  assert MODAL_ANALYSIS (path = 'modes%d' % n) == made
"""
    run(3, tmp_path, script)
    assert len(list(tmp_path.glob("modes*"))) == 20


def test_serial_runs_load_no_mpi(tmp_path):
    (tmp_path / "input.py").write_text(HEAP + "RUN (solfec, solver, 0.004)\nimport sys; assert not any ('mpi4py' in name for name in sys.modules)")
    run_serially(tmp_path, (tmp_path / "input.py").read_text())


def test_launchers_without_the_command_are_told(tmp_path):
    environment = dict(os.environ, PMI_SIZE="3")
    command = [sys.executable, "-c", "from solfec import SOLFEC; SOLFEC ('DYNAMIC', 1)"]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert "the command solfec runs inputs in several processes" in process.stderr
    (tmp_path / "input.py").write_text("")
    command = [sys.executable, "-m", "solfec.cli", "input.py"]
    process = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert process.returncode == 2 and "3 processes were started, and MPI knows of 1" in process.stderr


def test_the_launcher_of_another_mpi_is_told(tmp_path):
    """MPICH aborts within its own beginning when Open MPI has started it."""
    launcher = shutil.which("mpiexec.openmpi")
    from mpi4py import MPI

    if launcher is None or not MPI.Get_library_version().startswith("MPICH"):
        pytest.skip("needs an mpi4py of MPICH, and the launcher of Open MPI (openmpi-bin)")
    (tmp_path / "input.py").write_text("")
    command = [launcher, "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, "-m", "solfec.cli", "input.py"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert process.returncode == 2 and "the launcher belongs to another MPI than mpi4py (MPICH" in process.stderr and "Abort" not in process.stderr


def test_missing_mpi4py_is_told(tmp_path):
    (tmp_path / "mpi4py.py").write_text("raise ImportError ('No module named mpi4py')")
    (tmp_path / "input.py").write_text("")
    environment = dict(os.environ, PMI_SIZE="2", PYTHONPATH=str(Path(tmp_path)))
    command = [sys.executable, "-m", "solfec.cli", "input.py"]
    process = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert process.returncode == 2 and "pip install 'solfec[mpi]'" in process.stderr
