"""Times solvers on a net of balls and springs that hangs from its corners, and prints JSON.

    python benchmarks/springs.py [balls per side]

A step with soft explicit springs is easy; with stiff implicit ones sweeps need as many rounds as the net is wide.
"""

from __future__ import annotations

import json
from time import perf_counter

import models
import numpy as np
import words

from solfec.bodies.table import BodyKind
from solfec.domain import Domain
from solfec.shapes.sphere import Sphere
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver

SOLVERS = {
    "AUTO": lambda: AutoSolver(1e-6),
    "GAUSS_SEIDEL": lambda: GaussSeidelSolver(1e-6, 3000),
    "NEWTON": lambda: NewtonSolver(1e-10, gsflag=False),
}
STEPS = 10


def net(side: int, stiffness: float, implicit: bool) -> Domain:
    """side x side balls of unit mass, 0.3 apart, springs between neighbours, four corners fixed."""
    model, material = models.domain(0.0)
    balls = {}
    for i, j in np.ndindex(side, side):
        centre = (0.3 * i, 0.3 * j, 0.0)
        balls[i, j] = model.insert_body(BodyKind.RIGID, [Sphere(centre, 0.1, 1, 1)], material)
        model.states.set_characteristics(balls[i, j], 1.0, 1.0, centre, np.eye(3))
    law = [(-1.0, stiffness), (1.0, -stiffness)]
    for i, j in balls:
        for near in ((i + 1, j), (i, j + 1)):
            if near in balls:
                ends = [(0.3 * a, 0.3 * b, 0.0) for a, b in (near, (i, j))]
                model.joints.spring(balls[near], ends[0], balls[i, j], ends[1], law, (-9.0, 9.0), implicit=implicit)
    for i, j in ((0, 0), (0, side - 1), (side - 1, 0), (side - 1, side - 1)):
        model.joints.fix_point(balls[i, j], (0.3 * i, 0.3 * j, 0.0))
    return model


def main() -> None:
    side = words.number(__doc__, "side", 40, "balls along a side")
    for stiffness, implicit in ((1e4, False), (1e6, True), (1e8, True)):
        for name, make in SOLVERS.items():
            model, solver = net(side, stiffness, implicit), make()
            model.advance(solver)
            best, worst = np.inf, 0.0
            for _ in range(STEPS):
                start = perf_counter()
                model.advance(solver)
                best = min(best, perf_counter() - start)
                worst = max(worst, model.report.residual)
            print(json.dumps({
                "balls": side**2, "springs": model.constraints.user_count - 4, "stiffness": stiffness, "implicit": implicit,
                "solver": name, "milliseconds": 1e3 * best, "worst_residual": worst, "iterations": model.report.iterations,
            }), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
