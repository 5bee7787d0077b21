"""Steps that a solver does not solve: every solver says so, by name of body and constraint, and nothing hangs."""

from __future__ import annotations

import shutil

import pytest
from language_inputs import CUBES

from solfec import _kernels

STACK = f"""{CUBES.format(count=4)}
top, end = bodies[3], (0, 0, 7)
{{lines}}
solver = {{solver}}
RUN(solfec, solver, 0.005)
print(getattr(solver, 'error', None))
"""
SOLVERS = {
    "GAUSS_SEIDEL": "GAUSS_SEIDEL_SOLVER(1E-6, 1000)",
    "PENALTY": "PENALTY_SOLVER()",
    "NEWTON": "NEWTON_SOLVER()",
    "AUTO": "AUTO_SOLVER()",
    "SICONOS": "SICONOS_SOLVER(1E-6, 5000)",
}
UNCHECKED = pytest.mark.skipif(
    bool(_kernels.threads.has_checks()), reason="kernels built with checks stop at the first number out of range themselves"
)
EVERY = pytest.mark.parametrize("name", SOLVERS)
FEW = {
    "GAUSS_SEIDEL": "GAUSS_SEIDEL_SOLVER(1E-12, 1)",
    "NEWTON": "NEWTON_SOLVER(1E-30, 1, gsflag='OFF')",
    "SICONOS": "SICONOS_SOLVER(1E-12, 1)",
}  # AUTO factorises and solves this stack to rounding, which is as good as any accuracy asked for


@pytest.fixture(autouse=True)
def _with_siconos(request):
    name = request.node.callspec.params.get("name", "") if hasattr(request.node, "callspec") else ""
    if name == "SICONOS":
        from solfec.solvers import siconos_library, siconos_process

        if not siconos_process.is_installed():
            pytest.skip(siconos_library.MISSING)


def ended(run, name, lines="", solver=None):
    outcome = run(STACK.format(lines=lines, solver=solver or SOLVERS[name]))
    return outcome, outcome.err.splitlines()


@pytest.mark.parametrize("name", FEW)
def test_a_solver_that_runs_out_of_iterations_says_how_often_and_where_it_is_worst(run, name):
    outcome, said = ended(run, name, solver=FEW[name])
    assert outcome.status == 0 and len(said) == 1
    assert said[0].startswith(f"input.py:14: warning: {name}_SOLVER did not reach its accuracy in ")
    assert " of 5 steps; the worst one, at time 0.00" in said[0]
    assert "is that of constraint " in said[0] and "(CONTACT) of body " in said[0]


def test_a_solver_that_reaches_its_accuracy_says_nothing(run):
    outcome, said = ended(run, "AUTO")
    assert (outcome.status, outcome.out, said) == (0, "OK\n", [])


def test_who_handles_failures_or_wants_no_warnings_hears_nothing(run):
    lines = "def handle(solver): return 1\n"
    outcome, said = ended(run, "", lines, "GAUSS_SEIDEL_SOLVER(1E-12, 1, failure='CALLBACK', callback=handle)")
    assert outcome.status == 0 and said == []
    shutil.rmtree("out")
    outcome, said = ended(run, "", "WARNINGS('OFF')", FEW["GAUSS_SEIDEL"])
    assert outcome.status == 0 and said == []


@EVERY
@pytest.mark.timeout(60)
def test_joints_that_contradict_one_another_are_named_by_every_solver(run, name):
    outcome, said = ended(run, name, "FIX_POINT(top, end)\nSET_VELOCITY(top, end, (0, 0, 1), 1.0)")
    assert outcome.status == 0
    assert f"{name}_SOLVER: constraint 1 (FIXPNT) of body 5 and constraint 2 (VELODIR) of body 5 contradict one another" in said[0]
    assert "did not reach its accuracy in " in said[-1]


@EVERY
def test_redundant_joints_that_agree_are_solved(run, name):
    outcome, said = ended(run, name, "FIX_POINT(top, end)\nFIX_POINT(top, end)")
    assert (outcome.status, said) == (0, [])
    assert outcome.out == ("None\n" if name == "PENALTY" else "OK\n")


@EVERY
@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("lambda s, v: 1 / 0", "ZeroDivisionError: division by zero"),
        ("lambda s, v: float('nan')", "returned nan at stroke 0"),
        ("lambda s, v: 1E300", "returned 1e+300 at stroke 0"),
        ("lambda s, v: 'x'", "must return a number, not 'x'"),
    ],
)
def test_a_failing_spring_function_is_named_with_its_bodies_by_every_solver(run, name, function, message):
    outcome, said = ended(run, name, f"PUT_SPRING(top, end, bodies[2], (0, 0, 5), {function}, (-9, 9))")
    assert outcome.status == 1 and message in outcome.err
    assert "function of constraint 1 (SPRING) of body 5 and body 4" in outcome.err


@UNCHECKED
@EVERY
def test_a_load_out_of_range_ends_the_run_and_names_a_body(run, name):
    outcome, said = ended(run, name, "FORCE(bodies[2], 'SPATIAL', (0, 0, 4), (1, 0, 0), 1E308)")
    assert outcome.status == 1 and all(line.startswith("input.py:14: ") for line in said[:-1])
    assert any(text in outcome.err for text in ("body 2", "body 3", "body 4", "body 5")) and "finite" in said[0]  # of its stack


@UNCHECKED
@pytest.mark.parametrize("name", ["GAUSS_SEIDEL", "NEWTON", "SICONOS"])
def test_a_prescribed_velocity_out_of_range_is_named(run, name):
    outcome, said = ended(run, name, "SET_VELOCITY(top, end, (0, 0, 1), TIME_SERIES([0, 0, 1, 1E308]))")
    assert outcome.status == 0 and len(said) == 1
    assert "constraint 1 (VELODIR) of body 5" in said[0] and outcome.out.strip() != "OK"


SQUEEZED = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/squeezed')
solfec.verbose = 'OFF'
SURFACE_MATERIAL(solfec, friction=0.5)
bulk = BULK_MATERIAL(solfec)
def wall(x):
    return HULL([x, -9, -9, x + 1, -9, -9, x + 1, 9, -9, x, 9, -9, x, -9, 9, x + 1, -9, 9, x + 1, 9, 9, x, 9, 9], 1, 1)
walls = [BODY(solfec, 'OBSTACLE', wall(x), bulk) for x in (-1.4999, 0.4999)]
for k in range(4):
    BODY(solfec, 'RIGID', SPHERE((0, 0, k), 0.5, 1, 1), bulk)
SET_VELOCITY(walls[0], (-1, 0, 0), (1, 0, 0), 1.0)
SET_VELOCITY(walls[1], (1, 0, 0), (1, 0, 0), -1.0)
RUN(solfec, {solver}, 0.01)
"""


@pytest.mark.parametrize("name", ["GAUSS_SEIDEL", "NEWTON", "AUTO", "SICONOS"])
@pytest.mark.timeout(60)
def test_balls_between_closing_walls_have_no_solution_and_the_run_goes_on(run, name):
    outcome = run(SQUEEZED.format(solver=SOLVERS[name]))
    assert outcome.status == 0
    (said,) = outcome.err.splitlines()
    assert f"{name}_SOLVER did not reach its accuracy in " in said and "(CONTACT) of body " in said
    assert ("reactions grew without end" in said) == (name == "AUTO")
