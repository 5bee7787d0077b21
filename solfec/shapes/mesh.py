"""Volumetric meshes of tetrahedra, pyramids, wedges and hexahedra (docs/language-objects.md, MESH)."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator

import numpy as np

from ..element_types import BY_SIZE, ELEMENT_TYPES, ElementType, sizes_in_words
from ..errors import SolfecWarning
from ..tables import unique
from .coordinates import check_size, points_of, scaled
from .identifiers import identifier
from .mesh_topology import MeshTopology
from .vectors import cross, determinants

DEGENERATE = 1e-12  # element volume relative to the cube of its size that counts as zero
AT_ONCE = 1 << 10  # elements that are checked together


class Mesh:
    """Nodes, first-order elements and boundary faces with surface identifiers.

    Attributes
    ----------
    nodes : ndarray (n, 3)
        Node coordinates, in units of length.
    topology : MeshTopology
        Elements and faces, shared between copies.
    volume_ids : ndarray (ne,) int32
        Volume identifier of every element.
    """

    __slots__ = ("nodes", "topology", "volume_ids")

    def __init__(self, nodes: np.ndarray, topology: MeshTopology, volume_ids: np.ndarray):
        self.nodes = nodes
        self.topology = topology
        self.volume_ids = volume_ids

    @classmethod
    def from_records(cls, nodes, elements, surfaces=0) -> Mesh:
        """Make a mesh from the flat lists of the MESH command.

        Parameters
        ----------
        nodes : sequence of 3 n numbers
            Coordinates, in units of length.
        elements : sequence of int
            Records (4, 5, 6 or 8, node numbers..., volume identifier).
        surfaces : int or sequence of int
            Identifier of all boundary faces, or that identifier followed by records (3 or 4, node numbers...,
            surface identifier); records that match no boundary face are ignored, with a warning.

        Raises
        ------
        ValueError
            Wrong element or face sizes, incomplete records, node numbers out of range or repeated, coordinates that
            are not finite, elements without volume, inverted elements (inverted tetrahedra are mirrored instead), faces of more than
            two elements, two elements on the same side of a face.

        Warns
        -----
        SolfecWarning
            When no element uses a node; unused nodes before the first and after the last used one are dropped.  When
            elements are concave at a node.
        """
        nodes = points_of(nodes, "nodes")
        pointers, flat, volume_ids = _element_records(elements, len(nodes))
        if np.ndim(surfaces) == 0:
            surfaces = [surfaces]
        common, records = _surface_records(surfaces, len(nodes))
        lowest, highest = int(flat.min()), int(flat.max())
        unused = len(nodes) - len(unique(flat))
        if unused:
            count = "1 node of a MESH is" if unused == 1 else f"{unused} nodes of a MESH are"
            warnings.warn(f"{count} not used by any element", SolfecWarning, stacklevel=3)
        nodes = nodes[lowest : highest + 1].copy()
        topology = MeshTopology(len(nodes), pointers, upright(nodes, pointers, flat - lowest))
        check_sides(topology)
        face_surface = np.full(len(topology.face_size), common, np.int32)
        if records:
            records = {tuple(n - lowest if n >= 0 else n for n in key): s for key, s in records.items()}
            found = set()
            for row, (key, outer) in enumerate(zip(map(tuple, topology.node_keys().tolist()), topology.boundary.tolist())):
                if key in records:
                    face_surface[row] = records[key]
                    if outer:
                        found.add(key)
            lost = [[n + lowest for n in key if n >= 0] for key in records if key not in found]
            if lost:
                more = f", nor do {len(lost) - 1} more" if len(lost) > 1 else ""
                warnings.warn(
                    f"the face with nodes {lost[0]} in 'surfids' is no outer face of the MESH{more}; ignored",
                    SolfecWarning, stacklevel=3,
                )  # fmt: skip
        topology = topology.with_surfaces(face_surface)
        topology.passed.add("upright")
        warn_of_concave(nodes, topology)
        return cls(nodes, topology, volume_ids)

    def copy(self) -> Mesh:
        """Return an independent copy (the constant topology is shared)."""
        return Mesh(self.nodes.copy(), self.topology, self.volume_ids)

    def translate(self, vector: np.ndarray) -> None:
        """Move by `vector` (3,)."""
        self.nodes += vector

    def rotate(self, point: np.ndarray, rotation: np.ndarray) -> None:
        """Turn about `point` (3,) by the matrix `rotation` (3, 3)."""
        self.nodes = (self.nodes - point) @ rotation.T + point

    def scale(self, factors: np.ndarray) -> None:
        """Multiply coordinates by `factors` (3,); elements are mirrored when the product is negative."""
        self.nodes *= factors
        self.topology = scaled(self.topology, factors)

    def set_node(self, number: int, point) -> None:
        """Overwrite the coordinates of one node; `point` may hold None for coordinates to keep."""
        values = [old if new is None else float(new) for old, new in zip(self.nodes[number].tolist(), point)]
        check_size(np.array(values), "node")
        self.nodes[number] = values
        self.topology = self.topology.renewed()

    def set_volume_id(self, volume_id: int) -> None:
        """Give all elements the same volume identifier."""
        self.volume_ids = np.full(len(self.volume_ids), identifier(volume_id, "volid"), np.int32)

    def nodes_on_surface(self, surface_id: int) -> list[int]:
        """Ascending numbers of the nodes of boundary faces with this identifier (the list may be empty)."""
        topology = self.topology
        nodes = unique(topology.face_nodes[topology.boundary & (topology.face_surface == surface_id)])
        return nodes[nodes >= 0].tolist()

    def records(self) -> tuple[list[float], list[int], list[int]]:
        """Return the lists from which `from_records` makes this mesh: interior elements first, then surface elements."""
        topology = self.topology
        surface = np.zeros(topology.element_count, bool)
        surface[topology.surface_elements] = True
        elements: list[int] = []
        for element in np.argsort(surface, kind="stable").tolist():
            nodes = topology.nodes_of(element)
            elements += [len(nodes), *nodes, int(self.volume_ids[element])]
        surfaces = [0]
        for row in np.flatnonzero(topology.boundary & (topology.face_surface != 0)).tolist():
            size = int(topology.face_size[row])
            surfaces += [size, *topology.face_nodes[row, :size].tolist(), int(topology.face_surface[row])]
        return self.nodes.ravel().tolist(), elements, surfaces

    def internal_faces(self) -> list[list[int]]:
        """Node lists of faces between two elements, each once, as seen from the lower-numbered element."""
        topology = self.topology
        rows = np.flatnonzero(topology.face_neighbour > np.arange(len(topology.face_neighbour)))
        return [topology.face_nodes[row, : topology.face_size[row]].tolist() for row in rows.tolist()]

    def internal_faces_on_plane(self, point, normal, epsilon: float, nodes: np.ndarray | None = None) -> list[list[int]]:
        """Return the `internal_faces` with all nodes within `epsilon` of a plane, by default at their own places, or where `nodes` (n, 3) are."""
        normal = np.array(normal, float)
        length = np.sqrt(normal @ normal)
        if not length > 0.0:
            raise ValueError("'normal' must not be zero")
        near = np.abs(((self.nodes if nodes is None else nodes) - np.array(point, float)) @ (normal / length)) <= epsilon
        return [face for face in self.internal_faces() if near[face].all()]


def check_sides(topology: MeshTopology) -> None:
    """Raise ValueError for two elements on the same side of the face they share."""
    rows = np.flatnonzero(topology.face_neighbour > np.arange(len(topology.face_neighbour)))
    one, two = topology.face_nodes[rows], topology.face_nodes[topology.face_neighbour[rows]]
    size = topology.face_size[rows, None]
    place = (two == one[:, :1]).argmax(1)[:, None]  # the other element must list the face in opposite sense from the same node
    corner = np.arange(4)
    opposite = np.take_along_axis(two, (place - corner) % size, 1)
    wrong = ((opposite != one) & (corner < size)).any(1)
    if wrong.any():
        row = int(np.argmax(wrong))
        a, b = (int(topology.face_element[r]) for r in (rows[row], topology.face_neighbour[rows[row]]))
        nodes = one[row, : int(size[row, 0])].tolist()
        raise ValueError(f"elements {a} and {b} overlap: they lie on one side of the face {nodes} that they share")


def some_of_a_type(pointers: np.ndarray, flat: np.ndarray) -> Iterator[tuple[ElementType, np.ndarray, np.ndarray]]:
    """Iterate over elements of one type, some thousands at a time since checks take kilobytes for each: yield type, numbers (n,) and nodes (n, size)."""
    sizes = np.diff(pointers)
    for kind in ELEMENT_TYPES:
        which = np.flatnonzero(sizes == kind.size)
        for first in range(0, which.size, AT_ONCE):
            some = which[first : first + AT_ONCE]
            yield kind, some, flat[pointers[some, None] + np.arange(kind.size)]


def concave_corners(nodes: np.ndarray, pointers: np.ndarray, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return elements whose edges are left-handed at a node, ascending, and the first such node of each."""
    elements, at_node = [np.zeros(0, int)], [np.zeros(0, int)]
    for kind, which, listed in some_of_a_type(pointers, flat):
        at, a, b, c = (nodes.take(listed[:, list(column)], 0) for column in zip(*kind.corners))
        concave = determinants(a - at, b - at, c - at) < 0.0
        rows = np.flatnonzero(concave.any(1))
        elements.append(which[rows])
        at_node.append(listed[rows, np.array([corner[0] for corner in kind.corners])[concave[rows].argmax(1)]])
    elements, at_node = np.concatenate(elements), np.concatenate(at_node)
    order = np.argsort(elements)
    return elements[order], at_node[order]


def warn_of_concave(nodes: np.ndarray, topology: MeshTopology) -> None:
    """Warn once about elements whose edges are left-handed at a node: contact detection treats elements as convex."""
    if topology.warned or "convex" in topology.passed:
        return
    elements, at = concave_corners(nodes, topology.element_ptr, topology.element_nodes)
    if not elements.size:
        topology.passed.add("convex")
        return
    topology.warned = True
    more = f", and so are {len(elements) - 1} more elements" if len(elements) > 1 else ""
    text = f"element {elements[0]} of a MESH is concave at node {at[0]}{more}; contact takes elements for convex"
    warnings.warn(text, SolfecWarning, stacklevel=4)


def element_volumes(nodes: np.ndarray, pointers: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Signed volumes (ne,) of elements as polyhedra with faces cut into fans about their first nodes."""
    volumes = np.empty(len(pointers) - 1)
    for kind, which, listed in some_of_a_type(pointers, flat):
        fans = np.array([(f[0], f[i], f[i + 1]) for f in kind.faces for i in range(1, len(f) - 1)])
        points = nodes[listed]
        points = points - points.mean(1, keepdims=True)
        volumes[which] = determinants(*np.moveaxis(points[:, fans], 2, 0)).sum(1) / 6.0
    return volumes


def upright(nodes: np.ndarray, pointers: np.ndarray, flat: np.ndarray, turn: bool = True) -> np.ndarray:
    """Return element nodes with inverted tetrahedra mirrored; ValueError for other inverted or degenerate elements.

    Without `turn` inverted tetrahedra are errors, too.
    """
    check_nodes_apart(nodes, pointers, flat)
    volumes = element_volumes(nodes, pointers, flat)
    sizes, extent = np.diff(pointers), np.empty(len(volumes))
    for _, which, listed in some_of_a_type(pointers, flat):
        extent[which] = np.ptp(nodes[listed], axis=1).max(1)
    flat_element = np.abs(volumes) <= DEGENERATE * extent**3
    if flat_element.any():
        raise ValueError(f"element {int(np.argmax(flat_element))} has no volume")
    inverted = volumes < 0.0
    turned = inverted & np.isin(sizes, [kind.size for kind in ELEMENT_TYPES if kind.is_simplex]) & turn
    wrong = inverted & ~turned
    if wrong.any():
        raise ValueError(
            f"element {int(np.argmax(wrong))} is inverted: its volume is {volumes[wrong][0]:g}; check the node order"
        )
    return mirrored(pointers, flat, turned)


def mirrored(pointers: np.ndarray, flat: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return element nodes, mirrored in the elements of the mask `chosen` (ne,)."""
    sizes, turned = np.diff(pointers), flat.copy()
    for kind in ELEMENT_TYPES:
        start = pointers[:-1][chosen & (sizes == kind.size), None]
        turned[start + np.arange(kind.size)] = flat[start + np.array(kind.mirror)]
    return turned


def check_nodes_apart(nodes: np.ndarray, pointers: np.ndarray, flat: np.ndarray) -> None:
    """Raise ValueError for elements with two coincident nodes, or with a face that crosses itself."""
    for kind, which, listed in some_of_a_type(pointers, flat):
        points = nodes[listed]
        one, two = np.triu_indices(kind.size, 1)
        same = ((points[:, one] - points[:, two]) ** 2).sum(2) <= (1e-9 * np.ptp(points, axis=1).max(1, keepdims=True)) ** 2
        if same.any():
            row, pair = np.argwhere(same)[0]
            a, b = flat[pointers[which[row]] + np.array([one[pair], two[pair]])].tolist()
            raise ValueError(f"element {which[row]} has two nodes in one place: {a} and {b}")
        quads = [index for index, face in enumerate(kind.faces) if len(face) == 4]
        if not quads:
            continue
        a, b, c, d = np.moveaxis(points[:, np.array([kind.faces[index] for index in quads])], 2, 0)
        halves = [cross(q - p, r - p) for p, q, r in ((a, b, c), (a, c, d), (a, b, d), (b, c, d))]
        crossed = ((halves[0] * halves[1]).sum(2) < 0.0) & ((halves[2] * halves[3]).sum(2) < 0.0)
        if crossed.any():
            face, row = np.argwhere(crossed.T)[0]
            raise ValueError(f"face {quads[face]} of element {which[row]} crosses itself; check the node order")


def _element_records(elements, node_count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Element pointers, node numbers and volume identifiers of flat element records."""
    elements = list(map(operator.index, elements))
    pointers, flat, volume_ids, at = [0], [], [], 0
    while at < len(elements):
        size, number = elements[at], len(volume_ids)
        if size not in BY_SIZE:
            raise ValueError(f"element {number} in 'elements' has {size} nodes; it must have {sizes_in_words()}")
        if at + size + 2 > len(elements):
            raise ValueError(f"the record of element {number} in 'elements' is cut short")
        nodes = elements[at + 1 : at + 1 + size]
        _check_nodes(nodes, node_count, f"element {number}")
        flat += nodes
        volume_ids.append(identifier(elements[at + 1 + size], "volid"))
        pointers.append(len(flat))
        at += size + 2
    if not volume_ids:
        raise ValueError("'elements' must hold at least one element")
    return np.array(pointers), np.array(flat), np.array(volume_ids, np.int32)


def _surface_records(surfaces, node_count: int) -> tuple[int, dict]:
    """Common surface identifier and the identifiers by sorted face nodes."""
    surfaces = list(map(operator.index, surfaces))
    if not surfaces:
        raise ValueError("'surfids' must hold at least the global surface identifier")
    common, records, at = identifier(surfaces[0], "surfids"), {}, 1
    while at < len(surfaces):
        size = surfaces[at]
        if size not in (3, 4):
            raise ValueError(f"face {len(records)} in 'surfids' has {size} nodes; it must have 3 or 4")
        if at + size + 2 > len(surfaces):
            raise ValueError(f"the record of face {len(records)} in 'surfids' is cut short")
        nodes = surfaces[at + 1 : at + 1 + size]
        _check_nodes(nodes, node_count, f"face {len(records)} in 'surfids'")
        records[tuple(sorted((*nodes, -1)[:4]))] = identifier(surfaces[at + 1 + size], "surfids")
        at += size + 2
    return common, records


def _check_nodes(nodes, node_count: int, owner: str) -> None:
    if min(nodes) < 0 or max(nodes) >= node_count:
        raise ValueError(f"{owner} uses a node number out of the range 0 to {node_count - 1}")
    if len(set(nodes)) < len(nodes):
        raise ValueError(f"{owner} repeats a node number")
