"""SICONOS_SOLVER: solution of contacts by Siconos' library (docs/language-objects.md, SICONOS_SOLVER)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..kinds import ROW_FAMILIES, Cone
from . import merit, parameters, siconos_process
from .constraint_solver import ConstraintSolver
from .contact_problem import ContactProblem, norm
from .gauss_seidel import GaussSeidelSolver
from .local_dynamics import LocalDynamics, RowKind
from .reduced_rows import ReducedRows
from .report import SolverReport
from .siconos_library import SOLVERS

FRICTION = 4  # place in the law data of a contact
CONES = tuple(kind for kind, family in ROW_FAMILIES.items() if family.plain_contact and kind != RowKind.OPEN)
MOST_ALTERNATIONS = 200


class SiconosSolver(ConstraintSolver):
    """Solver that alternates between contacts, solved by Siconos, and other constraints, solved by Gauss-Seidel.

    Parameters
    ----------
    epsilon : float
        Natural map of the contacts, over the norm of their free velocity, at which Siconos ends.
    maxiter : int
        Largest number of Siconos' iterations.
    verbose : bool
        Whether Siconos prints its iterations.
    solver : str
        One of `siconos_library.SOLVERS`.

    Attributes
    ----------
    error : str
        Outcome of the last solution: 'OK', or 'DIVERGED' when Siconos, or the alternation, did not reach its accuracy.
    iters : int
        Iterations of Siconos in the last solution, summed over the alternations.
    alternations : int
        Number of solutions of the contacts in the last solution.
    """

    stored_form = True  # Siconos needs the blocks of W

    SETTINGS = ("epsilon", "maxiter", "verbose", "solver")  # kept with results

    def __init__(self, epsilon: float = 1e-4, maxiter: int = 1000, verbose: bool = False, solver: str = "NSGS"):
        parameters.positive(epsilon=epsilon, maxiter=maxiter)
        parameters.one_of(SOLVERS, solver=solver)
        self.epsilon = float(epsilon)
        self.maxiter = int(maxiter)
        self.verbose = bool(verbose)
        self.solver = solver
        self.error = "OK"
        self.iters = 0
        self.alternations = 0
        self._others = GaussSeidelSolver(1e-9, 1000, diagepsilon=1e-12, diagmaxiter=100)

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Solve for the reactions of assembled local dynamics; R and U are left in `local.rows`.

        Raises
        ------
        SolfecError
            Siconos is not installed or ended its process; a number in W, B or friction is not finite; a contact follows a law of its own.
        """
        rows, n = local.rows, local.n
        kind = rows.kind[:n]
        local.refuse_other_laws("SICONOS_SOLVER")
        local.require_blocks()
        start = rows.R[:, :n].copy()
        self.iters = self.alternations = 0
        converged = self._solved(local, np.flatnonzero(np.isin(kind, CONES)))
        if not np.isfinite(rows.R[:, :n]).all():
            rows.R[:, :n] = start
            converged = False
        found = self._others.conclude(local)
        self.error = "OK" if converged and math.isfinite(found.residual) else "DIVERGED"
        return SolverReport(self.iters, math.nan, found.merit, found.residual, self.error, solver="SICONOS")

    def _solved(self, local: LocalDynamics, cones: np.ndarray) -> bool:
        """Solve other rows and contacts alternately, in `local.rows.R`, until the laws of both hold."""
        rows, n, contacts = local.rows, local.n, local.contacts
        size, counted = local.free_size(), contacts + np.flatnonzero(rows.driving[contacts:n] == 0)
        problem = _Contacts(local, cones) if cones.size else None
        for _ in range(MOST_ALTERNATIONS):
            solved = n == contacts or self._others.sweep(local, contacts, False).status == "OK"
            if problem is None:
                return solved
            code = self._contacts(problem)
            if code or not solved or n == contacts:
                return code == 0 and solved
            local.velocities(rows.U)
            merit.evaluate(local)
            if norm(rows.residual[counted]) <= self.epsilon * size:
                return True
        return False

    def _contacts(self, problem: _Contacts) -> int:
        """Compute reactions of the contacts with those of other rows fixed; return the library's code."""
        q, start = problem.right_side()
        reactions, code, iterations, _, _ = _call(
            problem.matrix, problem.scale, q, problem.friction, start, self.solver, self.epsilon, self.maxiter, self.verbose
        )
        problem.take(reactions)
        self.iters += iterations
        self.alternations += 1
        return code


class _Contacts:
    """The contacts of a step as a separate problem, W in the order of Siconos."""

    def __init__(self, local: LocalDynamics, cones: np.ndarray):
        rows, n = local.rows, local.n
        self.local, self.cones = local, cones
        form = ReducedRows(local)
        self.free, self.cohesion = form.q, form.cohesion[: local.n]
        self.friction = rows.law[FRICTION, cones].copy()
        number = np.full(n, -1)
        number[cones] = np.arange(cones.size)
        count = int(rows.block_ptr[n])
        row = np.repeat(np.arange(n), np.diff(rows.block_ptr[: n + 1]))
        column, block = local.blocks.column[:count], local.blocks.block[..., :count]
        inner = (number[row] >= 0) & (number[column] >= 0)
        self._check()
        diagonal = rows.diagonal[..., cones]
        self.scale = mean_entry(diagonal)
        self.matrix = compressed(number[row[inner]], number[column[inner]], block[..., inner], diagonal, self.scale)

    def right_side(self) -> tuple[np.ndarray, np.ndarray]:
        """Return free velocities, which include the reactions of other constraints, and reactions to start from, both (3, n)."""
        rows, cones = self.local.rows, self.cones
        kept = rows.R[:, cones].copy()
        rows.R[:, cones] = 0.0
        free = self.local.velocities(rows.U)[:, cones] - rows.B[:, cones] + self.free[:, cones]
        rows.R[:, cones] = kept
        kept[2] += self.cohesion[cones]
        return free, kept

    def take(self, reactions: np.ndarray) -> None:
        """Store the reactions from Siconos."""
        reactions[2] -= self.cohesion[self.cones]
        self.local.rows.R[:, self.cones] = reactions

    def _check(self) -> None:
        """Raise an error that names numbers that are not finite, over which the library would end its process."""
        rows = self.local.rows
        bad = ~np.isfinite(self.free[:, self.cones]).all(axis=0) | ~np.isfinite(rows.diagonal[..., self.cones]).all(axis=(0, 1))
        if bad.any():
            where = self.local.name(int(self.cones[np.argmax(bad)]))
            raise SolfecError(f"SICONOS_SOLVER: {where} has a free velocity or a W that is not finite")


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
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return pointers.astype(np.uint64), columns[order].astype(np.uint64), flat[order] / scale


def _call(
    matrix, scale: float, q, friction, start, solver: str, tolerance: float, maxiter: int, verbose: bool = False, size=None
):
    """Call Siconos with velocities of size one and W / scale, because its error measure adds velocities and reactions.

    q and start are (3, n), in the order (T1, T2, N).  Returns reactions in the same form, the library's code,
    iterations, error and seconds.
    """
    n = q.shape[1]
    size = size or norm(q) / math.sqrt(n) or 1.0
    found, *rest = siconos_process.running().solve(
        *matrix, q.T[:, ::-1] / size, friction, start.T[:, ::-1] * (scale / size), solver, tolerance, maxiter, verbose
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
    """

    r: np.ndarray
    u: np.ndarray
    residual: float
    natural_map: float
    status: str
    iterations: int
    error: float
    seconds: float


def solve_problem(problem: ContactProblem, solver: str, tolerance: float, maxiter: int = 20000, scaled: bool = True) -> Outcome:
    """Solve a contact problem without bodies, whose rows must all be contacts, starting from zero.

    The library's measure can be weaker than residual and natural map.  If either is above the tolerance, the library solves
    again from zero, with a tolerance smaller by the missing factor.  With `scaled` off it gets W and q unscaled.
    """
    n = problem.n
    if (problem.kind != Cone.CONTACT).any():
        raise SolfecError(f"contact problem {problem.name}: Siconos solves contacts only; the problem has other constraints")
    row = np.repeat(np.arange(n), np.diff(problem.row_ptr))
    scale, size = (mean_entry(problem.diagonal), None) if scaled else (1.0, 1.0)
    matrix = compressed(row, problem.column[: row.size], problem.off_diagonal[..., : row.size], problem.diagonal, scale)
    accuracy = tolerance
    for _ in range(2):
        found, code, iterations, error, seconds = _call(
            matrix, scale, problem.q, problem.friction, np.zeros_like(problem.q), solver, accuracy, maxiter, size=size
        )
        r, u = np.asfortranarray(found), np.zeros((3, n), order="F")
        residual, natural = _measured(problem, r, u)
        worst = max(residual, natural)
        if code or worst <= tolerance or not math.isfinite(worst):
            break
        accuracy *= 0.5 * tolerance / worst
    status = "OK" if code == 0 and worst <= tolerance else "DIVERGED"
    return Outcome(r, u, residual, natural, status, iterations, error, seconds)


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
