"""What a solver asks of all rows of a model whose islands several processes solve; one process has all rows."""

from __future__ import annotations

import numpy as np


class NoOthers:
    """One process has all rows."""

    def agree(self, local, counted: np.ndarray | None = None) -> None:
        """Count the rows, and the blocks of W, of all processes, before a solution; `counted`: rows here that are not copies of others' (default: all)."""

    def total(self, here: int) -> int:
        """Return the number of rows in all processes; `here` are those of this one."""
        return here

    def surveyed(self, local, present: int, sizes: tuple[float, float]) -> tuple[int, tuple[float, float]]:
        """Return the kinds and sizes of the rows in all processes, from those here (LocalDynamics.survey)."""
        return present, sizes

    def any(self, here: bool) -> bool:
        """Return whether a statement is true of rows in any process."""
        return bool(here)

    def norm(self, values: np.ndarray) -> float:
        """Return the Euclidean norm of numbers of rows in all processes; infinite, without a warning, if squares overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.linalg.norm(values))

    def joined(self, norm: float) -> float:
        """Return the norm of numbers of rows in all processes, from that of the numbers here."""
        return norm

    def joined_columns(self, columns: np.ndarray) -> np.ndarray:
        """Return the columns (k, m) of all processes side by side."""
        return columns

    def measured(self, local, report) -> None:
        """Replace merit and residual of rows here, in a report, by those of rows in all processes."""


NO_OTHERS = NoOthers()
