"""Calls of Siconos' installed C library: one contact problem by `fc3d_driver`.

Its Python module needs numpy below 2, so this module describes the structures (of version 4, shared library 7) and
compares them with those that the library allocates before it passes data.  Components are in the order (N, T2, T1).

The library ends the process on errors (`exit`, failed assertions), so `serve` runs in a separate process, which
`siconos_process` starts.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import struct
from contextlib import contextmanager
from ctypes import POINTER, Structure, c_bool, c_double, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache
from threading import Event, Lock, Thread
from time import perf_counter, sleep

import numpy as np

from ..errors import SolfecError

NAMES = ("libsiconos_numerics.so.7", "libsiconos_numerics.dylib", "libsiconos_numerics.so")
MISSING = (
    "SICONOS_SOLVER needs Siconos' library libsiconos_numerics, which is not installed; on Debian and its relatives:"
    " sudo apt-get install libsiconos-numerics7"
)
#: Identifiers of solvers for `solver_options_create`; these need no other library.
SOLVERS = {
    "NSGS": 500,  # non-smooth Gauss-Seidel
    "PROX": 502,  # proximal point iteration
    "TFP": 503,  # fixed point iteration on Tresca's law
    "NSN_AC": 504,  # non-smooth Newton on the equations of Alart and Curnier
    "VI_FPP": 506,  # projections with an adaptive step
    "VI_EG": 507,  # extra-gradient with an adaptive step
    "NSN_FB": 513,  # non-smooth Newton on the equations of Fischer and Burmeister
    "ACLMFP": 516,  # fixed point iteration on the associated law
    "NSN_NM": 520,  # non-smooth Newton on the natural map
    "PFP": 522,  # fixed point iteration of Panagiotopoulos
    "ADMM": 523,  # alternating direction method of multipliers
}
#: Those that `fc3d_driver` knows besides: made for comparison, unfinished, or in need of the program GAMS.
OTHERS = {
    "NSGSV": 501,  # Gauss-Seidel on velocities
    "DSFP": 505,  # De Saxce and Feng's fixed point iteration
    "HP": 508,  # hyperplane projections
    "NCP_FIXED_POINT": 510,  # fixed point iteration on Glocker's formulation
    "FPP": 511,  # projections with a fixed step
    "EG": 512,  # extra-gradient with a fixed step
    "GAMS_PATH": 514,
    "GAMS_PATHVI": 515,
    "SOCLCP": 517,  # second-order cone complementarity
    "GAMS_LCP_PATH": 518,
    "GAMS_LCP_PATHVI": 519,
    "NSN_AC_TEST": 521,  # the newer code of NSN_AC
}
EVERY = dict(sorted((SOLVERS | OTHERS).items(), key=lambda entry: entry[1]))
MAXITER, ITERATIONS = 0, 1  # places among the library's integer parameters
TOLERANCE, ERROR = 0, 1  # and among its real ones
PARAMETERS = 20  # length of both lists
SPARSE_BLOCK = 1
LENGTH = struct.Struct("<Q")  # before the pickle of a message between the processes
BEAT = 1.0  # seconds between signs of life


class BlockMatrix(Structure):
    """SparseBlockStructuredMatrix: compressed rows of blocks, each column by column."""

    _fields_ = [
        ("count", c_uint), ("block", c_void_p), ("rows", c_uint), ("columns", c_uint),
        ("row_sizes", c_void_p), ("column_sizes", c_void_p), ("filled_rows", c_size_t), ("filled_blocks", c_size_t),
        ("row_ptr", c_void_p), ("column", c_void_p), ("diagonal", c_void_p), ("version", c_uint64),
    ]  # fmt: skip


class Matrix(Structure):
    """NumericsMatrix of the library."""

    _fields_ = [
        ("storage", c_int), ("rows", c_int), ("columns", c_int), ("dense", c_void_p),
        ("blocks", c_void_p), ("sparse", c_void_p), ("internal", c_void_p), ("version", c_uint64),
        ("destructible", c_void_p),
    ]  # fmt: skip


class Problem(Structure):
    """FrictionContactProblem of the library."""

    _fields_ = [("dimension", c_int), ("contacts", c_int), ("matrix", POINTER(Matrix)), ("q", c_void_p), ("mu", c_void_p)]


class Options(Structure):
    """SolverOptions of the library, with the leading members that are used here."""

    _fields_ = [
        ("solver", c_int), ("is_set", c_bool), ("integers", c_int), ("integer", POINTER(c_int)),
        ("reals", c_int), ("real", POINTER(c_double)),
    ]  # fmt: skip


@cache
def library() -> ctypes.CDLL:
    """Return the library, loaded once and checked.

    Raises
    ------
    SolfecError
        It is not installed, or its structures are not those of version 4.
    """
    for name in NAMES:
        try:
            found = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        raise SolfecError(MISSING)
    try:
        found.NM_create.restype = POINTER(Matrix)
        found.NM_create.argtypes = [c_int, c_int, c_int]
        found.NM_free.restype = c_void_p
        found.NM_free.argtypes = [POINTER(Matrix)]
        found.NM_get_value.restype = c_double
        found.NM_get_value.argtypes = [POINTER(Matrix), c_int, c_int]
        found.solver_options_create.restype = POINTER(Options)
        found.solver_options_create.argtypes = [c_int]
        found.solver_options_delete.argtypes = [POINTER(Options)]
        found.fc3d_driver.restype = c_int
        found.fc3d_driver.argtypes = [POINTER(Problem), c_void_p, c_void_p, POINTER(Options)]
        found.numerics_set_verbose.argtypes = [c_int]
    except AttributeError as error:
        raise SolfecError(f"SICONOS_SOLVER: {name} is not Siconos 4: {error}") from None
    _check_layouts(found, name)
    return found


def _check_layouts(found: ctypes.CDLL, name: str) -> None:
    """Compare structures that the library allocates with the classes above."""
    options = found.solver_options_create(SOLVERS["NSGS"])
    matrix = found.NM_create(SPARSE_BLOCK, 6, 6)
    agree = bool(options) and bool(matrix)
    if agree:
        numbers = options.contents.solver, options.contents.integers, options.contents.reals
        sizes = matrix.contents.storage, matrix.contents.rows, matrix.contents.columns
        agree = numbers == (SOLVERS["NSGS"], PARAMETERS, PARAMETERS) and sizes == (SPARSE_BLOCK, 6, 6)
    if agree:
        found.solver_options_delete(options)
        found.NM_free(matrix)
    else:
        raise SolfecError(f"SICONOS_SOLVER: {name} is of another version than Siconos 4.4, whose structures are known here")


def solve(
    row_ptr: np.ndarray, column: np.ndarray, blocks: np.ndarray, q: np.ndarray, friction: np.ndarray, start: np.ndarray,
    solver: str, tolerance: float, maxiter: int, verbose: bool = False,
) -> tuple[np.ndarray, int, int, float, float]:
    """Solve u = W r + q with every r in its friction cone, and (u_N + mu |u_T|, u_T) in the dual cone, orthogonal to r.

    Parameters
    ----------
    row_ptr : (n + 1,), column : (count,)
        Blocks of W by rows, diagonal ones among them, columns ascending.
    blocks : (count, 9) float64
        Each column by column, components in the order (N, T2, T1).
    q, start : (n, 3) float64
        Free velocities and reactions to start from, in the same order.
    friction : (n,) float64
    solver : str
        One of `EVERY`.
    tolerance : float
        Of the natural map r - P(r - F) over the norm of q.

    Returns
    -------
    reactions : (n, 3) float64
    code : int
        0 if the library reached its tolerance.
    iterations : int
    error : float
        Error by the library's measure.
    seconds : float
        Wall time of the library's driver.
    """
    siconos = library()
    n = len(friction)
    row_ptr, column = np.ascontiguousarray(row_ptr, np.uint64), np.ascontiguousarray(column, np.uint64)
    blocks = np.ascontiguousarray(blocks, float)
    sizes = 3 * np.arange(1, n + 1, dtype=np.uint32)
    rows = np.repeat(np.arange(n, dtype=np.uint64), np.diff(row_ptr).astype(np.int64))
    diagonal = np.flatnonzero(rows == column).astype(np.uint32)
    addresses = np.uint64(blocks.ctypes.data) + np.uint64(72) * np.arange(len(blocks), dtype=np.uint64)
    q, friction = np.array(q, float).ravel(), np.array(friction, float)
    reactions, velocities = np.array(start, float).ravel(), np.zeros(3 * n)
    matrix = siconos.NM_create(SPARSE_BLOCK, 3 * n, 3 * n)
    made = matrix.contents.blocks
    version = BlockMatrix.from_address(made).version
    ours = BlockMatrix(
        len(blocks), addresses.ctypes.data, n, n, sizes.ctypes.data, sizes.ctypes.data, n + 1, len(blocks),
        row_ptr.ctypes.data, column.ctypes.data, diagonal.ctypes.data, version,
    )  # fmt: skip
    matrix.contents.blocks = ctypes.addressof(ours)
    options = siconos.solver_options_create(EVERY[solver])
    try:
        options.contents.integer[MAXITER] = maxiter
        options.contents.real[TOLERANCE] = tolerance
        siconos.numerics_set_verbose(int(verbose))
        problem = Problem(3, n, matrix, q.ctypes.data, friction.ctypes.data)
        with _prints(verbose):
            clock = perf_counter()
            code = siconos.fc3d_driver(problem, reactions.ctypes.data, velocities.ctypes.data, options)
            seconds = perf_counter() - clock
        iterations, error = options.contents.integer[ITERATIONS], options.contents.real[ERROR]
    finally:
        matrix.contents.blocks = made  # the arrays above are ours: the library must free only its own memory
        siconos.NM_free(matrix)
        siconos.solver_options_delete(options)
    return reactions.reshape(n, 3), int(code), int(iterations), float(error), seconds


@contextmanager
def _prints(verbose: bool):
    """Let the library print among errors what it prints unasked, such as why it ends the process."""
    if verbose:
        yield
        return
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


def serve(requests: int, answers: int) -> None:
    """Answer requests, tuples of arguments of `solve`, until the other end closes the file descriptor.

    The first answer is None, or a message if the library cannot be used.  Every message is its length and its pickle; while a solution is
    computed, a length of zero once a second says that the process lives.
    """
    with os.fdopen(requests, "rb") as incoming, os.fdopen(answers, "wb") as outgoing:
        busy, turn = Event(), Lock()

        def send(data: bytes) -> None:
            with turn:
                outgoing.write(LENGTH.pack(len(data)) + data)
                outgoing.flush()

        def beat() -> None:  # the driver releases Python's lock
            while busy.wait():
                sleep(BEAT)
                if busy.is_set():
                    try:
                        send(b"")
                    except (OSError, ValueError):  # the other end is gone, or this process ends
                        return

        Thread(target=beat, daemon=True).start()
        busy.set()
        answer: object = None
        try:
            library()
        except SolfecError as error:
            answer = str(error)
        while True:
            busy.clear()
            send(pickle.dumps(answer, protocol=5))
            size = incoming.read(LENGTH.size)
            if len(size) < LENGTH.size:
                return
            arguments = pickle.loads(incoming.read(*LENGTH.unpack(size)))
            busy.set()
            answer = solve(*arguments)
