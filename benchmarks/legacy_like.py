"""Times whole inputs of the kinds that users of Solfec-1.0 run.  Run: python benchmarks/legacy_like.py [--threads 1 2] [--repeat N] [--quick] [row ...].

Each row is an input of `inp/`, run by `solfec profile` in a process of its own; with several numbers of threads and repeats they take turns,
so that all of them meet the same noise.  A row shows medians of the repeats, milliseconds per step and of its phases and the peak of memory; and of one run,
since these are the same in all, the largest number of contacts, mean iterations and the largest residual.  Goals were set for a core with 24 GB/s and 53 GFLOP/s; they scale with the machine's slower figure.
Threads move between cores unless OMP_PROC_BIND=true is in the environment (docs/running.md, Threads).
Writes benchmarks/results/legacy-like-<time>.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import strftime

import machine
import words

ROOT = Path(__file__).parent.parent
PHASES = ("TIMINT", "CONUPD", "CONDET", "LOCDYN", "CONSOL", "BETWEEN")
ROWS = {  # name: (input, arguments, the same of a quick run, goal in ms a step)
    "array of 8^3 rigid cubes": ("speed/array.py", "8 RIGID 0.1", "4 RIGID 0.02", 10.0),
    "array of 5^3 cubes, BC": ("speed/array.py", "5 BC 0.1", "2 BC 0.02", 5.0),
    "array of 5^3 cubes, TL": ("speed/array.py", "5 TL 0.1", "2 TL 0.02", 7.0),
    "drum, 500 pseudo-rigid ellipsoids": ("speed/drum.py", "500 ELLIPSOIDS PSEUDO_RIGID NEWTON 0.5", "60 ELLIPSOIDS PSEUDO_RIGID NEWTON 0.05", 4.0),
    "drum, 500 rigid ellipsoids": ("speed/drum.py", "500 ELLIPSOIDS RIGID GAUSS_SEIDEL 0.5", "60 ELLIPSOIDS RIGID GAUSS_SEIDEL 0.05", 6.0),
    "drum, 450 spheres": ("speed/drum.py", "450 SPHERES RIGID GAUSS_SEIDEL 0.5", "60 SPHERES RIGID GAUSS_SEIDEL 0.05", 4.0),
    "hopper": ("speed/hopper.py", "1000 1.0", "100 0.3", 25.0),
    "balls": ("speed/balls.py", "200 0.5", "20 0.05", 1.6),
    "implicit dominoes of elements": ("speed/dominoes.py", "10 10 0.2", "3 4 0.02", 5.0),
    "implicit dominoes of elements, NEWTON": ("speed/dominoes.py", "10 10 0.2 NEWTON", "3 4 0.02 NEWTON", None),
    "packing of 3136 stones": ("speed/packing.py", "8 49 0.5", "3 9 0.05", 1.0),
    "heap of 500 spheres": ("spheres.py", "500 0.5", "100 0.05", None),
    "10^3 cubes": ("cubes.py", "10 0.2", "3 0.02", 15.0),
    "arch": ("arch.py", "0.107 27 0.2", "0.107 27 0.02", 1.4),
    "bridge of 10 030 stones": ("parallel/bridge.py", "10030 27 0.05", "500 9 0.01", 35.0),
    "backfill of 456 stones that settle": ("parallel/bridge.py", "500 9 0.7", "500 9 0.01", None),
    "silo of 16 000 grains": ("speed/silo.py", "16000 0.002", "1000 0.0002", 30.0),
    "torrent": ("speed/torrent.py", "150 1.0", "20 0.1", 0.5),
    "stacks of ten cubes": ("speed/stacks.py", "10 CLASSIC 1.0 0.2", "3 CLASSIC 1.0 0.02", 1.0),
    "stacks of ten cubes, MANIFOLD": ("speed/stacks.py", "10 MANIFOLD 1.0 0.2", "3 MANIFOLD 1.0 0.02", 4.0),
    "towers of thin bricks, MANIFOLD": ("speed/stacks.py", "10 MANIFOLD 0.05 0.2", "3 MANIFOLD 0.05 0.02", None),
    "slice of a core of elements": ("speed/slice.py", "5 12 0.05", "2 8 0.005", None),
}


def profile(name: str, quick: bool, threads: int) -> dict:
    """The profile of one run of a row, as `solfec profile --json` prints it."""
    path, full, small, _ = ROWS[name]
    command = [sys.executable, "-m", "solfec", "profile", "--json", str(ROOT / "inp" / path), *(small if quick else full).split()]
    with tempfile.TemporaryDirectory() as directory:
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
        ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"{name}: {' '.join(command)} ended with status {ended.returncode}:\n{ended.stderr}")
    return json.loads(ended.stdout)


def summary(name: str, threads: int, runs: list[dict]) -> dict:
    """A row of the table: medians of several runs."""
    steps = runs[0]["steps"]
    return {
        "row": name, "threads": threads, "steps": steps,
        "ms_per_step": median(1e3 * run["seconds"]["steps"] / steps for run in runs),
        "phases": {phase: median(1e3 * run["seconds"][phase] / steps for run in runs) for phase in PHASES},
        "contacts": max(runs[0]["contacts"]), "iterations": sum(runs[0]["iterations"]) / steps, "residual": max(runs[0]["residuals"]),
        "megabytes": median(run["megabytes of memory"] for run in runs), "input_seconds": median(run["seconds"]["input"] for run in runs),
    }  # fmt: skip


def main() -> int:
    parser = words.parser(__doc__)
    parser.add_argument("--threads", type=words.positive, nargs="+", default=[1])
    parser.add_argument("--repeat", type=words.positive, default=1)
    parser.add_argument("--quick", action="store_true", help="small sizes and few steps")
    parser.add_argument("row", nargs="*", help="parts of names of rows")
    options = parser.parse_args()
    figures = machine.figures()
    slower = max(24.0 / figures["triad_GB_per_s"], 53.0 / figures["dgemm_GFLOP_per_s"])
    print(json.dumps(figures), f"goals times {slower:.2f}")
    listed = []
    for name in words.chosen(parser, options.row, ROWS):
        found = {threads: [] for threads in options.threads}
        for _ in range(options.repeat):
            for threads in options.threads:
                found[threads].append(profile(name, options.quick, threads))
        for threads in options.threads:
            row = summary(name, threads, found[threads])
            goal = ROWS[name][3]
            row["goal_ms"] = None if goal is None or options.quick else goal * slower
            listed.append(row)
            wanted = "" if row["goal_ms"] is None else f" (goal {row['goal_ms']:.2f})"
            print(f"{name}, threads {threads}: {row['ms_per_step']:.3f} ms a step{wanted}, {row['contacts']} contacts, {row['iterations']:.1f} iterations, "
                  f"residual {row['residual']:.1e}, {row['megabytes']:.0f} MB\n    "
                  + "  ".join(f"{phase} {spent:.3f}" for phase, spent in row["phases"].items()), flush=True)  # fmt: skip
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"legacy-like-{strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps({"machine": figures, "rows": listed}, indent=1))
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
