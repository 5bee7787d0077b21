"""`solfec fclib FILE...`: solve contact problems in FCLIB files and print a table."""

from __future__ import annotations

import argparse
import math
import sys
from time import perf_counter

import numpy as np

from ..errors import SolfecError
from . import contact_problem, fclib, siconos
from .contact_problem import ContactProblem, Method, Solution
from .siconos_library import EVERY, SOLVERS

HEADER = f"{'problem':32} {'contacts':>8} {'solver':>22} {'status':>10} {'iterations':>10} {'residual':>9} {'map':>9} {'time':>10} {'differ':>8}"
ALL = "SICONOS_EVERY"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the sub-command's arguments."""
    words = argparse.ArgumentParser(
        prog="solfec fclib", description="Solve contact problems in FCLIB files (HDF5) and print a table."
    )
    words.add_argument("files", nargs="+", metavar="FILE")
    words.add_argument(
        "--solver", action="append", choices=[*Method.__members__, *(f"SICONOS_{name}" for name in EVERY), ALL], metavar="SOLVER",
        help=f"{', '.join(Method.__members__)}, or SICONOS_ followed by {', '.join(SOLVERS)}; SICONOS_EVERY: all that the library has; repeat it to compare:"
        " velocities are compared with those of the first one that reaches the tolerance (default: AUTO)",
    )  # fmt: skip
    words.add_argument("--tolerance", type=float, default=1e-8, help="of residual and natural map (default: 1E-8)")
    words.add_argument("--maxiter", type=int, help="iterations allowed to the solver")
    words.add_argument("--patience", type=float, help="seconds after which a solution by Siconos is broken off (default: none)")
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
        reference = None
        for solver in expanded(arguments.solver or ["AUTO"]):
            try:
                text, fault, velocities = solved(problem, solver, arguments.tolerance, arguments.maxiter, arguments.patience)
            except SolfecError as error:
                text, fault, velocities = f"{problem.name[:32]:32} {problem.n:8} {solver:>22} {'FAILED':>10}", str(error), None
            if reference is not None and velocities is not None:
                text += f" {difference(problem, velocities, reference):8.1E}"
            elif velocities is not None and not fault:
                reference = velocities
            print(text, flush=True)
            if fault:
                status = 1
                print(f"solfec fclib: {problem.name}: {fault}", file=sys.stderr)
    return status


def expanded(solvers: list[str]) -> list[str]:
    """Return solvers in which SICONOS_EVERY is replaced by all that the library has."""
    return [name for solver in solvers for name in ([f"SICONOS_{other}" for other in EVERY] if solver == ALL else [solver])]


def difference(problem: ContactProblem, one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of velocities (3, n) of a contact, over the root mean square of free velocities."""
    return float(np.linalg.norm(one - other, axis=0).max(initial=0.0) / (np.sqrt((problem.q**2).sum(axis=0).mean()) or 1.0))


def solved(problem: ContactProblem, solver: str, tolerance: float, maxiter: int | None, patience: float | None = None) -> tuple[str, str, np.ndarray]:
    """Return a line of the table, why the problem counts as unsolved, or '', and velocities."""
    if solver.startswith("SICONOS_"):
        found = siconos.solve_problem(problem, solver.removeprefix("SICONOS_"), tolerance, maxiter or 20000, patience=patience)
        fault = "" if found.status == "OK" else f"{solver}: {doubt(found, tolerance)}"
        return line(problem, solver, found, found.iterations, found.seconds), fault, found.u
    start = perf_counter()
    solution = contact_problem.solve(problem, tolerance, Method[solver], maxiter)
    seconds = perf_counter() - start
    fault = "" if solution.status == "OK" else explain(solution)
    return line(problem, solver, solution, solution.total_iterations, seconds), fault, solution.u


def doubt(found: siconos.Outcome, tolerance: float) -> str:
    """Return what is wrong with a solution of Siconos: its own claim, or that it is none by our measures."""
    worst = max(found.residual, found.natural_map)
    if found.code == 0:
        return f"Siconos claims an error of {found.error:.1E}, and the residual is {worst:.1E}, above {tolerance:g}"
    return f"Siconos ended with code {found.code} after {found.iterations} iterations, by its own measure at {found.error:.1E}"


def line(problem: ContactProblem, solver: str, solution, iterations: int, seconds: float) -> str:
    """Return one line of the table."""
    return (
        f"{problem.name[:32]:32} {problem.n:8} {solver:>22} {solution.status:>10} {iterations:10}"
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
