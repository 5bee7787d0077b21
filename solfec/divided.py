"""The course of a model on several processes: steps of the parts, and the whole model that the user's input sees.

Every process makes the whole model, as its input tells it, and keeps it for the input.  Steps are made by parts.  Before a frame is written
process 0 collects the state of all parts in its whole model; before a callback, and at the end of RUN, all processes do.  What a callback
changes in the whole model, the same in all processes, reaches the parts because they are made anew.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter

import numpy as np

from . import fragments, kernel_level, lost_bodies
from .contact.swallowed import Swallowed
from .errors import SolfecError
from .first_impacts import copy_without_functions
from .kinds import BodyKind
from .migration import rearrange, state_of, take_states
from .parallel.gathered_solver import GatheredSolver, IslandSolver
from .parallel.kept_rows import KeptRows
from .parallel.part import VALID, Part, is_implicit, least_reach, speeds
from .parallel.part_newton import PartNewton
from .parallel.part_penalty import PartPenalty
from .parallel.part_sweeps import PartSweeps
from .parallel.partition import Balance, Partition, imbalance
from .parallel.statistics import COUNTS, Statistics, counts_of
from .parallel.sums import largest_of, summed, words
from .shared_loads import SharedLoads
from .solvers import diagnosis
from .solvers.auto import AutoSolver
from .solvers.gauss_seidel import GaussSeidelSolver
from .solvers.newton import NewtonSolver
from .solvers.penalty import PenaltySolver

REACH = 0.5  # reach of parts over the mean width of a body of median size
LASTING = 8  # steps for which copies last, if bodies keep their speeds
BETTER = 0.95  # largest load of a new partition, over that of the old one, for which bodies are worth moving
NO_KEY = -1, np.iinfo(np.int64).max  # below and above all numbers in keys
MANY_KEYS = 100_000  # new contacts whose keys processes do not tell one another all at once
PATIENCE = 0.1  # seconds between looks for the file STOP
SHARED = GaussSeidelSolver, PenaltySolver, AutoSolver, NewtonSolver  # solvers of models in parts
#: Columns in which processes compare the models that they have made: of bodies, of constraints, and of the tables of shapes.
COMPARED = ("kind", "scheme", "form", "law", "lame", "enhanced", "conserving", "rotation_disabled", "selfcontact", "fracture_check", "damping", "mass", "volume", "centre", "tensor")
COMPARED_CONSTRAINTS = ("id", "kind", "R", "length", "strength", "limits", "motor", "drive")
SHAPES = {
    "vertices": ("reference", "body"),
    "vertex_lists": ("vertex",),
    "faces": ("corner_ptr", "corner_count", "surface"),
    "corners": ("vertex",),
    "primitives": ("kind", "body", "volume_id", "surface", "radius", "radii", "orientation", "vertex_ptr", "vertex_count", "face_ptr", "face_count"),
}


@dataclass
class Requests:
    """What asks a run to end.

    Attributes
    ----------
    signal : callable
        Returns the number of a signal that this process has received, or None.
    stop_file : callable
        Returns whether the file STOP exists.
    """

    signal: Callable[[], int | None]
    stop_file: Callable[[], bool]


class Divided:
    """The course of a model in parts.

    Parameters
    ----------
    whole : Domain
        The whole model, equal in all processes.
    world : Communicator
    solver : ConstraintSolver
        One that parts can share (`refuse`).
    balance : Balance
    requests : Requests
    described : callable
        Returns what else must be equal in all processes: names, and bytes that describe it.

    Attributes
    ----------
    signal, stop : int or None, bool
        What all processes have agreed on after the last step: to end because of a signal, or of the file STOP.
    constraints : int
        Number of constraints of all parts.
    statistics : Statistics or None
        Counts of processes after the last step.
    watch : callable
        Gets the local dynamics of every step, None if they do not stand any more, and the rows that this process counts.

    Raises
    ------
    SolfecError
        The model or the solver has features that cannot be divided yet, or processes have made different models.
    """

    def __init__(self, whole, world, solver, balance: Balance, requests: Requests, described: Callable[[], dict[str, bytes]] = dict):
        refuse(solver)
        if world.size > 1 and whole.sleeping.on:
            raise SolfecError("RUN: SOLFEC.sleeping is for runs of one process; set it to 'OFF', or run without MPI")
        self.whole, self.world, self.solver, self.balance, self.requests, self._described = whole, world, solver, balance, requests, described
        self.signal: int | None = None
        self.stop = False
        self.constraints = whole.constraints.n
        self.statistics: Statistics | None = None
        self.watch: Callable = lambda local, counted: None
        self._looked = perf_counter()
        self._tree: Partition | None = None
        self.part: Part | None = None
        self._solver: PartSweeps | None = None  # of parts
        self._told: set[str] = set()  # contradictions of constraints of which users know
        self._shown = True  # the whole model is up to date
        self._compare()
        self.divide()
        if world.size > 1 and getattr(solver, "variant", "") == "BOUNDARY_JACOBI":
            solver.notify("GAUSS_SEIDEL_SOLVER: variant = 'BOUNDARY_JACOBI' shows what old reactions do: it diverges where bodies are packed")

    def _compare(self) -> None:
        """Raise SolfecError, with the same words in all processes, unless all have made the same model and have the same kernels."""
        if len(levels := set(self.world.gathered(kernel_level.chosen))) > 1:
            raise SolfecError(f"RUN: processes have kernels of different levels ({', '.join(sorted(levels))}); set SOLFEC_KERNELS to the lowest for all")
        made = self.world.gathered({name: sha256(content).digest() for name, content in self._contents()})
        for rank, others in enumerate(made):
            differing = [name for name, content in others.items() if content != made[0][name]]
            if differing:
                raise SolfecError(
                    f"RUN: processes 0 and {rank} have made different models: they differ in {', '.join(differing)}; "
                    "every process must make the same model, or SOLFEC.spread = 'ON' lets each make its own bodies (docs/parallel.md)"
                )

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        """Yield the names of all that makes up a model, with their bytes."""
        model = self.whole
        bodies, constraints = model.bodies, model.constraints
        yield "bodies", _bytes_of(bodies, "id") + str(model.next_body_id).encode()
        yield "properties of bodies", _bytes_of(bodies, *COMPARED)
        yield "shapes", b"".join(_bytes_of(getattr(model.geometry, table), *columns) for table, columns in SHAPES.items())
        yield "finite elements", b"".join(mesh.nodes.tobytes() + mesh.elements.tobytes() for _, mesh in sorted(bodies.meshes.items()))
        yield "positions and velocities", _bytes_of(bodies.configurations, "conf") + _bytes_of(bodies.triples, "velo") + _bytes_of(bodies, "momentum")
        yield "constraints", _bytes_of(constraints, *COMPARED_CONSTRAINTS) + str(constraints.next_id).encode()
        yield "time and step", repr((model.step, model.time, model.step_number)).encode()
        yield from self._described().items()

    @property
    def model(self):
        """The model that has the local dynamics of the last step."""
        return self.whole if self.part is None else self.part.model

    @property
    def reported(self):
        """The local dynamics whose rows the report of the last step names."""
        return self.whole.local_dynamics if self.part is None else self._solver.reported(self.part.model.local_dynamics)

    @property
    def worst(self) -> Callable[[], str] | None:
        """Return what names the worst row of the last step, in all processes together; None if one has all rows, or there are none."""
        if self.part is None or self.world.size == 1 or not self.statistics.total[COUNTS.index("CONSTRAINTS")]:
            return None
        return lambda: self._solver.worst_row(self.part.model.local_dynamics, self.whole.report)

    # --- division ------------------------------------------------------------------------------------------

    def divide(self) -> None:
        """Make the parts from the whole model."""
        whole, world, began = self.whole, self.world, perf_counter()
        before, self.part, self._solver, self._shown = self.part, None, None, True
        if world.size == 1 and not is_divisible(whole, self.solver):  # a callback has put something else
            return
        refuse(self.solver)
        if world.size > 1:
            self._tell_of_full_sweeps()
        whole.settle()
        whole.newborn.begin_motion(whole)
        self._next_id = whole.constraints.next_id
        if whole.joint_correction and whole.constraints.user_count:
            whole.uncorrected.note(whole.constraints, whole.bodies)
        model = whole if world.size == 1 else copy_without_functions(whole)
        if before is not None:
            model.cracks.keep_sections(before.model.cracks)
            model.swallowed = before.model.swallowed
        if world.size > 1:
            model.fractures.give()  # the whole model keeps them
        model.states.update_shapes()
        bodies = model.bodies
        moving = np.flatnonzero(bodies.view("kind") != BodyKind.OBSTACLE)
        boxes, ids = bodies.extents[:, moving], bodies.id[moving]
        centres = 0.5 * (boxes[:3] + boxes[3:])
        if self._tree is None:
            self._tree = Partition(centres, ids, np.ones(len(ids)), world.size)
        bodies.view("owner")[:] = 0
        bodies.owner[moving] = self._tree.leaf_of(centres, ids)
        whole.bodies.view("owner")[:] = bodies.view("owner")
        self.part = Part(model, world, self._reach(boxes, speeds(bodies)[moving]))
        if model is not whole and whole.loads.in_python:
            model.loads.sources.append(SharedLoads(self.part, whole))
        self._solver = self._solver_of_parts()
        self._looks, self._due, self._used = 0, False, 0.0
        self._load, self._sent = self._work(), world.traffic.sent
        if world.size > 1:
            whole.timings["PARBAL"] += perf_counter() - began

    def _tell_of_full_sweeps(self) -> None:
        """Warn once that sweeps are those of 'FULL', whatever the variant, where one process makes all of them."""
        solver = self.solver
        if not isinstance(solver, GaussSeidelSolver) or (solver.variant, solver.innerloops) == ("FULL", 1):
            return
        reason = ""
        if is_solved_together(self.whole):
            reason = "of a QUASI_STATIC analysis, or of a model with bodies of scheme 'DEF_LIM' or in a reduced base"
        elif not sweeps_by_colours(solver):
            reason = "with 'anderson', 'islands' or colouring = 'OFF'"
        if reason and reason not in self._told:
            self._told.add(reason)
            solver.notify(f"GAUSS_SEIDEL_SOLVER: process 0 makes all sweeps {reason}: as with variant = 'FULL' and innerloops = 1")

    def _reach(self, boxes: np.ndarray, speed: np.ndarray) -> float:
        """Return the reach of parts for moving bodies of boxes (6, n) and speeds (n,)."""
        return reach_of(self.whole, least_reach(self.whole), boxes, speed)

    def _solver_of_parts(self) -> PartSweeps:
        """Return what solves for the reactions in this part together with the others."""
        if is_solved_together(self.whole) and not (self.whole.dynamic and isinstance(self.solver, NewtonSolver)):
            return GatheredSolver(self.part, self.solver, self._told, self.whole)
        if isinstance(self.solver, PenaltySolver):
            return PartPenalty(self.part, self.solver, self._told, self.whole)
        if sweeps_by_colours(self.solver):
            return PartSweeps(self.part, self.solver, self._told, self.whole)
        kinds = {AutoSolver: IslandSolver, NewtonSolver: PartNewton}
        kind = next((kind for of, kind in kinds.items() if isinstance(self.solver, of)), GatheredSolver)
        return kind(self.part, self.solver, self._told, self.whole)

    def _make_sure(self) -> None:
        """Rearrange the parts before bodies come within reach of others that their parts do not hold, and where loads differ."""
        uneven = self._due and imbalance(self._loads) > self.balance.tolerance
        if self.world.size == 1 or self._used <= VALID and not uneven:
            return
        began = perf_counter()
        self._rearrange(uneven)
        self.whole.timings["PARBAL"] += perf_counter() - began

    def _rearrange(self, uneven: bool) -> None:
        """Make parts hold other bodies; `uneven`: loads differ."""
        part, world, balance = self.part, self.world, self.balance
        part.model.states.update_shapes()  # they are those of mid-step
        mine = part.places(part.owned, part.weights(balance.weightfactor))
        places = type(mine).joined(world.gathered(mine))
        owner = self._tree.leaf_of(places.centres, places.ids)
        if uneven:
            tree = Partition(places.centres, places.ids, places.weights, world.size)
            new = tree.leaf_of(places.centres, places.ids)
            loads = [np.bincount(leaves, places.weights, world.size).max() for leaves in (owner, new)]
            if loads[1] < BETTER * loads[0]:
                self._tree, owner = tree, new
            elif self._used <= VALID:
                return
        places.owner = owner
        bodies = self.whole.bodies
        if part.model is not self.whole:
            bodies.owner[np.searchsorted(bodies.view("id"), places.ids)] = owner
        rearrange(part, places, self._reach(places.boxes, places.speeds))
        self._used, self._due = 0.0, False

    # --- steps ---------------------------------------------------------------------------------------------

    def advance(self) -> None:
        """Advance all parts by one time step, and agree on whether the run goes on."""
        hooks = self.whole.hooks
        before = hooks.before if self.part is not None else []
        if before:
            self._call(hooks.call_before)
        if self.part is None:
            self._advance_whole(before)
            return
        self._make_sure()
        if self.part.model is self.whole:
            self._step()
        else:
            with self.whole.guard.step_of_parts():
                self._step()
        if self._changing:
            self._change_bodies()
            self.watch(None, slice(0))
        else:
            self.watch(self.part.model.local_dynamics, self._solver.counted)
        if hooks.after:
            self._note_worst()
            self._call(hooks.call_after)

    def _advance_whole(self, called: list[Callable]) -> None:
        """Make a step of the whole model, which no parts share; these functions before motion have been `called` already."""
        hooks = self.whole.hooks
        kept, hooks.before = hooks.before, [hook for hook in hooks.before if hook not in called]
        try:
            self.whole.advance(self.solver)
        finally:
            hooks.before = kept
        local = self.whole.local_dynamics
        self.watch(local if local.stands else None, slice(None))
        self.constraints, self.signal = self.whole.constraints.n, self.requests.signal()

    def _call(self, hooks: Callable) -> None:
        """Let all processes call functions of the user for the whole model, and make parts anew from it."""
        self.show()
        hooks(self.whole)
        self.take()

    def _step(self) -> None:
        """Make a step of all parts, and agree on what follows from it."""
        model, self._shown = self.part.model, False
        contact_energy, friction_energy = self.whole.contact_energy, self.whole.friction_energy
        self.part.step(self._solver)
        works = self._works(model)
        rows = np.arange(model.constraints.n)
        counted = self.part.counts(rows)
        now = self.world.traffic.sent
        counts = counts_of(self.part, counted, (now[0] - self._sent[0], now[1] - self._sent[1]), self._load)
        agreed = self._agree(np.concatenate([counts, -counts, largest_of(works)]))
        most, least, largest = np.split(agreed, [counts.size, 2 * counts.size])
        born = np.flatnonzero(counted & (rows >= self.part.first_new))
        total = self.world.total(np.array([born.size, *counts, *words(works, largest)], np.int64))
        self._number_contacts(model, born, int(total[0]))
        if self._ending and self.world.size > 1:
            self.part.end_bonds()
        sums = summed(total[counts.size + 1 :], largest)
        self.statistics = Statistics(self.world.size, total[1 : counts.size + 1], -least.astype(np.int64), most.astype(np.int64))
        self._sent = self.world.traffic.sent
        whole = self.whole
        whole.contact_energy, whole.friction_energy = contact_energy + float(sums[0] - sums[2]), friction_energy + float(sums[1] - sums[3])
        self.constraints, whole.sparsified = (int(self.statistics.total[COUNTS.index(name)]) for name in ("CONSTRAINTS", "SPARSIFIED"))
        if model is not whole:
            whole.time, whole.step_number, whole.step, whole.clock_origin = model.time, model.step_number, model.step, model.clock_origin
            whole.report = model.report
            whole.constraints.next_id = model.constraints.next_id
            if whole.cracks.faces:
                whole.cracks.take_faces()  # parts have bonded them
            for clock, seconds in model.timings.items():
                whole.timings[clock] += seconds
                model.timings[clock] = 0.0

    def _work(self) -> float:
        """Return the work that the bodies of this process make."""
        return float(self.part.weights(self.balance.weightfactor)[self.part.own].sum())

    def _note_worst(self) -> None:
        """Keep the names of the worst row and of contradictory ones of a step that was not solved, before parts are made anew."""
        report, local = self.whole.report, self.whole.local_dynamics
        if report is None or report.status == "OK" or report.worst:
            return
        if not self.solver.names_contradictions:
            report.contradiction = diagnosis.contradiction(self.reported)
        if worst := self.worst:
            report.worst = worst()
        elif local.n:
            report.worst = diagnosis.worst_row(local, report)

    def _change_bodies(self) -> None:
        """Remove bodies that have left the scene from the whole model, and open cracks in it; then make parts anew."""
        whole, found = self.whole, self.world.gathered((self.part.lost, self.part.opening))
        self._note_worst()
        self.show()
        gone = np.concatenate([lost for lost, _ in found])
        lost_bodies.remove_lost(whole, np.isin(whole.bodies.view("id"), gone))
        opening = sorted(crack for _, several in found for crack in several)
        fragments.open_cracks(whole, [crack for crack in opening if whole.is_alive(crack[0])])
        self.constraints = whole.constraints.n
        self.divide()

    def _agree(self, others: np.ndarray) -> np.ndarray:
        """Agree on how far bodies have moved, on loads, requests to end, changes of bodies and ends of bonds; return the largest of other numbers, too."""
        now, part = perf_counter(), self.part
        stop = False
        if self.world.rank == 0 and now - self._looked >= PATIENCE:
            self._looked = now
            stop = self.requests.stop_file()
        self._looks += 1
        self._due = self._looks % self.balance.updatefreq == 0
        load = self._load = self._work() if self._due else self._load
        changing = part.lost.size > 0 or len(part.opening) > 0
        moved, ahead = part.motion()
        mine = [moved, ahead / part.reach, load, -load, float(self.requests.signal() or 0)]
        mine += map(float, (stop, changing, part.ended.size > 0))
        agreed = self.world.largest(np.array([*mine, *others]))
        part.used, self._used, self._loads = float(agreed[0]), float(agreed[1]), np.array([agreed[2], -agreed[3]])
        self.signal = int(agreed[4]) or None
        self.stop, self._changing, self._ending = (agreed[5:8] > 0.0).tolist()
        if self.world.size > 1:
            part.refuse_far()
        return agreed[len(mine) :]

    def _number_contacts(self, model, born: np.ndarray, total: int) -> None:
        """Give new contacts the identifiers that they would have in the whole model; `born` are those that this process counts."""
        world, constraints = self.world, model.constraints
        if world.size == 1:
            return
        first, self._next_id = self._next_id, self._next_id + total
        if total:
            rows = np.arange(self.part.first_new, constraints.n)
            wanted = self._varying(self.part.contact_keys(rows))
            keys, place = wanted[:, born - self.part.first_new], first
            for several in self._told_keys(keys, total):
                place = place + _places(several[:, np.lexsort(several[::-1])], wanted)
            constraints.id[rows] = place
        constraints.next_id = self._next_id

    def _varying(self, keys: np.ndarray) -> np.ndarray:
        """Return the first of the lines of keys (6, n), and those that are not the same for all keys of all processes."""
        ends = keys.max(axis=1, initial=NO_KEY[0]), keys.min(axis=1, initial=NO_KEY[1])
        most, least = np.split(self.world.largest(np.concatenate([ends[0], -ends[1].astype(float)])), 2)
        return np.ascontiguousarray(keys[(most > -least) | (np.arange(len(keys)) == 0)])

    def _told_keys(self, keys: np.ndarray, total: int) -> Iterator[np.ndarray]:
        """Yield keys (k, n) of all processes, which are so many in `total`: at once, or those of one process after the other, which takes less memory."""
        if total <= MANY_KEYS:
            yield np.concatenate(self.world.gathered(keys), axis=1)
            return
        for rank in range(self.world.size):
            yield self.world.gathered(keys if rank == self.world.rank else None)[rank]

    def _works(self, model) -> np.ndarray:
        """Return the works (4, n) of normal and tangential contact reactions in the step, positive ones and then negative ones."""
        local, counted = model.local_dynamics, self._solver.counted
        rows = counted[counted < local.contacts]
        mean = local.rows.U[:, rows] - local.rows.turning[:, rows] + local.rows.V[:, rows]
        R = local.rows.R[:, rows]
        time = model.step if model.dynamic else 0.0  # in quasi-statics no work is counted
        works = 0.5 * time * np.array([mean[2] * R[2], mean[0] * R[0] + mean[1] * R[1]])
        rolling = local.rows.contact[rows] >= 0
        works[1, rolling] += works[0, rolling]
        works[0, rolling] = 0.0
        return np.concatenate([np.maximum(works, 0.0), np.maximum(-works, 0.0)])

    # --- the whole model -----------------------------------------------------------------------------------

    def collect(self) -> None:
        """Bring the whole model of process 0 up to date; its clocks show the longest times of all processes, and the others' zero."""
        if self.world.size == 1:
            return
        clocks = self.whole.timings
        found = self.world.collected((None if self._shown else state_of(self.part), dict(clocks)))
        if found is not None and not self._shown:
            take_states(self.whole, [state for state, _ in found])
        clocks.update({clock: max((times[clock] for _, times in found or ()), default=0.0) for clock in clocks})

    def show(self) -> None:
        """Bring the whole model of all processes up to date, for functions of the user."""
        if self.world.size > 1 and not self._shown:
            take_states(self.whole, self.world.gathered(state_of(self.part)))
            self.whole.states.update_shapes()
            self._keep_rows()
            self._shown = True

    def _keep_rows(self) -> None:
        """Keep the rows of the last step for LOCDYN_DUMP and FCLIB_EXPORT, unless parts have been made anew since."""
        local = self.part.model.local_dynamics
        fallen, coupled = self.world.largest(np.array([float(not local.stands), float(local.coupled)])) > 0.0
        if not fallen:
            self.whole.kept_rows = KeptRows.of(self.part, self._solver.counted, self._solver.held, bool(coupled))

    def take(self) -> None:
        """Take over what functions of the user have changed in the whole model, the same in all processes."""
        if self.world.size > 1:
            self._compare()
        self.divide()

    def end(self) -> None:
        """End the course: all processes have the whole model."""
        self.show()
        self.solver.noted = next(filter(None, self.world.gathered(self.solver.noted)), "")
        self.signal = int(self.world.largest(np.array([float(self.requests.signal() or 0)]))[0]) or None
        if self.part is None:
            return
        self.whole.swallowed = Swallowed.joined(self.world.gathered(copy.copy(self.part.model.swallowed)))


def reach_of(whole, least: float, boxes: np.ndarray, speed: np.ndarray) -> float:
    """Return the reach of parts that suits a model with moving bodies of boxes (6, n) and speeds (n,)."""
    width = (boxes[3:] - boxes[:3]).mean(axis=0)
    typical = float(np.median(width)) if width.size else 0.0
    return max(least, REACH * typical, 4.0 * LASTING * whole.step * float(speed.max(initial=0.0)))


def refuse(solver) -> None:
    """Raise SolfecError for solvers that several processes do not support yet."""
    if not isinstance(solver, SHARED):
        known = "GAUSS_SEIDEL_SOLVER, NEWTON_SOLVER, AUTO_SOLVER and PENALTY_SOLVER"
        raise SolfecError(f"RUN: several processes support {known} so far, not {solver.command}; run one process")


def sweeps_by_colours(solver) -> bool:
    """Whether a solver sweeps by colours, which needs no process that has all constraints."""
    plain = isinstance(solver, GaussSeidelSolver) and not (getattr(solver, "anderson", False) or getattr(solver, "islands", False))
    return plain and solver.colouring != "OFF"


def is_solved_together(whole) -> bool:
    """Whether one process must solve for all reactions of a model, whatever the solver."""
    return not whole.dynamic or bool(is_implicit(whole.bodies)[: whole.bodies.n].any())


def is_divisible(whole, solver) -> bool:
    """Whether a single process may take the way of several."""
    try:
        refuse(solver)
    except SolfecError:
        return False
    return not is_solved_together(whole)


def _bytes_of(table, *columns: str) -> bytes:
    """Return the rows of these columns as bytes."""
    return b"".join(np.ascontiguousarray(table.view(column)).tobytes() for column in columns)


def _places(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return places (n,) of wanted keys (k, n) among sorted ones (k, m), of others where they would be."""
    both = np.concatenate([keys, wanted], axis=1)
    kind = np.repeat([1, 0], [keys.shape[1], wanted.shape[1]])  # a wanted one comes before its equal
    order = np.lexsort((kind, *both[::-1]))
    before = np.cumsum(kind[order]) - kind[order]
    result = np.empty(len(order), int)
    result[order] = before
    return result[keys.shape[1] :]
