"""Solvers of one contact, the projection, and the smoothed map with its derivatives, against brute force in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from coulomb import is_nearest_point_of_cone, length, solutions, worst
from hypothesis import given
from hypothesis import strategies as st
from law_settings import examples, random_block

from solfec import _kernels

BLOCK_SOLVERS = {"SEMISMOOTH_NEWTON": 0, "PROJECTED_GRADIENT": 1, "DE_SAXCE_FENG": 2, "PROJECTED_NEWTON": 3}
DIRECT = 4
WITH_FALLBACKS = 10
FRICTIONS = st.sampled_from([0.0, 1e-3, 0.1, 0.3, 0.6, 1.0, 1.5, 3.0])


def solve(method, w, b, mu, tolerance=1e-13, bound=5000, start=None):
    """Solutions (n, 3) and statuses of n problems of one contact, w (n, 3, 3), b (n, 3), mu (n)."""
    n = len(b)
    r = np.zeros((3, n), order="F") if start is None else np.array(np.transpose(start), order="F")
    status, iterations = np.zeros((2, n), np.int32)
    _kernels.block_problems.contact_problems(
        method, np.asfortranarray(np.transpose(w, (1, 2, 0))), np.asfortranarray(np.transpose(b)), np.asarray(mu, float),
        tolerance, bound, r, iterations, status,
    )  # fmt: skip
    return r.T, status


def problems(seed, count=12):
    """Blocks and free velocities; every third b points nearly into the contact, every fourth is exactly frictionless or normal."""
    random = np.random.default_rng(seed)
    w = np.array([random_block(random) for _ in range(count)])
    b = random.normal(size=(count, 3)) * 10.0 ** random.uniform(-3, 3, (count, 1))
    b[::3, 2] = -np.abs(b[::3, 2])
    b[1::4, :2] = 0.0
    return w, b


def check(w, b, mu, r, tolerance):
    u = b + w @ r
    force, velocity = max(length(r), length(b) / np.linalg.norm(w, 2), 1e-100), max(length(b), 1e-100)
    assert worst(mu, 0.0, 0.0, r, u, force, velocity) <= tolerance


@given(seed=st.integers(0, 10**6), mu=FRICTIONS)
@examples(25)
def test_the_direct_solution_is_that_of_trying_everything(seed, mu):
    w, b = problems(seed)
    r, status = solve(DIRECT, w, b, np.full(len(b), mu))
    for k in range(len(b)):
        known = solutions(w[k], b[k], mu)
        assert known
        if status[k] != 0:  # given up for the iterations: friction could wedge
            assert mu * np.hypot(w[k, 2, 0], w[k, 2, 1]) >= w[k, 2, 2] * 0.999
            continue
        scale = max(length(r[k]), length(b[k]) / np.linalg.norm(w[k], 2))
        assert min(length(r[k] - np.array(one)) for one in known) <= 1e-8 * scale
        check(w[k], b[k], mu, r[k], 1e-8)


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.3, 1.0])
def test_the_direct_solution_gives_up_no_block_whose_friction_cannot_wedge(mu):
    """Fall-backs solve such blocks, too, but many times slower, so that laws of whole scenes do not notice."""
    w, b = problems(1, 200)
    r, status = solve(DIRECT, w, b, np.full(len(b), mu))
    assert (status == 0).all()
    for one in zip(w, b, r):
        check(*one[:2], mu, one[2], 1e-8)


@pytest.mark.parametrize("name", BLOCK_SOLVERS)
@pytest.mark.parametrize("fallbacks", [False, True], ids=["alone", "with fall-backs"])
@given(seed=st.integers(0, 10**6), mu=st.sampled_from([0.0, 0.05, 0.3, 0.8]))
@examples(10)
def test_every_block_solver_obeys_the_law_where_it_says_so(name, fallbacks, seed, mu):
    w, b = problems(seed)
    r, status = solve(BLOCK_SOLVERS[name] + WITH_FALLBACKS * fallbacks, w, b, np.full(len(b), mu), bound=20000)
    for k in range(len(b)):
        if status[k] <= 1:
            check(w[k], b[k], mu, r[k], 2e-6)
    # gradients are slow on bad blocks, Newton on the unsmoothed map can cycle: the chain of all of them never fails
    assert (status <= 1).mean() >= (1.0 if fallbacks else 0.5)


@pytest.mark.parametrize("name", BLOCK_SOLVERS)
@given(seed=st.integers(0, 10**6), mu=st.sampled_from([0.0, 0.1, 0.5]))
@examples(4)
def test_the_last_reaction_leads_to_the_same_solution(name, seed, mu):
    """W below is near to isotropic, so that every iteration converges, whatever it starts from."""
    random = np.random.default_rng(seed)
    w = np.array([np.eye(3) + 0.1 * (m + m.T) for m in random.uniform(-0.5, 0.5, (8, 3, 3))])
    b = random.normal(size=(8, 3))
    friction = np.full(8, mu)
    start = random.normal(size=(8, 3))
    start[:, 2] = np.abs(start[:, 2])
    cold, first = solve(BLOCK_SOLVERS[name], w, b, friction)
    warm, second = solve(BLOCK_SOLVERS[name], w, b, friction, start=start)
    assert (first == 0).all() and (second == 0).all()
    np.testing.assert_allclose(warm, cold, atol=1e-8)
    for k in range(8):
        check(w[k], b[k], mu, cold[k], 1e-9)


EDGES = [(0, 0, -1), (0, 0, 1), (0, 0, 0), (3, 0, -1), (1e-9, 0, -1), (3, 4, 0), (3, 4, 1e-300)]


def solution_of_unit_block(mu, b):
    slip, normal = length(b[:2]), max(0.0, -b[2])
    held = min(1.0, mu * normal / slip) if slip > 0 else 1.0
    return np.array([-held * b[0], -held * b[1], normal])


@pytest.mark.parametrize("method", [*BLOCK_SOLVERS.values(), DIRECT, *(WITH_FALLBACKS + k for k in BLOCK_SOLVERS.values())])
@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0, 50.0, 1e6])
@pytest.mark.parametrize("b", EDGES, ids=str)
def test_edges_of_the_law(method, mu, b):
    w, b = np.eye(3), np.array(b, float)
    r, status = solve(method, w[None], b[None], [mu], tolerance=1e-12)
    assert not r[0][2] < 0.0
    if mu <= 1.0 or method in (DIRECT, WITH_FALLBACKS):
        assert status[0] == 0
        np.testing.assert_allclose(r[0], solution_of_unit_block(mu, b), atol=1e-9 * max(1.0, length(b)))
        assert b[2] <= 0.0 or not r[0].any()
    elif status[0] <= 1:  # with mu |U_T| of 10^6 in the map, iterations alone give up, or end by the digits that it leaves
        check(w, b, mu, r[0], 2e-6)
    else:
        assert method < WITH_FALLBACKS


@given(seed=st.integers(0, 10**6), mu=st.sampled_from([0.0, 1e-9, 0.2, 1.0, 7.0, 1e5]))
@examples(40)
def test_the_projection_is_the_nearest_point_of_the_cone(seed, mu):
    random = np.random.default_rng(seed)
    s = random.normal(size=(3, 30)) * 10.0 ** random.uniform(-100, 100, 30)
    s[:2, ::5] = 0.0
    s[2, 1::5] = 0.0
    p = np.zeros_like(s, order="F")
    _kernels.block_problems.projections(np.full(30, mu), np.asfortranarray(s), p)
    for k in range(30):
        scale = max(length(s[:, k] / np.abs(s[:, k]).max()), 1.0) * np.abs(s[:, k]).max() if s[:, k].any() else 1.0
        assert is_nearest_point_of_cone(mu, s[:, k] / scale, p[:, k] / scale, 1e-14)


@given(seed=st.integers(0, 10**6), mu=st.sampled_from([0.0, 0.05, 0.4, 1.0, 2.5]), omega=st.sampled_from([1e-3, 1e-2, 0.3]))
@examples(30)
def test_derivatives_of_the_smoothed_map_are_those_of_differences(seed, mu, omega):
    random = np.random.default_rng(seed)
    u, r = random.normal(size=(2, 3, 10))
    u[:2, ::4] = 0.0

    def linearised(u, r):
        c, x, y = np.zeros((3, 10), order="F"), np.zeros((3, 3, 10), order="F"), np.zeros((3, 3, 10), order="F")
        args = (np.asfortranarray(u), np.asfortranarray(r))
        _kernels.block_problems.linearisations(np.full(10, mu), np.full(10, omega), *args, c, x, y)
        return c, x, y

    step = 1e-6
    c, x, y = linearised(u, r)
    for axis in range(3):
        move = np.zeros((3, 1))
        move[axis] = step
        by_u = (linearised(u + move, r)[0] - linearised(u - move, r)[0]) / (2 * step)
        by_r = (linearised(u, r + move)[0] - linearised(u, r - move)[0]) / (2 * step)
        assert np.abs(by_u - x[:, axis]).max() < 1e-4 / omega * step**0.5 + 1e-6
        assert np.abs(by_r - y[:, axis]).max() < 1e-4 / omega * step**0.5 + 1e-6


@given(seed=st.integers(0, 10**6), mu=st.sampled_from([0.0, 0.05, 0.4, 1.0, 2.5]))
@examples(20)
def test_without_smoothing_the_map_leads_from_a_reaction_to_the_nearest_point_of_the_cone(seed, mu):
    random = np.random.default_rng(seed)
    u, r = random.normal(size=(2, 3, 10))
    c, x, y = np.zeros((3, 10), order="F"), np.zeros((3, 3, 10), order="F"), np.zeros((3, 3, 10), order="F")
    _kernels.block_problems.linearisations(
        np.full(10, mu), np.full(10, 1e-12), np.asfortranarray(u), np.asfortranarray(r), c, x, y
    )
    for k in range(10):
        target = r[:, k] - u[:, k] - np.array([0, 0, mu * length(u[:2, k])])
        assert is_nearest_point_of_cone(mu, target, r[:, k] - c[:, k], 1e-9)
