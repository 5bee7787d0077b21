"""The contact problem without bodies: u = W r + q with every reaction in its cone, and the solvers for it.

This problem remains of a time step when W, B and the laws are known; FCLIB files hold such problems.  Components are in the
program's order (tangent 1, tangent 2, normal); r and u are in the reduced form, which includes cohesion and restitution.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from operator import is_

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..kinds import Cone  # noqa: F401  # known here, too
from ..tables import Record, opened, pointers_of

_solve_islands = _kernels.automatic_solver.solve_islands
_sum_up_islands = _kernels.automatic_solver.sum_up_islands


class Method(IntEnum):
    """Solvers of the contact problem."""

    AUTO = 0
    GAUSS_SEIDEL = 1
    ANDERSON = 2
    ADMM = 3
    NEWTON = 4
    APGD = 5
    INTERIOR_POINT = 6


METHODS = ("NONE", *(method.name for method in Method if method), "DIRECT")  # what has solved an island, by the kernel's number
DIRECT = METHODS.index("DIRECT")  # rows that are eliminated before the others are solved
NO_OPERATORS = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros((3, 3, 1), order="F"), 1
STATUS = ("OK", "DIVERGED", "NO_SOLUTION", "NOT_FINITE")
MAXITER = {Method.NEWTON: 200, Method.INTERIOR_POINT: 200, Method.ADMM: 5000, Method.APGD: 20000}


@dataclass
class ContactProblem:
    """Block-CSR W, free velocity q and friction; components in the order (T1, T2, N).

    Attributes
    ----------
    row_ptr : (n + 1,) int32
        First off-diagonal block of every row.
    column : (blocks,) int32
        Columns of off-diagonal blocks; the pattern is symmetric.
    off_diagonal, diagonal : (3, 3, blocks), (3, 3, n) float64
        Blocks of W [velocity per reaction], which need not be symmetric.
    q : (3, n) float64
        Free velocity.
    friction : (n,) float64
    kind : (n,) int32
        `Cone` of every row.
    """

    row_ptr: np.ndarray
    column: np.ndarray
    off_diagonal: np.ndarray
    diagonal: np.ndarray
    q: np.ndarray
    friction: np.ndarray
    kind: np.ndarray | None = None
    name: str = ""
    block: np.ndarray = field(init=False, repr=False)

    def __post_init__(self):
        self.row_ptr = np.ascontiguousarray(self.row_ptr, np.int32)
        self.column = np.ascontiguousarray(self.column, np.int32)
        self.off_diagonal = np.asfortranarray(self.off_diagonal, float)
        self.diagonal = np.asfortranarray(self.diagonal, float)
        self.q = np.asfortranarray(self.q, float)
        self.friction = np.ascontiguousarray(self.friction, float)
        self.kind = np.zeros(self.n, np.int32) if self.kind is None else np.ascontiguousarray(self.kind, np.int32)
        for values in (self.off_diagonal, self.diagonal, self.q, self.friction):
            if not np.isfinite(values).all():
                raise SolfecError(f"contact problem {self.name}: W, q and friction must be finite")
        if not self.column.size:  # kernels take no empty arrays
            self.column, self.off_diagonal = np.zeros(1, np.int32), np.zeros((3, 3, 1), order="F")
        self.block = np.zeros((16, self.n), order="F")
        failed = _kernels.automatic_solver.prepare_contacts(self.n, self.diagonal, self.friction, self.block)
        if failed >= 0:
            raise SolfecError(f"contact problem {self.name}: the diagonal block of W of contact {failed} is not positive")

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.q.shape[1]

    def matrix(self):
        """Return W as a scipy block-sparse matrix (3 n, 3 n), components in the order (T1, T2, N)."""
        from scipy.sparse import bsr_array

        n = self.n
        row = np.repeat(np.arange(n), np.diff(self.row_ptr))
        rows = np.concatenate([row, np.arange(n)])
        columns = np.concatenate([self.column[: row.size], np.arange(n)])
        blocks = np.concatenate([self.off_diagonal[..., : row.size].transpose(2, 0, 1), self.diagonal.transpose(2, 0, 1)])
        order = np.lexsort((columns, rows))
        pointers = pointers_of(np.bincount(rows, minlength=n))
        return bsr_array((blocks[order], columns[order], pointers), shape=(3 * n, 3 * n))


def from_matrix(matrix, q, friction, name: str = "", kind=None) -> ContactProblem:
    """Make a contact problem from a sparse W (3 n, 3 n) and q (3 n,) in the order (T1, T2, N); `kind`: cones of the rows."""
    from scipy.sparse import csr_array

    matrix = csr_array(matrix)
    n = len(friction)
    if matrix.shape != (3 * n, 3 * n) or np.size(q) != 3 * n:
        raise SolfecError(f"contact problem {name}: {n} contacts need W of {3 * n} rows, not {matrix.shape}")
    blocks = matrix.tobsr((3, 3))
    # solvers need a symmetric pattern: a block without its mirror image gets a zero one
    row = np.repeat(np.arange(n), np.diff(blocks.indptr))
    keys, where = np.unique(
        np.concatenate([row * n + blocks.indices, blocks.indices * n + row, np.arange(n) * (n + 1)]), return_inverse=True
    )
    full = np.zeros((keys.size, 3, 3))
    full[where[: row.size]] = blocks.data
    rows, columns = np.divmod(keys, n)
    on = rows == columns
    pointers = pointers_of(np.bincount(rows[~on], minlength=n))
    q = np.reshape(np.asarray(q, float), (n, 3)).T
    return ContactProblem(
        pointers, columns[~on], full[~on].transpose(1, 2, 0), full[on].transpose(1, 2, 0), q, friction, kind, name
    )


COUNTS = ("sweeps", "admm", "newton", "gradient", "interior", "alternations")


def status_and_iterations(counts: np.ndarray) -> tuple[str, int]:
    """Return the status of all islands together, and the sum over the kinds of iterations of the largest number of any island."""
    status, iterations = _sum_up_islands(counts)
    return STATUS[status], iterations


class SolvedIslands:
    """Methods and iterations of a solution, from `counts` (8, islands) int32 of its islands (`Islands.solve`)."""

    counts: np.ndarray

    @property
    def iterations(self) -> dict[str, int]:
        """Largest numbers, over the islands, of sweeps, ADMM iterations, Newton, gradient and interior point steps, and alternations."""
        return dict(zip(COUNTS, self.counts[2:].max(axis=1, initial=0).tolist(), strict=True))

    @property
    def methods(self) -> dict[str, int]:
        """Number of islands by the `Method` that solved them; 'NONE': the start was accurate enough."""
        numbers = np.bincount(self.counts[0], minlength=len(METHODS)).tolist()
        return {name: number for name, number in zip(METHODS, numbers, strict=True) if number}


@dataclass
class Solution(SolvedIslands):
    """Reactions of a contact problem, their accuracy, and the methods and iterations that found them.

    Attributes
    ----------
    r, u : (3, n) float64
        Reactions and velocities in the reduced form.
    residual : float
        Norm of (r - P(r - rho F))/rho over rows, in velocity units, over the norm of q.
    natural_map : float
        Norm of the unscaled natural map r - P(r - F), over the norm of q.
    counts : (8, islands) int32
        Method, status and iterations of every independent group of rows (`Islands.solve`).
    """

    r: np.ndarray
    u: np.ndarray
    residual: float
    natural_map: float
    counts: np.ndarray

    @property
    def status(self) -> str:
        """'OK', 'DIVERGED' (no method reached the tolerance; there may be no solution), 'NO_SOLUTION' (no method reached it, and reactions grow without bound against loads that they cannot balance) or 'NOT_FINITE'."""
        return status_and_iterations(self.counts)[0]

    @property
    def total_iterations(self) -> int:
        """Sum over the kinds of iterations of the largest number of any island."""
        return status_and_iterations(self.counts)[1]

    @property
    def islands(self) -> int:
        """Number of independent groups of rows."""
        return self.counts.shape[1]

    @property
    def unsolved(self) -> int:
        """Number of those that were not solved."""
        return int((self.counts[1] > 0).sum())


def solve(
    problem: ContactProblem,
    tolerance: float = 1e-8,
    method: Method = Method.AUTO,
    maxiter: int | None = None,
    window: int = 5,
    unscaled: bool = True,
    start: np.ndarray | None = None,
) -> Solution:
    """Solve a contact problem island by island.

    Parameters
    ----------
    tolerance : float
        Largest residual and, with `unscaled`, largest natural map, both over the norm of q.
    maxiter : int, optional
        Largest number of iterations of the chosen method; for AUTO, of the sweeps that come first.
    window : int
        Columns of Anderson acceleration.
    start : (3, n) float64, optional
        Reactions to start from.
    """
    n = problem.n
    if maxiter is None:
        maxiter = MAXITER.get(method, 2000 if method == Method.AUTO else 20000)
    r = np.zeros((3, n), order="F") if start is None else np.array(start, float, order="F")
    u = np.zeros((3, n), order="F")
    if not n:
        return Solution(r, u, 0.0, 0.0, np.zeros((8, 0), np.int32))
    matrix = problem.diagonal, problem.q, problem.row_ptr, problem.column, problem.off_diagonal
    block = problem.block.copy(order="F")  # sweeps store first guesses there, but a solution must depend on the problem alone
    size = norm(problem.q) or 1.0
    counts = Islands().solve(n, problem.kind, block, matrix, method, unscaled, tolerance, maxiter, window, r, size)
    scaled, natural = _kernels.automatic_solver.measure_problem(n, problem.kind, problem.block, *matrix, r, u)
    return Solution(r, u, scaled / size, natural / size, counts)


def norm(values: np.ndarray) -> float:
    """Return the Euclidean norm of all entries; infinite, without a warning, if squares overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(values))


class ConeRows(Record):
    """Rows and islands of one problem, and options of its solution, for the kernel."""

    COLUMNS = {
        "kind": ((), "i4"),  # Cone
        "block": ((16,), "f8"),  # numbers of contacts (fortran/rows/diagonal_block.f90)
        "diagonal": ((3, 3), "f8"),
        "free": ((3,), "f8"),  # q, in the reduced form
        "row_ptr": ((), "i4"),  # first off-diagonal block of every row
        "column": ((), "i4"),  # of off-diagonal blocks
        "off_diagonal": ((3, 3), "f8"),
        "driving": ((), "i4"),  # 1: the row drives an obstacle
        "speed": ((), "f8"),  # size of the velocities of which q is the sum, for its round-off
        "first_entry": ((), "i4"),  # of every row among its operators
        "triple": ((), "i4"),  # of entries: velocity triple
        "entry": ((3, 3), "f8"),  # H' with W_ab = sum of H'_a H'_b^T
        "reaction": ((3,), "f8"),  # initial guess and solution
        "island_ptr": ((), "i4"),  # of islands: where their rows begin
        "island_row": ((), "i4"),  # rows of islands, ascending within each
        "local": ((), "i4"),  # work space over rows
        "local_triple": ((), "i4"),  # and over velocity triples
        "counts": ((8,), "i4"),  # of islands: method, status, iterations of each kind
    }
    NUMBERS = {
        "operators": "i4",  # 0: none are known; 1: W is the sum of their products; 2: the same, except that diagonal blocks may be larger
        "method": "i4",  # Method
        "unscaled": "i4",  # 1: the unscaled natural map must be as small as the residual
        "tolerance": "f8",  # of the residual, relative to the norm of q
        "maxiter": "i4",  # largest number of iterations of each method
        "window": "i4",  # columns of Anderson acceleration
    }


GIVEN = tuple(ConeRows.COLUMNS)[:13]  # columns that are given with a problem


class Islands:
    """Work space and islands of one problem.

    Parameters
    ----------
    split : bool
        Solve independent groups of rows separately; otherwise all rows together.
    """

    def __init__(self, split: bool = True):
        self.split = split
        self._rows = ConeRows()
        self._given = (None,) * len(GIVEN)
        self._last = None, 0, 0  # counts of the last solution, their worst status and the sum of iterations

    def solve(
        self, n, kind, block, matrix, method, unscaled, tolerance, maxiter, window, reactions, size, operators=None, yields=False,
        driving=None, driven_size=1.0, speed=None, total=None,
    ) -> np.ndarray:  # fmt: skip
        """Solve n rows of (diagonal, q, row_ptr, column, off_diagonal); return counts (8, islands): method, status, iterations of each kind.

        The counts stand until the next solution.  The tolerance is relative to `size`, the norm of q.  `operators` are the operators H' of rows, W_ab = sum H'_a H'_b^T
        (first entry of every row, triple and block of every entry); with them large islands can be factorised by bodies.  If W
        `yields`, its diagonal blocks may be larger than that sum.  For islands of rows that are `driving` obstacles, (n,) int32, the
        tolerance is relative to `driven_size`, and for mixed islands to the smaller size.  These n are some of `total` rows to which tolerances refer.  No island is solved beyond the round-off of q, a sum of velocities of the size `speed`, (n,).
        """
        diagonal, q, row_ptr, column, off_diagonal = matrix
        first_entry, triple, entry, triples = operators or NO_OPERATORS
        rows = self._rows
        driving = np.zeros_like(kind) if driving is None else driving
        speed = np.zeros(kind.size) if speed is None else speed
        given = kind, block, diagonal, q, row_ptr, column, off_diagonal, driving, speed, first_entry, triple, entry, reactions
        if rows.local_triple.size < triples:
            rows.local_triple = np.zeros(triples, np.int32)
        if not all(map(is_, given, self._given)):  # steps of one model mostly give the same arrays
            self._make_room(kind.size, row_ptr.size)
            rows.replace(**dict(zip(GIVEN, given, strict=True)))
            self._given = given
        rows.choose(0 if operators is None else 2 if yields else 1, method, unscaled, tolerance, maxiter, window)
        count, worst, iterations, status = _solve_islands(rows.handle, n, self.split, size, driven_size, n if total is None else total)
        opened(status)
        counts = rows.counts[:, :count]
        self._last = counts, worst, iterations
        return counts

    def status_and_iterations(self, counts: np.ndarray) -> tuple[str, int]:
        """Return what `status_and_iterations` returns; of the counts of the last solution it is known already."""
        last, worst, iterations = self._last
        return (STATUS[worst], iterations) if counts is last else status_and_iterations(counts)

    def _make_room(self, rows: int, pointers: int) -> None:
        """Allocate work space for numbers of rows and pointers."""
        work = self._rows
        if work.local.size != rows:
            work.replace(island_row=np.zeros(rows, np.int32), local=np.zeros(rows, np.int32), counts=np.zeros((8, rows), np.int32, order="F"))
        if work.island_ptr.size != pointers:
            work.island_ptr = np.zeros(pointers, np.int32)
