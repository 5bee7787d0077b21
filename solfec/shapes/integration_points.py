"""Integration points of meshes: on boundary faces and in elements (docs/language-objects.md, MESH)."""

from __future__ import annotations

import numpy as np

from ..element_types import BY_SIZE, SQUARE_RULE, bilinear
from .mesh import Mesh


def surface_integration_points(mesh: Mesh, surface_id: int | None = None) -> np.ndarray:
    """Return points (n, 3) on boundary faces, of all surfaces or one: one per triangle, four per quadrilateral.

    Faces are taken from the last element backwards, and within an element from the last face index backwards.
    """
    topology = mesh.topology
    wanted = topology.boundary
    if surface_id is not None:
        wanted = wanted & (topology.face_surface == surface_id)
    points = [np.zeros((0, 3))]
    for row in np.flatnonzero(wanted)[::-1].tolist():
        corners = mesh.nodes[topology.face_nodes[row, : topology.face_size[row]]]
        points.append(corners.mean(0, keepdims=True) if len(corners) == 3 else bilinear(SQUARE_RULE) @ corners)
    return np.concatenate(points)


def volume_integration_points(mesh: Mesh, volume_id: int | None = None) -> np.ndarray:
    """Return points (n, 3) in elements, of all volumes or one: surface elements first, then interior ones, in their order.

    Tetrahedra have 4 points, each nearest to one node; wedges 6, pyramids and hexahedra 8, the lower layer first.
    """
    topology = mesh.topology
    interior = np.ones(topology.element_count, bool)
    interior[topology.surface_elements] = False
    points = [np.zeros((0, 3))]
    for element in np.argsort(interior, kind="stable").tolist():
        if volume_id is None or mesh.volume_ids[element] == volume_id:
            nodes = topology.nodes_of(element)
            points.append(BY_SIZE[len(nodes)].volume_rule @ mesh.nodes[nodes])
    return np.concatenate(points)
