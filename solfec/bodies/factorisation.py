"""Cholesky factors of sparse symmetric matrices whose pattern stays (used by `element_solver`).

CHOLMOD does the work where the optional package cvxopt is installed, SciPy's SuperLU elsewhere, and where a matrix turns
out not to be positive definite.  benchmarks/factorisation.py compares them; ARCHITECTURE.md says what it found.
"""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError


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
        self._right = matrix(0.0, (pattern.size, 1))
        self.vector = np.asarray(memoryview(self._right)).ravel(order="F")  # the same memory

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`."""
        self._lower.V = self._matrix(data)
        try:
            self._cholmod.numeric(self._lower, self._factor)
        except ArithmeticError as error:
            raise NotPositiveDefinite from error

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times a vector or columns."""
        solution = self._matrix(np.asfortranarray(right))
        self._cholmod.solve(self._factor, solution)
        return np.array(solution).reshape(right.shape, order="F") if right.ndim > 1 else np.array(solution).ravel()

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
        self.vector = np.zeros(pattern.size)

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`; SolfecError if it is singular."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        matrix = csc_matrix((data[self._repeated], self._indices, self._indptr), (self._size, self._size))
        try:
            self._factor = splu(matrix, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise SolfecError(f"scheme DEF_LIM: the matrix of finite element bodies is singular ({error})") from error

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times a vector or columns."""
        return self._factor.solve(right)

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
