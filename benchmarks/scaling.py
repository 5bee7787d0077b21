"""Measures the prices by which `solfec plan` predicts.  Run: python benchmarks/scaling.py [-o FILE] [--count INPUT ARGUMENTS...]  (needs MPI).

Writes a file of prices (by default where `solfec plan` looks for those of this machine), each the least of several measurements: what a colour of a
sweep and a step cost beside rows and bodies, from models of two sizes; messages and sums, from two processes; memory.

--count runs an input by mpiexec in 2, 4 and 8 processes and prints what they have sent in the last step beside what `solfec plan` counts.  Give the
input a short duration; --steps says how many steps that is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")

import models
import numpy as np

from solfec.divided import Divided, Requests
from solfec.kept_memory import largest_memory
from solfec.parallel.colour_messages import ColourMessages
from solfec.parallel.communicator import Alone, world
from solfec.parallel.machine import Machine, place
from solfec.parallel.partition import Balance
from solfec.parallel.prediction import bytes_of
from solfec.parallel.reductions import Reduction
from solfec.parallel.sweep_course import OPERATIONS, SweepCourse
from solfec.solvers.gauss_seidel import GaussSeidelSolver

SIDES, STEPS, SWEEPS = (2, 8), 12, 50  # of blocks of cubes; steps, and sweeps in each
SIZES, REPEATS = (1, 1 << 17), 200  # numbers in messages; messages
COLOURS = 1000  # messages, or sums, that a kernel makes one after another
MPIEXEC = str(Path(sys.executable).parent / "mpiexec")


def step_of(side: int) -> tuple[float, float, int, int, int]:
    """Seconds of a step beside sweeps, and of a sweep; bodies, rows and colours of a block of cubes."""
    model, solver = models.block(side, manifold=True), GaussSeidelSolver(1e-16, SWEEPS)
    solver.colouring, solver.notify = "ON", lambda text: None
    course = Divided(model, Alone(), solver, Balance(), Requests(lambda: None, lambda: False))
    taken = []
    for _ in range(STEPS):
        began, before = perf_counter(), model.timings["GSRUN"]
        course.advance()
        seconds, sweeping = perf_counter() - began, model.timings["GSRUN"] - before
        taken.append((seconds - sweeping, sweeping / model.report.iterations))
    return *np.min(taken, axis=0).tolist(), model.bodies.n, model.constraints.n, model.report.colours


def pair() -> None:
    """Print what messages and sums between two processes cost, and the memory of such a process."""
    import solfec.language.model
    import solfec.results  # noqa: F401  # what a run loads counts as memory without a model

    everyone, base = world(), largest_memory()
    other = 1 - everyone.rank
    message, reduction = in_kernels(everyone, other)
    taken = []
    for size in SIZES:
        out, into = np.zeros((size, 1)), np.empty((size, 1))
        each = []
        for _ in range(REPEATS):
            began = perf_counter()
            everyone.exchange({other: out}, {other: into})
            each.append(perf_counter() - began)
        taken.append(min(each))
    if everyone.rank == 0:
        byte = max(taken[1] - taken[0], 0.0) / (8 * (SIZES[1] - SIZES[0]))
        print(json.dumps({"message": message, "byte": byte, "reduction": reduction, "base": base}))


def in_kernels(everyone, other: int) -> tuple[float, float]:
    """Seconds of a message that follows a colour of a sweep, and of the sums behind a sweep, each with all that the kernel does for them."""
    model = models.block(2)
    model.advance(GaussSeidelSolver(1e-3, 10))
    local, settings = model.local_dynamics, GaussSeidelSolver(1e-3, COLOURS)
    settings.epsilon = -1.0  # is never reached
    settings.make_room()
    triples, no_rows, found = np.arange(4), np.zeros(0, np.int32), []
    for colours, sweeps in ((COLOURS, 1), (0, COLOURS)):
        settings.maxiter = sweeps
        plans = [({other: triples}, {other: triples})] * colours
        messages = ColourMessages.between(everyone, [no_rows] * colours, np.zeros(local.n, bool), plans, np.zeros(local.n, int))
        sums = Reduction.of(everyone, OPERATIONS)
        each = []
        for _ in range(REPEATS):
            everyone.total(np.ones(1, np.int64))
            began = perf_counter()
            SweepCourse.run(local, messages, sums, no_rows, settings, everyone)
            each.append(perf_counter() - began)
        found.append(min(each) / COLOURS)
    return found[0], found[1]


def growth() -> None:
    """Print bytes of memory per byte of tables."""
    base, model, solver = largest_memory(), models.spheres(20000), GaussSeidelSolver(1e-3, 10)
    solver.colouring, solver.notify = "ON", lambda text: None
    course = Divided(model, Alone(), solver, Balance(), Requests(lambda: None, lambda: False))
    for _ in range(3):
        course.advance()
    print((largest_memory() - base) / bytes_of(model))


def printed_by(*words: str) -> str:
    """What a command prints."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def measure() -> Machine:
    """Measure the prices of this machine."""
    (rest, sweep, bodies, rows, colours), (more_rest, more_sweep, more_bodies, more_rows, more_colours) = map(step_of, SIDES)
    row, visit = np.linalg.lstsq([[rows, colours], [more_rows, more_colours]], [sweep, more_sweep], rcond=None)[0].tolist()
    print(f"a visit of a row {1e9 * row:.0f} ns")
    step = rest - (more_rest - rest) / (more_bodies - bodies) * bodies
    of_pair = json.loads(printed_by(MPIEXEC, "-n", "2", sys.executable, __file__, "--pair"))
    return Machine(visit=max(visit, 0.0), step=max(step, 0.0), growth=float(printed_by(sys.executable, __file__, "--growth")), **of_pair, source="")


def count(words: list[str], steps: int) -> None:
    """Print what processes of an input have sent in the last step, and what is planned."""
    processes = (2, 4, 8)
    solfec = [sys.executable, "-m", "solfec.cli"]
    words = [os.path.abspath(words[0]), *words[1:]]
    options = ["-n", ",".join(map(str, processes)), "--steps", str(steps), "--json"]
    plans = json.loads(_json_of(printed_by(*solfec, "plan", *options, *words)))["plans"]
    print(f"{'processes':>9}  most of a process in the last step, planned in parentheses")
    for size, planned in zip(processes, plans):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([MPIEXEC, "-n", str(size), *solfec, "-w", "--quiet", *words], cwd=directory, check=True, stdout=subprocess.DEVNULL)
            (state,) = Path(directory).rglob("STATE")
            most = {line[:13].strip(): float(line.split()[-1]) for line in state.read_text().splitlines()[-8:]}
        print(f"{size:>9}  {most['MESSAGES']:.0f} messages ({planned['messages']}), {most['MB SENT']:.3f} MB ({planned['sent [MB]']:.3f})", flush=True)


def _json_of(text: str) -> str:
    """The object in a text that an input may have begun with lines of its own."""
    return text[text.index("{\n") :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", metavar="FILE", default=place())
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--count", nargs=argparse.REMAINDER)
    parser.add_argument("--pair", action="store_true", help=argparse.SUPPRESS)  # in processes that it starts
    parser.add_argument("--growth", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pair:
        pair()
    elif given.growth:
        growth()
    elif given.count:
        count(given.count, given.steps)
    else:
        machine = measure()
        machine.write(given.o)
        print(Path(given.o).read_text(), given.o, sep="\n")


if __name__ == "__main__":
    main()
