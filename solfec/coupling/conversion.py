"""PARMEC_IMPORT: a model of the explicit engine becomes bodies, springs, joints and contacts of the implicit one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..bodies.table import BodyKind
from ..kinds import DirectionUpdate
from ..language import checks
from ..language.bodies import BODY
from ..language.checks import BadValue, command
from ..language.handles import simulation_of
from ..language.materials import BULK_MATERIAL, SURFACE_MATERIAL, bulk_material
from ..language.model import SOLFEC
from ..parmec.kinds import DriveKind, LinkKind, LinkStatus, ParticleKind
from ..parmec.model import Model
from ..shapes.mesh import Mesh
from ..shapes.sphere import Sphere
from ..time_series import TimeSeries
from .hybrid import execute

FREE = 1_000_001  # surface identifier of bodies without contacts; those of bodies with contacts, and of planes, follow
GROUND_SIZE = 1e-3  # size of the obstacle for ends of springs on the ground, over the size of the model
REACH = 20.0  # side of the obstacle behind a plane, over the size of the model
APART = 1e-9  # distance over the size of the model below which points coincide, and lengths are equal


@command("PARMEC_IMPORT")
def PARMEC_IMPORT(solfec: SOLFEC, parmec_file: str, material: BULK_MATERIAL | str, parmec_argv: list[str] | None = None) -> dict[int, BODY]:
    """Make a model of the explicit engine part of an implicit one (docs/parmec.md).

    Parameters
    ----------
    solfec : SOLFEC
    parmec_file : str
        Input of the explicit engine, executed at once as by HYBRID_SOLVER; it must not call DEM.
    material : BULK_MATERIAL or str
        Material of the bodies; masses and inertias are those of the particles.
    parmec_argv : list of str, optional
        Words that ARGV returns in `parmec_file`.

    Returns
    -------
    dict of int to BODY
        The rigid bodies by numbers of particles.
    """
    simulation = simulation_of(solfec)
    path = checks.path(parmec_file, "parmec_file")
    material = bulk_material(simulation.domain, material, "material")
    words = [] if parmec_argv is None else [checks.string(item, f"parmec_argv[{i}]") for i, item in enumerate(checks.sequence(parmec_argv, "parmec_argv"))]
    model = execute(path, words)
    refuse_what_has_no_counterpart(model)
    conversion = Conversion(model, simulation.domain, material)
    for surfaces, friction in conversion.touch():
        SURFACE_MATERIAL(solfec, *surfaces, "SIGNORINI_COULOMB", friction=friction)
    return {number: BODY._of(simulation, made) for number, made in conversion.bodies.items()}


def refuse_what_has_no_counterpart(model: Model) -> None:
    """Raise an error that names the first command of a model without a counterpart in the implicit engine."""
    links, laws = model.links, model.laws
    functions = model.callbacks
    bent = (laws.view("unload") >= 0).any() or (laws.view("offset") >= 0).any()
    sloping = (links.view("law") >= 0) & (links.view("kind") != LinkKind.PLANE)
    turned = model.drives.view("angular_kind")
    turning = [row for row in np.flatnonzero(turned != DriveKind.FREE) if not at_rest(model, model.drives.angular_curve[:, row])]
    for wrong, what in (
        (model.particles.n == 0, "it has no particles"),
        (model.torsions.n, "TORSION_SPRING"),
        (model.releases.n, "UNSPRING"),
        (model.pairings.n or model.obstacles.n, "GRANULAR and OBSTACLE, whose contacts SURFACE_MATERIAL describes here"),
        (model.control.damped[0], "DAMPING"),
        (bent, "SPRING with 'unload' or 'offset'"),
        ((links.view("status") != LinkStatus.PLAIN).any(), "SPRING with 'inactive'"),
        ((links.view("kind") == LinkKind.PLANAR).any(), "SPRING with 'planar'"),
        (sloping.any(), "SPRING with 'friction' between points"),
        (any(item is not None for item in functions.gravity) or functions.linear_drives or functions.angular_drives, "functions of time; TSERIES is followed"),
        ((model.drives.view("linear_kind") == DriveKind.ACCELERATION).any() or turning, "PRESCRIBE of accelerations or rotations"),
        (((model.restraints.view("angular_count") % 3) != 0).any(), "RESTRAIN of one or two rotations"),
    ):
        if wrong:
            raise BadValue(f"the explicit model cannot become an implicit one: {what}" + ("" if what.startswith("it") else " has no counterpart"))


def at_rest(model: Model, curves: np.ndarray) -> bool:
    """Whether three series are zero at all times."""
    return all(not model.curve(int(curve))[1].any() for curve in curves if curve >= 0)


class Conversion:
    """Conversion of one explicit model into parts of a domain.

    Parameters
    ----------
    model : Model
    domain : Domain
    material : BulkMaterial

    Attributes
    ----------
    bodies : dict of int to int
        Identifiers of bodies by particle.
    """

    def __init__(self, model: Model, domain, material):
        self.model, self.domain, self.material = model, domain, material
        self.size = self._size()
        self._ground: int | None = None
        self.planes = self._planes()
        self.bodies = {number: self._body(number) for number in range(model.particles.n)}
        self._hold()
        self._join()
        domain.loads.set_gravity([self._value(int(curve), float(number)) for curve, number in zip(model.control.gravity_curve[:, 0], model.control.gravity[:, 0])])

    def _size(self) -> float:
        """Return the size of the model, including all points of springs."""
        points = [self.model.particles.view("position").T, *(surface.points for surface in self.model.surfaces.values())]
        points += [self.model.links.view("arm")[:, side].T for side in range(2)]
        spread = np.concatenate(points)
        return float(np.ptp(spread, axis=0).max()) or 1.0

    def _value(self, curve: int, number: float) -> float | TimeSeries:
        """Return a number, or a time series of the model."""
        if curve < 0:
            return number
        times, values, _ = self.model.curve(curve)
        return float(values[0]) if times.size == 1 else TimeSeries(times.copy(), values.copy())

    def place(self, number: int, arm: np.ndarray) -> np.ndarray:
        """Return the present position of a particle's point, or of a point on the ground."""
        return arm if number < 0 else self.model.particles.position[:, number] + self.model.particles.rotation[:, :, number] @ arm

    def _planes(self) -> dict[tuple, list[int]]:
        """Find planes on the ground from which springs push points away: (normal, offset, friction) -> particles."""
        links, found = self.model.links, {}
        for row in np.flatnonzero(links.view("kind") == LinkKind.PLANE).tolist():
            one, two = links.particle[:, row].tolist()
            places, forces, slopes = self.model.curve(int(links.curve[row]))
            one_sided = bool(np.interp(0.0, places, forces) == 0.0 and slopes[-1] == 0.0 and (forces[places >= 0.0] == 0.0).all() and (forces[places < 0.0] > 0.0).all())
            if two >= 0 or one not in self.model.surfaces or not one_sided:
                raise BadValue(f"spring {row} to a plane cannot become a contact: it must push a mesh away from a plane of the ground, with a table that ends with zero from stroke 0 on")
            law = int(links.law[row])
            normal = links.direction[:, row]
            key = (*np.round(normal, 12).tolist(), round(float(normal @ links.arm[:, 1, row]), 12), float(self.model.laws.friction[law]) if law >= 0 else 0.0)
            found.setdefault(key, [])
            if one not in found[key]:
                found[key].append(one)
        return found

    def _surface_of(self, number: int) -> int:
        """Return the surface identifier of a particle: one for each set of planes that particles touch."""
        own = tuple(k for k, touching in enumerate(self.planes.values()) if number in touching)
        groups = sorted({tuple(k for k, touching in enumerate(self.planes.values()) if p in touching) for touching in self.planes.values() for p in touching})
        return FREE if not own else FREE + 1 + groups.index(own)

    def _body(self, number: int) -> int:
        """Make a rigid body with a particle's mass, inertia and motion, and the shape that it was made with; without one it gets a small sphere."""
        particles, surface = self.model.particles, self._surface_of(number)
        centre, turn = particles.position[:, number], particles.rotation[:, :, number]
        kind = particles.kind[number]
        if number in self.model.surfaces:  # ANALYTICAL may have changed its mass and place since
            mesh = self.model.surfaces[number].mesh
            shape = Mesh(centre + (mesh.nodes - particles.reference[:, number]) @ turn.T, mesh.topology.with_surfaces(np.full_like(mesh.topology.face_surface, surface)), mesh.volume_ids)
        else:
            radius = float(particles.radius[number]) if kind == ParticleKind.SPHERE else GROUND_SIZE * self.size
            shape = Sphere(centre, radius, 1, surface)
        made = self.domain.insert_body(BodyKind.RIGID, [shape], self.material)
        inertia = turn @ particles.inertia[:, :, number] @ turn.T
        volume = float(self.domain.bodies.volume[self.domain.body_row(made)])
        states = self.domain.states
        states.set_characteristics(made, float(particles.mass[number]), volume, centre, 0.5 * (inertia + inertia.T))
        states.set_velocity(made, particles.velocity[:, number], particles.spin[:, number])
        return made

    def _hold(self) -> None:
        """Put restraints and prescribed velocities at mass centres."""
        drives, restraints, joints = self.model.drives, self.model.restraints, self.domain.joints
        driven = {}
        for row in range(drives.n):
            number = int(drives.particle[row])
            if drives.linear_kind[row] == DriveKind.VELOCITY:
                driven[number] = [self._value(int(curve), 0.0) for curve in drives.linear_curve[:, row]]
            if drives.angular_kind[row] != DriveKind.FREE:
                self.domain.states.disable_rotation(self.bodies[number], True)
        for number, values in driven.items():
            joints.prescribe_velocities(self.bodies[number], self.model.particles.position[:, number], np.eye(3), values)
        for row in range(restraints.n):
            number = int(restraints.particle[row])
            if restraints.angular_count[row] == 3:
                self.domain.states.disable_rotation(self.bodies[number], True)
            for k in range(int(restraints.linear_count[row]) if number not in driven else 0):
                joints.fix_direction(self.bodies[number], self.model.particles.position[:, number], restraints.linear[:, k, row])

    def ground(self) -> int:
        """Identifier of the obstacle for ends of springs on the ground."""
        if self._ground is None:
            far = self.model.particles.view("position").min(axis=1) - self.size
            self._ground = self.domain.insert_body(BodyKind.OBSTACLE, [Sphere(far, GROUND_SIZE * self.size, 1, FREE)], self.material)
            # constraints would move a free obstacle; its mass only makes their equations well conditioned
            mass = float(self.model.particles.view("mass").sum())
            self.domain.states.set_characteristics(self._ground, mass, mass, far, mass * self.size**2 * np.eye(3))
            self.domain.states.disable_rotation(self._ground, True)
            self.domain.joints.prescribe_velocities(self._ground, far, np.eye(3), (0.0, 0.0, 0.0))
        return self._ground

    def _join(self) -> None:
        """Put springs between points, and ball joints."""
        links, joints = self.model.links, self.domain.joints
        for row in np.flatnonzero(links.view("kind") != LinkKind.PLANE).tolist():
            ends = links.particle[:, row].tolist()
            places = [self.place(number, links.arm[:, side, row]) for side, number in enumerate(ends)]
            bodies = [self.bodies[number] if number >= 0 else self.ground() for number in ends]
            direction = -links.direction[:, row] if links.kind[row] == LinkKind.CONSTANT else None  # from the second point to the first
            between = places[1] - places[0]
            length = between @ links.direction[:, row] if direction is not None else np.linalg.norm(between)
            law, dashpot = self._law(row, float(length - links.rest[row]))
            update = DirectionUpdate.FOLLOW if direction is None else DirectionUpdate.FIXED
            joints.spring(bodies[0], places[0], bodies[1], places[1], law, (-np.inf, np.inf), direction, update, dashpot)
        for row in range(self.model.joints.n):
            one, two = self.model.joints.particle[:, row].tolist()
            point, other = (self.place(number, self.model.joints.arm[:, side, row]) for side, number in enumerate((one, two)))
            if np.linalg.norm(point - other) > APART * self.size:
                raise BadValue(f"BALL_JOINT {row} cannot become BALL: its particles are turned, and its points are {np.linalg.norm(point - other):g} apart")
            joints.mechanism("BALL", self.bodies[one], self.bodies[two] if two >= 0 else None, point)

    def _law(self, row: int, stretched: float) -> tuple[Callable | list, float]:
        """Return the force of a spring on its first body along the axis from the second point, the negative of its tables, and its dashpot.

        Strokes count from the present length, by which the spring is stretched already where particles are turned.
        A linear dashpot with a table without a dead zone becomes a number; other tables become functions of stroke and velocity.
        """
        links, model = self.model.links, self.model
        places, forces, slopes = model.curve(int(links.curve[row]))
        if abs(stretched) > APART * self.size:
            places = places - stretched
        coefficient = self._damping(row, slopes)
        if coefficient is None:
            rates, resistance, steps = model.curve(int(links.dashpot[row]))
            if np.ptp(steps) > 1e-12 * np.abs(steps).max() or abs(resistance[0] - steps[0] * rates[0]) > 1e-12 * np.abs(resistance).max():
                return damped_law((places, forces, slopes), (rates, resistance, steps)), 0.0
            coefficient = float(steps[0])
        if coefficient and (slopes == 0.0).any():
            return damped_law((places, forces, slopes), (np.zeros(1), np.zeros(1), np.array([coefficient]))), 0.0
        return with_long_ends(places, -forces, -slopes), coefficient

    def _damping(self, row: int, slopes: np.ndarray) -> float | None:
        """Return the coefficient of a dashpot that is a ratio of critical damping, 0 without dashpot, None if it is a table."""
        links, ratio = self.model.links, float(self.model.links.ratio[row])
        if links.dashpot[row] >= 0:
            return None
        if ratio <= 0.0:
            return 0.0
        if np.ptp(slopes):
            raise BadValue(f"spring {row}: a ratio of critical damping beside a table of several slopes has no counterpart; give a table of force over velocity")
        from ..parmec.estimates import mass_of_spring

        return 2.0 * ratio * float(np.sqrt(abs(slopes[0]) * mass_of_spring(self.model, row)))

    def touch(self) -> list[tuple[tuple[int, int], float]]:
        """Put obstacles behind planes, instead of springs that push points away from them; there are no other contacts.

        Returns
        -------
        list of ((int, int), float)
            Pairs of surface identifiers that touch, and their friction.
        """
        domain, count = self.domain, len(self.planes)
        groups = sorted({self._surface_of(number) for number in self.bodies})
        last = FREE + len(self.bodies)
        walls, laws = [last + 1 + k for k in range(count)], []
        for i, one in enumerate(groups):
            for other in groups[i:]:
                domain.settings.exclude_surfaces(one, other)
        for k, ((nx, ny, nz, offset, friction), touching) in enumerate(self.planes.items()):
            normal = np.array([nx, ny, nz])
            domain.insert_body(BodyKind.OBSTACLE, [self._slab(normal, offset, touching, walls[k])], self.material)
            for one in (*groups, *walls):
                if one not in {self._surface_of(number) for number in touching}:
                    domain.settings.exclude_surfaces(one, walls[k])
            laws += [((one, walls[k]), friction) for one in sorted({self._surface_of(number) for number in touching})]
        return laws

    def _slab(self, normal: np.ndarray, offset: float, touching: list[int], surface: int) -> Mesh:
        """Make a hexahedron below a plane."""
        middle = self.model.particles.position[:, touching].mean(axis=1)
        middle = middle + normal * (offset - middle @ normal)
        across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        across /= np.linalg.norm(across)
        other = np.cross(normal, across)
        side = 0.5 * REACH * self.size
        lower = [middle + side * (a * across + b * other) - 0.1 * side * normal for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        upper = [corner + 0.1 * side * normal for corner in lower]
        return Mesh.from_records(np.concatenate(lower + upper).tolist(), [8, 0, 1, 2, 3, 4, 5, 6, 7, 1], [surface])


def damped_law(spring: tuple, dashpot: tuple) -> Callable[[float, float], float]:
    """Return the force over stroke and velocity from two tables (places, values, slopes) with end slopes beyond their ends.

    A dashpot acts only while the spring has a force.
    """

    def value(table: tuple, place: float) -> float:
        places, values, slopes = table
        k = min(max(int(np.searchsorted(places, place, side="right")) - 1, 0), max(0, len(places) - 2))
        return float(values[k] + slopes[k] * (place - places[k]))

    def law(stroke: float, velocity: float) -> float:
        elastic = value(spring, stroke)
        return -elastic - value(dashpot, velocity) if elastic else 0.0

    return law


def with_long_ends(places: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return points (m, 2) of a table that continues with its end slopes for a thousand times its length."""
    far = 1e3 * float(np.ptp(places))
    first, last = (places[0] - far, values[0] - far * slopes[0]), (places[-1] + far, values[-1] + far * slopes[-1])
    return np.array([first, *zip(places.tolist(), values.tolist()), last])
