"""The explicit engine behind the roles of the toolbox: its particles as bodies, and HYBRID_SOLVER's coupling step by step."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from ..errors import SolfecError
from ..kinds import BodyKind
from ..language.checks import positive
from ..language.solvers import CoSolver
from ..parmec.model import Model
from .boundary import Boundary
from .buffer import Buffer
from .own import SolfecSimulation
from .roles import MechanicalModel, Modeler, PhysicalObject


def _column(name: str, doc: str) -> property:
    """Make a read-only property: a view of a particle's part of a column of ParticleTable."""
    return property(lambda self: getattr(self._particles, name)[..., self.number], doc=doc)


class ParticleModel(MechanicalModel):
    """The model of a particle: `q`, `v` and `force` are views of the program's memory.

    Parameters
    ----------
    model : Model
    number : int
    """

    def __init__(self, model: Model, number: int):
        self._particles, self.number = model.particles, number

    @property
    def kind(self) -> str:
        """'RIGID'."""
        return BodyKind.RIGID.name

    q = _column("position", "Mass centre (3,); `rotation` is the other part of the configuration.")
    rotation = _column("rotation", "Rotation (3, 3), from referential to spatial vectors.")
    v = _column("velocity", "Velocity of the mass centre (3,); `angular_velocity` is the other part of the velocity.")
    angular_velocity = _column("spin", "Spatial angular velocity (3,).")
    force = _column("force", "Total force (3,) of the last explicit step; `torque` is the one about the mass centre.")
    torque = _column("torque", "Total spatial torque (3,) of the last explicit step.")

    @property
    def inverse_mass(self) -> np.ndarray:
        """Diagonal blocks (3, 3, 2) of the inverse mass matrix: for the referential angular velocity, and for that of the mass centre."""
        inverse = self._particles.inverse_inertia[:, :, self.number]
        return np.stack([inverse, np.eye(3) / self._particles.mass[self.number]], axis=2)


class ParticleModeler(Modeler):
    """The particles of an explicit model; those that the implicit engine moves have velocities of their bodies during explicit steps.

    Parameters
    ----------
    model : Model
    boundary : Boundary
        Bodies shared with the implicit engine.
    advance : callable
        ``advance(count)`` makes explicit steps.
    average : callable
        ``average()`` returns the time of the last explicit steps if their forces are averaged, or 0.

    Attributes
    ----------
    count : int
        Number of explicit steps that `apply_reactions` makes.
    seconds : float
        Wall-clock time of explicit steps so far.
    """

    def __init__(self, model: Model, boundary: Boundary, advance: Callable[[int], None], average: Callable[[], float]):
        self.model, self.boundary = model, boundary
        self._advance, self._average = advance, average
        self.count, self.seconds = 0, 0.0

    @property
    def objects(self) -> list[PhysicalObject]:
        """The particles; they have no labels."""
        return [PhysicalObject(number, None, ParticleModel(self.model, number)) for number in range(self.model.particles.n)]

    def free_velocity(self) -> None:
        """Take the velocities of the shared bodies, and begin to sum forces on them."""
        self.boundary.hand_over_velocities()
        self.boundary.empty()

    def apply_reactions(self) -> None:
        """Make the explicit steps of an implicit one, and keep the forces on the shared bodies for the next implicit step."""
        began = perf_counter()
        self._advance(self.count)
        self.seconds += perf_counter() - began
        self.boundary.count_explicit_steps()
        self.boundary.take_forces(self._average())

    def pull(self, buffer: Buffer) -> None:
        """Copy time and particles into the buffer."""
        particles, into = self.model.particles, buffer.bodies
        buffer.time = float(self.model.control.time[0])
        into.id, into.kind = np.arange(particles.n), np.full(particles.n, int(BodyKind.RIGID))
        into.mass = particles.view("mass").copy()
        into.centre, into.velocity, into.angular_velocity = (particles.view(name).T.copy() for name in ("position", "velocity", "spin"))
        into.rotation = particles.view("rotation").transpose(2, 0, 1).copy()
        into.gradient_rate = np.full((particles.n, 3, 3), np.nan)
        into.node_ptr = np.zeros(particles.n + 1, int)
        into.node, into.node_velocity = np.zeros((2, 0, 3))

    def push(self, buffer: Buffer) -> None:
        """Set places and velocities of all particles from the buffer; masses and time stay.

        Raises
        ------
        SolfecError
            The buffer has other bodies than the model, numbers that are not finite, or matrices that are no rotations.
        """
        particles, given = self.model.particles, buffer.bodies
        if not np.array_equal(given.id, np.arange(particles.n)):
            raise SolfecError(f"push: the buffer has the bodies {given.id.tolist()}; the explicit model has particles 0 to {particles.n - 1}")
        for name in ("centre", "velocity", "angular_velocity", "rotation"):
            if not np.isfinite(getattr(given, name)).all():
                raise SolfecError(f"push: '{name}' of a particle is not finite")
        off = np.abs(given.rotation @ given.rotation.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
        if (off > 1e-6).any():
            raise SolfecError(f"push: 'rotation' of particle {int(np.argmax(off))} is no rotation (off by {off.max():.1e})")
        particles.view("position")[:] = given.centre.T
        particles.view("velocity")[:] = given.velocity.T
        particles.view("spin")[:] = given.angular_velocity.T
        particles.view("rotation")[:] = given.rotation.transpose(1, 2, 0)
        particles.view("angular")[:] = np.einsum("nji,nj->in", given.rotation, given.angular_velocity)
        self.model.unsettle()


class HybridSimulation(SolfecSimulation):
    """Implicit and explicit engine together, with exchangeable roles on the implicit side; with our own ones it has the bits of HYBRID_SOLVER.

    Parameters
    ----------
    solfec : SOLFEC
    hybrid : HYBRID_SOLVER
        The explicit model, the shared bodies, and the solver of the implicit one.
    modeler : Modeler, optional
    handler : CollisionHandler, optional
        See `SolfecSimulation`.
    """

    def __init__(self, solfec, hybrid, modeler: Modeler | None = None, handler=None):
        if not isinstance(hybrid, CoSolver):
            raise SolfecError(f"HybridSimulation: 'hybrid' must be a HYBRID_SOLVER, not {type(hybrid).__name__}")
        super().__init__(solfec, hybrid._solver, modeler, handler)
        self.hybrid, self._joined = hybrid, False

    @property
    def explicit(self) -> ParticleModeler:
        """The particles.

        Raises
        ------
        SolfecError
            Before the first `run`, in which they meet their bodies.
        """
        if self.hybrid._particles is None:
            raise SolfecError("HybridSimulation: the particles meet their bodies in the first 'run'")
        return self.hybrid._particles

    def begin_step(self) -> None:
        """Refuse steps outside of `run`, which would leave the explicit engine behind."""
        if not self._joined:
            raise SolfecError("HybridSimulation: both engines make their steps together in 'run' only")
        super().begin_step()

    def run(self, duration: float) -> None:
        """Run both models for a duration, as RUN does with HYBRID_SOLVER; do nothing in READ mode."""
        duration, simulation = positive(duration, "duration"), self.open_step.simulation
        if simulation.mode == "READ":
            self.hybrid.run(simulation, duration)
            return
        self._joined = True
        try:
            for _ in self.hybrid.steps(simulation, duration, advance=self.step):
                pass
        finally:
            self._joined = False
