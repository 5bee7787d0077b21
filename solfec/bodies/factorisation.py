"""Cholesky factors of sparse symmetric matrices whose pattern stays (used by `element_solver`).

CHOLMOD does the work where the optional package cvxopt is installed, SciPy's SuperLU elsewhere, and where a matrix turns
out not to be positive definite.  benchmarks/factorisation.py compares them; ARCHITECTURE.md says what it found.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..errors import SolfecError

MANY = 48  # right-hand sides for which the factor is taken out of the library: those solve for one at a time
PERMUTED = 7  # CHOLMOD's number of the permutation of a vector
LANES, GROUPS = 16, 8  # that our kernel solves for together, and groups of these at once

_solve_columns = _kernels.factor_columns.solve_columns


class NotPositiveDefinite(ArithmeticError):
    """The matrix has no Cholesky factor."""


class LowerPattern:
    """Places of the lower triangle of a symmetric matrix, column after column, rows ascending.

    Parameters
    ----------
    size : int
        Order of the matrix.
    indptr, indices : ndarray of int
        Compressed columns; the diagonal is part of them.
    """

    def __init__(self, size: int, indptr: np.ndarray, indices: np.ndarray):
        self.size, self.indptr, self.indices = size, indptr, indices

    def whole(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns of the whole matrix (indptr, indices), and for each entry the lower one that it repeats."""
        from scipy.sparse import csc_matrix  # slow to import

        numbers = np.arange(1, len(self.indices) + 1, dtype=float)
        lower = csc_matrix((numbers, self.indices, self.indptr), (self.size, self.size))
        diagonal = lower.diagonal()
        whole = (lower + lower.T).tocsc()
        whole.sort_indices()
        whole.setdiag(diagonal)
        return whole.indptr, whole.indices, whole.data.astype(np.int64) - 1


class Columns:
    """Solutions for many right-hand sides with a factor L, L L^T = A [order, order].

    Parameters
    ----------
    head, row : ndarray of int
        Compressed columns of L, rows ascending.
    value : ndarray
    order : ndarray of int
    """

    def __init__(self, head: np.ndarray, row: np.ndarray, value: np.ndarray, order: np.ndarray):
        size, counts = len(head) - 1, np.diff(head)
        # a column goes with the one before it when that has the same rows, and this one's diagonal
        joined = (counts[1:] == counts[:-1] - 1) & (row[np.minimum(head[:-2] + 1, len(row) - 1)] == np.arange(1, size))
        self._super = np.concatenate(([0], np.flatnonzero(~joined) + 1, [size])).astype(np.int32)
        self._head, self._row, self._value, self._order = head.astype(np.int32), row.astype(np.int32), value, order.astype(np.int32)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times columns (size, n)."""
        result = np.array(right, order="F")
        groups = min(GROUPS, -(-right.shape[1] // LANES))
        work = np.zeros((LANES, len(self._order), groups), order="F")
        _solve_columns(self._head, self._row, self._value, self._super, self._order, work, result)
        return result


class Cholmod:
    """Simplicial or supernodal factors by CHOLMOD, analysed once."""

    WORTH = 16  # solutions that cost as much as a factorisation (benchmarks/factorisation.py)

    def __init__(self, pattern: LowerPattern):
        from cvxopt import cholmod, matrix, spmatrix

        self._cholmod, self._matrix = cholmod, matrix
        columns = np.repeat(np.arange(pattern.size), np.diff(pattern.indptr))
        # values larger than zero, so that no entry of the pattern is dropped
        self._lower = spmatrix(1.0, pattern.indices.tolist(), columns.tolist(), (pattern.size, pattern.size))
        self._factor = cholmod.symbolic(self._lower)
        self._columns: Columns | None = None
        self._right = matrix(0.0, (pattern.size, 1))
        self.vector = np.asarray(memoryview(self._right)).ravel(order="F")  # the same memory

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`."""
        self._lower.V = self._matrix(data)
        self._columns = None
        try:
            self._cholmod.numeric(self._lower, self._factor)
        except ArithmeticError as error:
            raise NotPositiveDefinite from error

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times a vector or columns."""
        if right.ndim > 1 and right.shape[1] >= MANY:
            self._columns = self._columns or self._taken_out()
            return self._columns.solve(right)
        solution = self._matrix(np.asfortranarray(right))
        self._cholmod.solve(self._factor, solution)
        return np.array(solution).reshape(right.shape, order="F") if right.ndim > 1 else np.array(solution).ravel()

    def _taken_out(self) -> Columns:
        """The factor itself, of a second factorisation in the same order, since CHOLMOD gives its own away."""
        order = self._matrix(np.arange(len(self.vector), dtype=float))
        self._cholmod.solve(self._factor, order, sys=PERMUTED)
        order = np.array(order).ravel().astype(np.int64)
        twin = self._cholmod.symbolic(self._lower, self._matrix(order.tolist()))
        self._cholmod.numeric(self._lower, twin)
        head, row, value = (np.array(part).ravel() for part in self._cholmod.getfactor(twin).CCS)
        return Columns(head, row, value, order)

    def solve_vector(self) -> np.ndarray:
        """A^-1 times what is in `vector` (size,), in memory that the next solution takes."""
        self._cholmod.solve(self._factor, self._right)
        return self.vector


class SuperLU:
    """LU factors by SuperLU, which pivots where it must: any regular matrix."""

    WORTH = 75

    def __init__(self, pattern: LowerPattern):
        self._size = pattern.size
        self._indptr, self._indices, self._repeated = pattern.whole()
        self._columns: Columns | None = None
        self.vector = np.zeros(pattern.size)

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`; SolfecError if it is singular."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        matrix = csc_matrix((data[self._repeated], self._indices, self._indptr), (self._size, self._size))
        self._columns = None
        try:
            self._factor = splu(matrix, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise SolfecError(f"scheme DEF_LIM: the matrix of finite element bodies is singular ({error})") from error

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times a vector or columns."""
        if right.ndim > 1 and right.shape[1] >= MANY:
            self._columns = self._columns or self._taken_out()
            if self._columns:
                return self._columns.solve(right)
        return self._factor.solve(right)

    def _taken_out(self) -> Columns | None:
        """L D^1/2 of U = D L^T; None where SuperLU has exchanged rows or the matrix is not positive definite."""
        factor = self._factor
        pivots = factor.U.diagonal()
        if not (pivots > 0.0).all() or not np.array_equal(factor.perm_r, factor.perm_c):
            return None
        lower = factor.L.tocsc(copy=True)
        lower.sort_indices()
        value = lower.data * np.repeat(np.sqrt(pivots), np.diff(lower.indptr))
        return Columns(lower.indptr, lower.indices, value, np.argsort(factor.perm_c))

    def solve_vector(self) -> np.ndarray:
        """A^-1 times what is in `vector` (size,)."""
        return self._factor.solve(self.vector)


def cholmod_present() -> bool:
    """Whether CHOLMOD can be used."""
    try:
        from cvxopt import cholmod  # noqa: F401
    except ImportError:
        return False
    return True


def factorisation(pattern: LowerPattern):
    """The fastest factorisation at hand of symmetric positive definite matrices of this pattern."""
    return Cholmod(pattern) if cholmod_present() else SuperLU(pattern)
