"""Bending of meshes about an axis (docs/language-objects.md, BEND)."""

from __future__ import annotations

import math

import numpy as np

from .distance import closer
from .mesh import Mesh, upright


def bend(mesh: Mesh, point, direction, angle: float, epsilon: float = 1e-6) -> None:
    """Wrap a mesh round an axis, from its section nearest to the axis onwards; the rest continues straight.

    Fibres at the distance of the nearest node keep their length.

    Parameters
    ----------
    mesh : Mesh
        Changed in place.
    point, direction : sequence of 3 numbers
        Axis; the bending follows its right-hand sense.
    angle : float
        Positive, in degrees.
    epsilon : float
        Geometric epsilon, in units of length.

    Raises
    ------
    ValueError
        An angle that is not positive, a zero direction, an axis that passes through the mesh, or elements that the
        bending turns inside out; the mesh then stays as it was.
    """
    point, axis = np.array(point, float), np.array(direction, float)
    length = np.sqrt(axis @ axis)
    if not length > 0.0:
        raise ValueError("'direction' must not be zero")
    if not (angle > 0.0 and math.isfinite(angle)):
        raise ValueError("'angle' must be positive")
    axis, limit = axis / length, math.radians(angle)
    _check_axis(mesh, point, axis, epsilon)
    arms = mesh.nodes - point
    arms -= np.outer(arms @ axis, axis)
    distance = np.sqrt((arms**2).sum(1))
    nearest = int(np.argmin(distance))
    radius = distance[nearest]
    if radius <= epsilon:
        raise ValueError("the axis passes through the mesh")
    ahead = np.cross(axis, arms[nearest] / radius)
    ahead /= np.sqrt(ahead @ ahead)
    arc = arms @ ahead
    moved = arc > 0.0
    arc = arc[moved, None]
    foot = mesh.nodes[moved] - arms[moved]
    across = arms[moved] - arc * ahead
    size = np.sqrt((across**2).sum(1, keepdims=True))
    turn = np.minimum(arc / radius, limit)
    bent = foot + across * np.cos(turn) + size * np.sin(turn) * ahead
    onward = size * np.cos(turn) * ahead - across * np.sin(turn)
    bent += (arc - turn * radius) * onward / np.where(size > 0.0, size, 1.0)
    nodes = mesh.nodes.copy()
    nodes[moved] = bent
    try:
        upright(nodes, mesh.topology.element_ptr, mesh.topology.element_nodes, turn=False)
    except ValueError as error:
        raise ValueError(f"bending is too sharp: {error}") from None
    mesh.nodes, mesh.topology = nodes, mesh.topology.renewed()


def _check_axis(mesh: Mesh, point: np.ndarray, axis: np.ndarray, epsilon: float) -> None:
    """Raise ValueError, naming the element, when the axis point next to a surface element's middle lies in it."""
    topology = mesh.topology
    elements = topology.surface_elements.tolist()
    clouds = [mesh.nodes[topology.nodes_of(element)] for element in elements]
    means = np.array([cloud.mean(0) for cloud in clouds])
    feet = point + np.outer((means - point) @ axis, axis)
    reach = np.array([np.sqrt(((cloud - mean) ** 2).sum(1).max()) for cloud, mean in zip(clouds, means)])
    near = np.flatnonzero(np.sqrt(((feet - means) ** 2).sum(1)) <= reach + epsilon)
    if not near.size:
        return
    number = np.arange(len(near))
    inside = closer([clouds[i] for i in near] + list(feet[near, None]), number, number + len(near), epsilon)
    if inside.any():
        raise ValueError(f"the axis passes through element {elements[int(near[np.argmax(inside)])]} of the mesh")
