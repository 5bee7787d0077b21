"""MASS_CENTER, BODY_CHARS, INITIAL_VELOCITY and APPLY_BULKMAT: what follows from shapes and materials (docs/language-objects.md, Model)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..shapes.characteristics import characteristics
from . import checks, session
from .bodies import BODY, body_of
from .checks import BadValue, command
from .handles import simulation_of
from .hints import Numbers, Vector
from .materials import BULK_MATERIAL, bulk_material
from .model import SOLFEC
from .shapes import Shape, reported, shapes_of


@command("MASS_CENTER")
def MASS_CENTER(shape: Shape | Sequence[Shape] | BODY) -> tuple[float, ...]:
    """Return the mass centre of shapes of uniform density, or of a body.

    Parameters
    ----------
    shape
        Shape object, list of them, or BODY (referential centre).

    Returns
    -------
    tuple of 3
    """
    if isinstance(shape, BODY):
        return body_of(shape, "shape").center
    contents = [item._content for item in shapes_of(shape, "shape")]
    with reported():
        _, centre, _ = characteristics(contents)
    return tuple(np.asarray(centre).tolist())


@command("BODY_CHARS")
def BODY_CHARS(body: BODY, mass: float, volume: float, center: Vector, tensor: Numbers) -> None:
    """Overwrite mass, volume, mass centre and inertia tensor (rigid) or Euler tensor of a body.

    The nodes of finite elements keep their masses, which follow from the mesh and the density of the material.

    Parameters
    ----------
    body : BODY
    mass, volume : float
        Positive.
    center : tuple of 3
        Referential mass centre.
    tensor : tuple of 9
        Symmetric, positive definite, column by column.
    """
    body = body_of(body, "body")
    mass = checks.positive(mass, "mass")
    volume = checks.positive(volume, "volume")
    center = checks.vector(center, "center")
    matrix = np.reshape(checks.vector(tensor, "tensor", 9), (3, 3)).T
    if abs(matrix - matrix.T).max() > 1e-8 * abs(matrix).max():
        raise BadValue("'tensor' must be symmetric")
    if not np.linalg.eigvalsh(matrix).min() > 0.0:
        raise BadValue("'tensor' must be positive definite")
    body._simulation.domain.states.set_characteristics(body._id, mass, volume, center, 0.5 * (matrix + matrix.T))


@command("INITIAL_VELOCITY")
def INITIAL_VELOCITY(body: BODY, linear: Vector, angular: Vector) -> None:
    """Give a body linear and angular velocity, in the sense of rigid motion, at time zero.

    Parameters
    ----------
    body : BODY
    linear, angular : tuple of 3
        Velocity of the mass centre and referential angular velocity.
    """
    body = body_of(body, "body")
    linear, angular = checks.vector(linear, "linear"), checks.vector(angular, "angular")
    body._simulation.domain.states.set_velocity(body._id, linear, angular)


@command("APPLY_BULKMAT")
def APPLY_BULKMAT(solfec: SOLFEC, body: BODY, volid: int, material: BULK_MATERIAL | str) -> None:
    """Change the bulk material of a body's elements with a volume identifier: stiffness, mass and weight.

    BODY.mass, volume, center and tensor do not change.  On bodies without elements it has no effect, with a warning.

    Parameters
    ----------
    solfec : SOLFEC
    body : BODY
        A finite element body; for a shape inside a mesh, elements of the mesh.
    volid : int
        Volume identifier.
    material : BULK_MATERIAL or str
        Material or its label; with the same fields as the body's.
    """
    simulation = simulation_of(solfec)
    body = body_of(body, "body")
    if body._simulation is not simulation:
        raise BadValue("'body' belongs to another SOLFEC object")
    volume = checks.identifier(volid, "volid")
    domain = simulation.domain
    material = bulk_material(domain, material, "material")
    if material.fields != body.material._material.fields:
        raise BadValue("'material' must have the fields of the body's material")
    if material.model != body.material.model:
        raise BadValue(f"'material' must have the model of the body's material, {body.material.model!r}, not {material.model!r}")
    if body.kind != "FINITE_ELEMENT":
        session.warn(f"APPLY_BULKMAT is for finite element bodies; body {body.id} is {body.kind}, nothing changes")
        return
    if simulation.mode == "WRITE" and domain.step_number:
        raise BadValue("materials of elements can be changed before RUN only")
    try:
        domain.states.apply_bulk_material(body._id, volume, material)
    except ValueError as error:
        raise BadValue(str(error)) from None
