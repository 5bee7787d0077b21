"""Spread models: processes make different bodies, and none has the whole model (SOLFEC.spread = 'ON')."""

import numpy as np
import pytest
from processes import BOX, differences, frames_of, needs_mpi, run, spmd, sweeps
from test_mpi import run_serially

from solfec.errors import SolfecError
from solfec.parallel.numbering import agreed

SCENE = BOX + """
from solfec import divided, spread_frames
divided.MANY_KEYS, spread_frames.BODIES, spread_frames.CONTACTS, spread_frames.EVERY = 3, 5, 4, 2  # as in large models
how = %r
solfec = SOLFEC ('DYNAMIC', 2E-3, 'out/heap')
solfec.spread = 'ON'
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.3)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E9, poisson = 0.3, density = 1E3)
BODY (solfec, 'OBSTACLE', box ((-3,-3,-1), (6,6,1)), bulk)
def mine (n):
  return how == 'all' or RANK () == (0 if how == 'zero' else n * NCPU () // 18)
made = []
for n in range (18):
  if mine (n):
    i, j, k = n %% 3, n // 3 %% 3, n // 9
    ball = BODY (solfec, 'RIGID', SPHERE ((-1.2+0.62*i+0.05*k, -1.2+0.62*j-0.04*k, 0.301+0.61*k), 0.3, 2, 2), bulk, label = 'ball %%d' %% n)
    INITIAL_VELOCITY (ball, (1.0 - i, 2.0 - j, 0), (0, 0, 3))
    if n == 8: FIX_POINT (ball, ball.center)
    if n == 4: CONTACT_EXCLUDE_BODIES (ball, made[-1][1])
    if n == 17:
      FORCE (ball, 'SPATIAL', ball.center, (0, 0, 1), 50)
      link = PUT_RIGID_LINK (ball, made[-1][1], ball.center, made[-1][1].center)
    made.append ((n + 2, ball))
BODY (solfec, 'RIGID', box ((2,2,0.01), (0.5,0.5,0.5)), bulk, label = 'crate')
step = BODY (solfec, 'OBSTACLE', box ((2.6,2.6,0), (0.2,0.2,0.2)), bulk) if mine (0) else None
GRAVITY (solfec, (0, 0, -10))
""" + sweeps(300)
RUNS = """
RUN (solfec, solver, 0.06)
for number, ball in made:
  if HERE (solfec, ball):
    assert ball.id == number and ball.label == 'ball %d' % (number - 2), (ball, number)
RUN (solfec, solver, 0.02)
open ('moved%d' % RANK (), 'w').write (str (sum (HERE (solfec, body) for body in solfec.bodies)))
"""


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """Frames of a serial run."""
    needs_mpi()
    directory = tmp_path_factory.mktemp("serial")
    run_serially(directory, SCENE % "all" + RUNS)
    return data(directory)


def data(directory):
    """Frames without the text of the input, which names who makes what."""
    return {name: values for name, values in frames_of(directory).items() if name != "model/input"}


def count_of(how, slow=True):
    return [pytest.param(how, count, marks=pytest.mark.slow if slow else ()) for count in (1, 2, 3)]


@pytest.mark.parametrize(("how", "count"), [pytest.param("blocks", 3), *count_of("all"), *count_of("zero"), *count_of("blocks")[:2]])
def test_bodies_that_processes_make_apart_move_as_in_one_that_makes_all(serial, tmp_path, how, count):
    """With loads, fixed points, links, labels, an obstacle of one process, a crate of all, and a second RUN."""
    run(count, tmp_path, SCENE % how + RUNS)
    assert differences(serial, data(tmp_path)) == []
    moved = [int((tmp_path / f"moved{rank}").read_text()) for rank in range(count)]
    assert sum(moved) == 21 and (count == 1 or max(moved) < 15)


@pytest.mark.slow
def test_manifold_contacts_and_soft_bodies_of_several_processes(tmp_path):
    """Margins of boxes follow from the sizes of all of them; pseudo-rigid and finite element bodies are there, too."""
    needs_mpi()
    script = SCENE.replace("'out/heap')", "'out/heap', contacts = 'MANIFOLD')").replace("    if n == 8: FIX_POINT (ball, ball.center)\n", "")
    script = script.replace("      link = PUT_RIGID_LINK (ball, made[-1][1], ball.center, made[-1][1].center)\n", "")
    script = script.replace("'RIGID', SPHERE (", "['PSEUDO_RIGID', 'RIGID'][n %% 2], SPHERE (") + """
nodes = [c for z in (0, 1, 2) for c in [(0,0,z), (1,0,z), (1,1,z), (0,1,z)]]
elements = [8, 0, 1, 2, 3, 4, 5, 6, 7, 0, 8, 4, 5, 6, 7, 8, 9, 10, 11, 0]
for n in range (0, 18, 5):
  if mine (n):
    mesh = MESH (sum ([[0.2 * x - 2.5, 0.2 * y + 0.1 * n - 2, 0.2 * z + 0.001 * n + 0.001] for x, y, z in nodes], []), elements, 3)
    body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  if mine (n + 1): BODY (solfec, 'RIGID', box ((-2.6, 0.1 * n - 2, 0.42 + 0.001 * n), (0.2 + 0.01 * n, 0.2, 0.1)), bulk)
RUN (solfec, solver, 0.04)
"""
    directories = [tmp_path / name for name in ("one", "two", "three")]
    for count, directory in enumerate(directories, 1):
        directory.mkdir()
        given = script % ("all" if count == 1 else "blocks")
        run_serially(directory, given) if count == 1 else run(count, directory, given)
    one, two, three = map(data, directories)
    assert differences(two, three) == [] and differences(one, two) == []


@pytest.mark.slow
def test_bodies_that_leave_the_scene_are_gone_in_all_processes(tmp_path):
    needs_mpi()
    directories = [tmp_path / name for name in ("one", "many")]
    for directory, how in zip(directories, ("all", "blocks"), strict=True):
        directory.mkdir()
        script = SCENE % how + "if mine (17): INITIAL_VELOCITY (ball, (0, 0, 20), (0, 0, 0))\nEXTENTS (solfec, (-3, -3, -2, 3, 3, 2))\nRUN (solfec, solver, 0.2)\n"
        run_serially(directory, script) if how == "all" else run(3, directory, script)
    one, many = map(data, directories)
    assert one["frames/events/body"] and differences(one, many) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["all", "blocks"])
def test_a_spread_run_is_continued(tmp_path, how):
    """By other numbers of processes, which make other bodies; with time series, which processes number differently."""
    needs_mpi()
    directories = [tmp_path / name for name in ("one", "parts")]
    script = SCENE.replace("(0, 0, 1), 50)", "(0, 0, 1), TIME_SERIES ([0, 40, 1, 60]))").replace("(0, 0, -10))", "(0, 0, TIME_SERIES ([0, -9, 1, -11])))")
    script += "RUN (solfec, solver, DURATION)\n"
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], script.replace("DURATION", "0.06") % "all")
    run(2, directories[1], script.replace("DURATION", "0.03") % how)
    run(3, directories[1], script.replace("DURATION", "0.06") % how, "-c")
    one, parts = map(data, directories)
    differing = differences(one, parts)
    assert [name for name in differing if name.startswith(("frames/bod", "frames/con", "frames/vel"))] == [], differing


def test_joints_to_obstacles_keep_them_in_frames_and_in_continued_runs(tmp_path):
    """Process 0 writes the obstacle, but only the process of the ball has its hinge; the frame named the body that came next."""
    needs_mpi()
    script = BOX + """
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/hinge')
solfec.spread = 'ON'
bulk = BULK_MATERIAL (solfec, density = 1E3)
floor = BODY (solfec, 'OBSTACLE', box ((-1,-1,-1), (9,2,0.5)), bulk)
for n in range (4):
  if n * NCPU () // 4 == RANK ():
    ball = BODY (solfec, 'RIGID', SPHERE ((2*n, 0, 0), 0.3, 1, 1), bulk)
    INITIAL_VELOCITY (ball, (0, 0, 0), (0, 0, 1))
    if n == 3: HINGE (ball, floor, (2*n, 0, 0), (0, 0, 1), spring = 50.0)
""" + sweeps(100) + "RUN (solfec, solver, DURATION)\n"
    directories = [tmp_path / name for name in ("one", "parts")]
    for directory in directories:
        directory.mkdir()
    run_serially(directories[0], script.replace("DURATION", "0.02"))
    run(2, directories[1], script.replace("DURATION", "0.01"))
    run(2, directories[1], script.replace("DURATION", "0.02"), "-c")
    one, parts = map(data, directories)
    assert differences(one, parts) == []


WALL = BOX + """
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/wall', contacts = 'MANIFOLD')
solfec.spread = 'ON'
SURFACE_MATERIAL (solfec, friction = 0.3)
SURFACE_MATERIAL (solfec, 5, 5, model = 'COHESIVE', ft = 3E4, Gf = 5.0, friction = 0.5)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E9, poisson = 0.3, density = 1E3)
BODY (solfec, 'OBSTACLE', box ((-3, -3, -1), (8, 6, 1)), bulk)
for i in range (3):
  for j in range (4):
    if (4 * i + j) * NCPU () // 12 == RANK ():
      brick = BODY (solfec, 'RIGID', box ((0.4 * j + 0.2 * (i % 2), 0, 0.005 + 0.2 * i), (0.4, 0.2, 0.2), 5), bulk)
      INITIAL_VELOCITY (brick, (0, 0, -2), (0, 0, 0))
for k in range (3):
  if RANK () == NCPU () - 1:
    ball = BODY (solfec, 'RIGID', SPHERE ((0.6 * k + 0.3, -0.25, 0.3 + 0.1 * k), 0.2, 1, 1), bulk)
    INITIAL_VELOCITY (ball, (0, 5, -1), (0, 0, 0))
GRAVITY (solfec, (0, 0, -10))
IMBALANCE_TOLERANCE (solfec, 1.05, 1.0, 5)
solver = GAUSS_SEIDEL_SOLVER (1E-4, 100)
solver.colouring = 'ON'
OUTPUT (solfec, 0.002)
RUN (solfec, solver, 0.012)
"""


def test_callbacks_of_a_spread_model_do_not_mind_what_steps_change(tmp_path):
    """Balls fall off brittle points and fly through the regions of all processes; such changes were taken for those of the callback."""
    script = """
solfec = SOLFEC ('DYNAMIC', 2E-3, 'out/heap')
solfec.spread = 'ON'
bulk = BULK_MATERIAL (solfec, density = 1E3)
GRAVITY (solfec, (0, 0, -10))
for n in range (8):
  ball = BODY (solfec, 'RIGID', SPHERE ((n, 0, 0), 0.2, 1, 1), bulk)
  if n % 2: INITIAL_VELOCITY (ball, (3 - n, 1, 0), (0, 0, 0))
  else: FIX_POINT (ball, ball.center, 200.0 + 100 * n)
called = []
CALLBACK (solfec, 0.004, (), lambda: called.append (solfec.time))
""" + sweeps(100)
    runs = "RUN (solfec, solver, 0.1)\nRUN (solfec, solver, 0.1)\nassert len (called) > 40\n"
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    run_serially(tmp_path / "one", script + runs)
    run(3, tmp_path / "many", script + runs)
    assert differences(data(tmp_path / "one"), data(tmp_path / "many")) == []


def test_bonds_of_spread_models_break_in_two_processes_as_in_one(tmp_path):
    """Bricks that are bonded across the parts of both fall on a floor, and balls strike them."""
    needs_mpi()
    frames = []
    for count in (1, 2):
        (tmp_path / str(count)).mkdir()
        run(count, tmp_path / str(count), WALL)
        frames.append(data(tmp_path / str(count)))
    assert differences(*frames) == []
    cohesion, damage = (np.frombuffer(frames[0][f"frames/constraints/{name}"]) for name in ("cohesion", "damage"))
    assert (cohesion > 0).any() and ((damage > 0) & (damage < 1)).any() and (damage == 1).any()


MISTAKES = {
    "twice": ("if RANK () < 2: BODY (solfec, 'RIGID', SPHERE ((0,0,9), 0.3, 1, 1), bulk)\nRUN (solfec, solver, 0.01)", "processes 0, 1 have made the same body"),
    "settings": ("GRAVITY (solfec, (0, 0, -RANK ()))\nRUN (solfec, solver, 0.01)", "differ in loads, materials or other settings"),
    "elsewhere": ("RUN (solfec, solver, 0.01)\nfor number, ball in made: ball.conf", "ask HERE"),
    "later": ("RUN (solfec, solver, 0.01)\nBODY (solfec, 'RIGID', SPHERE ((0,0,9), 0.3, 1, 1), bulk)\nRUN (solfec, solver, 0.01)", "were changed in process 0"),
    "solver": ("RUN (solfec, NEWTON_SOLVER (), 0.01)", "NEWTON_SOLVER, with the options given, may solve for all reactions in one process"),
    "after": ("solfec.spread = 'OFF'", "must be set before the first BODY"),
    "energy": ("RUN (solfec, solver, 0.01)\nENERGY (solfec)", "SOLFEC.spread"),
    "function": ("BODY (solfec, 'RIGID', SPHERE ((0,0,9), 0.3, 1, 1), bulk)\nsolfec.before_motion (lambda now: None)\nRUN (solfec, solver, 0.01)", "Python functions within a step"),
    "deleted": ("gone = BODY (solfec, 'RIGID', SPHERE ((0,0,9), 0.3, 1, 1), bulk, label = 'gone')\nDISPLAY_POINT (gone, (0,0,9))\nDELETE (solfec, gone)\nRUN (solfec, solver, 0.01)\ngone.conf", "does not exist"),
    "replaced": ("BODY_SWITCH (BODY (solfec, 'RIGID', SPHERE ((0,0,9), 0.3, 1, 1), bulk), 'PSEUDO_RIGID')\nRUN (solfec, solver, 0.01)", "RT_SPLIT or BODY_SWITCH have replaced"),
    "force": (
        "one = BODY (solfec, 'RIGID', SPHERE ((0,0,9), 0.3, 1, 1), bulk)\nif RANK () == 0: FORCE (one, 'SPATIAL', one.center, (0, 0, 1), 5)\nRUN (solfec, solver, 0.01)",
        "processes 0 and 1 differ in its state, loads",
    ),
    "order": (
        "for z in (9, 8) if RANK () else (8, 9): BODY (solfec, 'RIGID', SPHERE ((0,0,z), 0.3, 1, 1), bulk)\nRUN (solfec, solver, 0.01)",
        "in different order",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", [name if name == "twice" else pytest.param(name, marks=pytest.mark.slow) for name in MISTAKES])
def test_mistakes_are_told(tmp_path, mistake):
    needs_mpi()
    script, words = MISTAKES[mistake]
    _, errors = run(3, tmp_path, SCENE % ("all" if mistake == "elsewhere" else "blocks") + script, status=1)
    assert words in " ".join(errors.split()) and "Traceback" not in errors, errors


MEMORY = """
from resource import getrusage, RUSAGE_SELF
def peak (): return getrusage (RUSAGE_SELF).ru_maxrss / 1E3
n = 35
base = peak ()
solfec = SOLFEC ('DYNAMIC', 1E-3)
solfec.spread = 'ON'
bulk = BULK_MATERIAL (solfec, 'KIRCHHOFF', young = 1E9, poisson = 0.2, density = 1000)
for i in range (n):
  if %s:
    for j in range (n):
      for k in range (n):
        BODY (solfec, 'RIGID', SPHERE ((i*0.999, j*0.999, k*0.999), 0.5, 1, 1), bulk)
made = peak ()
solver = GAUSS_SEIDEL_SOLVER (1E-3, 5)
solver.colouring = 'ON'
RUN (solfec, solver, 2E-3)
open ('memory%%d' %% RANK (), 'w').write ('%%g %%g' %% (made - base, peak () - base))
"""


@pytest.mark.slow
@pytest.mark.parametrize("guard", ["True", "i * NCPU () // n == RANK ()"])
def test_each_process_needs_the_memory_of_its_part(tmp_path, guard):
    """10 719 spheres in each of four processes, and copies of at most 1400: 1.3 parts of four of a serial run, and copies; where all have made all bodies, half as much again as these take."""
    needs_mpi()
    needed = {}
    for count in (1, 4):
        directory = tmp_path / str(count)
        directory.mkdir()
        run(count, directory, MEMORY % guard)
        needed[count] = np.array([list(map(float, (directory / f"memory{rank}").read_text().split())) for rank in range(count)]).max(axis=0)
    (whole, serial), (made, most) = needed[1], needed[4]
    goal = (1.3 / 4 + 1400 / 35**3) * serial
    if guard == "True":
        assert most <= goal + 0.5 * whole, needed
    else:
        assert most <= goal and made <= 1.3 / 4 * whole, needed


def numbers(several):
    """Numbers, what is common, and totals of the things (integers) that so many processes have made."""
    found = spmd(len(several), lambda world: agreed(world, np.array(several[world.rank], np.uint64), np.array(several[world.rank], np.uint64), "body"))
    assert len({one.total for one in found}) == 1
    return [one.number.tolist() for one in found], found[0].common.tolist(), found[0].total


def test_things_are_numbered_by_rank_between_common_ones():
    assert numbers([[7, 1, 2, 9], [7, 3, 9, 4]]) == ([[0, 1, 2, 4], [0, 3, 4, 5]], [True, False, False, True], 6)
    assert numbers([[5, 5], [5, 5], [5, 5]])[0] == [[0, 1]] * 3
    assert numbers([[], [4, 3], []])[0] == [[], [0, 1], []]
    assert numbers([[], []]) == ([[], []], [], 0)


def test_things_of_some_processes_and_other_orders_are_refused():
    with pytest.raises(SolfecError, match="processes 1, 2 have made the same body .number 2 of process 1."):
        numbers([[1], [1, 2], [2, 1]])
    with pytest.raises(SolfecError, match="processes 0 and 1 have made what they have in common in different order"):
        numbers([[1, 2], [2, 1]])


@pytest.mark.slow
def test_the_penalty_solver_sweeps_constraints_of_spread_models_by_colours(tmp_path):
    """One process solves them by islands."""
    needs_mpi()
    directories = [tmp_path / name for name in ("one", "two", "three")]
    script = SCENE.replace("friction = 0.3", "friction = 0.3, spring = 1E6, dashpot = 10")
    for count, directory in enumerate(directories, 1):
        directory.mkdir()
        given = script % ("all" if count == 1 else "blocks") + "RUN (solfec, PENALTY_SOLVER (), 0.08)\n"
        run_serially(directory, given) if count == 1 else run(count, directory, given)
    assert differences(*map(data, directories[1:])) == []
    one, two = (np.frombuffer(data(directory)["frames/configurations"]) for directory in directories[:2])
    assert 0.0 < np.abs(one - two).max() < 1e-6
