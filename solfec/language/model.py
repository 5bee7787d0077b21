"""SOLFEC, and how its mode is chosen (manual, 4.2.5 and 3.1)."""

from __future__ import annotations

import os
import sys
from typing import Literal

import numpy as np

from ..results import results_file
from ..simulation import Simulation
from . import checks, session
from .bodies import BODY, CONSTRAINT
from .checks import BadValue, command
from .handles import Model
from .hints import Switch


class SOLFEC(Model):
    """One simulation with its output directory (manual, 4.2.5).

    Parameters
    ----------
    analysis : str
        'DYNAMIC', or 'QUASI_STATIC': every step is a correction towards equilibrium, without inertia from step to step.
    step : float
        Time step, an upper bound: explicit integration of deformable bodies may lower it for good.
    output : str
        Output directory.  READ mode when it holds results, WRITE mode otherwise or with the switches -w and -c.
    """

    __slots__ = ()

    @command("SOLFEC")
    def __init__(self, analysis: Literal["DYNAMIC", "QUASI_STATIC"], step: float, output: str) -> None:
        analysis = checks.choice(analysis, "analysis", ("DYNAMIC", "QUASI_STATIC"))
        step = checks.positive(step, "step")
        path = _output_path(checks.string(output, "output"))
        now = session.current()
        mode = _mode(now, path)
        simulation = Simulation(
            step,
            path,
            mode,
            epsilon=now.epsilon,
            input_text=now.input_text,
            arguments=now.arguments,
            interval=now.interval,
            quiet=now.quiet,
            dynamic=analysis == "DYNAMIC",
        )
        simulation.notify = session.warn
        now.simulations.append(simulation)
        self._simulation, self._id = simulation, 0

    def __repr__(self):
        return f"SOLFEC({self.analysis!r}, {self.step:g}, {self.outpath!r})  # {self.mode}, time {self.time:g}"

    @property
    def _domain(self):
        return self._simulation.domain

    @property
    def analysis(self) -> str:
        """'DYNAMIC' or 'QUASI_STATIC'."""
        return "DYNAMIC" if self._domain.dynamic else "QUASI_STATIC"

    @property
    def time(self) -> float:
        """Present time; in READ mode that of the loaded frame."""
        return self._domain.time

    @property
    def mode(self) -> str:
        """'WRITE' or 'READ'."""
        return self._simulation.mode

    @property
    def outpath(self) -> str:
        """Output directory, with the sub-directory of the switch -s."""
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
        return self._domain.step

    @step.setter
    def step(self, value: float) -> None:
        self._domain.change_step(checks.positive(value, "step"))

    @property
    def step_control(self) -> str:
        """'ON': explicitly integrated bodies lower the step to what they can bear; 'OFF' keeps the step of the user."""
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

    @property
    def exact_supports(self) -> str:
        """'ON': quasi-static steps meet fixed points and prescribed velocities to round-off, whatever the solver's accuracy."""
        return checks.on_off(self._domain.exact_supports)

    @exact_supports.setter
    def exact_supports(self, value: Switch) -> None:
        exact = checks.switch(value, "exact_supports")
        if exact and self._domain.dynamic:
            raise BadValue("'exact_supports' is for quasi-static analyses; in dynamics solvers correct what they left in the step before")
        self._domain.hold_supports(exact)

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


def _output_path(path: str) -> str:
    """Output directory: that of the command line when results are the input, with -s appended."""
    now = session.current()
    path = (now.output_directory or path).rstrip("/")
    if not path:
        raise BadValue("'output' must name a directory")
    return os.path.join(path, now.subdirectory) if now.subdirectory else path


def results_exist(path: str) -> bool:
    """Whether an output directory holds results."""
    file = results_file(path)
    return os.path.isfile(file) and os.access(file, os.R_OK)


def _mode(now: session.Session, path: str) -> str:
    """READ, WRITE or CONTINUE for a new SOLFEC object; may ask, and may end the process."""
    exist = results_exist(path)
    for simulation in now.simulations:
        if simulation.mode == "WRITE" and os.path.abspath(simulation.outpath) == os.path.abspath(path):
            return "READ" if exist and simulation.frames_written else "WRITE"
    if not exist:
        return "WRITE"
    if now.resume:
        return "CONTINUE"
    if not now.overwrite:
        return "READ"
    if not now.overwrite_without_asking and not _may_overwrite(path):
        print(f"the results in {path} were left as they are", file=sys.stderr)
        raise SystemExit(1)
    return "WRITE"


def _may_overwrite(path: str) -> bool:
    """Ask on a terminal whether old results may go; without a terminal nobody can say yes."""
    if not (sys.stdin is not None and sys.stdin.isatty()):
        print(f"solfec: -w: {path} holds results; without a terminal to ask on, put -y before the input's path to overwrite them", file=sys.stderr)
        return False
    print(f"WARNING: {path} holds results; they will be overwritten.", flush=True)
    try:
        return input("Overwrite them? [y/n] ").strip() == "y"
    except EOFError:
        return False
