"""RUN, OUTPUT, CALLBACK and other commands that control a simulation (docs/language-running.md, Running)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import SolfecError
from ..solvers.foreign_solver import Solves
from . import checks, session
from .automatic_solver import solver_and_duration
from .checks import BadValue, command
from .handles import simulation_of
from .hints import Numbers, Switch
from .model import SOLFEC
from .solvers import CoSolver, Solver, constraint_solver


@command("RUN")
def RUN(solfec: SOLFEC, solver: Solver | CoSolver | Solves | float, duration: float | None = None) -> None:
    """Run a simulation; in READ mode do nothing. Under the viewer (-v) the window runs it.

    Parameters
    ----------
    solfec : SOLFEC
    solver
        Constraint solver, e.g. GAUSS_SEIDEL_SOLVER, a HYBRID_SOLVER, or any object with a method ``solve (local)`` that writes reactions to
        ``local.rows.R`` (docs/solvers.md, A solver of your own).  RUN (solfec, duration) takes AUTO_SOLVER ().
    duration : float
        Time to simulate, from the present time on.
    """
    simulation = simulation_of(solfec)
    solver, duration = solver_and_duration(simulation, solver, duration)
    if (viewed := session.current().viewed) is not None and simulation.mode == "WRITE":
        made = solver if isinstance(solver, CoSolver) else constraint_solver(solver)
        if isinstance(solver, CoSolver):
            solver.bind(simulation)
        viewed.append((simulation, made, checks.positive(duration, "duration")))
        return
    if (compare := session.current().compared) is not None:
        if isinstance(solver, CoSolver):
            raise SolfecError("RUN: this command takes runs of one model, not those of HYBRID_SOLVER")
        compare(simulation, constraint_solver(solver), checks.positive(duration, "duration"))
        return
    if isinstance(solver, CoSolver):
        solver.run(simulation, checks.positive(duration, "duration"))
        return
    simulation.run(constraint_solver(solver), checks.positive(duration, "duration"))


@command("OUTPUT")
def OUTPUT(solfec: SOLFEC, interval: float, compression: Switch | None = None) -> None:
    """Write results every `interval` of time; every step when this command is not used.

    Parameters
    ----------
    solfec : SOLFEC
    interval : float
        Time between frames; 0: every step.
    compression : str
        'ON' or 'OFF' (default).
    """
    simulation = simulation_of(solfec)
    interval = checks.nonnegative(interval, "interval")
    compression = compression is not None and checks.switch(compression, "compression")
    simulation.output(interval, compression)


@command("EXTENTS")
def EXTENTS(solfec: SOLFEC, extents: Numbers) -> None:
    """Bound the scene: bodies that leave the box are deleted.  Ignored in READ mode.

    Parameters
    ----------
    solfec : SOLFEC
    extents : tuple of 6
        (xmin, ymin, zmin, xmax, ymax, zmax)
    """
    simulation = simulation_of(solfec)
    box = np.array(checks.vector(extents, "extents", 6))
    if not (box[:3] < box[3:]).all():
        raise BadValue("'extents' must have its lower corner below its upper corner")
    if simulation.mode == "WRITE":
        simulation.domain.extents = box


@command("CALLBACK")
def CALLBACK(solfec: SOLFEC, interval: float, data: Any, callback: Callable[..., Any]) -> None:
    """Call a function every `interval` of time during RUN; a returned 0 ends the run.

    Parameters
    ----------
    solfec : SOLFEC
    interval : float
        Time between calls, positive.
    data
        Argument of the function; the items of a tuple are separate arguments.
    callback : callable
    """
    simulation = simulation_of(solfec)
    interval = checks.positive(interval, "interval")
    callback = checks.function(callback, "callback")
    arguments = data if isinstance(data, tuple) else (data,)
    simulation.callback(interval, lambda: callback(*arguments))


@command("REGISTER_CALLBACK")
def REGISTER_CALLBACK(callback: Callable[..., Any], data: Any = None) -> None:
    """Register a callback for parallel runs; it has no effect in a serial run.

    Parameters
    ----------
    callback : callable
    data
        Its arguments.
    """
    checks.function(callback, "callback")


@command("UNPHYSICAL_PENETRATION")
def UNPHYSICAL_PENETRATION(solfec: SOLFEC, depth: float) -> None:
    """Stop the run with an error once a contact penetrates deeper than `depth`.  Ignored in READ mode.

    Parameters
    ----------
    solfec : SOLFEC
    depth : float
        Positive; infinity: no bound.
    """
    simulation = simulation_of(solfec)
    depth = checks.positive(depth, "depth", infinite=True)
    if simulation.mode == "WRITE":
        simulation.domain.settings.depth = depth


@command("GEOMETRIC_EPSILON")
def GEOMETRIC_EPSILON(epsilon: float) -> None:
    """Set the distance below which two points count as one (default 1E-6, in the model's unit of length).

    It applies to everything that follows, and to existing SOLFEC objects.

    Parameters
    ----------
    epsilon : float
        Positive.
    """
    epsilon = checks.positive(epsilon, "epsilon")
    now = session.current()
    if any(simulation.runs_elsewhere for simulation in now.simulations):
        raise SolfecError("GEOMETRIC_EPSILON: another thread runs a model; change it before or after RUN")
    for simulation in now.simulations:
        domain = simulation.domain
        if domain.settings.min_distance == domain.epsilon:  # the default follows
            domain.settings.min_distance = epsilon
        domain.epsilon = epsilon
    now.epsilon = epsilon


@command("WARNINGS")
def WARNINGS(state: Switch) -> None:
    """Switch warnings 'ON' (default) or 'OFF'.

    Parameters
    ----------
    state : str
        'ON' or 'OFF'.
    """
    session.current().warnings = checks.switch(state, "state")
