"""Two figures of the machine by which speed targets scale: memory bandwidth and arithmetic of one core."""

from __future__ import annotations

from time import process_time

import numpy as np


def best(function, repeat: int = 5) -> float:
    """Return the shortest of several runs, in processor seconds, which other work on the machine changes little."""
    times = []
    for _ in range(repeat):
        start = process_time()
        function()
        times.append(process_time() - start)
    return min(times)


def figures() -> dict[str, float]:
    """STREAM triad in GB/s (a = b + s c, 24 bytes an entry) and dgemm in GFLOP/s."""
    n = 10_000_000
    a, b, c = np.zeros(n), np.ones(n), np.ones(n)

    def triad():
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)

    m = 1000
    x, y = np.random.default_rng(0).random((2, m, m))
    return {
        "triad_GB_per_s": 40e-9 * n / best(triad),  # two passes: 16 + 24 bytes an entry
        "dgemm_GFLOP_per_s": 2e-9 * m**3 / best(lambda: x @ y),
    }
