"""The seven roles of a coupled simulation, as abstract bases (Acary et al., The Saladyn toolbox, 2013).

A code divides into modelling (bodies, contacts) and simulation (time integration, solution).  An adapter derives the roles that its code can
play; a simulation joins adapters, which may belong to different codes.  Data go from code to code through a `Buffer` alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SolfecError
from ..solvers.local_dynamics import LocalDynamics
from ..solvers.report import SolverReport
from .buffer import Buffer

if TYPE_CHECKING:
    from .graph import Graph
    from .local_problem import LocalProblem


class MechanicalModel(ABC):
    """One way of modelling a physical object: rigid, pseudo-rigid or by finite elements, in one code."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Such as 'RIGID'."""

    @property
    @abstractmethod
    def q(self) -> np.ndarray:
        """Configuration."""

    @property
    @abstractmethod
    def v(self) -> np.ndarray:
        """Velocity."""

    @property
    @abstractmethod
    def force(self) -> np.ndarray:
        """Generalised applied force of the last step, or of the present one."""

    @property
    @abstractmethod
    def inverse_mass(self) -> np.ndarray:
        """Inverse of the mass matrix."""

    def switch(self, kind: str, **options) -> tuple[int, float]:
        """Become another kind of model; return the number that the object has from now on, and the energy that is lost."""
        raise SolfecError(f"{type(self).__name__} stays of kind {self.kind!r}; it cannot become {kind!r}")


@dataclass
class PhysicalObject:
    """A thing of the real world, and the model that stands for it at present.

    Attributes
    ----------
    number : int
        Number of the object in its code.
    label : str or None
    model : MechanicalModel
    """

    number: int
    label: str | None
    model: MechanicalModel

    def switch(self, kind: str, **options) -> float:
        """Let another kind of model stand for the object from now on, with its momenta; return the energy that is lost.

        Raises
        ------
        SolfecError
            The code that has the model cannot change it.
        """
        self.number, lost = self.model.switch(kind, **options)
        return lost


class Modeler(ABC):
    """The bodies of one code, all at once: some codes work on all bodies, others on one after the other."""

    @property
    @abstractmethod
    def objects(self) -> list[PhysicalObject]:
        """The bodies, in the order of their numbers."""

    @abstractmethod
    def free_velocity(self) -> None:
        """Compute the velocities that bodies would have at the end of the step without reactions."""

    @abstractmethod
    def apply_reactions(self) -> None:
        """Correct velocities by the reactions of the step, and move bodies to its end."""

    @abstractmethod
    def pull(self, buffer: Buffer) -> None:
        """Copy the state of the code's bodies into the buffer."""

    @abstractmethod
    def push(self, buffer: Buffer) -> None:
        """Set the state of the code's bodies from the buffer."""


class CollisionHandler(ABC):
    """Finds contacts."""

    @abstractmethod
    def detect(self) -> None:
        """Find the contacts of the present configuration."""

    @abstractmethod
    def pull(self, buffer: Buffer) -> None:
        """Copy the contacts into the buffer."""


class InteractionSolver(ABC):
    """Computes the reactions of a step; RUN and HYBRID_SOLVER take it as a solver, too.

    Attributes
    ----------
    stored_form : bool or None
        True: it needs the blocks of W; False: it works with operators on bodies; None: whichever is cheaper.
    """

    stored_form: bool | None = True

    @abstractmethod
    def solve_problem(self, problem: LocalProblem) -> SolverReport | None:
        """Write reactions to `problem.reactions`, which hold those of the last step at first."""

    def solve(self, local: LocalDynamics) -> SolverReport | None:
        """Solve the rows of a step: what RUN calls."""
        from .local_problem import LocalProblem

        return self.solve_problem(LocalProblem(local))


class Simulation(ABC):
    """The time loop; a coupled computation has exactly one.

    Parameters
    ----------
    modeler : Modeler
    handler : CollisionHandler
    solver : InteractionSolver
    """

    def __init__(self, modeler: Modeler, handler: CollisionHandler, solver: InteractionSolver):
        for name, role, given in (("modeler", Modeler, modeler), ("handler", CollisionHandler, handler), ("solver", InteractionSolver, solver)):
            if not isinstance(given, role):
                raise SolfecError(f"{type(self).__name__}: '{name}' must be a {role.__name__}, not {type(given).__name__}")
        self.modeler, self.handler, self.solver = modeler, handler, solver

    def step(self) -> None:
        """Make one step: the order of Moreau and Jean's scheme."""
        self.begin_step()
        self.modeler.free_velocity()
        self.handler.detect()
        self.solve()
        self.modeler.apply_reactions()
        self.end_step()

    @abstractmethod
    def begin_step(self) -> None:
        """Do what comes before the motion of a step."""

    @abstractmethod
    def solve(self) -> None:
        """Assemble the problem of the step and let the solver write its reactions."""

    @abstractmethod
    def end_step(self) -> None:
        """Advance time."""

    @abstractmethod
    def run(self, duration: float) -> None:
        """Make the steps of a duration."""

    @abstractmethod
    def graph(self) -> Graph:
        """Return the graph of dynamical systems and interactions."""
