"""What processes tell one another: numbers between neighbours, and sums and maxima over all."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Communicator(Protocol):
    """How one of `size` processes, the one of number `rank`, reaches the others; all of them make the same calls."""

    rank: int
    size: int

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Send arrays to ranks, and fill arrays with what ranks send."""

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Largest of all processes, number by number."""

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sums of integers over all processes."""


class Alone:
    """One process."""

    rank, size = 0, 1

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Nobody is there."""

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Its own."""
        return values

    def total(self, values: np.ndarray) -> np.ndarray:
        """Its own."""
        return values


class MessagePassing:
    """Processes of MPI.

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
        """Largest of all processes, number by number."""
        result = np.empty_like(values)
        self.world.Allreduce(values, result, self._max)
        return result

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sums of integers over all processes."""
        result = np.empty_like(values)
        self.world.Allreduce(values, result, self._sum)
        return result
