"""MATERIAL, SPHERE, MESH, ANALYTICAL and VELOCITY: particles and their materials."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from ..language import checks
from ..language.checks import BadValue, command
from ..language.hints import Integers, Numbers, Vector
from ..language.shapes import reported
from ..shapes.characteristics import characteristics
from ..shapes.mesh import Mesh
from ..shapes.mesh_parts import submesh
from . import arguments
from .kinds import ParticleKind
from .model import Material, Model, Surface, current


@command("MATERIAL")
def MATERIAL(density: float, young: float, poisson: float) -> int:
    """Define a material.

    Parameters
    ----------
    density : float
        Mass over volume.
    young, poisson : float
        Elastic constants, which the engine stores and does not use.

    Returns
    -------
    int
        Number of the material.
    """
    model = current()
    made = Material(checks.positive(density, "density"), checks.positive(young, "young"), checks.positive(poisson, "poisson"))
    model.materials.append(made)
    return len(model.materials) - 1


@command("SPHERE")
def SPHERE(center: Vector, radius: float, material: int, color: int) -> int:
    """Create a spherical particle.

    Parameters
    ----------
    center : tuple of 3 floats
    radius : float
    material : int
    color : int
        Positive; GRANULAR pairs colors.

    Returns
    -------
    int
        Number of the particle.
    """
    model = current()
    centre = checks.vector(center, "center")
    radius = checks.positive(radius, "radius")
    material = arguments.material(model, material)
    color = arguments.colour(color, "color")
    mass = 4.0 / 3.0 * math.pi * radius * radius * radius * model.materials[material].density  # a power would raise an OverflowError
    inertia = np.diag([0.4 * mass * radius * radius] * 3)
    return add_particle(model, ParticleKind.SPHERE, mass, inertia, centre, material=material, radius=radius, colour=color)


@command("MESH")
def MESH(nodes: Numbers, elements: Integers, material: int, colors: int | Integers) -> int:
    """Create a rigid particle from a mesh.

    Parameters
    ----------
    nodes : list of 3 n floats
        Coordinates.
    elements : list of int
        Records: 4, 5, 6 or 8, node numbers, material.  The densities of these materials make mass and inertia.
    material : int
        Material of the particle as a whole.
    colors : int or list of int
        Color of all faces, or that color followed by records: 3 or 4, node numbers, color.

    Returns
    -------
    int
        Number of the particle.
    """
    model = current()
    points = checks.numbers(nodes, "nodes", multiple=3, minimum=4)
    records = checks.integers(elements, "elements")
    material = arguments.material(model, material)
    colours = checks.integers(colors, "colors") if checks.is_sequence(colors) else [arguments.colour(colors, "colors")]
    if not colours:
        raise BadValue("'colors' must hold at least the color of all faces")
    arguments.colour(colours[0], "colors[0]")
    with reported():
        try:
            mesh = Mesh.from_records(points, records, colours)
        except ValueError as error:
            raise ValueError(str(error).replace("'surfids'", "'colors'").replace("'volid'", "the material")) from None
        for number in np.unique(mesh.volume_ids).tolist():
            arguments.material(model, number, "elements")
        mass, centre, euler = mesh_moments(model, mesh)
    inertia = np.trace(euler) * np.eye(3) - euler
    row = add_particle(model, ParticleKind.MESH, mass, inertia, centre, material=material, colour=colours[0])
    model.surfaces[row] = surface_of(mesh)
    return row


def mesh_moments(model: Model, mesh: Mesh) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, mass centre (3,) and centred Euler tensor (3, 3) of a mesh whose elements have individual materials."""
    parts = []
    for number in np.unique(mesh.volume_ids).tolist():
        own = np.flatnonzero(mesh.volume_ids == number)
        part = mesh if own.size == mesh.volume_ids.size else submesh(mesh, own, mesh.topology.face_surface)
        volume, centre, euler = characteristics(part, bilinear=True)
        density = model.materials[number].density
        parts.append((density * volume, centre, density * euler))
    mass = sum(part[0] for part in parts)
    centre = sum(part[0] * part[1] for part in parts) / mass
    arms = [part[1] - centre for part in parts]
    return mass, centre, sum(part[2] + part[0] * np.outer(arm, arm) for part, arm in zip(parts, arms))


def surface_of(mesh: Mesh) -> Surface:
    """Return the outer faces of a mesh as triangles: a quadrilateral a b c d gives a b c and a c d."""
    topology = mesh.topology
    faces, sizes = topology.face_nodes[topology.boundary], topology.face_size[topology.boundary]
    colours, quads = topology.face_surface[topology.boundary], sizes == 4
    triangles = np.concatenate((faces[:, :3], faces[quads][:, (0, 2, 3)]))
    order = np.argsort(np.concatenate((np.arange(len(faces)), np.flatnonzero(quads))), kind="stable")
    return Surface(mesh.nodes.copy(), triangles[order], np.concatenate((colours, colours[quads]))[order], mesh)


@command("ANALYTICAL")
def ANALYTICAL(
    inertia: Numbers | None = None,
    mass: float = 0.0,
    rotation: Numbers | None = None,
    position: Vector | None = None,
    material: int | None = None,
    particle: int | None = None,
) -> int:
    """Create a particle without a shape, or make an existing one analytical.

    Parameters
    ----------
    inertia : list of 6 floats, optional
        Jxx, Jyy, Jzz, Jxy, Jxz, Jyz about the mass centre, in the frame before `rotation`; default [1, 1, 1, 0, 0, 0].
    mass : float, optional
        Default 1; 0 means 1, too.
    rotation : list of 9 floats, optional
        Rotation matrix, column by column; default: identity.
    position : tuple of 3 floats, optional
        Mass centre; default: the origin.
    material : int, optional
        Default 0.
    particle : int, optional
        Particle that becomes analytical; quantities that are not given do not change, and its shape serves output only.

    Returns
    -------
    int
        Number of the particle.
    """
    model = current()
    given = {}
    mass = checks.nonnegative(mass, "mass")
    if inertia is not None:
        given["inertia"] = inertia_matrix(inertia)
    if mass > 0.0:
        given["mass"] = mass
    if rotation is not None:
        given["rotation"] = rotation_matrix(rotation)
    if position is not None:
        given["position"] = np.array(checks.vector(position, "position"))
    if material is not None and (checks.integer(material, "material") != 0 or model.materials):
        given["material"] = arguments.material(model, material)
    if particle is None:
        rotation = given.pop("rotation", np.eye(3))
        row = add_particle(model, ParticleKind.ANALYTICAL, given.pop("mass", 1.0), given.pop("inertia", np.eye(3)),
                           given.pop("position", np.zeros(3)), **given)  # fmt: skip
        model.particles.rotation[:, :, row] = rotation
        return row
    row, particles = arguments.particle(model, particle, "particle"), model.particles
    inverse = inverse_of(given.get("mass", 1.0), given.get("inertia", np.eye(3)))
    model.forget_pairs()
    particles.kind[row] = ParticleKind.ANALYTICAL
    for name, value in given.items():
        getattr(particles, name)[..., row] = value
    if "position" in given:
        particles.reference[:, row] = given["position"]
    if "inertia" in given:
        particles.inverse_inertia[:, :, row] = inverse
    return row


INERTIA = ("Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")  # components


def inertia_matrix(values) -> np.ndarray:
    """Return the symmetric matrix of six components."""
    numbers = checks.numbers(values, "inertia")
    if len(numbers) != len(INERTIA):
        raise BadValue(f"'inertia' must hold {len(INERTIA)} numbers ({', '.join(INERTIA)}), it holds {numbers.size}")
    xx, yy, zz, xy, xz, yz = numbers.tolist()
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.linalg.eigvalsh(matrix)[0] <= 0.0:
        raise BadValue("'inertia' must be positive definite")
    return matrix


def rotation_matrix(values) -> np.ndarray:
    """Return the rotation of nine numbers, column by column."""
    numbers = checks.numbers(values, "rotation")
    if numbers.size != 9:
        raise BadValue(f"'rotation' must hold 9 numbers, it holds {numbers.size}")
    matrix = numbers.reshape(3, 3).T
    if np.abs(matrix.T @ matrix - np.eye(3)).max() > 1e-6 or np.linalg.det(matrix) < 0.0:
        raise BadValue("'rotation' must be a rotation matrix: orthonormal columns, right-handed")
    return matrix


def inverse_of(mass: float, inertia: np.ndarray) -> np.ndarray:
    """Return the inverse of an inertia; raise BadValue if numbers are out of range."""
    with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
        inverse = np.linalg.inv(inertia)
        if mass > 0.0 and np.isfinite(1.0 / mass) and np.isfinite(mass) and np.isfinite(inverse).all() and np.isfinite(inertia).all():
            return inverse
    raise BadValue(f"the particle's mass, {mass:g}, or its inertia is too small or too large for the computer's numbers")


def add_particle(model: Model, kind: ParticleKind, mass: float, inertia: np.ndarray, centre, **columns) -> int:
    """Append a particle at rest."""
    inverse = inverse_of(mass, inertia)
    model.forget_pairs()
    row = model.particles.append(kind=kind, mass=mass, **columns)
    particles = model.particles
    particles.inertia[:, :, row] = inertia
    particles.inverse_inertia[:, :, row] = inverse
    particles.reference[:, row] = particles.position[:, row] = centre
    particles.rotation[:, :, row] = np.eye(3)
    return row


@command("VELOCITY")
def VELOCITY(parnum: int, linear: Vector | None = None, angular: Vector | None = None) -> None:
    """Set the velocity of a particle; a velocity that is not given does not change.

    Parameters
    ----------
    parnum : int
    linear : tuple of 3 floats, optional
        Velocity of the mass centre.
    angular : tuple of 3 floats, optional
        Spatial angular velocity.
    """
    model = current()
    row, particles = arguments.particle(model, parnum, "parnum"), model.particles
    values = [None if value is None else checks.vector(value, name) for value, name in ((linear, "linear"), (angular, "angular"))]
    if values[0] is not None:
        particles.velocity[:, row] = values[0]
    if values[1] is not None:
        particles.spin[:, row] = values[1]
        particles.angular[:, row] = particles.rotation[:, :, row].T @ values[1]
