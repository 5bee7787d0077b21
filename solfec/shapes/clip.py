"""Cutting triangulated solids by a plane, with a band round the plane in which vertices count as lying on it."""

from __future__ import annotations

import numpy as np

from .mesh import Mesh


class Clipper:
    """A plane that cuts edges, and the numbered points of these cuts.

    Parameters
    ----------
    points : ndarray (n, 3)
        Vertices, in units of length.
    heights : ndarray (n,)
        Signed distances from the plane.
    epsilon : float
        Vertices not farther than this from the plane lie on it.
    """

    def __init__(self, points: np.ndarray, heights: np.ndarray, epsilon: float):
        self.heights = heights.tolist()
        self.sign = np.where(np.abs(heights) <= epsilon, 0, np.sign(heights)).astype(int).tolist()
        self._points = points.tolist()
        self._of_edge: dict[tuple[int, int], int] = {}

    @property
    def points(self) -> np.ndarray:
        """All vertices (m, 3), new ones last."""
        return np.array(self._points)

    def add(self, point) -> int:
        """Number of a new vertex on the plane."""
        self._points.append(list(point))
        self.sign.append(0)
        return len(self._points) - 1

    def on_edge(self, a: int, b: int) -> int:
        """Number of the point where the plane cuts an edge."""
        key = (min(a, b), max(a, b))
        if key not in self._of_edge:
            a, b = key
            t = self.heights[a] / (self.heights[a] - self.heights[b])
            p, q = self._points[a], self._points[b]
            self._of_edge[key] = self.add([u + t * (v - u) for u, v in zip(p, q)])
        return self._of_edge[key]

    def half(self, face, side: int) -> list[int]:
        """The part of a convex polygon on one side (-1 below, 1 above); empty when it only touches the plane."""
        signs = [self.sign[v] for v in face]
        if side not in signs:
            return []
        if -side not in signs:
            return list(face)
        result = []
        for v, w, s, t in zip(face, [*face[1:], face[0]], signs, [*signs[1:], signs[0]]):
            if s != -side:
                result.append(v)
            if s * t < 0:
                result.append(self.on_edge(v, w))
        return result


def open_edges(faces) -> list[tuple[int, int]]:
    """Return directed edges of polygons without a partner of opposite sense, in their order."""
    edges = {}
    for face in faces:
        for a, b in zip(face, [*face[1:], face[0]]):
            if edges.pop((b, a), None) is None:
                edges[a, b] = True
    return list(edges)


def fans(face) -> list[tuple[int, int, int]]:
    """Triangles of a convex polygon."""
    return [(face[0], face[i], face[i + 1]) for i in range(1, len(face) - 1)]


def element_triangles(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Outward triangles (nt, 3) of all element faces, and their face rows (nt,).

    Quadrilaterals are cut from their node of lowest number, so that two elements cut a common face along the same diagonal.
    """
    topology = mesh.topology
    quad = topology.face_size == 4
    corners = topology.face_nodes[quad]
    turn = (np.argmin(corners, axis=1)[:, None] + np.arange(4)) % 4
    corners = np.take_along_axis(corners, turn, axis=1)
    triangles = np.concatenate((topology.face_nodes[~quad, :3], corners[:, :3], corners[:, [0, 2, 3]]))
    rows = np.concatenate((np.flatnonzero(~quad), np.flatnonzero(quad), np.flatnonzero(quad)))
    order = np.argsort(rows, kind="stable")
    return triangles[order], rows[order]
