"""A part of a model: the bodies that a process owns, and copies of bodies around them.

Every process holds the bodies within reach of its own, so that all contacts of its own bodies are found as in the whole model.
Contacts between copies near them are found, too: sparsification of a contact depends on contacts of the same two bodies
and of bodies at the same point, which are within reach.  Obstacles are in every part.  Rows ascend by identifiers in every part, so kernels that order
by row numbers use the order of the whole model.
"""

from __future__ import annotations

import numpy as np

from ..constraints.table import ConstraintTable
from ..errors import SolfecError
from ..kinds import BodyKind, SurfaceModel
from .communicator import Communicator

CARRIED = ("momentum", "energy")  # columns of the body table that a step changes, besides triples


class Part:
    """The part of a model on one process.

    Parameters
    ----------
    model : Domain
        The whole model, the same in all processes, with the column `owner` of its bodies set; bodies outside of the part are removed.
    world : Communicator
    reach : float
        Distance within which bodies are held; motions by a quarter of it end the part's validity [length].

    Attributes
    ----------
    own : ndarray of int
        Rows of the bodies that it owns.

    Raises
    ------
    SolfecError
        Bodies, constraints or options that cannot be divided yet.
    """

    def __init__(self, model, world: Communicator, reach: float):
        _check(model, world)
        _check_settings(model.settings, reach)
        self.model, self.world, self.reach = model, world, float(reach)
        model.states.update_shapes()
        bodies = model.bodies
        moving = bodies.view("kind") != BodyKind.OBSTACLE
        box, owner = bodies.view("extents").copy(), np.where(moving, bodies.view("owner"), -1)
        held = [moving & (_meeting(box, owner == rank, reach) | (owner == rank)) for rank in range(world.size)]
        ids, mine = bodies.view("id").copy(), world.rank
        model.remove_bodies(~(held[mine] | ~moving))
        model.deleted_bodies = 0
        self.sent = {rank: self._rows(ids[held[rank] & (owner == mine)]) for rank in range(world.size) if rank != mine}
        self.received = {rank: self._rows(ids[held[mine] & (owner == rank)]) for rank in range(world.size) if rank != mine}
        self.sent, self.received = ({rank: rows for rank, rows in plan.items() if rows.size} for plan in (self.sent, self.received))
        self.moving = bodies.view("kind") != BodyKind.OBSTACLE
        self.owned = self.moving & (bodies.view("owner") == mine)
        self.own = np.flatnonzero(self.owned)
        self._start = bodies.view("extents").copy()

    def _rows(self, ids: np.ndarray) -> np.ndarray:
        """Return rows of bodies, in an order that is the same in all processes."""
        return np.searchsorted(self.model.bodies.view("id"), ids)

    def advance(self, solver) -> None:
        """One time step; `solver` is a PartSweeps of this part.

        Raises
        ------
        SolfecError
            Bodies have moved so far that bodies outside of the part may touch them.
        """
        self.model.advance(solver)
        self._copy_states()
        self._check_reach()

    def copy(self, columns: np.ndarray, width: int, first: np.ndarray) -> None:
        """Copy columns first[b] .. first[b] + width - 1 of bodies that others own from their owners."""
        spans = {name: {rank: _spans(first[rows], width) for rank, rows in plan.items()} for name, plan in (("out", self.sent), ("in", self.received))}
        self.copy_columns(columns, spans["out"], spans["in"])

    def copy_columns(self, columns: np.ndarray, out: dict[int, np.ndarray], into: dict[int, np.ndarray]) -> None:
        """Copy columns of an array from owners to copies, by lists for each rank."""
        incoming = {rank: np.empty((len(numbers), len(columns))) for rank, numbers in into.items()}
        self.world.exchange({rank: np.ascontiguousarray(columns[:, numbers].T) for rank, numbers in out.items()}, incoming)
        for rank, numbers in into.items():
            columns[:, numbers] = incoming[rank].T

    def _copy_states(self) -> None:
        """Copy states of bodies at the end of a step."""
        bodies = self.model.bodies
        self.copy(bodies.configurations.conf, 4, bodies.conf_ptr)
        self.copy(bodies.triples.velo, 2, bodies.velo_ptr)
        rows = np.arange(bodies.n)
        for name in CARRIED:
            self.copy(getattr(bodies, name), 1, rows)

    def _check_reach(self) -> None:
        """Raise SolfecError, in all processes, if the box of a body has moved by a quarter of the reach."""
        moved = np.abs(self.model.bodies.view("extents") - self._start)[:, self.owned].max(initial=0.0)
        moved = float(self.world.largest(np.array([moved]))[0])
        if not moved <= 0.25 * self.reach:
            raise SolfecError(
                f"a body has moved by {moved:g} since the model was divided, more than a quarter of the reach {self.reach:g}; divide it anew"
            )


def _meeting(box: np.ndarray, marked: np.ndarray, reach: float) -> np.ndarray:
    """Return a mask of boxes (6, n) within reach of marked ones."""
    low, high = box[:3, marked] - reach, box[3:, marked] + reach
    result = np.zeros(box.shape[1], bool)
    if not marked.any():
        return result
    near = np.flatnonzero((box[:3] <= high.max(axis=1)[:, None]).all(axis=0) & (box[3:] >= low.min(axis=1)[:, None]).all(axis=0))
    for several in np.array_split(near, max(1, near.size * low.shape[1] // 10**6)):  # so that memory stays small
        below = (box[:3, several, None] <= high[:, None, :]).all(axis=0)
        result[several] = (below & (box[3:, several, None] >= low[:, None, :]).all(axis=0)).any(axis=1)
    return result


def _spans(first: np.ndarray, width: int) -> np.ndarray:
    """Return first, first + 1, ... of every body."""
    return (first[:, None] + np.arange(width)).ravel()


def _check(model, world: Communicator) -> None:
    """Raise SolfecError for features that several processes do not support yet."""
    bodies, constraints = model.bodies, model.constraints
    deformable = np.flatnonzero(bodies.view("kind") > BodyKind.RIGID)
    if deformable.size:
        body = deformable[0]
        kind = BodyKind(int(bodies.kind[body])).name
        raise SolfecError(f"{bodies.name(int(bodies.id[body]), kind)} cannot be shared by processes yet; only obstacles and rigid bodies can")
    refused = {
        "constraints of the user": constraints.user_count > 0,
        "extents of the scene": model.extents is not None,
        "quasi-statics": not model.dynamic,
        "forces by Python functions": model.loads.in_python,
        "functions before and after motion": bool(model.hooks),
        "cracks": bool(model.cracks.of_body),
        "surface model 'COHESIVE'": bool((model.surface_materials.view("model") == SurfaceModel.COHESIVE).any()),
    }
    for what, present in refused.items():
        if present:
            raise SolfecError(f"a model with {what} cannot be shared by processes yet")
    owner = bodies.view("owner")
    if ((owner < 0) | (owner >= world.size)).any():
        raise SolfecError(f"owners of bodies must be ranks from 0 to {world.size - 1}")


def _check_settings(settings, reach: float) -> None:
    """Raise SolfecError for options of detection that parts do not support, or whose distances exceed the reach."""
    if settings.follows_speed or settings.manifold or settings.patch:
        raise SolfecError("a model with contacts of 'MANIFOLD', in patches, or found ahead of time cannot be shared by processes yet")
    least = 8.0 * max(settings.min_distance, settings.margin)
    if not reach >= least:
        raise SolfecError(f"the reach {reach:g} of parts of a model must be at least {least:g}, eight times the distances of detection")


def pairs_of_rows(constraints: ConstraintTable, order: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Return rows of the two bodies (2, n) of contacts in this order, the smaller first; -1: an obstacle or none."""
    sides = np.array([constraints.master[order], constraints.slave[order]])
    return np.sort(np.where((sides >= 0) & moving[np.maximum(sides, 0)], sides, -1), axis=0)
