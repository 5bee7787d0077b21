"""The course of a spread model: every process has its own bodies and copies of those near them, and none has the whole model.

Processes make different bodies, or all the same ones.  RUN agrees on identifiers, divides the bodies and sends them to their owners.  The model of
the input is the part of this process from then on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from . import body_packing, end_notes, kept_memory, lost_bodies
from .body_rows import BodyRows
from .contact.swallowed import Swallowed
from .divided import Divided, Requests, is_solved_together, reach_of, refuse, sweeps_by_colours
from .errors import SolfecError
from .kinds import BodyKind, ConstraintKind, Motor
from .migration import constraint_ends
from .parallel.part import Part, Places, least_reach
from .parallel.partition import Balance, Partition
from .renumbering import agree
from .solvers.penalty import PenaltySolver
from .spread_frames import SpreadFrame, packed_alone

LEFT_OFF = "with SOLFEC.spread = 'ON'"


class Spread(Divided):
    """The course of a spread model; parameters are those of `Divided`, with the model that this process has made, and `renamed` of `agree`.

    Attributes
    ----------
    totals : tuple
        Numbers of bodies by their kind, and of degrees of freedom.
    common : int
        Number of bodies that all processes have made.
    notes : end_notes.Found
        What the end of a run tells of its last step.

    Raises
    ------
    SolfecError
        The model or the solver needs a process that has the whole model, or processes have made what cannot belong together.
    """

    def __init__(self, whole, world, solver, balance: Balance, requests: Requests, described: Callable[[], dict[str, bytes]], renamed):
        self._renamed = renamed
        super().__init__(whole, world, solver, balance, requests, described)
        self._note()

    def _contents(self):
        """Yield what must be equal in all processes."""
        model = self.whole
        yield "time and step", repr((model.step, model.time, model.step_number)).encode()
        yield from self._described().items()

    def divide(self) -> None:
        """Agree on identifiers, and send bodies to their owners."""
        whole, world = self.whole, self.world
        refuse_spread(whole, self.solver)
        whole.settle()
        self._margin = whole.settings.margin  # before parts have looked at sizes, as the first frame has it
        if whole.step_number:  # the run is continued, and processes have joined their models
            common, joined = np.ones(whole.bodies.n, bool), np.ones(whole.constraints.n, bool)
        else:
            common, joined = agree(whole, world, self._renamed)
        whole.spread = True
        self._next_id = whole.constraints.next_id
        part = self.part = Part.of_made(whole, world)
        if part.linked and whole.joint_correction:
            raise SolfecError(f"RUN: every process needs the gaps of all joints to correct them; {LEFT_OFF} take SOLFEC.joint_correction = 'OFF'")
        moving = whole.bodies.view("kind") != BodyKind.OBSTACLE
        places = part.places(moving & ~common if world.rank else moving)
        places = Places.joined(world.gathered(places))
        self._tree = Partition(places.centres, places.ids, places.weights, world.size)
        places.owner = self._tree.leaf_of(places.centres, places.ids)
        self._deal(places, moving, common, joined)
        self._count(int(np.count_nonzero(common)), world)
        self._solver = self._solver_of_parts()
        self._looks, self._due, self._used = 0, False, 0.0
        self._load, self._sent = self._work(), world.traffic.sent

    def _count(self, common: int, world) -> None:
        """Count the bodies of all processes."""
        bodies, mine = self.whole.bodies, self.part.mine
        counts = np.bincount(bodies.view("kind")[mine], minlength=len(BodyKind))
        *kinds, triples = world.total(np.append(counts, self.part.spans["velo"][1][mine].sum()).astype(np.int64)).tolist()
        self.totals, self.common = (dict(zip(BodyKind, kinds)), 3 * triples), common

    def _deal(self, places: Places, moving: np.ndarray, common: np.ndarray, joined: np.ndarray) -> None:
        """Send what this process alone has made to those who hold it, and remove what it does not hold."""
        part, model, world = self.part, self.whole, self.world
        reach = self._reach(places.boxes, places.speeds)
        holders = [places.ids[held] for held in part.held(places, reach)]
        ends = constraint_ends(model)
        guarded = np.append(~joined, np.zeros(model.constraints.n - joined.size, bool))
        parcels = []
        for rank, there in enumerate(holders):
            wanted = (np.isin(ends, there) | ~np.isin(ends, places.ids)).all(axis=0)
            parcels.append(body_packing.pack_constraints(model, wanted & (guarded | (rank == world.rank))))
        part.arrange(places, reach)
        model.geometry.workspace = None  # it has room for all bodies that this process has made; the next step makes another one
        ids, deleted = model.bodies.view("id").copy(), model.deleted_bodies
        self._keep(places, np.append(holders[world.rank], ids[~common]))
        self._send_bodies(places, holders, ids[~common], ids[~common & ~moving])
        self._keep(places, holders[world.rank])
        body_packing.replace_constraints(model, world.dealt(parcels))
        model.deleted_bodies = deleted
        model.constraints.next_id = self._next_id
        for table in (*BodyRows.of(model.bodies, model.geometry).tables.values(), model.constraints):
            table.trim()
        part.settle()
        kept_memory.give_back()

    def _send_bodies(self, places: Places, holders: list[np.ndarray], made: np.ndarray, still: np.ndarray) -> None:
        """Send bodies that only this process has made, those that stand `still` to all: one process after the other, so that little memory is taken."""
        model, world = self.whole, self.world
        for distance in range(1, world.size):
            target, parcels = (world.rank + distance) % world.size, [None] * world.size
            chosen = np.union1d(np.intersect1d(made, holders[target]), still)
            if chosen.size:
                parcels[target] = packed_alone(model, chosen)
            for bodies in world.dealt(parcels):
                if bodies is not None:
                    model.unpack_bodies(bodies)
            later = [holders[(world.rank + further) % world.size] for further in range(distance + 1, world.size)]
            self._keep(places, np.concatenate([holders[world.rank], *(np.intersect1d(made, there) for there in later)]))

    def _keep(self, places: Places, ids: np.ndarray) -> None:
        """Remove moving bodies other than these from the model."""
        known = self.whole.bodies.view("id")
        self.whole.remove_bodies(np.isin(known, places.ids) & ~np.isin(known, ids))

    def _reach(self, boxes: np.ndarray, speed: np.ndarray) -> float:
        """Return the reach of parts: distances of detection are the largest of all processes."""
        least = float(self.world.largest(np.array([least_reach(self.whole)]))[0])
        return reach_of(self.whole, least, boxes, speed)

    def go_on(self, solver, balance: Balance, requests: Requests, described: Callable[[], dict[str, bytes]]) -> None:
        """Begin another RUN of the same parts."""
        self.solver, self.balance, self.requests, self._described = solver, balance, requests, described
        self.signal, self.stop = None, False
        refuse_spread(self.whole, solver)
        self._refuse_changes()
        self._compare()
        self._solver = self._solver_of_parts()

    def _change_bodies(self) -> None:
        """Remove bodies that have left the scene from all parts."""
        whole = self.whole
        gone = np.unique(np.concatenate(self.world.gathered(self.part.lost)))
        if worst := self.worst:
            whole.report.worst = "" if whole.report.status == "OK" else worst()
        deleted = whole.deleted_bodies
        outside = np.isin(whole.bodies.view("id"), gone)
        whole.remove_bodies(outside)
        lost_bodies.note_lost(whole, gone)
        whole.deleted_bodies = deleted + gone.size
        self.part.drop(gone)
        self._solver = self._solver_of_parts()

    # --- what the input and results get ----------------------------------------------------------------------

    def collect(self) -> SpreadFrame | None:
        """Return a frame in process 0; in others send what process 0 writes, and return None."""
        settings, margin = self.whole.settings, None
        if settings.chooses_margin:
            margin = float(self.world.largest(np.array([settings.margin]))[0]) if self.whole.step_number else self._margin
        frame = SpreadFrame(self.part, self.world, margin)
        if self.world.rank == 0:
            return frame
        frame.serve()
        return None

    def show(self) -> None:
        """Bring shapes up to date, for functions of the user, which see what this process has, and note what they must not change.

        Steps change it: bodies go to other processes and leave the scene, constraints break.
        """
        self.whole.states.update_shapes()
        self._note()

    def take(self) -> None:
        """Refuse changes by functions of the user."""
        self._refuse_changes()

    def end(self) -> None:
        """End the course; the model stays as it is spread."""
        self.show()
        self.signal = int(self.world.largest(np.array([float(self.requests.signal() or 0)]))[0]) or None
        found = self.world.gathered((end_notes.found(self.whole), copy.copy(self.whole.swallowed)))
        self.notes = end_notes.joined(notes for notes, _ in found)
        self.whole.swallowed = Swallowed.joined(one for _, one in found)
        self.solver.noted = next(filter(None, self.world.gathered(self.solver.noted)), "")
        self.requests, self._described = Requests(lambda: None, lambda: False), dict

    def _note(self) -> None:
        """Note what only RUN may change."""
        self._noted = self._state()

    def _state(self) -> tuple:
        model = self.whole
        return model.next_body_id, model.bodies.n, model.deleted_bodies, model.state_changes, model.constraints.user_count

    def _refuse_changes(self) -> None:
        """Raise SolfecError, in all processes, if one has changed bodies or constraints."""
        changed = self.world.gathered(self._state() != self._noted)
        if any(changed):
            raise SolfecError(
                f"bodies, their states or constraints were changed in process {changed.index(True)} after the model had been spread; "
                "change them before the first RUN, or leave SOLFEC.spread = 'OFF'"
            )


def refuse_spread(model, solver) -> None:
    """Raise SolfecError for models and solvers that need a process with the whole model."""
    refuse(solver)
    if not (isinstance(solver, PenaltySolver) or sweeps_by_colours(solver)):
        raise SolfecError(
            f"RUN: {solver.command}, with the options given, may solve for all reactions in one process; {LEFT_OFF} take PENALTY_SOLVER, or GAUSS_SEIDEL_SOLVER "
            "without 'anderson', 'islands' and colouring = 'OFF'"
        )
    refused = {
        "Python functions within a step (of forces, springs, motors, or SOLFEC.before_motion and its like)": has_functions(model),
        "cracks": bool(model.cracks.of_body),
        "bodies that RT_SPLIT or BODY_SWITCH have replaced": bool(model.lives.fragments),
        "fracture checks": bool(model.bodies.view("fracture_check").any()),
        "a QUASI_STATIC analysis, or bodies of scheme 'DEF_LIM' or in a reduced base": is_solved_together(model),
    }
    for what, present in refused.items():
        if present:
            raise SolfecError(f"RUN: {what} need a process that has the whole model; leave SOLFEC.spread = 'OFF'")


def has_functions(model) -> bool:
    """Whether a step calls functions of the user."""
    constraints, users = model.constraints, slice(0, model.constraints.user_count)
    springs = (constraints.kind[users] == ConstraintKind.SPRING) & (constraints.curve[users] < 0)
    motors = constraints.motor[users] & Motor.CALLED
    return bool(model.hooks) or model.loads.in_python or bool(springs.any() or motors.any())


def join(whole, world, solver, renamed) -> None:
    """Give every process the bodies and constraints that others have made, so that all can read the state of a run that is continued.

    Parameters
    ----------
    whole : Domain
        What this process has made.
    world : Communicator
    solver : object
    renamed : callable
        As in `renumbering.agree`.
    """
    refuse_spread(whole, solver)
    whole.settle()
    common, joined = agree(whole, world, renamed)
    following = whole.next_body_id, whole.constraints.next_id
    everything = np.ones(whole.constraints.n, bool)
    constraints = body_packing.pack_constraints(whole, everything)
    apart = world.gathered(body_packing.pack_constraints(whole, ~joined))
    mine = packed_alone(whole, whole.bodies.view("id")[~common])
    for rank in range(world.size):  # one after the other, so that little memory is taken
        bodies = world.gathered(mine if rank == world.rank else None)[rank]
        if rank != world.rank:
            whole.unpack_bodies(bodies)
    body_packing.replace_constraints(whole, [constraints, *(others for rank, others in enumerate(apart) if rank != world.rank)])
    whole.next_body_id, whole.constraints.next_id = following
