"""Joints and prescribed velocities that no motion fulfils are named; consistent redundant ones are not."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import Scene

import solfec as s
from solfec.errors import SolfecWarning
from solfec.solvers.diagnosis import contradiction
from solfec.solvers.gauss_seidel import GaussSeidelSolver


def scene() -> Scene:
    """A ball with the identifier 7 and a second one with the identifier 9."""
    scene = Scene(0.01, (0, 0, -10.0))
    scene.body(mass=2.0)
    scene.body(mass=3.0, centre=(1.0, 0, 0))
    scene.bodies.id[:2] = 7, 9
    return scene


def test_a_point_both_fixed_and_driven_is_named_with_both_constraints():
    model = scene()
    model.fix("FIXPNT", 0)
    model.fix("FIXPNT", 1)
    model.fix("VELODIR", 0, value=[1.0, 0, 0])
    assert contradiction(model.assemble()) == (
        "constraint 1 (FIXPNT) of body 7 and constraint 3 (VELODIR) of body 7 contradict one another"
    )


def test_a_failing_solver_says_so_in_its_error():
    model = scene()
    model.fix("VELODIR", 0, value=[1.0, 0, 0])
    model.fix("VELODIR", 0, value=[-1.0, 0, 0])
    with pytest.raises(RuntimeError, match=r"DIVERGED: constraint 1 \(VELODIR\) of body 7 and constraint 2 .* contradict"):
        model.advance(GaussSeidelSolver(1e-6, 100, failure="EXIT"))


def test_a_solver_that_goes_on_warns_once():
    model = scene()
    model.fix("VELODIR", 0, value=[1.0, 0, 0])
    model.fix("VELODIR", 0, value=[-1.0, 0, 0])
    solver = GaussSeidelSolver(1e-6, 100)
    heard = []
    solver.notify = heard.append
    for _ in range(3):
        model.advance(solver)
    assert len(heard) == 1 and "contradict one another" in heard[0]


def test_a_solution_that_only_seems_to_settle_is_seen_through():
    model = scene()
    model.fix("VELODIR", 0, value=[1.0, 0, 0])
    model.fix("VELODIR", 0, value=[-1.0, 0, 0])
    solver, heard = GaussSeidelSolver(0.05, 1000), []
    solver.notify = heard.append
    model.advance(solver)
    assert solver.error == "OK" and len(heard) == 1


def test_redundant_joints_that_agree_do_not_contradict():
    model = scene()
    for point in ((0, 0, 0), (0, 0, 1.0), (0, 1.0, 0)):
        model.fix("FIXPNT", 0, master_point=point)
    model.fix("VELODIR", 1, value=[1.0, 0, 0])
    model.fix("VELODIR", 1, value=[1.0, 0, 0])
    assert contradiction(model.assemble()) == ""


def test_contradictions_across_bodies_name_every_link_of_the_chain():
    model = scene()
    model.fix("FIXPNT", 0)
    model.fix("FIXDIR", 0, 1, master_point=(1.0, 0, 0), normal=(1.0, 0, 0))
    model.fix("VELODIR", 1, normal=(1.0, 0, 0), value=[1.0, 0, 0])
    named = contradiction(model.assemble())
    assert [f"constraint {k} " in named for k in (1, 2, 3)] == [True] * 3


@pytest.mark.filterwarnings("ignore::solfec.errors.SolfecWarning")
@pytest.mark.parametrize(
    "make", [s.AUTO_SOLVER, lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 1000), s.NEWTON_SOLVER, s.PENALTY_SOLVER], ids=["auto", "gauss-seidel", "newton", "penalty"]
)
@pytest.mark.parametrize("kind", ["RIGID", "OBSTACLE", "pulled OBSTACLE"])
def test_two_prescribed_velocities_of_one_point_leave_bounded_reactions_and_the_mean_velocity(make, kind, fresh_session):
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None)
    solfec.verbose = "OFF"
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    ball = s.BODY(solfec, kind.split()[-1], s.SPHERE((0, 0, 0), 0.5, 1, 1), bulk)
    for velocity in (0.1, 0.2):
        s.SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), velocity)
    if "pulled" in kind:
        other = s.BODY(solfec, "RIGID", s.SPHERE((5, 0, 0), 0.5, 1, 1), bulk)
        s.PUT_SPRING(other, (5, 0, 0), ball, (0, 0, 0), [-1, 1e4, 1, -1e4], (-1, 1), (1, 0, 0))
    solver, mass, largest = make(), 1000 * 4 / 3 * np.pi * 0.5**3, 0.0
    with pytest.warns(SolfecWarning, match="constraint 1 .* and constraint 2 .* contradict one another"):
        for _ in range(20):
            s.RUN(solfec, solver, 1e-3)
            assert getattr(solver, "error", "DIVERGED") == "DIVERGED"
            largest = max(largest, max(abs(one.R[2]) for one in solfec.constraints))
    assert ball.velo[3] == pytest.approx(0.15, abs=1e-6)
    assert largest <= 1.001 * mass * 0.15 / 1e-3  # the push of the first step, in which the ball starts


@pytest.mark.filterwarnings("ignore::solfec.errors.SolfecWarning")
def test_a_contradiction_that_comes_later_is_never_called_solved():
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None)
    solfec.verbose = "OFF"
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 0.5, 1, 1), s.BULK_MATERIAL(solfec, density=1000))
    s.SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), 0.1)
    s.SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), s.TIME_SERIES([0, 0.1, 0.01, 0.1, 0.02, 0.2, 1, 0.2]))
    solver, errors = s.GAUSS_SEIDEL_SOLVER(1e-3, 1000), []
    with pytest.warns(SolfecWarning, match="did not reach its accuracy"):
        for _ in range(30):
            s.RUN(solfec, solver, 1e-3)
            errors.append(solver.error)
    assert errors[:9] == ["OK"] * 9 and set(errors[12:]) == {"DIVERGED"}


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "velocity"])
def test_joints_in_quasi_statics_ask_for_no_velocity_at_all(stored):
    model = scene()
    model.linear[:, 0] = (1.0, 2.0, 3.0)
    fixed = model.fix("FIXPNT", 0)
    held = model.fix("FIXDIR", 1, normal=(0, 1.0, 0))
    linked = model.fix("RIGLNK", 1, slave_point=(0.0, 0, 0), length=0.9)
    model.predict()
    local = model.assemble(dynamic=False, stored=stored)
    assert GaussSeidelSolver(1e-12, 1000).solve(local).status == "OK"
    model.correct()
    u = model.constraints.U
    np.testing.assert_allclose(u[:, fixed], 0, atol=1e-12)
    assert u[2, held] == pytest.approx(0.0, abs=1e-12)
    z = model.constraints.point[:, linked] - model.constraints.other_point[:, linked]
    assert np.linalg.norm(model.constraints.base[..., linked].T @ z + model.step * u[:, linked]) == pytest.approx(0.9)


@pytest.mark.parametrize(("implicit", "limits"), [(0, (-9, 9)), (1, (-9, 9)), (0, (-9, 0)), (0, (-0.01, 9))])
def test_springs_in_quasi_statics_take_the_stroke_at_the_end_of_the_step(implicit, limits):
    model = scene()
    curve = model.constraints.curves.add([(-1.0, 50.0), (0.0, 0.0), (1.0, -100.0)])
    spring = model.fix("SPRING", 1, 0, normal=(1.0, 0, 0), length=0.9, limits=limits, curve=curve, implicit=implicit)
    model.linear[:, 1] = (0.5, 0, 0)
    model.predict()
    model.assemble(dynamic=False)
    GaussSeidelSolver(1e-12, 1000).solve(model.local)
    model.correct()
    stroke, u, r = (getattr(model.constraints, name)[..., spring] for name in ("gap", "U", "R"))
    end = stroke + model.step * u[2]
    if limits[1] == 0:
        assert end == pytest.approx(0.0, abs=1e-14)  # a step ends at the limit
    else:
        assert r[2] == pytest.approx(-100.0 * end)  # whatever the law: explicit forces throw bodies about in long steps


@pytest.mark.parametrize("solver", [lambda: s.AUTO_SOLVER(1e-6), lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 1000), lambda: s.NEWTON_SOLVER()])
@pytest.mark.parametrize("kind", ["RIGID", "OBSTACLE"])
@pytest.mark.parametrize("speed", [5.0, 20.0, 300.0])
def test_a_fast_body_elsewhere_does_not_hide_a_contradiction(solver, speed, kind, fresh_session):
    solfec = s.SOLFEC("DYNAMIC", 1e-3, output=None)
    solfec.verbose = "OFF"
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    ball, other = (s.BODY(solfec, kind_of, s.SPHERE((x, 0, 0), 0.5, 1, 1), bulk) for x, kind_of in ((0, kind), (9, "RIGID")))
    rows = [s.SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), value) for value in (0.1, 0.2)]
    s.SET_VELOCITY(other, (9, 0, 0), (1, 0, 0), speed)
    solver = solver()
    for _ in range(10):
        with pytest.warns(SolfecWarning, match="contradict one another"):
            s.RUN(solfec, solver, 1e-3)
        assert solver.error == "DIVERGED"
    assert ball.velo[3] == pytest.approx(0.15, rel=1e-3)
    assert max(abs(row.R[2]) for row in rows) <= ball.mass * 0.2 / 1e-3
