"""Sums whose bits depend neither on the order of their terms nor on the number of processes."""

from __future__ import annotations

import numpy as np

from .communicator import Communicator

BITS = 2.0**40  # range of each of the two words of a term


def ordered_nowhere(terms: np.ndarray, world: Communicator) -> np.ndarray:
    """Return sums (m,) over columns of terms (m, n) >= 0 of all processes."""
    largest = world.largest(largest_of(terms))
    return summed(world.total(words(terms, largest)), largest)


def largest_of(terms: np.ndarray) -> np.ndarray:
    """Return the largest term (m,) of each sum."""
    return terms.max(axis=1, initial=0.0)


def words(terms: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return integers (2 m,) whose sums over all processes `summed` converts to the sums of terms (m, n).

    Terms are rounded to integers of 80 bits relative to the largest one of all processes; up to 2**22 of them are added exactly.
    """
    if not np.isfinite(largest).all():
        return np.zeros(2 * len(terms), np.int64)
    parts = terms / scale(largest)[:, None]
    high = np.floor(parts * BITS)
    low = np.floor((parts * BITS - high) * BITS)
    return np.concatenate([high.astype(np.int64).sum(axis=1), low.astype(np.int64).sum(axis=1)])


def summed(total: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return the sums (m,) that integers of all processes mean; infinite where a term is not finite."""
    if not np.isfinite(largest).all():
        return np.where(np.isfinite(largest), 0.0, np.inf)
    high, low = total[: len(largest)], total[len(largest) :]
    return scale(largest) * (high.astype(float) / BITS + low.astype(float) / BITS**2)


def scale(largest: np.ndarray) -> np.ndarray:
    """Return powers of two above the largest terms."""
    return np.exp2(np.ceil(np.log2(np.where(largest > 0.0, largest, 1.0))))
