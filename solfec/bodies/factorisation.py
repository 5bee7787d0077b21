"""Cholesky factors of sparse symmetric matrices with a constant pattern (used by `element_solver`).

A library finds the order of elimination, once: CHOLMOD if the optional package cvxopt is installed, else SciPy's SuperLU.
Kernels compute factors and solutions without Python; benchmarks/factorisation.py compares them with those of the libraries,
and ARCHITECTURE.md gives the figures.  SuperLU also factorises matrices that are not positive definite.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels, installed
from ..errors import SolfecError
from ..tables import Record, opened, pointers_of

PERMUTED = 7  # CHOLMOD's number of the permutation of a vector
WIDEST = 72  # columns of a panel
TILE = 8  # rows of a tile

_find_supernodes = _kernels.supernodes.find_supernodes
_factorise = _kernels.supernodal_cholesky.factorise
_solve_columns = _kernels.supernodal_solution.solve_columns
_solve_vector = _kernels.supernodal_solution.solve_vector


class NotPositiveDefinite(ArithmeticError):
    """The matrix has no Cholesky factor."""


class LowerPattern:
    """Pattern of the lower triangle of a symmetric matrix, column by column, rows ascending.

    Parameters
    ----------
    size : int
        Order of the matrix.
    indptr, indices : ndarray of int
        Compressed columns; the diagonal is part of them.
    width : int
        Rows and columns of one node; blocks of two nodes are full.
    """

    def __init__(self, size: int, indptr: np.ndarray, indices: np.ndarray, width: int = 1):
        self.size, self.indptr, self.indices, self.width = size, indptr, indices, width

    @property
    def columns(self) -> np.ndarray:
        """The column of every place."""
        return np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.indptr))

    def whole(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return columns of the whole matrix (indptr, indices), and for each entry its entry of the lower triangle."""
        row, column, number = self.indices, self.columns, np.arange(len(self.indices))
        below = np.flatnonzero(row != column)
        row, column = np.concatenate((row, column[below])), np.concatenate((column, row[below]))
        order = np.lexsort((row, column))
        indptr = pointers_of(np.bincount(column, minlength=self.size), self.indptr.dtype)
        return indptr, row[order], np.concatenate((number, below))[order]

    def graph(self) -> LowerPattern:
        """Return the pattern of nodes: of each node's first column the first of every `width` rows."""
        width, first = self.width, self.indptr[: -1 : self.width]
        counts = (self.indptr[1 :: self.width] - first) // width
        column = np.repeat(np.arange(len(first)), counts)
        indptr = pointers_of(counts, np.int32)
        places = first[column] + width * (np.arange(indptr[-1]) - indptr[column])
        return LowerPattern(self.size // width, indptr, self.indices[places] // width)

    def order(self) -> np.ndarray:
        """Return an order of elimination with little fill, computed by a library."""
        columns = self.columns
        data = np.ones(len(columns))  # entries of a positive definite matrix
        data[self.indices == columns] += np.bincount(columns, minlength=self.size) + np.bincount(self.indices, minlength=self.size)
        if not cholmod_present():
            library = SuperLU(self)
            library.factorise(data)
            return library.order
        cvxopt, cholmod = installed.load("cvxopt"), installed.load("cvxopt.cholmod")

        lower = cvxopt.spmatrix(cvxopt.matrix(data), self.indices.tolist(), columns.tolist(), (self.size, self.size))
        factor = cholmod.symbolic(lower)
        cholmod.numeric(lower, factor)
        numbers = cvxopt.matrix(np.arange(self.size, dtype=float))
        cholmod.solve(factor, numbers, sys=PERMUTED)
        return np.array(numbers).ravel().astype(np.int32)


class Cholesky(Record):
    """Factors L L^T = A[order, order] by kernels, in panels: columns of L with the same rows below them.

    Parameters
    ----------
    pattern : LowerPattern

    Attributes
    ----------
    vector, solved : ndarray (size,)
        Right-hand side and solution of `solve_vector`.
    """

    COLUMNS = {
        "first": ((), "i4"),  # of panels: first column, and the number of all columns
        "row_ptr": ((), "i4"),  # start of the rows below, and the number of all rows
        "row": ((), "i4"),  # rows below the columns of panels, ascending
        "head": ((), "i4"),  # start of panels in value, and the number of all entries
        "value": ((), "f8"),  # of L
        "order": ((), "i4"),  # of columns: the column of A
        "owner": ((), "i4"),  # its panel
        "tree": ((), "i4"),  # of trees, which share no columns: first panel, and the number of all panels
        "source_ptr": ((), "i4"),  # of panels: start of their entries of A, and the number of these
        "source": ((), "i4"),  # of entries of A in the order of panels: number of the entry
        "target": ((), "i4"),  # and its place in value, ascending
        "y": ((), "f8"),  # work of solutions
        "place": ((), "i4"),  # places of rows in the present panel
        "waiting": ((), "i4"),  # of panels: first panel on its waiting list,
        "next": ((), "i4"),  # next panel on the same list,
        "reached": ((), "i4"),  # and number of its rows that have been subtracted from panels
    }

    WORTH = 16  # solutions that cost as much as a factorisation (benchmarks/factorisation.py)

    def __init__(self, pattern: LowerPattern):
        first, row_ptr, row, order = _panels(pattern)
        columns, below = np.diff(first), np.diff(row_ptr)
        head = pointers_of(TILE * (-(-(columns**2) // TILE) + columns * -(-below // TILE)))
        if head[-1] >= 2**31:
            raise SolfecError("scheme DEF_LIM: the factor of finite element bodies would be larger than 16 GB; use coarser meshes")
        self.vector, self.solved = np.zeros((2, pattern.size))
        head = head.astype(np.int32)
        owner = np.repeat(np.arange(len(columns), dtype=np.int32), columns)
        target = _places(pattern, first, row_ptr, row, head, owner, order)
        source = np.argsort(target)  # places differ
        waiting, following, reached = np.zeros((3, len(first)), np.int32)
        target = target[source]
        numbers = {
            "first": first, "row_ptr": row_ptr, "row": row, "head": head, "owner": owner, "tree": _trees(first, row_ptr, row),
            "source_ptr": np.searchsorted(target, head), "source": source, "target": target,
        }  # fmt: skip
        super().__init__(
            **{name: part.astype(np.int32) for name, part in numbers.items()}, value=_aligned(head[-1]), order=order,
            y=np.zeros(pattern.size), place=np.zeros(pattern.size, np.int32), waiting=waiting, next=following, reached=reached,
        )  # fmt: skip

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`."""
        failed, status = _factorise(self.handle, data)
        opened(status)
        if failed:
            raise NotPositiveDefinite

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return A^-1 times a vector or columns."""
        if right.ndim == 1:
            solved = np.empty(len(right))
            opened(_solve_vector(self.handle, right, solved))
            return solved
        result = np.array(right, order="F")
        self.solve_columns(result, right.shape[1])
        return result

    def solve_columns(self, columns: np.ndarray, used: int) -> None:
        """Replace the first `used` of columns (size, n) by A^-1 times them."""
        opened(_solve_columns(self.handle, used, columns))

    def solve_vector(self) -> np.ndarray:
        """Return A^-1 times `vector` (size,), in memory that the next solution overwrites."""
        opened(_solve_vector(self.handle, self.vector, self.solved))
        return self.solved


def _panels(pattern: LowerPattern) -> tuple[np.ndarray, ...]:
    """Return first columns of panels, rows below them as (row_ptr, row), and columns in the order of elimination."""
    width, graph = pattern.width, pattern.graph()
    indptr, indices, _ = graph.whole()
    off = indices != np.repeat(np.arange(graph.size), np.diff(indptr))
    adjacent = indices[off].astype(np.int32)
    ptr = pointers_of(off)[indptr].astype(np.int32)
    eliminated, first, row_ptr = np.zeros(graph.size, np.int32), *np.zeros((2, graph.size + 1), np.int32)
    order, needed = graph.order(), 8 * len(adjacent)
    while True:
        row = np.zeros(needed, np.int32)
        count, needed = _find_supernodes(ptr, adjacent, order, width, max(WIDEST // width, 1), eliminated, first, row_ptr, row)
        if needed <= len(row):
            break
    of_node = np.arange(width)
    rows, columns = ((width * part[:, None] + of_node).ravel() for part in (row[:needed], eliminated))
    return width * first[: count + 1], width * row_ptr[: count + 1], rows, columns.astype(np.int32)


def _trees(first: np.ndarray, row_ptr: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Return the first panels of trees of panels, and the number of all panels; no panel has rows among the columns of another tree."""
    last = first[1:] - 1
    parents = np.diff(row_ptr) > 0
    last[parents] = row[row_ptr[1:][parents] - 1]
    return np.concatenate(([0], np.flatnonzero(np.maximum.accumulate(last) < first[1:]) + 1))


def _places(pattern: LowerPattern, first, row_ptr, row, head, owner, order) -> np.ndarray:
    """Return the places of a matrix's entries in panels."""
    size, place = pattern.size, np.empty(pattern.size, np.int32)  # four bytes: there are more entries than anything else
    place[order] = np.arange(size, dtype=np.int32)
    one, two = place[pattern.indices], np.repeat(place, np.diff(pattern.indptr))
    column, line = np.minimum(one, two), np.maximum(one, two)
    panel = owner[column]
    first = first.astype(np.int32)
    wide, within, across = np.diff(first)[panel], line - first[panel], column - first[panel]
    places = head[panel] + within + wide * across
    lower = np.flatnonzero(within >= wide)  # in rows below the panel
    panel, wide, across = panel[lower], wide[lower], across[lower]
    listed = np.repeat(np.arange(len(first) - 1), np.diff(row_ptr)) * size + row
    below = np.searchsorted(listed, panel.astype(np.int64) * size + line[lower]).astype(np.int32) - row_ptr.astype(np.int32)[panel]
    places[lower] = head[panel] + TILE * (-(-(wide**2) // TILE) + wide * (below // TILE) + across) + below % TILE
    return places


def _aligned(length: int) -> np.ndarray:
    """Return zeros that start at a cache line."""
    whole = np.zeros(length + TILE)
    start = -(whole.ctypes.data // 8) % TILE
    return whole[start : start + length]


class SuperLU:
    """LU factors by SuperLU, with pivoting, for any regular matrix."""

    WORTH = 75

    def __init__(self, pattern: LowerPattern):
        self._size = pattern.size
        self._indptr, self._indices, self._repeated = pattern.whole()
        self.vector, self.solved = np.zeros((2, pattern.size))

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`; SolfecError if it is singular."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        matrix = csc_matrix((data[self._repeated], self._indices, self._indptr), (self._size, self._size))
        try:
            self._factor = splu(matrix, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise SolfecError(f"scheme DEF_LIM: the matrix of finite element bodies is singular ({error})") from error

    @property
    def order(self) -> np.ndarray:
        """Columns in the order of the last factorisation."""
        return np.argsort(self._factor.perm_c).astype(np.int32)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return A^-1 times a vector or columns."""
        return self._factor.solve(right)

    def solve_columns(self, columns: np.ndarray, used: int) -> None:
        """Replace the first `used` of columns (size, n) by A^-1 times them."""
        columns[:, :used] = self._factor.solve(columns[:, :used])

    def solve_vector(self) -> np.ndarray:
        """Return A^-1 times `vector` (size,), in memory that the next solution overwrites."""
        self.solved[:] = self._factor.solve(self.vector)
        return self.solved


def indefinite_blocks(pattern: LowerPattern, data: np.ndarray, starts: list[int]) -> list[int]:
    """Return numbers of the diagonal blocks, rows starts[k] to starts[k + 1], that are not positive definite."""
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    indptr, indices, repeated = pattern.whole()
    matrix = csc_matrix((data[repeated], indices, indptr), (pattern.size, pattern.size))
    found = []
    for k, (first, last) in enumerate(zip(starts, starts[1:])):
        try:  # pivots of an elimination in symmetric order have the signs of eigenvalues
            factor = splu(matrix[first:last, first:last], "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
            definite = (factor.U.diagonal() > 0.0).all()
        except RuntimeError:
            definite = False
        if not definite:
            found.append(k)
    return found


def cholmod_present() -> bool:
    """Whether CHOLMOD can be used."""
    try:
        installed.load("cvxopt.cholmod")
    except ImportError:
        return False
    return True
