"""A wall of 1000 bricks that settles, and then sleeps: milliseconds per step of both, by phases, printed as JSON.

    python benchmarks/sleeping.py [--columns N] [--courses N] [--steps N]

Target: a step of the sleeping wall costs less than 1 % of one of the moving wall.
"""

from __future__ import annotations

import json
import os
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

import models
import numpy as np
import words

from solfec.bodies.table import BodyKind
from solfec.domain import Domain
from solfec.solvers.auto import AutoSolver
from solfec.time_step import PHASES

LENGTH, THICKNESS, HEIGHT, PLAY = 0.5, 0.25, 0.2, 1e-4  # of a brick, and half of the joint between two


def wall(columns: int, courses: int) -> Domain:
    """A dry wall in running bond on an obstacle."""
    model, material = models.domain(0.6, manifold=True)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-5, -5, -1), (columns * LENGTH + 5, 5, 0))], material)
    for k in range(courses):
        for i in range(columns):
            x = (i + 0.5 * (k % 2)) * LENGTH
            model.insert_body(BodyKind.RIGID, [models.box((x + PLAY, 0, k * HEIGHT), (x + LENGTH - PLAY, THICKNESS, (k + 1) * HEIGHT))], material)
    return model


def time_steps(model: Domain, solver, steps: int) -> dict:
    """Median of the times of steps, and means of phases, in ms."""
    model.timings.update(dict.fromkeys(PHASES, 0.0))
    times = []
    for _ in range(steps):
        start = perf_counter()
        model.advance(solver)
        times.append(1e3 * (perf_counter() - start))
    return {"ms": float(np.median(times)), **{phase: 1e3 * model.timings[phase] / steps for phase in PHASES}}


def main() -> None:
    """Time the wall while it settles, and once it sleeps."""
    parser = words.parser(__doc__)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--courses", type=int, default=20)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    model, solver = wall(options.columns, options.courses), AutoSolver(1e-6)
    moving = time_steps(model, solver, options.steps)
    model.sleeping.setting = [True, None, 50]
    for _ in range(1000):
        model.advance(solver)
        if model.sleeping.any_asleep:
            break
    asleep = time_steps(model, solver, 10 * options.steps)
    print(json.dumps({
        "bodies": model.bodies.n, "contacts": model.constraints.n, "asleep": int((model.bodies.view("rest") < 0).sum()),
        "settling": moving, "sleeping": asleep, "percent": 100 * asleep["ms"] / moving["ms"],
    }))  # fmt: skip


if __name__ == "__main__":
    main()
