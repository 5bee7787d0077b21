"""The speed of contact detection against its targets, one line each, and one row of JSON.

Run: python benchmarks/detection_targets.py [--quick]  (leaves out 1 000 000 spheres).  One thread is timed by its own
processor time, which others' work lengthens less than the clock on the wall; the figures for two threads need a quiet machine.
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "2")  # before the kernels are loaded

import broad_phase
import machine
import narrow_phase
import numpy as np
import settled_scene

from solfec import _kernels

sys.path.insert(0, str(settled_scene.Path(__file__).parents[1] / "tests" / "contact"))
from builders import compiled  # noqa: E402

MANY = 1_000_000
IN_ONE_CALL = 2000  # pairs, when threads are compared
TURNS = 8  # of one thread and two, of which the best count: both cores are seldom free for long


def one_thread(quick: bool):
    """Names, figures and targets: pairs or millions of bodies per second."""
    for name, make, target in (
        ("narrow, flush boxes", narrow_phase.twisted_boxes, 450_000),
        ("narrow, deep hulls", narrow_phase.deep_hulls, 150_000),
    ):
        geometry = compiled(list(make(np.random.default_rng(1))))
        yield name, narrow_phase.pairs_per_second(geometry, time.thread_time)["pairs_per_second"], target
    cases = broad_phase.cases(np.random.default_rng(1), 100_000)
    for name, target in (("equal spheres", 8), ("radii 1 to 100", 2), ("boxes of edges 0.3 to 1", 2)):
        yield "broad, " + name, broad_phase.bodies_per_second(cases[name], time.thread_time)["million_bodies_per_s"], target
    if not quick:
        boxes = broad_phase.packing(np.random.default_rng(1), np.full((3, MANY), 0.5))
        yield "broad, a million", broad_phase.bodies_per_second(boxes, time.thread_time)["million_bodies_per_s"], 5


def two_threads():
    """The same for times of one thread over those of two, by the clock on the wall."""
    hulls = compiled(list(narrow_phase.deep_hulls(np.random.default_rng(1))))
    spheres = broad_phase.cases(np.random.default_rng(1), 100_000)["equal spheres"]
    for name, rate in (
        ("narrow", lambda: narrow_phase.pairs_per_second(hulls, batch=IN_ONE_CALL)["pairs_per_second"]),
        ("broad", lambda: broad_phase.bodies_per_second(spheres)["million_bodies_per_s"]),
    ):
        best = {1: 0.0, 2: 0.0}
        for _ in range(TURNS):  # in turns: the machine's speed changes meanwhile
            for threads in best:
                _kernels.threads.set_threads(threads)
                best[threads] = max(best[threads], rate())
        _kernels.threads.set_threads(1)
        yield f"{name}, two threads over one", round(best[2] / best[1], 2), 1.7


def settled():
    """The same for steps in which all bodies move over those in which few or none do."""
    model = settled_scene.stacks(20)
    model.detect()
    everything, few, none = (settled_scene.milliseconds(model, share, time.thread_time) for share in (1.0, 0.01, 0.0))
    yield "all move over one in a hundred", round(everything / few, 1), 5
    yield "all move over none", round(everything / none, 1), 20


def main(quick: bool) -> int:
    """Print lines and the row; return how many targets are missed."""
    _kernels.threads.set_threads(1)
    row, missed = {}, 0
    for figures in (one_thread(quick), two_threads(), settled()):
        for name, figure, target in figures:
            row[name] = figure
            missed += figure < target
            print(f"{name:32} {figure:10g}  target {target:g}{'' if figure >= target else '  MISSED'}", flush=True)
    print(json.dumps({"machine": machine.figures(), **row}))
    return missed


if __name__ == "__main__":
    main("--quick" in sys.argv)
