"""Test whether pairs of convex point sets are closer than a tolerance, by GJK iterations on many pairs at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np

SUBSETS = {m: [s for r in range(1, m + 1) for s in combinations(range(m), r)] for m in range(1, 5)}
ITERATIONS = 200
CHUNK = 400_000  # vertices gathered at a time


def closer(clouds: list[np.ndarray], first: np.ndarray, second: np.ndarray, epsilon: float) -> np.ndarray:
    """Tell which pairs of convex hulls are closer than `epsilon`.

    Parameters
    ----------
    clouds : list of ndarray (nv, 3)
        Points of every convex set, in units of length.
    first, second : ndarray (n,) of int
        Numbers of the two sets of every pair.
    epsilon : float
        Positive distance.

    Returns
    -------
    ndarray (n,) of bool
    """
    widest = max(len(c) for c in clouds)
    padded = np.stack([c[np.minimum(np.arange(widest), len(c) - 1)] for c in clouds])
    result = np.empty(len(first), bool)
    step = max(1, CHUNK // widest)
    for start in range(0, len(first), step):
        rows = slice(start, start + step)
        result[rows] = _closer(padded[first[rows]], padded[second[rows]], epsilon)
    return result


def _closer(a: np.ndarray, b: np.ndarray, epsilon: float) -> np.ndarray:
    """Compute `closer` for points a, b (n, nv, 3)."""
    n = len(a)
    simplex = np.zeros((n, 4, 3))
    simplex[:, 0] = a[:, 0] - b[:, 0]
    size = np.ones(n, int)
    nearest = simplex[:, 0].copy()
    squared = (nearest**2).sum(1)
    active = np.arange(n)
    for _ in range(ITERATIONS):
        active = active[squared[active] >= epsilon**2]
        if not active.size:
            break
        v = nearest[active]
        along_a = np.einsum("nvi,ni->nv", a[active], v).argmin(1)
        along_b = np.einsum("nvi,ni->nv", b[active], v).argmax(1)
        point = a[active, along_a] - b[active, along_b]
        bound = (point * v).sum(1)  # lower bound of the distance, times |v|
        known = (simplex[active] == point[:, None]).all(2) & (np.arange(4) < size[active, None])
        goes_on = (bound < epsilon * np.sqrt(squared[active])) & ~known.any(1) & (size[active] < 4)
        active, point = active[goes_on], point[goes_on]
        simplex[active, size[active]] = point
        size[active] += 1
        before = squared[active].copy()
        for m in range(2, 5):
            rows = active[size[active] == m]
            if rows.size:
                simplex[rows], size[rows], nearest[rows] = _reduce(simplex[rows], m)
        squared[active] = (nearest[active] ** 2).sum(1)
        active = active[squared[active] < before]
    return squared < epsilon**2


def _reduce(simplex: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keep the points of simplices (n, 4, 3) of m points that carry the point nearest to the origin."""
    n = len(simplex)
    best = np.full(n, np.inf)
    nearest = np.zeros((n, 3))
    choice = np.zeros(n, int)
    for number, subset in enumerate(SUBSETS[m]):
        point, inside = PROJECTIONS[len(subset)](*(simplex[:, s] for s in subset))
        squared = np.where(inside, (point**2).sum(1), np.inf)
        better = squared < best
        best[better], nearest[better], choice[better] = squared[better], point[better], number
    kept = np.array([(*s, 0, 0, 0)[:4] for s in SUBSETS[m]])[choice]
    sizes = np.array([len(s) for s in SUBSETS[m]])[choice]
    return simplex[np.arange(n)[:, None], kept], sizes, nearest


def _project_point(a):
    return a, np.ones(len(a), bool)


def _project_segment(a, b):
    d = b - a
    length = (d * d).sum(1)
    t = -(a * d).sum(1) / np.where(length > 0.0, length, 1.0)
    return a + t[:, None] * d, (length > 0.0) & (t > 0.0) & (t < 1.0)


def _project_triangle(a, b, c):
    n = np.cross(b - a, c - a)
    length = (n * n).sum(1)
    weights = [(n * np.cross(p, q)).sum(1) for p, q in ((b, c), (c, a), (a, b))]
    inside = (length > 0.0) & (weights[0] > 0.0) & (weights[1] > 0.0) & (weights[2] > 0.0)
    return n * ((n * a).sum(1) / np.where(length > 0.0, length, 1.0))[:, None], inside


def _project_tetrahedron(a, b, c, d):
    ab = np.cross(a, b)
    volumes = ((np.cross(b, c) * d).sum(1), (np.cross(c, a) * d).sum(1), (ab * d).sum(1), -(ab * c).sum(1))
    signs = np.sign(volumes)
    return np.zeros_like(a), np.abs(signs.sum(0)) == 4.0


PROJECTIONS = {1: _project_point, 2: _project_segment, 3: _project_triangle, 4: _project_tetrahedron}
