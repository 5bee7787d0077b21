"""Pairs per second of the narrow phase, printed as JSON.

Three kinds of pairs: boxes turned at random and overlapping, boxes stacked flush and twisted about the common normal,
and hulls of twenty points (36 triangles) deep in each other.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import words

from solfec import _kernels
from solfec.contact import narrow

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "contact"))
from builders import box, compiled, hull, random_rotation, rotation  # noqa: E402

PAIRS = 4000
BATCH = 250  # pairs per call; short calls find quiet moments of a shared machine
REPETITIONS = 15
CUBE = box(-0.5, 0.5, -0.5, 0.5, -0.5, 0.5)


def random_boxes(random):
    """Boxes of edges 0.5 to 1.5 turned at random, centres within one unit."""
    for _ in range(PAIRS):
        for _ in range(2):
            shape = box(*np.column_stack([-0.5 * (e := random.uniform(0.5, 1.5, 3)), 0.5 * e]).ravel())
            yield shape.moved(random_rotation(random), random.uniform(-0.5, 0.5, 3))


def twisted_boxes(random):
    """Unit boxes on top of each other, faces touching, turned about the vertical."""
    for _ in range(PAIRS):
        frame = random_rotation(random)
        yield CUBE.moved(frame)
        twist = rotation((0, 0, 1), random.uniform(0, np.pi))
        yield CUBE.moved(frame @ twist, frame @ (*random.uniform(-0.2, 0.2, 2), 1.0))


def deep_hulls(random):
    """Hulls of twenty points on the unit sphere, centres 0.3 apart."""
    for _ in range(PAIRS):
        for shift in (0, 0.3):
            x = random.normal(size=(20, 3))
            yield hull(x / np.linalg.norm(x, axis=1)[:, None]).moved(shift=random_rotation(random)[0] * shift)


def pairs_per_second(geometry, clock=time.perf_counter, batch: int = BATCH) -> dict:
    """Best of several repetitions of every batch of pairs, and the share of pairs in contact."""
    first = np.arange(0, 2 * PAIRS, 2, dtype="i4")
    batches = [(first[k : k + batch], first[k : k + batch] + 1) for k in range(0, PAIRS, batch)]
    result = narrow.NarrowResult()
    best = np.full(len(batches), np.inf)
    touching = 0
    for repetition in range(REPETITIONS):
        for k, (one, two) in enumerate(batches):
            start = clock()
            narrow.narrow_phase(geometry, batch, one, two, 1e-6, False, result)
            best[k] = min(best[k], clock() - start)
            touching += result.view("status").sum() if repetition == 0 else 0
    return {"pairs_per_second": round(PAIRS / best.sum()), "in_contact": float(touching / PAIRS)}


def main():
    """Print the three figures and the cost of one call for a single pair."""
    words.none(__doc__)
    threads = _kernels.threads.get_threads()
    _kernels.threads.set_threads(1)
    report = {}
    for make in (random_boxes, twisted_boxes, deep_hulls):
        report[make.__name__] = pairs_per_second(compiled(list(make(np.random.default_rng(1)))))
    geometry, result = compiled([CUBE, CUBE.moved(shift=(0, 0, 1))]), narrow.NarrowResult()
    first, second = np.zeros(1, "i4"), np.ones(1, "i4")
    best = np.inf
    for _ in range(200):
        start = time.perf_counter()
        narrow.narrow_phase(geometry, 1, first, second, 1e-6, False, result)
        best = min(best, time.perf_counter() - start)
    report["one_call_seconds"] = best
    _kernels.threads.set_threads(threads)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
