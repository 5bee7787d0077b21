"""HYBRID_SOLVER: co-simulation of an implicit and an explicit model that share rigid bodies."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from .. import parmec
from ..bodies.table import BodyKind
from ..errors import SolfecError
from ..language import checks, session
from ..language.checks import BadType, BadValue, command
from ..language.hints import Switch
from ..language.legacy import loader, surroundings
from ..language.legacy.reading import read
from ..language.solvers import CoSolver, Solver, constraint_solver
from ..parallel import communicator
from ..parmec import model as explicit
from ..parmec import running
from ..parmec.engine import Intervals, Run
from ..parmec.files import Writer
from ..solvers.foreign_solver import Solves
from ..step_limit import limit_step
from .boundary import Boundary, Exchange
from .explicit_roles import ParticleModeler
from .stored import Companion

Interval = float | int | Callable[[float], float]

SAME = 1e-6  # difference of times over the explicit step below which they are equal
MOST_LATE = 0.6  # explicit steps by which the explicit model may be late in a stored state: half a one in those of earlier versions


class HYBRID_SOLVER(CoSolver):
    """Co-simulation with the explicit engine (docs/parmec.md).

    Parameters
    ----------
    parmec_file : str
        Input of the explicit engine, executed at once with the names of the calling input and the commands of Parmec. It must not
        call DEM.
    parmec_step : float
        Upper bound of the explicit step, which is the step of SOLFEC over 2, 4, 8, ...
    parmec2solfec : dict of int to int
        Particle -> identifier of the rigid body that it represents.
    solfec_solver
        Constraint solver.
    parmec_argv : list of str, optional
        Words that ARGV returns in `parmec_file`.
    boundary_contact_detection : str
        'ON': contacts between the shared bodies are detected; default 'OFF'.
    resynchronise : str
        'ON': in every implicit step the particles take positions and rotations of their bodies, from which round-off and changes by
        users may separate them; default 'OFF'.  They always do where `SOLFEC.joint_correction` moves bodies.
    average_forces : str
        'ON': an implicit step gets the mean of the forces of the explicit steps before it, which are late by half an implicit step;
        'OFF' (default): those of the last one.
    """

    __slots__ = ("_model", "_step", "_pairs", "_solver", "_detects", "_interval", "_prefix", "_file", "_run", "_boundary", "_simulation", "_companion", "_substeps", "_time", "_resynchronises", "_averages", "_timing", "_particles")

    @command("HYBRID_SOLVER")
    def __init__(
        self,
        parmec_file: str,
        parmec_step: float,
        parmec2solfec: dict[int, int],
        solfec_solver: Solver | Solves,
        parmec_argv: list[str] | None = None,
        boundary_contact_detection: Switch = "OFF",
        resynchronise: Switch = "OFF",
        average_forces: Switch = "OFF",
    ) -> None:
        path = checks.path(parmec_file, "parmec_file")
        self._step = checks.positive(parmec_step, "parmec_step")
        if not isinstance(parmec2solfec, dict):
            raise BadType(f"'parmec2solfec' must be a dict of particle numbers to body identifiers, not {checks.kind_of(parmec2solfec)}")
        self._pairs = {checks.integer(key, "parmec2solfec"): checks.integer(value, "parmec2solfec") for key, value in parmec2solfec.items()}
        if len(set(self._pairs.values())) < len(self._pairs):
            raise BadValue("'parmec2solfec' gives two particles the same body")
        self._solver = constraint_solver(solfec_solver)
        words = [] if parmec_argv is None else [checks.string(item, f"parmec_argv[{i}]") for i, item in enumerate(checks.sequence(parmec_argv, "parmec_argv"))]
        self._detects = checks.switch(boundary_contact_detection, "boundary_contact_detection")
        self._resynchronises = checks.switch(resynchronise, "resynchronise")
        self._averages = checks.switch(average_forces, "average_forces")
        self._interval: tuple[Interval, Interval] | None = None
        self._prefix: str | None = None
        self._file = os.path.abspath(path)
        self._run = self._boundary = self._simulation = self._companion = self._particles = None
        self._timing = {"engine": 0.0, "coupling": 0.0, "steps": 0}
        self._model = execute(path, words)
        for number in self._pairs:
            if not 0 <= number < self._model.particles.n:
                raise BadValue(f"'parmec2solfec': there is no particle {number} in {path!r}, which has {self._model.particles.n}")

    def __repr__(self):
        return f"HYBRID_SOLVER of {os.path.basename(self._file)}"

    @property
    def parmec_interval(self) -> list | None:
        """Time between files and between samples of histories: a number, the number of a TSERIES, a function of time, or a pair of these;
        None: no files and samples.  Reading returns pairs of numbers, functions and numbers of series."""
        if self._interval is None:
            return None
        numbers = tuple(item if isinstance(item, float) else 0.0 for item in self._interval)
        functions = tuple(item if callable(item) else None for item in self._interval)
        series = tuple(item if isinstance(item, int) else -1 for item in self._interval)
        return [numbers, functions, series]

    @parmec_interval.setter
    def parmec_interval(self, value: Interval | tuple[Interval, Interval]) -> None:
        pair = tuple(value) if checks.is_sequence(value) else (value, value)
        if len(pair) != 2:
            raise BadValue(f"'parmec_interval' must be one interval or a pair, not {len(pair)}")
        for item in pair:
            running.one_interval(self._model, item, "parmec_interval")
        self._interval = tuple(item if callable(item) or (isinstance(item, int) and not isinstance(item, bool)) else float(item) for item in pair)

    @property
    def parmec_prefix(self) -> str | None:
        """Name of the explicit engine's files; default: that of `parmec_file`."""
        return self._prefix

    @parmec_prefix.setter
    def parmec_prefix(self, value: str) -> None:
        self._prefix = checks.path(value, "parmec_prefix")

    @property
    def exchange(self) -> dict[str, float | list[float]]:
        """Exchange of the engines since the first step, summed over the shared bodies: ``impulse`` and ``angular_impulse`` (about mass
        centres) of the explicit model's forces on the implicit bodies and their ``work`` [energy], and the same summed by the explicit steps,
        ``engine_impulse``, ``engine_angular_impulse`` and ``engine_work`` (this one up to the present time, half an implicit step before that of the
        explicit model); ``gain`` = work - engine_work is the energy that the coupling added."""
        now, ahead = (Exchange(), 0.0) if self._boundary is None else (self._boundary.exchanged, self._boundary.work_ahead())
        found = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(now).items()}
        found["engine_work"] -= ahead
        return found | {"gain": found["work"] - found["engine_work"]}

    @property
    def timing(self) -> dict[str, float]:
        """Wall-clock seconds of this process so far in explicit steps (``engine``) and in exchanges (``coupling``), and
        the number of implicit ``steps`` with explicit ones; the implicit engine spends the rest of a run."""
        within = 0.0 if self._boundary is None else self._boundary.seconds
        return self._timing | {"coupling": self._timing["coupling"] + within}

    def run(self, simulation: Any, duration: float) -> None:
        """Run both models for a duration; do nothing in READ mode."""
        self.bind(simulation)
        if simulation.mode == "READ":
            simulation.run(self._solver, duration)
            if simulation.frame is not None:  # it was loaded before this solver existed
                self._companion.restore(simulation.reader, simulation.frame)
            return
        for _ in self.steps(simulation, duration):
            pass

    def bind(self, simulation: Any) -> None:
        """Belong to a simulation from now on."""
        if self._simulation not in (None, simulation):
            raise BadValue("this HYBRID_SOLVER belongs to another SOLFEC object")
        self._simulation = simulation
        if self._companion is None:
            self._companion = simulation.companion = Companion(self._model, simulation.domain, self._go_on)

    def steps(self, simulation: Any, duration: float, advance: Callable[[], None] | None = None) -> Iterator[float]:
        """Step both models through a duration, one implicit step and those of the explicit engine that go with it at a time.

        `advance` makes an implicit step, see `Simulation.run`.
        """
        self.bind(simulation)
        domain = simulation.domain
        self._begin(domain, simulation.continues)
        added = [] if self._detects else exclude_among(domain.settings, self._boundary.identifiers)
        domain.loads.sources.append(self._boundary)
        self._companion.joins = True
        try:
            for time in simulation.steps(self._solver, duration, advance, watched=False):
                self._follow()
                yield time
        finally:
            domain.loads.sources.remove(self._boundary)
            self._companion.joins = False
            if len(added):
                include_again(domain.settings, added)

    def _begin(self, domain, continued: bool) -> None:
        """Find the number of explicit steps in one implicit step; in the first RUN, advance the explicit model by half an implicit step."""
        domain.settle()
        limit_step(domain)  # explicit finite elements may lower the step of the run, before its first frame
        before = 0.0 if self._boundary is None else self._substeps * float(self._model.control.step[0])
        step = self._divide(domain.step)
        first = self._boundary is None
        if first:
            self._check_bodies(domain)
            self._boundary = Boundary(self._model, self._simulation, self._pairs)
            self._companion.boundary = self._boundary
            self._particles = ParticleModeler(self._model, self._boundary, self._make_steps, self._averaged)
            self._boundary.compare(turns=not self._resynchronises)
            self._model.control.leads[0] = 1
            self._model.particles.driven[self._boundary.particles] = 1
            self._model.unsettle()
        if not (first or continued):
            self._shift(0.5 * (domain.step - before) + 0.5 * (step - float(self._model.control.step[0])), step)
        # after a step of half the length forces belong to times k step, so that the last ones belong to the middle of the implicit step
        self._run = Run(self._model, np.inf, step, *self._writing(), first_step=0.5 * step)
        if continued:  # from a frame that the simulation will load
            return
        if first:
            self._advance(self._substeps // 2 + 1, 0.5 * domain.step + 0.5 * step)
        else:
            self._boundary.hand_over_velocities()
            self._run.begin()

    def _shift(self, time: float, step: float) -> None:
        """Make explicit steps of at most a length through a time, or back: the explicit model is half an implicit step of another length ahead then."""
        count = math.ceil(abs(time) / step - SAME)
        if count:
            self._run = Run(self._model, np.inf, time / count, *self._writing())
            self._advance(count, time)

    def _divide(self, length: float) -> float:
        """Find the number of explicit steps in an implicit one, and return their length."""
        self._substeps, step = 2, 0.5 * length
        while step > self._step:
            self._substeps, step = 2 * self._substeps, 0.5 * step
        return step

    def _go_on(self) -> None:
        """After a frame is restored, make the explicit steps that follow it."""
        domain, control = self._simulation.domain, self._model.control
        step, now = self._divide(domain.step), float(control.step[0])
        if self._model.writer is not None:
            self._model.writer.rewind(self._companion.files)
        due = domain.step if self._companion.owes else 0.0
        late = domain.time + 0.5 * domain.step - (float(control.time[0]) - 0.5 * now) - due
        if abs(step - now) > SAME * step or abs(late) > MOST_LATE * step:  # the input has another step now
            self._shift(due + late + 0.5 * (step - now), step)
            self._run = Run(self._model, np.inf, step, *self._writing())
            self._companion.followed = domain.step_number
        elif self._companion.owes:
            self._follow()
        else:
            self._time = domain.step if domain.step_number else 0.5 * (domain.step + now)
            self._boundary.take_forces(self._averaged())

    def _follow(self) -> None:
        """Make the explicit steps of an implicit step."""
        domain = self._simulation.domain
        began, length, explicit_step = perf_counter(), domain.step, float(self._model.control.step[0])
        if abs(self._substeps * explicit_step - length) > 1e-9 * length:
            raise SolfecError(
                f"HYBRID_SOLVER: the step has changed from {self._substeps * explicit_step:g} to {length:g} within a run, and {self._substeps} explicit steps"
                f" of {explicit_step:g} no longer fit into it; set SOLFEC.step between two RUNs, and give strained bodies of scheme 'DEF_EXP' a step that stays small enough"
            )
        if self._resynchronises or self._boundary.corrected:
            self._boundary.hand_over_places()
        self._timing["coupling"] += perf_counter() - began
        self._timing["steps"] += 1
        self._advance(self._substeps, length)
        self._companion.followed = self._simulation.domain.step_number

    def _advance(self, count: int, time: float) -> None:
        """Make explicit steps with the bodies' velocities through a time."""
        particles, began, self._time = self._particles, perf_counter(), time
        before, particles.count = particles.seconds, count
        particles.free_velocity()
        particles.apply_reactions()
        engine = particles.seconds - before
        self._timing["engine"] += engine
        self._timing["coupling"] += perf_counter() - began - engine

    def _make_steps(self, count: int) -> None:
        """Make explicit steps."""
        self._run.begin()
        self._run.advance(count)

    def _averaged(self) -> float:
        """Return the time of the last explicit steps if their forces are averaged, else 0."""
        return self._time if self._averages else 0.0

    def _writing(self) -> tuple:
        """Return intervals, and the writer of files, which process 0 has."""
        if self._interval is None:
            return Intervals(np.inf, np.inf), None
        intervals = Intervals(*(running.one_interval(self._model, item, "parmec_interval") for item in self._interval))
        if communicator.world().rank > 0:
            return intervals, None
        if self._model.writer is None:
            folder, name = os.path.split(self._file)
            self._model.writer = Writer(self._model, os.path.join(folder, name.removesuffix(".py") if self._prefix is None else self._prefix))
        return intervals, self._model.writer.write

    def _check_bodies(self, domain) -> None:
        """Raise errors for bodies that do not exist or are not rigid, and for particles whose motion is prescribed or that joints hold."""
        known = dict(zip(domain.bodies.view("id").tolist(), domain.bodies.view("kind").tolist()))
        for number, identifier in self._pairs.items():
            if identifier not in known:
                raise BadValue(f"HYBRID_SOLVER: there is no body {identifier}, which particle {number} is to be")
            if known[identifier] != BodyKind.RIGID:
                raise BadValue(f"HYBRID_SOLVER: body {identifier}, which particle {number} is to be, is not RIGID")
        driven = np.intersect1d(self._model.drives.view("particle"), list(self._pairs))
        if driven.size:
            raise BadValue(f"HYBRID_SOLVER: the motion of particle {driven[0]} is prescribed (PRESCRIBE), and it is a body of solfec as well")
        # the explicit engine finds reactions as if these particles had no mass: they move at their bodies' velocities during its steps
        joint, side = np.nonzero(np.isin(self._model.joints.view("particle").T, list(self._pairs)))
        if joint.size:
            number = self._model.joints.particle[side[0], joint[0]]
            raise BadValue(
                f"HYBRID_SOLVER: BALL_JOINT {joint[0]} holds particle {number}, which is a body of solfec as well, and reactions of joints cannot be handed"
                " over; make bodies of both of its particles, and join these by BALL"
            )


def execute(path: str, words: list[str]) -> explicit.Model:
    """Run an input of the explicit engine in the namespace of the calling input, which gets its names."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise BadValue(f"'parmec_file': cannot read {path!r}: {error.strerror}") from None
    now = surroundings.current()
    reading = read(content, path, now.forced if now else None, bool(now and now.old))
    surroundings.remember_lines(path, content)
    frame = session.users_frame()
    caller = frame.f_globals if frame is not None else sys.modules["__main__"].__dict__
    module = type(sys)("__parmec__")
    commands = {name: parmec.load(name) for name in parmec.COMMANDS}
    module.__dict__.update({**caller, **commands})
    loader.prepare(module, reading)
    model = explicit.Model()
    model.is_hybrid = True
    explicit.begin(model)
    before = running.take_words(words)
    try:
        exec(reading.code, module.__dict__)
    finally:
        running.take_words(before)
    made = explicit.current()  # another one after RESET
    made.is_hybrid = True
    for name, value in module.__dict__.items():
        if not name.startswith("__") and commands.get(name) is not value and caller.get(name) is not value:
            caller[name] = value
    return made


def exclude_among(settings, identifiers: np.ndarray) -> np.ndarray:
    """Exclude contacts between any two of these bodies; return the pairs (2, n) that were not excluded before."""
    one, two = np.triu_indices(identifiers.size, 1)
    known = {tuple(pair) for pair in settings.excluded_bodies.T.tolist()}
    ascending = np.sort(identifiers)
    pairs = np.array([pair for pair in zip(ascending[one].tolist(), ascending[two].tolist()) if pair not in known], np.int64).reshape(-1, 2).T
    if pairs.size:
        settings.excluded_bodies = np.asfortranarray(np.unique(np.concatenate((settings.excluded_bodies, pairs), axis=1), axis=1))
    return pairs


def include_again(settings, pairs: np.ndarray) -> None:
    """Include contacts between these pairs (2, n) again."""
    gone = {tuple(pair) for pair in pairs.T.tolist()}
    kept = np.array([tuple(pair) not in gone for pair in settings.excluded_bodies.T.tolist()], bool)
    settings.excluded_bodies = np.asfortranarray(settings.excluded_bodies[:, kept])


