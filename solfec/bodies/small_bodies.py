"""Solutions with A = M + beta K of small co-rotated bodies (form 'BC') by stored inverses: a product is faster than a solution.

A is constant while step and damping are.  `Inverses` keeps those of bodies that stay when others come and go.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from .element_solver import LANES, step_key, stiffness_weight
from .table import BodyTable

MOST_UNKNOWNS = 250
MOST_ENTRIES = 100_000  # of matrices that are assembled at once

_add_solutions = _kernels.small_inverses.add_solutions
_invert = _kernels.small_inverses.invert
_take_rotations = _kernels.nodal_vectors.take_rotations


class Inverses:
    """Inverses of bodies with one number of unknowns.

    Attributes
    ----------
    values : ndarray (n, n, places)
    body, beta, place : ndarray (k,)
        Identifiers of the bodies, ascending, the weights of K, and where in `values` their inverses are.
    """

    def __init__(self, size: int):
        self.values = np.zeros((size, size, 0), order="F")
        self.body, self.beta, self.place = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int32)

    def of(self, body: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the places of the inverses of these bodies, ascending, and forget all others; -1: to be made by `make_room` and its caller."""
        at = np.minimum(np.searchsorted(self.body, body), max(len(self.body) - 1, 0))
        known = (self.body[at] == body) & (self.beta[at] == beta) if len(self.body) else np.zeros(len(body), bool)
        place = np.full(len(body), -1, np.int32)
        place[known] = self.place[at[known]]
        self.body, self.beta, self.place = body.astype(np.int64), beta.copy(), place
        return place

    def make_room(self) -> None:
        """Give places to bodies that have none."""
        missing, places = np.flatnonzero(self.place < 0), self.values.shape[2]
        taken = np.zeros(places, bool)
        taken[self.place[self.place >= 0]] = True
        free = np.flatnonzero(~taken)
        lack = len(missing) - len(free)
        if lack > 0:
            total = places + lack + (places + lack) // 4
            larger = np.zeros((*self.values.shape[:2], total), order="F")  # memory behind the places in use is none yet
            larger[..., :places] = self.values
            self.values, free = larger, np.append(free, np.arange(places, total))
        self.place[missing] = free[: len(missing)]


class SmallBodySolver:
    """Bodies of form 'BC' and scheme DEF_LIM with one number of unknowns, at most `MOST_UNKNOWNS`.

    Attributes
    ----------
    unknowns, size : int
        Number of unknowns of a body, and of all.
    rows, number : ndarray (k,) int32
        Rows of the bodies in the body table, ascending, and their numbers among all finite element bodies.
    dof_first, place : ndarray (k,) int32
        Start of their unknowns, and places of their inverses in `inverses`.
    beta : ndarray (k,)
        Weight of K in A [time**2].
    rotation : ndarray (3, 3, k)
        From the frame of the unknowns to space, at the last `refresh`.
    kept : Inverses
        `inverses` are its values.
    """

    linear = True
    newton = supports = None  # are for form 'TL'
    unstable: tuple[int, ...] = ()

    def __init__(self, fe, which: np.ndarray):
        self.fe = fe
        nodes = int(fe.first[which[0] + 1] - fe.first[which[0]])
        self.unknowns, self.size = 3 * nodes, 3 * nodes * len(which)
        self.rows, self.number = fe.rows[which].astype(np.int32), which.astype(np.int32)
        self.dof_first = (self.unknowns * np.arange(len(which))).astype(np.int32)
        self.place, self.beta = np.full(len(which), -1, np.int32), np.zeros(len(which))
        self.rotation = fe.rotation if len(which) == fe.count else np.zeros((3, 3, len(which)), order="F")
        self.kept = fe.inverses.setdefault(self.unknowns, Inverses(self.unknowns))
        self.key: tuple | None = None

    @property
    def inverses(self) -> np.ndarray:
        """Inverses A^-1 (n, n, places), of the bodies at `place`."""
        return self.kept.values

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Prepare solutions of this step."""
        if self.rotation is not self.fe.rotation:
            _take_rotations(self.number, self.fe.rotation, self.rotation)
        key = step_key(bodies, self.rows, step, dynamic)
        if key == self.key:
            return
        self.key = None  # until all inverses are made
        self.beta[:] = stiffness_weight(bodies.damping[self.rows], step, dynamic)
        place = self.kept.of(bodies.id[self.rows], self.beta)
        missing = np.flatnonzero(place < 0)
        self.kept.make_room()
        at_once = max(MOST_ENTRIES // self.unknowns**2, 1)
        for start in range(0, len(missing), at_once):
            self._make(bodies, missing[start : start + at_once], place)
        self.place[:] = place
        self.key = key

    def _make(self, bodies: BodyTable, missing: np.ndarray, place: np.ndarray) -> None:
        """Compute inverses of some of the bodies."""
        matrices = self._matrices(missing)
        failed = _invert(matrices)
        if failed >= 0:
            self.kept.body = self.kept.body[:0]
            name = bodies.name(int(bodies.id[self.rows[missing[failed]]]))
            raise SolfecError(f"{name}: the matrix of scheme DEF_LIM is not positive definite; check its material, damping and step")
        self.kept.values.T[place[missing]] = matrices.T

    def _matrices(self, chosen: np.ndarray) -> np.ndarray:
        """Return A (n, n, count) of some of the bodies."""
        fe, n, number = self.fe, self.unknowns, self.number[chosen]
        nodes, assembly = fe.nodes_and_elements(number)[0], fe.part(fe.assembly, number)
        stiffness = np.zeros(len(number) * n * n)
        for group, dense in zip(assembly.groups, assembly.element_stiffness(np.zeros((3, len(nodes)), order="F"))):
            width = 3 * group.size
            unknown = (3 * group.from_lanes(group.node)[:, :, None] + np.arange(3)).reshape(group.count, width)
            entry = unknown[:, None, :] * n + unknown[:, :, None] % n  # bodies have n unknowns each, one behind the other
            tangent = dense.transpose(3, 0, 1, 2).reshape(LANES * group.blocks, width, width)[: group.count]
            stiffness += np.bincount(entry.ravel(), tangent.ravel(), len(stiffness))
        matrices = stiffness.reshape(len(number), n, n) * self.beta[chosen, None, None]
        matrices[:, np.arange(n), np.arange(n)] += np.repeat(fe.mass[nodes], 3).reshape(len(number), n)
        return matrices.T

    def add_velocities(self, bodies: BodyTable, step: float, source: np.ndarray, by_row: bool) -> None:
        """Add h A^-1 f to velocities, for spatial forces f indexed by nodes of all bodies or by rows of velocity triples."""
        fe = self.fe
        _add_solutions(step, by_row, self.number, self.rotation, self.place, self.inverses, fe.first, fe.velo_row, source, bodies.triples.velo)
