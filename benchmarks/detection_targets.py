"""The speed of contact detection against its targets, one line each, and one row of JSON.

Run: python benchmarks/detection_targets.py [--quick]  (leaves out 1 000 000 spheres).  One thread is timed by its own
processor time, which others' work lengthens less than the clock on the wall; the figures for two threads need a quiet
machine.  Every figure is the best of three runs, with the machine's arithmetic and memory bandwidth right after that run.
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "2")  # before the kernels are loaded
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # figures of the machine are those of one core

import broad_phase
import machine
import narrow_phase
import numpy as np
import settled_scene
import words

from solfec import _kernels

sys.path.insert(0, str(settled_scene.Path(__file__).parents[1] / "tests" / "contact"))
from builders import compiled  # noqa: E402

MANY = 1_000_000
IN_ONE_CALL = 2000  # pairs, when threads are compared
RUNS = 3  # of every figure; the best counts
TURNS = 3  # of one thread and two in each run, of which the best count: both cores are seldom free for long


def one_thread(quick: bool):
    """Return names, measurements and targets: pairs or millions of bodies per second."""
    for name, make, target in (
        ("narrow, flush boxes", narrow_phase.twisted_boxes, 450_000),
        ("narrow, deep hulls", narrow_phase.deep_hulls, 150_000),
    ):
        geometry = compiled(list(make(np.random.default_rng(1))))
        yield name, lambda: narrow_phase.pairs_per_second(geometry, time.thread_time)["pairs_per_second"], target
    cases = broad_phase.cases(np.random.default_rng(1), 100_000)
    for name, target in (("equal spheres", 8), ("radii 1 to 100", 2), ("boxes of edges 0.3 to 1", 2)):
        yield "broad, " + name, lambda: million_bodies(cases[name], time.thread_time), target
    if not quick:
        boxes = broad_phase.packing(np.random.default_rng(1), np.full((3, MANY), 0.5))
        yield "broad, a million", lambda: million_bodies(boxes, time.thread_time), 5


def million_bodies(boxes: np.ndarray, clock=time.perf_counter) -> float:
    """Millions of bodies per second."""
    return broad_phase.bodies_per_second(boxes, clock)["million_bodies_per_s"]


def two_threads():
    """Time of one thread over that of two threads, by wall clock."""
    hulls = compiled(list(narrow_phase.deep_hulls(np.random.default_rng(1))))
    spheres = broad_phase.cases(np.random.default_rng(1), 100_000)["equal spheres"]
    for name, rate in (
        ("narrow", lambda: narrow_phase.pairs_per_second(hulls, batch=IN_ONE_CALL)["pairs_per_second"]),
        ("broad", lambda: million_bodies(spheres)),
    ):
        yield f"{name}, two threads over one", lambda: gain_of_a_thread(rate), 1.7


def gain_of_a_thread(rate) -> float:
    """Return the speed of two threads over the speed of one."""
    best = {1: 0.0, 2: 0.0}
    for _ in range(TURNS):  # in turns: the machine's speed changes meanwhile
        for threads in best:
            _kernels.threads.set_threads(threads)
            best[threads] = max(best[threads], rate())
    _kernels.threads.set_threads(1)
    return round(best[2] / best[1], 2)


def settled():
    """Return the time of steps in which all bodies move over that of steps in which few or no bodies move."""
    model = settled_scene.stacks(20)
    model.detect()
    for name, share, target in (("all move over one in a hundred", 0.01, 5), ("all move over none", 0.0, 20)):
        yield name, lambda: gain_of_rest(model, share), target


def gain_of_rest(model, share: float) -> float:
    """Return the time of a step in which all bodies move over that of a step in which a share of them moves."""
    everything, few = (settled_scene.milliseconds(model, part, time.thread_time) for part in (1.0, share))
    return round(everything / few, 1)


def best_of(measure) -> tuple[float, str]:
    """Return the best of several runs, and the machine's speed around it, which changes by a factor of two within minutes."""
    best, state = -1.0, ""
    for _ in range(RUNS):
        figure, now = measure(), machine.figures()
        if figure > best:
            best = figure
            state = f"dgemm {now['dgemm_GFLOP_per_s']:.0f} GFLOP/s, triad {now['triad_GB_per_s']:.0f} GB/s"
    return best, state


def main(quick: bool) -> int:
    """Print lines and the row; return the number of missed targets."""
    _kernels.threads.set_threads(1)
    row, missed = {}, 0
    for figures in (one_thread(quick), two_threads(), settled()):
        for name, measure, target in figures:
            row[name], state = best_of(measure)
            missed += row[name] < target
            verdict = "" if row[name] >= target else "  MISSED"
            print(f"{name:32} {row[name]:>10}  target {target:<8g} {state}{verdict}", flush=True)
    print(json.dumps({"machine": machine.figures(), **row}))
    return missed


if __name__ == "__main__":
    parser = words.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer bodies")
    main(parser.parse_args().quick)
