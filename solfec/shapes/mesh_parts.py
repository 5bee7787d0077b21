"""Cutting meshes along element faces: copies of nodes, connected parts, and their numbering.

Elements keep their relative order and nodes their ascending old order. Where one mesh has several copies of a
node, all further copies follow all first copies.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..connected import components
from .mesh import Mesh
from .mesh_topology import MeshTopology


def submesh(mesh: Mesh, elements: np.ndarray, face_surface: np.ndarray, origin: np.ndarray | None = None) -> Mesh:
    """Return the mesh of some elements (ascending numbers) without unused nodes.

    `face_surface` (nf,) has an identifier for every face of every element, used where the face is on the boundary.
    `origin` holds for every node the number by which nodes are sorted; repeated numbers come after all first ones.
    """
    topology = mesh.topology
    chosen = np.zeros(topology.element_count, bool)
    chosen[elements] = True
    present = np.zeros(topology.node_count, bool)
    present[topology.element_nodes[np.repeat(chosen, np.diff(topology.element_ptr))]] = True
    used = np.flatnonzero(present)
    if origin is not None:
        again = np.ones(len(used), bool)
        again[np.unique(origin[used], return_index=True)[1]] = False
        used = used[np.lexsort((used, origin[used], again))]
    numbers = np.empty(topology.node_count, int)
    numbers[used] = np.arange(len(used))
    return Mesh(mesh.nodes.take(used, 0), topology.part(chosen, numbers, len(used), face_surface), mesh.volume_ids[chosen])


def connected_parts(mesh: Mesh, origin: np.ndarray | None = None) -> list[Mesh]:
    """Return the parts of a mesh whose elements are connected through faces; the mesh itself if there is one part.

    See `submesh` for `origin`.
    """
    topology = mesh.topology
    inner = np.flatnonzero(~topology.boundary)
    neighbour = topology.face_element[topology.face_neighbour[inner]]
    labels = components(topology.element_count, topology.face_element[inner], neighbour)
    if not labels.any():
        return [mesh]
    return [submesh(mesh, np.flatnonzero(labels == k), topology.face_surface, origin) for k in range(labels.max() + 1)]


def cut_along_faces(mesh: Mesh, cut: np.ndarray, face_surface: np.ndarray, second: np.ndarray) -> list[Mesh] | None:
    """Open a mesh along inner faces, into its connected parts.

    A node of a cut face gets one copy for each group of elements round it that stay connected through faces after the
    cut, so nodes at the front of a cut that ends inside stay shared.

    Parameters
    ----------
    mesh : Mesh
        Not changed.
    cut : ndarray (nf,) of bool
        Inner faces to open, marked from both sides.
    face_surface : ndarray (nf,)
        Surface identifiers, including those that the opened faces get.
    second : ndarray (ne,) of bool
        Elements that receive the further copies of nodes; other elements keep the old nodes where possible.

    Returns
    -------
    list of Mesh or None
        None when no face opens because all nodes of the cut are on its front.
    """
    topology = mesh.topology
    flat, pointers = topology.element_nodes, topology.element_ptr
    split = np.zeros(topology.node_count, bool)
    opened = topology.face_nodes[cut]
    split[opened[opened >= 0]] = True
    at = np.flatnonzero(split[flat])
    if not at.size:
        return None
    copies = np.zeros(len(flat), int)
    element = np.searchsorted(pointers, at, "right") - 1
    copies[at] = _copies(flat[at], _grouped(topology, at, cut), second[element])
    if not copies.any():
        return None
    copied = np.flatnonzero(copies)
    extra, place = np.unique(copies[copied] * topology.node_count + flat[copied], return_inverse=True)  # sorted by copy, then node
    extra %= topology.node_count
    numbers = flat.copy()
    numbers[copied] = topology.node_count + place
    nodes = np.concatenate((mesh.nodes, mesh.nodes[extra]))
    result = topology.opened(len(nodes), numbers, cut, face_surface)
    origin = np.concatenate((np.arange(topology.node_count), extra))
    return connected_parts(Mesh(nodes, result, mesh.volume_ids), origin)


def _grouped(topology: MeshTopology, at: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Return the group of each incidence at split nodes, which are at places `at` of `element_nodes`: those that faces outside of the cut join."""
    place, group = np.full(len(topology.element_nodes), -1, np.int32), np.empty(len(at), np.int32)
    place[at] = np.arange(len(at))
    faces = topology.face_element, topology.face_neighbour, topology.face_nodes.T
    _kernels.mesh_connections.group_incidences(topology.element_ptr, topology.element_nodes, place, *faces, cut.astype(np.int32), group)
    return group


def _copies(node: np.ndarray, group: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the number of the node copy of each incidence, from its node and group: groups with `second` elements last, else in element order."""
    count = group.max() + 1
    of_group, last = np.empty(count, int), np.zeros(count, bool)
    of_group[group] = node
    last[group[second]] = True
    order = np.lexsort((last, of_group))  # stable: groups in the order of their first elements
    first = np.flatnonzero(np.r_[True, np.diff(of_group[order]) != 0])
    rank = np.empty(count, int)
    rank[order] = np.arange(count) - np.repeat(first, np.diff(np.r_[first, count]))
    return rank[group]
