"""Present positions and velocities of points of bodies of all kinds."""

from __future__ import annotations

import numpy as np

from ..bodies import motion, point_values
from ..bodies.finite_elements import compiled, deformation_gradients, find
from ..bodies.table import BodyKind


def spatial_points(domain, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return current images (3, n) of the referential points (3, n) of the bodies `rows` (n,)."""
    bodies = domain.bodies
    elements = bodies.kind[rows] == BodyKind.FINITE_ELEMENT
    result = np.array(points, float)
    if not elements.all():
        result[:, ~elements] = motion.spatial_points(bodies, rows[~elements], result[:, ~elements])
    for k in np.flatnonzero(elements).tolist():  # one by one: users create these points
        result[:, k] += point_values.displacement(bodies, int(rows[k]), points[:, k], domain.epsilon)
    return result


def velocity(domain, row: int, point: np.ndarray) -> np.ndarray:
    """Return the velocity (3,) of a referential point."""
    if domain.bodies.kind[row] == BodyKind.FINITE_ELEMENT:
        return point_values.velocity(domain.bodies, row, point, domain.epsilon)
    return motion.point_velocities(domain.bodies, np.array([row]), np.asarray(point, float)[:, None])[:, 0]


def centres(domain, rows: np.ndarray) -> np.ndarray:
    """Return mass centres (n, 3) of bodies; of finite element bodies by the mass of nodes."""
    bodies, fe = domain.bodies, compiled(domain.bodies)
    plain = bodies.kind[rows] != BodyKind.FINITE_ELEMENT
    result = np.zeros((len(rows), 3))
    if plain.any():
        result[plain] = motion.spatial_points(bodies, rows[plain], bodies.view("centre")[:, rows[plain]]).T
    if fe.count:
        weighted = (fe.mass * (fe.reference + bodies.configurations.conf[:, fe.conf_row])).T
        means = np.add.reduceat(weighted, fe.first[:-1]) / np.add.reduceat(fe.mass, fe.first[:-1])[:, None]
        of_row = np.zeros((bodies.n, 3))
        of_row[fe.rows] = means
        result[~plain] = of_row[rows[~plain]]
    return result


def carried(domain, row: int, point: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the unit vector (3,) to which a body's motion carries a referential direction at a referential point."""
    bodies = domain.bodies
    if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
        element, natural, _ = find(bodies, row, point, domain.epsilon)
        moved = deformation_gradients(bodies, np.array([row]), np.array([element]), natural[:, None])[:, :, 0] @ direction
    else:
        ends = motion.spatial_points(bodies, np.array([row, row]), np.stack([point, point + direction], 1))
        moved = ends[:, 1] - ends[:, 0]
    return moved / np.linalg.norm(moved)
