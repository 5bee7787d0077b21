"""The proximity test of adjacency against an independent quadratic programme and known distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from solfec.shapes.distance import closer


def distance(a, b):
    """Distance of two hulls by a general optimiser over convex weights."""
    n, m = len(a), len(b)
    matrix = np.hstack((a.T, -b.T))
    start = np.concatenate((np.full(n, 1 / n), np.full(m, 1 / m)))
    constraints = [
        {"type": "eq", "fun": lambda w: w[:n].sum() - 1.0},
        {"type": "eq", "fun": lambda w: w[n:].sum() - 1.0},
    ]
    best = minimize(
        lambda w: ((matrix @ w) ** 2).sum(), start, jac=lambda w: 2 * matrix.T @ (matrix @ w),
        bounds=[(0, 1)] * (n + m), constraints=constraints, method="SLSQP", options={"ftol": 1e-14, "maxiter": 300},
    )  # fmt: skip
    return np.sqrt(best.fun)


@pytest.mark.parametrize("seed", range(12))
def test_threshold_lies_at_the_true_distance(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(8, 3)), rng.normal(size=(6, 3)) + rng.uniform(2, 6) * np.eye(3)[seed % 3]
    true = distance(a, b)
    if true < 1e-3:
        assert closer([a, b], np.array([0]), np.array([1]), 1e-3).all()
    else:
        assert not closer([a, b], np.array([0]), np.array([1]), true * (1 - 1e-4)).any()
        assert closer([a, b], np.array([0]), np.array([1]), true * (1 + 1e-4)).all()


def test_many_pairs_at_once_give_the_answers_of_single_pairs():
    rng = np.random.default_rng(9)
    clouds = [rng.normal(size=(rng.integers(4, 12), 3)) + rng.uniform(-3, 3, 3) for _ in range(20)]
    first, second = np.triu_indices(20, 1)
    together = closer(clouds, first, second, 0.1)
    alone = [closer([clouds[i], clouds[j]], np.array([0]), np.array([1]), 0.1)[0] for i, j in zip(first, second)]
    assert together.tolist() == alone
    assert 0 < together.sum() < len(together)
