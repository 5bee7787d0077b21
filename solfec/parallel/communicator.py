"""Communication of processes: exchange of arrays between neighbours, and sums and maxima over all."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Communicator(Protocol):
    """Communication of process number `rank` of `size` processes, all of which make the same calls."""

    rank: int
    size: int

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Send arrays to ranks, and fill arrays with what ranks send."""

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise maximum over all processes."""

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise sum of integers over all processes."""


class Alone:
    """Communication of a single process."""

    rank, size = 0, 1

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Do nothing: there are no other processes."""

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the values."""
        return values

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the values."""
        return values


class MessagePassing:
    """Communication of processes by MPI.

    Parameters
    ----------
    world : mpi4py.MPI.Comm
    """

    def __init__(self, world):
        from mpi4py import MPI

        self.world, self._max, self._sum, self._all = world, MPI.MAX, MPI.SUM, MPI.Request.Waitall
        self.rank, self.size = world.Get_rank(), world.Get_size()

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Send arrays to ranks, and fill arrays with what ranks send."""
        requests = [self.world.Irecv(array, rank) for rank, array in incoming.items()]
        requests += [self.world.Isend(array, rank) for rank, array in outgoing.items()]
        self._all(requests)

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise maximum over all processes."""
        result = np.empty_like(values)
        self.world.Allreduce(values, result, self._max)
        return result

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise sum of integers over all processes."""
        result = np.empty_like(values)
        self.world.Allreduce(values, result, self._sum)
        return result
