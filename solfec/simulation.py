"""A simulation: a domain with an output directory, run, stopped and read back (Solfec-1.0's `sol`).

In WRITE mode `run` steps the domain, writes frames and calls callbacks; in READ mode frames are loaded into
the domain, which the input script has built.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import get_ident
from time import perf_counter
from typing import Any

import numpy as np

from . import end_notes, kernel_level, results
from ._version import version
from .balance import Balance, line, warning
from .bodies import instability, turned_over
from .course import Course
from .divided import Divided, Requests, is_divisible, refuse, sweeps_by_colours
from .domain import Domain
from .errors import SolfecError
from .hidden_errors import HiddenErrors
from .interruption import NAMES_OF_SIGNALS, Interruption
from .kinds import BodyKind, SurfaceModel
from .parallel import communicator, partition
from .progress import Percentage, Progress
from .results import settings
from .results.history import select
from .schedule import TOLERANCE, Schedule
from .snapshots import Snapshots
from .solvers.gauss_seidel import warn
from .solvers.local_dynamics import NO_ROLLING, NO_SPRINGS
from .solvers.unsolved import UnsolvedSteps
from .spreading import Spreading

PATIENCE = 0.1  # seconds of wall time between checks for the file STOP


class Simulation:
    """One model with its output directory.

    Parameters
    ----------
    step : float
        Time step.
    outpath : str or None
        Output directory; its last component names the files in it.  None: a run in memory, which writes no file.
    mode : str
        'WRITE', 'READ', or 'CONTINUE': WRITE mode that continues from the last frame of existing results.
    epsilon : float
        Geometric epsilon.
    input_text, arguments
        Text of the input file and the user's arguments, kept with the results.
    interval : float
        Seconds of wall time between progress reports.
    dynamic : bool
        Dynamics, or quasi-statics.
    quiet : bool
        Print nothing, for any value of `verbose`.
    check : callable, optional
        ``check(simulation, duration)`` replaces the steps of RUN; nothing is written or read then.
    keep_old : bool
        In mode 'WRITE': existing results are renamed to those of `<outpath>.old`, not overwritten.
    """

    def __init__(
        self,
        step: float,
        outpath: str | None,
        mode: str,
        epsilon: float = 1e-6,
        input_text: str = "",
        arguments: list[str] | None = None,
        interval: float = 1.0,
        dynamic: bool = True,
        quiet: bool = False,
        keep_old: bool = False,
        check: Callable[[Simulation, float], None] | None = None,
    ):
        self.outpath = outpath
        self.input = input_text, list(arguments or [])
        self.mode = "READ" if mode == "READ" else "WRITE"
        self.verbose = "ON"
        self.cleanup = False
        self.progress_interval = interval
        self._quiet = quiet
        self._domain = Domain(step, epsilon, dynamic)
        self.display_points: dict[int, list[tuple[str, tuple]]] = {}  # labels and referential points by body identifier
        self.frame: int | None = None
        self.companion: Any = None  # an engine that runs beside the domain: frames hold its state (results.RunRecord)
        self.labels: set[str] = set()  # labels of bodies
        self.fields: dict[str, Callable] = {}  # functions (x, y, z, t) of FIELD objects by label
        self.bases: dict = {}  # registered ReducedBase by label
        self.automatic: Any = None  # AUTO_SOLVER of runs for which the user names no solver
        self._output = Schedule(0.0, 0.0)
        self._callback: tuple[Schedule, Callable[[], object]] | None = None
        self._snapshots: list[tuple[Snapshots, Schedule | None]] = []
        self._nothing_due_before = -math.inf
        self.notify = warn
        self.ended: Callable[[Simulation], object] = lambda simulation: None  # called when the simulation is deleted
        self._process = os.getpid()
        self._running: int | None = None  # thread of the present RUN
        self._runs = 0  # calls of RUN so far
        self._continues = mode == "CONTINUE"
        self._writer = self._reader = self._claim = None
        self._gave_way = False  # to another object that writes to the same directory
        self.how_to_write = ""  # how the user gets WRITE mode where results exist
        self._check = check
        self._world = communicator.world()
        self.balancing = partition.Balance()
        self._course: Course | Divided | None = None
        self.spreading = Spreading(self._world.size, self.mode == "WRITE")
        self._advance: Callable[[], None] | None = None  # makes a step in the present run, if not the model itself
        self._watched = False  # whether who goes through the steps of the present run looks at the model
        self._frames_elsewhere = 0  # frames that process 0 has written, in other processes
        if mode != "READ" and outpath is not None and check is None and self._world.rank == 0:
            self._open(keep_old)

    def _open(self, keep_old: bool) -> None:
        """Take the output directory and prepare writing to it."""
        self._claim = results.Claim(self.outpath, self)
        try:
            if self._continues:
                self._writer = results.ResultsWriter.append(self.outpath)
            else:
                self._writer = results.ResultsWriter.create(self.outpath, *self.input, keep_old=keep_old)
        except BaseException:
            self._claim.release()
            raise

    @property
    def domain(self) -> Domain:
        """The model.

        Raises
        ------
        SolfecError
            A function that several processes call within a step asks for the model, of which each of them moves a part.
        """
        if not self._domain.guard.shown:
            raise SolfecError(
                "a function that is called within a step of several processes cannot read or change the model, since bodies may be elsewhere (HERE); "
                "let it depend on its arguments, or read the model in a CALLBACK, SOLFEC.before_motion or SOLFEC.add_forces"
            )
        return self._domain

    @domain.setter
    def domain(self, domain: Domain) -> None:
        self._domain = domain

    @property
    def clock(self) -> tuple[float, float]:
        """Time and length of the step, also within a step of several processes."""
        return self._domain.time, self._domain.step

    @property
    def interval(self) -> float:
        """Time between frames; 0: after every step."""
        return self._output.interval

    @property
    def frames_written(self) -> int:
        """Number of frames that this object has written."""
        return self._writer.frames if self._writer is not None else self._frames_elsewhere

    def balance(self, tolerance: float, weightfactor: float, updatefreq: int) -> None:
        """Choose when processes divide bodies anew (docs/parallel.md, Division)."""
        self.balancing = partition.Balance(tolerance, weightfactor, updatefreq)

    def owner(self, identifier: int, of_constraint: bool) -> int:
        """Return the rank of the process that moves a body, or the last moving body of a constraint; -1 if it is gone."""
        bodies, constraints = self.domain.bodies, self.domain.constraints
        row = constraints.row_of(identifier) if of_constraint else bodies.row_of(identifier)
        if row < 0:
            return -1
        if not of_constraint:
            return int(bodies.owner[row])
        ends = [end for end in (int(constraints.master[row]), int(constraints.slave[row])) if end >= 0 and bodies.kind[end] != BodyKind.OBSTACLE]
        return int(bodies.owner[max(ends)]) if ends else 0

    # --- writing -------------------------------------------------------------------------------------------

    def output(self, interval: float, compression: bool = False) -> None:
        """Write frames every `interval` from now on (docs/language-running.md, OUTPUT)."""
        if self.mode == "WRITE":
            self._look()
            self._output = Schedule(self.domain.time, interval)
            if self._writer is not None:
                self._writer.compression = compression

    def callback(self, interval: float, function: Callable[[], object]) -> None:
        """Call `function()` after the next step and then every `interval`; a returned 0 ends the run (docs/language-running.md, CALLBACK)."""
        if self.mode == "WRITE":
            self._look()
            self._callback = (Schedule(self.domain.time, interval, at_once=True), function)

    def sample(self, identifiers: list[int], sampling: list[float] | float | None) -> list:
        """Return the list that snapshots of co-rotated displacements will fill (docs/language-objects.md, COROTATED_DISPLACEMENTS).

        `sampling` lists instants, or is an interval; by default snapshots are taken when frames are written.
        """
        snapshots = Snapshots(identifiers, sampling if isinstance(sampling, list) else None)
        schedule = None if snapshots.listed or sampling is None else Schedule(self.domain.time, sampling)
        self._snapshots.append((snapshots, schedule))
        self._look()
        return snapshots.taken

    def _look(self) -> None:
        """Make the run loop check schedules after the present step."""
        self._nothing_due_before = -math.inf

    def _sample(self, written: bool) -> None:
        """Take the snapshots that are due; `written`: a frame has been written."""
        domain = self.domain
        for snapshots, schedule in self._snapshots:
            if snapshots.listed:
                snapshots.take_listed(domain)
            elif written if schedule is None else schedule.due(domain.time, domain.step):
                snapshots.take(domain)

    def run(self, solver, duration: float, advance: Callable[[], None] | None = None) -> None:
        """Run for `duration` with the given constraint solver (docs/language-running.md, RUN); do nothing in READ mode.

        The number of steps follows from the duration, up to a millionth of a step; the last state is always
        written.  A STOP file, a callback that returns 0, INT and TERM end the run after the present step.

        `advance` makes a step of the model instead of `Domain.advance`: it calls the same phases, or others.
        """
        self._advance, self._watched = advance, False
        for _ in self._started(solver, duration, every_step=False):
            pass

    def steps(self, solver, duration: float, advance: Callable[[], None] | None = None, watched: bool = True) -> Iterator[float]:
        """Run step by step: return an iterator over the times at which steps end; `advance` as for `run`.

        `watched`: the caller looks at `domain`, or changes it, between steps, so that several processes bring it up to date.

        Output, callbacks, STOP and signals are processed after every step, as in `run`, before the time is yielded.  An iterator
        that is closed or deleted ends the run, and the last state is written.
        """
        self._advance, self._watched = advance, watched
        return self._started(solver, duration, every_step=True)

    def _started(self, solver, duration: float, every_step: bool) -> Iterator[float]:
        """Start the run unless this mode has none; yield the time after `every_step`, or only after steps with a due event."""
        if self.mode == "READ":
            self._pass_over()
            return iter(())
        if self._check is not None:
            self._check(self, duration)
            return iter(())
        if self._gave_way:
            raise SolfecError(
                f"RUN: {self.outpath} belongs to a SOLFEC object that was made later with the same output path; give each its own,"
                " or output = None"
            )
        if self._running is not None:
            who = "a callback of it, or who goes through its steps," if self._running == get_ident() else "another thread"
            raise SolfecError(f"RUN: this simulation is running already; {who} cannot run it")
        if self._continues and self._runs:
            raise SolfecError(
                f"RUN: {self.outpath} is continued (-c), which works with one RUN per input: where the second one is to start "
                "from cannot be told"
            )
        return self._guarded(solver, duration, every_step)

    def _guarded(self, solver, duration: float, every_step: bool) -> Iterator[float]:
        """Run, and leave files in a valid state after any error."""
        self._running = get_ident()
        self._runs += 1
        try:
            yield from self._run(solver, duration, every_step)
        except GeneratorExit:  # the caller has closed the iterator, and the run has ended well
            pass
        except BaseException as error:
            self._running = None
            self._world.left = not isinstance(error, Exception)
            with suppress(SolfecError):  # the user should read the first error
                self.close()
            raise
        self._running = None
        if self._writer is not None:
            self._writer.rest()

    @property
    def continues(self) -> bool:
        """Whether the next RUN continues from the last frame of existing results."""
        return self._continues

    @property
    def runs_elsewhere(self) -> bool:
        """Whether a thread other than the caller's runs this simulation."""
        return self._running is not None and self._running != get_ident()

    def _pass_over(self) -> None:
        """Skip the identifiers that this RUN used when it was computed, for example for bodies that callbacks made.

        Objects that the input makes later then have their original identifiers.
        """
        self._runs += 1
        steps = self.reader.steps
        if self._runs == 1 and not self._quiet and sys.stderr is not None:
            where = f"frame {self.frame or 0} of {len(steps)} in {self.outpath}"
            print(f"RUN: results exist, nothing computed; {where}{self.how_to_write}", file=sys.stderr)
        if (run := np.flatnonzero(steps["run"] == self._runs)).size:
            last = steps[run[-1]]
            self.domain.next_body_id = max(self.domain.next_body_id, int(last["next_body_id"]))
            self.domain.constraints.next_id = max(self.domain.constraints.next_id, int(last["next_constraint_id"]))

    def _run(self, solver, duration: float, every_step: bool) -> Iterator[float]:
        """Run the steps, then print notes and warnings."""
        domain = self.domain
        if domain.surface_materials.rolls and not solver.rolling:
            raise SolfecError("RUN: " + NO_ROLLING.format(solver.command))
        if not solver.springs and (domain.surface_materials.view("model") == SurfaceModel.SPRING_DASHPOT).any():
            self.notify("RUN: " + NO_SPRINGS.format(solver.command))
        self._solver = solver
        first = self._world.rank == 0
        progress = self._progress = Progress(self.verbose, self.progress_interval, self.outpath if first else None, self._quiet or not first)
        unsolved = UnsolvedSteps(self.notify, not solver.names_contradictions)
        try:
            with progress.among_prints():
                yield from self._steps(solver, duration, every_step, progress, unsolved)
        finally:
            for text in (turned_over.told(domain.bodies, domain.dynamic), instability.told(domain.bodies)):
                if text:
                    self.notify(text)
            if domain.report is not None and solver.failure != "CALLBACK":
                unsolved.end(domain.report.solver, domain.step_number)
            for text in (domain.swallowed.told(), domain.supports_left.told(), domain.uncorrected.told(), solver.told()):
                if text:
                    self.notify(text)

    def _steps(self, solver, duration: float, every_step: bool, progress: Progress, unsolved: UnsolvedSteps) -> Iterator[float]:
        """Run the steps, and process due events after each."""
        domain = self.domain
        if self._world.size > 1:
            self._meet_to_run(solver)
        with Interruption() as interruption, self._course_dropped():
            running, end = True, domain.time + duration
            requests = Requests(lambda: interruption.signal, self._stop_exists)
            self._discard_stale_stop()  # before the first frame, by which others see that the run has begun
            if self._continues:
                self.spreading.join(self, self._world, solver)
                running, end = self._resume(solver, duration)
                if self.companion is not None:
                    self.companion.go_on()
            else:
                domain.initialise()
                if self.spreading.on:
                    self._course = self._course_of(solver, requests, end)
                if domain.step_number == 0:
                    self._write()
            course = self._course = self._course or self._course_of(solver, requests, end)
            balance = None if domain.spread else Balance(domain, self._world.size == 1)
            hidden = HiddenErrors(domain, solver, self._world)
            course.watch = partial(hidden.after_step, domain)
            for snapshots, _ in self._snapshots:
                snapshots.take_listed(domain)
            unsolved.begin(domain.step_number)
            progress.begin(domain, max(end - domain.time, 0.0), course.totals if self.spreading.on else None)
            if self.verbose == "ON" and (text := self.spreading.told(domain)):
                progress.note(text)
            written, looked, patience, advance = domain.step_number, perf_counter(), min(PATIENCE, progress.interval), course.advance
            while running and domain.time < end - TOLERANCE * domain.step:
                self._nothing_due_before = self._quiet_until(end)
                while True:
                    advance()
                    if self.companion is not None:
                        self.companion.after_step()
                    if balance is not None and domain.step_number >= balance.due:
                        balance.look(domain)
                    if domain.unsolved:
                        unsolved.after_step(course.model, course.reported, course.worst)
                    if every_step or not domain.time < self._nothing_due_before or course.signal is not None or course.stop:
                        break
                    if perf_counter() - looked >= patience:
                        looked = perf_counter()
                        progress.after_step(domain, course.constraints, course.statistics)
                        if self._world.size == 1 and self._stop_exists():
                            break
                progress.after_step(domain, course.constraints, course.statistics)
                if self._output.due(domain.time, domain.step):
                    self._write()
                    written = domain.step_number
                if self._snapshots:
                    course.show()
                    self._sample(written == domain.step_number)
                if self._callback is not None and self._callback[0].due(domain.time, domain.step):
                    running = self._call_back()
                running = running and course.signal is None and not self._stop_requested()
                if self._watched:
                    course.show()
                try:
                    yield domain.time
                except GeneratorExit:
                    running, interruption.closed = False, True
                if self._watched and communicator.parted(self._world, interruption.closed):
                    if interruption.closed:  # the others tell
                        return
                    raise SolfecError(f"SOLFEC.steps: another process has left the loop over steps at time {domain.time:g}; all must leave it in the same step")
                if self._watched:
                    course.take()
            if written != domain.step_number:
                self._write()
            course.end()
            interruption.signal = course.signal or interruption.signal
            self._tell_end(course, progress, balance, hidden)

    def _tell_end(self, course: Course | Divided, progress: Progress, balance: Balance | None, hidden: HiddenErrors) -> None:
        """Print the signal that stopped the run, its balance, and notes on its bodies."""
        domain = self.domain
        if course.signal is not None and self.verbose == "ON":
            progress.note(f"stopped at time {domain.time:g} by {NAMES_OF_SIGNALS[course.signal]}")
        progress.end(domain, course.statistics)
        self._tell_balance(balance, progress)
        if self.verbose == "ON":
            notes = end_notes.told(course.notes if self.spreading.on else end_notes.found(domain), domain.step)
            for text in filter(None, (*notes, hidden.told(), domain.shares.told())):
                progress.note(text)

    @contextmanager
    def _course_dropped(self) -> Iterator[None]:
        """Let go of the course at the end, since it holds this object: a model that the user drops is gone at once."""
        try:
            yield
        finally:
            self._course = None

    def _meet_to_run(self, solver) -> None:
        """Wait for the other processes at the beginning of a RUN; raise SolfecError if one does something else, or if the run cannot be divided."""
        refuse(solver)
        if self.companion is not None and self.spreading.on:
            raise SolfecError("RUN: HYBRID_SOLVER needs all bodies in all processes at first; set SOLFEC.spread to 'OFF'")
        if self._advance is not None:
            raise SolfecError("SolfecSimulation cannot be used by several processes yet; run one process")
        place = f"{'SOLFEC.steps, as ' if self._watched else ''}RUN number {self._runs} of {self.outpath or 'a model in memory'}"
        for rank, other in enumerate(self._world.meet(place[: communicator.SAID])):
            if not place.startswith(other):
                raise SolfecError(f"RUN: process {self._world.rank} is at {place}, and process {rank} is at {other}; all must call the same commands")

    def _course_of(self, solver, requests: Requests, end: float) -> Course | Divided:
        """Return the course of the model: whole, or divided among processes or by colours that do not depend on their number."""
        if self.spreading.on:
            return self.spreading.course(self, self._world, solver, requests, partial(self._described, solver, end))
        coloured = sweeps_by_colours(solver) and solver.colouring == "ON" and is_divisible(self.domain, solver)
        if self._world.size > 1 or (coloured and self._advance is None):
            return Divided(self.domain, self._world, solver, self.balancing, requests, partial(self._described, solver, end))
        return Course(self.domain, solver, requests, self._advance)

    def _described(self, solver, end: float) -> dict[str, bytes]:
        """Return what must be equal in all processes beside the tables of the model: names, and bytes that describe it."""
        schedules = [self._output, self._callback and self._callback[0], *(schedule for _, schedule in self._snapshots)]
        times = end, [schedule and schedule.state for schedule in schedules], [snapshots.listed for snapshots, _ in self._snapshots]
        made_apart = {} if self.spreading.on else {"points, directions, motions or laws of constraints": settings.constraints_as_bytes(self.domain)}
        return made_apart | {
            "loads, materials or other settings": (settings.common_bytes if self.spreading.on else settings.as_bytes)(self.domain, solver),
            "duration of RUN, or intervals of OUTPUT, CALLBACK or samples": repr(times).encode(),
            "IMBALANCE_TOLERANCE": repr(self.balancing).encode(),
            **({} if self.companion is None else {"the explicit model": self.companion.as_bytes()}),
        }

    @property
    def moved(self) -> Domain:
        """The model whose bodies this process moves: its part, within a run of several processes; else the whole one."""
        return self._domain if self._course is None else self._course.model

    @property
    def divided(self) -> bool:
        """Whether other processes move bodies, too."""
        return self.moved is not self._domain

    @property
    def sampled(self) -> bool:
        """Whether displacements are sampled in a run."""
        return bool(self._snapshots)

    def _tell_balance(self, balance: Balance | None, progress: Progress) -> None:
        """Print energy and momentum of the run, and warn if their errors exceed those of the schemes."""
        figures = balance.figures(self.domain) if balance is not None and self._advance is None else None  # other codes set states after every step
        if figures is None:
            return
        if self.verbose == "ON":
            progress.note(line(figures))
        if text := warning(figures):
            self.notify(f"RUN: {text}")

    def _quiet_until(self, end: float) -> float:
        """Return a time before which no event is due."""
        step = self.domain.step
        times = [end - 2.0 * TOLERANCE * step, self._output.quiet_until(step)]
        if self._callback is not None:
            times.append(self._callback[0].quiet_until(step))
        for snapshots, schedule in self._snapshots:
            if snapshots.listed:
                return -math.inf
            if schedule is not None:
                times.append(schedule.quiet_until(step))
        return min(times)

    def _resume(self, solver, duration: float) -> tuple[bool, float]:
        """Load the last frame; return whether the callback lets the run continue, and the time at which it ends.

        A frame is written before a callback that is due after the same step, so this call is made now.
        """
        domain, note = self.domain, self._progress.note
        with results.ResultsReader(self.outpath) as reader:
            if reader.steps["run"][-1] > 1:
                raise SolfecError(
                    f"RUN: the results in {self.outpath} come from {reader.steps['run'][-1]} calls of RUN; only a run of one RUN "
                    "can be continued (-c)"
                )
            first, last = results.resume(reader, domain, solver)
            if self.companion is not None:
                self.companion.restore(reader, len(reader.steps) - 1)
            if reader.written_by != version:
                note(f"the results were begun by version {reader.written_by} of solfec; this is {version}")
            if reader.kernels not in ("", kernel_level.chosen):
                self.notify(f"the results were begun with kernels of {reader.kernels}; these are of {kernel_level.chosen}, and last digits may differ")
        if domain.touched:
            self.notify(f"the results in {self.outpath} were touched by hand in the viewer: the input alone does not lead to them")
        self.labels.update(domain.body_labels.values())
        domain.timings.update(dict.fromkeys(domain.timings, 0.0))
        end = float(first["time"]) + duration
        place = f"{self.outpath}, time {domain.time:g}"
        if domain.time >= end - TOLERANCE * domain.step:
            note(f"{place}: the duration of {duration:g} is reached already, nothing to do")
        elif self.verbose == "ON":
            note(f"continued from {place}")
        self._output = Schedule.continued(self._output, first["output"], last["output"], domain.time)
        if self._callback is None:
            return True, end
        schedule, function = self._callback
        schedule = Schedule.continued(schedule, first["callback"], last["callback"], domain.time)
        self._callback = schedule, function
        owed = domain.step_number > 0 and domain.time < end - TOLERANCE * domain.step and schedule.start == last["callback"][0]
        if owed and schedule.due(domain.time, domain.step):
            return self._call_back(), end
        return True, end

    def _write(self) -> None:
        domain, pieces = self.domain, None
        if self.spreading.on and self._course is not None:
            pieces = self._course.collect() if self.outpath is not None else None
            domain = pieces.domain if pieces else domain
        elif self._course is not None:
            self._course.collect()
        if self._writer is None:
            self.domain.fractures.records.clear()  # no results store them
            self._frames_elsewhere += self._world.rank > 0 and self.outpath is not None
            return
        callback = None if self._callback is None else self._callback[0].state
        record = results.RunRecord(self._runs, self._solver, self._output.state, callback, self.companion)
        self._writer.write_frame(domain, record, pieces)
        for phase, seconds in domain.timings.items():
            self._progress.seconds[phase] += seconds
            domain.timings[phase] = 0.0  # frames store seconds since the previous frame

    def _call_back(self) -> bool:
        """Call the callback; return whether the run continues: a returned 0 ends it, in any process, a returned None does not."""
        if self._course is not None:
            self._course.show()
        goes_on = communicator.goes_on(self._world, self._callback[1])
        if self._course is not None:
            self._course.take()
        return goes_on

    def _stop_requested(self) -> bool:
        """Whether the output directory has a file STOP, which is removed, so that the next run is not stopped."""
        path = self._stop_file
        if path is None:
            return False
        if self._world.size > 1 and (not self._course.stop or self._world.rank > 0):
            return self._course.stop
        if not os.path.exists(path):
            return self._course.stop
        left = ""
        try:
            os.remove(path)
        except OSError as error:
            left = f", which could not be removed: {error.strerror}"
        self._progress.note(f"stopped at time {self.domain.time:g} by the file {path}{left}")
        return True

    @property
    def _stop_file(self) -> str | None:
        """Path of the file STOP, which ends the run; None for runs in memory."""
        return None if self.outpath is None else os.path.join(self.outpath, "STOP")

    def _stop_exists(self) -> bool:
        """Whether there is a file STOP."""
        return self._stop_file is not None and os.access(self._stop_file, os.F_OK)

    def _discard_stale_stop(self) -> None:
        path = self._stop_file
        if path is not None and os.path.exists(path) and self._world.rank == 0:
            try:
                os.remove(path)
            except OSError as error:
                raise SolfecError(f"RUN: an old file {path} would stop this run, and it cannot be removed: {error.strerror}") from None
            self._progress.note(f"an old file {path} was removed")

    def close(self) -> None:
        """Close the results; another RUN opens them again."""
        if self._writer is not None:
            self._writer.close()

    def give_way(self) -> None:
        """Finish writing permanently: another object of this process takes the output directory.

        Raises
        ------
        SolfecError
            While this simulation runs.
        """
        if self._running is not None:
            raise SolfecError(f"{self.outpath} is being written by the SOLFEC object that is running; choose another 'output'")
        self.close()
        self._gave_way = True

    def end(self) -> None:
        """Close all files, and with `cleanup` remove an output directory without results."""
        if os.getpid() != self._process:  # a forked process: files belong to its parent
            return
        if self._reader is not None:
            self._reader.close()
        self.close()
        if self._claim is not None:
            self._claim.release()
        if self.cleanup and self.mode == "WRITE" and not self.frames_written and self.outpath is not None and self._check is None:
            with suppress(OSError):  # the directory is not empty
                os.rmdir(self.outpath)

    def __del__(self):
        with suppress(Exception):  # for example if the constructor failed
            self.ended(self)
            self.end()

    # --- reading -------------------------------------------------------------------------------------------

    @property
    def reader(self) -> results.ResultsReader:
        """The results, opened at first use; their run may still continue, in this process or another."""
        if self._reader is None:
            self._reader = results.ResultsReader(self.outpath)
        else:
            self._reader.refresh()
        return self._reader

    def open_with(self, reader: results.ResultsReader) -> None:
        """Take results that are open already and that no input made a model for: frame 0 makes the domain."""
        self._reader, self.frame = reader, 0
        reader.load(self.domain, 0)

    def load(self, frame: int) -> None:
        """Set the domain to a stored frame; the number is clamped to existing frames."""
        if self.mode != "READ":
            raise SolfecError("frames can be loaded in READ mode only")
        reader = self.reader
        count = len(reader.times)
        if count == 0:
            raise SolfecError(f"{self.outpath}: the results hold no frames")
        first, self.frame = self.frame is None, min(max(frame, 0), count - 1)
        if first and (text := results.mismatch(reader, self.domain, self.frame)):
            self.notify(f"{reader.file}: {text}")
        reader.load(self.domain, self.frame)
        if self.companion is not None:
            self.companion.restore(reader, self.frame)

    def load_first(self) -> None:
        """Load frame 0 unless some frame has been loaded already."""
        if self.mode == "READ" and self.frame is None:
            self.load(0)

    def forward(self, frames: int, sampled: bool = False) -> None:
        """Move forward by a number of frames (docs/language-running.md, FORWARD, BACKWARD, SEEK); `sampled`: taking snapshots of all frames on the way."""
        if self.mode != "READ":
            return
        if not sampled:
            self.load((self.frame or 0) + frames)
            return
        for _ in range(min(frames, len(self.reader.times) - 1 - (self.frame or 0))):
            self.load((self.frame or 0) + 1)
            for snapshots, _ in self._snapshots:
                snapshots.take(self.domain)

    def backward(self, frames: int) -> None:
        """Move back by a number of frames (docs/language-running.md, FORWARD, BACKWARD, SEEK)."""
        if self.mode == "READ":
            self.load((self.frame or 0) - frames)

    def seek(self, time: float) -> None:
        """Move to the frame nearest to `time`, the earlier of two (docs/language-running.md, FORWARD, BACKWARD, SEEK)."""
        if self.mode == "READ":
            self.load(self.reader.nearest(time))

    def duration(self) -> tuple[float, float] | float:
        """First and last stored time in READ mode, the present time in WRITE mode (docs/language-running.md, DURATION)."""
        if self.mode == "WRITE":
            return self.domain.time
        times = self.reader.times
        return float(times[0]), float(times[-1])

    def sample_frames(self, functions, start: float, end: float, skip: int = 1) -> list[list[float]]:
        """Return values of functions of no argument over stored frames, each of which is loaded; None becomes NaN.  The present frame stays."""
        self.load_first()
        present, values = self.frame, [[] for _ in functions]
        try:
            for frame in select(self.reader, start, end, skip).tolist():
                self.load(frame)
                for column, function in zip(values, functions, strict=True):
                    found = function()
                    column.append(math.nan if found is None else float(found))
        finally:
            self.load(present)
        return values

    def history(self, items, start: float, end: float, skip: int = 1, shown: bool = False) -> tuple:
        """Return times and one list of values per item (docs/language-running.md, HISTORY); `shown`: printing how far it has come."""
        return self.reader.history(items, start, end, skip, Percentage("HISTORY") if shown and not self._quiet else None)
