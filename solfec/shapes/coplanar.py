"""Merging coplanar neighbouring faces of a convex polyhedron into polygons.

Contact facets are weighted by their areas squared, and clipping by nearly equal planes is ill-conditioned; both
ask that every flat part of a polyhedron's surface be one polygon.
"""

from __future__ import annotations

import numpy as np

COPLANAR = 1e-9  # distance from a neighbour's plane, relative to the size, within which faces are coplanar


def components(count: int, pairs) -> np.ndarray:
    """Label `count` items by connected component; labels ascend with the first item of each component."""
    parent = list(range(count))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for one, two in pairs:
        one, two = root(one), root(two)
        parent[max(one, two)] = min(one, two)
    return np.unique([root(item) for item in range(count)], return_inverse=True)[1]


def polygons(points: np.ndarray, labels: np.ndarray, faces, normals: np.ndarray):
    """Outline each group of coplanar faces.

    Parameters
    ----------
    points : ndarray (nv, 3)
        Vertices of a convex polyhedron.
    labels : ndarray (nf,)
        Group of every face.
    faces : sequence of sequences of int
        Vertex numbers of faces.
    normals : ndarray (ng, 3)
        Unit outward normal of every group.

    Returns
    -------
    list of tuples or None
        Corners of every group, counter-clockwise from outside.  Vertices inside a group or inside an edge between
        two groups are dropped.  None when the outlines do not form a closed polyhedral surface.
    """
    members: list[set] = [set() for _ in range(len(normals))]
    for label, face in zip(labels, faces):
        members[label].update(face)
    met = np.zeros(len(points), int)
    for group in members:
        met[list(group)] += 1
    outlines = []
    for group, normal in zip(members, normals):
        corners = np.array(sorted(v for v in group if met[v] > 2))
        if len(corners) < 3:
            return None
        outlines.append(_outline(points[corners], corners, normal))
    edges = {edge for f in outlines for edge in zip(f, f[1:] + f[:1])}
    closed = all((b, a) in edges for a, b in edges) and len(edges) == sum(map(len, outlines))
    kept = len({v for f in outlines for v in f})
    return outlines if closed and kept - len(edges) // 2 + len(outlines) == 2 else None


def _outline(points: np.ndarray, corners: np.ndarray, normal: np.ndarray) -> tuple[int, ...]:
    """Sort corners of a convex polygon counter-clockwise, starting where three of them span the largest triangle."""
    arms = points - points.mean(0)
    first = arms[np.argmax((arms**2).sum(1))]
    first = first - (first @ normal) * normal
    second = np.array(
        [
            normal[1] * first[2] - normal[2] * first[1],
            normal[2] * first[0] - normal[0] * first[2],
            normal[0] * first[1] - normal[1] * first[0],
        ]
    )
    x, y = arms @ first, arms @ second
    order = np.argsort(np.arctan2(y, x), kind="stable")
    x, y = x[order], y[order]
    x1, y1, x2, y2 = np.roll(x, -1) - x, np.roll(y, -1) - y, np.roll(x, -2) - x, np.roll(y, -2) - y
    area = x1 * y2 - y1 * x2
    start = int(np.argmax(area > 0.999 * area.max()))
    order = np.roll(order, -start)
    return tuple(corners[order].tolist())


def half_edge_neighbours(faces) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (one, two) of faces sharing an edge in opposite senses, each pair listed from both sides."""
    owner = {}
    for number, face in enumerate(faces):
        for edge in zip(face, face[1:] + face[:1]):
            owner[edge] = number
    pairs = [(number, owner[b, a]) for (a, b), number in owner.items() if (b, a) in owner]
    table = np.array(pairs, np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def face_normals(points: np.ndarray, faces) -> np.ndarray:
    """Unit normals (nf, 3) of polygons (area vectors); zero where a face has no area."""
    counts = np.array([len(f) for f in faces])
    flat = np.array([v for f in faces for v in f])
    following = np.array([v for f in faces for v in f[1:] + f[:1]])
    start = np.cumsum(counts) - counts
    base = points[np.repeat(flat[start], counts)]
    area = np.add.reduceat(np.cross(points[flat] - base, points[following] - base), start, axis=0)
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
    one, two = half_edge_neighbours(faces)
    normals = face_normals(points, faces)
    near = (surfaces[one] == surfaces[two]) & (np.einsum("ij,ij->i", normals[one], normals[two]) > 0.99)
    if not near.any():
        return faces, surfaces
    tolerance = COPLANAR * np.ptp(points, axis=0).max()
    height = {}
    for f, g in zip(one[near].tolist(), two[near].tolist()):
        height[f, g] = np.abs((points[list(faces[g])] - points[faces[f][0]]) @ normals[f]).max()
    pairs = [(f, g) for f, g in height if f < g and max(height[f, g], height.get((g, f), np.inf)) <= tolerance]
    if not pairs:
        return faces, surfaces
    labels = components(len(faces), pairs)
    first = np.unique(labels, return_index=True)[1]
    sums = np.zeros((len(first), 3))
    np.add.at(sums, labels, normals)
    sums /= np.sqrt((sums**2).sum(1, keepdims=True))
    outlines = polygons(points, labels, faces, sums)
    if outlines is None:
        return faces, surfaces
    return tuple(outlines), surfaces[first]
