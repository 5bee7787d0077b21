"""Counts of all processes after a step: their sum, least, average and most over processes, as Solfec-1.0 tells them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Bodies that processes move, and primitives of these; constraints that they count, and images of others; contacts that sparsification has
#: removed; messages to other processes in the step, and their bytes; work of bodies by counts (IMBALANCE_TOLERANCE).
COUNTS = ("BODIES", "BOXES", "CONSTRAINTS", "EXTERNAL", "SPARSIFIED", "MESSAGES", "BYTES SENT", "DOM WEIGHT")


@dataclass
class Statistics:
    """Counts of processes.

    Attributes
    ----------
    processes : int
    total, least, most : ndarray of int
        In the order of `COUNTS`.
    """

    processes: int
    total: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @property
    def average(self) -> np.ndarray:
        """Averages over processes, rounded down."""
        return self.total // self.processes

    def table(self) -> list[str]:
        """Lines of a table."""
        columns = np.array([self.total, self.least, self.average, self.most]).T
        lines = ["".join(f"{word:>13}" for word in (f"{self.processes} PROCESSES", "SUM", "MIN", "AVG", "MAX"))]
        for name, row in zip(COUNTS, columns.tolist()):
            in_megabytes = name.startswith("BYTES")
            shown = [f"{number / 1e6:.3f}" if in_megabytes else str(number) for number in row]
            lines.append("".join(f"{word:>13}" for word in ("MB SENT" if in_megabytes else name, *shown)))
        return lines


def counts_of(part, counted: np.ndarray, sent: tuple[int, int], weight: float) -> np.ndarray:
    """Return the counts of one part, as floating-point numbers without fractions.

    Parameters
    ----------
    part : Part
    counted : ndarray of bool (n,)
        Constraints that it counts.
    sent : tuple of int
        Messages that it has sent in the step, and their bytes.
    weight : float
        Work of its bodies.
    """
    own = int(np.count_nonzero(counted))
    return np.array([*part.sizes, own, counted.size - own, part.model.geometry.workspace.removed_own, *sent, round(weight)], float)
