"""Splitting meshes along given inner faces (docs/language-objects.md, MESH_SPLIT)."""

from __future__ import annotations

import operator
import warnings

import numpy as np

from ..errors import SolfecWarning
from .identifiers import identifier
from .mesh import Mesh
from .mesh_parts import cut_along_faces


def mesh_split(mesh: Mesh, nodeset=None, faceset=None, first_id: int = 0, second_id: int = 0) -> list[Mesh] | None:
    """Split a mesh along inner faces given by a set of nodes or as a list of faces.

    Parameters
    ----------
    mesh : Mesh
        Not changed.
    nodeset : sequence of int, optional
        Every inner face all of whose nodes belong to the set is cut; new faces get `first_id`.
    faceset : sequence of sequences of 3 or 4 int, optional
        Faces to cut, as sets of nodes; it overrides `nodeset`.  The new face whose outward normal agrees with the
        right-hand normal of the listed one gets `first_id`, the other `second_id`.

    Returns
    -------
    list of Mesh or None
        The parts; one part if the cut ends inside the mesh.  None if no face opens.

    Raises
    ------
    ValueError
        Node numbers out of range, faces of another size, repeated nodes.

    Warns
    -----
    SolfecWarning
        For listed faces that are no inner faces, and for cuts that open no face.
    """
    first_id, second_id = identifier(first_id, "surfid1"), identifier(second_id, "surfid2")
    topology = mesh.topology
    face_surface = topology.face_surface.copy()
    second = np.zeros(topology.element_count, bool)
    if faceset is not None:
        cut, along, missing = listed_faces(mesh, faceset)
        if missing:
            warnings.warn(f"items {missing} of 'faceset' are not faces between two elements", SolfecWarning, stacklevel=2)
        face_surface[cut] = np.where(along[cut], first_id, second_id)
        second[topology.face_element[cut & along]] = True
    else:
        chosen = np.zeros(topology.node_count, bool)
        chosen[_nodes(nodeset if nodeset is not None else (), topology.node_count, "nodeset")] = True
        cut = ~topology.boundary & np.where(topology.face_nodes < 0, True, chosen[topology.face_nodes]).all(1)
        face_surface[cut] = first_id
    if not cut.any():
        return None
    parts = cut_along_faces(mesh, cut, face_surface, second)
    if parts is None:
        warnings.warn("MESH_SPLIT opened nothing: all nodes of the cut are on its front", SolfecWarning, stacklevel=2)
    return parts


def _nodes(values, count: int, name: str) -> list[int]:
    nodes = [operator.index(n) for n in values]
    if nodes and not 0 <= min(nodes) <= max(nodes) < count:
        raise ValueError(f"'{name}' uses a node number out of the range 0 to {count - 1}")
    return nodes


def listed_faces(mesh: Mesh, faceset, name: str = "faceset") -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return masks (nf,) of the listed inner faces, from both sides, and of those with the listed sense.

    The third value lists the items that are no inner faces; `name` is that of the argument, for errors.
    """
    topology = mesh.topology
    rows: dict[tuple, list[int]] = {}
    for row, key in enumerate(map(tuple, topology.node_keys().tolist())):
        rows.setdefault(key, []).append(row)
    cut, along = np.zeros((2, len(topology.face_size)), bool)
    missing = []
    for number, face in enumerate(faceset):
        nodes = _nodes(face, topology.node_count, f"{name}[{number}]")
        if len(nodes) not in (3, 4):
            raise ValueError(f"'{name}[{number}]' has {len(nodes)} nodes; it must have 3 or 4")
        if len(set(nodes)) < len(nodes):
            raise ValueError(f"'{name}[{number}]' repeats a node number")
        pair = rows.get(tuple(sorted((*nodes, -1)[:4])), ())
        if len(pair) < 2:
            missing.append(number)
            continue
        if cut[pair[0]]:  # it is listed again: its first sense counts
            continue
        listed = _area(mesh.nodes[nodes])
        for row in pair:
            cut[row] = True
            along[row] = _area(mesh.nodes[topology.face_nodes[row, : len(nodes)]]) @ listed > 0.0
    return cut, along, missing


def _area(corners: np.ndarray) -> np.ndarray:
    """Area vector of a polygon (n, 3)."""
    return 0.5 * np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]).sum(0)
