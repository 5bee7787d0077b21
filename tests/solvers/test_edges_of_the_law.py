"""Projections, measures, derivatives and solvers where the friction cone degenerates: no friction, much of it, no slip, no force.

The law is written down a second time here, in plain Python and by cases: nothing is shared with the kernels.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from particle_scene import Scene

from solfec import _kernels
from solfec.solvers import contact_problem, merit
from solfec.solvers.auto import AutoSolver
from solfec.solvers.contact_problem import Method, from_matrix
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver

FRICTIONS = (0.0, 1e-300, 1e-12, 0.3, 1.0, 1e6, 1e200)
ENTRIES = (0.0, 1e-9, 0.4, -1.0, 3.0)
VECTORS = list(itertools.product(ENTRIES, (0.0, -0.7), ENTRIES))


def nearest_in_cone(mu: float, s) -> tuple[float, float, float]:
    """The point of {|p_T| <= mu p_N} nearest to s: s itself, the apex, or the nearest point of the ray above s_T; whichever is."""
    along = math.hypot(s[0], s[1])
    if s[2] >= 0.0 and along <= mu * s[2]:
        return tuple(s)
    big = max(mu, 1.0)
    ray = mu / big / math.hypot(mu / big, 1.0 / big), 1.0 / big / math.hypot(mu / big, 1.0 / big)  # unit vector (tangent, normal)
    reach = max(along * ray[0] + s[2] * ray[1], 0.0)
    if along == 0.0:
        return 0.0, 0.0, reach * ray[1]
    return s[0] / along * reach * ray[0], s[1] / along * reach * ray[0], reach * ray[1]


@pytest.mark.parametrize("mu", FRICTIONS)
def test_projections_are_the_nearest_points_of_the_cone(mu):
    s = np.array(VECTORS)
    p = np.zeros((3, len(s)), order="F")
    _kernels.block_problems.projections(np.full(len(s), mu), np.asfortranarray(s.T), p)
    for given, found in zip(s, p.T, strict=True):
        assert found == pytest.approx(nearest_in_cone(mu, given), rel=1e-14, abs=1e-15), given
        assert found[2] >= 0.0
        assert math.hypot(found[0], found[1]) <= mu * found[2] * (1.0 + 1e-14)


def violation(mu: float, u, r) -> float:
    """By how much U' and r break Signorini's conditions and Coulomb's law, case by case."""
    slip, friction = math.hypot(u[0], u[1]), math.hypot(r[0], r[1])
    worst = max(-u[2], -r[2], abs(u[2] * r[2]), friction - mu * r[2])
    if friction < mu * r[2] * (1.0 - 1e-12):
        worst = max(worst, min(slip, mu * r[2] - friction))
    elif slip > 0.0 and friction > 0.0:
        worst = max(worst, abs(u[0] * r[1] - u[1] * r[0]), u[0] * r[0] + u[1] * r[1])
    return worst


def measures(mu: float, u, r) -> tuple[float, float]:
    """Residual with rho = 1/2, and the unscaled natural map, of one contact with U' = u."""
    n, w = 1, 2.0 * np.eye(3)
    diagonal, q = np.asfortranarray(w[:, :, None]), np.asfortranarray((np.asarray(u) - w @ r)[:, None])
    block = np.zeros((16, n), order="F")
    assert _kernels.automatic_solver.prepare_contacts(n, diagonal, np.array([mu]), block) < 0
    pattern = np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros((3, 3, 1), order="F")
    reactions, velocities = np.asfortranarray(np.asarray(r, float)[:, None]), np.zeros((3, 1), order="F")
    return _kernels.automatic_solver.measure_problem(n, np.zeros(1, np.int32), block, diagonal, q, *pattern, reactions, velocities)


@pytest.mark.parametrize("mu", [0.0, 1e-12, 0.5, 1.0, 100.0])
def test_measures_vanish_where_the_law_holds_and_nowhere_else(mu):
    limits = [(mu, 0.0, 1.0), (-0.6 * mu, 0.8 * mu, 1.0), (0.3 * mu, 0.0, 1.0)]  # R at its limit, and below it
    reactions = [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.5, 0.0, 0.0), *limits]
    velocities = [
        (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (-1.0, 0.0, 0.0), (0.6, -0.8, 0.0), (1.0, 0.0, 1.0), (2.0, 0.0, 0.0),
    ]  # fmt: skip
    solved = 0
    for u, r in itertools.product(velocities, reactions):
        right = violation(mu, u, r) <= 1e-14
        solved += right
        for measure in measures(mu, u, r):
            if right:
                assert measure <= 4e-15 * max(1.0, mu), (u, r)
            elif violation(mu, u, r) > 1e-3:
                assert measure > 1e-4, (u, r)
    assert solved >= 7


@pytest.mark.parametrize("mu", [0.0, 0.3, 1e3])
def test_derivatives_without_slip_are_those_of_one_side(mu):
    """At s_T = 0, where the tangential part is no guide, C moves with its derivatives along the normal and along r_T or U_T inside."""
    states = [((0, 0, 0.0), (0, 0, 1.0)), ((0, 0, 1.0), (0, 0, 0.0)), ((0, 0, 0.5), (0, 0, -1.0)), ((0.2, 0.1, 0), (0.2, 0.1, 1.0))]
    for u, r in states:
        u, r = np.array(u, float), np.array(r, float)
        c, x, y = linearised(mu, u, r)
        for k, size in itertools.product(range(3), (1e-6, -1e-6)):
            shift = size * np.eye(3)[k]
            if not (mu > 0.0 and np.hypot(*u[:2]) == 0.0):  # |U_T| has no derivative there
                np.testing.assert_allclose(linearised(mu, u + shift, r)[0] - c, x @ shift, atol=1e-11 * max(1.0, mu))
            np.testing.assert_allclose(linearised(mu, u, r + shift)[0] - c, y @ shift, atol=1e-11)


def linearised(mu: float, u, r):
    """C, dC/dU' and dC/dr without smoothing."""
    c = np.zeros((3, 1), order="F")
    x, y = np.zeros((3, 3, 1), order="F"), np.zeros((3, 3, 1), order="F")
    columns = (np.asfortranarray(np.asarray(v, float)[:, None]) for v in (u, r))
    _kernels.block_problems.linearisations(np.array([mu]), np.zeros(1), *columns, c, x, y)
    return c[:, 0], x[..., 0], y[..., 0]


def head_on(separating: float):
    """Three frictionless contacts in a row of four balls of mass one, in the direction of their normals: exactly no slip."""
    h = np.zeros((9, 4))
    for k in range(3):
        h[3 * k + 2, k : k + 2] = -1.0, 1.0
    velocity = np.array([0.0, separating, 2.0 * separating, 0.5])
    extra = np.kron(np.eye(3), np.diag([2.0, 2.0, 0.0]))  # tangential parts, which do not couple
    return from_matrix(h @ h.T + extra, h @ velocity, np.zeros(3), "head on")


@pytest.mark.parametrize("method", list(Method), ids=lambda method: method.name)
@pytest.mark.parametrize("separating", [1.0, -1.0, 0.25, 0.0])
@pytest.mark.parametrize("start", [0.0, 1.0, -1.0])
def test_frictionless_contacts_without_slip_never_pull(method, separating, start):
    problem = head_on(separating)
    first = np.zeros((3, 3))
    first[2] = start
    solution = contact_problem.solve(problem, 1e-9, method, start=first)
    assert solution.status == "OK"
    assert solution.r[2].min() >= -1e-9 and abs(solution.r[:2]).max() <= 1e-9
    assert solution.u[2].min() >= -1e-8
    assert abs(solution.u[2] * solution.r[2]).max() <= 1e-8


@pytest.mark.parametrize("method", [0, 1, 2, 3, 4, 10], ids=str)
@pytest.mark.parametrize("mu", [0.0, 1e-14, 0.5, 1e3])
@pytest.mark.parametrize("b", [(0, 0, 1.0), (0, 0, -1.0), (0, 0, 0.0), (1.0, 0, 0.0), (-1e-12, 0, -1.0)], ids=str)
def test_block_solvers_at_the_edges(method, mu, b):
    r, start = np.zeros((3, 1), order="F"), np.zeros(1, np.int32)
    status = np.zeros(1, np.int32)
    column = np.asfortranarray(np.array(b, float)[:, None])
    _kernels.block_problems.contact_problems(
        method, np.asfortranarray(np.eye(3)[:, :, None]), column, np.array([mu]), 1e-12, 1000, r, start, status
    )
    assert status[0] <= 1
    assert violation(mu, b + r[:, 0], r[:, 0]) <= 1e-9


SOLVERS = [GaussSeidelSolver(1e-10, 100, meritval=1e-12), NewtonSolver(1e-12), AutoSolver(1e-10)]


@pytest.mark.parametrize("solver", SOLVERS, ids=["sweeps", "newton", "auto"])
@pytest.mark.parametrize(("speed", "after"), [(1.0, 1.0), (-1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("last", [0.0, 500.0])
def test_a_ball_that_leaves_an_overlap_leaves_it(solver, speed, after, last):
    scene = Scene(1e-3)
    row = scene.contact(scene.body(velocity=(0, 0, speed)), scene.obstacle(), material=scene.material(friction=0.0))
    scene.constraints.R[2, row] = last
    scene.advance(solver)
    assert scene.report.status == "OK"
    assert scene.linear[2, 0] == pytest.approx(after, abs=1e-9)
    assert scene.reaction(row)[2] >= 0.0
    assert max(merit.evaluate(scene.local)) < 1e-9
