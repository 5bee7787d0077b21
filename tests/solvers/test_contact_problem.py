"""The contact problem without bodies: every solver, islands, problems without a solution."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_threads import with_threads

from solfec.errors import SolfecError
from solfec.solvers import contact_problem
from solfec.solvers.contact_problem import Cone, ContactProblem, Method, from_matrix

METHODS = pytest.mark.parametrize("method", list(Method), ids=lambda method: method.name)


def stacks(count: int, height: int = 4, seed: int = 1) -> ContactProblem:
    """Stacks of cubes, four contacts a face (W is rank deficient), pressed down and thrown about at random."""
    random = np.random.default_rng(seed)
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    bodies, rows = count * height, []
    inverse = np.tile([1.0, 1.0, 1.0, 6.0, 6.0, 6.0], bodies)
    for stack in range(count):
        for level in range(height):
            for x, y in corners:
                block = np.zeros((3, 6 * bodies))
                for body, sign, arm in ((level, 1.0, (x, y, -0.5)), (level - 1, -1.0, (x, y, 0.5))):
                    if body >= 0:
                        a = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
                        first = 6 * (stack * height + body)
                        block[:, first : first + 6] = sign * np.hstack([np.eye(3), -a])
                rows.append(block)
    h = np.vstack(rows)
    velocity = 0.1 * random.standard_normal(6 * bodies)
    velocity[2::6] -= 0.5
    matrix = h @ (inverse[:, None] * h.T)
    return from_matrix(matrix, h @ velocity, np.full(len(rows), 0.5), "stacks")


def single(q, friction: float, w=None) -> ContactProblem:
    return from_matrix(np.eye(3) if w is None else np.asarray(w, float), np.asarray(q, float), [friction])


@METHODS
@pytest.mark.parametrize(
    ("q", "reaction"),
    [((1, 0, -1), (-0.3, 0, 1)), ((0.1, 0, -1), (-0.1, 0, 1)), ((1, 2, 1), (0, 0, 0))],
    ids=["slip", "stick", "open"],
)
def test_one_contact_slips_sticks_and_opens(method, q, reaction):
    solution = contact_problem.solve(single(q, 0.3), 1e-10, method)
    assert solution.status == "OK"
    assert solution.r[:, 0] == pytest.approx(reaction, abs=1e-9)


@METHODS
def test_frictionless_contact_gets_a_normal_reaction_only(method):
    solution = contact_problem.solve(single((1, 0, -1), 0.0), 1e-10, method)
    assert solution.r[:, 0] == pytest.approx((0, 0, 1), abs=1e-9)


@pytest.mark.parametrize("method", [Method.AUTO, Method.GAUSS_SEIDEL, Method.ADMM, Method.NEWTON], ids=lambda method: method.name)
def test_diagonal_block_need_not_be_symmetric(method):
    w = [[1.0, 0.2, 0.1], [-0.1, 1.5, 0.3], [0.3, 0.0, 2.0]]
    solution = contact_problem.solve(single((1, 0.5, -1), 0.4, w), 1e-10, method)
    assert solution.status == "OK"
    assert solution.u[:, 0] == pytest.approx(np.array(w) @ solution.r[:, 0] + [1, 0.5, -1], abs=1e-12)
    assert np.hypot(*solution.r[:2, 0]) == pytest.approx(0.4 * solution.r[2, 0])


@pytest.mark.parametrize("method", [Method.AUTO, Method.ANDERSON, Method.ADMM], ids=lambda method: method.name)
def test_rank_deficient_stacks_are_solved(method):
    solution = contact_problem.solve(stacks(3), 1e-8, method)
    assert solution.status == "OK"
    assert max(solution.residual, solution.natural_map) <= 1e-8
    assert solution.islands == 3


def test_anderson_acceleration_saves_most_sweeps():
    plain = contact_problem.solve(stacks(1), 1e-8, Method.GAUSS_SEIDEL)
    fast = contact_problem.solve(stacks(1), 1e-8, Method.ANDERSON)
    assert fast.iterations["sweeps"] < 0.5 * plain.iterations["sweeps"]


def test_islands_have_the_same_bits_for_any_number_of_threads():
    problem = stacks(20)
    solutions = []
    for _ in with_threads(1, 2):
        solutions.append(contact_problem.solve(problem, 1e-8).r)
    assert np.array_equal(*solutions)


def test_warm_start_at_the_solution_costs_no_iteration():
    problem = stacks(2)
    solution = contact_problem.solve(problem, 1e-8)
    again = contact_problem.solve(problem, 1.01e-8, start=solution.r)
    assert again.total_iterations == 0 and again.methods == {"NONE": 2}


def test_body_wedged_between_closing_walls_has_no_solution_and_says_so():
    w = np.zeros((6, 6))
    w[:3, :3] = w[3:, 3:] = np.eye(3)
    w[:3, 3:] = w[3:, :3] = -np.eye(3)
    solution = contact_problem.solve(from_matrix(w, np.array([0, 0, -1.0, 0, 0, -1.0]), [0.3, 0.3]), 1e-8)
    assert solution.status == "NO_SOLUTION" and solution.unsolved == 1


def test_bilateral_rows_are_held_beside_contacts():
    problem = stacks(1)
    for kind in (Cone.FIXED, Cone.NORMAL):
        problem.kind[:4] = kind
        solution = contact_problem.solve(problem, 1e-8)
        assert solution.status == "OK"
        held = solution.u[:, :4] if kind == Cone.FIXED else solution.u[2, :4]
        assert np.abs(held).max() <= 1e-7


@pytest.mark.parametrize("spin", [3e-10, 1e-9, 3e-9, 3e-8])
def test_joints_that_turn_a_pressed_block_by_next_to_nothing_leave_it_on_two_corners(spin):
    """A block that joints let move along z only, and turn as it closes what they have drifted apart, is pressed down on its four corners."""
    half, inverse = 0.03, 1e-3 / 3.4
    block = np.zeros((18, 6))
    for corner, (x, y) in enumerate((x, y) for x in (-half, half) for y in (-half, half)):
        block[3 * corner : 3 * corner + 3] = np.hstack([np.eye(3), [[0, -half, -y], [half, 0, x], [y, -x, 0]]])
    block[12:15, 3:] = half * np.eye(3)  # no spin but the given one
    block[15:17, :2] = np.eye(2)  # no motion along x and y
    matrix = block @ np.diag(np.repeat([inverse, inverse * 1.5 / half**2], 3)) @ block.T
    matrix[17, 17] = inverse
    q = block @ (0, 0, -0.15, 0, 0, 0)
    q[13] += half * spin  # corners at x = half rise, those at x = -half bear all
    kind = [Cone.CONTACT] * 4 + [Cone.FIXED] * 2
    solution = contact_problem.solve(from_matrix(matrix, q, [0.2] * 4 + [0.0] * 2, kind=kind), 1e-11, unscaled=False)
    assert solution.status == "OK" and solution.residual < 1e-11
    assert solution.u[2, :2] == pytest.approx(0.0, abs=5e-12)
    assert solution.u[2, 2:4] == pytest.approx(2 * half * spin, abs=5e-12)
    assert solution.r[2, :2].sum() == pytest.approx(0.15 / inverse, rel=1e-6)
    assert not solution.r[:, 2:4].any()


def test_numbers_that_are_not_finite_are_refused_by_name():
    with pytest.raises(SolfecError, match="must be finite"):
        single((1, np.nan, 0), 0.3)
    with pytest.raises(SolfecError, match="contact 0 is not positive"):
        single((1, 0, 0), 0.3, np.zeros((3, 3)))


def test_islands_too_large_for_factors_are_swept_on_as_long_as_allowed():
    from scipy.sparse import diags_array, eye_array, kron

    n = 1600
    matrix = kron(diags_array([-0.49, 1.0, -0.49], offsets=[-1, 0, 1], shape=(n, n)), eye_array(3)).tocsr()
    q = np.tile([0.2, 0.1, -1.0], n) + 0.1 * np.random.default_rng(1).standard_normal(3 * n)
    problem = from_matrix(matrix, q, np.full(n, 0.4), "chain")
    few = contact_problem.solve(problem, 1e-8, maxiter=20)
    assert (few.status, few.methods, few.total_iterations) == ("DIVERGED", {"ANDERSON": 1}, 20)
    enough = contact_problem.solve(problem, 1e-8)
    assert (enough.status, enough.methods) == ("OK", {"ANDERSON": 1})
    assert enough.iterations["sweeps"] > 20 and enough.residual <= 1e-8
