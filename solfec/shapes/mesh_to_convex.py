"""Elements of a mesh as convex polyhedra (docs/language-objects.md, MESH2CONVEX)."""

from __future__ import annotations

import numpy as np

from .convex import Convex
from .mesh import Mesh
from .polyhedron import FaceSet, Polyhedron
from .primitives import split_warped


def mesh_to_convex(mesh: Mesh) -> Convex:
    """Return one polyhedron per element: from the last interior element to the first surface element.

    Boundary faces come before faces between elements, which carry the identifier `INTERNAL_FACE`; warped
    quadrilaterals become the two triangles that make the polyhedron convex.  The mesh is not changed.
    """
    topology = mesh.topology
    order = np.lexsort((topology.face_index, ~topology.boundary, topology.face_element))
    corners, counts, pieces = split_warped(mesh.nodes, topology.face_nodes[order])
    owner = np.repeat(topology.face_element[order], pieces)
    surface = np.repeat(topology.face_surface[order], pieces)
    start, stop = np.cumsum(counts) - counts, np.cumsum(counts)
    first = np.searchsorted(owner, np.arange(topology.element_count + 1))
    on_surface = np.zeros(topology.element_count, bool)
    on_surface[topology.surface_elements] = True
    polyhedra = []
    for element in np.argsort(~on_surface, kind="stable")[::-1].tolist():
        nodes = topology.nodes_of(element)
        number = {node: i for i, node in enumerate(nodes)}
        rows = range(first[element], first[element + 1])
        faces = tuple(tuple(number[n] for n in corners[start[r] : stop[r]].tolist()) for r in rows)
        face_set = FaceSet(faces, surface[first[element] : first[element + 1]].astype(np.int32))
        polyhedra.append(Polyhedron.trusted(mesh.nodes[nodes], face_set, int(mesh.volume_ids[element])))
    return Convex(polyhedra)
