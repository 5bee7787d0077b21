"""Meshes cut by a plane: elements that the plane passes through are split into tetrahedra, all others stay.

Nodes near the plane count as points of it, so that no flat elements arise; these nodes do not move, and the cut runs through them.  A
polyhedron is split into the tetrahedra between its first vertex and the triangles of the faces without this vertex, and
a face into triangles about its first vertex.  The first vertex has the lowest number, so two polyhedra split their common face alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .clip import Clipper, fans, open_edges
from .mesh import Mesh
from .mesh_parts import connected_parts, cut_along_faces
from .mesh_topology import MeshTopology
from .split_mesh import hanging_together

NEAR_ENDS = (0.1, 0.05, 0.02, 0.2, 0.005, 0.0)  # parts of an edge: a plane that cuts the edge nearer to an end is moved to this end
FLATTEST = 1e-6  # least volume of a tetrahedron over the cube of its size


@dataclass
class Piece:
    """A part of a mesh, with the elements and nodes from which it comes.

    Attributes
    ----------
    mesh : Mesh
    elements, nodes : ndarray (ne,), (n,)
        Numbers in the whole mesh of the part's elements and nodes.
    """

    mesh: Mesh
    elements: np.ndarray
    nodes: np.ndarray


@dataclass
class Refined:
    """A mesh whose elements lie on one side of a plane each.

    Attributes
    ----------
    mesh : Mesh
    elements : ndarray (ne,)
        Element of the old mesh of which each element is a part.
    above : ndarray (ne,) of bool
        Elements above the plane.
    new : list of (numbers, weights)
        New nodes, which follow the old ones: numbers and weights of the earlier nodes between which each lies.
    """

    mesh: Mesh
    elements: np.ndarray
    above: np.ndarray
    new: list

    def interpolated(self, values: np.ndarray) -> np.ndarray:
        """Interpolate `values` at old nodes to values (n, ...) at all nodes."""
        result = np.empty((len(self.mesh.nodes), *values.shape[1:]))
        result[: len(values)] = values
        for number, (nodes, weights) in enumerate(self.new, len(values)):
            result[number] = np.tensordot(weights, result[nodes], 1)
        return result


def refined(mesh: Mesh, point, normal, epsilon: float) -> Refined:
    """Cut the elements that a plane passes through.

    Parameters
    ----------
    mesh : Mesh
        Not changed.
    point, normal : ndarray (3,)
        The plane; the normal has unit length and points up.
    epsilon : float
        Nodes not farther than this from the plane lie on it.

    Raises
    ------
    ValueError
        Elements so distorted that every way to cut them gives flat parts.
    """
    heights = (mesh.nodes - point) @ normal
    for near in NEAR_ENDS:
        signs = _signs(mesh, heights, epsilon, near)
        result = _Refinement(mesh, np.where(signs == 0, 0.0, heights), signs).result()
        if result is not None:
            return result
    raise ValueError("the plane cuts elements into flat parts; move it, or use elements of a better shape")


def separated(whole: Refined, identifiers, point=None, epsilon: float = 1e-6) -> list[Piece] | None:
    """Open the faces between elements above and below, into connected parts.

    Parameters
    ----------
    whole : Refined
        Not changed.
    identifiers : (int, int)
        Surface identifiers of new faces that look up (of lower parts) and down (of upper parts).
    point : ndarray (3,), optional
        Open only the part of the section that is connected through edges with the face within ten epsilons of this point.

    Returns
    -------
    list of Piece or None
        Pieces below the plane first; one piece if an opened section ends inside; None if no face opens.
    """
    topology = whole.mesh.topology
    cut, side = _between(whole, point, epsilon), whole.above[topology.face_element]
    surface = topology.face_surface.copy()
    surface[cut] = np.where(side[cut], identifiers[1], identifiers[0])
    pieces = along_faces(whole.mesh, cut, surface, whole.above)
    return pieces and sorted(pieces, key=lambda piece: bool(whole.above[piece.elements].all()))


def _between(whole: Refined, point, epsilon: float) -> np.ndarray:
    """Mask (nf,) of the faces between elements above and below; with a `point`, of those connected with it."""
    topology = whole.mesh.topology
    side = whole.above[topology.face_element]
    inner = ~topology.boundary
    cut = np.zeros(len(side), bool)
    cut[inner] = side[inner] != side[topology.face_neighbour[inner]]
    return cut if point is None else hanging_together(whole.mesh, cut, point, epsilon)


def section(whole: Refined, point=None, epsilon: float = 1e-6) -> tuple[np.ndarray, np.ndarray]:
    """Return middles (n, 3) of the triangles in which the plane meets elements of the old mesh, and these elements (n,).

    Triangles between two elements are listed for both; see `separated` for `point`.
    """
    mesh, topology = whole.mesh, whole.mesh.topology
    faces = np.flatnonzero(_between(whole, point, epsilon))
    corners = topology.face_nodes[faces]
    quads = corners[:, 3] >= 0
    middles = mesh.nodes[np.concatenate((corners[:, :3], corners[quads][:, [0, 2, 3]]))].mean(1)
    elements = whole.elements[topology.face_element[np.concatenate((faces, faces[quads]))]]
    keys = np.column_stack((elements, np.round(middles, 12)))  # a cut through one element lists each triangle from both sides
    first = np.sort(np.unique(keys, axis=0, return_index=True)[1])
    return middles[first], elements[first]


def along_faces(mesh: Mesh, cut: np.ndarray, surface: np.ndarray, second: np.ndarray) -> list[Piece] | None:
    """Open faces as `cut_along_faces` does, and return its meshes as Pieces."""
    numbered = np.column_stack((mesh.nodes, np.arange(len(mesh.nodes))))  # node numbers are carried along as a fourth coordinate
    marked = Mesh(numbered, mesh.topology, np.arange(mesh.topology.element_count))
    parts = cut_along_faces(marked, cut, surface, second) if cut.any() else connected_parts(marked)
    if parts is None or len(parts) == 1 and not cut.any():
        return None
    pieces = []
    for part in parts:
        elements, nodes = part.volume_ids, part.nodes[:, 3].astype(int)
        pieces.append(Piece(Mesh(mesh.nodes[nodes], part.topology, mesh.volume_ids[elements]), elements, nodes))
    return pieces


def _signs(mesh: Mesh, heights: np.ndarray, epsilon: float, near: float) -> np.ndarray:
    """-1, 0 or 1 for nodes (n,) below, on and above the plane; nodes near which an edge would be cut count as on it."""
    signs = np.where(np.abs(heights) <= epsilon, 0, np.sign(heights)).astype(int)
    topology = mesh.topology
    flat, start = signs[topology.element_nodes], topology.element_ptr[:-1]
    met = (np.minimum.reduceat(flat, start) < 0) & (np.maximum.reduceat(flat, start) > 0)
    ends = _edges(topology, met[topology.face_element])
    one, two = heights[ends].T
    crossed = signs[ends[:, 0]] * signs[ends[:, 1]] < 0
    place = np.divide(one, one - two, out=np.full(len(ends), 0.5), where=crossed)
    signs[ends[crossed & (place < near), 0]] = 0
    signs[ends[crossed & (place > 1.0 - near), 1]] = 0
    return signs


def _edges(topology: MeshTopology, faces: np.ndarray) -> np.ndarray:
    """Pairs of nodes (m, 2) that an edge of a face of the mask (nf,) joins."""
    face, size = topology.face_nodes[faces], topology.face_size[faces]
    ahead = np.take_along_axis(face, (np.arange(4) + 1) % size[:, None], 1)
    return np.stack((face[face >= 0], ahead[face >= 0]), 1)


class _Refinement:
    """The elements in their order, each whole or as its parts."""

    def __init__(self, mesh: Mesh, heights: np.ndarray, signs: np.ndarray):
        self.mesh, self.topology = mesh, mesh.topology
        self.heights = heights
        flat, start = signs[self.topology.element_nodes], self.topology.element_ptr[:-1]
        lowest, highest = np.minimum.reduceat(flat, start), np.maximum.reduceat(flat, start)
        self.crossed = (lowest < 0) & (highest > 0)
        self.above = highest > 0
        on_plane = (lowest == 0) & (highest == 0)
        if on_plane.any():  # thin elements in the plane
            middle = np.add.reduceat(heights[self.topology.element_nodes], start)
            self.above[on_plane] = middle[on_plane] > 0.0
        self.centres: dict[int, tuple] = {}
        self.sound = True

    def result(self) -> Refined | None:
        """Return the refined mesh; None if some part would be flat."""
        topology, mesh = self.topology, self.mesh
        if not self.crossed.any():
            return Refined(mesh, np.arange(topology.element_count), self.above, [])
        self.clipper = Clipper(mesh.nodes, self.heights, 0.0)
        fallen = self._beside()
        nodes, owners, sides, faces = [], [], [], {}
        ptr = topology.face_element.searchsorted(np.arange(topology.element_count + 1))
        for element in range(topology.element_count):
            if not (self.crossed[element] or fallen[element]):
                nodes.append(topology.nodes_of(element))
                owners.append(element)
                sides.append(bool(self.above[element]))
                continue
            rows = range(int(ptr[element]), int(ptr[element + 1]))
            if self.crossed[element]:
                halves = [(self._half(rows, side, faces), side > 0) for side in (-1, 1)]
            else:
                halves = [(self._transition(element, rows, faces), bool(self.above[element]))]
            for parts, side in halves:
                nodes += parts
                owners += [element] * len(parts)
                sides += [side] * len(parts)
        return self._assembled(nodes, np.array(owners), np.array(sides), faces) if self.sound else None

    def _beside(self) -> np.ndarray:
        """Return whole elements that share a quadrilateral with a cut element, whose faces are split into triangles."""
        topology = self.topology
        quads = np.flatnonzero((topology.face_size == 4) & ~topology.boundary)
        beside = self.crossed[topology.face_element[topology.face_neighbour[quads]]]
        result = np.zeros(topology.element_count, bool)
        result[topology.face_element[quads[beside]]] = True
        return result & ~self.crossed

    def _face(self, row: int) -> list[int]:
        return self.topology.face_nodes[row, : self.topology.face_size[row]].tolist()

    def _half(self, rows, side: int, faces: dict) -> list[list[int]]:
        """Tetrahedra of the part of an element on one side."""
        polygons = []
        for row in rows:
            part = self.clipper.half(self._face(row), side)
            if part:
                polygons.append(part)
                for triangle in _triangles(part):
                    faces[tuple(sorted(triangle))] = row
        loops = _loops(open_edges(polygons))
        if loops is None:
            self.sound = False
            return []
        return self._filled(polygons + loops)

    def _transition(self, element: int, rows, faces: dict) -> list[list[int]]:
        """Pyramids and tetrahedra between the centre of an element and its faces, some of which are split into triangles."""
        topology = self.topology
        nodes = topology.nodes_of(element)
        centre = self._centre(nodes)
        parts = []
        for row in rows:
            face, other = self._face(row), topology.face_neighbour[row]
            whole = len(face) == 4 and (other < 0 or not self.crossed[topology.face_element[other]])
            for piece in [face] if whole else _triangles(face):
                faces[tuple(sorted(piece))] = row
                parts.append([*piece[::-1], centre])
        return parts

    def _centre(self, corners: list[int]) -> int:
        number = self.clipper.add(np.mean(self.clipper.corners(corners), axis=0).tolist())
        self.centres[number] = (list(corners), np.full(len(corners), 1.0 / len(corners)))
        return number

    def _filled(self, polygons: list[list[int]]) -> list[list[int]]:
        """Tetrahedra of a polyhedron: from its first vertex or, where these are flat, from its centre."""
        first = min(min(polygon) for polygon in polygons)
        parts = [[*triangle[::-1], first] for polygon in polygons if first not in polygon for triangle in _triangles(polygon)]
        if parts and not self._flat(parts):
            return parts
        corners = sorted({vertex for polygon in polygons for vertex in polygon})
        centre = self._centre(corners)
        parts = [[*triangle[::-1], centre] for polygon in polygons for triangle in _triangles(polygon)]
        self.sound = self.sound and not self._flat(parts)
        return parts

    def _flat(self, parts) -> bool:
        points = np.array([self.clipper.corners(part) for part in parts])
        sides = points[:, 1:] - points[:, :1]
        size = np.ptp(points, axis=1).max(1)
        return bool((np.linalg.det(sides) / 6.0 <= FLATTEST * size**3).any())

    def _assembled(self, nodes: list, owners: np.ndarray, sides: np.ndarray, faces: dict) -> Refined:
        """Return the new mesh; parts of a face inherit its surface identifier."""
        topology = self.topology
        pointers = np.concatenate(([0], np.cumsum([len(part) for part in nodes])))
        points = self.clipper.points
        made = MeshTopology(len(points), pointers, np.concatenate(nodes))
        surface = np.zeros(len(made.face_size), np.int32)
        outer = np.flatnonzero(topology.boundary)
        old = dict(zip(map(tuple, np.sort(topology.face_nodes[outer], 1).tolist()), outer.tolist()))
        for row in np.flatnonzero(made.boundary).tolist():
            key = tuple(sorted(made.face_nodes[row].tolist()))
            number = faces.get(key[1:] if key[0] < 0 else key, old.get(key))
            if number is not None:
                surface[row] = topology.face_surface[number]
        new: list = [None] * (len(points) - len(self.mesh.nodes))
        for number, a, b, place in self.clipper.cuts:
            new[number - len(self.mesh.nodes)] = (np.array([a, b]), np.array([1.0 - place, place]))
        for number, (corners, weights) in self.centres.items():
            new[number - len(self.mesh.nodes)] = (np.array(corners), weights)
        mesh = Mesh(points, made.with_surfaces(surface), self.mesh.volume_ids[owners])
        return Refined(mesh, owners, sides, new)


def _triangles(polygon: list[int]) -> list[tuple[int, int, int]]:
    """A polygon's triangles about its vertex of the lowest number."""
    start = polygon.index(min(polygon))
    return fans(polygon[start:] + polygon[:start])


def _loops(edges) -> list[list[int]] | None:
    """The polygons that close open edges, seen from outside; None if the edges do not form simple loops."""
    before: dict[int, int] = {}
    for a, b in edges:
        if b in before:
            return None
        before[b] = a
    loops = []
    while before:
        first, at = before.popitem()
        loop = [first]
        while at != first:
            loop.append(at)
            if at not in before:
                return None
            at = before.pop(at)
        if len(loop) > 2:
            loops.append(loop)
    return loops
