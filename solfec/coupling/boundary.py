"""Bodies shared by both engines: the implicit engine moves them, the explicit engine computes the forces of its springs on them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from time import perf_counter

import numpy as np

from ..bodies.table import BodyTable
from ..language import session
from ..language.checks import BadValue
from ..parallel import communicator
from ..parmec.model import Model

PLACE, VELOCITY, BEGAN = slice(0, 12), slice(12, 18), slice(18, 24)  # what processes tell one another of a body
UNTOLD = -np.inf  # of bodies that others move
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

    Every process makes all explicit steps.  Before them, processes tell one another the states of the bodies that they move.

    Parameters
    ----------
    model : Model
    simulation : Simulation
    pairs : dict of int to int
        Particle -> identifier of a body.

    Attributes
    ----------
    force, torque : ndarray (3, n)
        Spatial, of the present step; torques about mass centres.
    exchanged : Exchange
    counted : int
        Number of the implicit step up to which `exchanged` counts.
    corrected : bool
        Whether constraints have moved bodies at the end of the last step, to close their gaps.
    seconds : float
        Spent within implicit steps so far.
    """

    on_parts = True  # forces on a body need only the body (SharedLoads)

    def __init__(self, model: Model, simulation, pairs: dict[int, int]):
        self.model, self._simulation = model, simulation
        self.particles = np.array(sorted(pairs), np.int64)
        self.identifiers = np.array([pairs[number] for number in self.particles.tolist()], np.int64)
        self.force, self.torque = np.zeros((2, 3, len(pairs)))
        self.exchanged = Exchange()
        self.corrected, self.seconds = False, 0.0
        self._rotation, self._centre = np.zeros((3, 3, len(pairs))), np.zeros((3, len(pairs)))
        self._spin, self._velocity = np.zeros((2, 3, len(pairs)))  # referential, spatial
        self._began = np.full((6, len(pairs)), UNTOLD)  # spatial velocities at the start of the implicit step, of bodies that this process moves

    # --- states of the bodies ------------------------------------------------------------------------------

    def look(self) -> None:
        """Learn the states of the bodies, from the processes that move them."""
        model = self._simulation.moved
        which, rows = self._moved(model.bodies)
        told = np.full((BEGAN.stop, self.particles.size), UNTOLD)
        told[PLACE, which], told[VELOCITY, which] = _state(model.bodies, rows)
        told[BEGAN] = self._began
        self.corrected = bool(model.joint_correction and model.constraints.user_count)
        if self._simulation.divided:
            largest = communicator.world().largest(np.append(told, float(self.corrected)))
            told, self.corrected = largest[:-1].reshape(told.shape), largest[-1] > 0.0
        missing = np.flatnonzero(told[0] == UNTOLD)
        if missing.size:
            raise BadValue(f"body {self.identifiers[missing[0]]}, which particle {self.particles[missing[0]]} is, does not exist any more")
        self._rotation = told[:9].reshape(3, 3, -1).transpose(1, 0, 2)  # columns come one after the other
        self._centre, self._spin, self._velocity = told[9:12], told[12:15], told[15:18]
        self._began = told[BEGAN]

    def _moved(self, bodies: BodyTable) -> tuple[np.ndarray, np.ndarray]:
        """Return which of the bodies this process moves, and their rows, which change when other bodies come or go."""
        which, rows = self._held(bodies)
        if not self._simulation.divided:
            return which, rows
        mine = bodies.owner[rows] == communicator.world().rank
        return which[mine], rows[mine]

    def _held(self, bodies: BodyTable) -> tuple[np.ndarray, np.ndarray]:
        """Return which of the bodies a table holds, and their rows."""
        identifiers = bodies.view("id")  # ascending
        rows = np.searchsorted(identifiers, self.identifiers)
        which = np.flatnonzero(np.append(identifiers, -1)[rows] == self.identifiers)
        return which, rows[which]

    def _velocities(self) -> np.ndarray:
        """Return spatial linear and angular velocities of the bodies (6, n)."""
        return np.concatenate((self._velocity, np.einsum("ijn,jn->in", self._rotation, self._spin)))

    # --- what particles take over --------------------------------------------------------------------------

    def hand_over_velocities(self) -> None:
        """Set the particles' velocities to those of the bodies."""
        self.look()
        particles = self.model.particles
        particles.angular[:, self.particles] = self._spin
        particles.velocity[:, self.particles] = self._velocity
        turn = particles.rotation[:, :, self.particles]
        particles.spin[:, self.particles] = np.einsum("ijn,jn->in", turn, self._spin)

    def hand_over_places(self) -> None:
        """Set the particles' positions and rotations to those of the bodies half an implicit step ago, which they should have already."""
        self.look()
        particles, back = self.model.particles, -0.5 * self._simulation.moved.step
        particles.position[:, self.particles] = self._centre + back * self._velocity
        from scipy.spatial.transform import Rotation  # slow to import, and few inputs need it

        back_turn = Rotation.from_rotvec(back * self._spin.T).as_matrix()
        particles.rotation[:, :, self.particles] = np.einsum("ijn,njk->ikn", self._rotation, back_turn)

    def empty(self) -> None:
        """Reset sums over explicit steps."""
        particles = self.model.particles
        for sums in (particles.impulse, particles.angular_impulse, particles.work):
            sums[..., self.particles] = 0.0

    # --- what bodies take over -----------------------------------------------------------------------------

    def take_forces(self, time: float = 0.0) -> None:
        """Store forces and torques on the particles: those of the last explicit step, or, given a time, means over the steps in it."""
        particles = self.model.particles
        if time:
            self.force[:] = particles.impulse[:, self.particles] / time
            self.torque[:] = particles.angular_impulse[:, self.particles] / time
        else:
            self.force[:] = particles.force[:, self.particles]
            self.torque[:] = particles.torque[:, self.particles]

    def __call__(self, bodies: BodyTable, time: float, step: float) -> None:
        """Add forces and torques to the loads of bodies, all or some, and subtract their weight, since the explicit model has its own gravity."""
        began = perf_counter()
        which, rows = self._held(bodies)
        conf, velo = bodies.conf_ptr[rows], bodies.velo_ptr[rows]
        torque, gravity = self.torque[:, which], self._simulation.moved.loads.gravity
        for axis in range(3):  # referential torques: R^T t
            bodies.triples.force[axis, velo] += (bodies.configurations.conf[:, conf + axis] * torque).sum(axis=0)
        bodies.triples.force[:, velo + 1] += self.force[:, which] - bodies.mass[rows] * gravity[:, None]
        which, rows = self._moved(bodies)
        place, velocity = _state(bodies, rows)
        turn = place[:9].reshape(3, 3, -1).transpose(1, 0, 2)
        self._began[:] = UNTOLD
        self._began[:, which] = np.concatenate((velocity[3:], np.einsum("ijn,jn->in", turn, velocity[:3])))
        self.seconds += perf_counter() - began

    # --- energy and momentum of the exchange ---------------------------------------------------------------

    def count_step(self) -> None:
        """After an implicit step, add impulses and work of the explicit engine's forces on the bodies."""
        began = perf_counter()
        self.look()
        step, mean, own = self._simulation.moved.step, 0.5 * (self._began + self._velocities()), self.exchanged
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
        particles, now = self.model.particles, self._velocities()
        power = (particles.force[:, self.particles] * now[:3]).sum() + (particles.torque[:, self.particles] * now[3:]).sum()
        return 0.5 * self._simulation.moved.step * float(power)

    def compare(self, turns: bool) -> None:
        """Warn of bodies whose masses, inertias and centres, and rotations if `turns`, differ from those of their particles."""
        bodies, particles = self._simulation.domain.bodies, self.model.particles
        rows = self._held(bodies)[1]
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


def _state(bodies: BodyTable, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations, column by column, and centres (12, n), and referential angular and spatial velocities (6, n), of rigid bodies."""
    conf, velo = bodies.conf_ptr[rows], bodies.velo_ptr[rows]
    place = np.concatenate([bodies.configurations.conf[:, conf + k] for k in range(4)])
    return place, np.concatenate([bodies.triples.velo[:, velo], bodies.triples.velo[:, velo + 1]])
