"""Configurations and velocities of bodies as flat numbers (docs/language-objects.md, BODY.conf; docs/language-objects.md, BODY.velo)."""

from __future__ import annotations

import numpy as np

from .finite_elements import compiled
from .table import BodyTable


def configuration(bodies: BodyTable, row: int, within_step: bool = False) -> np.ndarray:
    """Return the body's configuration triples, flat; for reduced forms k coordinates and the columns of the rotation.

    The rotation is that of the reduced velocities, or with `within_step`, while these change, that of the nodes.
    """
    if bodies.mode_count[row]:
        return compiled(bodies).reduced.coordinates_of(bodies, row, within_step)
    return bodies.configurations.conf[:, bodies.conf_slice(row)].T.ravel()


def velocity(bodies: BodyTable, row: int) -> np.ndarray:
    """Return the body's velocity triples, flat; for reduced forms the k reduced velocities."""
    if bodies.mode_count[row]:
        return compiled(bodies).reduced.velocities_of(bodies, row)
    return bodies.triples.velo[:, bodies.velo_slice(row)].T.ravel()


def set_configuration(bodies: BodyTable, row: int, values) -> None:
    """Overwrite the body's configuration."""
    values = np.asarray(values, float)
    if bodies.mode_count[row]:
        compiled(bodies).reduced.set_coordinates(bodies, row, values)
    else:
        bodies.configurations.conf[:, bodies.conf_slice(row)] = values.reshape(-1, 3).T


def set_velocity(bodies: BodyTable, row: int, values) -> None:
    """Overwrite the body's velocity."""
    values = np.asarray(values, float)
    if bodies.mode_count[row]:
        compiled(bodies).reduced.set_velocities(bodies, row, values)
    else:
        bodies.triples.velo[:, bodies.velo_slice(row)] = values.reshape(-1, 3).T


def set_nodal_velocity(bodies: BodyTable, row: int, values: np.ndarray) -> None:
    """Set velocities (n, 3) of the nodes of a finite element body; for reduced forms their projection on the base."""
    first = int(bodies.velo_ptr[row])
    bodies.triples.velo[:, first : first + len(values)] = values.T
    if bodies.mode_count[row]:
        compiled(bodies).reduced.project_velocities(bodies, row)


def move_rigidly(bodies: BodyTable, row: int, rotation, place, angular, linear, centre) -> None:
    """Move a finite element body as a rigid one with that mass centre.

    Parameters
    ----------
    rotation, place : array_like (3, 3), (3,)
        Rotation and current centre of the rigid body.
    angular, linear : array_like (3,)
        Referential angular velocity, velocity of the centre.
    centre : array_like (3,)
        Referential mass centre of the rigid body.
    """
    nodes = bodies.meshes[int(bodies.id[row])].nodes
    arm = nodes - centre
    conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
    conf[:, : len(nodes)] = (place + arm @ np.transpose(rotation) - nodes).T
    if bodies.mode_count[row]:
        conf[:, len(nodes) :] = rotation
    set_nodal_velocity(bodies, row, linear + np.cross(angular, arm) @ np.transpose(rotation))
