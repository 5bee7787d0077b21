"""The Gauss-Seidel solver: Solfec-1.0's iteration counts, hand-derived cases, failures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from particle_scene import Scene, wall
from reference_rows import assembled, load
from test_local_dynamics import MODELS

from solfec.bodies.table import BodyKind
from solfec.constraints.table import SurfaceModel
from solfec.solvers.gauss_seidel import DiagonalSolver, GaussSeidelSolver

FULL_RANK = {"m03_000", "m03_020", "m03_100", "m13_000", "m13_010", "m13_050"}
FORMS = pytest.mark.parametrize("stored", [True, False], ids=["stored", "velocity"])


def reference_solver(name: str) -> GaussSeidelSolver:
    """The settings of the reference runs."""
    if name == "TIGHT":
        return GaussSeidelSolver(1e-12, 20000, diagepsilon=1e-13, diagmaxiter=100)
    if name == "5_SWEEPS":
        return GaussSeidelSolver(1e-300, 5, meritval=1e-300, diagepsilon=1e-13, diagmaxiter=100)
    solver = GaussSeidelSolver(1e-4, 3000, diagepsilon=1e-13, diagmaxiter=100)
    solver.reverse = name == "LOOSE_REVERSE"
    return solver


@FORMS
@pytest.mark.parametrize("name", MODELS)
def test_numbers_of_sweeps_equal_those_of_solfec(name, stored):
    data = load(name)
    for settings in ("TIGHT", "LOOSE", "LOOSE_REVERSE"):
        report = reference_solver(settings).solve(assembled(data, stored))
        assert report.iterations == data[f"iterations_{settings}"], settings
        assert report.status == str(data[f"status_{settings}"])


@pytest.mark.parametrize("name", MODELS)
def test_tight_solutions_equal_those_of_solfec(name):
    data = load(name)
    local = assembled(data)
    report = reference_solver("TIGHT").solve(local)
    n = local.n
    np.testing.assert_allclose(local.rows.U[:, :n].T, data["U_TIGHT"], atol=1e-12)
    if name in FULL_RANK:
        np.testing.assert_allclose(
            local.rows.R[:, :n].T, data["R_TIGHT"], rtol=1e-9, atol=1e-9 * np.abs(data["R_TIGHT"]).max()
        )
    if str(data["status_TIGHT"]) == "OK":
        assert report.merit <= 1e-20
        assert report.residual <= 1e-10
    else:
        assert report.merit == pytest.approx(float(data["merit_TIGHT"]), rel=1e-6)


@FORMS
@pytest.mark.parametrize("name", MODELS)
def test_five_sweeps_change_reactions_as_in_solfec(name, stored):
    data = load(name)
    solver = reference_solver("5_SWEEPS")
    local = assembled(data, stored)
    rows, n = local.rows, local.n
    # Solfec-1.0 also starts from the velocities of the last step; we do not (next test), so that is put in by hand
    rows.block[15, :n] = np.where(np.abs(rows.R[:, :n]).sum(0) == 0, rows.U[2, :n] + rows.law[7, :n], 0.0)
    solver.solve(local)
    expected = data["error_history_5_SWEEPS"][: solver.iters]
    np.testing.assert_allclose(solver.rerhist, expected, rtol=1e-6, atol=1e-12)
    size = np.abs(data["R_5_SWEEPS"]).max()
    np.testing.assert_allclose(rows.R[:, :n].T, data["R_5_SWEEPS"], atol=1e-11 * size)
    # the merit is a sum of squares: its root has the round-off of the changes above, so one of 1E-8 has no more than four digits
    assert math.sqrt(solver.merhist[-1]) == pytest.approx(math.sqrt(float(data["merit_5_SWEEPS"])), rel=5e-7, abs=2e-13)


def test_a_contact_that_opened_in_the_last_step_may_close_in_the_first_sweep():
    # Solfec-1.0 starts from the velocity of the last step, so such a contact stays open for one sweep, and a lone one
    # for the whole step
    scene = Scene(0.01)
    ball = scene.body(velocity=(0, 0, -1.0))
    row = scene.contact(ball, scene.obstacle())
    scene.constraints.U[2, row] = 1.0
    scene.advance(GaussSeidelSolver(1e-6, 10))
    assert scene.reaction(row)[2] == pytest.approx(100.0)


@FORMS
def test_chains_of_links_need_the_sweeps_of_solfec(stored):
    # loose runs only: near tight tolerances Solfec-1.0's link iteration falls into its fall-back now and then
    data = load("m09_050")
    for settings in ("LOOSE", "LOOSE_REVERSE"):
        local = assembled(data, stored)
        report = reference_solver(settings).solve(local)
        assert report.iterations == data[f"iterations_{settings}"]
    solved = assembled(data, stored)
    reference_solver("TIGHT").solve(solved)
    size = np.abs(data["R_TIGHT"]).max()
    np.testing.assert_allclose(solved.rows.R[:, : solved.n].T, data["R_TIGHT"], atol=1e-9 * size)


@FORMS
def test_a_stack_of_two_converges_by_half_each_sweep(stored):
    h, mass, gravity = 0.01, 2.0, 9.81
    for sweeps in range(1, 8):
        scene = Scene(h, (0, 0, -gravity))
        floor = scene.obstacle(centre=(0, 0, -1))
        lower = scene.body(mass=mass)
        upper = scene.body(mass=mass, centre=(0, 0, 0.0))
        a = scene.contact(lower, floor)
        b = scene.contact(upper, lower)
        solver = GaussSeidelSolver(1e-300, sweeps)
        scene.advance(solver, stored)
        expected = 2 * mass * gravity * (1 - 0.5**sweeps)
        assert scene.reaction(a)[2] == pytest.approx(expected, rel=1e-12)
        assert scene.reaction(b)[2] == pytest.approx(0.5 * expected, rel=1e-12)
        np.testing.assert_allclose(
            solver.rerhist, [1 / (2 ** (k + 1) - 1) for k in range(sweeps)], rtol=1e-10
        )


def test_the_stack_of_two_needs_ten_sweeps_for_a_thousandth():
    scene = Scene(0.01, (0, 0, -9.81))
    floor = scene.obstacle(centre=(0, 0, -1))
    lower, upper = scene.body(), scene.body()
    scene.contact(lower, floor)
    scene.contact(upper, lower)
    solver = GaussSeidelSolver(1e-3, 100)
    scene.advance(solver)
    assert solver.iters == 10
    assert solver.rerhist[-1] == pytest.approx(9.775e-4, rel=1e-3)
    assert solver.error == "OK"


def test_both_forms_give_the_same_solution_in_the_same_number_of_sweeps():
    reports, reactions = [], []
    for stored in (True, False):
        scene = wall(5)
        scene.linear[:2] += 0.3 * np.random.default_rng(5).standard_normal(scene.linear[:2].shape)
        scene.linear[:, 0] = 0.0
        scene.advance(GaussSeidelSolver(1e-6, 2000), stored)
        reports.append(scene.report)
        reactions.append(scene.constraints.view("R").copy())
    assert reports[0].iterations == reports[1].iterations > 10
    np.testing.assert_allclose(*reactions, atol=1e-11 * np.abs(reactions[0]).max())
    assert reports[0].residual == pytest.approx(reports[1].residual, rel=1e-6)


@pytest.mark.parametrize("diagsolver", DiagonalSolver.__members__)
def test_all_block_solvers_lead_to_the_same_solution(diagsolver):
    scene = wall(3)
    weight = 27 * 9.81
    free_fall = 27 * 0.5 * (9.81 * scene.step) ** 2
    scene.advance(GaussSeidelSolver(1e-9, 3000, diagsolver=diagsolver))
    assert scene.report.status == "OK"
    assert scene.report.merit <= 1e-8
    floor = scene.constraints.view("slave") == 0
    assert scene.constraints.view("R")[2, floor].sum() == pytest.approx(weight, rel=1e-4)
    assert 0.5 * (scene.linear**2).sum() < 1e-6 * free_fall


@FORMS
def test_restitution_returns_its_share_of_the_approach_velocity(stored):
    scene = Scene(0.01)
    material = scene.material(restitution=0.5)
    ball = scene.body(velocity=(0, 0, -1.0))
    row = scene.contact(ball, scene.obstacle(), material=material)
    scene.advance(GaussSeidelSolver(1e-10, 10), stored)
    assert scene.reaction(row)[2] == pytest.approx(150.0)
    assert scene.linear[2, ball] == pytest.approx(0.5)


def cohesive(friction, velocity):
    """A ball with one unit of cohesion, moving off at the given velocity; one step of unit length, unit mass."""
    scene = Scene(1.0)
    material = scene.material(friction=friction, cohesion=2.0)
    ball = scene.body(velocity=velocity)
    row = scene.contact(ball, scene.obstacle(), material=material, area=0.5, cohesion=2.0, normal=(0, 0, 1.0))
    scene.advance(GaussSeidelSolver(1e-12, 50))
    return scene, row


@pytest.mark.parametrize(
    ("friction", "velocity", "reaction", "kept"),
    [
        (0.5, (0, 0.2, 0.5), (0.2, 0, -0.5), True),  # inside the cone
        (0.5, (0, 0.25, 0.5), (0.25, 0, -0.5), False),  # on the cone: slides
        (0.5, (0, 0, 1.0), (0, 0, -1.0), False),  # opens
        (0.5, (0, 0, 2.0), (0, 0, -1.0), False),  # beyond: cohesion acts once, then it is gone
        (0.0, (0, 0.2, 0.5), (0, 0, -0.5), True),  # frictionless cohesion slides freely and stays
    ],
)
def test_cohesion_ends_when_the_contact_opens_or_slides(friction, velocity, reaction, kept):
    scene, row = cohesive(friction, velocity)
    base = scene.constraints.base[..., row]
    np.testing.assert_allclose(np.abs(scene.reaction(row)), np.abs(reaction), atol=1e-12)
    assert base[:, 2] @ (0, 0, 1) == 1.0
    assert (scene.constraints.cohesion[row] > 0) == kept


@pytest.mark.parametrize("gap", [1e-15, 1e-9, 1e-4])
def test_what_is_glued_holds_however_far_rounding_has_drawn_it_apart(gap):
    """Only bodies that touch are ever glued, so a gap is drift; the law alone ends cohesion."""
    scene = Scene(0.1, (0.0, 0.0, 20.0))
    row = scene.contact(scene.body(), scene.obstacle(), gap=gap, cohesion=30.0)
    for _ in range(3):
        scene.advance(GaussSeidelSolver(1e-6, 10))
    assert scene.reaction(row)[2] == pytest.approx(-20.0)
    assert scene.constraints.cohesion[row] == 30.0
    assert abs(scene.linear).max() < 1e-12


def test_quasi_static_contacts_close_their_gap():
    scene = Scene(0.1)
    ball = scene.body(velocity=(0, 0, -1.0))
    scene.contact(ball, scene.obstacle(), gap=0.02)
    local = scene.assemble(dynamic=False)
    GaussSeidelSolver(1e-10, 10).solve(local)
    assert local.rows.U[2, 0] == pytest.approx(-0.2)


@FORMS
def test_spring_dashpot_contacts_follow_their_spring_with_the_load_of_neighbours(stored):
    # lower ball on a spring, upper one pressed on it: the spring must feel both weights
    scene = Scene(1e-3, (0, 0, -10.0))
    spring = scene.material(model=SurfaceModel.SPRING_DASHPOT, spring=1e4, hpow=1.0, friction=0.3)
    floor = scene.obstacle()
    lower, upper = scene.body(), scene.body()
    on_floor = scene.contact(lower, floor, material=spring, gap=-20.0 / 1e4)
    between = scene.contact(upper, lower)
    scene.advance(GaussSeidelSolver(1e-10, 500), stored)
    assert scene.report.status == "OK"
    assert scene.reaction(on_floor)[2] == pytest.approx(20.0, rel=1e-3)
    assert scene.reaction(between)[2] == pytest.approx(10.0, rel=1e-2)


def test_defaults_of_the_block_solver_follow_the_accuracy_asked_for():
    solver = GaussSeidelSolver(1e-3, 1000)
    assert solver.diagepsilon == pytest.approx(1e-6)
    assert solver.diagmaxiter == 100
    assert GaussSeidelSolver(1e-6, 50000).diagepsilon == pytest.approx(1e-8)
    assert GaussSeidelSolver(1e-6, 50000).diagmaxiter == 500
    assert GaussSeidelSolver(1e-3, 10, meritval=1e-20).diagepsilon == np.finfo(float).eps


@pytest.mark.parametrize(
    "arguments",
    [(0.0, 10), (1e-3, 0), (1e-3, 10, -1.0), (1e-3, 10, 1.0, "STOP"), (1e-3, 10, 1.0, "CALLBACK")],
)
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(ValueError):
        GaussSeidelSolver(*arguments)
    with pytest.raises(ValueError):
        GaussSeidelSolver(1e-3, 10, diagsolver="EXACT")


def test_the_merit_must_be_reached_as_well():
    loose, merit = (GaussSeidelSolver(1e-2, 5000, meritval=value) for value in (1.0, 1e-12))
    for solver in (loose, merit):
        wall(3).advance(solver)
    assert loose.iters < merit.iters
    assert merit.merhist[-1] <= 1e-12 < merit.merhist[-2]
    assert set(loose.merhist) == {0.0}


def test_running_out_of_sweeps_is_reported_and_obeys_the_failure_policy():
    solver = GaussSeidelSolver(1e-12, 1)
    scene = wall(3)
    scene.advance(solver)
    assert (solver.error, solver.iters) == ("DIVERGED", 1)
    with pytest.raises(RuntimeError, match="GAUSS_SEIDEL_SOLVER failed with error code DIVERGED"):
        wall(3).advance(GaussSeidelSolver(1e-12, 1, failure="EXIT"))
    calls = []
    solver = GaussSeidelSolver(1e-12, 1, failure="CALLBACK", callback=calls.append)
    wall(3).advance(solver)
    assert calls == [solver]
    with pytest.raises(SystemExit):
        wall(3).advance(GaussSeidelSolver(1e-12, 1, failure="CALLBACK", callback=lambda solver: 0))


def test_meeting_the_tolerance_in_the_last_sweep_allowed_is_success():
    needed = GaussSeidelSolver(1e-3, 1000)
    wall(3).advance(needed)
    exact = GaussSeidelSolver(1e-3, needed.iters)
    wall(3).advance(exact)
    assert (exact.error, exact.iters) == ("OK", needed.iters)


@pytest.mark.extreme_numbers
@FORMS
def test_nan_is_reported_and_never_accepted(stored):
    scene = wall(2)
    scene.linear[0, 1] = np.nan
    scene.advance(GaussSeidelSolver(1e-3, 100), stored)
    assert scene.report.status == "DIAGONAL_FAILED"
    assert scene.report.iterations == 1


def test_a_block_solver_that_gives_up_is_helped_out_without_an_error():
    solver = GaussSeidelSolver(1e-6, 2000, diagsolver="PROJECTED_GRADIENT", diagmaxiter=1)
    scene = wall(2)
    scene.advance(solver)
    assert scene.report.fallbacks > 0
    assert solver.error == "OK"


def test_iteration_counts_are_collected_when_asked():
    solver = GaussSeidelSolver(1e-3, 1000)
    scene = wall(2)
    scene.advance(solver)
    assert solver.itershist is None
    solver.itershist = []
    scene.advance(solver)
    scene.advance(solver)
    assert len(solver.itershist) == 2


def test_an_empty_model_is_solved_at_once():
    scene = Scene(0.01, (0, 0, -1))
    scene.body()
    scene.advance(GaussSeidelSolver(1e-3, 10))
    assert scene.report.status == "OK"
    assert scene.linear[2, 0] == pytest.approx(-0.01)
    assert scene.bodies.kind[0] == BodyKind.RIGID
