"""Times solvers in one and in several processes.  Run: python benchmarks/processes.py [--steps N] [count ...]  (2 processes by default; needs MPI).

Runs itself by mpiexec, a serial run before each, and prints for every case and solver the milliseconds of processor time per step: of a serial run, and of
several processes the longest time that one of them computes, and the longest that one exchanges messages or waits for others.  Where processes share cores with
other work, the clock on the wall says little, and waits are as long as others let them be.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from time import process_time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")

import models
import numpy as np

from solfec.divided import Divided, Requests
from solfec.domain import Domain
from solfec.kinds import BodyKind
from solfec.parallel.communicator import world
from solfec.parallel.partition import Balance
from solfec.shapes import sphere
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver


def heaps(count: int = 50, wide: int = 5) -> Domain:
    """Pyramids of spheres, far from one another, which slide apart."""
    model, material = models.domain(0.3)
    side = int(np.ceil(np.sqrt(count)))
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1.0, -1.0, -0.1), (side + 1.0, side + 1.0, 0.0))], material)
    random = np.random.default_rng(1)
    for heap in range(count):
        for layer in range(wide):
            for column, row in np.ndindex(wide - layer, wide - layer):
                at = heap % side + 0.101 * column + 0.0505 * layer, heap // side + 0.101 * row + 0.0505 * layer, 0.05 + 0.0715 * layer
                place = np.array(at) + random.uniform(-0.0005, 0.0005, 3)
                model.insert_body(BodyKind.RIGID, [sphere.Sphere(place, 0.05, 2, 2)], material)
    return model


def by_colours() -> GaussSeidelSolver:
    """Sweeps by colours, the same in any number of processes."""
    solver = GaussSeidelSolver(1e-4, 1000)
    solver.colouring = "ON"
    return solver


class Watched:
    """A communicator that adds up the processor time which processes spend on messages and waits."""

    def __init__(self, given):
        self.given, self.rank, self.size, self.traffic, self.spent = given, given.rank, given.size, given.traffic, 0.0

    def __getattr__(self, name: str):
        called = getattr(self.given, name)

        def watched(*arguments):
            began = process_time()
            result = called(*arguments)
            self.spent += process_time() - began
            return result

        return watched


CASES = {"pile of 2000 spheres": (lambda: models.spheres(2000), 400), "50 heaps of 55 spheres": (heaps, 20)}  # models, steps before
SOLVERS = {"AUTO": AutoSolver, "GAUSS_SEIDEL by colours": by_colours}


def time_case(name: str, solver: str, steps: int) -> None:
    """Print the milliseconds of processor time per step that processes compute, and exchange messages, at most, and the number of constraints."""
    build, before = CASES[name]
    model, everyone = build(), Watched(world())
    rough = GaussSeidelSolver(1e-3, 200)
    for _ in range(before):
        model.advance(rough)
    course, made = None, SOLVERS[solver]()
    if everyone.size > 1 or solver != "AUTO":
        course = Divided(model, everyone, made, Balance(), Requests(lambda: None, lambda: False))
    advance = course.advance if course else lambda: model.advance(made)
    advance()
    everyone.spent, began = 0.0, process_time()
    for _ in range(steps):
        advance()
    total, exchanged = process_time() - began, everyone.spent
    spent = 1e3 / steps * np.max(everyone.gathered((total - exchanged, exchanged)), axis=0)
    if everyone.rank == 0:
        print(*(f"{number:.2f}" for number in spent), course.constraints if course else model.constraints.n, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", nargs="*", type=int, default=[2])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)  # in processes that it starts
    given = parser.parse_args()
    if given.case:
        time_case(*given.case, given.steps)
        return
    launcher = Path(sys.executable).parent / "mpiexec"
    print(f"{'case':24} {'solver':24} {'constraints':>11} processes: ms of processor time per step to compute, and for messages and waits")
    for name in CASES:
        for solver in SOLVERS:
            shown = []
            for count in (1, *given.counts):
                command = [sys.executable, __file__, "--steps", str(given.steps), "--case", name, solver]
                launched = command if count == 1 else [str(launcher), "-n", str(count), *command]
                computing, exchanging, constraints = subprocess.run(launched, capture_output=True, text=True, check=True).stdout.split()
                shown.append(f"{count}: {computing}" + (f" and {exchanging}" if count > 1 else ""))
            print(f"{name:24} {solver:24} {constraints:>11} {', '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
