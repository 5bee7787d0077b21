"""SOLFEC, and the choice of its mode (docs/language-objects.md, SOLFEC; docs/running.md, Write and read mode)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any, Literal

import numpy as np

from ..contact import manifold
from ..errors import SolfecError
from ..live_state import Bodies, ForceArrays, Snapshot
from ..motion_hooks import AfterMotion, BeforeMotion, BodiesAfter, BodiesBefore
from ..parallel.communicator import world
from ..results import results_file
from ..simulation import Simulation
from ..sleeping import STEPS
from ..solvers.foreign_solver import Solves
from . import checks, session
from .automatic_solver import solver_and_duration
from .bodies import BODY, CONSTRAINT
from .checks import BadValue, command
from .handles import Model
from .hints import Member, Switch
from .solvers import Solver, constraint_solver


def _switch(name: str, doc: str, dynamic: bool | None = None, refused: str = "") -> Member[str]:
    """Make a switch whose value the domain stores; analyses of the other kind refuse 'ON' unless `dynamic` is None."""

    def get(self):
        return checks.on_off(getattr(self._domain, name))

    def put(self, value):
        on = checks.switch(value, name)
        if on and dynamic not in (None, self._domain.dynamic):
            raise BadValue(f"'{name}' is for {refused}")
        setattr(self._domain, name, on)

    return Member(get, put, doc=doc)


class SOLFEC(Model):
    """One simulation with its output directory (docs/language-objects.md, SOLFEC).

    Parameters
    ----------
    analysis : str
        'DYNAMIC', or 'QUASI_STATIC': every step is a correction towards equilibrium, without inertial forces between steps.
    step : float
        Time step, an upper bound: explicit integration of deformable bodies may lower it permanently.
    output : str or pathlib.Path, optional
        Output directory.  Left out or None: a run in memory, which writes and reads no files.
    mode : str, optional
        'WRITE' computes; earlier results are renamed to those of the directory `<output>.old` once the first new frame is
        written.  'READ' reads results.  'AUTO' reads existing results, and computes if there are none.
        Default: 'WRITE' in Python programs, notebooks and tests; under the command `solfec` 'AUTO', with its switches -w and
        -c.
    contacts : str
        'CLASSIC' (default): contact points as in Solfec-1.0, one averaged point for a pair of primitives.  'MANIFOLD': up to
        four points on features that face each other, within a small distance.
    """

    __slots__ = ()
    _SHOWN = "analysis contacts mode outpath time step nbod ncon"

    @command("SOLFEC")
    def __init__(
        self,
        analysis: Literal["DYNAMIC", "QUASI_STATIC"],
        step: float,
        output: str | PathLike | None = None,
        mode: Literal["WRITE", "READ", "AUTO"] | None = None,
        contacts: Literal["CLASSIC", "MANIFOLD"] = "CLASSIC",
    ) -> None:
        analysis = checks.choice(analysis, "analysis", ("DYNAMIC", "QUASI_STATIC"))
        contacts = checks.choice(contacts, "contacts", ("CLASSIC", "MANIFOLD"))
        step = checks.positive(step, "step")
        now = session.current()
        path = None if output is None else _output_path(checks.path(output, "output"))
        asked = None if mode is None else checks.choice(mode, "mode", ("WRITE", "READ", "AUTO"))
        if now.compared is not None:
            path = None
        asked = asked or ("AUTO" if now.command else "WRITE")
        simulation = Simulation(
            step,
            path,
            _mode(now, path, asked),
            epsilon=now.epsilon,
            input_text=now.input_text,
            arguments=now.arguments,
            interval=now.interval,
            quiet=now.quiet,
            dynamic=analysis == "DYNAMIC",
            keep_old=asked == "WRITE",
            check=None if now.checked is None else look_at,
        )
        if asked == "AUTO":
            own = simulation.mode == "READ" and (_writer_of(path, now) is not None or os.path.abspath(path) in now.written)
            simulation.how_to_write = " (the switch -w computes again)" if now.command and not own else " (mode = 'WRITE' computes again)"
        if contacts == "MANIFOLD":
            manifold.choose(simulation.domain)
        simulation.notify = session.warn
        now.enter(simulation)
        self._simulation, self._id = simulation, 0

    def __repr__(self):
        place = "" if self.outpath is None else f", {self.outpath!r}"
        bodies = f"{self.nbod} {'body' if self.nbod == 1 else 'bodies'}"
        return f"SOLFEC({self.analysis!r}, {self.step:g}{place})  # {self.mode}, time {self.time:g}, {bodies}"

    @property
    def _domain(self):
        return self._simulation.domain

    @property
    def analysis(self) -> str:
        """'DYNAMIC' or 'QUASI_STATIC'."""
        return "DYNAMIC" if self._domain.dynamic else "QUASI_STATIC"

    @property
    def contacts(self) -> str:
        """'CLASSIC' or 'MANIFOLD'."""
        return "MANIFOLD" if self._domain.settings.manifold else "CLASSIC"

    @property
    def time(self) -> float:
        """Present time; in READ mode that of the loaded frame."""
        return self._simulation.clock[0]

    @property
    def mode(self) -> str:
        """'WRITE' or 'READ'."""
        return self._simulation.mode

    @property
    def outpath(self) -> str | None:
        """Output directory, with the sub-directory of the switch -s; None for runs in memory."""
        return self._simulation.outpath

    @property
    def bodies(self) -> list[BODY]:
        """The bodies, newest first."""
        return [BODY._of(self._simulation, int(body)) for body in self._domain.bodies.view("id")[::-1]]

    @property
    def nbod(self) -> int:
        """Number of bodies."""
        return self._domain.bodies.n

    @property
    def constraints(self) -> list[CONSTRAINT]:
        """The constraints, newest first."""
        identifiers = np.sort(self._domain.constraints.view("id"))[::-1]
        return [CONSTRAINT._of(self._simulation, int(constraint)) for constraint in identifiers]

    @property
    def ncon(self) -> int:
        """Number of constraints."""
        return self._domain.constraints.n

    @property
    def step(self) -> float:
        """Time step."""
        return self._simulation.clock[1]

    @step.setter
    def step(self, value: float) -> None:
        self._domain.set_step(checks.positive(value, "step"))

    @property
    def step_control(self) -> str:
        """'ON': explicitly integrated bodies lower the step to their stable step; 'OFF' keeps the user's step."""
        return checks.on_off(not self._domain.step_kept)

    @step_control.setter
    def step_control(self, value: Switch) -> None:
        kept = not checks.switch(value, "step_control")
        if kept:
            session.warn(
                "SOLFEC.step_control = 'OFF' keeps steps above the critical one, up to twice as long as bodies with scheme"
                " 'DEF_EXP' ask for; longer ones end the run"
            )
        self._domain.step_kept = kept

    exact_supports = _switch(
        "exact_supports", "'ON': quasi-static steps meet fixed points and prescribed velocities to round-off, whatever the solver's accuracy.",
        dynamic=False, refused="quasi-static analyses; in dynamics solvers correct what they left in the step before",
    )  # fmt: skip
    joint_impacts = _switch(
        "joint_impacts",
        "'ON': the first step of a joint whose points move stops them; 'OFF': their velocity changes its sign in every step, as in Solfec-1.0.",
    )
    joint_correction = _switch(
        "joint_correction", "'ON': every step ends with a correction that closes gaps of joints; 'OFF' (default): their points drift apart slowly.",
    )

    @property
    def sleeping(self) -> str | float | tuple[float, int]:
        """'ON', a velocity, or a velocity and a number of steps: islands of rigid bodies sleep after so many steps of slower motion; 'OFF' (default)."""
        known = self._domain.sleeping
        if not known.on:
            return "OFF"
        if known.steps != STEPS:
            return known.speed, known.steps
        return "ON" if known.speed is None else known.speed

    @sleeping.setter
    def sleeping(self, value: Literal["ON", "OFF"] | float | tuple[float, int]) -> None:
        setting = _sleeping(value)
        if setting[0] and not self._domain.dynamic:
            raise BadValue("'sleeping' is for dynamics; quasi-static bodies have no velocity that could vanish")
        if setting[0] and world().size > 1:
            raise BadValue("'sleeping' is for runs of one process; leave it 'OFF', or run without MPI")
        self._domain.sleeping.setting = setting

    @property
    def spread(self) -> str:
        """'ON': each of several processes keeps its own bodies only, and may make others than the rest; 'OFF' (default): each has the whole model."""
        return checks.on_off(self._simulation.spreading.asked)

    @spread.setter
    def spread(self, value: Switch) -> None:
        spread = checks.switch(value, "spread")
        if self._domain.bodies.n and spread != self._simulation.spreading.asked:
            raise BadValue("'spread' must be set before the first BODY")
        if spread and self._simulation.mode == "READ" and world().size > 1:
            raise BadValue("'spread' is for runs; results are read by one process, without mpiexec")
        self._simulation.spreading.choose(spread)

    @property
    def verbose(self) -> str:
        """'ON', 'OFF', or '%' (also for the form with a newline)."""
        return self._simulation.verbose.rstrip("\n")

    @verbose.setter
    def verbose(self, value: Literal["ON", "OFF", "%", "%\n"]) -> None:
        self._simulation.verbose = checks.choice(value, "verbose", ("ON", "OFF", "%", "%\n"))

    @property
    def cleanup(self) -> str:
        """'ON' removes an output directory in which no frame was written."""
        return checks.on_off(self._simulation.cleanup)

    @cleanup.setter
    def cleanup(self, value: Switch) -> None:
        self._simulation.cleanup = checks.switch(value, "cleanup")

    @command("SOLFEC.steps")
    def steps(self, solver: Solver | Solves | float, duration: float | None = None) -> Iterator[float]:
        """Run as RUN does, step by step: iterate over the times at which steps end.

        Output, callbacks, the file STOP and signals are processed before each time is yielded.  A loop that is left early ends the run, and
        the last state is written.  In READ mode there are no steps.

        Parameters
        ----------
        solver
            See RUN.
        duration : float
            Time to simulate, from the present time on.
        """
        simulation = self._simulation
        if session.current().compared is not None:
            raise SolfecError("SOLFEC.steps: this command takes runs by RUN")
        solver, duration = solver_and_duration(simulation, solver, duration)
        return simulation.steps(constraint_solver(solver), checks.positive(duration, "duration"))

    @command("SOLFEC.snapshot")
    def snapshot(self) -> Snapshot:
        """Copies of the present state of all bodies and constraints, as arrays.

        Returns
        -------
        Snapshot
            `time`, `step_number`, `bodies` (id, kind, mass, centre, velocity, rotation, angular_velocity) and `constraints` (id, kind, bodies,
            point, base, R, U, gap, contacts).
        """
        return self._domain.snapshot()

    @command("SOLFEC.add_forces")
    def add_forces(self, function: Callable[[Bodies, float, float], Any]) -> None:
        """Load many bodies at once by a function that is called in every step; forces of several functions add up.

        The input of a continued run must add them again.

        Parameters
        ----------
        function : callable
            ``function(bodies, time, step)`` returns spatial forces at the mass centres (n, 3), or a tuple of these and spatial torques (n, 3).
            `bodies` is as in `snapshot`, at mid-step and with velocities of the beginning of the step.  Forces on obstacles have
            no effect, which a warning says; deformable bodies accept no torques.
        """
        self._domain.loads.sources.append(ForceArrays(checks.function(function, "function"), session.warn))

    @command("SOLFEC.before_motion")
    def before_motion(self, function: Callable[[BodiesBefore, float, float], None]) -> None:
        """Call a function in every step before anything moves; it may set velocities, and loads of the step, as arrays.

        Several functions are called in the order in which they were given.  They may do what is possible in a CALLBACK.  A continued run needs
        them again, as its input gives them.

        Parameters
        ----------
        function : callable
            ``function(bodies, time, step)`` with the beginning and the length of the step; it returns nothing.  `bodies` has what
            `after_motion` describes; `velocity` (n, 3) and `angular_velocity` (n, 3), spatial, can be written, and `force` (n, 3) and
            `torque` (n, 3), spatial at mass centres and zero at first, act during this step.

        Raises
        ------
        SolfecError
            In the step: numbers that are not finite; an angular velocity or a torque of a body that deforms, a velocity of one in a base.
        """
        self._domain.hooks.before.append(BeforeMotion(checks.function(function, "function"), session.warn))

    @command("SOLFEC.after_motion")
    def after_motion(self, function: Callable[[BodiesAfter, float, float], None]) -> None:
        """Call a function at the end of every step, before OUTPUT and CALLBACK are seen to.

        Several functions are called in the order in which they were given.  They may do what is possible in a CALLBACK.  A continued run needs
        them again, as its input gives them; for the step of the frame from which it goes on they are not called again.

        Parameters
        ----------
        function : callable
            ``function(bodies, time, step)`` with the time reached and the length of the step; it returns nothing.  `bodies` has arrays
            that are read-only and belong to this call: `id`, `kind`, `mass` (n,), `velo`, `conf` (3, m) and `velo_ptr`, `conf_ptr` (n,) are views of
            the model's own (the columns of a body begin at its pointer, and are what BODY.velo and BODY.conf list); `centre`, `velocity`,
            `rotation` and `angular_velocity` are as `snapshot` gives them, computed when they are first asked for.
        """
        self._domain.hooks.after.append(AfterMotion(checks.function(function, "function")))


def _sleeping(value) -> list:
    """Return the setting of `Sleeping` for a value of the member."""
    if isinstance(value, str):
        return [checks.switch(value, "sleeping"), None, STEPS]
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise BadValue("'sleeping' must be 'ON', 'OFF', a velocity, or a velocity and a number of steps")
        return [True, checks.positive(value[0], "velocity of sleeping"), checks.integer(value[1], "steps of sleeping", 1)]
    return [True, checks.positive(value, "sleeping"), STEPS]


def look_at(simulation: Simulation, duration: float | None = None) -> None:
    """Inspect a model instead of its first RUN, for `solfec check`."""
    from ..inspection import inspect  # imports parts of SciPy, which runs do not need

    now, name = session.current(), simulation.outpath or "in memory"
    if any(facts["simulation"] is simulation for facts in now.checked):
        return
    frame = session.users_frame() if duration is not None else None
    facts = inspect(simulation.domain, duration, simulation.interval)
    now.checked.append({"name": name, "line": frame.f_lineno if frame else None, "simulation": simulation} | facts)


def _output_path(path: str) -> str:
    """Return the output directory: that of the command line if results are the input, with -s appended."""
    now = session.current()
    path = (now.output_directory or path).rstrip("/")
    if not path:
        raise BadValue("'output' must name a directory")
    return os.path.join(path, now.subdirectory) if now.subdirectory else path


def results_exist(path: str) -> bool:
    """Whether an output directory contains results."""
    file = results_file(path)
    return os.path.isfile(file) and os.access(file, os.R_OK)


def _mode(now: session.Session, path: str | None, asked: str) -> str:
    """Return READ, WRITE or CONTINUE for a new SOLFEC object with the mode 'READ', 'WRITE' or 'AUTO'; may end the process."""
    if now.checked is not None:
        return "WRITE"
    if path is None:
        if asked == "READ":
            raise BadValue("'mode' is 'READ', and there is no 'output' to read from")
        return "WRITE"
    exist = results_exist(path)
    if asked == "READ" and not exist:
        raise BadValue(f"'mode' is 'READ', and there are no results in {path}")
    if asked == "READ":
        return "READ"
    earlier = _writer_of(path, now)
    own = earlier is not None or os.path.abspath(path) in now.written
    if asked == "WRITE":
        return "CONTINUE" if exist and now.resume and not own else "WRITE"
    if own:
        return "READ" if exist and (earlier is None or earlier.frames_written) else "WRITE"
    if not exist:
        return "WRITE"
    if now.resume:
        return "CONTINUE"
    if not now.overwrite:
        return "READ"
    if not now.overwrite_without_asking and not _may_overwrite(path):
        if world().rank == 0:
            print(f"the results in {path} were left as they are", file=sys.stderr)
        raise SystemExit(1)
    return "WRITE"


def _writer_of(path: str, now: session.Session) -> Simulation | None:
    """Return the first simulation of this process that writes, or has written, to an output directory."""
    path = os.path.abspath(path)
    writing = (simulation for simulation in now.simulations if simulation.mode == "WRITE" and simulation.outpath is not None)
    return next((simulation for simulation in writing if os.path.abspath(simulation.outpath) == path), None)


def _may_overwrite(path: str) -> bool:
    """Ask on a terminal whether old results may be overwritten; without a terminal the answer is no.  Process 0 does so on behalf of all."""
    return world().gathered(world().rank == 0 and _asked_on_terminal(path))[0]


def _asked_on_terminal(path: str) -> bool:
    """Ask whether results may be overwritten."""
    if not (sys.stdin is not None and sys.stdin.isatty()):
        print(f"solfec: -w: {path} holds results; without a terminal to ask on, put -y before the input's path to overwrite them", file=sys.stderr)
        return False
    print(f"WARNING: {path} holds results; they will be overwritten.", flush=True)
    try:
        return input("Overwrite them? [y/n] ").strip() == "y"
    except EOFError:
        return False
