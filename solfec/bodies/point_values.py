"""Displacement, velocity and stress at referential points (manual, DISPLACEMENT, VELOCITY and STRESS)."""

from __future__ import annotations

import numpy as np

from .finite_elements import deformation_gradients, find, nodes_of
from .table import BodyKind, BodyTable

CORNERS = {  # natural coordinates of the nodes
    4: ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)),
    5: ((1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0), (0, 0, 1)),
    6: ((0, 0, -1), (1, 0, -1), (0, 1, -1), (0, 0, 1), (1, 0, 1), (0, 1, 1)),
    8: ((-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)),
}


def displacement(bodies: BodyTable, row: int, point, epsilon: float) -> np.ndarray:
    """Displacement of a point of a finite element body; SolfecError when it is outside."""
    return _interpolated(bodies, row, point, epsilon, bodies.configurations.conf[:, bodies.conf_slice(row)])


def velocity(bodies: BodyTable, row: int, point, epsilon: float) -> np.ndarray:
    """Velocity of a point of a finite element body; SolfecError when it is outside."""
    return _interpolated(bodies, row, point, epsilon, bodies.triples.velo[:, bodies.velo_slice(row)])


def _interpolated(bodies: BodyTable, row: int, point, epsilon: float, values: np.ndarray) -> np.ndarray:
    element, _, weights = find(bodies, row, point, epsilon)
    nodes = nodes_of(bodies, row, element)
    return values[:, nodes] @ weights[: len(nodes)]


def stress(bodies: BodyTable, row: int, point, epsilon: float) -> np.ndarray:
    """sx, sy, sz, sxy, sxz, syz of the Cauchy stress P F^T / det F, and the von Mises stress [pressure].

    At a node of a finite element body it is the mean over the elements that have this node, the von Mises stress too.
    Rigid bodies have none: zeros.
    """
    kind = bodies.kind[row]
    lame = bodies.lame[:, row]
    if kind == BodyKind.PSEUDO_RIGID:
        return _with_mises(cauchy_stress(bodies.configurations.conf[:, bodies.conf_slice(row)][:, :3].T, lame))
    if kind != BodyKind.FINITE_ELEMENT:
        return np.zeros(7)
    element, natural, _ = find(bodies, row, point, epsilon)
    mesh = bodies.meshes[int(bodies.id[row])]
    nodes = nodes_of(bodies, row, element)
    near = np.abs(mesh.nodes[nodes] - np.asarray(point, float)).max(1) < epsilon
    elements, places = [element], [natural]
    if near.any():
        used = np.arange(8) < mesh.sizes[:, None]
        elements, slots = np.nonzero((mesh.elements == nodes[np.argmax(near)]) & used)
        places = [CORNERS[int(mesh.sizes[e])][slot] for e, slot in zip(elements, slots)]
    rows = np.full(len(elements), row)
    gradients = deformation_gradients(bodies, rows, np.asarray(elements), np.array(places, float).T)
    return np.mean([_with_mises(cauchy_stress(gradients[:, :, k], lame)) for k in range(len(elements))], axis=0)


def cauchy_stress(gradient: np.ndarray, lame) -> np.ndarray:
    """F S F^T / det F of the St Venant-Kirchhoff material (3, 3)."""
    strain = 0.5 * (gradient.T @ gradient - np.eye(3))
    second = lame[0] * np.trace(strain) * np.eye(3) + 2.0 * lame[1] * strain
    return gradient @ second @ gradient.T / np.linalg.det(gradient)


def _with_mises(s: np.ndarray) -> np.ndarray:
    mises = np.sqrt(
        0.5 * ((s[0, 0] - s[1, 1]) ** 2 + (s[0, 0] - s[2, 2]) ** 2 + (s[2, 2] - s[1, 1]) ** 2)
        + 3.0 * (s[0, 1] ** 2 + s[0, 2] ** 2 + s[1, 2] ** 2)
    )
    return np.array([s[0, 0], s[1, 1], s[2, 2], s[0, 1], s[0, 2], s[1, 2], mises])
