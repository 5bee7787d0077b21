"""A part of a model: the bodies that a process owns, and copies of bodies around them and of those to which constraints of the user join them.

Every process holds the bodies within reach of its own, so that all contacts of its own bodies are found as in the whole model.
Contacts between copies near them are found, too: sparsification of a contact depends on contacts of the same two bodies
and of bodies at the same point, which are within reach.  Obstacles are in every part.  Rows ascend by identifiers in every part, so kernels that order
by row numbers use the order of the whole model.

Contacts do not act on obstacles, but constraints of the user may.  The first process moves such obstacles; others have copies of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _kernels
from ..bodies.table import conf_triples, velo_triples
from ..constraints.joint_starts import IS_JOINT
from ..constraints.supports import HeldBodies, joints_in_loops
from ..constraints.table import ConstraintKind, ConstraintTable
from ..contact.workspace import workspace_of
from ..errors import SolfecError
from ..kinds import BodyKind, Motor, RowKind, Scheme
from ..tables import opened, ranges
from .communicator import Communicator
from .partition import Partition
from .shared_compliance import solved_by_owners
from .shared_joints import SharedJoints

_bound_lengths = _kernels.motion_bounds.bound_lengths
_bound_motion = _kernels.motion_bounds.bound_motion

CARRIED = ("momentum", "energy")  # columns of the body table that a step changes, besides triples
CLUSTER = 16  # bodies of a process whose common box stands for them when copies are chosen
MOST_CLUSTERS = 512  # of a process
NO_CONTACT = np.iinfo(np.int64).max
MOVER = 0  # rank of the process that moves obstacles on which constraints act
VALID = 0.25  # part of the reach by which bodies may have moved while parts hold all that they touch
VISITS = 20  # of a sweep to a constraint that cost what all else of it costs in a step


@dataclass
class Places:
    """Where the moving bodies of a whole model are, in all processes alike.

    Attributes
    ----------
    ids : ndarray (n,)
        Identifiers, ascending.
    boxes : ndarray (6, n)
        Lower and upper corners.
    owner : ndarray (n,)
        Rank of the owner of each.
    weights : ndarray (n,)
        Work that each of them makes.
    speeds : ndarray (n,)
        Bounds of the speeds of their points.
    """

    ids: np.ndarray
    boxes: np.ndarray
    owner: np.ndarray
    weights: np.ndarray
    speeds: np.ndarray

    @classmethod
    def joined(cls, several: list[Places]) -> Places:
        """Join the places that processes have given."""
        order = np.argsort(np.concatenate([places.ids for places in several]))
        columns = {name: np.concatenate([getattr(places, name) for places in several], axis=-1)[..., order] for name in vars(several[0])}
        return cls(**columns)

    @property
    def centres(self) -> np.ndarray:
        """Centres (3, n) of the boxes."""
        return 0.5 * (self.boxes[:3] + self.boxes[3:])

    def loads(self, size: int) -> np.ndarray:
        """Return the sum of the weights of each of `size` processes."""
        return np.bincount(self.owner, self.weights, size)

    def held_by(self, rank: int, reach: float, links: np.ndarray) -> np.ndarray:
        """Return a mask of the bodies that a process owns, of those within reach of groups of these, and of partners of the process's bodies.

        `links` (2, m) are identifiers of the bodies on which constraints act together.
        """
        own = np.flatnonzero(self.owner == rank)
        result = self.owner == rank
        place = np.searchsorted(self.ids, links)
        moving = np.append(self.ids, 0)[place] == links
        owner = np.where(moving, np.append(self.owner, 0)[place], MOVER)
        result[place[(owner[::-1] == rank) & moving]] = True
        if not own.size:
            return result
        count = min(MOST_CLUSTERS, -(-own.size // CLUSTER))
        group = Partition(self.centres[:, own], self.ids[own], np.ones(own.size), count).leaf_of(self.centres[:, own], self.ids[own])
        low, high = np.full((3, count), np.inf), np.full((3, count), -np.inf)
        for axis in range(3):
            np.minimum.at(low[axis], group, self.boxes[axis, own] - reach)
            np.maximum.at(high[axis], group, self.boxes[3 + axis, own] + reach)
        near = np.flatnonzero((self.boxes[:3] <= high.max(axis=1)[:, None]).all(axis=0) & (self.boxes[3:] >= low.min(axis=1)[:, None]).all(axis=0))
        for several in np.array_split(near, max(1, near.size * count // 10**6)):  # so that memory stays small
            below = (self.boxes[:3, several, None] <= high[:, None, :]).all(axis=0)
            result[several] |= (below & (self.boxes[3:, several, None] >= low[:, None, :]).all(axis=0)).any(axis=1)
        return result


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
    moving, owned : ndarray of bool (n,)
        Bodies that are no obstacles, and those of them that it owns.
    own : ndarray of int
        Rows of the bodies that it owns.
    mine : ndarray of bool (n,)
        Bodies whose motion it computes for all: those that it owns, and in the first process the obstacles.
    sizes : tuple of int
        Numbers of the bodies in `mine`, and of their primitives.
    triples : ndarray of int
        Triples of the whole model that its bodies have.
    moved_columns : ndarray of int
        These, and the rigid motions of its bodies, which follow all triples of the whole model, two of each body.
    copied_triples : tuple of dict
        Velocity triples of own bodies that others have copies of, and of copies, by the numbers of the other processes.
    looped : ndarray
        Identifiers of constraints of joints and supports in loops, which may be redundant.
    shared : ndarray
        Identifiers of constraints of joints, links among them, in loops of joints: one process shares their reactions.
    held_bodies : HeldBodies
        Which constraints hold which bodies of the whole model.
    lost : ndarray of int
        Identifiers of bodies of `mine` that have left the scene in the last step.
    opening : list of tuple of int
        Own bodies that crack after the last step, ascending, and numbers of the cracks that open.
    ended : ndarray of int
        Rows of contacts that it counts and whose cohesion has ended in the last step.
    linked, jointed, breakable, bonding : bool
        Whether the whole model has constraints of the user, joints on moving bodies, constraints that break, and materials with cohesion.
    implicit : bool
        Whether it has finite elements of scheme 'DEF_LIM', for which their owners alone solve.
    sprung, motored : bool
        Whether it has springs, and motors, with Python functions.

    Raises
    ------
    SolfecError
        Owners that are no ranks, or a reach that is too small.
    """

    def __init__(self, model, world: Communicator, reach: float):
        owner = model.bodies.view("owner")
        if ((owner < 0) | (owner >= world.size)).any():
            raise SolfecError(f"owners of bodies must be ranks from 0 to {world.size - 1}")
        least = least_reach(model)
        if not reach >= least:
            raise SolfecError(f"the reach {reach:g} of parts of a model must be at least {least:g}, eight times the distances of detection")
        self._begin(model, world)
        places = self.places(model.bodies.view("kind") != BodyKind.OBSTACLE)
        ids = model.bodies.view("id").copy()
        held = self.arrange(places, reach)
        foreign = np.isin(ids, places.ids[~held], assume_unique=True)
        if foreign.any():
            deleted = model.deleted_bodies
            model.remove_bodies(foreign)
            model.deleted_bodies = deleted
        self.settle()

    @classmethod
    def of_made(cls, model, world: Communicator) -> Part:
        """Return a part whose model has what this process has made, with identifiers on which all agree; it still is to be arranged and settled."""
        part = cls.__new__(cls)
        part._begin(model, world)
        part._first_triples = None  # there is no whole model that numbers them
        marks = part.linked, part.jointed, part.breakable
        found = world.gathered((part.links, part._linking, part.driven, marks, part.held_bodies))
        part.held_bodies = HeldBodies.joined([one[4] for one in found])
        part.looped, part.shared = joints_in_loops(model, part.held_bodies), part.held_bodies.shared_joints()
        part._linking, first = np.unique(np.concatenate([one[1] for one in found]), return_index=True)
        part.links = np.concatenate([one[0] for one in found], axis=1)[:, first]
        part.driven = np.unique(np.concatenate([one[2] for one in found]))
        part.linked, part.jointed, part.breakable = np.any([one[3] for one in found], axis=0).tolist()
        part.sprung = part.motored = False
        if part.looped.size or part.shared.size:
            raise SolfecError("RUN: joints in loops, whose reactions one process shares, need SOLFEC.spread = 'OFF'")
        return part

    def _begin(self, model, world: Communicator) -> None:
        """Note what does not depend on which bodies are held, and bring the boxes of the model's bodies up to date."""
        self.model, self.world = model, world
        if world.size > 1:
            model.bodies.rank = world.rank
        self.elsewhere, self.lost, self.opening = SharedJoints(self), np.zeros(0, np.int64), []
        self.ended = np.zeros(0, int)
        self._note_constraints()
        self.implicit = bool(solved_by_owners(model.bodies).any())
        self.bonding = bool((model.surface_materials.view("cohesion") > 0.0).any())
        model.states.update_shapes()

    @property
    def everyone(self) -> tuple[np.ndarray, np.ndarray]:
        """Identifiers of the moving bodies of all processes, and ranks of their owners."""
        return self._owners

    def drop(self, gone: np.ndarray) -> None:
        """Forget bodies, given by identifiers, that have been removed from all parts."""
        stays = ~np.isin(self._owners[0], gone)
        self._owners = self._owners[0][stays], self._owners[1][stays]
        for plan in (self._sent, self._received):
            plan.update({rank: listed[~np.isin(listed, gone)] for rank, listed in plan.items()})
        self.links, self._linking = (column[..., ~np.isin(self.links, gone).any(axis=0)] for column in (self.links, self._linking))
        start, used = self._start_of, self.used
        self.settle()
        known = self.model.bodies.view("id")
        self._start = np.asfortranarray(start[1][:, np.searchsorted(start[0], known)])
        self._start_of, self.used = (known.copy(), self._start), used

    def arrange(self, places: Places, reach: float) -> np.ndarray:
        """Choose the bodies to hold and the lists of what is exchanged; return a mask of the former.

        Bodies of the model must be made to agree, and `settle` called, before the next step.
        """
        mine, size = self.world.rank, self.world.size
        self.reach = float(reach)
        held = self.held(places, reach)
        self.holders = [places.ids[mask] for mask in held] if self.driven.size and mine == MOVER else []
        owner, others = places.owner, [rank for rank in range(size) if rank != mine]
        self._sent = {rank: places.ids[held[rank] & (owner == mine)] for rank in others}
        self._received = {rank: places.ids[held[mine] & (owner == rank)] for rank in others}
        for plan, ranks in ((self._sent, others if mine == MOVER else ()), (self._received, () if mine == MOVER else (MOVER,))):
            for rank in ranks:
                plan[rank] = np.append(plan[rank], self.driven)
        self._owners = places.ids, owner
        return held[mine]

    def held(self, places: Places, reach: float) -> list[np.ndarray]:
        """Return, for each process, a mask of the moving bodies that it holds."""
        return [places.held_by(rank, reach, self.links) for rank in range(self.world.size)]

    def _note_constraints(self) -> None:
        """Note what all processes need of the constraints of the user in the whole model."""
        model = self.model
        bodies, constraints = model.bodies, model.constraints
        users = np.arange(constraints.user_count)
        still = bodies.view("kind") == BodyKind.OBSTACLE
        ends = pairs_of_rows(constraints, users, ~still)
        two = (ends >= 0).all(axis=0)
        moves = np.append(~still, False)[[constraints.master[users], constraints.slave[users]]].any(axis=0)  # the last one: no body
        self.linked, self.jointed = users.size > 0, bool((IS_JOINT[constraints.kind[users]] & moves).any())
        self.breakable = bool(np.isfinite(constraints.strength[users]).any())
        self.sprung = bool(((constraints.kind[users] == ConstraintKind.SPRING) & (constraints.curve[users] < 0)).any())
        self.motored = bool((constraints.motor[users] & Motor.CALLED).any())
        self.links, self._linking = bodies.id[ends[:, two]], constraints.id[users[two]]
        self._first_triples = bodies.view("id").copy(), bodies.view("velo_ptr").copy()
        self.body_count, self._triple_count = bodies.n, bodies.triples.n
        self.held_bodies = HeldBodies.of(constraints, bodies)
        self.looped, self.shared = joints_in_loops(model, self.held_bodies), self.held_bodies.shared_joints()
        if self.linked and (model.joint_correction or self.looped.size):
            self.inverse_inertia = bodies.triples.view("inverse_inertia").copy(order="F")  # of bodies that do not deform it is constant
        acted = np.unique(ends[ends >= 0])
        self.driven = bodies.id[acted[still[acted]]]  # obstacles on which constraints act

    def forget(self, constraints: np.ndarray) -> None:
        """Forget links by constraints, given by identifiers, that are gone."""
        stays = ~np.isin(self._linking, constraints)
        self.links, self._linking = self.links[:, stays], self._linking[stays]
        self.held_bodies = self.held_bodies.without(constraints)
        self.looped, self.shared = joints_in_loops(self.model, self.held_bodies), self.held_bodies.shared_joints()

    def settle(self) -> None:
        """Find the rows of the bodies that the model holds now."""
        bodies = self.model.bodies
        self.moving = bodies.view("kind") != BodyKind.OBSTACLE
        ids, owner = self._owners
        rows = np.flatnonzero(self.moving)
        bodies.owner[rows] = owner[np.searchsorted(ids, bodies.id[rows])]
        plans = ({rank: self._rows(listed) for rank, listed in plan.items()} for plan in (self._sent, self._received))
        self.sent, self.received = ({rank: rows for rank, rows in plan.items() if rows.size} for plan in plans)
        self.owned = self.moving & (bodies.view("owner") == self.world.rank)
        self.own = np.flatnonzero(self.owned)
        self.mine = self.owned | ~self.moving if self.world.rank == MOVER else self.owned
        self.sizes = int(np.count_nonzero(self.mine)), int(bodies.view("primitive_count")[self.mine].sum())
        size = bodies.view("kind"), bodies.view("node_count"), bodies.view("mode_count")
        self.spans = {"conf": (bodies.view("conf_ptr").copy(), conf_triples(*size)), "velo": (bodies.view("velo_ptr").copy(), velo_triples(*size))}
        first, width = self.spans["velo"]
        self.copied_triples = tuple({rank: ranges(first[rows], width[rows]) for rank, rows in plan.items()} for plan in (self.sent, self.received))
        if self._first_triples is not None:
            ids, first = self._first_triples
            rows = np.searchsorted(ids, bodies.view("id"))
            self.triples = ranges(first[rows], self.spans["velo"][1])
            self.moved_columns = np.concatenate([self.triples, ranges(self._triple_count + 2 * rows, np.full(rows.size, 2))])
        self._start = bodies.view("extents").copy(order="F")
        self._start_of = bodies.view("id").copy(), self._start
        if bodies.finite_elements is not None:
            bodies.finite_elements.current = False  # strains of copies were not
        self.used, self.jump = 0.0, np.zeros(bodies.n)
        self.arrangement = getattr(self, "arrangement", 0) + 1

    def _rows(self, ids: np.ndarray) -> np.ndarray:
        """Return rows of bodies, in an order that is the same in all processes."""
        return np.searchsorted(self.model.bodies.view("id"), ids)

    def places(self, chosen: np.ndarray, weights: np.ndarray | None = None) -> Places:
        """Return where the marked bodies are."""
        bodies = self.model.bodies
        weights = np.ones(bodies.n) if weights is None else weights
        columns = bodies.view("id"), bodies.view("extents"), bodies.view("owner"), weights, speeds(bodies)
        return Places(*(column[..., chosen].copy() for column in columns))

    def weights(self, factor: float) -> np.ndarray:
        """Return the work (n,) of each body: unknowns of it and, times `factor`, of its constraints; those of two moving bodies count half.

        Constraints that processes sweep cost more, the more sweeps the last step has taken.
        """
        model = self.model
        if model.report is not None and model.report.colours:
            factor *= 1.0 + model.report.iterations / VISITS
        bodies, constraints = model.bodies, model.constraints
        unknowns = 3.0 * self.spans["velo"][1] * self.moving
        result = unknowns.copy()
        ends = self.ends(np.arange(constraints.n))
        size = np.append(np.minimum(unknowns, 24.0), 0.0)  # of an element at most
        work = (size[ends[0]] + size[ends[1]]) * np.where((size[ends] > 0.0).all(axis=0), 0.5, 1.0)
        for side in ends:
            result += factor * np.bincount(side[side >= 0], work[side >= 0], bodies.n)
        return result

    def ends(self, order: np.ndarray) -> np.ndarray:
        """Return rows of the bodies (2, n) on which constraints act, the smaller first; -1: none."""
        return pairs_of_rows(self.model.constraints, order, self.moving)

    def holds(self, order: np.ndarray) -> np.ndarray:
        """Return whether constraints act on a body whose motion this process computes, so that their reactions are known."""
        ends = self.ends(order)
        return ((ends >= 0) & self.mine[ends]).any(axis=0)

    def counts(self, order: np.ndarray) -> np.ndarray:
        """Return whether this process is the one of all that counts constraints: that of the last body of each."""
        last = self.ends(order)[1]
        return (last >= 0) & self.mine[last]

    def contact_keys(self, rows: np.ndarray) -> np.ndarray:
        """Return keys (6, n) of contacts, in whose order a birth step numbers them: of further points of two primitives that touch still the identifier of
        their first contact before the step, or a large number; bodies, numbers of primitives, slot.

        Two primitives that have come apart, and are in contact with exchanged roles, count as new ones.
        """
        bodies, constraints = self.model.bodies, self.model.constraints
        one, two = (np.array([getattr(constraints, side + end)[rows] for end in ("", "_primitive")]) for side in ("master", "slave"))
        one[1], two[1] = (side[1] - bodies.primitive_ptr[side[0]] for side in (one, two))
        one[0], two[0] = bodies.id[one[0]], bodies.id[two[0]]
        swapped = (one[0] > two[0]) | (one[0] == two[0]) & (one[1] > two[1])
        low, high = np.where(swapped, two, one), np.where(swapped, one, two)
        known, sides = self._touching
        pairs, first = np.unique(self._pairs(*sides), return_index=True)
        wanted = self._pairs(constraints.master_primitive[rows], constraints.slave_primitive[rows])
        place = np.searchsorted(pairs, wanted)
        found = (np.append(pairs, -1)[place] == wanted) & np.isin(wanted, self._pairs(*self.model.geometry.workspace.joined))
        joined = np.where(found, np.append(known[first], 0)[place], NO_CONTACT)
        return np.array([joined, low[0], low[1], high[0], high[1], constraints.slot[rows]], np.int64)

    @staticmethod
    def _pairs(one: np.ndarray, two: np.ndarray) -> np.ndarray:
        """Return a number for each pair of primitives."""
        return np.minimum(one, two).astype(np.int64) << 32 | np.maximum(one, two)

    def _note_touching(self) -> None:
        """Note which primitives touch before the step, if their contacts may get further points."""
        constraints, settings = self.model.constraints, self.model.settings
        rows = slice(constraints.user_count, constraints.n if settings.patch or settings.manifold else constraints.user_count)
        self._touching = constraints.id[rows].copy(), np.array([constraints.master_primitive[rows], constraints.slave_primitive[rows]])

    def advance(self, solver) -> None:
        """One time step; `solver` is a PartSweeps of this part.

        Raises
        ------
        SolfecError
            Bodies have moved so far that bodies outside of the part may touch them.
        """
        self.step(solver)
        self.used = float(self.world.largest(np.array([self.motion()[0]]))[0])
        self.refuse_far()

    def step(self, solver) -> None:
        """One time step, at the end of which copies are in the states of their originals."""
        model = self.model
        workspace_of(model.geometry, model.bodies).rank = self.world.rank
        users, self.jump = model.constraints.user_count, np.zeros(model.bodies.n)
        self.opening = []
        self._note_touching()
        self.first_identifier = model.constraints.next_id
        model.advance(solver, self.elsewhere)
        gone = users - model.constraints.user_count  # constraints of the user
        self.first_new = model.geometry.workspace.first_new - gone
        if self.bonding:
            self.ended = self._find_ended(gone)

    def _find_ended(self, gone: int) -> np.ndarray:
        """Return `ended`, after a step in which so many constraints of the user have gone."""
        local = self.model.local_dynamics
        contacts, cohesion = slice(local.contacts), self.model.constraints.cohesion
        order = local.rows.order[contacts] - gone
        weakened = local.rows.kind[contacts] == RowKind.COHESIVE
        ended = order[(local.rows.lost[contacts] > 0) | weakened & ~(cohesion[order] > 0.0)]
        return ended[self.counts(ended)]

    def end_bonds(self) -> None:
        """End the cohesion of contacts between copies where their owners have found that it ends."""
        constraints = self.model.constraints
        gone = np.concatenate(self.world.gathered(constraints.id[self.ended]))
        constraints.view("cohesion")[np.isin(constraints.view("id"), gone)] = 0.0

    def copy(self, columns: np.ndarray, first: np.ndarray, width: np.ndarray) -> None:
        """Copy columns first[b] .. first[b] + width[b] - 1 of bodies that others own from their owners."""
        out, into = ({rank: ranges(first[rows], width[rows]) for rank, rows in plan.items()} for plan in (self.sent, self.received))
        self.copy_columns(columns, out, into)

    def copy_columns(self, columns: np.ndarray, out: dict[int, np.ndarray], into: dict[int, np.ndarray]) -> None:
        """Copy columns of an array from owners to copies, by lists for each rank."""
        incoming = {rank: np.empty((len(numbers), len(columns))) for rank, numbers in into.items()}
        by_number = columns.T
        self.world.exchange({rank: np.ascontiguousarray(by_number[numbers]) for rank, numbers in out.items()}, incoming)
        for rank, numbers in into.items():
            by_number[numbers] = incoming[rank]

    def copy_states(self) -> None:
        """Copy states of bodies at the end of a step, in one message to each neighbour."""
        bodies = self.model.bodies
        columns = [(bodies.configurations.conf, self.spans["conf"]), (bodies.triples.velo, self.spans["velo"])]
        columns += [(getattr(bodies, name), (np.arange(bodies.n), np.ones(bodies.n, int))) for name in CARRIED]
        places = {name: {rank: [ranges(first[rows], width[rows]) for _, (first, width) in columns] for rank, rows in plan.items()}
                  for name, plan in (("out", self.sent), ("in", self.received))}  # fmt: skip
        arrays = [column for column, _ in columns]
        outgoing = {rank: np.concatenate([array[:, k].ravel() for array, k in zip(arrays, rows)]) for rank, rows in places["out"].items()}
        incoming = {rank: np.empty(sum(len(array) * len(k) for array, k in zip(arrays, rows))) for rank, rows in places["in"].items()}
        self.world.exchange(outgoing, incoming)
        for rank, rows in places["in"].items():
            first = 0
            for array, k in zip(arrays, rows):
                array[:, k] = incoming[rank][first : first + len(array) * len(k)].reshape(len(array), len(k))
                first += len(array) * len(k)

    def motion(self) -> tuple[float, float]:
        """Return by how much a corner of the box of an own body has moved since the division.

        The second number is a bound of the same after the next step, within which boxes are looked at when bodies have made half of their way.
        """
        bodies = self.model.bodies
        if not bodies.n:  # kernels take no empty arrays
            return 0.0, 0.0
        moved, ahead, status = _bound_motion(bodies.handles, self.owned.astype(np.int32), self._start, self.jump, self.model.step)
        opened(status)
        return moved, ahead

    def note_jump(self, moved: np.ndarray) -> None:
        """Note displacements (3, triples) by which the correction of joints moves bodies at the end of a step."""
        self.jump = lengths(self.model.bodies, moved)

    def refuse_far(self) -> None:
        """Raise SolfecError if `used`, equal in all processes, is more than a quarter of the reach."""
        if not self.used <= VALID * self.reach:
            raise SolfecError(
                f"a body has moved by {self.used:g} since the model was divided, more than a quarter of the reach {self.reach:g}; divide it anew"
            )


def speeds(bodies) -> np.ndarray:
    """Return bounds (n,) of the speeds of the points of bodies."""
    return lengths(bodies, bodies.triples.velo)


def lengths(bodies, triples: np.ndarray) -> np.ndarray:
    """Return bounds (n,) of what velocity triples, of displacements or velocities, do to points of bodies.

    They are |v| + |w| s for a body whose box has the diagonal s, |v| + |dF F^-1| s for a pseudo-rigid one, and the largest of nodes
    (fortran/bodies/motion_bounds.f90).
    """
    result = np.zeros(bodies.n)
    opened(_bound_lengths(bodies.handles, np.asfortranarray(triples), result))
    return result


def is_implicit(bodies) -> np.ndarray:
    """Return which bodies are linearly implicit (scheme 'DEF_LIM'), so that all rows on one of them are coupled."""
    return (bodies.kind > BodyKind.RIGID) & (bodies.scheme == Scheme.DEF_LIM)


def least_reach(model) -> float:
    """Return the least reach of parts: eight times the distances of detection, those of moving bodies if they depend on primitives."""
    settings = model.settings
    margin = settings.margin
    if settings.chooses_margin:
        settings.set_margins(model.geometry)
        primitives = model.geometry.primitives
        moving = model.bodies.kind[primitives.view("body")] != BodyKind.OBSTACLE
        margin = float(primitives.view("margin")[moving].max(initial=0.0))
    return 8.0 * max(settings.min_distance, margin)


def pairs_of_rows(constraints: ConstraintTable, order: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Return rows of the bodies (2, n) on which constraints in this order act, the smaller first; -1: none.

    Contacts, and joints of mechanisms between two bodies, do not act on obstacles (fortran/solvers/row_order.f90).
    """
    sides = np.array([constraints.master[order], constraints.slave[order]])
    acted = moving[np.maximum(sides, 0)]
    if constraints.user_count:
        acted |= (constraints.kind[order] != ConstraintKind.CONTACT) & ((constraints.joint[order] == 0) | (sides[1] < 0))
    return np.sort(np.where((sides >= 0) & acted, sides, -1), axis=0)
