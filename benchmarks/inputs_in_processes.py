"""Times inputs in one and in several processes.  Run: python benchmarks/inputs_in_processes.py [--processes 2] [--repeat N] [--quick] [row ...]  (needs MPI).

Runs take turns, so that all of them meet the same noise.  A row shows medians over the repeats of the milliseconds of a step on the wall, the longest of all
processes, without frames and input, and how much faster several processes are.  Only a machine with a quiet core for each process gives figures that mean something.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import words

ROOT = Path(__file__).parent.parent
MPIEXEC = str(Path(sys.executable).parent / "mpiexec")
ROWS = {  # name: input, arguments, the same of a quick run
    "bridge of 10 030 stones, GAUSS_SEIDEL": ("parallel/bridge.py", "10030 27 0.3", "500 9 0.01"),
    "core of 500 bricks, GAUSS_SEIDEL": ("parallel/core.py", "10 5 0.02", "3 2 0.002"),
    "array of 20^3 rigid cubes, NEWTON": ("speed/array.py", "20 RIGID 0.1", "4 RIGID 0.01"),
    "array of 20^3 rigid cubes, GAUSS_SEIDEL": ("speed/array.py", "20 RIGID 0.1 GAUSS_SEIDEL", "4 RIGID 0.01 GAUSS_SEIDEL"),
    "array of 6^3 cubes of elements (BC), NEWTON": ("speed/array.py", "6 BC 0.05", "2 BC 0.005"),
    "array of 6^3 cubes of elements (TL), NEWTON": ("speed/array.py", "6 TL 0.05", "2 TL 0.005"),
    "array of 10^3 cubes of elements (BC), NEWTON": ("speed/array.py", "10 BC 0.05", "3 BC 0.005"),
    "array of 10^3 cubes of elements (TL), NEWTON": ("speed/array.py", "10 TL 0.05", "3 TL 0.005"),
    "1000 cubes in stacks, AUTO": ("cubes.py", "10 0.2", "3 0.02"),
    "drum of 450 spheres, GAUSS_SEIDEL": ("speed/drum.py", "450 SPHERES RIGID GAUSS_SEIDEL 0.3", "40 SPHERES RIGID GAUSS_SEIDEL 0.02"),
    "drum of 4000 spheres, GAUSS_SEIDEL": ("speed/drum.py", "4000 SPHERES RIGID GAUSS_SEIDEL 0.4", "60 SPHERES RIGID GAUSS_SEIDEL 0.02"),
    "long drum of 8000 spheres, GAUSS_SEIDEL": ("speed/drum.py", "8000 SPHERES RIGID GAUSS_SEIDEL 0.4 5.3", "60 SPHERES RIGID GAUSS_SEIDEL 0.02 0.6"),
}


def step_of(path: str, arguments: list[str]) -> None:
    """Run an input in this process, and print the mean time of its steps [ms] in process 0, the longest of all processes."""
    from solfec.cli import main
    from solfec.domain import Domain
    from solfec.parallel.communicator import world

    spent, advance = [], Domain.advance
    together = world()

    def timed(model, *given):
        together.largest(np.zeros(1))  # all begin at the same time: no step waits for process 0, which writes frames
        began = perf_counter()
        result = advance(model, *given)
        spent.append(perf_counter() - began)
        return result

    Domain.advance = timed
    sys.argv = ["solfec", "-w", str(ROOT / "inp" / path), *arguments]
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code
    if status:
        raise SystemExit(status)
    longest = max(together.gathered(sum(spent)))
    if together.rank == 0:
        print(f"ms a step: {1e3 * longest / len(spent)}")


def measured(path: str, arguments: str, processes: int) -> float:
    """Return the milliseconds of a step of a run in so many processes."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    with tempfile.TemporaryDirectory() as folder:
        command = [MPIEXEC, "-n", str(processes), sys.executable, __file__, "--input", path, *arguments.split()]
        ran = subprocess.run(command, cwd=folder, env={**os.environ, **threads}, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{path} {arguments} in {processes} processes has failed:\n{ran.stderr[-2000:]}")
    return float(ran.stdout.rpartition("ms a step: ")[2])


def main() -> None:
    if sys.argv[1:2] == ["--input"]:
        step_of(sys.argv[2], sys.argv[3:])
        return
    parser = words.parser(__doc__)
    parser.add_argument("--processes", type=words.positive, default=2)
    parser.add_argument("--repeat", type=words.positive, default=3)
    parser.add_argument("--quick", action="store_true", help="small models, which tell whether inputs run")
    parser.add_argument("row", nargs="*", help="parts of names of rows")
    options = parser.parse_args()
    for name in words.chosen(parser, options.row, ROWS):
        path, full, small = ROWS[name]
        times: dict[int, list[float]] = {1: [], options.processes: []}
        for _ in range(options.repeat):
            for count, found in times.items():
                found.append(measured(path, small if options.quick else full, count))
        one, several = (median(found) for found in times.values())
        print(f"{name:45s} {one:8.2f} ms in one, {several:8.2f} in {options.processes}: {one / several:.2f} times as fast", flush=True)


if __name__ == "__main__":
    main()
