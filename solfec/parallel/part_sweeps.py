"""Gauss-Seidel over the parts of a model: exact sweeps by colours, with the same bits for any number of processes."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np

from .. import _kernels
from ..kinds import RowKind
from ..solvers import contradictory_rows, diagnosis
from ..solvers.constraint_solver import ConstraintSolver
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.report import STATUS, SolverReport
from ..tables import opened, ranges
from .colour_messages import ColourMessages, Plan
from .colours import WORD, colour
from .gathered_rows import Gathering
from .measures import larger, measured
from .part import MOVER, Part
from .part_springs import PartSprings
from .reductions import Reduction
from .sums import SweepSums
from .sweep_course import OPERATIONS, SweepCourse
from .sweep_stages import SweepStages

_begin = _kernels.part_sweeps.begin_parts
_sweep = _kernels.part_sweeps.sweep_part
_sweep_with_messages = _kernels.part_sweeps.sweep_with_messages
_find_velocities = _kernels.part_sweeps.find_part_velocities
_finish = _kernels.part_sweeps.finish_parts

NO_ROWS = np.zeros(0, np.int32)
GROWN = 1e4  # factor by which |dR|^2 may exceed its least before a variant counts as diverging


class PartSweeps(ConstraintSolver):
    """Gauss-Seidel sweeps over the rows on the bodies of one part; momenta of copies are updated after every colour.

    Both owners sweep a row on bodies of two owners, with the same numbers.  In the variants other than 'FULL' one of them does (sweep_stages).

    Parameters
    ----------
    part : Part
    settings : GaussSeidelSolver
        Accuracy, bound on sweeps, block solver, order, failure policy.
    told : set of str, optional
        Contradictions of which users know already; new ones are added.
    whole : Domain, optional
        The whole model of this process; without it joints that may be redundant keep the reactions to which the sweeps have come.

    Attributes
    ----------
    ends : ndarray (2, n) of int
        Rows of the bodies on which each row acts, the smaller first; -1: none.
    held : ndarray of int
        Rows on own bodies, which this process sweeps.
    counted : ndarray of int
        Those of them that it counts in sums over all processes.
    judged : ndarray of int
        Rows whose changes it counts to end the sweeps.
    last : ndarray of int
        Rows on obstacles, which process `MOVER` sweeps last.
    lists, plans
        Of each colour: its rows, and the triples that are exchanged after it.
    """

    stored_form = False
    colouring = "OFF"
    names_contradictions = True

    def __init__(self, part: Part, settings: GaussSeidelSolver, told: set[str] | None = None, whole=None):
        self.part, self.given, self.told, self.whole = part, settings, set() if told is None else told, whole
        self._joints = Gathering(part, whole) if part.shared.size and whole is not None else None
        self.failure = settings.failure
        self._coloured: tuple | None = None  # what the colours are for
        self._messages: ColourMessages | None = None  # that follow them
        self._sums: Reduction | None = None  # of figures of rows, which end the sweeps
        self._stages: SweepStages | None = None  # of variants
        self._springs: PartSprings | None = None  # with Python functions

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies."""
        began = perf_counter()
        self._regard_all(local)
        self._find_rows(local)
        self._choose_rows(0, self.given)
        self.part.model.timings["GSINIT"] += perf_counter() - began
        report = self._nearest(local, lambda: self._iterate(local, self.given))
        self._explain(local, report)
        self.given.take(local, report, self._agreed, self._reason)
        self._leave_to_others(local)
        return report

    def _nearest(self, local, once: Callable[[], SolverReport]) -> SolverReport:
        """Solve once, and once more for the nearest velocities if constraints contradict one another, as `contradictory_rows.solve` does: one process finds out."""
        report, part = once(), self.part
        if not part.linked or self.whole is None or self.whole.spread or (report.status == "OK" and report.residual <= contradictory_rows.UNMET):
            return report
        if not part.world.largest(np.array([float(contradictory_rows.may_contradict(local, self.counted))]))[0]:
            return report
        rows = Gathering(part, self.whole)
        rows.collect(local, self.counted, self.held, False)
        found = contradictory_rows.excess_of(rows.rows) if rows.here else None
        if not part.world.largest(np.array([float(found is not None)]))[0]:
            return report
        excess = np.zeros((3, local.n))
        excess[:, rows.mine] = rows.spread(None if found is None else found.T, 3).T
        with contradictory_rows.without(local, excess):
            report = once()
        report.merit, report.residual = measured(local, self.counted, part.driven.size > 0, False, part.world)
        report.status = self.given.error = "DIVERGED"
        report.cause = contradictory_rows.CAUSE
        return report

    def _explain(self, local, report: SolverReport) -> None:
        """Give the report of a solution that failed the cause that any process finds."""
        self.given.explain(local, report)
        if report.status != "OK" and self.part.bonding:
            report.cause = max(self.part.world.gathered(report.cause))

    def _leave_to_others(self, local) -> None:
        """Let contacts on copies alone keep their cohesion: others have their reactions, and tell where cohesion ends (`Part.end_bonds`)."""
        if not self.part.bonding:
            return
        rows = self._foreign(local)
        rows = rows[rows < local.contacts]
        local.rows.lost[rows] = 0
        local.rows.kind[rows[local.rows.kind[rows] == RowKind.COHESIVE]] = RowKind.OPEN  # whose damage does not grow

    def _foreign(self, local) -> np.ndarray:
        """Return the rows on copies of bodies alone."""
        foreign = np.ones(local.n, bool)
        foreign[self.held] = False
        return np.flatnonzero(foreign)

    def share(self, local) -> None:
        """Give redundant joints reactions of least norm: one process gets the rows of all joints in loops."""
        if self._joints is None:
            return
        joints, rows, identifiers = self._joints, local.rows, local.constraints.id[local.rows.order[: local.n]]
        counted, held = (listed[np.isin(identifiers[listed], self.part.shared)] for listed in (self.counted, self.held))
        joints.collect(local, counted, held, False)
        if joints.here:
            self.whole.shares.share(joints.rows)
        found = joints.spread(joints.rows.rows.R[:, : joints.rows.n].T if joints.here else None, 3).T
        rows.R[:, joints.mine] = found
        local.constraints.R[:, rows.order[joints.mine]] = found

    def reported(self, local):
        """Return the local dynamics whose rows a report names."""
        return local

    def worst_row(self, local, report: SolverReport) -> str:
        """Return the name of the row with the largest residual in any process."""
        residual, mine = local.rows.residual, self.counted
        size = np.where(np.isfinite(residual[mine]), residual[mine], np.inf).max(initial=-1.0)
        return max(self.part.world.gathered((float(size), diagnosis.worst_row(local, report, mine) if mine.size else "")))[1]

    def _reason(self, local, report: SolverReport) -> str:
        """Return what all processes say of a solution that failed: a process alone has rows that others solve, or none."""
        found = self.part.world.gathered(diagnosis.contradiction(self.reported(local)))
        return next(filter(None, found), "") or self.worst_row(local, report)

    def _regard_all(self, local) -> None:
        """Raise `rows.speed` to the velocities of motors and springs of joints in all processes."""
        if self.part.linked:
            local.raise_speeds(float(self.part.world.largest(np.array([local.asked]))[0]))

    def _agreed(self, fault: str) -> str:
        """Return a contradiction that a process has found and that is new, or ''."""
        new = sorted(set(self.part.world.gathered(fault)) - self.told - {""})
        self.told.update(new)
        return new[0] if new else ""

    def _tell(self, text: str) -> None:
        """Warn of the sweeps once."""
        if self._agreed(text):
            self.given.notify(f"GAUSS_SEIDEL_SOLVER: {text}")

    def _iterate(self, local, given: GaussSeidelSolver, whole: bool = True) -> SolverReport:
        """Sweep the chosen rows until their reactions stop changing, then compute velocities and errors; `whole`: these are all rows."""
        part = self.part
        began = perf_counter(), *self._seconds_of_messages()
        given.make_room()
        self._springs = PartSprings(local) if part.sprung else None
        if given.meritval < 1.0 and not self._any_velocity(local):
            local.rows.R[:, : local.n] = 0.0  # as in fortran/solvers/gauss_seidel.f90
        self._gather(local)
        if self._messages and not self._springs and not self._stages and given.meritval >= 1.0 and given.maxiter > 0:
            left, iterations, error, merit, converged, fallbacks = self._sweep_at_once(local, given)
        else:
            left, iterations, error, merit, converged, fallbacks = self._sweep_one_by_one(local, given)
        self._gather(local)
        merit, residual = self._measured(local, noting=False, unit=given.unit)
        if whole:
            opened(_finish(local.handles, local.n))
        if whole and not left[1:].any() and residual == 0.0:  # all errors are within round-off; reactions may keep changing
            converged = converged or given.meritval >= 1.0 or merit <= given.meritval
        status = 3 if left[2] or not math.isfinite(error) else 2 if left[1] else int(not converged)
        self._count_seconds(*began)
        if self._stages is None:
            return SolverReport(iterations, error, merit, residual, STATUS[status], fallbacks, colours=self.colours)
        sets = tuple(self._stages.total.tolist())
        return SolverReport(iterations, error, merit, residual, STATUS[status], fallbacks, colours=self._stages.colours, sets=sets)

    def _sweep_at_once(self, local, given: GaussSeidelSolver) -> tuple[np.ndarray, int, float, float, bool, int]:
        """Do what `_sweep_one_by_one` does, in a kernel."""
        self._sums = self._sums or Reduction.of(self.part.world, OPERATIONS)
        course = SweepCourse.run(local, self._messages, self._sums, self.judged, given, self.part.world)
        return course.left, course.sweeps, course.error, 0.0, course.converged > 0, course.fallbacks

    def _sweep_one_by_one(self, local, given: GaussSeidelSolver) -> tuple[np.ndarray, int, float, float, bool, int]:
        """Sweep until reactions stop changing; return counts of blocks in the last sweep, sweeps, error, merit, whether they converged, fall-backs in all."""
        sums, counts = np.zeros((5, max(local.n, 1)), order="F"), np.zeros(3, np.int32)
        fallbacks, iterations, error, merit, converged = 0, 0, 0.0, 0.0, False
        left = np.zeros(3, np.int64)
        least, totals = np.inf, SweepSums(self.part.world)
        first = local.rows.R[:, : local.n].copy() if self._stages else None
        while not converged and iterations < given.maxiter and math.isfinite(error) and math.isfinite(merit):
            iterations += 1
            counts[:] = 0
            self._sweep(local, given, given.reverse and iterations % 2 == 0, sums, counts)
            left, (change, driven_change, size, driven_size, postponed) = totals(self.judged, sums, counts)
            fallbacks += int(left[0])
            error = larger([_relative(change, size), _relative(driven_change, driven_size)])
            if self._stages and not change <= GROWN * least and iterations < given.maxiter:
                self._give_up_variant(local, first)
                error = 1.0
            least = min(least, max(change, given.epsilon**2 * size))
            if given.meritval < 1.0:
                self._gather(local)
                merit, _ = self._measured(local, noting=True, unit=given.unit)
            given.record(iterations - 1, error, merit)
            converged = error <= given.epsilon and postponed <= given.epsilon**2 * size and (given.meritval >= 1.0 or merit <= given.meritval)
        return left, iterations, error, merit, converged, fallbacks

    def _seconds_of_messages(self) -> tuple[float, float]:
        """Return the wall time of all messages so far, and of those about middle rows."""
        return self.part.world.traffic.seconds, self._stages.seconds_of_middle if self._stages else 0.0

    def _count_seconds(self, began: float, messages: float, of_middle: float) -> None:
        """Count the time since `began` to the clocks of sweeps; `messages`, `of_middle` are the times of messages until then."""
        clocks, (all_messages, all_of_middle) = self.part.model.timings, self._seconds_of_messages()
        spent, middle = all_messages - messages, max(all_of_middle - of_middle, 0.0)  # a variant that diverges leaves its stages
        clocks["GSRUN"] += perf_counter() - began - spent
        clocks["GSCOM"] += spent - middle
        clocks["GSMCOM"] += middle

    def _find_rows(self, local) -> None:
        """Find the rows on own bodies, and those that this process counts."""
        part, order = self.part, local.rows.order[: local.n]
        self.ends = part.ends(order)
        self.held = np.flatnonzero(((self.ends >= 0) & part.mine[self.ends]).any(axis=0)).astype(np.int32)
        self.counted = self.held[part.mine[self.ends[1, self.held]]]  # by the owner of the body with the higher identifier

    def _give_up_variant(self, local, reactions: np.ndarray) -> None:
        """Go over to 'FULL' for the rest of this solution, from these reactions, and tell it once."""
        text = f"variant = {self.given.variant!r} diverges in this model: steps in which it does are solved by 'FULL'"
        self._tell(text)
        self._stages = None
        local.rows.R[:, : local.n] = reactions
        self._choose_rows(0, None)
        self._gather(local)

    def _choose_rows(self, first_row: int, given: GaussSeidelSolver | None = None) -> None:
        """Choose the rows to sweep, from the first one on; find those of each colour, and what is exchanged after each of them.

        `given` has the variant; None: 'FULL'.

        Rows on obstacles have no colour, since an obstacle may carry thousands: process `MOVER`, which holds all of them, sweeps them last.
        """
        part = self.part
        variant = given.variant if given is not None and part.world.size > 1 else "FULL"
        self._loops = given.innerloops if given is not None and part.world.size > 1 else 1
        swept, judged, last = self.held, self.counted, NO_ROWS
        if first_row:
            swept, judged = swept[swept >= first_row], judged[judged >= first_row]
        if part.driven.size:
            on_obstacles = ((self.ends >= 0) & ~part.moving[self.ends]).any(axis=0)
            last = np.flatnonzero(on_obstacles).astype(np.int32)
            swept, judged = swept[~on_obstacles[swept]], judged[~on_obstacles[judged]]
            if part.world.rank == MOVER:
                judged = np.append(judged, last)
        self.judged = judged
        if self._known(swept, last, variant):
            if self._stages:
                self._stages.forget()
            return
        self.last = last
        self._plan_last()
        if variant == "FULL":
            self._stages = None
            self._plan_colours(swept)
        else:
            self._stages = SweepStages(part, self.ends, swept, swept[part.mine[self.ends[1, swept]]], variant)
            if self._stages.variant != variant:
                self._tell("variant = 'MIDDLE_JACOBI' may diverge where more than a quarter of all constraints are middle ones; 'RANK_COLOURS' is used there")

    def _plan_colours(self, swept: np.ndarray) -> None:
        """Find the rows of each colour, and what is exchanged after each of them; rows on obstacles come last."""
        part = self.part
        colours, used = colour(part, self.ends[:, swept])
        self.colours = int(part.world.largest(np.array([colours.max(initial=-1) + 1.0]))[0])
        self.lists = [swept[colours == c] for c in range(self.colours)]
        between, colour_of = self.rows_between(swept), np.zeros(self.ends.shape[1], colours.dtype)
        colour_of[swept] = colours
        self.plans = self._messages_of_colours(between, colour_of, used)
        if part.driven.size:
            self.lists.append(self.last if part.world.rank == MOVER else NO_ROWS)
            self.plans.append(tuple({rank: triples for rank, triples in plan.items() if triples.size} for plan in self.last_plans[1]))
        self.coloured = np.concatenate([NO_ROWS, *self.lists])
        group = (self.ends[0] + 1) * (part.model.bodies.n + 1) + self.ends[1] + 1  # pairs of bodies
        group[self.last] = -1  # rows on obstacles are swept one after the other
        self._messages = ColourMessages.between(part.world, self.lists, self.shared_rows(between), self.plans, group)

    def _messages_of_colours(self, between: dict[int, np.ndarray], colour_of: np.ndarray, used: np.ndarray) -> list[Plan]:
        """Return the triples to send and to receive after each colour; `between` are the rows on bodies of two processes.

        Both processes sweep such rows, with the same numbers, so that one tells the other of all other colours on its body alone.
        Process `MOVER` needs the momenta of all bodies on obstacles that move by forces, too.
        """
        part, here = self.part, self.part.world.rank
        first, width = part.spans["velo"]
        plans: list[Plan] = [({}, {}) for _ in range(self.colours)]
        for rank, rows in between.items():
            word, bit = np.divmod(colour_of[rows].astype(np.int64), WORD)
            both_sweep = np.zeros(used.shape, np.int64)
            for end in self.ends[:, rows]:
                np.bitwise_or.at(both_sweep, (word, end), 1 << bit)
            for side, (listed, receiver) in enumerate(((part.sent.get(rank, NO_ROWS), rank), (part.received.get(rank, NO_ROWS), here))):
                needed = both_sweep[:, listed].any(axis=0)
                if receiver == MOVER and part.driven.size:
                    needed |= np.isin(listed, self.ends[:, self.last])
                bodies = listed[needed]
                words = used[:, bodies] & ~both_sweep[:, bodies]
                for c, plan in enumerate(plans):
                    changed = bodies[words[c // WORD] & np.int64(1) << c % WORD != 0]
                    if changed.size:
                        plan[side][rank] = ranges(first[changed], width[changed])
        return plans

    def rows_between(self, rows: np.ndarray) -> dict[int, np.ndarray]:
        """Return, for each process that holds own bodies or copies of whose bodies are here, the rows on an own body and on one of that process.

        It needs the momenta of these own bodies, as this process needs those of the others.
        """
        part = self.part
        owner = np.append(part.model.bodies.view("owner"), -1)[self.ends[:, rows]]
        own = (owner == part.world.rank).any(axis=0)
        return {rank: rows[own & (owner == rank).any(axis=0)] for rank in sorted(part.sent.keys() | part.received.keys())}

    def shared_rows(self, between: dict[int, np.ndarray]) -> np.ndarray:
        """Return which rows act on bodies whose momenta several processes need."""
        needed = np.zeros(self.part.mine.size + 1, bool)
        for rows in between.values():
            needed[self.ends[:, rows]] = True
        if self.part.driven.size:
            needed[self.ends[:, self.last]] = True
        needed[-1] = False
        return needed[self.ends].any(axis=0)

    def copied_rows(self) -> np.ndarray:
        """Return which rows act on bodies that other processes move."""
        return np.append(~self.part.mine, False)[self.ends].any(axis=0)

    def _plan_last(self) -> None:
        """List what `MOVER` sends after its sweep of the rows on obstacles: their reactions, and momenta of the other bodies on which they act."""
        part, last = self.part, self.last
        first, width = part.spans["velo"]
        ends, ids = self.ends[:, last], part.model.bodies.view("id")
        other = np.where((ends >= 0) & part.moving[ends], ends, -1).max(axis=0, initial=-1)  # the moving body, if there is one
        if part.world.rank == MOVER:
            chosen = {rank: (other < 0) | np.isin(ids[other], held) for rank, held in enumerate(part.holders) if rank != MOVER}
        else:
            chosen = {MOVER: np.ones(last.size, bool)}
        rows, triples = {}, {}
        for rank, mask in chosen.items():
            if mask.any():
                bodies = np.unique(other[mask & (other >= 0)])
                rows[rank], triples[rank] = last[mask], ranges(first[bodies], width[bodies])
        none = {}, {}
        self.last_plans = ((rows, none[0]), (triples, none[1])) if part.world.rank == MOVER else ((none[0], rows), (none[1], triples))

    def _known(self, swept: np.ndarray, last: np.ndarray, variant: str) -> bool:
        """Whether the rows of all processes, and the bodies on which they act, are those of the last step, so that their colours are known."""
        ids = np.append(self.part.model.bodies.view("id"), 0)
        state = (self.part.arrangement, variant), ids[self.ends[:, swept]], swept, ids[self.ends[:, last]], last
        before = self._coloured
        same = before is not None and before[0] == state[0] and all(map(np.array_equal, before[1:], state[1:]))
        self._coloured = state
        return self.part.world.largest(np.array([not same], float))[0] == 0.0

    def _sweep(self, local, given: GaussSeidelSolver, backwards: bool, sums: np.ndarray, counts: np.ndarray) -> None:
        """Sweep all rows once, or backwards in the opposite order."""

        def visit(listed: np.ndarray) -> None:
            listed = np.ascontiguousarray(listed[::-1]) if backwards else listed
            for loop in range(self._loops):
                figures = (sums, counts) if loop == 0 else (sums.copy(order="F"), counts.copy())  # the first loop alone counts
                _, status = _sweep(
                    local.handles, listed, local.half_step, local.step, given.diagonal_solver, given.diagepsilon, given.diagmaxiter, *figures
                )
                opened(status)
                if self._springs:
                    self._springs.visit_listed(listed, figures[0])

        if self._stages:
            self._sweep_stages(local, backwards, visit)
        elif self._messages and not self._springs:
            self._sweep_with_messages(local, given, backwards, sums, counts)
        else:
            self._sweep_colours(local.triples.momentum, backwards, visit)
        if self._springs:
            self.part.copy_columns(self._springs.misses, *self.last_plans[0])
            self._springs.note()

    def _sweep_stages(self, local, backwards: bool, visit: Callable[[np.ndarray], None]) -> None:
        """Sweep the stages of a variant once, then the rows on obstacles; or backwards in the opposite order."""
        if backwards:
            self._sweep_last(local, visit)
        self._stages.sweep(local, backwards, visit)
        if not backwards:
            self._sweep_last(local, visit)

    def _sweep_colours(self, momentum: np.ndarray, backwards: bool, visit: Callable[[np.ndarray], None]) -> None:
        """Sweep all colours once; in one process without a stop between them, unless springs with Python functions are visited there."""
        if self.part.world.size == 1 and not self._springs:
            visit(self.coloured)
            return
        for listed, plan in zip(self.lists[::-1], self.plans[::-1]) if backwards else zip(self.lists, self.plans):
            visit(listed)
            self.part.copy_columns(momentum, *plan)

    def _sweep_with_messages(self, local, given: GaussSeidelSolver, backwards: bool, sums: np.ndarray, counts: np.ndarray) -> None:
        """Sweep all colours once, with the messages that follow each of them."""
        options = local.half_step, local.step, given.diagonal_solver, given.diagepsilon, given.diagmaxiter
        messages, arranged = self._messages, local.arranged
        arranged.arrange(local, messages.row, messages.group, messages.part_ptr, self.judged, given.diagonal_solver, packed=False)
        handles = local.handles, messages.handle, arranged.handles
        messages.complete(lambda: opened(_sweep_with_messages(*handles, backwards, *options, sums, counts)[1]), self.part.world)

    def _sweep_last(self, local, visit: Callable[[np.ndarray], None]) -> None:
        """Sweep the rows on obstacles, after the stages of a variant."""
        if self.part.driven.size:
            self.part.copy_columns(local.triples.momentum, *self.part.copied_triples)
            if self.part.world.rank == MOVER:
                visit(self.last)
            self.part.copy_columns(local.triples.momentum, *self.last_plans[1])

    def _gather(self, local) -> None:
        """Compute momenta from reactions; copies get those of their owners."""
        if self._stages:
            self.part.copy_columns(local.rows.R, *self._stages.reactions)
        if self.part.driven.size:
            self.part.copy_columns(local.rows.R, *self.last_plans[0])
        opened(_begin(local.handles, local.n, self.part.model.bodies.triples.n))
        self.part.copy_columns(local.triples.momentum, *self.part.copied_triples)

    def _any_velocity(self, local) -> bool:
        """Whether a free velocity of any row of the whole model is not zero."""
        return bool(self.part.world.largest(np.abs(local.rows.B[:, self.counted]).max(initial=0.0, keepdims=True).ravel())[0] > 0.0)

    def _measured(self, local, noting: bool, unit: float = 1.0) -> tuple[float, float]:
        """Compute velocities from momenta, then merit and residual of the whole model."""
        opened(_find_velocities(local.handles, local.n))
        return measured(local, self.counted, self.part.driven.size > 0, noting, self.part.world, unit)


def _relative(change: float, size: float) -> float:
    """Return the root of a sum of squared changes over a sum of squared sizes; of the former alone if the latter is zero."""
    return math.sqrt(change / size) if size > 0.0 else math.sqrt(change)
