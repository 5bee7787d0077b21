"""Springs with Python functions in the sweeps of a part: visited with the rows among which they are swept (solvers/spring_functions.py)."""

from __future__ import annotations

import numpy as np

from ..solvers.local_dynamics import LocalDynamics
from ..solvers.spring_functions import SpringFunctions


class PartSprings(SpringFunctions):
    """The rows of a part whose forces come from Python.

    Every process that sweeps such a row calls its function, with the same arguments.

    Parameters
    ----------
    local : LocalDynamics

    Attributes
    ----------
    misses : ndarray (1, n)
        Errors of velocities in the laws of these rows at their last visits; 0 for other rows.
    """

    def __init__(self, local: LocalDynamics):
        super().__init__(local)
        self._place = {row: k for k, row in enumerate(self.rows)}
        self.misses = np.zeros((1, max(local.n, 1)))

    def visit_listed(self, listed: np.ndarray, sums: np.ndarray) -> None:
        """Compute the forces of those of the listed rows that are springs with functions; write the figures of a sweep into their columns of `sums`."""
        rows = self.local.rows
        for row in listed[np.isin(listed, self.local.held)].tolist():
            k = self._place[row]
            sums[0, row] = self._visit(k, self.local.triples.momentum, float(rows.B[2, row]))
            if not rows.driving[row]:
                sums[2, row] = rows.R[2, row] ** 2
            self.misses[0, row] = self.unmet[k]

    def note(self) -> None:
        """Give the errors to the residual of the step, also those that other processes have found."""
        self.unmet[:] = self.misses[0, self.rows]
