"""MASS_CENTER, BODY_CHARS and INITIAL_VELOCITY: what follows from shapes, looked up and overwritten (manual, 4.6)."""

from __future__ import annotations

import numpy as np

from ..shapes.characteristics import characteristics
from . import checks
from .bodies import BODY, body_of
from .checks import BadValue, command
from .shapes import reported, shapes_of


@command("MASS_CENTER")
def MASS_CENTER(shape) -> tuple[float, ...]:
    """Mass centre of shapes of uniform density, or of a body.

    Parameters
    ----------
    shape
        Shape object, list of them, or BODY (referential centre).
    """
    if isinstance(shape, BODY):
        return body_of(shape, "shape").center
    contents = [item._content for item in shapes_of(shape, "shape")]
    with reported():
        _, centre, _ = characteristics(contents)
    return tuple(np.asarray(centre).tolist())


@command("BODY_CHARS")
def BODY_CHARS(body, mass, volume, center, tensor):
    """Overwrite mass, volume, mass centre and inertia tensor (rigid) or Euler tensor of a body.

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
    body._simulation.domain.set_characteristics(body._id, mass, volume, center, 0.5 * (matrix + matrix.T))


@command("INITIAL_VELOCITY")
def INITIAL_VELOCITY(body, linear, angular):
    """Give a body linear and angular velocity, in the sense of rigid motion, at time zero.

    Parameters
    ----------
    body : BODY
    linear, angular : tuple of 3
        Velocity of the mass centre and referential angular velocity.
    """
    body = body_of(body, "body")
    linear, angular = checks.vector(linear, "linear"), checks.vector(angular, "angular")
    body._simulation.domain.set_velocity(body._id, linear, angular)
