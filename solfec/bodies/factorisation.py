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
SHORT = 40.0  # weighted mean length of a factor's columns up to which our kernel is as fast as CHOLMOD (benchmarks/factorisation.py)
LANES, GROUPS = 16, 8  # that our kernel solves for together, and groups of these at once

_solve_columns = _kernels.factor_columns.solve_columns
_solve_vector = _kernels.factor_columns.solve_vector
_factorise = _kernels.sparse_cholesky.factorise


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


def are_short(lengths: np.ndarray) -> bool:
    """Whether a factor's columns are so short that our kernels are as fast as a library's."""
    lengths = lengths.astype(float)
    return bool((lengths**2).sum() <= SHORT * lengths.sum())


class Columns:
    """Solutions by kernels with a factor L, L L^T = A [order, order].

    Parameters
    ----------
    head, row : ndarray of int
        Compressed columns of L, rows ascending.
    value : ndarray
    order : ndarray of int

    Attributes
    ----------
    arrays : tuple of ndarray
        The factor, as kernels take it.
    vector : ndarray (size,)
        Their room for one right-hand side.
    short : bool
        Whether a library would be no faster with one right-hand side.
    """

    def __init__(self, head: np.ndarray, row: np.ndarray, value: np.ndarray, order: np.ndarray):
        size, counts = len(head) - 1, np.diff(head)
        # a column goes with the one before it when that has the same rows, and this one's diagonal
        joined = (counts[1:] == counts[:-1] - 1) & (row[np.minimum(head[:-2] + 1, len(row) - 1)] == np.arange(1, size))
        supernodes = np.concatenate(([0], np.flatnonzero(~joined) + 1, [size])).astype(np.int32)
        self.arrays = head.astype(np.int32), row.astype(np.int32), value, supernodes, order.astype(np.int32)
        self.vector = np.zeros(size)
        self.short = are_short(counts)

    def room(self, count: int) -> np.ndarray:
        """What the kernel needs to solve for so many right-hand sides."""
        return np.zeros((LANES, len(self.vector), min(GROUPS, -(-count // LANES))), order="F")

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times a vector or columns."""
        if right.ndim == 1:
            solved = np.empty(len(right))
            _solve_vector(*self.arrays, self.vector, right, solved)
            return solved
        result = np.array(right, order="F")
        _solve_columns(right.shape[1], *self.arrays, self.room(right.shape[1]), result)
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
        self.vector = self.solved = np.asarray(memoryview(self._right)).ravel(order="F")  # the same memory

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
            return self.columns().solve(right)
        solution = self._matrix(np.asfortranarray(right))
        self._cholmod.solve(self._factor, solution)
        return np.array(solution).reshape(right.shape, order="F") if right.ndim > 1 else np.array(solution).ravel()

    def columns(self) -> Columns:
        """The factor itself."""
        self._columns = self._columns or self._taken_out()
        return self._columns

    def _taken_out(self) -> Columns:
        """The factor of a second factorisation in the same order, since CHOLMOD gives its own away."""
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
        self.vector, self.solved = np.zeros((2, pattern.size))

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
            columns = self.columns()
            if columns:
                return columns.solve(right)
        return self._factor.solve(right)

    def columns(self) -> Columns | None:
        """The factor itself, if it can be had."""
        self._columns = self._columns or self._taken_out()
        return self._columns

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
        """A^-1 times what is in `vector` (size,), in memory that the next solution takes."""
        self.solved[:] = self._factor.solve(self.vector)
        return self.solved


class ShortCholesky:
    """Factors by our own kernel, of a pattern that a library has found: for matrices of many small bodies.

    Attributes
    ----------
    kept : Columns
        The factor.
    vector, solved : ndarray (size,)
        Right-hand side and solution of `solve_vector`.
    """

    WORTH = 16

    def __init__(self, pattern: LowerPattern, columns: Columns):
        self.kept = columns
        head, row, _, supernodes, order = columns.arrays
        size = pattern.size
        self.vector, self.solved, work = np.zeros((3, size))
        place = np.empty(size, np.int64)
        place[order] = np.arange(size)
        one, two = place[pattern.indices], place[np.repeat(np.arange(size), np.diff(pattern.indptr))]
        wanted = np.minimum(one, two) * size + np.maximum(one, two)
        listed = np.repeat(np.arange(size), np.diff(head)) * size + row
        self._source = np.full(len(row), -1, np.int32)
        self._source[np.searchsorted(listed, wanted)] = np.arange(len(wanted))
        self._work = work, np.zeros(size, np.int32), *np.zeros((2, len(supernodes)), np.int32)

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`."""
        head, row, value, supernodes, _ = self.kept.arrays
        if _factorise(self._source, data, head, row, value, supernodes, *self._work):
            raise NotPositiveDefinite

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times a vector or columns."""
        return self.kept.solve(right)

    @property
    def vector_arrays(self) -> tuple[np.ndarray, ...]:
        """Arguments of the kernel that solves for `vector`."""
        return *self.kept.arrays, self.kept.vector, self.vector, self.solved

    def solve_vector(self) -> np.ndarray:
        """A^-1 times what is in `vector` (size,), in memory that the next solution takes."""
        _solve_vector(*self.vector_arrays)
        return self.solved


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


def frequent_factorisation(pattern: LowerPattern):
    """The same of matrices that are factorised often: what is found out once costs more."""
    library = factorisation(pattern)
    columns = found_columns(pattern, library)
    if columns is None:
        return library
    return ShortCholesky(pattern, columns) if columns.short else library


def found_columns(pattern: LowerPattern, library) -> Columns | None:
    """The factor of some matrix of a pattern, as a library orders it."""
    columns = np.repeat(np.arange(pattern.size), np.diff(pattern.indptr))
    counts = np.bincount(columns, minlength=pattern.size) + np.bincount(pattern.indices, minlength=pattern.size)
    data = np.ones(len(columns))
    data[pattern.indices == columns] += counts
    library.factorise(data)
    return library.columns()
