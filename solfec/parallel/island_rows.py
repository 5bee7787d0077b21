"""Islands of a model in parts: which process solves each, and what processes tell one another about theirs."""

from __future__ import annotations

import math

import numpy as np

from ..connected import components
from ..solvers.local_dynamics import NO_ROWS, NO_VELOCITY
from ..solvers.other_processes import NoOthers
from .communicator import Communicator
from .measures import measured
from .part import Part
from .sums import ordered_nowhere

KINDS = np.arange(63)  # bits of a set of kinds of rows


def homes_of_islands(part: Part, bodies, ends: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return, for each row of a part, the rank of the process that solves its island: the one that counts most of its rows.

    Parameters
    ----------
    part : Part
    bodies : BodyTable
        Bodies of the whole model.
    ends : ndarray (2, n)
        Rows of the part's bodies on which each row acts, the smaller first; -1: none.
    counted : ndarray
        Rows that the part counts.
    """
    here = np.append(np.searchsorted(bodies.view("id"), part.model.bodies.view("id")), -1)  # rows of the part's bodies in the whole model
    mine, width = here[ends], bodies.n + 1
    keys, numbers = np.unique((mine[0, counted] + 1) * width + mine[1, counted] + 1, return_counts=True)
    several = part.world.gathered((np.array(np.divmod(keys, width)) - 1, numbers))
    one, two = np.concatenate([listed for listed, _ in several], axis=1)
    both = one >= 0
    island = components(bodies.n, one[both], two[both])
    count = island.max(initial=-1) + 1
    share = [np.bincount(island[listed[1]], weights=weights, minlength=count) for listed, weights in several]
    return np.argmax(share, axis=0)[island[mine[1]]]


class OtherProcesses(NoOthers):
    """Processes that have other islands.

    Parameters
    ----------
    world : Communicator
    driven : bool
        Whether constraints move obstacles.
    """

    def __init__(self, world: Communicator, driven: bool):
        self.world, self._driven, self._rows, self._counted = world, driven, 0, NO_ROWS

    def agree(self, local, counted: np.ndarray | None = None) -> None:
        self._counted = np.arange(local.n) if counted is None else counted
        self._rows, local.visits = self.world.total(np.array([self._counted.size, local.visits], np.int64)).tolist()

    def total(self, here: int) -> int:
        return self._rows

    def surveyed(self, local, present: int, sizes: tuple[float, float]) -> tuple[int, tuple[float, float]]:
        rows, counted = local.rows, self._counted
        found = self.world.largest((present >> KINDS & 1).astype(float)) > 0.0
        drives = rows.driving[counted] > 0
        counts = self.world.total(np.bincount(drives, minlength=2)).tolist()
        squares = np.array([(rows.B[:, counted] ** 2).sum(axis=0), (rows.free[:, counted] ** 2).sum(axis=0)])
        squares[0] += np.where(drives, squares[1], 0.0)  # as in survey_rows (fortran/solvers/reduced_form.f90)
        norms = np.sqrt(ordered_nowhere(np.concatenate([np.where(drives, 0.0, squares), np.where(drives, squares, 0.0)]), self.world)).tolist()
        kinds = sum(1 << kind for kind in np.flatnonzero(found).tolist())
        return kinds, (size_of(counts[0], norms[:2]), size_of(counts[1], norms[2:]))

    def any(self, here: bool) -> bool:
        return bool(self.world.largest(np.array([float(here)]))[0])

    def norm(self, values: np.ndarray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return math.sqrt(ordered_nowhere((values**2).reshape(1, -1), self.world)[0])

    def joined(self, norm: float) -> float:
        return self.norm(np.array([norm]))

    def joined_columns(self, columns: np.ndarray) -> np.ndarray:
        return np.concatenate(self.world.gathered(columns), axis=1)

    def measured(self, local, report) -> None:
        report.merit, report.residual = measured(local, self._counted, self._driven, False, self.world)


def size_of(count: int, norms: list[float]) -> float:
    """Return the size of `count` rows as `survey_rows` does, from their norms in all processes."""
    return next((size for size in norms if not size < NO_VELOCITY), 0.0) if count else 1.0
