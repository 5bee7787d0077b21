"""Connectivity of a mesh: elements, their faces, boundary and neighbours."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..element_types import ELEMENT_TYPES, MOST_FACES, MOST_NODES
from ..tables import pointers_of
from .identifiers import INTERNAL_FACE

FACES_OF_SIZE = np.zeros(MOST_NODES + 1, np.int32)  # of the element type with so many nodes
CORNERS_OF_SIZE = np.full((4, MOST_FACES, MOST_NODES + 1), -1, np.int32, order="F")  # which nodes of such an element are corners of a face
for _kind in ELEMENT_TYPES:
    FACES_OF_SIZE[_kind.size] = len(_kind.faces)
    for _index, _face in enumerate(_kind.faces):
        CORNERS_OF_SIZE[: len(_face), _index, _kind.size] = _face

SAME = 1e-12  # part of a mesh's size by which nodes of meshes of the same shape may differ


class MeshTopology:
    """Elements of a mesh and their faces; it is constant, so copies of a mesh share it.

    Parameters
    ----------
    node_count : int
        Number of nodes.
    element_ptr : ndarray (ne + 1,)
        Start of each element's nodes in `element_nodes`.
    element_nodes : ndarray
        Node numbers of all elements, one element after another.

    Attributes
    ----------
    face_element, face_index, face_size : ndarray (nf,) int32
        Element, face index in it, and number of nodes (3 or 4) of every element face; sorted by element and index.
    face_nodes : ndarray (nf, 4) int32
        Node numbers, -1 after the third of a triangle.
    face_neighbour : ndarray (nf,) int32
        The same face seen from the neighbouring element; -1 on the boundary.
    face_surface : ndarray (nf,) int32
        Surface identifier; `INTERNAL_FACE` off the boundary.
    contact : dict
        Results of `primitives.mesh_columns`, valid up to rigid motion and uniform scaling of the nodes.

    passed : set of str
        Checks that the nodes have passed: 'upright' (no coinciding nodes, no inversion), 'convex', 'unfolded' (volume at all
        quadrature points).
    warned : bool
        Whether a warning about concave elements has been given.
    shared : dict
        Results that depend on elements and surfaces alone; equal topologies share them.

    Raises
    ------
    ValueError
        When a face belongs to three or more elements.
    """

    def __init__(self, node_count: int, element_ptr: np.ndarray, element_nodes: np.ndarray):
        self.node_count = node_count
        self.element_ptr = element_ptr
        self.element_nodes = element_nodes
        self.contact = {}
        self.shared = {}
        self.passed: set[str] = set()
        self.warned = False
        self._triangles = None
        self._list_faces()
        self._match_faces()
        self.face_surface = np.where(self.boundary, 0, INTERNAL_FACE).astype(np.int32)

    @property
    def element_count(self) -> int:
        """Number of elements."""
        return len(self.element_ptr) - 1

    @property
    def boundary(self) -> np.ndarray:
        """Mask (nf,) of faces on the boundary."""
        return self.face_neighbour < 0

    @property
    def outer_faces(self) -> tuple[np.ndarray, np.ndarray]:
        """Node numbers of triangles (nt, 3) and quadrilaterals (nq, 4) on the boundary."""
        if "outer faces" not in self.shared:
            faces = self.face_nodes[self.boundary]
            self.shared["outer faces"] = faces[faces[:, 3] < 0, :3], faces[faces[:, 3] >= 0]
        return self.shared["outer faces"]

    @property
    def surface_elements(self) -> np.ndarray:
        """Elements with a boundary face, ascending."""
        present = np.zeros(self.element_count, bool)
        present[self.face_element[self.boundary]] = True
        return np.flatnonzero(present)

    @property
    def triangles(self) -> np.ndarray:
        """Node numbers (nt, 3) of triangles of the boundary, fans about each face's first node.

        Faces between elements are left out: two elements may cut a face that is not plane along different diagonals.
        """
        if self._triangles is None:
            faces, quads = self.face_nodes[self.boundary], self.face_nodes[self.boundary & (self.face_size == 4)]
            self._triangles = np.concatenate((faces[:, :3], quads[:, (0, 2, 3)]))
        return self._triangles

    def nodes_of(self, element: int) -> list[int]:
        """Node numbers of one element."""
        return self.element_nodes[self.element_ptr[element] : self.element_ptr[element + 1]].tolist()

    def with_surfaces(self, face_surface: np.ndarray) -> MeshTopology:
        """Return a topology with equal elements and other surface identifiers (nf,)."""
        other = self.renewed()
        other.shared = {}
        other.face_surface = np.where(self.boundary, face_surface, INTERNAL_FACE).astype(np.int32)
        return other

    def renewed(self) -> MeshTopology:
        """Return a copy without results that depend on the shape of the nodes."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), contact={})
        other.passed, other.warned = set(), False
        return other

    def recall_checks(self, nodes: np.ndarray) -> None:
        """Take over what nodes of the same shape elsewhere have passed; both share what one of them passes from now on."""
        relative = nodes - nodes[0]
        known = self.shared.get("shape")
        if known is None or not np.abs(relative - known[0]).max() <= SAME * np.abs(relative).max():
            known = self.shared["shape"] = relative, set()
        self.passed = known[1]

    def mirrored(self) -> MeshTopology:
        """Return the topology with mirrored elements; boundary faces keep their surface identifiers."""
        nodes = np.empty_like(self.element_nodes)
        sizes = np.diff(self.element_ptr)
        for kind in ELEMENT_TYPES:
            start = self.element_ptr[:-1][sizes == kind.size, None]
            nodes[start + np.arange(kind.size)] = self.element_nodes[start + np.array(kind.mirror)]
        other = MeshTopology(self.node_count, self.element_ptr, nodes)
        surfaces = {key: s for key, s in zip(map(tuple, _keys(self.face_nodes).tolist()), self.face_surface)}
        keys = map(tuple, _keys(other.face_nodes).tolist())
        return other.with_surfaces(np.array([surfaces[key] for key in keys], np.int32))

    def node_keys(self) -> np.ndarray:
        """Sorted node numbers (nf, 4) of faces, -1 first for triangles."""
        return _keys(self.face_nodes)

    def opened(self, node_count: int, element_nodes: np.ndarray, cut: np.ndarray, face_surface: np.ndarray) -> MeshTopology:
        """Return a topology of the same elements with copies of some nodes; faces of the mask `cut` (nf,) that do not share them become boundary.

        `face_surface` (nf,) are surface identifiers.  What the elements' nodes have passed still holds.
        """
        other = self.renewed()
        other.node_count, other.element_nodes = node_count, element_nodes
        moved = np.zeros(self.element_count, bool)
        moved[np.repeat(np.arange(self.element_count), np.diff(self.element_ptr))[element_nodes != self.element_nodes]] = True
        other.face_nodes = self.face_nodes.copy()
        other.face_nodes[moved[self.face_element]] = _faces_of(self.element_ptr, element_nodes, np.flatnonzero(moved))[2]
        other.face_neighbour = self.face_neighbour.copy()
        rows = np.flatnonzero(cut)
        apart = (_keys(other.face_nodes[rows]) != _keys(other.face_nodes[self.face_neighbour[rows]])).any(1)
        other.face_neighbour[rows[apart]] = -1
        return self._pass_on(other, face_surface)

    def part(self, chosen: np.ndarray, numbers: np.ndarray, node_count: int, face_surface: np.ndarray) -> MeshTopology:
        """Return the topology of the elements of a mask (ne,); faces towards others become boundary.

        `numbers` are new numbers of nodes, by old ones; `face_surface` (nf,) surface identifiers of all faces.  What the elements' nodes
        have passed still holds.
        """
        sizes = np.diff(self.element_ptr)
        other = self.renewed()
        other.node_count, other.element_ptr = node_count, pointers_of(sizes[chosen])
        other.element_nodes = numbers[self.element_nodes[np.repeat(chosen, sizes)]]
        faces = np.flatnonzero(chosen[self.face_element])
        place, behind = np.full(len(self.face_element) + 1, -1, np.int32), np.append(numbers, -1).astype(np.int32)  # number -1, no node or face, stays -1
        place[faces] = np.arange(len(faces))
        other.face_element = (np.cumsum(chosen, dtype=np.int32) - 1)[self.face_element[faces]]
        other.face_index, other.face_size = self.face_index[faces], self.face_size[faces]
        other.face_nodes = behind.take(self.face_nodes.take(faces, 0))  # in a quarter of the time of an index
        other.face_neighbour = place[self.face_neighbour[faces]]
        return self._pass_on(other, face_surface[faces])

    def _pass_on(self, other: MeshTopology, face_surface: np.ndarray) -> MeshTopology:
        """Complete a topology of elements of this one."""
        other._triangles = None
        result = other.with_surfaces(face_surface)
        result.passed = set(self.passed)
        return result

    def _list_faces(self) -> None:
        element, index, nodes = _faces_of(self.element_ptr, self.element_nodes, np.arange(self.element_count))
        self.face_element, self.face_index, self.face_nodes = element, index, nodes
        self.face_size = np.where(self.face_nodes[:, 3] < 0, 3, 4).astype(np.int32)

    def _match_faces(self) -> None:
        first = equal_faces(self.face_nodes, self.node_count)
        self.face_neighbour = np.full(len(first), -1, np.int32)
        second = np.flatnonzero(first != np.arange(len(first)))
        self.face_neighbour[second] = first[second]
        self.face_neighbour[first[second]] = second
        third = second[self.face_neighbour[first[second]] != second]
        if third.size:
            nodes = [n for n in self.face_nodes[first[third[0]]].tolist() if n >= 0]
            raise ValueError(f"the face with nodes {nodes} belongs to more than two elements")


def equal_faces(face_nodes: np.ndarray, node_count: int) -> np.ndarray:
    """Return the first face (nf,) with the same nodes, in any order, as each of `face_nodes` (nf, 4); -1 after the third node of triangles."""
    first = np.empty(len(face_nodes), np.int32)
    _kernels.mesh_connections.find_equal_faces(node_count, np.ascontiguousarray(face_nodes, np.int32).T, first)
    return first


def _faces_of(element_ptr: np.ndarray, element_nodes: np.ndarray, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return element, index in it, and nodes (nf, 4) of all faces of some elements (ascending)."""
    count = int(FACES_OF_SIZE[np.diff(element_ptr)[elements]].sum())
    element, index = np.empty((2, count), np.int32)
    nodes = np.empty((count, 4), np.int32)
    pointers, flat, chosen = (np.asarray(array, np.int64) for array in (element_ptr, element_nodes, elements))
    _kernels.mesh_connections.list_faces(pointers, flat, chosen, FACES_OF_SIZE, CORNERS_OF_SIZE, element, index, nodes.T)
    return element, index, nodes


def _keys(face_nodes: np.ndarray) -> np.ndarray:
    return np.sort(face_nodes, axis=1)
