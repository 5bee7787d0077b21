"""Sums whose bits depend neither on the order of their terms nor on the number of processes."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .communicator import Communicator

BITS = 2.0**40  # range of each of the two words of a term
AT_ONCE = 1 << 14  # terms of a sum that take memory at the same time
LEAST = 1e-280  # largest term below which the kernel's factors overflow
HEADROOM = 4.0  # by how much the largest term may grow from one sweep to the next
# fortran/solvers/part_sweeps.f90 has the first and the last of these, too: both must agree for equal bits

_add_figures = _kernels.part_sweeps.add_figures


def ordered_nowhere(terms: np.ndarray, world: Communicator) -> np.ndarray:
    """Return sums (m,) over columns of terms (m, n) >= 0 of all processes."""
    largest = world.largest(largest_of(terms))
    return summed(world.total(words(terms, largest)), largest)


def ordered_by_rows(rows: np.ndarray, figures: np.ndarray, world: Communicator) -> np.ndarray:
    """Return `ordered_nowhere` of the figures (m, n) of some rows, found in a kernel."""
    largest = world.largest(_add_figures(rows, figures, np.zeros(len(figures)))[0])
    if np.isfinite(largest).all() and not ((largest > 0.0) & (largest < LEAST)).any():
        found = _add_figures(rows, figures, scale(largest))[1].T.ravel()
    else:
        found = words(figures[:, rows], largest)
    return summed(world.total(found), largest)


def largest_of(terms: np.ndarray) -> np.ndarray:
    """Return the largest term (m,) of each sum."""
    return terms.max(axis=1, initial=0.0)


def words(terms: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return integers (2 m,) whose sums over all processes `summed` converts to the sums of terms (m, n).

    Terms are rounded to integers of 80 bits relative to the largest one of all processes; up to 2**22 of them are added exactly.
    """
    if not np.isfinite(largest).all():
        return np.zeros(2 * len(terms), np.int64)
    result, by = np.zeros((2, len(terms)), np.int64), scale(largest)[:, None]
    for first in range(0, terms.shape[1], AT_ONCE):
        parts = terms[:, first : first + AT_ONCE] / by
        high = np.floor(parts * BITS)
        low = np.floor((parts * BITS - high) * BITS)
        result += high.astype(np.int64).sum(axis=1), low.astype(np.int64).sum(axis=1)
    return result.ravel()


def summed(total: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return the sums (m,) that integers of all processes mean; infinite where a term is not finite."""
    if not np.isfinite(largest).all():
        return np.where(np.isfinite(largest), 0.0, np.inf)
    return scale(largest) * _parts(total)


def _parts(total: np.ndarray) -> np.ndarray:
    """Return sums relative to their scales from their words, the high ones of all sums first."""
    high, low = total.reshape(2, -1).astype(float)
    return high / BITS + low / BITS**2


def scale(largest: np.ndarray) -> np.ndarray:
    """Return powers of two above the largest terms."""
    fraction, exponent = np.frexp(np.where(largest > 0.0, largest, 1.0))
    return np.ldexp(1.0, exponent - (fraction <= 0.5))


class SweepSums:
    """Sums of figures of rows over all processes after each sweep of a solution, which depend on no order.

    Terms become integers relative to powers of two.  These come from the sweep before, so one exchange finds the sums and
    whether the largest terms have outgrown them; only then, as in the first sweep, a second one follows.

    Parameters
    ----------
    world : Communicator
    """

    def __init__(self, world: Communicator):
        self._world, self._scales = world, np.zeros(5)

    def __call__(self, rows: np.ndarray, figures: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return counts of the process that has most of them, and the sums (5,) of all processes.

        Parameters
        ----------
        rows : ndarray of int32
            Rows whose figures this process adds.
        figures : ndarray (5, n)
            Figures of all rows, none of them negative.
        counts : ndarray (3,) of int32
        """
        largest, found = _add_figures(rows, figures, self._scales)
        largest, total = self._world.largest_and_total(np.concatenate([counts, largest]), found.T.ravel())
        most, largest = largest[:3].astype(np.int64), largest[3:]
        if not np.isfinite(largest).all():
            return most, np.where(np.isfinite(largest), 0.0, np.inf)
        if (largest > self._scales).any():
            self._scales = scale(largest)
            total = self._world.total(_add_figures(rows, figures, self._scales)[1].T.ravel())
        sums, self._scales = self._scales * _parts(total), HEADROOM * scale(largest)
        return most, sums
