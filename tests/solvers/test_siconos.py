"""SICONOS_SOLVER: what is handed to the library, what comes back, and what happens when it is missing or fails."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from particle_scene import Scene, wall
from reference_rows import assembled, load
from test_contact_problem import stacks

from solfec import BODY, BULK_MATERIAL, GRAVITY, HULL, OUTPUT, RUN, SICONOS_SOLVER, SOLFEC, TRANSLATE
from solfec.errors import SolfecError
from solfec.solvers import contact_problem, siconos, siconos_library, siconos_process
from solfec.solvers.contact_problem import from_matrix
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.local_dynamics import LocalDynamics
from solfec.solvers.siconos import SiconosSolver, solve_problem
from solfec.solvers.siconos_library import SOLVERS

WITHOUT_FAILURES = sorted(set(SOLVERS) - {"NSN_FB"})  # whose assertions stop it where rounding leaves a negative square


FIFTH_ENDS = (
    "import os\nimport solfec.solvers.siconos_library as library\nsolve, left = library.solve, [5]\n"
    "def ends(*problem):\n    left[0] -= 1\n    if not left[0]: os.kill(os.getpid(), SIGNAL)\n    return solve(*problem)\n"
    "library.solve = ends\nlibrary.serve({requests}, {answers})"
)
WITHOUT_LIBRARY = "import os, signal\nimport solfec.solvers.siconos_library as library; library.library = lambda: None\n"


@pytest.fixture
def library():
    if not siconos_process.is_installed():
        pytest.skip(siconos_library.MISSING)


@pytest.fixture
def process(monkeypatch):
    """`process(code)`: the other process runs this code instead, with the two file descriptors in its place."""
    siconos_process.stop()
    yield lambda code: monkeypatch.setattr(siconos_process, "PROGRAM", "import sys; sys.path.append({path!r})\n" + code)
    siconos_process.stop()


def test_components_are_reversed_and_blocks_with_them():
    one_to_nine = np.arange(1.0, 10.0).reshape(3, 3, 1, order="F")
    pointers, columns, blocks = siconos.compressed(np.zeros(0, int), np.zeros(0, int), np.zeros((3, 3, 0)), one_to_nine)
    assert blocks.tolist() == [[9, 8, 7, 6, 5, 4, 3, 2, 1]]
    assert pointers.tolist() == [0, 1] and columns.tolist() == [0]


def test_free_velocity_and_reactions_change_order_on_their_way(monkeypatch):
    class Recorder:
        def solve(self, pointers, columns, blocks, q, friction, start, *rest, patience=None):
            self.q, self.start = q, start
            return 2.0 * start, 0, 1, 0.0, 0.0

    recorder = Recorder()
    monkeypatch.setattr(siconos_process, "running", lambda: recorder)
    q, start = np.array([[1.0], [2.0], [3.0]]), np.array([[4.0], [5.0], [6.0]])
    found, *_ = siconos._call((None, None, None), 1.0, q, np.ones(1), start, "NSGS", 1e-4, 9)
    assert recorder.q[0] / recorder.q[0, 2] == pytest.approx([3, 2, 1])
    assert recorder.start[0] / recorder.start[0, 2] * 4 == pytest.approx([6, 5, 4])
    assert found[:, 0] == pytest.approx([8, 10, 12])


@pytest.mark.parametrize(("friction", "slip"), [(0.3, 0.02), (0.8, 0.0)])
def test_one_contact_sticks_or_slips(library, friction, slip):
    problem = from_matrix(np.eye(3), [0.05, 0.0, -0.1], [friction])
    found = solve_problem(problem, "NSGS", 1e-10)
    assert found.status == "OK"
    assert found.r[:, 0] == pytest.approx([slip - 0.05, 0, 0.1], abs=1e-9)
    assert found.u[:, 0] == pytest.approx([slip, 0, 0], abs=1e-9)


@pytest.mark.parametrize("solver", WITHOUT_FAILURES)
def test_solvers_of_the_library_agree_with_ours(library, solver):
    problem = stacks(2)
    ours = contact_problem.solve(problem, 1e-9)
    found = solve_problem(problem, solver, 1e-6)
    assert found.status == "OK" and max(found.residual, found.natural_map) <= 1e-6
    assert found.u == pytest.approx(ours.u, abs=1e-4 * np.abs(problem.q).max())


@pytest.mark.parametrize("name", ["m03_020", "m12_000", "m13_050"])
def test_steps_of_models_reach_the_residual(library, name):
    data = load(name)
    local = assembled(data)
    report = SiconosSolver(1e-8, 20000).solve(local)
    assert (report.status, report.solver) == ("OK", "SICONOS")
    assert report.residual < 1e-7
    size = np.abs(data["B"]).max()
    assert local.rows.U[:, : local.n].T == pytest.approx(data["U_TIGHT"], abs=1e-5 * size)


def test_warm_starts_need_fewer_iterations(library):
    scene, solver = wall(4), SiconosSolver(1e-6, 5000)
    counts = []
    for _ in range(4):
        scene.advance(solver)
        assert solver.error == "OK"
        counts.append(solver.iters)
    assert counts[-1] < counts[0]


def test_joints_and_springs_are_solved_in_turn_with_contacts(library):
    def model() -> LocalDynamics:
        scene = Scene(0.01, (0, 0, -10.0))
        scene.materials.friction[0] = 0.5
        floor = scene.obstacle(centre=(0, 0, -1))
        low, high, side = scene.body(mass=2.0), scene.body(centre=(0, 0, 1)), scene.body(centre=(0.6, 0, 0.8))
        scene.fix("RIGLNK", high, side, slave_point=(0.6, 0, 0.8), length=np.hypot(0.6, 0.2), normal=(-0.6, 0, 0.2))
        scene.fix("VELODIR", side, normal=(1.0, 0, 0), value=(0.1, 0, 0))
        scene.contact(low, floor, (0, 0, -0.5))
        scene.contact(high, low, (0, 0, 0.5))
        scene.predict()
        return scene.assemble()

    ours, theirs = model(), model()
    assert GaussSeidelSolver(1e-13, 10000).solve(ours).status == "OK"
    solver = SiconosSolver(1e-9, 10000)
    report = solver.solve(theirs)
    assert report.status == "OK" and report.residual < 1e-8 and solver.alternations > 1
    assert theirs.rows.R[:, :4] == pytest.approx(ours.rows.R[:, :4], abs=1e-5)


def test_restitution_and_cohesion_count(library):
    scene = Scene(0.01)
    bouncing, glue = scene.material(restitution=0.5), scene.material(friction=0.5, cohesion=2.0)
    ball, stuck, away = (scene.body(velocity=(0, 0, v)) for v in (-1.0, 0.005, 1.0))
    floor = scene.obstacle()
    bounce = scene.contact(ball, floor, material=bouncing)
    held = scene.contact(stuck, floor, material=glue, cohesion=2.0)
    open_gap = scene.contact(away, floor, material=glue, gap=0.1)
    scene.constraints.R[2, open_gap] = 3.0
    scene.advance(SiconosSolver(1e-10, 1000))
    assert scene.reaction(bounce)[2] == pytest.approx(150.0)
    assert scene.reaction(held)[2] == pytest.approx(-0.5)
    assert scene.reaction(open_gap)[2] == 0.0


def test_too_few_iterations_are_told(library):
    solver = SiconosSolver(1e-12, 2)
    report = solver.solve(assembled(load("m03_020")))
    assert solver.error == report.status == "DIVERGED" and report.residual > 1e-12


@pytest.mark.extreme_numbers
def test_numbers_that_are_not_finite_are_named_before_the_library_sees_them(library):
    scene = wall(2)
    scene.linear[2, 3] = np.nan
    with pytest.raises(SolfecError, match=r"constraint \d+ \(CONTACT\) of body \d+.* not finite"):
        scene.advance(SiconosSolver())


def test_a_missing_library_names_the_package(process):
    process(
        "import solfec.solvers.siconos_library as library; library.NAMES = ('libnowhere.so',)\n"
        "library.serve({requests}, {answers})"
    )
    with pytest.raises(SolfecError, match="apt-get install libsiconos-numerics7"):
        siconos_process.running()


def test_a_library_that_ends_its_process_does_not_end_the_run(process):
    process(WITHOUT_LIBRARY + "def solve(*_): os.write(2, b'Assertion failed'); os.abort()\nlibrary.solve = solve\nlibrary.serve({requests}, {answers})")
    for _ in range(2):  # the next problem starts another process
        with pytest.raises(SolfecError, match="error of its own .signal SIGABRT.; another solver may do; its last words: Assertion failed"):
            solve_problem(stacks(1), "NSGS", 1e-6)


def test_a_process_that_hangs_is_ended_with_its_last_words(process, monkeypatch):
    process(WITHOUT_LIBRARY + "def solve(*_): os.write(2, b'iteration 7'); os.kill(os.getpid(), signal.SIGSTOP)\nlibrary.solve = solve\nlibrary.serve({requests}, {answers})")
    hung = siconos_process.running()
    monkeypatch.setattr(siconos_process, "PATIENCE", 1.5)
    began = time.monotonic()
    with pytest.raises(SolfecError, match="gave no sign of life for 1.5 s and was ended; its last words: iteration 7"):
        solve_problem(stacks(1), "NSGS", 1e-6)
    assert time.monotonic() - began < 5 and not hung.is_alive


def test_a_process_that_has_stopped_takes_no_long_request(process, monkeypatch):
    process(WITHOUT_LIBRARY + "library.serve({requests}, {answers})")
    monkeypatch.setattr(siconos_process, "PATIENCE", 1.0)
    stopped = siconos_process.running()
    os.kill(stopped._process.pid, signal.SIGSTOP)
    with pytest.raises(SolfecError, match="gave no sign of life for 1 s"):
        solve_problem(stacks(12), "NSGS", 1e-6)  # more than a pipe holds
    assert not stopped.is_alive


def test_a_long_solution_is_no_hung_one(process, monkeypatch):
    process(WITHOUT_LIBRARY + "import time\ndef solve(*_): time.sleep(2.5); return 7, 8\nlibrary.solve = solve\nlibrary.serve({requests}, {answers})")
    long = siconos_process.running()
    monkeypatch.setattr(siconos_process, "PATIENCE", 1.5)
    assert long.solve(1) == (7, 8)


@pytest.mark.parametrize(
    ("signal_number", "message"),
    [(signal.SIGKILL, "gave up with an error of its own .signal SIGKILL."), (signal.SIGSTOP, "gave no sign of life for 2 s and was ended")],
    ids=["killed", "hung"],
)
def test_a_run_whose_siconos_dies_or_hangs_keeps_its_frames(library, process, tmp_path, monkeypatch, signal_number, message):
    process(FIFTH_ENDS.replace("SIGNAL", str(int(signal_number))))
    monkeypatch.setattr(siconos_process, "PATIENCE", 2.0)
    solfec = SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "out"))
    solfec.verbose = "OFF"
    bulk = BULK_MATERIAL(solfec, density=1000)
    GRAVITY(solfec, (0, 0, -10))
    cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    for kind, low in (("OBSTACLE", -1), ("RIGID", 0)):
        BODY(solfec, kind, TRANSLATE(HULL(cube, 1, 1), (0, 0, low)), bulk)
    OUTPUT(solfec, 1e-3)
    began = time.monotonic()
    with pytest.raises(SolfecError, match=message):
        RUN(solfec, SICONOS_SOLVER(1e-8, 1000), 1000.0)
    assert time.monotonic() - began < 10.0
    assert len(SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "out"), mode="READ")._simulation.reader.times) > 3


def test_memory_is_given_back(library):
    problem = stacks(2)

    def resident() -> int:
        with open(f"/proc/{siconos_process.running()._process.pid}/statm") as file:
            return int(file.read().split()[1])

    for _ in range(20):
        solve_problem(problem, "NSGS", 0.1)
    before = resident()
    for _ in range(200):
        solve_problem(problem, "NSGS", 0.1)
    assert resident() - before < 300  # pages; 200 problems of 32 contacts hold 3 MB in W alone


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"maxiter": 0}, {"solver": "LU"}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError):
        SiconosSolver(**wrong)


@pytest.mark.parametrize("solver", siconos_library.EVERY)
def test_every_solver_of_the_library_agrees_or_its_failure_is_told(library, solver):
    """A block on a table that is pushed: velocities are unique.  No solver may claim another solution."""
    arms = np.array([[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.2, 0.2)])
    rows = [np.hstack([np.eye(3), np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])]) for x, y, z in arms]
    H = np.vstack(rows)
    W = H @ np.diag([1 / 2.0] * 3 + [1 / 0.05] * 3) @ H.T
    problem = from_matrix(W, H @ np.array([0.05, 0.02, -0.03, 0, 0, 0]), [0.4] * 4)
    expected = contact_problem.solve(problem, 1e-12).u
    try:
        found = solve_problem(problem, solver, 1e-8, patience=3.0)
    except SolfecError as error:
        assert "gave up with an error of its own" in str(error) or "no answer in 3 s" in str(error)
        assert not solver.startswith("GAMS") or "its last words: fc3d_gams :: gams was not enabled" in str(error)
        assert solver not in ("NSGS", "VI_EG", "FPP", "EG", "ADMM", "PROX")
        return
    if found.status == "OK":
        np.testing.assert_allclose(found.u, expected, atol=1e-6 * np.linalg.norm(problem.q))
    else:
        assert solver not in ("NSGS", "VI_EG", "FPP", "EG", "ADMM", "PROX")
