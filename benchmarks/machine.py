"""Figures of the machine: memory bandwidth and arithmetic of one core, by which speed targets scale, and the speed of instructions that depend on branches."""

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
    """STREAM triad in GB/s (a = b + s c, 24 bytes an entry), dgemm in GFLOP/s, and millions of turns of a loop of Python a second.

    The last one falls, as most rows do, while another machine of the same host uses the other half of a core; the others do not show that.
    """
    n = 10_000_000
    a, b, c = np.zeros(n), np.ones(n), np.ones(n)

    def triad():
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)

    def loop():
        count = 0
        for turn in range(turns):
            count += turn & 3

    turns, m = 500_000, 1000
    x, y = np.random.default_rng(0).random((2, m, m))
    return {
        "triad_GB_per_s": 40e-9 * n / best(triad),  # two passes: 16 + 24 bytes an entry
        "dgemm_GFLOP_per_s": 2e-9 * m**3 / best(lambda: x @ y),
        "python_loop_M_per_s": 1e-6 * turns / best(loop),
    }
