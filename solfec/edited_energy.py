"""Energies that births, deletions and changes of states bring into a model between steps (docs/running.md, Progress)."""

from __future__ import annotations

import numpy as np

from .bodies.table import BodyTable


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

    def _stored(self) -> np.ndarray:
        return self._bodies.view("energy").sum(axis=1)

    def begin(self) -> None:
        """Note the energies before bodies are born or set to other states."""
        if self._before is None:
            self._before = self._stored()

    def take(self, mask: np.ndarray) -> None:
        """Count the energies of marked bodies, which are to be deleted; within an edit `end` counts them."""
        if self._before is None:
            self.total -= self._bodies.view("energy")[:, mask].sum(axis=1)

    def end(self, step: int) -> None:
        """Count what has changed since `begin`, after so many steps."""
        self.total += self._stored() - self._before
        self._before, self.step = None, step
