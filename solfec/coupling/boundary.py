"""Bodies shared by both engines: the implicit engine moves them, the explicit engine computes the forces of its springs on them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from time import perf_counter

import numpy as np

from ..bodies.table import BodyTable
from ..language import session
from ..language.checks import BadValue
from ..parmec.model import Model

TOLERANCE = 1e-6  # of masses and centres that should be equal, over the mass and the size of the body


@dataclass
class Exchange:
    """Impulses and work that the engines have exchanged since the first step, summed over shared bodies.

    Attributes
    ----------
    impulse, angular_impulse : ndarray (3,)
        Of the explicit engine's forces and torques on the implicit bodies.
    work : float
        Of both, by mean velocities of implicit steps.
    engine_impulse, engine_angular_impulse, engine_work
        The same quantities, summed by the explicit steps, which are half an implicit step ahead.
    """

    impulse: np.ndarray = field(default_factory=lambda: np.zeros(3))
    angular_impulse: np.ndarray = field(default_factory=lambda: np.zeros(3))
    work: float = 0.0
    engine_impulse: np.ndarray = field(default_factory=lambda: np.zeros(3))
    engine_angular_impulse: np.ndarray = field(default_factory=lambda: np.zeros(3))
    engine_work: float = 0.0

    def numbers(self) -> np.ndarray:
        """Return all in one array (14,), as frames store them."""
        return np.concatenate([np.atleast_1d(getattr(self, item.name)) for item in fields(self)])

    @classmethod
    def of(cls, numbers: np.ndarray) -> Exchange:
        """Make an Exchange from the array of `numbers`."""
        n = np.array(numbers, float)
        return cls(n[0:3], n[3:6], float(n[6]), n[7:10], n[10:13], float(n[13]))


class Boundary:
    """Particles of an explicit model, and the implicit bodies that they represent.

    Parameters
    ----------
    model : Model
    domain : Domain
    pairs : dict of int to int
        Particle -> identifier of a body.
    """

    def __init__(self, model: Model, domain, pairs: dict[int, int]):
        self.model, self.domain = model, domain
        self.particles = np.array(sorted(pairs), np.int64)
        self.identifiers = np.array([pairs[number] for number in self.particles.tolist()], np.int64)
        self.force = np.zeros((3, len(pairs)))  # spatial, over the present step
        self.torque = np.zeros((3, len(pairs)))  # about the mass centres, spatial
        self.exchanged = Exchange()
        self.seconds = 0.0  # spent within implicit steps so far
        self._began = np.zeros((6, len(pairs)))  # spatial velocities of the bodies at the start of the implicit step

    def rows(self) -> np.ndarray:
        """Rows of the bodies; they change when other bodies are deleted."""
        bodies: BodyTable = self.domain.bodies
        identifiers = bodies.view("id")  # ascending
        rows = np.minimum(np.searchsorted(identifiers, self.identifiers), identifiers.size - 1)
        missing = np.flatnonzero(identifiers[rows] != self.identifiers)
        if missing.size:
            raise BadValue(f"body {self.identifiers[missing[0]]}, which particle {self.particles[missing[0]]} is, does not exist any more")
        return rows

    def hand_over_velocities(self) -> None:
        """Set the particles' velocities to those of the bodies."""
        bodies, particles = self.domain.bodies, self.model.particles
        first = bodies.velo_ptr[self.rows()]
        particles.angular[:, self.particles] = bodies.triples.velo[:, first]
        particles.velocity[:, self.particles] = bodies.triples.velo[:, first + 1]
        turn = particles.rotation[:, :, self.particles]
        particles.spin[:, self.particles] = np.einsum("ijn,jn->in", turn, particles.angular[:, self.particles])

    def hand_over_places(self) -> None:
        """Set the particles' positions and rotations to those of the bodies half an implicit step ago, which they should have already."""
        bodies, particles, rows = self.domain.bodies, self.model.particles, self.rows()
        back = -0.5 * self.domain.step
        conf, velo = bodies.conf_ptr[rows], bodies.velo_ptr[rows]
        particles.position[:, self.particles] = bodies.configurations.conf[:, conf + 3] + back * bodies.triples.velo[:, velo + 1]
        turn = np.stack([bodies.configurations.conf[:, conf + axis] for axis in range(3)], axis=1)  # (3, 3, n), column by column
        from scipy.spatial.transform import Rotation  # slow to import, and few inputs need it

        back_turn = Rotation.from_rotvec(back * bodies.triples.velo[:, velo].T).as_matrix()
        particles.rotation[:, :, self.particles] = np.einsum("ijn,njk->ikn", turn, back_turn)

    def empty(self) -> None:
        """Reset sums over explicit steps."""
        particles = self.model.particles
        for sums in (particles.impulse, particles.angular_impulse, particles.work):
            sums[..., self.particles] = 0.0

    def take_forces(self, time: float = 0.0) -> None:
        """Store forces and torques on the particles: those of the last explicit step, or, given a time, means over the steps in it."""
        particles = self.model.particles
        if time:
            self.force[:] = particles.impulse[:, self.particles] / time
            self.torque[:] = particles.angular_impulse[:, self.particles] / time
        else:
            self.force[:] = particles.force[:, self.particles]
            self.torque[:] = particles.torque[:, self.particles]

    def velocities(self) -> np.ndarray:
        """Return spatial linear and angular velocities of the bodies (6, n)."""
        bodies, rows = self.domain.bodies, self.rows()
        conf, velo = bodies.conf_ptr[rows], bodies.velo_ptr[rows]
        turn = np.stack([bodies.configurations.conf[:, conf + axis] for axis in range(3)], axis=1)
        return np.concatenate((bodies.triples.velo[:, velo + 1], np.einsum("ijn,jn->in", turn, bodies.triples.velo[:, velo])))

    def count_step(self, domain) -> None:
        """After an implicit step, add impulses and work of the explicit engine's forces on the bodies."""
        began = perf_counter()
        step, mean, own = domain.step, 0.5 * (self._began + self.velocities()), self.exchanged
        own.impulse += step * self.force.sum(axis=1)
        own.angular_impulse += step * self.torque.sum(axis=1)
        own.work += step * float((self.force * mean[:3]).sum() + (self.torque * mean[3:]).sum())
        self.seconds += perf_counter() - began

    def count_explicit_steps(self) -> None:
        """After explicit steps, add impulses and work of the explicit engine's forces on the particles."""
        particles, own = self.model.particles, self.exchanged
        own.engine_impulse += particles.impulse[:, self.particles].sum(axis=1)
        own.engine_angular_impulse += particles.angular_impulse[:, self.particles].sum(axis=1)
        own.engine_work += float(particles.work[self.particles].sum())

    def work_ahead(self) -> float:
        """Return the work of the explicit engine's forces in the half implicit step by which it is ahead, at present velocities."""
        particles, now = self.model.particles, self.velocities()
        power = (particles.force[:, self.particles] * now[:3]).sum() + (particles.torque[:, self.particles] * now[3:]).sum()
        return 0.5 * self.domain.step * float(power)

    def load(self, bodies: BodyTable, time: float, step: float) -> None:
        """Add forces and torques to the bodies' loads, and subtract their weight, since the explicit model has its own gravity."""
        began = perf_counter()
        rows = self.rows()
        self._began[:] = self.velocities()
        conf, velo = bodies.conf_ptr[rows], bodies.velo_ptr[rows]
        for axis in range(3):  # referential torques: R^T t
            bodies.triples.force[axis, velo] += (bodies.configurations.conf[:, conf + axis] * self.torque).sum(axis=0)
        bodies.triples.force[:, velo + 1] += self.force - bodies.mass[rows] * self.domain.loads.gravity[:, None]
        self.seconds += perf_counter() - began

    def compare(self, turns: bool) -> None:
        """Warn of bodies whose masses, inertias and centres, and rotations if `turns`, differ from those of their particles."""
        bodies, particles, rows = self.domain.bodies, self.model.particles, self.rows()
        mass, own = bodies.mass[rows], particles.mass[self.particles]
        if (wrong := np.flatnonzero(np.abs(mass - own) > TOLERANCE * mass)).size:
            k = wrong[0]
            session.warn(f"HYBRID_SOLVER: particle {self.particles[k]} has the mass {own[k]:g}, and its body {self.identifiers[k]} {mass[k]:g}; the body's counts")
        inertia, own = bodies.tensor[:, :, rows], particles.inertia[:, :, self.particles]
        if (wrong := np.flatnonzero(np.abs(inertia - own).max(axis=(0, 1)) > TOLERANCE * np.trace(inertia))).size:
            k = wrong[0]
            session.warn(f"HYBRID_SOLVER: particle {self.particles[k]} has another inertia than its body {self.identifiers[k]}; the body's counts")
        first = bodies.conf_ptr[rows]
        turn = np.stack([bodies.configurations.conf[:, first + axis] for axis in range(3)], axis=1)
        if turns and (wrong := np.flatnonzero(np.abs(turn - particles.rotation[:, :, self.particles]).max(axis=(0, 1)) > TOLERANCE)).size:
            k = wrong[0]
            session.warn(
                f"HYBRID_SOLVER: body {self.identifiers[k]} is turned against its particle {self.particles[k]}, so that springs act on other points of it;"
                " turn its shape instead"
            )
        centre = bodies.configurations.conf[:, bodies.conf_ptr[rows] + 3]
        distance = np.linalg.norm(centre - particles.position[:, self.particles], axis=0)
        size = np.cbrt(bodies.volume[rows]) + np.abs(centre).max(axis=0)
        if (wrong := np.flatnonzero(distance > TOLERANCE * size)).size:
            k = wrong[0]
            session.warn(f"HYBRID_SOLVER: the mass centres of particle {self.particles[k]} and its body {self.identifiers[k]} are {distance[k]:g} apart")
