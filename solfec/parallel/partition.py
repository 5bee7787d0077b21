"""Division of bodies among processes: weighted recursive coordinate bisection.

A tree of cuts divides space into as many leaves as there are processes.  A cut halves, by weights, the widest direction of the points on
its node; with an odd number of leaves it divides in their proportion.  All processes compute the same tree from the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Cut:
    """A node of the tree: what comes before (`value`, `body`) by coordinate and then by identifier goes to the first `before` leaves.

    Attributes
    ----------
    axis : int
        0, 1 or 2.
    value : float
        Coordinate of the first point on the other side.
    body : int
        Its identifier, which decides for points of equal coordinate.
    before, leaves : int
        Number of leaves before the cut, and of all leaves of the node.
    """

    axis: int
    value: float
    body: int
    before: int
    leaves: int


class Partition:
    """Leaves of space.

    Parameters
    ----------
    points : ndarray (3, n)
        Centres of bodies.
    ids : ndarray (n,)
        Their identifiers, all different.
    weights : ndarray (n,)
        Their weights, positive.
    leaves : int
        Number of leaves, 1 or more.
    """

    def __init__(self, points: np.ndarray, ids: np.ndarray, weights: np.ndarray, leaves: int):
        self.leaves = leaves
        self.cuts: list[Cut] = []  # a node before its first half, and this before its second
        self._cut(points, ids, weights, np.arange(len(ids)), leaves)

    def _cut(self, points: np.ndarray, ids: np.ndarray, weights: np.ndarray, rows: np.ndarray, leaves: int) -> None:
        """Cut the points in `rows` into leaves."""
        if leaves == 1:
            return
        before = leaves // 2
        axis, order = 0, rows
        if rows.size:
            axis = int(np.argmax(np.ptp(points[:, rows], axis=1)))
            order = rows[np.lexsort((ids[rows], points[axis, rows]))]
        sums = np.concatenate(([0.0], np.cumsum(weights[order])))
        place = int(np.argmin(np.abs(sums - sums[-1] * before / leaves)))
        if rows.size >= leaves:  # no leaf is empty
            place = min(max(place, before), rows.size - (leaves - before))
        last = place >= rows.size
        value, body = (np.inf, 0) if last else (float(points[axis, order[place]]), int(ids[order[place]]))
        self.cuts.append(Cut(axis, value, body, before, leaves))
        self._cut(points, ids, weights, order[:place], before)
        self._cut(points, ids, weights, order[place:], leaves - before)

    def leaf_of(self, points: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return the leaf (n,) of each point (3, n); identifiers (n,) decide on cuts."""
        result = np.zeros(len(ids), np.int32)
        cuts = iter(self.cuts)

        def descend(rows: np.ndarray, first: int, leaves: int) -> None:
            if leaves == 1:
                result[rows] = first
                return
            cut = next(cuts)
            x = points[cut.axis, rows]
            before = (x < cut.value) | (x == cut.value) & (ids[rows] < cut.body)
            descend(rows[before], first, cut.before)
            descend(rows[~before], first + cut.before, leaves - cut.before)

        descend(np.arange(len(ids)), 0, self.leaves)
        return result


def imbalance(loads: np.ndarray) -> float:
    """Return the largest load over the least one; infinite if a process has nothing to do."""
    least = loads.min()
    return float(loads.max() / least) if least > 0.0 else np.inf


@dataclass
class Balance:
    """When bodies are divided anew (docs/parallel.md, Division).

    Attributes
    ----------
    tolerance : float
        Largest load over the least one above which a new partition is made.
    weightfactor : float
        Weight of constraints relative to bodies.
    updatefreq : int
        Steps between two looks at the loads.
    """

    tolerance: float = 1.1
    weightfactor: float = 1.0
    updatefreq: int = 10
