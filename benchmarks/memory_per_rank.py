"""Measures the memory of every process.  Run: python benchmarks/memory_per_rank.py [--each K | --spheres M] [--against] [count ...]  (needs MPI).

Each count of processes makes a block of K spheres per process, or of about M in all, and takes a few steps.  Spheres of the block touch and are at rest: each has
five neighbours that it touches, as in a random packing, or with `--dense` six.  Prints, in MB beside the interpreter and MPI, what the process that needs most has:
when bodies are made, and in all (largest memory); in use at the end; and how many copies of other processes' bodies one has at most.  `--against`: a serial run of the same
block, too, and the goal for N processes, which is serial (1.3 / N + copies / spheres).  `--made apart` (default): each process makes its slabs of the block; `all`: all
make all.  `--whole`: without SOLFEC.spread.  `--frame`: RUN writes two frames, which process 0 does.  Times say little where processes share cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")

GOAL = 1.3  # memory of N processes together over that of a serial run, without copies

INPUT = """# solfec: python3
import time
from solfec.kept_memory import largest_memory
def used ():
  with open ('/proc/self/status') as status: return next (int (line.split ()[1]) / 1024 for line in status if line.startswith ('VmRSS'))
def most (): return largest_memory () / 2**20
import solfec.results
slabs, wide, dense, spread, apart, frame, steps = [int (word) for word in NON_SOLFEC_ARGV ()]
base, began = used (), time.perf_counter ()
solfec = SOLFEC ('DYNAMIC', 1E-4, 'out/block') if frame else SOLFEC ('DYNAMIC', 1E-4)
solfec.verbose = 'OFF'
if spread: solfec.spread = 'ON'
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.3)
bulk = BULK_MATERIAL (solfec, 'KIRCHHOFF', young = 1E9, poisson = 0.2, density = 1000)
GRAVITY (solfec, (0, 0, -10))
for i in range (slabs):
  if not apart or i * NCPU () // slabs == RANK ():
    for j in range (wide):
      for k in range (wide):
        BODY (solfec, 'RIGID', SPHERE ((i*0.999, j*0.999, k*0.999 + (0 if dense else 0.01 * (k // 2))), 0.5, 1, 1), bulk)
memory, then = [most ()], time.perf_counter ()
solver = GAUSS_SEIDEL_SOLVER (1E-3, 5)
solver.colouring = 'ON'
OUTPUT (solfec, steps * 1E-4)
RUN (solfec, solver, steps * 1E-4)
memory += [most (), used ()]
figures = [mb - base for mb in memory] + [then - began, time.perf_counter () - then, solfec.ncon, sum (not HERE (solfec, body) for body in solfec.bodies) if spread else 0]
open ('memory%d' % RANK (), 'w').write (' '.join (map (str, figures)))
"""


@dataclass
class Block:
    """A block of spheres, and how processes make it; see the text above."""

    slabs: int
    wide: int
    dense: bool
    spread: bool
    apart: bool
    frame: bool
    steps: int

    @property
    def spheres(self) -> int:
        """Number of spheres."""
        return self.slabs * self.wide**2


@dataclass
class Needs:
    """What the process that needs most has: MB, seconds, and counts."""

    made: float
    most: float
    end: float
    making: float
    running: float
    contacts: float
    copies: float


def measure(count: int, block: Block) -> Needs:
    """Run a block in so many processes."""
    launcher = [str(Path(sys.executable).parent / "mpiexec"), "-n", str(count)] if count > 1 else []
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "input.py").write_text(INPUT)
        command = [*launcher, sys.executable, "-m", "solfec.cli", "-w", "--quiet", "input.py", *(str(int(word)) for word in vars(block).values())]
        subprocess.run(command, cwd=directory, check=True)
        found = [list(map(float, Path(directory, f"memory{rank}").read_text().split())) for rank in range(count)]
    return Needs(*map(max, zip(*found)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--spheres", type=int, default=80000)
    parser.add_argument("--each", type=int, help="spheres per process")
    parser.add_argument("--against", action="store_true", help="a serial run of the same block")
    parser.add_argument("--made", choices=("all", "apart"), default="apart")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--frame", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    given = parser.parse_args()
    print("processes  spheres  contacts  copies    made    most  at end  seconds to make, run" + ("     serial: most  at end    goal: most  at end" if given.against else ""))
    for count in given.counts:
        total = given.each * count if given.each else given.spheres
        wide = max(1, round(total ** (1 / 3)))
        block = Block(max(count, round(total / wide**2)), wide, given.dense, not given.whole, given.made == "apart", given.frame, given.steps)
        one = measure(count, block)
        line = f"{count:9} {block.spheres:8} {one.contacts:9.0f} {one.copies:7.0f} {one.made:7.0f} {one.most:7.0f} {one.end:7.0f} {one.making:16.0f} {one.running:4.0f}"
        if given.against:
            serial = one if count == 1 else measure(1, block)
            share = GOAL / count + one.copies / block.spheres
            line += f" {serial.most:17.0f} {serial.end:7.0f} {share * serial.most:13.0f} {share * serial.end:7.0f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
