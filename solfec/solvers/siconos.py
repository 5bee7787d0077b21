"""SICONOS_SOLVER: solution of contacts by Siconos' library (docs/language-objects.md, SICONOS_SOLVER)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..kinds import Cone
from ..tables import pointers_of
from . import parameters, siconos_process
from .contact_problem import ContactProblem, norm
from .contacts_only import Contacts, ContactsOnlySolver
from .siconos_library import SOLVERS

ATTEMPTS = 4  # with smaller tolerances


class SiconosSolver(ContactsOnlySolver):
    """Contacts by Siconos; other constraints are eliminated (`ContactsOnlySolver`).

    Parameters
    ----------
    epsilon : float
        Residual of the contacts to reach.  Siconos ends by a measure of its own; if the residual is more than twice as large, it goes on with a
        smaller tolerance.
    maxiter : int
        Largest number of Siconos' iterations.
    verbose : bool
        Whether Siconos prints its iterations.
    solver : str
        One of `siconos_library.SOLVERS`.
    """

    NAME = "SICONOS"
    SETTINGS = ("epsilon", "maxiter", "verbose", "solver")  # kept with results

    def __init__(self, epsilon: float = 1e-4, maxiter: int = 1000, verbose: bool = False, solver: str = "NSGS"):
        parameters.positive(epsilon=epsilon, maxiter=maxiter)
        parameters.one_of(SOLVERS, solver=solver)
        super().__init__(float(epsilon))
        self.maxiter = int(maxiter)
        self.verbose = bool(verbose)
        self.solver = solver

    def solve_contacts(self, problem: Contacts, accuracy: float) -> tuple[np.ndarray, bool, int]:
        """Call the library.

        Raises
        ------
        SolfecError
            Siconos is not installed or ended its process.
        """
        if problem.prepared is None:
            scale = mean_entry(problem.diagonal)
            problem.prepared = compressed(problem.row, problem.column, problem.off_diagonal, problem.diagonal, scale), scale
        q, start = problem.right_side()
        reactions, code, iterations, _, _ = _call(
            *problem.prepared, q, problem.friction, start, self.solver, accuracy, self.maxiter, self.verbose
        )
        return reactions, code == 0, iterations


def mean_entry(diagonal: np.ndarray) -> float:
    """Return the mean of the diagonal entries of blocks W_aa, (3, 3, n)."""
    return float(np.einsum("iik->", diagonal)) / (3 * diagonal.shape[2])


def compressed(row, column, off_diagonal, diagonal, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return blocks (3, 3, count) of a matrix and its diagonal, divided by `scale`, row by row, columns ascending, in the order (N, T2, T1).

    Returns
    -------
    row_ptr : (n + 1,), columns : (count + n,) uint64
    blocks : (count + n, 9) float64
        Each column by column.
    """
    n = diagonal.shape[2]
    rows, columns = np.concatenate([row, np.arange(n)]), np.concatenate([column, np.arange(n)])
    order = np.lexsort((columns, rows))
    blocks = np.concatenate([off_diagonal, diagonal], axis=2)
    flat = blocks.transpose(2, 1, 0).reshape(-1, 9)[:, ::-1]  # reversing both orders turns entries 1..9 into 9..1
    pointers = pointers_of(np.bincount(rows, minlength=n))
    return pointers.astype(np.uint64), columns[order].astype(np.uint64), flat[order] / scale


def _call(
    matrix, scale: float, q, friction, start, solver: str, tolerance: float, maxiter: int, verbose: bool = False, size=None, patience=None
):
    """Call Siconos with velocities of size one and W / scale, because its error measure adds velocities and reactions.

    q and start are (3, n), in the order (T1, T2, N).  Returns reactions in the same form, the library's code,
    iterations, error and seconds.
    """
    n = q.shape[1]
    size = size or norm(q) / math.sqrt(n) or 1.0
    found, *rest = siconos_process.running().solve(
        *matrix, q.T[:, ::-1] / size, friction, start.T[:, ::-1] * (scale / size), solver, tolerance, maxiter, verbose, patience=patience
    )
    return found[:, ::-1].T * (size / scale), *rest


@dataclass
class Outcome:
    """Siconos' solution of a contact problem.

    Attributes
    ----------
    r, u : (3, n) float64
        Reactions and velocities in the reduced form.
    residual, natural_map : float
        As for our own solvers (`contact_problem.Solution`), both over the norm of q.
    status : str
        'OK' if both are below the tolerance and the library reports success; otherwise 'DIVERGED'.
    iterations : int
    error : float
        The library's own measure.
    seconds : float
        Wall time of its driver alone.
    code : int
        That of the library, 0: it claims success.
    """

    r: np.ndarray
    u: np.ndarray
    residual: float
    natural_map: float
    status: str
    iterations: int
    error: float
    seconds: float
    code: int


def solve_problem(
    problem: ContactProblem, solver: str, tolerance: float, maxiter: int = 20000, scaled: bool = True, patience: float | None = None
) -> Outcome:
    """Solve a contact problem without bodies, whose rows must all be contacts, starting from zero.

    The library's measure can be weaker than residual and natural map.  If either is above the tolerance, the library solves
    again from zero, with a tolerance smaller by the missing factor, a few times.  With `scaled` off it gets W and q unscaled.
    """
    n = problem.n
    if (problem.kind != Cone.CONTACT).any():
        raise SolfecError(f"contact problem {problem.name}: Siconos solves contacts only; the problem has other constraints")
    row = np.repeat(np.arange(n), np.diff(problem.row_ptr))
    scale, size = (mean_entry(problem.diagonal), None) if scaled else (1.0, 1.0)
    matrix = compressed(row, problem.column[: row.size], problem.off_diagonal[..., : row.size], problem.diagonal, scale)
    accuracy = tolerance
    for _ in range(ATTEMPTS):
        found, code, iterations, error, seconds = _call(
            matrix, scale, problem.q, problem.friction, np.zeros_like(problem.q), solver, accuracy, maxiter, size=size, patience=patience
        )
        r, u = np.asfortranarray(found), np.zeros((3, n), order="F")
        residual, natural = _measured(problem, r, u)
        worst = max(residual, natural)
        if code or worst <= tolerance or not math.isfinite(worst):
            break
        accuracy *= 0.5 * tolerance / worst
    status = "OK" if code == 0 and worst <= tolerance else "DIVERGED"
    return Outcome(r, u, residual, natural, status, iterations, error, seconds, code)


def _measured(problem: ContactProblem, r: np.ndarray, u: np.ndarray) -> tuple[float, float]:
    """Return residual and natural map over the norm of q, infinite if reactions are not finite; write velocities into u."""
    if not np.isfinite(r).all():
        return math.inf, math.inf
    size = norm(problem.q) or 1.0
    scaled, natural = _kernels.automatic_solver.measure_problem(
        problem.n, problem.kind, problem.block, problem.diagonal, problem.q, problem.row_ptr, problem.column,
        problem.off_diagonal, r, u,
    )  # fmt: skip
    return scaled / size, natural / size
