"""Merging coplanar neighbouring faces of a convex polyhedron into polygons.

Contact facets are weighted by their areas squared, and clipping by nearly equal planes is ill-conditioned; both
need every flat part of a polyhedron's surface to be one polygon.
"""

from __future__ import annotations

from math import atan2

import numpy as np

from ..tables import ranges
from .connected import components
from .vectors import cross

COPLANAR = 1e-9  # distance from a neighbour's plane, relative to the size, within which faces are coplanar


def polygons(points: np.ndarray, labels: np.ndarray, faces, normals: np.ndarray):
    """Outline each group of coplanar faces.

    Parameters
    ----------
    points : ndarray (nv, 3)
        Vertices of a convex polyhedron.
    labels : ndarray (nf,)
        Group of every face.
    faces : sequence of tuples of int
        Vertex numbers of faces, counter-clockwise from outside.
    normals : ndarray (ng, 3)
        Unit outward normal of every group.

    Returns
    -------
    list of tuples or None
        Corners of every group, counter-clockwise from outside.  Vertices inside a group or inside an edge between
        two groups are dropped.  None when the outlines do not form a closed polyhedral surface.
    """
    groups: list[list] = [[] for _ in range(len(normals))]
    for label, face in zip(labels.tolist(), faces):
        groups[label].append(face)
    met = [0] * len(points)
    for group in groups:
        for vertex in {v for face in group for v in face}:
            met[vertex] += 1
    points, normals = points.tolist(), normals.tolist()
    outlines = []
    for group, normal in zip(groups, normals):
        if len(group) == 1 and all(met[v] > 2 for v in group[0]):
            outlines.append(group[0])
            continue
        corners = sorted({v for face in group for v in face if met[v] > 2})
        if len(corners) < 3:
            return None
        outlines.append(_outline([points[v] for v in corners], corners, normal))
    edges = {edge for f in outlines for edge in zip(f, f[1:] + f[:1])}
    closed = all((b, a) in edges for a, b in edges) and len(edges) == sum(map(len, outlines))
    kept = len({v for f in outlines for v in f})
    return outlines if closed and kept - len(edges) // 2 + len(outlines) == 2 else None


def _outline(points, corners, normal) -> tuple[int, ...]:
    """Sort corners of a convex polygon counter-clockwise, starting where three of them span the largest triangle."""
    count = len(points)
    centre = [sum(p[i] for p in points) / count for i in range(3)]
    arms = [(p[0] - centre[0], p[1] - centre[1], p[2] - centre[2]) for p in points]
    u = max(arms, key=lambda a: a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    v = (normal[1] * u[2] - normal[2] * u[1], normal[2] * u[0] - normal[0] * u[2], normal[0] * u[1] - normal[1] * u[0])
    ring = []
    for a, corner in zip(arms, corners):
        x, y = a[0] * u[0] + a[1] * u[1] + a[2] * u[2], a[0] * v[0] + a[1] * v[1] + a[2] * v[2]
        ring.append((atan2(y, x), x, y, corner))
    ring.sort()
    areas = []
    for i, (_, x, y, _) in enumerate(ring):
        (_, x1, y1, _), (_, x2, y2, _) = ring[(i + 1) % count], ring[(i + 2) % count]
        areas.append((x1 - x) * (y2 - y) - (y1 - y) * (x2 - x))
    enough = 0.999 * max(areas)
    start = next(i for i, area in enumerate(areas) if area >= enough)
    return tuple(r[3] for r in ring[start:] + ring[:start])


def half_edge_neighbours(corner: np.ndarray, following: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (one, two) of faces that share an edge in opposite senses, each pair listed from both sides.

    `corner`, `following` and `face` list every edge of every face: its first and second vertex, and the number of the face.
    """
    count = int(corner.max()) + 1
    edge, opposite = corner * count + following, following * count + corner
    order = np.argsort(edge, kind="stable")
    place = np.searchsorted(edge[order], opposite, side="right") - 1  # the last face with that edge, if surfaces are not closed
    known = (place >= 0) & (edge[order[place]] == opposite)
    return face[known], face[order[place[known]]]


def face_normals(points: np.ndarray, corner: np.ndarray, following: np.ndarray, start: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return unit normals (nf, 3) of polygons (area vectors), whose edges begin at `start`; zero where a face has no area."""
    base = points[corner[start]][face]
    area = np.add.reduceat(cross(points[corner] - base, points[following] - base), start, axis=0)
    length = np.sqrt((area**2).sum(1, keepdims=True))
    return np.divide(area, length, out=np.zeros_like(area), where=length > 0.0)


def merged(points: np.ndarray, faces, surfaces: np.ndarray):
    """Merge coplanar neighbours that have the same surface identifier.

    Parameters
    ----------
    points : ndarray (nv, 3)
        Vertices.
    faces : tuple of tuples of int
        Faces, counter-clockwise from outside.
    surfaces : ndarray (nf,)
        Surface identifiers.

    Returns
    -------
    faces, surfaces
        The arguments themselves when there is nothing to merge.
    """
    counts = np.array([len(f) for f in faces])
    face, start = np.repeat(np.arange(len(faces)), counts), np.cumsum(counts) - counts
    corner, following = np.array([v for f in faces for v in f]), np.array([v for f in faces for v in f[1:] + f[:1]])
    one, two = half_edge_neighbours(corner, following, face)
    normals = face_normals(points, corner, following, start, face)
    near = (surfaces[one] == surfaces[two]) & (np.einsum("ij,ij->i", normals[one], normals[two]) > 0.99)
    if not near.any():
        return faces, surfaces
    one, two = one[near], two[near]
    each = ranges(start[two], counts[two])
    plane = np.repeat(one, counts[two])
    height = np.abs(((points[corner[each]] - points[corner[start[plane]]]) * normals[plane]).sum(1))
    flush = np.maximum.reduceat(height, np.cumsum(counts[two]) - counts[two]) <= COPLANAR * np.ptp(points, axis=0).max()
    if not flush.any():
        return faces, surfaces
    one, two = one[flush], two[flush]
    mutual = np.isin(one * len(faces) + two, two * len(faces) + one)
    if not mutual.any():
        return faces, surfaces
    labels = components(len(faces), one[mutual], two[mutual])
    first = np.unique(labels, return_index=True)[1]
    sums = np.zeros((len(first), 3))
    np.add.at(sums, labels, normals)
    sums /= np.sqrt((sums**2).sum(1, keepdims=True))
    outlines = polygons(points, labels, faces, sums)
    if outlines is None:
        return faces, surfaces
    return tuple(outlines), surfaces[first]
