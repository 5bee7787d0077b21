"""Meshes cut by a plane: elements that the plane passes through are split into tetrahedra, all others stay.

Nodes near the plane count as points of it, so that no flat elements arise; these nodes do not move, and the cut runs through them.  A
polyhedron is split into the tetrahedra between its first vertex and the triangles of the faces without this vertex, and
a face into triangles about its first vertex.  The first vertex has the lowest number, so two polyhedra split their common face alike.
A warped face whose corners lie above and below in turn is cut as two triangles, which the same rule gives to both elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tables import pointers_of, ranges
from .mesh import Mesh, concave_corners
from .mesh_parts import connected_parts, cut_along_faces
from .mesh_topology import MeshTopology, equal_faces
from .refined_elements import RefinedElements
from .split_mesh import hanging_together

NEAR_ENDS = (0.1, 0.05, 0.02, 0.2, 0.005, 0.0)  # parts of an edge: a plane that cuts the edge nearer to an end is moved to this end
NOTHING_NEW = np.zeros((0, 1), int), np.zeros((0, 1))


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
    sources, weights : ndarray (m, s)
        New nodes, which follow the old ones: nodes between which each lies, and their weights.  These are old ones, or points on edges
        between old ones.
    reach : float
        Greatest distance of the cut from the section of the plane, since it runs through nodes near the plane.
    """

    mesh: Mesh
    elements: np.ndarray
    above: np.ndarray
    sources: np.ndarray
    weights: np.ndarray
    reach: float = 0.0

    def interpolated(self, values: np.ndarray) -> np.ndarray:
        """Interpolate `values` (k, 3) at old nodes to values (n, 3) at all nodes."""
        result = np.zeros((len(self.mesh.nodes), 3))
        result[: len(values)] = values
        for _ in range(2):  # first where all sources are old
            result[len(values) :] = np.einsum("ms,msk->mk", self.weights, result[self.sources])
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
    heights = np.einsum("ni,i->n", mesh.nodes - point, normal)
    for near in NEAR_ENDS:
        signs, reach = _signs(mesh, heights, epsilon, near)
        result = _Refinement(mesh, np.where(signs == 0, 0.0, heights), signs).result()
        if result is not None:
            result.reach = reach
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
        Open only the part of the section that is connected through edges with the face at this point, up to ten epsilons and the
        distance of the cut from the plane.

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
    return cut if point is None else hanging_together(whole.mesh, cut, point, epsilon, whole.reach)


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
        pieces.append(Piece(Mesh(mesh.nodes.take(nodes, 0), part.topology, mesh.volume_ids[elements]), elements, nodes))
    return pieces


def _signs(mesh: Mesh, heights: np.ndarray, epsilon: float, near: float) -> tuple[np.ndarray, float]:
    """Return -1, 0 or 1 for nodes (n,) below, on and above the plane, and the greatest distance by which this moves the cut.

    Nodes near which an edge would be cut count as on the plane: a corner of the section moves along the edge to the node.
    """
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
    moved = np.maximum(np.where(signs[ends[:, 0]] == 0, place, 0.0), np.where(signs[ends[:, 1]] == 0, 1.0 - place, 0.0))[crossed]
    lengths = np.linalg.norm(mesh.nodes[ends[crossed, 0]] - mesh.nodes[ends[crossed, 1]], axis=1)
    return signs, float((moved * lengths).max(initial=0.0))


def _edges(topology: MeshTopology, faces: np.ndarray) -> np.ndarray:
    """Pairs of nodes (m, 2) that an edge of a face of the mask (nf,) joins."""
    face, size = topology.face_nodes[faces], topology.face_size[faces]
    ahead = np.take_along_axis(face, (np.arange(4) + 1) % size[:, None], 1)
    return np.stack((face[face >= 0], ahead[face >= 0]), 1)


class _Refinement:
    """The elements in their order, each whole or as its parts."""

    def __init__(self, mesh: Mesh, heights: np.ndarray, signs: np.ndarray):
        self.mesh, self.topology = mesh, mesh.topology
        self.heights, self.signs = heights, signs
        flat, start = signs[self.topology.element_nodes], self.topology.element_ptr[:-1]
        lowest, highest = np.minimum.reduceat(flat, start), np.maximum.reduceat(flat, start)
        self.crossed = (lowest < 0) & (highest > 0)
        self.above = highest > 0
        on_plane = (lowest == 0) & (highest == 0)
        if on_plane.any():  # thin elements in the plane
            middle = np.add.reduceat(heights[self.topology.element_nodes], start)
            self.above[on_plane] = middle[on_plane] > 0.0

    def result(self) -> Refined | None:
        """Return the refined mesh; None if some part would be flat."""
        topology, mesh = self.topology, self.mesh
        if not self.crossed.any():
            return Refined(mesh, np.arange(topology.element_count), self.above, *NOTHING_NEW)
        made = RefinedElements(mesh, self.heights, self.signs, self.crossed, self._beside(), self.above)
        return None if made.unsound else self._assembled(made)

    def _beside(self) -> np.ndarray:
        """Return whole elements that share a quadrilateral with a cut element, whose faces are split into triangles."""
        topology = self.topology
        quads = np.flatnonzero((topology.face_size == 4) & ~topology.boundary)
        beside = self.crossed[topology.face_element[topology.face_neighbour[quads]]]
        result = np.zeros(topology.element_count, bool)
        result[topology.face_element[quads[beside]]] = True
        return result & ~self.crossed

    def _assembled(self, made: RefinedElements) -> Refined:
        """Return the new mesh; parts of a face inherit its surface identifier."""
        topology, mesh = self.topology, self.mesh
        whole = np.ones(topology.element_count, bool)
        whole[made.elements] = False
        whole = np.flatnonzero(whole)
        part = made.part[:, : made.parts].T
        owners = np.concatenate((whole, made.elements[made.element[: made.parts]]))
        order = np.argsort(owners, kind="stable")
        sizes = np.concatenate((np.diff(topology.element_ptr)[whole], (part >= 0).sum(1)))
        behind = len(topology.element_nodes)
        start = np.concatenate((topology.element_ptr[whole], behind + np.cumsum(sizes[len(whole) :]) - sizes[len(whole) :]))
        nodes = np.concatenate((topology.element_nodes, part[part >= 0]))[ranges(start[order], sizes[order])]
        points = made.point[:, : made.points].T.copy()
        new = MeshTopology(len(points), pointers_of(sizes[order]), nodes)
        above = np.concatenate((self.above[whole], made.above[: made.parts] == 1))[order]
        result = Mesh(points, new.with_surfaces(self._surfaces(new, made)), mesh.volume_ids[owners[order]])
        self._check(result, part)
        return Refined(result, owners[order], above, *made.new_points())

    def _check(self, result: Mesh, part: np.ndarray) -> None:
        """Note which checks of the old mesh hold for the new one.

        Parts have volume, so only pyramids may be concave.  The Jacobian of a pyramid over a plane parallel to its base is bilinear: it is
        positive inside, and the pyramid unfolded, if no corner of the base is concave.
        """
        passed, known = self.topology.passed, result.topology.passed
        if "upright" in passed:
            known.add("upright")
        pyramids = part[part[:, 4] >= 0]
        pointers = 5 * np.arange(len(pyramids) + 1)
        if "convex" in passed and not concave_corners(result.nodes, pointers, pyramids.ravel())[0].size:
            known.update(passed & {"convex", "unfolded"})

    def _surfaces(self, new: MeshTopology, made: RefinedElements) -> np.ndarray:
        """Return surface identifiers of the faces of the new mesh."""
        topology = self.topology
        outer, listed = np.flatnonzero(topology.boundary), made.faces[made.of_face[: made.pieces]]
        rim = topology.boundary[listed]
        old = np.concatenate((outer, listed[rim]))
        wanted = np.flatnonzero(new.boundary)
        faces = np.concatenate((topology.face_nodes[outer], made.piece[:, : made.pieces].T[rim], new.face_nodes[wanted]))
        first = equal_faces(faces, new.node_count)[len(old) :]
        known = first < len(old)  # others are new
        result = np.zeros(len(new.face_size), np.int32)
        result[wanted[known]] = topology.face_surface[old[first[known]]]
        return result
