"""A time step in its phases, each a call: what RUN does in every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SolfecError
from ..language.handles import simulation_of
from ..language.solvers import constraint_solver
from ..parallel.communicator import world
from ..solvers.report import SolverReport
from .local_problem import LocalProblem

PHASES = ("free_velocity", "detect", "assemble", "solve", "apply", "advance")


class OpenStep:
    """The step of a model, phase by phase: free_velocity, detect, assemble, solve, apply, advance.

    Between two phases the state of the model may be read; an error within a phase breaks the model off, as in RUN.  After `advance` the next
    step begins with `free_velocity`.

    Parameters
    ----------
    solfec : SOLFEC

    Attributes
    ----------
    domain : Domain
        The model.
    """

    def __init__(self, solfec):
        self._open(simulation_of(solfec))

    @classmethod
    def of(cls, simulation) -> OpenStep:
        """Return the step of a `solfec.simulation.Simulation`, for which the input has no SOLFEC object at hand."""
        made = object.__new__(cls)
        made._open(simulation)
        return made

    def _open(self, simulation) -> None:
        self.simulation = simulation
        if world().size > 1:
            raise SolfecError("OpenStep: several processes make their steps by RUN only; run one process")
        self.domain = self.simulation.domain
        self._next, self._phases, self._works = 0, None, (0.0, 0.0)

    def free_velocity(self) -> None:
        """Begin a step: half a step of motion, loads, and velocities u* at the end of the step without reactions."""
        self._at("free_velocity")
        if self.simulation.mode == "READ":
            raise SolfecError("OpenStep: the model reads results (mode 'READ') and makes no steps")
        self._phases = self.domain.open_step()
        with self.domain.guard:
            self._phases.timings.start()
            self._phases.predict()
        self._next = 1

    def detect(self, by: Callable[[], None] | None = None) -> None:
        """Find contacts at mid-step; `by` is a function that puts other contacts into the model than our own detection finds."""
        self._make("detect", by or self._phases_detect)

    def _phases_detect(self) -> None:
        self._phases.detect()

    def assemble(self, stored_form: bool | int | None = True, colouring: str = "OFF") -> LocalProblem:
        """Assemble W, B and the laws; return them.

        Parameters
        ----------
        stored_form, colouring
            See `solvers.constraint_solver.ConstraintSolver`.
        """
        self._make("assemble", lambda: self._phases.assemble(stored_form, colouring))
        return self.problem

    @property
    def problem(self) -> LocalProblem:
        """The problem of the step after `assemble`."""
        if self._next < PHASES.index("solve"):
            raise SolfecError("OpenStep: the problem of a step is known after 'assemble'")
        return LocalProblem(self.domain.local_dynamics)

    def solve(self, solver) -> SolverReport:
        """Compute reactions by any solver that RUN takes; return its report.  `apply` with reactions of your own needs no call of it."""
        made = constraint_solver(solver)
        self._make("solve", lambda: self._phases.solve(made))
        return self.domain.report

    def apply(self, reactions: np.ndarray | None = None) -> None:
        """Apply the reactions that `solve` has found, or the given ones (3, n), and move the bodies to the end of the step.

        Raises
        ------
        SolfecError
            Wrong shape, or numbers that are not finite.
        """
        if reactions is not None and self._next == PHASES.index("solve"):
            self.solve(_Given(reactions, self.domain.local_dynamics.n))
        self._make("apply", self._correct)

    def advance(self) -> None:
        """End the step: advance time, finish joints, break or remove bodies, call hooks."""
        self._at("advance")
        self._next = 0
        self.domain.close_step(self._works)

    def move_shapes(self) -> None:
        """Let the shapes follow the bodies, without detection; within a step, after `free_velocity`."""
        if self._next == 0:
            raise SolfecError("OpenStep: 'move_shapes' is for a step that 'free_velocity' has begun")
        self._phases.detection.move_shapes()

    def _correct(self) -> None:
        self._works = self._phases.correct()

    def _make(self, phase: str, function) -> None:
        self._at(phase)
        try:
            with self.domain.guard:
                self._phases.timings.start()
                function()
        except BaseException:
            self._next = 0  # the model refuses another step, and says why
            raise
        self._next += 1

    def _at(self, phase: str) -> None:
        if PHASES[self._next] != phase:
            raise SolfecError(f"OpenStep: '{phase}' was called where '{PHASES[self._next]}' is due; the order is {', '.join(PHASES)}")


class _Given:
    """Solver that writes reactions which the user has computed."""

    def __init__(self, reactions: np.ndarray, n: int):
        self._reactions = np.asarray(reactions, float)
        if self._reactions.shape != (3, n) or not np.isfinite(self._reactions).all():
            raise SolfecError(f"OpenStep.apply: 'reactions' must be finite numbers of the shape (3, {n}), not {self._reactions.shape}")

    def solve(self, local) -> None:
        local.rows.R[:, : local.n] = self._reactions
