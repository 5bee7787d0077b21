"""Snapshots of co-rotated displacements, taken while a simulation runs or is read (manual, COROTATED_DISPLACEMENTS)."""

from __future__ import annotations

from .domain import Domain

TOLERANCE = 1e-6  # of a step: two instants this close are one


class Snapshots:
    """Displacements of chosen bodies, seen from their own rotations, at chosen instants.

    Parameters
    ----------
    identifiers : list of int
        Finite element bodies, in the order in which an instant's snapshots are listed; those that are gone are left out.
    times : list of float, optional
        Instants; each is taken at the step that ends nearest to it, of two equally near ones the earlier.

    Attributes
    ----------
    taken : list of lists
        x, y, z of node after node, a list per body and instant, in the order of time.
    """

    def __init__(self, identifiers: list[int], times: list[float] | None = None):
        self.identifiers = identifiers
        self.taken: list[list[float]] = []
        self._ahead = None if times is None else sorted(times, reverse=True)

    def take(self, domain: Domain) -> None:
        """Add what the present configuration gives."""
        self.taken += domain.corotated_displacements(self.identifiers).tolist()

    def take_listed(self, domain: Domain) -> None:
        """Add the present configuration for every listed instant that it is nearest to."""
        half = 0.5 * domain.step * (1.0 + TOLERANCE)
        while self._ahead and self._ahead[-1] <= domain.time + half:
            if self._ahead.pop() >= domain.time - half:
                self.take(domain)

    @property
    def listed(self) -> bool:
        """Whether instants are listed; else the simulation says when to `take`."""
        return self._ahead is not None
