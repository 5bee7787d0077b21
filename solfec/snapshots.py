"""Snapshots of co-rotated displacements, taken while a simulation runs or is read (docs/language-objects.md, COROTATED_DISPLACEMENTS)."""

from __future__ import annotations

import numpy as np

from .bodies import finite_element_motion
from .bodies.finite_elements import compiled
from .domain import Domain
from .errors import SolfecError

TOLERANCE = 1e-6  # part of a step within which two instants are equal


class Snapshots:
    """Co-rotated displacements of chosen bodies at chosen instants.

    Parameters
    ----------
    identifiers : list of int
        Finite element bodies, in the order in which an instant's snapshots are listed; deleted bodies are left out.
    times : list of float, optional
        Instants; each is taken at the step that ends nearest to it, of two equally near ones the earlier.

    Attributes
    ----------
    taken : list of lists
        x, y, z node by node, one list per body and instant, in the order of time.
    """

    def __init__(self, identifiers: list[int], times: list[float] | None = None):
        self.identifiers = identifiers
        self.taken: list[list[float]] = []
        self._ahead = None if times is None else sorted(times, reverse=True)

    def take(self, domain: Domain) -> None:
        """Add a snapshot of the present configuration."""
        self.taken += _corotated_displacements(domain, self.identifiers).tolist()

    def take_listed(self, domain: Domain) -> None:
        """Add the present configuration for every listed instant that it is nearest to."""
        half = 0.5 * domain.step * (1.0 + TOLERANCE)
        while self._ahead and self._ahead[-1] <= domain.time + half:
            if self._ahead.pop() >= domain.time - half:
                self.take(domain)

    @property
    def listed(self) -> bool:
        """Whether instants are listed; else the simulation calls `take`."""
        return self._ahead is not None


def _corotated_displacements(domain: Domain, identifiers: list[int]) -> np.ndarray:
    """Return R^T x - X of the nodes (b, 3n) of the given finite element bodies that exist; all have n nodes."""
    bodies = domain.bodies
    present = {int(identifier): row for row, identifier in enumerate(bodies.view("id"))}
    rows = [present[identifier] for identifier in identifiers if identifier in present]
    if not rows:
        return np.zeros((0, 0))
    seen, failed = finite_element_motion.corotated(compiled(bodies), bodies, rows)
    if failed >= 0:
        raise SolfecError(f"COROTATED_DISPLACEMENTS: body {int(bodies.id[failed])} is turned inside out")
    return np.stack([displacement.T.ravel() for displacement in seen])
