"""Sums whose bits depend neither on the order of their terms nor on the number of processes."""

from __future__ import annotations

import numpy as np

from .communicator import Communicator

BITS = 2.0**40  # range of each of the two words of a term


def ordered_nowhere(terms: np.ndarray, world: Communicator) -> np.ndarray:
    """Return sums (m,) over columns of terms (m, n) >= 0 of all processes.

    Terms are rounded to integers of 80 bits relative to the largest one; up to 2**22 of them are added exactly.
    """
    largest = world.largest(terms.max(axis=1, initial=0.0))
    if not np.isfinite(largest).all():
        return np.where(np.isfinite(largest), 0.0, np.inf)
    scale = np.exp2(np.ceil(np.log2(np.where(largest > 0.0, largest, 1.0))))
    high, low = _words(terms / scale[:, None])
    total = world.total(np.concatenate([high.sum(axis=1), low.sum(axis=1)]).astype(np.int64))
    high, low = total[: len(terms)], total[len(terms) :]
    return scale * (high.astype(float) / BITS + low.astype(float) / BITS**2)


def _words(parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers in [0, 1] into two integers: parts = high/BITS + low/BITS**2."""
    high = np.floor(parts * BITS)
    return high.astype(np.int64), np.floor((parts * BITS - high) * BITS).astype(np.int64)
