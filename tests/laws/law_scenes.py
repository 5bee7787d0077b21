"""Small models with shapes, contacts found by detection, and what a step does to them computed a second time from their bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from coulomb import length, pseudo_rigid_inverse_mass, pseudo_rigid_operator, rigid_inverse_mass, rigid_operator, turn, worst

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.kinds import SurfaceModel
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.hull import hull
from solfec.shapes.sphere import Sphere

KINDS = ("rigid", "pseudo-rigid", "explicit elements", "implicit elements", "corotated elements")
OPTIONS = {
    "default": {},
    "margin": {"margin": 2e-3},
    "patch": {"patch": True},
    "margin and patch": {"margin": 2e-3, "patch": True},
    "gap_aware": {"gap_aware": 2e-3},
    "all three": {"margin": 2e-3, "patch": True, "gap_aware": 2e-3},
}
STEP = 1e-3


@dataclass
class Placement:
    """How a scene is turned, moved and scaled: x = origin + scale * rotation X, masses and times in units of their own."""

    rotation: np.ndarray
    origin: np.ndarray
    scale: float = 1.0
    weight: float = 1.0  # unit of mass
    clock: float = 1.0  # unit of time

    def point(self, x) -> np.ndarray:
        return self.origin + self.scale * (self.rotation @ np.asarray(x, float))

    def velocity(self, v) -> np.ndarray:
        return self.scale / self.clock * (self.rotation @ np.asarray(v, float))


PLAIN = Placement(np.eye(3), np.zeros(3))


class Model:
    """A domain made of boxes and balls, in any placement; figures come back in the scene's own axes and units."""

    def __init__(self, option="default", mu=0.3, restitution=0.0, cohesion=0.0, gravity=(0, 0, -10.0), placement=PLAIN, step=STEP, epsilon=1e-6):
        at, options = placement, OPTIONS[option]
        self.at = at
        self.domain = Domain(step * at.clock, epsilon * at.scale)
        settings = self.domain.settings
        settings.patch = options.get("patch", False)
        settings.asked_margin = options.get("margin", 0.0) * at.scale
        materials = self.domain.surface_materials
        materials.friction[0], materials.restitution[0] = mu, restitution
        materials.cohesion[0] = cohesion * at.weight / (at.scale * at.clock**2)
        materials.gap_aware[0] = options.get("gap_aware", 0.0) * at.scale
        settings.widen(materials.view("gap_aware"))
        self.gravity = np.asarray(gravity, float)
        self.domain.loads.set_gravity(at.velocity(self.gravity) / at.clock)
        self.shapes = {}

    @property
    def step(self) -> float:
        """The step taken last: explicit deformable bodies may lower it."""
        return self.domain.step

    # --- bodies

    def add(self, shape, kind="rigid", velocity=(0, 0, 0), spin=(0, 0, 0), density=1000.0, young=1e7) -> int:
        at = self.at
        stress = at.weight / (at.scale * at.clock**2)
        material = BulkMaterial(density=density * at.weight / at.scale**3, young=young * stress, poisson=0.25)
        number = {"obstacle": BodyKind.OBSTACLE, "rigid": BodyKind.RIGID, "pseudo-rigid": BodyKind.PSEUDO_RIGID}.get(kind, BodyKind.FINITE_ELEMENT)
        form = Form.NONE if number != BodyKind.FINITE_ELEMENT else Form.BC if kind.startswith("corotated") else Form.TL
        identifier = self.domain.insert_body(number, shape if isinstance(shape, list) else [shape], material, form=form)
        if kind in ("implicit elements", "corotated elements"):
            self.domain.bodies.scheme[self.domain.body_row(identifier)] = Scheme.DEF_LIM
        self.domain.states.set_velocity(identifier, at.velocity(velocity), at.rotation @ np.asarray(spin, float) / at.clock)
        return identifier

    def corners(self, lower, upper) -> list:
        x, y, z = zip(lower, upper)
        return [self.at.point((a, b, c)) for c in z for a, b in zip((x[0], x[1], x[1], x[0]), (y[0], y[0], y[1], y[1]))]

    def convex(self, lower, upper):
        return hull(self.corners(lower, upper), 1, 1)

    def box(self, lower, upper, kind="rigid", cells=(1, 1, 1), **more) -> int:
        if kind.endswith("elements"):
            identifier = self.add(hex_mesh(self.corners(lower, upper), *cells, 1, [1] * 6), kind, **more)
        else:
            identifier = self.add(self.convex(lower, upper), kind, **more)
        return identifier

    def ball(self, centre, radius, kind="rigid", **more) -> int:
        return self.add(Sphere(self.at.point(centre), radius * self.at.scale, 1, 1), kind, **more)

    def floor(self, lower=(-2, -2, -0.5), upper=(2, 2, 0.0), **more) -> int:
        return self.box(lower, upper, "obstacle", **more)

    # --- what a step was given and what it made

    def advance(self, solver, steps=1, check=None, tolerance=1e-6) -> None:
        for _ in range(steps):
            before = Snapshot(self)
            self.domain.advance(solver)
            if check is not None:
                check(before, self, tolerance)

    def report(self):
        return self.domain.report

    def centre(self, identifier) -> np.ndarray:
        """Place of a rigid body's centre in the scene's own axes and units."""
        return self.at.rotation.T @ (self.domain.states.conf(identifier)[9:12] - self.at.origin) / self.at.scale

    def mean_velocity(self, identifier) -> np.ndarray:
        """Velocity of the mass centre in the scene's own axes and units."""
        return self.at.rotation.T @ Snapshot.momentum_of(self, identifier) / self.mass(identifier) * self.at.clock / self.at.scale

    def mass(self, identifier) -> float:
        return float(self.domain.bodies.mass[self.domain.body_row(identifier)])

    def identifiers(self) -> list[int]:
        return [int(k) for k in self.domain.bodies.view("id")]

    def contacts(self) -> range:
        table = self.domain.constraints
        return range(table.user_count, table.n)


class Snapshot:
    """Configurations and velocities of all bodies at the start of a step."""

    def __init__(self, model: Model):
        domain = model.domain
        domain.newborn.go_on(domain)  # these are laws of steps: no body is struck before its first one (tests/contact/test_first_half_step.py)
        self.conf = {i: domain.states.conf(i).copy() for i in model.identifiers()}
        self.velo = {i: domain.states.velo(i).copy() for i in model.identifiers()}
        self.momentum = {i: self.momentum_of(model, i) for i in model.identifiers()}

    @staticmethod
    def momentum_of(model: Model, identifier) -> np.ndarray:
        """Linear momentum; of elements that of nodes that share their element's mass evenly (bricks)."""
        velocities = model.domain.states.velo(identifier)
        if kind_of(model, identifier) != BodyKind.FINITE_ELEMENT:
            return model.mass(identifier) * velocities[-3:]
        return nodal_masses(model, identifier) @ velocities.reshape(-1, 3)

    def operator(self, model: Model, identifier, base, point) -> np.ndarray:
        """From the body's velocities to the local one of a referential point, at mid step."""
        domain, row = model.domain, model.domain.body_row(identifier)
        arm = point - domain.bodies.centre[:, row]
        kind = kind_of(model, identifier)
        if kind == BodyKind.FINITE_ELEMENT:
            weights = brick_weights(model, identifier, point)
            return np.concatenate([weight * base.T for weight in weights], axis=1)
        if kind == BodyKind.PSEUDO_RIGID:
            return pseudo_rigid_operator(base, arm)
        rotation = self.conf[identifier][:9].reshape(3, 3).T  # columns one after another
        half = rotation @ turn(0.5 * model.step * self.velo[identifier][:3])
        return rigid_operator(base, half, arm)


def kind_of(model: Model, identifier) -> BodyKind:
    return BodyKind(int(model.domain.bodies.kind[model.domain.body_row(identifier)]))


def nodal_masses(model: Model, identifier) -> np.ndarray:
    mesh = model.domain.meshes_of(identifier)[0]
    nodes = np.asarray(mesh.nodes)
    masses, total = np.zeros(len(nodes)), model.mass(identifier)
    volumes = [np.ptp(nodes[list(element)] @ model.at.rotation, axis=0).prod() for element in elements_of(mesh)]
    for element, volume in zip(elements_of(mesh), volumes):
        for node in element:
            masses[node] += total * volume / sum(volumes) / len(element)
    return masses


def elements_of(mesh) -> list:
    return [mesh.topology.nodes_of(k) for k in range(mesh.topology.element_count)]


def brick_weights(model: Model, identifier, point) -> np.ndarray:
    """Trilinear shape functions of the brick that holds a referential point; 0 at other nodes."""
    mesh = model.domain.meshes_of(identifier)[0]
    nodes = (np.asarray(mesh.nodes) - model.at.origin) @ model.at.rotation
    x = (np.asarray(point) - model.at.origin) @ model.at.rotation
    best, weights = np.inf, None
    for element in elements_of(mesh):
        corner = nodes[element]
        middle, half = corner.mean(axis=0), 0.5 * np.ptp(corner, axis=0)
        xi = (x - middle) / half
        if np.abs(xi).max() < best - 1e-9:
            best = np.abs(xi).max()
            weights = np.zeros(len(nodes))
            weights[element] = np.prod(0.5 * (1.0 + np.sign(corner - middle) * xi), axis=1)
    return weights


# --- the laws of a step ------------------------------------------------------------------------------------------


def contact_sides(model: Model, row: int):
    """Identifier, referential point and sign of both bodies of a contact."""
    table, ids = model.domain.constraints, model.domain.bodies.id
    return (
        (int(ids[table.master[row]]), table.master_point[:, row].copy(), 1.0),
        (int(ids[table.slave[row]]), table.slave_point[:, row].copy(), -1.0),
    )


def struck_bodies(model: Model) -> set[int]:
    """Rows of bodies at which a gap-aware contact with restitution closes in this step (docs/materials.md, SIGNORINI_COULOMB)."""
    domain, table = model.domain, model.domain.constraints
    found = set()
    for row in model.contacts():
        material, way = int(table.material[row]), model.step * float(table.V[2, row])
        rebounds = domain.surface_materials.gap_aware[material] > 0.0 and domain.surface_materials.restitution[material] > 0.0
        if rebounds and not table.cohesion[row] > 0.0 and table.gap[row] + way <= 0.0 and way < -domain.epsilon:
            found |= {int(table.master[row]), int(table.slave[row])}
    return {body for body in found if domain.bodies.kind[body] != BodyKind.OBSTACLE}


def shift(model: Model, row: int, struck: set[int]) -> float | None:
    """Return the number that the law of a contact adds to U_N (docs/materials.md, SIGNORINI_COULOMB); None: the contact is open, without reaction."""
    domain = model.domain
    table, material = domain.constraints, int(domain.constraints.material[row])
    gap, v = float(table.gap[row]), float(table.V[2, row])
    e = float(domain.surface_materials.restitution[material])
    glued = float(table.cohesion[row]) > 0.0
    if domain.surface_materials.gap_aware[material] > 0.0 and not glued:
        if e > 0.0 and v < 0.0 and gap + model.step * v <= 0.0:
            return e * v
        if e > 0.0 and gap > domain.epsilon and gap + model.step * v > 0.0 and struck & {int(table.master[row]), int(table.slave[row])}:
            return None
        return max(gap / model.step, 0.0, e * v)
    if gap > domain.epsilon and not glued:
        return None
    return e * min(v, 0.0)


def check_step(before: Snapshot, model: Model, tolerance=1e-6) -> None:
    """Every law of the step that has just been made."""
    domain, table = model.domain, model.domain.constraints
    rows = list(model.contacts())
    scale = model.at.scale / model.at.clock
    velocity = max(np.abs(table.V[:, rows]).max(initial=0.0), np.abs(domain.local_dynamics.rows.B[:, : domain.local_dynamics.n]).max(initial=0.0), 1e-6 * scale)
    weight = max(model.mass(i) for i in model.identifiers() if kind_of(model, i) != BodyKind.OBSTACLE)
    force = max(np.abs(table.R[:, rows]).max(initial=0.0), weight * velocity / model.step)
    check_contacts(model, rows, force, velocity, tolerance)
    check_velocities(before, model, rows, velocity, tolerance)
    check_momentum(before, model, rows, weight * velocity, tolerance)


def check_contacts(model: Model, rows, force, velocity, tolerance) -> None:
    """Signorini's and Coulomb's laws, row by row."""
    domain, table = model.domain, model.domain.constraints
    struck = struck_bodies(model)
    for row in rows:
        mu = float(domain.surface_materials.friction[int(table.material[row])])
        cohesion = float(table.cohesion[row] * table.area[row])
        r, u = table.R[:, row], table.U[:, row]
        added = shift(model, row, struck)
        found = length(r) / force if added is None else worst(mu, cohesion, added, r, u, force, velocity)
        assert found <= tolerance, (row, float(table.gap[row]), r, u, table.V[:, row], found)


def check_velocities(before: Snapshot, model: Model, rows, velocity, tolerance) -> None:
    """U and V of contacts are those of points of bodies, seen in the base at mid step."""
    table = model.domain.constraints
    for row in rows:
        base = table.base[..., row]
        np.testing.assert_allclose(base.T @ base, np.eye(3), atol=1e-12)
        u, v = np.zeros(3), np.zeros(3)
        for identifier, point, sign in contact_sides(model, row):
            h = before.operator(model, identifier, base, point)
            v += sign * h @ before.velo[identifier]
            # contacts see obstacles as they were, whatever is prescribed in the step
            old = kind_of(model, identifier) == BodyKind.OBSTACLE
            u += sign * h @ (before.velo[identifier] if old else model.domain.states.velo(identifier))
        np.testing.assert_allclose(v, table.V[:, row], atol=1e-9 * velocity)
        # spins of rigid bodies change with their rotation, a part of the second order that W leaves out
        turning = [i for i, _, _ in contact_sides(model, row) if kind_of(model, i) == BodyKind.RIGID]
        spins = [length(velo[:3]) for i in turning for velo in (before.velo[i], model.domain.states.velo(i))]
        u += 0.5 * model.step * gap_acceleration(before, model, row)
        np.testing.assert_allclose(u, table.U[:, row], atol=(1e-7 + model.step * max(spins, default=0.0) * 0.1) * velocity)


def gap_acceleration(before: Snapshot, model: Model, row: int) -> np.ndarray:
    """Second difference of the place of the master's point, or of its ball's centre, seen from the slave's, by exact rotations (docs/theory.md, (18.24a))."""
    domain, table, material = model.domain, model.domain.constraints, int(model.domain.constraints.material[row])
    if not domain.surface_materials.gap_aware[material] > 0.0 or domain.surface_materials.model[material] == SurfaceModel.SPRING_DASHPOT:
        return np.zeros(3)
    v = float(table.V[2, row])
    rebounds = domain.surface_materials.restitution[material] > 0.0 and v < 0.0 and table.gap[row] + model.step * v <= 0.0
    if table.cohesion[row] > 0.0 or rebounds:
        return np.zeros(3)
    base, primitives = table.base[..., row], domain.geometry.primitives
    sides = list(zip(contact_sides(model, row), (int(table.master_primitive[row]), int(table.slave_primitive[row]))))
    balls = [sign * float(primitives.radius[primitive]) * base[:, 2] for (_, _, sign), primitive in sides]
    small = 0.03 * model.step
    places, normals = np.zeros((3, 3)), np.tile(base[:, 2], (3, 1))
    spins, carried = [np.zeros(3), np.zeros(3)], [0.0, 0.0]
    for side, ((identifier, point, sign), primitive) in enumerate(sides):
        rotation = before.conf[identifier][:9].reshape(3, 3).T
        velo = before.velo[identifier]
        if kind_of(model, identifier) not in (BodyKind.RIGID, BodyKind.OBSTACLE):
            places += np.outer(sign * small * np.array([-1, 0, 1]), velocity_of_point(before, model, identifier, point))
            continue
        half = rotation @ turn(0.5 * model.step * velo[:3])
        arm = half @ (point - domain.bodies.centre[:, domain.body_row(identifier)])
        own = faces_along(model, primitive, base[:, 2])
        arm = arm + balls[side] + (balls[1 - side] if own else 0.0)
        spins[side], carried[side] = half @ velo[:3], float(own)
        for k, time in enumerate((-small, 0.0, small)):
            turned = half @ turn(time * velo[:3]) @ half.T
            places[k] += sign * (time * velo[3:6] + turned @ arm)
            normals[k] += share_of(model, sides, side, base[:, 2]) * (turned @ base[:, 2] - base[:, 2])
    gaps = np.einsum("ki,ki->k", normals, places - places[1])
    local = base.T @ (places[0] - 2 * places[1] + places[2])
    local[2] = gaps[0] - 2 * gaps[1] + gaps[2]
    local /= small**2
    for side, ball in enumerate(balls):
        # slip on a face that turns: as seen from the face, the ball's centre moves by its spin, whose direction turns back
        face, spin = spins[1 - side], spins[side] - spins[1 - side]
        seen = np.cross(np.cross(face, spin), ball) - 2 * np.cross(face, np.cross(spin, ball))
        local[:2] += carried[1 - side] * (1 - 2 * side) * (base.T @ seen)[:2]
    return local


def faces_along(model: Model, primitive: int, normal) -> bool:
    """Whether a primitive has a face with that normal, of either sense."""
    table, faces = model.domain.geometry.primitives, model.domain.geometry.faces
    own = slice(int(table.face_ptr[primitive]), int(table.face_ptr[primitive]) + int(table.outer_count[primitive]))
    return bool((np.abs(normal @ faces.normal[:, own]) > 1 - 1e-10).any())


def share_of(model: Model, sides, side: int, normal) -> float:
    """Part of a body's rotation in that of the normal: all if it is a face of this body alone; half among edges, or faces of both."""
    own, other = (faces_along(model, sides[k][1], normal) for k in (side, 1 - side))
    if any(model.domain.geometry.primitives.radius[primitive] > 0.0 for _, primitive in sides):
        return float(own)
    return 0.5 if own == other else float(own)


def velocity_of_point(before: Snapshot, model: Model, identifier, point) -> np.ndarray:
    """Velocity of a point at the start of the step, spatial."""
    return before.operator(model, identifier, np.eye(3), point) @ before.velo[identifier]


def check_momentum(before: Snapshot, model: Model, rows, momentum, tolerance) -> None:
    """Momentum of every body changes by h (weight + reactions); what one body gets the other loses."""
    table, gravity = model.domain.constraints, model.at.velocity(model.gravity) / model.at.clock
    forces = {i: np.zeros(3) for i in model.identifiers()}
    for row in rows:
        spatial = table.base[..., row] @ table.R[:, row]
        for identifier, _, sign in contact_sides(model, row):
            forces[identifier] += sign * spatial
    for i in model.identifiers():
        if kind_of(model, i) == BodyKind.OBSTACLE:
            continue
        change = Snapshot.momentum_of(model, i) - before.momentum[i]
        expected = model.step * (model.mass(i) * gravity + forces[i])
        np.testing.assert_allclose(change, expected, atol=1e-8 * momentum)


def delassus(before: Snapshot, model: Model) -> np.ndarray:
    """W of all contacts in the order of the table, of rigid and pseudo-rigid bodies and explicit bricks."""
    domain, rows = model.domain, list(model.contacts())
    w = np.zeros((3 * len(rows), 3 * len(rows)))
    operators = []
    for row in rows:
        base = domain.constraints.base[..., row]
        operators.append({i: sign * before.operator(model, i, base, point) for i, point, sign in contact_sides(model, row)})
    for i in model.identifiers():
        kind, at = kind_of(model, i), domain.body_row(i)
        tensor, mass = domain.bodies.tensor[..., at], model.mass(i)
        if kind == BodyKind.OBSTACLE:
            continue
        if kind == BodyKind.FINITE_ELEMENT:
            inverse = np.diag(np.repeat(1.0 / nodal_masses(model, i), 3))
        elif kind == BodyKind.PSEUDO_RIGID:
            inverse = pseudo_rigid_inverse_mass(mass, tensor)
        else:
            inverse = rigid_inverse_mass(mass, tensor)
        for a, one in enumerate(operators):
            for b, two in enumerate(operators):
                if i in one and i in two:
                    w[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += model.step * one[i] @ inverse @ two[i].T
    return w
