"""Times the main cases.  Run: make bench  (or python benchmarks/run.py [--quick] [--threads N] [case ...]).

Prints a table and writes benchmarks/results/<time>.json: per case bodies, contacts, sweeps and milliseconds per step, split into
time integration, constraint update, detection, local dynamics, solution, and what is spent outside of the compiled kernels, of
which the table has the median and the file also the mean.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from time import perf_counter, strftime

os.environ.setdefault("OMP_NUM_THREADS", "1")
for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(library, "1")

import machine
import models
import numpy as np
import overhead
import words

from solfec import _kernels
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.time_step import PHASES

CASES = {  # name: (model, Gauss-Seidel epsilon or another solver, steps before, steps timed)
    "stacks of ten cubes, 1000 bodies": (models.stacks, 1e-4, 150, 150),
    "cube of 10x10x10 cubes, from rest": (models.block, 1e-3, 0, 100),
    "cube of 10x10x10 cubes, hard to solve": (models.block, 1e-4, 20, 40),
    "1000 spheres in a box": (lambda: models.spheres(1000), 1e-3, 300, 100),
    "10000 spheres in a box": (lambda: models.spheres(10000), 1e-3, 300, 50),
    "300 spheres in one place": (models.crowd, 1e-3, 2, 20),
    "100 cubes of 3x3x3 finite elements": (models.soft_cubes, 1e-4, 20, 50),
    "MANIFOLD, AUTO: stacks, 1000 bodies": (lambda: models.stacks(manifold=True), AutoSolver(1e-6), 150, 150),
    "MANIFOLD, AUTO: cube of 10x10x10 cubes": (lambda: models.block(manifold=True), AutoSolver(1e-6), 20, 20),
    "MANIFOLD, AUTO: wall hit by a ball": (models.hit_wall, AutoSolver(1e-6), 0, 100),
    "MANIFOLD: 100 cubes of elements": (lambda: models.soft_cubes(manifold=True), 1e-4, 20, 50),
    "AUTO: 1000 hinged links that swing": (models.hanging_links, AutoSolver(1e-8), 20, 50),
    "AUTO: breaker of 29 bodies, 60 ms": (models.breaker, AutoSolver(1e-6), 0, 1200),
    "one stack of ten cubes": (lambda: models.stacks(1, 1), 1e-4, 150, 500),
}


def time_case(name: str, quick: bool) -> dict:
    """One row of the table."""
    build, epsilon, before, steps = CASES[name]
    if quick:
        before, steps = before // 10, steps // 10
    model = build()
    solver = GaussSeidelSolver(epsilon, 1000) if isinstance(epsilon, float) else epsilon
    for _ in range(before):
        model.advance(solver)
    model.timings.update(dict.fromkeys(PHASES, 0.0))
    sweeps = contacts = 0
    python = []
    with overhead.measured() as compiled:
        start = perf_counter()
        for _ in range(steps):
            began, elsewhere = perf_counter(), compiled.seconds
            model.advance(solver)
            python.append(perf_counter() - began - (compiled.seconds - elsewhere))
            sweeps += solver.iters
            contacts += model.constraints.n
        wall = perf_counter() - start
    per_step = {phase: 1e3 * model.timings[phase] / steps for phase in PHASES}
    return {
        "case": name,
        "bodies": model.bodies.n,
        "contacts": contacts / steps,
        "sweeps": sweeps / steps,
        "steps": steps,
        "ms_per_step": 1e3 * wall / steps,
        "us_per_body_and_step": 1e6 * wall / steps / model.bodies.n,
        **{f"ms_{phase}": value for phase, value in per_step.items()},
        "us_python_per_step": 1e6 * float(np.median(python)),
        "us_python_mean": 1e6 * sum(python) / steps,  # with what steps cost in which tables grow, and kernels' arguments are listed anew
        "kernel_calls_per_step": compiled.calls / steps,
    }


def main() -> int:
    parser = words.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    parser.add_argument("--threads", type=words.positive, default=1)
    parser.add_argument("case", nargs="*", help="parts of names of cases")
    options = parser.parse_args()
    names = words.chosen(parser, options.case, CASES)
    _kernels.threads.set_threads(options.threads)
    figures = machine.figures()
    print(json.dumps(figures))
    rows = []
    for name in names:
        row = time_case(name, options.quick)
        rows.append(row)
        phases = "  ".join(f"{phase} {row['ms_' + phase]:.3f}" for phase in PHASES)
        print(
            f"{name}: {row['bodies']} bodies, {row['contacts']:.0f} contacts, {row['sweeps']:.1f} sweeps, "
            f"{row['ms_per_step']:.3f} ms/step, {row['us_per_body_and_step']:.2f} us/body\n    {phases}  "
            f"python {1e-3 * row['us_python_per_step']:.3f}",
            flush=True,
        )
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps({"machine": figures, "threads": options.threads, "rows": rows}, indent=1))
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
