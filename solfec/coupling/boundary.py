"""Bodies that both engines know: the implicit one moves them, the explicit one says what its springs do to them."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyTable
from ..language import session
from ..language.checks import BadValue
from ..parmec.model import Model

TOLERANCE = 1e-6  # of masses and centres that should be equal, over the mass and the size of the body


class Boundary:
    """Particles of an explicit model, and the bodies that they are.

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

    def rows(self) -> np.ndarray:
        """Rows of the bodies, which move when others are deleted."""
        bodies: BodyTable = self.domain.bodies
        identifiers = bodies.view("id")
        order = np.argsort(identifiers)
        place = np.searchsorted(identifiers, self.identifiers, sorter=order)
        rows = order[np.minimum(place, order.size - 1)]
        missing = np.flatnonzero(identifiers[rows] != self.identifiers)
        if missing.size:
            raise BadValue(f"body {self.identifiers[missing[0]]}, which particle {self.particles[missing[0]]} is, does not exist any more")
        return rows

    def hand_over_velocities(self) -> None:
        """The particles take the bodies' velocities."""
        bodies, particles = self.domain.bodies, self.model.particles
        first = bodies.velo_ptr[self.rows()]
        particles.angular[:, self.particles] = bodies.triples.velo[:, first]
        particles.velocity[:, self.particles] = bodies.triples.velo[:, first + 1]
        turn = particles.rotation[:, :, self.particles]
        particles.spin[:, self.particles] = np.einsum("ijn,jn->in", turn, particles.angular[:, self.particles])

    def take_forces(self) -> None:
        """Keep what acted on the particles in the last explicit step."""
        self.force[:] = self.model.particles.force[:, self.particles]
        self.torque[:] = self.model.particles.torque[:, self.particles]

    def load(self, bodies: BodyTable, time: float, step: float) -> None:
        """Add forces and torques to the bodies' loads, and take away their weight: the explicit model has gravity of its own."""
        rows = self.rows()
        conf, velo = bodies.conf_ptr[rows], bodies.velo_ptr[rows]
        for axis in range(3):  # referential torques: R^T t
            bodies.triples.force[axis, velo] += (bodies.configurations.conf[:, conf + axis] * self.torque).sum(axis=0)
        bodies.triples.force[:, velo + 1] += self.force - bodies.mass[rows] * self.domain.loads.gravity[:, None]

    def compare(self) -> None:
        """Warn of bodies whose masses or centres are not those of their particles."""
        bodies, particles, rows = self.domain.bodies, self.model.particles, self.rows()
        mass, own = bodies.mass[rows], particles.mass[self.particles]
        if (wrong := np.flatnonzero(np.abs(mass - own) > TOLERANCE * mass)).size:
            k = wrong[0]
            session.warn(f"HYBRID_SOLVER: particle {self.particles[k]} has the mass {own[k]:g}, and its body {self.identifiers[k]} {mass[k]:g}; the body's counts")
        centre = bodies.configurations.conf[:, bodies.conf_ptr[rows] + 3]
        distance = np.linalg.norm(centre - particles.position[:, self.particles], axis=0)
        size = np.cbrt(bodies.volume[rows]) + np.abs(centre).max(axis=0)
        if (wrong := np.flatnonzero(distance > TOLERANCE * size)).size:
            k = wrong[0]
            session.warn(f"HYBRID_SOLVER: the mass centres of particle {self.particles[k]} and its body {self.identifiers[k]} are {distance[k]:g} apart")
