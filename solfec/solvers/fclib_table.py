"""`solfec fclib FILE...`: solve contact problems in FCLIB files and print a table."""

from __future__ import annotations

import argparse
import math
import sys
from time import perf_counter

from ..errors import SolfecError
from . import contact_problem, fclib, siconos
from .contact_problem import ContactProblem, Method, Solution
from .siconos_library import SOLVERS

HEADER = f"{'problem':32} {'contacts':>8} {'solver':>14} {'status':>10} {'iterations':>10} {'residual':>9} {'map':>9} {'time':>10}"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the sub-command's arguments."""
    words = argparse.ArgumentParser(
        prog="solfec fclib", description="Solve contact problems in FCLIB files (HDF5) and print a table."
    )
    words.add_argument("files", nargs="+", metavar="FILE")
    words.add_argument(
        "--solver", action="append", choices=[*Method.__members__, *(f"SICONOS_{name}" for name in SOLVERS)], metavar="SOLVER",
        help=f"{', '.join(Method.__members__)}, or SICONOS_ followed by {', '.join(SOLVERS)}; repeat it to compare (default: AUTO)",
    )  # fmt: skip
    words.add_argument("--tolerance", type=float, default=1e-8, help="of residual and natural map (default: 1E-8)")
    words.add_argument("--maxiter", type=int, help="iterations allowed to the solver")
    words.add_argument("--threads", type=int, help="default: all cores")
    return words


def main(words: list[str]) -> int:
    """Run the sub-command; return 0 if every problem was solved, 1 if not, 2 if the command line is wrong."""
    try:
        arguments = parser().parse_args(words)
    except SystemExit as request:
        return int(request.code or 0)
    if not (math.isfinite(arguments.tolerance) and arguments.tolerance > 0.0) or (arguments.maxiter or 1) < 1:
        print("solfec fclib: --tolerance and --maxiter must be positive", file=sys.stderr)
        return 2
    if arguments.threads:
        from .. import _kernels

        _kernels.threads.set_threads(arguments.threads)
    status = 0
    print(HEADER)
    for path in arguments.files:
        try:
            problem = fclib.read(path)
        except SolfecError as error:
            print(f"solfec fclib: {error}", file=sys.stderr)
            status = 1
            continue
        for solver in arguments.solver or ["AUTO"]:
            try:
                text, fault = solved(problem, solver, arguments.tolerance, arguments.maxiter)
            except SolfecError as error:
                text, fault = "", str(error)
            if text:
                print(text, flush=True)
            if fault:
                status = 1
                print(f"solfec fclib: {problem.name}: {fault}", file=sys.stderr)
    return status


def solved(problem: ContactProblem, solver: str, tolerance: float, maxiter: int | None) -> tuple[str, str]:
    """Return a line of the table, and why the problem counts as unsolved, or ''."""
    if solver.startswith("SICONOS_"):
        found = siconos.solve_problem(problem, solver.removeprefix("SICONOS_"), tolerance, maxiter or 20000)
        fault = "" if found.status == "OK" else "Siconos did not reach the tolerance, by its own measure or by ours"
        return line(problem, solver, found, found.iterations, found.seconds), fault
    start = perf_counter()
    solution = contact_problem.solve(problem, tolerance, Method[solver], maxiter)
    seconds = perf_counter() - start
    fault = "" if solution.status == "OK" else explain(solution)
    return line(problem, solver, solution, solution.total_iterations, seconds), fault


def line(problem: ContactProblem, solver: str, solution, iterations: int, seconds: float) -> str:
    """Return one line of the table."""
    return (
        f"{problem.name[:32]:32} {problem.n:8} {solver:>14} {solution.status:>10} {iterations:10}"
        f" {solution.residual:9.1E} {solution.natural_map:9.1E} {1e3 * seconds:7.2f} ms"
    )


def explain(solution: Solution) -> str:
    """Return why a problem counts as unsolved."""
    text = f"{solution.unsolved} of {solution.islands} independent groups of contacts not solved"
    if solution.status == "NOT_FINITE":
        return f"{text}: numbers ran out of range"
    if solution.status == "NO_SOLUTION":
        return f"{text}: reactions grow without end, since W has no answer to q"
    return f"{text}; where q is outside of the range of W there may be no solution"
