"""Times the solvers on FCLIB problems and prints the table as JSON.

    python benchmarks/fclib.py [--solver NAME] [--variants N] [--siconos] [--threads N] FILE...

A variant moves q by 20 % of its norm within the range of W and multiplies friction by a factor between 1/2 and 2,
odd ones by another factor for every contact.  With --siconos the solvers of Siconos follow, with W as it is and as
SICONOS_SOLVER scales it, the faster of those that reach the tolerance, by the time that its driver takes.

Targets for AUTO on one core, to 1E-8: no problem and none of 50 variants of each unsolved; boxstack_2000 in 300 ms, every
other file in 100 ms and as fast as the best of Siconos' solvers at least.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from solfec import _kernels
from solfec.errors import SolfecError
from solfec.solvers import contact_problem, fclib, siconos
from solfec.solvers.contact_problem import ContactProblem, Method

TARGETS = {"boxstack_2000.hdf5": 300.0}  # milliseconds
OTHER_TARGET = 100.0
SICONOS = {"NSGS": 20000, "ADMM": 5000, "NSN_AC": 500}  # iterations that they get


def variant(problem: ContactProblem, number: int) -> ContactProblem:
    """Return a reproducible variation of a problem, which has a solution if the problem has one."""
    random = np.random.default_rng(number)
    n = problem.n
    shift = problem.matrix() @ random.standard_normal(3 * n)
    shift *= 0.2 * np.linalg.norm(problem.q) / np.linalg.norm(shift)
    factor = 2.0 ** random.uniform(-1.0, 1.0, n if number % 2 else 1)
    return ContactProblem(
        problem.row_ptr, problem.column, problem.off_diagonal, problem.diagonal,
        problem.q + shift.reshape(n, 3).T, problem.friction * factor, name=f"{problem.name}#{number}",
    )  # fmt: skip


def timed(problem: ContactProblem, method: Method, clock, tolerance: float = 1e-8, repeat: int = 3):
    """Solution and the best time of several."""
    best, solution = np.inf, None
    for _ in range(repeat):
        start = clock()
        solution = contact_problem.solve(problem, tolerance, method)
        best = min(best, clock() - start)
        if best > 1.0:
            break
    return solution, best


def row(problem: ContactProblem, method: Method, variants: int, clock) -> dict:
    """One line of the table."""
    solution, seconds = timed(problem, method, clock)
    result = {
        "problem": problem.name, "contacts": problem.n, "solver": method.name, "status": solution.status,
        "islands": solution.islands, "iterations": solution.iterations, "methods": solution.methods,
        "residual": solution.residual, "natural_map": solution.natural_map, "milliseconds": 1e3 * seconds,
        "target_milliseconds": TARGETS.get(problem.name, OTHER_TARGET),
    }  # fmt: skip
    if variants:
        outcomes = [timed(variant(problem, number), method, clock, repeat=1) for number in range(variants)]
        times = [1e3 * time for _, time in outcomes]
        result["variants"] = {
            "failed": [number for number, (each, _) in enumerate(outcomes) if each.status != "OK"],
            "worst_residual": max(max(each.residual, each.natural_map) for each, _ in outcomes),
            "median_milliseconds": float(np.median(times)), "worst_milliseconds": max(times),
            "worst": int(np.argmax(times)), "above_target": sum(time > result["target_milliseconds"] for time in times),
        }  # fmt: skip
    return result


def siconos_rows(problem: ContactProblem, tolerance: float = 1e-8):
    """Lines of the table for the solvers of Siconos."""
    for name, maxiter in SICONOS.items():
        outcomes = [siconos.solve_problem(problem, name, tolerance, maxiter, scaled) for scaled in (True, False)]
        for scaled, first in zip((True, False), outcomes[:2], strict=True):
            if first.status == "OK" and first.seconds < 0.5:
                outcomes += [siconos.solve_problem(problem, name, tolerance, maxiter, scaled) for _ in range(2)]
        best = min(outcomes, key=lambda found: (found.status != "OK", found.seconds))
        yield {
            "problem": problem.name, "contacts": problem.n, "solver": f"SICONOS_{name}", "status": best.status,
            "iterations": best.iterations, "residual": best.residual,
            "natural_map": best.natural_map, "milliseconds": 1e3 * best.seconds,
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--solver", default="AUTO", choices=list(Method.__members__))
    parser.add_argument("--variants", type=int, default=0)
    parser.add_argument("--siconos", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    _kernels.threads.set_threads(arguments.threads)
    clock = process_time if arguments.threads == 1 else perf_counter  # seconds of one core, whatever else it does
    for path in arguments.files:
        try:
            problem = fclib.read(path)
        except SolfecError as error:
            parser.error(str(error))
        print(json.dumps(row(problem, Method[arguments.solver], arguments.variants, clock)), flush=True)
        for line in siconos_rows(problem) if arguments.siconos else ():
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
