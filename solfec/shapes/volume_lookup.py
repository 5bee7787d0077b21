"""Search for the elements of a mesh that hold points."""

from __future__ import annotations

import numpy as np

from .mesh import Mesh

CHUNK = 2_000_000  # pairs of points and elements in one batch


def elements_at(mesh: Mesh, points: np.ndarray) -> np.ndarray:
    """Return for each point (n, 3) the element below whose faces it is deepest, among those whose boxes hold it.

    A point outside all boxes gets the element with the nearest middle.
    """
    topology = mesh.topology
    corners = mesh.nodes[topology.element_nodes]
    lower = np.minimum.reduceat(corners, topology.element_ptr[:-1], axis=0)
    upper = np.maximum.reduceat(corners, topology.element_ptr[:-1], axis=0)
    margin = 1e-6 * (upper - lower).max(1, keepdims=True)
    found = np.empty(len(points), int)
    step = max(1, CHUNK // topology.element_count)
    for start in range(0, len(points), step):
        some = points[start : start + step]
        held = ((some[:, None] >= lower - margin) & (some[:, None] <= upper + margin)).all(2)
        found[start : start + step] = _deepest(mesh, some, held, 0.5 * (lower + upper))
    return found


def _deepest(mesh: Mesh, points: np.ndarray, held: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """Return, among the elements marked in `held` (n, ne), the one below whose faces each point is deepest."""
    topology = mesh.topology
    lead = mesh.nodes[topology.face_nodes[:, :3]]
    normals = np.cross(lead[:, 1] - lead[:, 0], lead[:, 2] - lead[:, 0])
    normals /= np.sqrt((normals**2).sum(1, keepdims=True))
    first = np.searchsorted(topology.face_element, np.arange(topology.element_count + 1))
    best, found = np.full(len(points), np.inf), np.full(len(points), -1)
    for element in np.flatnonzero(held.any(0)).tolist():
        rows = slice(first[element], first[element + 1])
        who = np.flatnonzero(held[:, element])
        height = (points[who] @ normals[rows].T - (lead[rows, 0] * normals[rows]).sum(1)).max(1)
        better = height < best[who]
        best[who[better]], found[who[better]] = height[better], element
    for i in np.flatnonzero(found < 0).tolist():
        found[i] = int(np.argmin(((middles - points[i]) ** 2).sum(1)))
    return found
