"""Energies that births, deletions and changes of states bring into a model between steps (docs/running.md, Progress)."""

from __future__ import annotations

import numpy as np

from .bodies.table import BodyTable, Energy

#: Number of bodies up to which an edit notes their energies one by one.
FEW = 100


def accounted(energy: np.ndarray) -> np.ndarray:
    """Return the part of energies, of shape (6, ...), that time steps should not change: kinetic + internal + dissipated - external."""
    return energy[Energy.KINETIC] + energy[Energy.INTERNAL] + energy[Energy.DISSIPATED] - energy[Energy.EXTERNAL]


class EditedEnergy:
    """Sums what edits add to the energies of all bodies, so that a run's balance counts time steps only.

    An edit lasts from the first call of `begin` to `end`, when kinetic and internal energies follow from the new states.

    Attributes
    ----------
    total : ndarray (6,)
        Sums since the model exists, in the order of `Energy`.
    step : int
        Number of steps before the last edit that set states.
    """

    def __init__(self, bodies: BodyTable):
        self.total, self.step = np.zeros(6), 0
        self._bodies, self._before = bodies, None
        self.begin_run()

    def begin_run(self) -> None:
        """Note the energies of all bodies, from which `errors` count."""
        self._ids, self._accounted = self._bodies.view("id").copy(), accounted(self._bodies.view("energy"))
        self._later: dict[int, float] = {}  # the same of bodies that have been edited since

    def _stored(self, mask=slice(None)) -> np.ndarray:
        energy = self._bodies.view("energy")[:, mask].sum(axis=1)
        energy[[Energy.CONTACT, Energy.FRICTION]] = 0.0  # the model sums works of contacts itself, and keeps them
        return energy

    def begin(self) -> None:
        """Note the energies before bodies are born or set to other states."""
        if self._before is None:
            self._before = self._stored()

    def take(self, mask: np.ndarray) -> None:
        """Count the energies of marked bodies, which are to be deleted; within an edit `end` counts them."""
        if self._before is None:
            self.total -= self._stored(mask)

    def end(self, step: int, rows: list[int] | None = None) -> None:
        """Count what has changed since `begin` in bodies of `rows` (None: in any), after so many steps."""
        self.total += self._stored() - self._before
        self._before, self.step = None, step
        if rows is None or len(rows) > FEW:
            self.begin_run()
        else:
            bodies = self._bodies
            self._later.update(zip(bodies.view("id")[rows].tolist(), accounted(bodies.view("energy")[:, rows]).tolist()))

    def errors(self) -> np.ndarray:
        """Return by how much time steps have changed `accounted` energies (n,) of bodies since the run began, or since these were edited last."""
        ids, found = self._bodies.view("id"), accounted(self._bodies.view("energy"))
        old, new = np.intersect1d(self._ids, ids, assume_unique=True, return_indices=True)[1:]
        found[new] -= self._accounted[old]
        for identifier, value in self._later.items():
            row = self._bodies.row_of(identifier)
            if row >= 0:
                found[row] = accounted(self._bodies.energy[:, row]) - value
        return found
