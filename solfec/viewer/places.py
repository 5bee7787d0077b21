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


def second_moments(domain, rows: np.ndarray) -> np.ndarray:
    """Return present second moments of mass about mass centres (n, 3, 3), integrals of rho (x - c)(x - c)^T [mass length^2]; of finite elements those of nodes."""
    bodies, fe = domain.bodies, compiled(domain.bodies)
    result, kind = np.zeros((len(rows), 3, 3)), bodies.kind[rows]
    rigid, plain = kind <= BodyKind.RIGID, np.flatnonzero(kind != BodyKind.FINITE_ELEMENT)
    tensors = bodies.view("tensor")[:, :, rows].transpose(2, 0, 1)
    # Of the inertia J = tr (E) 1 - E follows E = tr (J) 1 / 2 - J.
    euler = np.where(rigid[:, None, None], 0.5 * np.trace(tensors, axis1=1, axis2=2)[:, None, None] * np.eye(3) - tensors, tensors)
    first = bodies.conf_ptr[rows[plain]]
    motions = bodies.configurations.conf[:, first[:, None] + np.arange(3)].transpose(1, 0, 2)
    result[plain] = np.einsum("nij,njk,nlk->nil", motions, euler[plain], motions)
    if fe.count:
        present = (fe.reference + bodies.configurations.conf[:, fe.conf_row]).T
        away = present - np.repeat(centres(domain, fe.rows), np.diff(fe.first), axis=0)
        of_row = np.zeros((bodies.n, 3, 3))
        of_row[fe.rows] = np.add.reduceat(fe.mass[:, None, None] * away[:, :, None] * away[:, None, :], fe.first[:-1])
        elements = kind == BodyKind.FINITE_ELEMENT
        result[elements] = of_row[rows[elements]]
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
