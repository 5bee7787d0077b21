"""Bodies that become of another kind during a run: rigid, pseudo-rigid or of finite elements.

The body is replaced by one of the same shape in the same referential placement.  Towards more freedom all points keep their places; towards
less they take the nearest places in the mean, weighted by mass.  Velocities follow in the same way, and the rigid motion that then restores
both momenta is added: of all changes of velocities that do so it has the least kinetic energy.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from . import body_cuts, fragments
from .bodies import finite_elements
from .bodies.pressure import loaded_surface
from .bodies.table import REDUCED_FORMS, BodyKind, Energy, Form, body_name
from .constraints import element_points
from .constraints.table import DirectionUpdate
from .contact.geometry import PrimitiveKind
from .errors import SolfecError
from .kinds import ConstraintKind, LoadKind
from .lives import Cause
from .shapes.characteristics import characteristics
from .shapes.convex import Convex
from .shapes.ellipsoid import Ellipsoid
from .shapes.mesh import Mesh
from .shapes.sphere import Sphere

SAME = 1e-9  # relative difference of volumes and centres that is rounding
MOST_WARPED = 0.1  # relative difference of masses of a body with warped faces from those of its kinds
TORQUES = (LoadKind.SPATIAL_TORQUE, LoadKind.CONVECTED_TORQUE)


@dataclass
class Motion:
    """The motion of a body at an instant.

    Attributes
    ----------
    mass : float
    centre, velocity : ndarray (3,)
        Mass centre and its velocity.
    spin : ndarray (3,)
        Angular momentum about the mass centre.
    inertia : ndarray (3, 3)
        Spatial inertia about it.
    origin : ndarray (3,)
        Referential mass centre.
    gradient, rate : ndarray (3, 3)
        F and dF/dt of the nearest affine motion: x = centre + F (X - origin).
    euler : ndarray (3, 3)
        Referential Euler tensor, the integral of (X - origin) (X - origin)^T over mass.
    """

    mass: float
    centre: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    inertia: np.ndarray
    origin: np.ndarray
    gradient: np.ndarray
    rate: np.ndarray
    euler: np.ndarray


def motion_of(domain, identifier: int) -> Motion:
    """Return the motion of a body; nodes of finite elements have lumped masses."""
    bodies, row = domain.bodies, domain.body_row(identifier)
    conf, velo = bodies.configurations.conf[:, bodies.conf_slice(row)], bodies.triples.velo[:, bodies.velo_slice(row)]
    mass, origin, tensor = float(bodies.mass[row]), bodies.centre[:, row].copy(), bodies.tensor[:, :, row]
    if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
        return _motion_of_nodes(*_nodes(bodies, row), conf.T, velo.T)
    if bodies.kind[row] == BodyKind.PSEUDO_RIGID:
        gradient, rate, euler, velocity = conf[:, :3].T.copy(), velo[:, :3].T.copy(), tensor, velo[:, 3]
    else:
        gradient, velocity = conf[:, :3].copy(), velo[:, 1]
        rate, euler = gradient @ _cross_matrix(velo[:, 0]), 0.5 * np.trace(tensor) * np.eye(3) - tensor
    current = gradient @ euler @ gradient.T
    spin = _axial(gradient @ euler @ rate.T)
    return Motion(mass, conf[:, 3].copy(), velocity.copy(), spin, np.trace(current) * np.eye(3) - current, origin, gradient, rate, euler.copy())


def _nodes(bodies, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Return referential places (n, 3) and lumped masses (n,) of nodes."""
    fe = finite_elements.compiled(bodies)
    k = fe.number(row)
    return bodies.meshes[int(bodies.id[row])].nodes, fe.mass[fe.first[k] : fe.first[k + 1]]


def _motion_of_nodes(reference, mass, displacement, velocity) -> Motion:
    total = mass.sum()
    origin, centre, mean = (mass @ values / total for values in (reference, reference + displacement, velocity))
    arm, place, rest = reference - origin, reference + displacement - centre, velocity - mean
    euler, current = ((mass[:, None] * values).T @ values for values in (arm, place))
    gradient, rate = (np.linalg.solve(euler, (mass[:, None] * arm).T @ values).T for values in (place, rest))
    spin = mass @ np.cross(place, rest)
    return Motion(total, centre, mean, spin, np.trace(current) * np.eye(3) - current, origin, gradient, rate, euler)


def _axial(matrix: np.ndarray) -> np.ndarray:
    """Return the sum of x cross v over mass, from the sum of x v^T."""
    return np.array([matrix[1, 2] - matrix[2, 1], matrix[2, 0] - matrix[0, 2], matrix[0, 1] - matrix[1, 0]])


def _cross_matrix(vector) -> np.ndarray:
    x, y, z = vector
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """Return the rotation R that maximises tr (R^T matrix)."""
    left, _, right = np.linalg.svd(matrix)
    return left @ np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))]) @ right


# --- the switch ------------------------------------------------------------------------------------------------


def switch(domain, identifier: int, kind: BodyKind, form: Form = Form.NONE, mesh=None) -> tuple[int, float]:
    """Replace a body by one of another kind; return its identifier and the energy, kinetic and internal, that is lost.

    Parameters
    ----------
    form : Form
        Of a finite element body.
    mesh : Mesh, optional
        Round a shape of convexes, in the referential placement, for finite elements.

    Raises
    ------
    ValueError
        A body that cannot be switched, or not to this kind; a shape or material that such a body cannot have.
    SolfecError
        Within a step.
    """
    domain.guard.refuse("switch kinds of bodies")
    domain.settle()
    bodies, row = domain.bodies, domain.body_row(identifier)
    _check(domain, row, kind, form)
    shapes, within = _shapes(domain, row, kind, mesh)
    _check_mass(bodies, row, shapes, domain.bulk_materials[int(bodies.material[row])].density)
    energy, before = _energy(domain, identifier), motion_of(domain, identifier)
    kept = None
    if bodies.kind[row] == kind == BodyKind.FINITE_ELEMENT:
        kept = tuple(table[:, where].copy() for table, where in body_cuts.triples_of(bodies, row))
    label = domain.body_labels.get(identifier)
    with _named(bodies.name(identifier), body_name(domain.next_body_id, label)):
        child = domain.insert_body(kind, shapes, domain.bulk_materials[int(bodies.material[row])], label, form, within)
    _keep_mass(bodies, row, domain.body_row(child))
    if kept is None:
        _move(domain, child, before)
    else:
        for values, (table, where) in zip(kept, body_cuts.triples_of(bodies, domain.body_row(child)), strict=True):
            table[:, where] = values
    bodies.energy[:, domain.body_row(child)] = bodies.energy[:, row]
    bodies.energy[[Energy.KINETIC, Energy.INTERNAL], domain.body_row(child)] = 0.0  # they follow from the new state
    _hand_over(domain, row, child)
    fragments.exclude(domain, identifier, [child])
    _exclude_parts(domain, identifier, child)
    domain.remove_bodies(np.arange(bodies.n) == row)
    domain.initialise()
    lost = energy - _energy(domain, child)
    domain.lives.split(identifier, [child], Cause.SWITCH, domain.time, domain.step_number, -lost)
    domain.states.update_shapes()
    return child, lost


def _exclude_parts(domain, identifier: int, child: int) -> None:
    """Exclude contacts of the parts of the new body that are where excluded parts of the old one were."""

    def heir(body: int, number: int) -> tuple[int, int]:
        if body != identifier:
            return body, number
        primitives, vertices = domain.geometry.primitives, domain.geometry.vertices.reference
        part = int(domain.bodies.primitive_ptr[domain.body_row(identifier)]) + number
        first = int(primitives.vertex_ptr[part])
        listed = domain.geometry.vertex_lists.vertex[first : first + int(primitives.vertex_count[part])]
        return child, domain.points.part_at(child, vertices[:, listed].mean(axis=1))

    for one, first, two, second in domain.settings.excluded_parts.T.tolist():
        if identifier in (one, two):
            domain.settings.exclude_parts(heir(one, first), heir(two, second))


@contextmanager
def _named(old: str, new: str):
    """Name the switched body in error messages about its successor."""
    try:
        yield
    except (SolfecError, ValueError) as error:
        raise ValueError(f"{old}: {str(error).removeprefix('BODY: ').removeprefix(f'{new}: ')}") from None


def _energy(domain, identifier: int) -> float:
    energy = domain.bodies.energy[:, domain.body_row(identifier)]
    return float(energy[Energy.KINETIC] + energy[Energy.INTERNAL])


def _check(domain, row: int, kind: BodyKind, form: Form) -> None:
    """Raise ValueError for bodies that cannot be switched."""
    bodies, constraints = domain.bodies, domain.constraints
    identifier = int(bodies.id[row])
    name, own = bodies.name(identifier), Form(int(bodies.form[row]))
    if bodies.kind[row] == BodyKind.OBSTACLE or kind == BodyKind.OBSTACLE:
        raise ValueError(f"{name} cannot be switched from or to an obstacle, which has no momentum")
    if bodies.kind[row] == kind and own == form:
        raise ValueError(f"{name} is {kind.name}" + (f" of form {form.label!r}" if form else "") + " already")
    for reduced in {own, form} & set(REDUCED_FORMS):
        raise ValueError(f"form {reduced.label!r} moves in a base, which cannot take every state; {name} can be switched from and to 'TL' and 'BC'")
    if identifier in domain.cracks.of_body:
        raise ValueError(f"{name} has cracks (SIMPLIFIED_CRACK), whose criteria are those of one kind of bodies")
    held = bodies.meshes.get(identifier)
    if held is not None and held.materials:
        raise ValueError(f"elements of {name} have materials of their own (APPLY_BULKMAT), which another kind of body does not keep")
    if domain.loads.callbacks.on(row):
        raise ValueError(f"a function loads {name}, and the size of its force is that of {BodyKind(int(bodies.kind[row])).name} bodies")
    table = domain.loads.table
    if np.isin(table.view("kind")[table.view("body") == row], TORQUES).any():
        raise ValueError(f"a torque loads {name}; torques are for rigid bodies")
    on = (constraints.view("master") == row) | (constraints.view("slave") == row)
    if (on & (constraints.view("cohesion") > 0.0)).any():
        raise ValueError(f"cohesive contacts hold {name}; they would be lost")
    if BodyKind.FINITE_ELEMENT in (kind, bodies.kind[row]) and bodies.kind[row] != kind:
        _check_carried(constraints, row, name)


def _check_carried(constraints, row: int, name: str) -> None:
    """Raise ValueError for rows that are made for bodies with elements, or without, and would act otherwise after a switch between both."""
    kind, update, master, slave = (constraints.view(column) for column in ("kind", "update", "master", "slave"))
    if ((kind == ConstraintKind.RACK) & (master == row) & (slave >= 0)).any():  # the row of a rack in space has its pinion as master
        raise ValueError(f"{name} is a rack (RACK), which is held at another point if it has elements")
    if ((kind == ConstraintKind.FIXDIR) & ((master == row) | (slave == row)) & (slave >= 0)).any():
        raise ValueError(f"FIX_DIRECTION holds {name} and another body; that is for rigid and pseudo-rigid bodies")
    carrier = np.select([update == DirectionUpdate.CONV1, update == DirectionUpdate.CONV2], [master, slave], -1)
    if ((kind == ConstraintKind.SPRING) & (carrier == row)).any():
        raise ValueError(f"{name} carries the direction of a PUT_SPRING (update 'CONV1' or 'CONV2'), which a body with elements cannot")


def _shapes(domain, row: int, kind: BodyKind, mesh) -> tuple[list, object]:
    """Return shape objects of a body in their referential placement, and the mesh round them, for a new body."""
    geometry, bodies = domain.geometry, domain.bodies
    identifier, p = int(bodies.id[row]), domain.geometry.primitives
    name, held = bodies.name(identifier), bodies.meshes.get(identifier)
    within = domain.meshes_of(identifier)[0] if held is not None and held.background is not None else None
    shapes: list = [] if within is not None else [given.copy() for given in domain.meshes_of(identifier)]
    polyhedra = body_cuts.polyhedra_of(domain, identifier)
    shapes += [Convex(polyhedra)] if polyhedra else []
    first = int(bodies.primitive_ptr[row])
    for k in range(first, first + int(bodies.primitive_count[row])):
        if p.kind[k] not in (PrimitiveKind.SPHERE, PrimitiveKind.ELLIPSOID):
            continue
        centre, numbers = geometry.vertices.reference[:, geometry.vertex_lists.vertex[p.vertex_ptr[k]]], (int(p.volume_id[k]), int(p.surface[k]))
        if p.kind[k] == PrimitiveKind.SPHERE:
            shapes.append(Sphere(centre, float(p.radius[k]), *numbers))
        else:
            shapes.append(Ellipsoid(centre, p.radii[:, k], *numbers))
            shapes[-1].rotation = p.orientation[..., k].copy()
    if kind != BodyKind.FINITE_ELEMENT:
        if mesh is not None:
            raise ValueError("'mesh' is for finite elements")
        return shapes, None
    if mesh is not None and bodies.kind[row] == BodyKind.FINITE_ELEMENT:
        raise ValueError(f"{name} has elements already and keeps them; a 'mesh' is for bodies without")
    mesh = mesh or (within.copy() if within is not None else None)
    if mesh is None and not (len(shapes) == 1 and isinstance(shapes[0], Mesh)):
        raise ValueError(f"the shape of {name} is not a single MESH; give a 'mesh' round it, in its referential placement")
    if mesh is not None and not all(isinstance(shape, Convex) for shape in shapes):
        raise ValueError(f"'mesh' goes round shapes of CONVEX objects; the shape of {name} has others")
    return shapes, mesh


def _check_mass(bodies, row: int, shapes: list, density: float) -> None:
    """Raise ValueError if a body has not the mass of its shape and material: another kind would not keep it."""
    volume, centre, _ = characteristics(shapes, bilinear=bodies.kind[row] == BodyKind.FINITE_ELEMENT)
    off = abs(bodies.volume[row] / volume - 1.0), np.abs(bodies.centre[:, row] - centre).max() / np.cbrt(volume), abs(bodies.mass[row] / (density * volume) - 1.0)
    if off[0] > SAME or off[1] > SAME or off[2] > MOST_WARPED:
        raise ValueError(f"{bodies.name(int(bodies.id[row]))} has not the mass and centre of its shape and material (BODY_CHARS), which another kind would have")


def _keep_mass(bodies, row: int, new: int) -> None:
    """Give a new body the mass of the old one, which differs where faces are warped: rigid bodies have triangles there."""
    ratio = bodies.mass[row] / bodies.mass[new]
    bodies.mass[new] *= ratio
    bodies.tensor[:, :, new] *= ratio
    mesh = bodies.meshes.get(int(bodies.id[new]))
    if mesh is not None and mesh.density is not None:
        mesh.density *= ratio


def _move(domain, child: int, before: Motion) -> None:
    """Give a new body the motion of the old one."""
    bodies, row = domain.bodies, domain.body_row(child)
    (conf, at), (velo, of) = body_cuts.triples_of(bodies, row)
    kind, origin = bodies.kind[row], bodies.centre[:, row].copy()
    if kind == BodyKind.FINITE_ELEMENT:
        arm = bodies.meshes[child].nodes - before.origin
        conf[:, at] = (before.centre + arm @ before.gradient.T).T - bodies.meshes[child].nodes.T
        velo[:, of] = before.velocity[:, None] + before.rate @ arm.T
    elif kind == BodyKind.PSEUDO_RIGID:
        conf[:, at] = np.column_stack([before.gradient.T, before.centre + before.gradient @ (origin - before.origin)])
        velo[:, of] = np.column_stack([before.rate.T, before.velocity])
    else:
        rotation = _nearest_rotation(before.gradient @ before.euler)
        conf[:, at] = np.column_stack([rotation, before.centre + rotation @ (origin - before.origin)])
        velo[:, of] = np.column_stack([np.zeros(3), before.velocity])
    for _ in range(2):  # the second pass removes the rounding of the first
        now = motion_of(domain, child)
        momentum = before.mass * before.velocity
        linear = momentum / now.mass - now.velocity
        wanted = before.spin + np.cross(before.centre - now.centre, momentum)
        turn = np.linalg.solve(now.inertia, wanted - now.spin)
        if kind == BodyKind.FINITE_ELEMENT:
            place = bodies.meshes[child].nodes + conf[:, at].T - now.centre
            velo[:, of] += (linear + np.cross(turn, place)).T
        elif kind == BodyKind.PSEUDO_RIGID:
            velo[:, of] += np.column_stack([(_cross_matrix(turn) @ now.gradient).T, linear])
        else:
            velo[:, of] += np.column_stack([now.gradient.T @ turn, linear])


# --- what belongs to a body ------------------------------------------------------------------------------------


def _hand_over(domain, row: int, child: int) -> None:
    """Give the new body the user's constraints, with their reactions, and all loads of the old one."""
    table, bodies, loads = domain.constraints, domain.bodies, domain.loads
    new, deforms = domain.body_row(child), child in domain.bodies.meshes
    for k in np.flatnonzero((table.view("master") == row) | (table.view("slave") == row)).tolist():
        if k >= table.user_count:
            continue
        for side, name in enumerate(("master", "slave")):
            if getattr(table, name)[k] == row:
                getattr(table, name)[k] = new
                table.element[side, k], table.weights[:, side, k] = -1, 0.0
        element_points.attach(table, bodies, k, _reach(domain, child))
    points = loads.table
    for k in np.flatnonzero(points.view("body") == row).tolist():
        found = finite_elements.find(bodies, new, points.point[:, k], _reach(domain, child)) if deforms else (-1, np.zeros(3), np.zeros(8))
        points.body[k], (points.element[k], points.natural[:, k], points.weights[:, k]) = new, found
    pressures = loads.pressures.table
    for k in np.flatnonzero(pressures.view("body") == row).tolist():
        surface, value, series = (getattr(pressures, column)[k] for column in ("surface", "value", "series"))
        found = [loaded_surface(mesh, int(surface), deforms) for mesh in domain.meshes_of(child)]
        for part in (part for part in found if part is not None):
            loads.pressures.add(new, *part, float(value), int(series), int(surface))


def _reach(domain, child: int) -> float:
    """Return how far from the elements of a body its points may be: bodies without elements have points anywhere."""
    mesh = domain.bodies.meshes.get(child)
    return domain.epsilon if mesh is None else max(domain.epsilon, float(np.ptp(mesh.nodes, axis=0).max()))

