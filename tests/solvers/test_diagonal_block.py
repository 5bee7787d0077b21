"""One row at a time: contacts by five methods, the user's constraints, and the spring-dashpot law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_rows import DATA

from solfec import _kernels
from solfec.solvers.local_dynamics import RowKind

METHODS = {
    "SEMISMOOTH_NEWTON": 0,
    "PROJECTED_GRADIENT": 1,
    "DE_SAXCE_FENG": 2,
    "PROJECTED_NEWTON": 3,
    "direct": 4,
}
WITH_FALLBACKS = 10


@pytest.fixture(scope="module")
def data():
    with np.load(DATA / "diagonal_block.npz") as file:
        return dict(file)


def solve(method, w, b, friction, tolerance=1e-12, bound=1000, start=None):
    """Solutions (n, 3) and statuses of reduced problems w (n, 3, 3), b (n, 3)."""
    n = len(b)
    r = np.zeros((3, n), order="F") if start is None else np.array(start.T, order="F")
    status, iterations = np.zeros((2, n), np.int32)
    _kernels.block_problems.contact_problems(
        method, np.asfortranarray(np.transpose(w, (1, 2, 0))), np.asfortranarray(b.T), friction, tolerance, bound,
        r, iterations, status,
    )  # fmt: skip
    return r.T, status


def reduced(data):
    """The reference problems in reduced form: restitution or open gap, and cohesion, folded into the velocity."""
    shift = np.where(
        data["dynamic"] > 0,
        data["restitution"] * np.minimum(data["V"][:, 2], 0.0),
        np.maximum(data["gap"], 0.0) / data["step"],
    )
    b = data["B"] - data["cohesion"][:, None] * data["W"][:, :, 2]
    b[:, 2] += shift
    return b, shift


def law_violation(w, b, friction, r):
    """Greatest violation of non-penetration, the cone and sliding against U', relative to the size of b and of r."""
    u = b + np.einsum("nij,nj->ni", w, r)
    speed, force = np.maximum(np.linalg.norm((b, r), axis=2), 1e-100)
    tangential = np.linalg.norm(r[:, :2], axis=1)
    sliding = np.linalg.norm(u[:, :2], axis=1)
    return np.max(
        [
            -u[:, 2] / speed,
            -r[:, 2] / force,
            np.abs(u[:, 2] * r[:, 2]) / (speed * force),
            (tangential - friction * r[:, 2]) / force,
            sliding * (friction * r[:, 2] - tangential) / (speed * force),
            (np.einsum("ni,ni->n", u[:, :2], r[:, :2]) + sliding * tangential) / (speed * force),
        ],
        axis=0,
    )


def ambiguous(data):
    """Sticking and sliding may both be solutions: friction can turn tangential into normal reaction without limit."""
    coupling = np.linalg.norm(data["W"][:, 2, :2], axis=1) / data["W"][:, 2, 2]
    return data["solutions_differ"] | (data["friction"] * coupling >= 1.0)


def ordinary(data):
    """Problems with a unique solution that the reference found; open gaps in dynamics are no contact problems."""
    return (
        (data["residual_best"] < 1e-9)
        & ~data["solutions_differ"]
        & ~((data["dynamic"] > 0) & (data["gap"] > 0))
    )


def test_direct_solution_agrees_with_solfec_on_every_solved_problem(data):
    b, shift = reduced(data)
    r, status = solve(METHODS["direct"], data["W"], b, data["friction"])
    which = ordinary(data)
    expected = data["R_best"] + data["cohesion"][:, None] * [0, 0, 1]
    # beyond the cohesive limit Solfec-1.0's semismooth solver gives R = 0; R_N = -cohesion is the one that opens the contact
    scale = np.linalg.norm(expected, axis=1) + data["rho"] * np.linalg.norm(b, axis=1)
    error = np.linalg.norm(r - expected, axis=1) / scale
    other = which & (error > 1e-9)
    assert which.sum() > 450
    assert (status[which & ~ambiguous(data)] == 0).all()
    # where friction could wedge the contact, sticking may be a second solution; the fall-backs then choose (see below)
    assert ambiguous(data)[other].all()
    assert other.sum() <= 1


def test_direct_solution_obeys_the_contact_law_on_all_problems(data):
    b, _ = reduced(data)
    r, _ = solve(METHODS["direct"], data["W"], b, data["friction"])
    assert law_violation(data["W"], b, data["friction"], r).max() < 1e-10  # W has conditions up to 1e6


def test_where_friction_could_wedge_a_contact_the_last_reaction_decides_as_in_solfec(data):
    b, _ = reduced(data)
    which = np.flatnonzero(ambiguous(data) & ~data["solutions_differ"] & (data["residual_best"] < 1e-9))
    r, status = solve(WITH_FALLBACKS, data["W"][which], b[which], data["friction"][which])
    expected = data["R_best"][which] + data["cohesion"][which, None] * [0, 0, 1]
    closed = ~((data["dynamic"] > 0) & (data["gap"] > 0))[which]
    same = np.linalg.norm(r - expected, axis=1) <= 1e-8 * np.linalg.norm(expected, axis=1)
    assert (status <= 1).all()
    assert same[closed].mean() > 0.9


@pytest.mark.parametrize("name", list(METHODS)[:4])
def test_iterative_solvers_find_the_same_solution_where_solfec_found_it(data, name):
    index = METHODS[name]
    b, _ = reduced(data)
    r, status = solve(index, data["W"], b, data["friction"], bound=int(data["solver_maxiter"][index]))
    exact, _ = solve(METHODS["direct"], data["W"], b, data["friction"])
    which = ordinary(data) & (data["residual"][index] < 1e-9)
    solved = which & (status == 0)
    scale = np.linalg.norm(exact, axis=1) + data["rho"] * np.linalg.norm(b, axis=1)
    assert solved.sum() >= 0.95 * which.sum()
    assert (np.linalg.norm(r - exact, axis=1) / scale)[solved & ~ambiguous(data)].max() < 1e-7


@pytest.mark.parametrize("name", list(METHODS)[:4])
def test_no_solver_claims_a_wrong_solution(data, name):
    b, _ = reduced(data)
    r, status = solve(METHODS[name], data["W"], b, data["friction"], bound=1000)
    solved = status == 0
    assert law_violation(data["W"], b, data["friction"], r)[solved].max() < 1e-6


@pytest.mark.parametrize("name", list(METHODS)[:4])
def test_fallbacks_solve_what_the_chosen_solver_cannot(data, name):
    b, _ = reduced(data)
    r, status = solve(WITH_FALLBACKS + METHODS[name], data["W"], b, data["friction"], bound=2)
    assert set(np.unique(status)) <= {0, 1}
    assert law_violation(data["W"], b, data["friction"], r).max() < 1e-6


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
@pytest.mark.parametrize(
    ("w", "b", "friction", "expected"),
    [
        (np.eye(3), (0.4, -0.3, -2.0), 0.5, (-0.4, 0.3, 2.0)),
        (np.eye(3), (3.0, 0.0, -2.0), 0.5, (-1.0, 0.0, 2.0)),
        (np.eye(3), (1.0, 0.0, 0.5), 0.5, (0.0, 0.0, 0.0)),
        ([[2, 0, 0.5], [0, 2, 0], [0.5, 0, 1]], (1.0, 0.0, -1.0), 0.3, (-0.3 / 0.85, 0.0, 1.0 / 0.85)),
    ],
    ids=["stick", "slip", "open", "coupled"],
)
def test_hand_derived_contacts(method, w, b, friction, expected):
    r, status = solve(method, np.array([w], float), np.array([b]), np.array([friction]))
    assert status[0] == 0
    np.testing.assert_allclose(r[0], expected, atol=1e-9)


def test_an_unsymmetric_diagonal_block_is_solved_too():
    random = np.random.default_rng(3)
    w = np.eye(3) + 0.2 * random.standard_normal((200, 3, 3))
    b, friction = random.standard_normal((200, 3)), random.uniform(0, 0.8, 200)
    r, status = solve(WITH_FALLBACKS, w, b, friction)
    assert (status <= 1).all()
    assert law_violation(w, b, friction, r).max() < 1e-9


@pytest.mark.extreme_numbers
def test_nan_never_leaves_as_a_solution():
    b = np.array([[np.nan, 0.0, -1.0], [0.0, 0.0, np.nan], [np.nan, 0.0, 1.0]])
    for method in METHODS.values():
        _, status = solve(method, np.array([np.eye(3)] * 3), b, np.full(3, 0.5), bound=50)
        assert (status >= 2).all()
    _, status = solve(WITH_FALLBACKS, np.array([np.eye(3)] * 3), b, np.full(3, 0.5), bound=50)
    assert (status >= 2).all()


@st.composite
def contact_problem(draw):
    """Symmetric positive definite W of any scale, any velocity, friction up to 1.5."""
    numbers = st.floats(-1.0, 1.0)
    factor = np.array(draw(st.lists(numbers, min_size=9, max_size=9))).reshape(3, 3)
    scale = 10.0 ** draw(st.integers(-8, 3))
    w = scale * (factor @ factor.T + draw(st.floats(0.05, 1.0)) * np.eye(3))
    b = 10.0 ** draw(st.integers(-9, 3)) * np.array(draw(st.lists(numbers, min_size=3, max_size=3)))
    return w, b, draw(st.one_of(st.just(0.0), st.floats(1e-6, 1.5)))


@pytest.mark.extreme_numbers
@settings(max_examples=400, deadline=None)
@given(contact_problem())
def test_any_contact_problem_ends_in_a_state_that_obeys_signorini_and_coulomb(problem):
    w, b, friction = problem
    r, status = solve(WITH_FALLBACKS, w[None], b[None], np.array([friction]))
    assert status[0] <= 1
    assert law_violation(w[None], b[None], np.array([friction]), r)[0] < 1e-9


def solve_rows(kind, w, b, half_step=None, law=None):
    n = len(b)
    r = np.zeros((3, n), order="F")
    status = np.zeros(n, np.int32)
    law = np.zeros((8, n), order="F") if law is None else law
    _kernels.block_problems.row_problems(
        np.full(n, kind, np.int32), np.asfortranarray(np.transpose(w, (1, 2, 0))), law,
        np.zeros(n) if half_step is None else half_step, np.asfortranarray(b.T), r, status,
    )  # fmt: skip
    assert (status == 0).all()
    return r.T


def test_bilateral_rows_agree_with_solfec(data):
    w, b, v, value = (data[f"other_{name}"] for name in ("W", "B", "V", "velocity"))
    normal = np.array([0.0, 0.0, 1.0])
    for kind, target, expected in (
        (RowKind.FIXPNT, -v, data["fixpnt_dynamic_R"]),
        (RowKind.FIXPNT, 0 * v, data["fixpnt_static_R"]),
        (RowKind.FIXDIR, -v * normal, data["fixdir_dynamic_R"]),
        (RowKind.FIXDIR, 0 * v, data["fixdir_static_R"]),
        (RowKind.VELODIR, value[:, None] * normal, data["velodir_dynamic_R"]),
    ):
        np.testing.assert_allclose(solve_rows(kind, w, b - target), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("mode", "factor"), [("dynamic", 0.5), ("static", 1.0)])
def test_links_end_the_step_with_their_reference_length(data, mode, factor):
    w, b, h, d = (data[f"link_{name}"] for name in ("W", "B", "step", "length"))
    y = np.einsum("nij,ni->nj", data["link_base"], data["link_vector"])
    law = np.zeros((8, len(d)), order="F")
    law[:3], law[3] = y.T, d
    r = solve_rows(RowKind.RIGLNK, w, b, factor * h, law)
    length = np.linalg.norm(y + factor * h[:, None] * (b + w[:, :, 2] * r[:, 2:]), axis=1)
    converged = data[f"link_{mode}_iterations"] < 100
    held = np.abs(length / d - 1) < 1e-12
    assert (held | (np.abs(r[:, 2] + b[:, 2] / w[:, 2, 2]) < 1e-9 * np.abs(r[:, 2]))).all()
    expected = data[f"link_{mode}_R"]
    reference = np.linalg.norm(y + factor * h[:, None] * (b + w[:, :, 2] * expected[:, 2:]), axis=1)
    compared = (
        converged
        & held
        & (np.abs(reference / d - 1) < 1e-9)
        & (np.abs(expected[:, 2]) < 1.5 * np.abs(r[:, 2]))
    )
    assert compared.sum() >= 0.5 * len(d)
    np.testing.assert_allclose(r[compared], expected[compared], rtol=1e-6)


def penalty(data, which, r):
    """Spring-dashpot reactions for the given problems."""
    law = np.zeros((8, which.size), order="F")
    for row, name in enumerate(("gap", "spring", "dashpot", "hpow", "friction")):
        law[row] = data[f"penalty_{name}"][which]
    law[6] = data["penalty_cohesion"][which] * data["penalty_cohesive"][which]
    lost = np.zeros(which.size, np.int32)
    _kernels.block_problems.penalty_problems(
        data["penalty_implicit"][which].astype(np.int32),
        np.asfortranarray(np.transpose(data["penalty_W"][which], (1, 2, 0))), law, data["penalty_step"][which],
        np.asfortranarray(data["penalty_B"][which].T), np.asfortranarray(data["penalty_V"][which].T), r, lost,
    )  # fmt: skip
    return r.T, lost


def test_spring_dashpot_reactions_agree_with_solfec(data):
    which = np.arange(len(data["penalty_step"]))
    r, _ = penalty(data, which, np.array(data["penalty_R0"].T, order="F"))
    np.testing.assert_allclose(r, data["penalty_R"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("implicit", "dashpot", "power", "expected"),
    [
        (1, 0.0, 1.0, 0.975610),
        (0, 0.0, 1.0, 1.0),
        (1, -1.0, 1.0, 5.461082),
        (0, -1.0, 1.0, 7.324555),
        (1, 0.0, 1.5, 0.0315853),
        (0, 0.0, 1.5, 0.0316228),
    ],
)
def test_hand_derived_spring_dashpot_contacts(implicit, dashpot, power, expected):
    one = {
        "penalty_gap": [-0.001], "penalty_spring": [1000.0], "penalty_dashpot": [dashpot], "penalty_hpow": [power],
        "penalty_friction": [0.0], "penalty_cohesion": [0.0], "penalty_cohesive": [0], "penalty_implicit": [implicit],
        "penalty_W": [0.01 * np.eye(3)], "penalty_step": [0.01], "penalty_B": [[0, 0, -0.1]],
        "penalty_V": [[0, 0, -0.1]],
    }  # fmt: skip
    r, _ = penalty(
        {name: np.asarray(value) for name, value in one.items()}, np.arange(1), np.zeros((3, 1), order="F")
    )
    assert r[0, 2] == pytest.approx(expected, rel=2e-6)


def project(friction, s):
    p = np.zeros((3, len(s)), order="F")
    _kernels.block_problems.projections(friction, np.asfortranarray(s.T), p)
    return p.T


def test_projections_on_the_friction_cone(data):
    given_ = np.array([(3.0, 0, 0), (0, 0, -1.0), (0.2, 0, 1.0)])
    np.testing.assert_allclose(project(np.full(3, 0.5), given_), [(0.6, 0, 1.2), (0, 0, 0), (0.2, 0, 1.0)])
    # with cohesion the apex lies at R_N = -cohesion
    np.testing.assert_allclose(project(np.full(1, 0.5), np.array([(0, 0, -3.0 + 1.0)])) - (0, 0, 1.0), [(0, 0, -1.0)])
    shift = data["project_cohesion"][:, None] * [0, 0, 1]
    np.testing.assert_allclose(
        project(data["project_friction"], data["project_S"] + shift) - shift, data["project_R"], atol=1e-14
    )


def linearise(friction, omega, u, r):
    c = np.zeros((3, len(u)), order="F")
    x, y = (np.zeros((3, 3, len(u)), order="F") for _ in range(2))
    _kernels.block_problems.linearisations(
        friction, omega, np.asfortranarray(u.T), np.asfortranarray(r.T), c, x, y
    )
    return c.T, x.transpose(2, 0, 1), y.transpose(2, 0, 1)


def test_the_contact_equation_vanishes_at_solutions_only():
    friction, omega = np.full(3, 0.5), np.zeros(3)
    u = np.array([(2.0, 0, 0), (0, 0, -1.0), (0, 0, 1.0)])
    r = np.array([(-1.0, 0, 2.0), (0, 0, 0), (0, 0, 0)])
    c, _, _ = linearise(friction, omega, u, r)
    np.testing.assert_allclose(c, [(0, 0, 0), (0, 0, -1), (0, 0, 0)], atol=1e-15)


def test_derivatives_of_the_contact_equation_agree_with_differences():
    random = np.random.default_rng(7)
    n, step = 50, 1e-6
    friction, omega = random.uniform(0.1, 1.0, n), np.full(n, 0.1)
    u, r = random.standard_normal((2, n, 3))
    _, x, y = linearise(friction, omega, u, r)
    for k in range(3):
        shift = step * np.eye(3)[k]
        du = (linearise(friction, omega, u + shift, r)[0] - linearise(friction, omega, u - shift, r)[0]) / (
            2 * step
        )
        dr = (linearise(friction, omega, u, r + shift)[0] - linearise(friction, omega, u, r - shift)[0]) / (
            2 * step
        )
        np.testing.assert_allclose(x[:, :, k], du, atol=1e-8)
        np.testing.assert_allclose(y[:, :, k], dr, atol=1e-8)


def test_linearisations_equal_those_of_solfec(data):
    which = data["linearize_problem"]
    _, shift = reduced(data)
    u = data["linearize_U"] + shift[which, None] * [0, 0, 1]
    r = data["linearize_R"] + data["cohesion"][which, None] * [0, 0, 1]
    for value, name in zip(
        linearise(data["friction"][which], data["linearize_omega"], u, r), "CXY", strict=True
    ):
        expected = data[f"linearize_{name}"]
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("coupling", [1e-120, 1e-170, 1e-300])
def test_block_that_is_almost_a_multiple_of_the_identity_counts_as_one(coupling):
    """The cube of its deviation underflows: zero by zero, in builds that check, and the step of projections from it."""
    exact = np.asfortranarray(np.eye(3)[:, :, None])
    almost = exact.copy(order="F")
    almost[0, 1] = almost[1, 0] = coupling
    blocks = []
    for diagonal in (exact, almost):
        block = np.zeros((16, 1), order="F")
        assert _kernels.automatic_solver.prepare_contacts(1, diagonal, np.array([0.3]), block) == -1
        blocks.append(block)
    assert np.allclose(*blocks, rtol=1e-14, atol=1e-100)
