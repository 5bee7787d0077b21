"""Splitting meshes by a plane: between elements where possible, otherwise with new tetrahedra (docs/language-objects.md, SPLIT)."""

from __future__ import annotations

import warnings

import numpy as np

from ..connected import components
from ..errors import SolfecWarning
from .clip import Clipper, element_triangles, fans, open_edges
from .distance import closer
from .mesh import Mesh
from .mesh_parts import connected_parts, cut_along_faces
from .tetrahedra import tetrahedral_mesh, tetrahedralize
from .volume_lookup import elements_at

QUALITY = 2.0  # greatest ratio of circumradius to shortest edge of tetrahedra that replace a mesh


def split_mesh(mesh: Mesh, point, normal, identifiers, connected: bool, remesh: bool, epsilon: float) -> list[Mesh]:
    """Split a mesh by a plane into its connected parts.

    Parameters
    ----------
    point, normal : ndarray (3,)
        The plane; the normal has unit length and points up.
    identifiers : (int, int)
        Surface identifiers of new faces that look up (of lower parts) and down (of upper parts).
    connected : bool
        Open only the part of the section that is connected through edges with the face within ten epsilons of
        `point`; if it ends inside, the mesh stays one piece with doubled nodes.
    remesh : bool
        Whether tetrahedra may replace the elements where the plane passes through some of them.
    epsilon : float
        Nodes not farther than this from the plane lie on it.

    Raises
    ------
    ValueError
        When the plane passes through elements and `remesh` is false.
    MissingPackage
        When tetrahedra are needed and tetgen is not installed.

    Warns
    -----
    SolfecWarning
        When tetrahedra replace the elements, and when `connected` finds no section at the point.
    """
    heights = (mesh.nodes - point) @ normal
    if heights.max() <= epsilon or heights.min() >= -epsilon:
        return [mesh]
    topology = mesh.topology
    flat, start = heights[topology.element_nodes], topology.element_ptr[:-1]
    lowest, highest = np.minimum.reduceat(flat, start), np.maximum.reduceat(flat, start)
    through = (lowest < -epsilon) & (highest > epsilon) | (lowest >= -epsilon) & (highest <= epsilon)
    if through.any():
        if not remesh:
            raise ValueError(
                f"the plane passes through element {int(np.argmax(through))}, and 'remesh' is 'OFF'; move the plane to "
                "faces between elements"
            )
        parts = _split_between(_remeshed(mesh, heights, epsilon), point, normal, identifiers, connected, epsilon)
    else:
        parts = _split_between(mesh, point, normal, identifiers, connected, epsilon)
    if parts is None:
        warnings.warn("SPLIT cut nothing: the section of a MESH is not at the point", SolfecWarning, stacklevel=3)
        return [mesh]
    if through.any():
        warnings.warn("SPLIT replaced the elements of a MESH by tetrahedra", SolfecWarning, stacklevel=3)
    return parts


def _split_between(mesh: Mesh, point, normal, identifiers, connected: bool, epsilon: float) -> list[Mesh] | None:
    """Split between elements, each of which lies on one side; None if no section is at the point."""
    topology = mesh.topology
    heights = (mesh.nodes - point) @ normal
    above = np.add.reduceat(heights[topology.element_nodes], topology.element_ptr[:-1]) > 0.0
    side = above[topology.face_element]
    inner = ~topology.boundary
    cut = np.zeros(len(side), bool)
    cut[inner] = side[inner] != side[topology.face_neighbour[inner]]
    if not cut.any():
        return connected_parts(mesh)
    if connected:
        cut = hanging_together(mesh, cut, point, epsilon)
        if not cut.any():
            return None
    surface = topology.face_surface.copy()
    surface[cut] = np.where(side[cut], identifiers[1], identifiers[0])
    return cut_along_faces(mesh, cut, surface, above) or connected_parts(mesh)


def hanging_together(mesh: Mesh, cut: np.ndarray, point, epsilon: float, reach: float = 0.0) -> np.ndarray:
    """Return the cut faces that are connected through edges with the first one at the point.

    A cut that leaves its plane by up to `reach` may pass the point: then distances grow until they find a face, the nearest one.
    """
    topology = mesh.topology
    rows = np.flatnonzero(cut & (topology.face_neighbour > np.arange(len(cut))))
    clouds = [mesh.nodes[topology.face_nodes[row, : topology.face_size[row]]] for row in rows.tolist()]
    number = np.arange(len(rows))
    for part in (0.0, 0.125, 0.25, 0.5, 1.0) if reach else (0.0,):
        near = closer([*clouds, np.asarray(point)[None]], number, np.full(len(rows), len(rows)), 10.0 * epsilon + part * reach)
        if near.any():
            break
    chosen = np.zeros(len(cut), bool)
    if near.any():
        owners: dict[tuple, int] = {}
        one, two = [], []
        for k, row in enumerate(rows.tolist()):
            nodes = topology.face_nodes[row, : topology.face_size[row]].tolist()
            for a, b in zip(nodes, [*nodes[1:], nodes[0]]):
                one.append(k)
                two.append(owners.setdefault((min(a, b), max(a, b)), k))
        labels = components(len(rows), one, two)
        picked = rows[labels == labels[np.argmax(near)]]
        chosen[picked] = chosen[topology.face_neighbour[picked]] = True
    return chosen


def _remeshed(mesh: Mesh, heights: np.ndarray, epsilon: float) -> Mesh:
    """Return tetrahedra inside the mesh's surface, none of which crosses the plane."""
    points, triangles, surfaces, cut = _surface_with_section(mesh, heights, epsilon)
    marks, index = np.unique(surfaces, return_inverse=True)
    index[cut] = len(marks)  # a mark of its own
    nodes, elements, faces, found, _ = tetrahedralize(points, triangles, index, quality=QUALITY)
    same = (mesh.volume_ids == mesh.volume_ids[0]).all()
    at = np.zeros(len(elements), int) if same else elements_at(mesh, nodes[elements].mean(1))
    outside = found < len(marks)
    return tetrahedral_mesh(nodes, elements, faces[outside], marks[found[outside]], mesh.volume_ids[at])


def _surface_with_section(mesh: Mesh, heights: np.ndarray, epsilon: float) -> tuple:
    """Boundary cut at the plane, together with the section of all elements.

    Returns
    -------
    points (n, 3), triangles (nt, 3), surfaces (nt,), cut (nt,)
        `cut` marks the triangles of the section, seen from below; every element's section is a fan about its middle.
    """
    topology = mesh.topology
    triangles, rows = element_triangles(mesh)
    signed = Clipper(mesh.nodes, heights, epsilon)
    element, boundary = topology.face_element[rows].tolist(), topology.boundary[rows].tolist()
    surface = topology.face_surface[rows].tolist()
    faces, marks = [], []
    lower: dict[int, list] = {}
    for triangle, owner, outer, mark in zip(triangles.tolist(), element, boundary, surface):
        below, over = signed.half(triangle, -1), signed.half(triangle, 1)
        if outer:
            pieces = [piece for piece in (below, over) if piece] or [triangle]
            for piece in pieces:
                faces += fans(piece)
                marks += [mark] * (len(piece) - 2)
        if below:
            lower.setdefault(owner, []).append(below)
    through = _crossed(topology, signed.sign)
    section = []
    flat = np.array([signed.sign[v] for v in range(len(mesh.nodes))])[triangles] == 0
    for triangle, row in zip(triangles[flat.all(1)].tolist(), rows[flat.all(1)].tolist()):
        other = topology.face_neighbour[row]
        if other > row:  # a face between an element below and one above
            section.append(tuple(triangle))
    for owner in np.flatnonzero(through).tolist():
        edges = open_edges(lower[owner])
        corners = sorted({v for edge in edges for v in edge})
        middle = signed.add(signed.points[corners].mean(0).tolist())
        section += [(b, a, middle) for a, b in edges]
    cut = np.arange(len(faces) + len(section)) >= len(faces)
    all_faces = np.array(faces + section)
    used, numbers = np.unique(all_faces, return_inverse=True)
    return signed.points[used], numbers.reshape(-1, 3), np.array(marks + [0] * len(section)), cut


def _crossed(topology, signs) -> np.ndarray:
    """Elements (ne,) with nodes strictly on both sides."""
    flat = np.array(signs[: topology.node_count])[topology.element_nodes]
    start = topology.element_ptr[:-1]
    return (np.minimum.reduceat(flat, start) < 0) & (np.maximum.reduceat(flat, start) > 0)
