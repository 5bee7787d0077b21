"""Inputs with the Newton solver, gap-aware contact and the residual."""

from __future__ import annotations

import pytest
from language_inputs import CUBES

IMPACT = """
import sys
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/impact')
solfec.verbose = 'OFF'
material = SURFACE_MATERIAL(solfec, friction=0.3, gap_aware={reach!r})
bulk = BULK_MATERIAL(solfec)
GRAVITY(solfec, (0, 0, -10))
plate = HULL([0, 0, -1, 1, 0, -1, 1, 1, -1, 0, 1, -1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0], 1, 1)
BODY(solfec, 'OBSTACLE', plate, bulk)
centre = (0.5, 0.5, 0.11037)
ball = BODY(solfec, 'RIGID', SPHERE(centre, 0.1, 1, 1), bulk)
INITIAL_VELOCITY(ball, (0, 0, -1), (0, 0, 0))
OUTPUT(solfec, 1E-3)
RUN(solfec, {solver}, 0.03)
if solfec.mode == 'WRITE': sys.exit(0)
SEEK(solfec, 0.03)
times, heights, residual, newton = HISTORY(solfec, [(ball, centre, 'CZ'), 'RESIDUAL', 'NTITERS'], 0, 0.03)
print(min(heights) - 0.1, heights[-1] - 0.1, max(residual[1:]), newton[-1], solfec.constraints[0].residual, material.gap_aware)
"""


@pytest.mark.parametrize("solver", ["GAUSS_SEIDEL_SOLVER(1E-8, 100)", "NEWTON_SOLVER(1E-16)"])
@pytest.mark.parametrize(("reach", "least"), [(4e-3, -2e-6), ("OFF", -1e-3)])
def test_penetration_after_an_impact_at_one_metre_per_second(good, solver, reach, least):
    text = IMPACT.format(solver=solver, reach=reach)
    good(text)
    words = good(text).split()  # reads what the first run wrote
    lowest, last, residual, iterations, own = map(float, words[:5])
    assert least < lowest < 2e-6 and abs(last - lowest) < 1e-6
    if reach == "OFF":
        assert lowest < -1e-4  # as in Solfec-1.0
    assert 0.0 <= residual < 1e-5 and 0.0 <= own < 1e-5
    assert (iterations >= 0) == ("NEWTON" in solver)
    assert words[5] == str(reach)


SPRING = """
solfec = SOLFEC('DYNAMIC', 0.01, 'out/spring')
solfec.verbose = 'OFF'
bulk = BULK_MATERIAL(solfec)
pair = [BODY(solfec, 'RIGID', SPHERE((x, 0, 0), 0.1, 1, 1), bulk) for x in (1, 0)]
for body, x in zip(pair, (1, 0)):
    BODY_CHARS(body, 1, 1, (x, 0, 0), (1, 0, 0, 0, 1, 0, 0, 0, 1))
INITIAL_VELOCITY(pair[0], (1, 0, 0), (0, 0, 0))
spring = PUT_SPRING(pair[0], (1, 0, 0), pair[1], (0, 0, 0), [-1, 1000, 1, -1000], (-1, 1))
solver = NEWTON_SOLVER(1E-20)
RUN(solfec, solver, 0.01)
print(spring.R[2], spring.U[2], solver.error, solver.fallback)
"""


def test_springs_act_at_the_mean_stroke_of_the_step_with_the_newton_solver(good):
    force, velocity, error, fallback = good(SPRING).split()
    assert float(force) == pytest.approx(-5 / 1.05)
    assert float(velocity) == pytest.approx(0.904762, rel=1e-6)
    assert (error, fallback) == ("OK", "0")


def test_wrong_arguments_are_named(run):
    for wrong, said in {
        "NEWTON_SOLVER(theta=0)": "'theta'",
        "NEWTON_SOLVER(linver='LU')": "'linver' must be one of",
        "NEWTON_SOLVER(reldelta='x')": "'reldelta' must be one of",
        "GAUSS_SEIDEL_SOLVER(1E-3, 9).colouring = 'X'": "'colouring' must be one of",
        "SURFACE_MATERIAL(SOLFEC('DYNAMIC', 1, 'out/x'), gap_aware=-1)": "'gap_aware'",
    }.items():
        outcome = run(wrong)
        assert outcome.status == 1 and said in outcome.err, outcome.err


DUMP = """
solfec = SOLFEC('DYNAMIC', 0.01, 'out/dump')
solfec.verbose = 'OFF'
bulk = BULK_MATERIAL(solfec)
GRAVITY(solfec, (0, 0, {gravity}))
BODY(solfec, 'OBSTACLE', HULL([0, 0, -1, 9, 0, -1, 9, 1, -1, 0, 1, -1, 0, 0, 0, 9, 0, 0, 9, 1, 0, 0, 1, 0], 1, 1), bulk)
for k in range(3):
    BODY(solfec, 'RIGID', SPHERE((1 + 2 * k, 0.5, 0.4999), 0.5, 1, 1), bulk)
    BODY(solfec, 'RIGID', SPHERE((1 + 2 * k, 0.5, 1.4997), 0.5, 1, 1), bulk)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-10, 500), 0.01)
LOCDYN_DUMP(solfec, {path!r})
"""


def test_dumps_of_local_dynamics_can_be_compared(good, tmp_path, capsys):
    from solfec import cli

    for path, gravity in (("a.txt", -10), ("b.txt", -10), ("c.txt", -10.001)):
        good(DUMP.format(path=path, gravity=gravity), "-w", "-y", "PATH")
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text()
    lines = (tmp_path / "a.txt").read_text().splitlines()
    assert len(lines) == 6 and all(len(line.split()) == 36 + 25 for line in lines)  # a row each, with one neighbour
    assert cli.main(["compare", "a.txt", "b.txt"]) == 0
    assert "no difference" in capsys.readouterr().out
    assert cli.main(["compare", "a.txt", "c.txt"]) == 1
    assert "differs by" in capsys.readouterr().out
    words = [line.split() for line in lines]
    for line in words:
        line[30:33] = ["3e-17", "0", "1e-17"]  # U of a row at rest: round-off of B
    (tmp_path / "noise.txt").write_text("\n".join(map(" ".join, words)))
    assert cli.main(["compare", "noise.txt", "a.txt"]) == 0
    capsys.readouterr()
    (tmp_path / "d.txt").write_text("\n".join(lines[:-1]))
    assert cli.main(["compare", "a.txt", "d.txt"]) == 1
    assert "line 6 is in a.txt alone" in capsys.readouterr().out
    (tmp_path / "e.txt").write_bytes(b"not numbers \xff => 1\n")
    assert cli.main(["compare", "e.txt", "e.txt"]) == 2
    assert "no line written by LOCDYN_DUMP" in capsys.readouterr().err
    assert cli.main(["compare", "a.txt"]) == 2 and cli.main(["compare", "a.txt", "no.txt"]) == 2


STACK = f"""{CUBES.format(count=3)}
solver = {{solver}}
RUN(solfec, solver, 0.02)
print(solver.error, bodies[0].velo[5], sum(c.R[2] for c in bodies[2].constraints))
"""


@pytest.mark.parametrize("solver", ["NSGS", "NSN_AC", "ADMM"])
def test_siconos_carries_a_stack_as_our_sweeps_do(good, solver):
    from solfec.solvers import siconos_library, siconos_process

    if not siconos_process.is_installed():
        pytest.skip(siconos_library.MISSING)
    ours = good(STACK.format(solver="GAUSS_SEIDEL_SOLVER(1E-10, 10000)")).split()
    theirs = good(STACK.format(solver=f"SICONOS_SOLVER(1E-8, 20000, solver='{solver}')"), "-w", "-y", "PATH").split()
    assert theirs[0] == ours[0] == "OK"
    assert float(theirs[1]) == pytest.approx(float(ours[1]), abs=1e-7)
    assert float(theirs[2]) == pytest.approx(float(ours[2]), rel=1e-5)


def test_without_siconos_the_input_ends_with_the_line_that_installs_it(run, monkeypatch):
    from solfec.solvers import siconos_process

    siconos_process.stop()
    monkeypatch.setattr(siconos_process, "PROGRAM", (
        "import sys; sys.path.append({path!r}); import solfec.solvers.siconos_library as library;"
        " library.NAMES = ('libnowhere.so',); library.serve({requests}, {answers})"
    ))  # fmt: skip
    outcome = run("import math\nsolver = SICONOS_SOLVER()\n")
    siconos_process.stop()
    assert outcome.status == 1
    assert outcome.err.startswith("input.py:2: SICONOS_SOLVER needs Siconos' library")
    assert "sudo apt-get install libsiconos-numerics7" in outcome.err


def test_the_problem_of_a_step_is_exported_and_solved_again(good, run, capsys):
    from solfec import cli

    good(DUMP.format(path="a.txt", gravity=-10) + "FCLIB_EXPORT(solfec, 'step.hdf5')")
    assert cli.main(["fclib", "step.hdf5"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:4] == ["step.hdf5", "6", "AUTO", "OK"]
    outcome = run(DUMP.format(path="a.txt", gravity=-10) + "FCLIB_EXPORT(solfec, 'input.py/step.hdf5')", "-w", "-y", "PATH")
    assert outcome.status == 1 and "'input.py/step.hdf5' cannot be written" in outcome.err
    outcome = run("solfec = SOLFEC('DYNAMIC', 1, 'out/none')\nFCLIB_EXPORT(solfec, 'step.hdf5')")
    assert outcome.status == 1 and "there is no step of this run" in outcome.err


MARGIN = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/margin')
solfec.verbose = 'OFF'
{options}
bulk = BULK_MATERIAL(solfec)
for z in (0, 0.205):
    BODY(solfec, 'RIGID', SPHERE((0, 0, z), 0.1, 1, 1), bulk)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 100), 1E-3)
print(len(solfec.constraints))
"""
AWARE = "material = SURFACE_MATERIAL(solfec, gap_aware=1E-2)"


@pytest.mark.parametrize(
    ("options", "contacts"),
    [
        ((AWARE, "CONTACT_OPTIONS(solfec, margin=1E-3)"), 1),
        (("CONTACT_OPTIONS(solfec, margin=1E-3)", AWARE), 1),
        ((AWARE, "CONTACT_OPTIONS(solfec, patch='ON')"), 1),
        ((AWARE, "CONTACT_OPTIONS(solfec, margin=1E-3)", "material.gap_aware = 'OFF'"), 0),
        (("CONTACT_OPTIONS(solfec, margin=1E-2)",), 1),
        ((), 0),
    ],
)
def test_contacts_are_found_from_the_largest_distance_asked_for_in_any_order(good, options, contacts):
    assert int(good(MARGIN.format(options="\n".join(options)))) == contacts


def test_the_experimental_solver_of_old_inputs_is_newtons_and_says_so(run):
    outcome = run("""
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/experiment')
    solfec.verbose = 'OFF'
    GRAVITY(solfec, (0, 0, -10))
    SURFACE_MATERIAL(solfec, friction=0.5)
    bulk = BULK_MATERIAL(solfec, density=1.0)
    cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    BODY(solfec, 'OBSTACLE', TRANSLATE(HULL(cube, 1, 1), (0, 0, -1)), bulk)
    body = BODY(solfec, 'RIGID', HULL(cube, 1, 1), bulk)
    solver = TEST_SOLVER(1E-10, maxiter = 50)
    RUN(solfec, solver, 0.02)
    print(solver.meritval, solver.maxiter, solver.linmaxiter, len(solver.mvhist) == solver.iters, abs(body.velo[5]) < 1E-6)
    """)
    assert outcome.out.split()[-5:] == ["1e-10", "50", "10", "True", "True"], outcome.err
    assert outcome.err.count("NEWTON_SOLVER solves in its place") == 1


def test_a_duration_alone_takes_auto_solver(good):
    told = "\nprint(bodies[0].velo, bodies[2].conf, solfec.ncon)\n"
    given = good(CUBES.format(count=3) + "solver = AUTO_SOLVER()\nRUN(solfec, solver, 0.02)\nRUN(solfec, solver, 0.01)" + told)
    alone = good(CUBES.format(count=3) + "RUN(solfec, 0.02)\nfor time in solfec.steps(0.01): pass" + told, "-w", "-y")
    assert alone == given


LAW = """
from solfec.coupling.toolbox import CallableSolver
solve_one = lambda W, q, mu, r, tolerance, maxiter: (max(0, -q[0] / W.toarray()[0, 0]) * (0 * r + [1, 0, 0]), 0, 0.0, 1)
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/law')
solfec.verbose = 'OFF'
SURFACE_MATERIAL(solfec, model={model!r}, spring=1E6)
bulk = BULK_MATERIAL(solfec)
GRAVITY(solfec, (0, 0, -10))
BODY(solfec, 'OBSTACLE', SPHERE((0, 0, -1), 1, 1, 1), bulk)
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 1), 1, 1, 1), bulk)
RUN(solfec, {solver}, 0.05)
print(ball.conf[11])
"""


@pytest.mark.parametrize(
    ("solver", "model", "warning"),
    [
        ("NEWTON_SOLVER()", "SPRING_DASHPOT", "NEWTON_SOLVER takes contacts of SPRING_DASHPOT materials for SIGNORINI_COULOMB ones"),
        ("NEWTON_SOLVER()", "SIGNORINI_COULOMB", ""),
        ("CallableSolver(solve_one)", "SPRING_DASHPOT", "takes contacts of SPRING_DASHPOT materials for SIGNORINI_COULOMB ones"),
        ("AUTO_SOLVER()", "SPRING_DASHPOT", ""),
        ("PENALTY_SOLVER()", "SIGNORINI_COULOMB", ""),
    ],
)
def test_a_solver_that_leaves_springs_of_contacts_out_says_so(run, solver, model, warning):
    done = run(LAW.format(solver=solver, model=model))
    assert done.status == 0, done.err
    assert (warning in done.err) if warning else "SPRING_DASHPOT" not in done.err
    sunk = 1.0 - float(done.out.split()[-1])
    assert (sunk < 1e-6) == (solver in ("NEWTON_SOLVER()", "CallableSolver(solve_one)"))  # springs give way by m g (1 - cos w t) / k = 1.2 cm
