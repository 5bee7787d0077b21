"""Convex shapes inside a coarser finite element mesh (docs/language-objects.md, BODY).

The elements cut the shape exactly.  An element that is filled keeps its own quadrature.  An element that is filled in part gets
points inside the part, with positive weights that integrate exactly all polynomials in the stiffness at rest and in
the mass of an affine element.  The vertices of the shape move with the elements that hold them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _kernels
from ..element_types import BY_SIZE, MOST_NODES, used_slots
from ..errors import SolfecError
from ..shapes.convex import Convex
from ..shapes.mesh import Mesh, upright
from ..shapes.mesh_parts import submesh
from ..shapes.tetrahedron_clip import cut_by_elements, fan, volumes
from .finite_elements import FiniteElementMesh

_weigh_points = _kernels.finite_element_points.weigh_points

FILLED = 1e-6  # relative difference of volumes below which an element is full
COVERED = 1e-3  # part of the shape's volume that may lie outside of the mesh
NEAR = 1e-6  # part of the mesh's size: vertices farther outside of all elements are not in the mesh
CANDIDATES = 200  # number of points that are tried first
DEGREES = [(i, j, k) for i in range(3) for j in range(3) for k in range(3) if i + j + k <= 4]  # of hexahedra's products


@dataclass(eq=False)
class Background:
    """Data of a shape inside a mesh; element numbers count the elements that hold a part of the shape.

    Attributes
    ----------
    point_element : ndarray (nq,) int32
        Elements filled in part, one entry for every quadrature point, ascending.
    point_natural, point_weight : ndarray (nq, 3), (nq,)
        Natural coordinates and weights [length**3] of these points.
    vertex_element, vertex_weights : ndarray (nv,) int32, (nv, 8)
        The element that holds each vertex of the shape, and its shape functions there.
    overlap_first, overlap : ndarray (np + 1,), (no,) int32
        Elements that the convex parts overlap, those of one part after another.
    """

    point_element: np.ndarray
    point_natural: np.ndarray
    point_weight: np.ndarray
    vertex_element: np.ndarray
    vertex_weights: np.ndarray
    overlap_first: np.ndarray
    overlap: np.ndarray


def fit(shapes: list[Convex], mesh: Mesh, vertices: np.ndarray) -> tuple[Mesh, Background]:
    """Put a shape into a mesh.

    Parameters
    ----------
    shapes : list of Convex
    mesh : Mesh
        Not changed.
    vertices : ndarray (nv, 3)
        The vertices of the shape that move with the mesh.

    Returns
    -------
    mesh : Mesh
        The elements that hold a part of the shape.
    background : Background

    Raises
    ------
    SolfecError
        More than a thousandth of the shape's volume, or a vertex, is outside of the mesh; an element is flat or inverted.
    """
    check_elements(mesh)
    polyhedra = [polyhedron for shape in shapes for polyhedron in shape.polyhedra]
    pieces, part, element, element_volume = cut_by_elements(polyhedra, mesh)
    volume = volumes(pieces)
    whole = sum(float(volumes(fan(polyhedron)).sum()) for polyhedron in polyhedra)
    inside = float(volume.sum())
    if abs(inside - whole) > COVERED * whole:
        check_not_folded(mesh)
        missing = np.array([float(volumes(fan(polyhedron)).sum()) for polyhedron in polyhedra])
        missing -= np.bincount(part, volume, len(polyhedra))
        raise SolfecError(_not_covered(polyhedra, mesh, inside, whole, int(np.argmax(missing))))
    used, element = np.unique(element, return_inverse=True)
    element_volume = element_volume[used]
    mesh = submesh(mesh, used, mesh.topology.face_surface)
    sizes, table = element_table(mesh)
    filled = np.bincount(element, volume, len(used))
    cut = abs(filled - element_volume) > FILLED * element_volume
    chosen = cut[element]
    points = cut_quadrature(mesh, sizes, table, pieces[chosen], element[chosen])
    pairs = np.unique(np.stack((part, element), 1), axis=0)
    first = np.searchsorted(pairs[:, 0], np.arange(len(polyhedra) + 1))
    places = locate(mesh, sizes, table, vertices)
    return mesh, Background(*points, *places, first.astype(np.int32), pairs[:, 1].astype(np.int32))


def element_table(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of nodes (ne,) and nodes (ne, 8) of elements, zero beyond the last."""
    sizes = np.diff(mesh.topology.element_ptr).astype(np.int32)
    table = np.zeros((len(sizes), MOST_NODES), np.int32)
    table[used_slots(sizes)] = mesh.topology.element_nodes
    return sizes, table


def weigh(mesh: Mesh, sizes, table, elements, points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return natural coordinates (n, 3) and shape functions (n, 8) of points (n, 3) in elements, and their distances from the elements."""
    count = len(points)
    natural, weights = np.zeros((3, count), order="F"), np.zeros((MOST_NODES, count), order="F")
    distance = np.zeros(count)
    if count:
        _weigh_points(
            np.asfortranarray(points.T), elements.astype(np.int32), np.zeros(count, np.int32), sizes,
            np.asfortranarray(table.T), np.asfortranarray(mesh.nodes.T), natural, weights, distance,
        )  # fmt: skip
    return natural.T, weights.T, distance


def locate(mesh: Mesh, sizes, table, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the elements (n,) that hold vertices (n, 3), and shape functions there (n, 8).

    Raises
    ------
    SolfecError
        A vertex outside of all elements.
    """
    size = float(np.ptp(mesh.nodes, axis=0).max())
    corners = mesh.nodes[table]
    used = used_slots(sizes)[..., None]
    low, high = np.where(used, corners, np.inf).min(1), np.where(used, corners, -np.inf).max(1)
    margin = NEAR * size
    one, two = [np.zeros(0, int)], [np.zeros(0, int)]
    for start in range(0, len(vertices), 1024):  # blocks, so that the tables of all pairs stay small
        block = vertices[start : start + 1024, None]
        near = ((block >= low - margin) & (block <= high + margin)).all(2)
        vertex, element = np.nonzero(near)
        one.append(vertex + start)
        two.append(element)
    vertex, element = np.concatenate(one), np.concatenate(two)
    _, weights, distance = weigh(mesh, sizes, table, element, vertices[vertex])
    distance = np.where(distance <= 1e-3 * margin, 0.0, distance)  # the first of several elements that hold it
    order = np.lexsort((element, distance, vertex))
    best = order[np.concatenate(([True], np.diff(vertex[order]) > 0))] if len(order) else order
    found = np.zeros(len(vertices), bool)
    found[vertex[best[distance[best] <= margin]]] = True
    if not found.all():
        x, y, z = vertices[np.argmin(found)]
        raise SolfecError(f"the vertex ({x:g}, {y:g}, {z:g}) of the shape is outside of all elements of the mesh")
    return element[best].astype(np.int32), weights[best]


def cut_quadrature(mesh: Mesh, sizes, table, pieces: np.ndarray, element: np.ndarray):
    """Return elements, natural coordinates and weights of the points of partly filled elements.

    Parameters
    ----------
    pieces : ndarray (n, 4, 3)
        Tetrahedra, sorted by the `element` (n,) they are in.
    """
    barycentric, factor = tetrahedron_rule()
    points = np.einsum("qa,nai->nqi", barycentric, pieces).reshape(-1, 3)
    weight = (volumes(pieces)[:, None] * factor).ravel()
    owner = np.repeat(element, len(factor))
    natural, _, _ = weigh(mesh, sizes, table, owner, points)
    numbers, start = np.unique(owner, return_index=True)
    stop = np.append(start[1:], len(owner))
    chosen = [
        first + few
        for number, first, last in zip(numbers.tolist(), start.tolist(), stop.tolist())
        for few in [_reduce(int(sizes[number]), natural[first:last], weight[first:last])]
    ]
    rows = np.concatenate(chosen) if chosen else np.zeros(0, int)
    return owner[rows].astype(np.int32), natural[rows], weight[rows]


def _reduce(size: int, natural: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Select a few of many points; `weight` gets their new weights.

    By Tchakaloff's theorem non-negative weights at no more points than there are moments give all moments of the old weights.
    """
    from scipy.optimize import nnls  # slow to import

    degrees = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)] if BY_SIZE[size].is_simplex else DEGREES
    low, high = natural.min(0), natural.max(0)
    x = (2.0 * natural - low - high) / np.maximum(high - low, 1e-300)
    legendre = np.stack((np.ones_like(x), x, 1.5 * x**2 - 0.5))
    basis = np.array([legendre[i, :, 0] * legendre[j, :, 1] * legendre[k, :, 2] for i, j, k in degrees])
    total = weight.sum()
    moments, count = basis @ (weight / total), len(weight)
    stride = max(1, count // CANDIDATES)
    while True:  # a part of the points usually suffices, and costs less
        tried = np.arange(0, count, stride)
        found, residual = nnls(basis[:, tried], moments)
        if residual <= 1e-11:
            weight[tried] = total * found / found.sum()
            return tried[found > 0.0]
        if stride == 1:
            return np.arange(count)
        stride //= 2


def tetrahedron_rule() -> tuple[np.ndarray, np.ndarray]:
    """Barycentric coordinates (14, 4) and weights (14,), of sum 1, of Walkington's rule of degree 5."""
    points, weights = [], []
    for place, weight in ((0.3108859192633006, 0.1126879257180158), (0.09273525031089123, 0.07349304311636194)):
        for corner in range(4):
            points.append([place] * corner + [1.0 - 3.0 * place] + [place] * (3 - corner))
            weights.append(weight)
    near = 0.04550370412564965
    for one in range(4):
        for two in range(one + 1, 4):
            points.append([near if corner in (one, two) else 0.5 - near for corner in range(4)])
            weights.append(0.04254602077708147)
    weights = np.array(weights)
    return np.array(points), weights / weights.sum()


def check_elements(mesh: Mesh) -> None:
    """Raise SolfecError for elements without volume, or turned inside out since they were made."""
    try:
        upright(mesh.nodes, mesh.topology.element_ptr, mesh.topology.element_nodes, turn=False)
    except ValueError as error:
        raise SolfecError(f"'mesh': {error}") from None


def check_not_folded(mesh: Mesh) -> None:
    """Raise SolfecError for elements without volume at a quadrature point."""
    try:
        FiniteElementMesh.of(mesh).check()
    except SolfecError as error:
        raise SolfecError(f"'mesh': {error}") from None


def _not_covered(polyhedra, mesh: Mesh, inside: float, whole: float, number: int) -> str:
    """Describe how much of the shape is outside of the mesh, the farthest vertex of its part `number`, and the nearest element."""
    share = 100.0 * (inside - whole) / whole
    if inside > whole:
        return f"the elements of the mesh overlap: they hold {100.0 + share:.3g} % of the shape's volume"
    text = f"the mesh does not contain the shape: {-share:.3g} % of its volume is outside of all elements"
    vertices, (sizes, table) = polyhedra[number].vertices, element_table(mesh)
    corners, used = mesh.nodes[table], used_slots(sizes)
    low, high = np.where(used[..., None], corners, np.inf).min(1), np.where(used[..., None], corners, -np.inf).max(1)
    distance, nearest = np.zeros(len(vertices)), np.zeros(len(vertices), int)
    for k, vertex in enumerate(vertices):
        away = np.sqrt((np.maximum(np.maximum(low - vertex, vertex - high), 0.0) ** 2).sum(1))
        around = np.flatnonzero(away <= away.min())
        exact = weigh(mesh, sizes, table, around, np.tile(vertex, (len(around), 1)))[2]
        nearest[k], distance[k] = around[np.argmin(exact)], max(away.min(), exact.min() if away.min() == 0.0 else 0.0)
    k = int(np.argmax(distance))
    x, y, z = vertices[k]
    if distance[k] > 0.0:
        text += f"; vertex ({x:g}, {y:g}, {z:g}) of convex part {number} is {distance[k]:.3g} outside of the nearest element, {nearest[k]}"
    return text
