"""Tetrahedral meshes of ellipsoids (docs/language-objects.md, ELLIP_MESH)."""

from __future__ import annotations

import math

import numpy as np

from .coordinates import check_size
from .identifiers import identifier
from .mesh import Mesh
from .tetrahedra import tetrahedral_mesh, tetrahedralize

QUALITY = 2.0
MOST_TRIANGLES = 300_000


def ellipsoid_mesh(centre, radii, error: float, volume_id: int = 0, surface_id: int = 0) -> Mesh:
    """Mesh an ellipsoid with axes along the global ones.

    Parameters
    ----------
    centre, radii : sequence of 3 numbers
        Centre and positive semi-axes, in units of length.
    error : float
        Positive; no middle of an edge of the surface is farther below the ellipsoid, along its ray, in units of length.
    volume_id, surface_id : int
        Identifiers.

    Raises
    ------
    ValueError
        Sizes that are not positive, or an error that asks for more than 300 000 triangles.
    MissingPackage
        When tetgen is not installed.
    """
    centre, radii = np.array(centre, float), np.array(radii, float)
    check_size(np.concatenate((centre, radii)), "center and radii")
    if not (radii > 0.0).all():
        raise ValueError("'radii' must be positive")
    if not (error > 0.0 and math.isfinite(error)):
        raise ValueError("'error' must be positive")
    volume_id, surface_id = identifier(volume_id, "volid"), identifier(surface_id, "surfid")
    points, triangles = ellipsoid_surface(radii, error)
    marks = np.full(len(triangles), surface_id)
    nodes, elements, faces, found, _ = tetrahedralize(points, triangles, marks, quality=QUALITY, keep_surface=True)
    return tetrahedral_mesh(nodes + centre, elements, faces, found, np.full(len(elements), volume_id))


def ellipsoid_surface(radii: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) on an ellipsoid about the origin and outward triangles (nt, 3), fine enough for `error`."""
    points, triangles = icosahedron()
    points, triangles = refined(points, triangles, lambda middles: np.ones(len(middles), bool), lambda middles: middles)
    points = projected(points, radii)

    def too_far(middles):
        return np.sqrt(((projected(middles, radii) - middles) ** 2).sum(1)) > error

    while True:
        finer = refined(points, triangles, too_far, lambda middles: projected(middles, radii))
        if len(finer[1]) == len(triangles):
            return points, triangles
        points, triangles = finer
        if len(triangles) > MOST_TRIANGLES:
            raise ValueError(f"'error' = {error:g} asks for more than {MOST_TRIANGLES} triangles")


def projected(points: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return the points where rays from the origin through `points` (n, 3) leave the ellipsoid."""
    return points / np.sqrt(((points / radii) ** 2).sum(1, keepdims=True))


def icosahedron() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (12, 3) of the unit icosahedron with poles on the z axis, and outward triangles (20, 3)."""
    height, width = 1.0 / math.sqrt(5.0), 2.0 / math.sqrt(5.0)
    angle = 2.0 * math.pi * np.arange(5) / 5.0
    upper = np.stack((width * np.cos(angle), width * np.sin(angle), np.full(5, height)), axis=1)
    turned = angle + math.pi / 5.0
    lower = np.stack((width * np.cos(turned), width * np.sin(turned), np.full(5, -height)), axis=1)
    points = np.concatenate(([[0.0, 0.0, 1.0]], upper, lower, [[0.0, 0.0, -1.0]]))
    triangles = []
    for i in range(5):
        j = (i + 1) % 5
        triangles += [(0, 1 + i, 1 + j), (1 + i, 6 + i, 1 + j), (1 + j, 6 + i, 6 + j), (11, 6 + j, 6 + i)]
    return points, np.array(triangles)


def refined(points: np.ndarray, triangles: np.ndarray, wanted, place) -> tuple[np.ndarray, np.ndarray]:
    """Split the edges for whose middles `wanted` is true, at `place (middles)`; triangles become two, three or four."""
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]]
    edges, edge_of = np.unique(np.sort(sides.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    edge_of = edge_of.reshape(-1, 3)
    middles = 0.5 * (points[edges[:, 0]] + points[edges[:, 1]])
    split = wanted(middles)
    number = np.where(split, len(points) + np.cumsum(split) - 1, -1)
    points = np.concatenate((points, place(middles[split])))
    result = []
    for corners, new in zip(triangles.tolist(), number[edge_of].tolist()):
        while (new[0] < 0) and max(new) >= 0 or (new[0] >= 0 and new[2] >= 0 and min(new) < 0):
            corners, new = corners[1:] + corners[:1], new[1:] + new[:1]  # so that split edges come first
        (a, b, c), (p, q, r) = corners, new
        if p < 0:
            result.append((a, b, c))
        elif q < 0:
            result += [(a, p, c), (p, b, c)]
        elif r < 0:
            result += [(p, b, q), (a, p, q), (a, q, c)]
        else:
            result += [(a, p, r), (p, b, q), (r, q, c), (p, q, r)]
    return points, np.array(result)
