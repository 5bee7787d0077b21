"""Elements that fall apart where a plane cuts a mesh: what the kernel `crossed_elements` reads and makes."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Record, opened, pointers_of

MOST_SOURCES = 20  # of a new point: corners of an element, and points in which the plane cuts its edges
PIECES_OF_FACE = 8  # four triangles on each side
PARTS_OF_SECTION = 20  # tetrahedra over sections of one element, both sides

_refine_elements = _kernels.crossed_elements.refine_elements


class RefinedElements(Record):
    """Some elements of a mesh, their faces, the plane's place at the mesh's nodes, and the parts into which they fall.

    All numbers count from zero; -1: none.
    """

    COLUMNS = {
        "first": ((), "i4"),  # of elements: start of their faces, and the number of all faces
        "node_first": ((), "i4"),  # start of their nodes, and the number of all
        "crossed": ((), "i4"),  # 1: the plane crosses the element; 0: it crosses a neighbour
        "upper": ((), "i4"),  # 1: an element that is not crossed is above the plane
        "node": ((), "i4"),  # of these elements
        "corner": ((4,), "i4"),  # of faces; -1 after the third of a triangle
        "edge": ((4,), "i4"),  # from each corner to the next, where the plane cuts it
        "whole": ((), "i4"),  # 1: a quadrilateral that is not split where the element is not crossed
        "ends": ((2,), "i4"),  # of edges
        "cut": ((), "i4"),  # point on the edge
        "sign": ((), "i4"),  # of nodes: -1, 0, 1 below, on and above the plane
        "height": ((), "f8"),  # over the plane
        "point": ((3,), "f8"),  # nodes of the mesh, and room for new ones
        "sources": ((), "i4"),  # of points: number of points between which a new one lies
        "source": ((20,), "i4"),  # these; the new one is their mean, or for two of them at
        "place": ((), "f8"),  # between the first (0) and the second (1)
        "part": ((5,), "i4"),  # of parts: their nodes
        "element": ((), "i4"),  # position of their element
        "above": ((), "i4"),  # 1: they are above the plane
        "piece": ((4,), "i4"),  # of pieces of faces: their nodes
        "of_face": ((), "i4"),  # position of their face
    }
    NUMBERS = {
        "points": "i4",  # of the mesh, and new ones
        "parts": "i4",
        "pieces": "i4",
        "unsound": "i4",  # 1: a part would be flat, or does not close
    }

    def __init__(self, mesh, heights: np.ndarray, signs: np.ndarray, crossed: np.ndarray, beside: np.ndarray, above: np.ndarray):
        topology = mesh.topology
        super().__init__(sign=signs.astype(np.int32), height=heights)
        self.elements = np.flatnonzero(crossed | beside)
        listed = np.zeros(topology.element_count, bool)
        listed[self.elements] = True
        self.faces = np.flatnonzero(listed[topology.face_element])
        sizes, face_sizes = np.diff(topology.element_ptr), topology.face_size[self.faces]
        corner = topology.face_nodes[self.faces]
        other = topology.face_neighbour[self.faces]
        split = (other >= 0) & crossed[topology.face_element[other]]
        ahead = np.take_along_axis(corner, (np.arange(4) + 1) % face_sizes[:, None], 1)
        cut = (corner >= 0) & (signs[corner] * signs[ahead] < 0)
        pairs = np.sort(np.stack((corner[cut], ahead[cut]), 1), 1)
        key, number = np.unique(pairs[:, 0].astype(np.int64) * topology.node_count + pairs[:, 1], return_inverse=True)
        edge = np.full(corner.shape, -1)
        edge[cut] = number
        self.node_count = len(mesh.nodes)
        points = self.node_count + len(key) + 2 * len(self.elements)
        parts = PIECES_OF_FACE * len(self.faces) + PARTS_OF_SECTION * len(self.elements)
        place, source = np.empty((3, points), order="F"), np.empty((MOST_SOURCES, points), np.int32, order="F")
        place[:, : self.node_count] = mesh.nodes.T
        source[:, self.node_count :] = 0
        part, piece = (np.empty((size, count), np.int32, order="F") for size, count in ((5, parts), (4, PIECES_OF_FACE * len(self.faces))))
        self.replace(
            first=pointers_of(np.bincount(topology.face_element[self.faces], minlength=topology.element_count)[self.elements], np.int32),
            node_first=pointers_of(sizes[self.elements], np.int32), crossed=crossed[self.elements].astype(np.int32), upper=above[self.elements].astype(np.int32),
            node=topology.element_nodes[np.repeat(listed, sizes)].astype(np.int32), corner=_columns(corner), edge=_columns(edge),
            whole=((face_sizes == 4) & ~split).astype(np.int32), ends=_columns(np.stack(np.divmod(key, topology.node_count), 1)),
            cut=np.full(len(key), -1, np.int32), point=place, sources=np.zeros(points, np.int32),
            source=source, place=np.zeros(points), part=part, element=np.empty(parts, np.int32), above=np.empty(parts, np.int32),
            piece=piece, of_face=np.empty(piece.shape[1], np.int32),
        )  # fmt: skip
        self.points = self.node_count
        opened(_refine_elements(self.handle))

    def new_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Return points (m, s) between which each new node of the mesh lies, and their weights, 0 where there are fewer."""
        new = slice(self.node_count, self.points)
        count, place = self.sources[new, None], self.place[new]
        most = int(count.max(initial=2))
        weight = np.where(np.arange(most) < count, 1.0 / count, 0.0)
        on_edge = place > 0.0
        weight[on_edge, 0], weight[on_edge, 1] = 1.0 - place[on_edge], place[on_edge]
        return self.source[:most, new].T, weight


def _columns(rows: np.ndarray) -> np.ndarray:
    """Rows (n, k) as columns of a record."""
    return np.asfortranarray(rows.T.astype(np.int32))
