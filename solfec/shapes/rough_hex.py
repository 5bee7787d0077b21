"""Meshes of boxes around convexes, along their principal axes (docs/language-objects.md, ROUGH_HEX)."""

from __future__ import annotations

import numpy as np

from .characteristics import characteristics
from .convex import Convex
from .hex_mesh import hex_mesh
from .identifiers import ANY_SURFACE
from .mesh import Mesh

EQUAL = 1e-9  # difference of eigenvalues, relative to the largest, below which their directions are free


def rough_hex(convexes: list[Convex], i: int, j: int, k: int, dx=None, dy=None, dz=None, epsilon: float = 1e-6) -> Mesh:
    """Mesh a box that holds all vertices, its local x along the smallest extent of inertia.

    Parameters
    ----------
    convexes : list of Convex
        Convexes inside the box; not changed.
    i, j, k, dx, dy, dz
        Divisions; see `hex_mesh`.
    epsilon : float
        Geometric epsilon: the box is wider by ten of them on every side.

    Returns
    -------
    Mesh
        All identifiers are the wildcard `ANY_SURFACE`.
    """
    euler = characteristics(convexes)[2]
    axes = principal_axes(euler)
    along = np.concatenate([p.vertices for c in convexes for p in c.polyhedra]) @ axes
    lower, upper = along.min(0) - 10.0 * epsilon, along.max(0) + 10.0 * epsilon
    corner = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], bool)
    mesh = hex_mesh((np.where(corner, upper, lower) @ axes.T).ravel(), i, j, k, 0, [0] * 6, dx, dy, dz)
    mesh.topology = mesh.topology.with_surfaces(np.full(len(mesh.topology.face_size), ANY_SURFACE))
    mesh.volume_ids = np.full(len(mesh.volume_ids), ANY_SURFACE, np.int32)
    return mesh


def principal_axes(tensor: np.ndarray) -> np.ndarray:
    """Return right-handed eigenvectors (columns), eigenvalues ascending, independent of the eigensolver.

    The component of largest magnitude of the first two vectors is positive (the first of equal ones). Where eigenvalues are equal, axes
    are as near to the global ones as possible.
    """
    values, vectors = np.linalg.eigh(tensor)
    same = np.diff(values) <= EQUAL * abs(values[-1])
    if same.all():
        return np.eye(3)
    if same.any():
        single = 2 if same[0] else 0
        pair = (0, 1) if same[0] else (1, 2)
        lone = _positive(vectors[:, single])
        flat = np.eye(3) - np.outer(lone, lone)  # columns: projections of the global axes
        size = np.sqrt((flat**2).sum(0))
        near = int(np.argmax(size >= size.max() - 1e-9))
        vectors[:, single], vectors[:, pair[0]] = lone, flat[:, near] / size[near]
        vectors[:, pair[1]] = _positive(np.cross(lone, vectors[:, pair[0]]))
    x, y = _positive(vectors[:, 0]), _positive(vectors[:, 1])
    return np.stack((x, y, np.cross(x, y)), axis=1)


def _positive(vector: np.ndarray) -> np.ndarray:
    size = np.abs(vector)
    largest = int(np.argmax(size >= size.max() - 1e-9))
    return -vector if vector[largest] < 0.0 else vector
