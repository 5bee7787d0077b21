"""Integration points of meshes: on boundary faces and in elements (manual, MESH)."""

from __future__ import annotations

import math

import numpy as np

from .mesh import Mesh

GAUSS = 1.0 / math.sqrt(3.0)
SQUARE = GAUSS * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
TRIANGLE = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]]) / 6.0  # area coordinates


def bilinear(points: np.ndarray) -> np.ndarray:
    """Weights (np, 4) of the corners of a square at local coordinates (np, 2)."""
    x, y = points.T
    return 0.25 * np.stack(((1 - x) * (1 - y), (1 + x) * (1 - y), (1 + x) * (1 + y), (1 - x) * (1 + y)), axis=1)


def layers(base: np.ndarray, heights) -> np.ndarray:
    """Weights of elements made of a base and a copy above it, at heights in [-1, 1], the lower layer first."""
    return np.concatenate([np.hstack((0.5 * (1 - z) * base, 0.5 * (1 + z) * base)) for z in heights])


def pyramid() -> np.ndarray:
    """Weights (8, 5): the square's rule in two layers between base and apex, exact for the shrinking section."""
    root = math.sqrt(10.0)
    heights = ((5.0 - root) / 15.0, (5.0 + root) / 15.0)  # zeros of 15 z^2 - 10 z + 1
    return np.concatenate([np.hstack(((1 - z) * bilinear(SQUARE), np.full((4, 1), z))) for z in heights])


NEAR = 0.25 + 0.15 * math.sqrt(5.0)
VOLUME_RULES = {
    4: np.full((4, 4), (1.0 - NEAR) / 3.0) + (NEAR - (1.0 - NEAR) / 3.0) * np.eye(4),
    5: pyramid(),
    6: layers(TRIANGLE, (-GAUSS, GAUSS)),
    8: layers(bilinear(SQUARE), (-GAUSS, GAUSS)),
}
"""Weights (points, nodes) of an element's nodes at its integration points, by number of nodes."""


def surface_integration_points(mesh: Mesh, surface_id: int | None = None) -> np.ndarray:
    """Points (n, 3) on boundary faces, all or those of one surface: one per triangle, four per quadrilateral.

    Faces are taken from the last element backwards, and within an element from the last face index backwards.
    """
    topology = mesh.topology
    wanted = topology.boundary
    if surface_id is not None:
        wanted = wanted & (topology.face_surface == surface_id)
    points = [np.zeros((0, 3))]
    for row in np.flatnonzero(wanted)[::-1].tolist():
        corners = mesh.nodes[topology.face_nodes[row, : topology.face_size[row]]]
        points.append(corners.mean(0, keepdims=True) if len(corners) == 3 else bilinear(SQUARE) @ corners)
    return np.concatenate(points)


def volume_integration_points(mesh: Mesh, volume_id: int | None = None) -> np.ndarray:
    """Points (n, 3) in elements, all or those of one volume: surface elements, then interior ones, in their order.

    Tetrahedra have 4 points, each nearest to one node; wedges 6, pyramids and hexahedra 8, the lower layer first.
    """
    topology = mesh.topology
    interior = np.ones(topology.element_count, bool)
    interior[topology.surface_elements] = False
    points = [np.zeros((0, 3))]
    for element in np.argsort(interior, kind="stable").tolist():
        if volume_id is None or mesh.volume_ids[element] == volume_id:
            nodes = topology.nodes_of(element)
            points.append(VOLUME_RULES[len(nodes)] @ mesh.nodes[nodes])
    return np.concatenate(points)
