"""Measures the largest memory of every process.  Run: python benchmarks/memory_per_rank.py [--spheres M] [--made all|apart] [--whole] [--frame] [count ...]  (needs MPI).

Each count of processes makes a block of about M spheres, or of K per process with `--each K`, and takes a few steps.  A sphere touches five others, as in a
random packing at rest, or with `--dense` six.  Prints for each count, in MB, what processes have beside the interpreter and MPI: the most when bodies are made,
and in all; in use at the end.  `--made apart`: each process makes its slabs of the block; `all`: all make all.  `--whole`: without SOLFEC.spread.
`--frame`: RUN writes frames, which process 0 does.  Times say little where processes share cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")

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
made = most ()
solver = GAUSS_SEIDEL_SOLVER (1E-3, 5)
solver.colouring = 'ON'
OUTPUT (solfec, steps * 1E-4)
then = time.perf_counter ()
RUN (solfec, solver, steps * 1E-4)
open ('memory%d' % RANK (), 'w').write ('%g %g %g %g %g %d %d' % (made - base, most () - base, used () - base, then - began, time.perf_counter () - then, solfec.ncon, len (solfec.bodies)))
"""


def measure(count: int, slabs: int, wide: int, dense: bool, spread: bool, apart: bool, frame: bool, steps: int) -> list[list[float]]:
    """Return for each process: MB when made, most, in use at the end; seconds to make and to run; constraints and bodies that it has."""
    launcher = [str(Path(sys.executable).parent / "mpiexec"), "-n", str(count)] if count > 1 else []
    words = [slabs, wide, int(dense), int(spread), int(apart), int(frame), steps]
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "input.py").write_text(INPUT)
        command = [*launcher, sys.executable, "-m", "solfec.cli", "-w", "--quiet", "input.py", *map(str, words)]
        subprocess.run(command, cwd=directory, check=True)
        return [[float(word) for word in Path(directory, f"memory{rank}").read_text().split()] for rank in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", nargs="*", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--spheres", type=int, default=80000)
    parser.add_argument("--each", type=int, help="spheres per process, in slabs")
    parser.add_argument("--made", choices=("all", "apart"), default="apart")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--frame", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    given = parser.parse_args()
    print(f"{'processes':>9} {'spheres':>9} {'most contacts':>13} {'made':>7} {'most':>7} {'at end':>7}  least of processes: made, most; seconds to make, to run")
    for count in given.counts:
        total = given.each * count if given.each else given.spheres
        wide = max(1, round(total ** (1 / 3)))
        slabs = max(count, round(total / wide**2))
        found = measure(count, slabs, wide, given.dense, not given.whole, given.made == "apart", given.frame, given.steps)
        columns = list(zip(*found))
        made, most, end = (max(column) for column in columns[:3])
        rest = f"{min(columns[0]):.0f}, {min(columns[1]):.0f}; {max(columns[3]):.0f}, {max(columns[4]):.0f}"
        print(f"{count:>9} {slabs * wide**2:>9} {max(columns[5]):>13.0f} {made:>7.0f} {most:>7.0f} {end:>7.0f}  {rest}", flush=True)


if __name__ == "__main__":
    main()
