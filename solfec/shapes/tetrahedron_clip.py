"""Parts of convex polyhedra inside elements of a mesh, as tetrahedra; all pairs are cut together, plane by plane."""

from __future__ import annotations

import numpy as np

from ..tables import ranges
from .adjacency import box_pairs
from .mesh import Mesh
from .polyhedron import Polyhedron

PLANAR = 1e-9  # of an element's size: corners of a face closer than this to a plane lie in it
ON_PLANE = 1e-12  # of the size of all: vertices closer than this to a plane lie on it
PRISM = np.array([[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]])  # tetrahedra of a prism with the triangles 012 and 345


def volumes(tetrahedra: np.ndarray) -> np.ndarray:
    """Volumes (n,) of tetrahedra (n, 4, 3), whatever their orientation."""
    return abs(np.linalg.det(tetrahedra[:, 1:] - tetrahedra[:, :1])) / 6.0


def clip(tetrahedra: np.ndarray, planes: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of each tetrahedron below its plane.

    Parameters
    ----------
    tetrahedra : ndarray (n, 4, 3)
    planes : ndarray (n, 4)
        Normal n and offset d; the part n . x <= d stays.
    tolerance : float
        Vertices closer than this to the plane lie on it [length].

    Returns
    -------
    parts : ndarray (m, 4, 3)
    origin : ndarray (m,)
        The tetrahedron of which each is a part.
    """
    height = np.einsum("nai,ni->na", tetrahedra, planes[:, :3]) - planes[:, 3:]
    height[abs(height) <= tolerance] = 0.0
    order = np.argsort(height > 0.0, axis=1, kind="stable")  # kept vertices first
    height = np.take_along_axis(height, order, 1)
    corner = np.take_along_axis(tetrahedra, order[:, :, None], 1)
    kept = (height <= 0.0).sum(1)
    kept[(height.min(1) == 0.0)] = 0  # touches the plane from above, or lies in it
    parts, origin = [corner[kept == 4]], [np.flatnonzero(kept == 4)]

    def between(rows, a, b):
        p, q = height[rows, a, None], height[rows, b, None]
        return corner[rows, a] + (corner[rows, b] - corner[rows, a]) * (p / (p - q))

    rows = np.flatnonzero(kept == 1)
    parts.append(np.stack((corner[rows, 0], *(between(rows, 0, b) for b in (1, 2, 3))), 1))
    origin.append(rows)
    rows = np.flatnonzero(kept == 2)
    prisms = (corner[rows, 0], between(rows, 0, 2), between(rows, 0, 3), corner[rows, 1], between(rows, 1, 2), between(rows, 1, 3))
    parts.append(np.stack(prisms, 1)[:, PRISM].reshape(-1, 4, 3))
    origin.append(np.repeat(rows, 3))
    rows = np.flatnonzero(kept == 3)
    prisms = (*(corner[rows, a] for a in (0, 1, 2)), *(between(rows, a, 3) for a in (0, 1, 2)))
    parts.append(np.stack(prisms, 1)[:, PRISM].reshape(-1, 4, 3))
    origin.append(np.repeat(rows, 3))
    return np.concatenate(parts), np.concatenate(origin)


def fan(polyhedron: Polyhedron) -> np.ndarray:
    """Tetrahedra (n, 4, 3) from the mean of a polyhedron's vertices to the triangles of its faces."""
    triangles = polyhedron.vertices[polyhedron.face_set.triangles]
    centre = np.broadcast_to(polyhedron.vertices.mean(0), (len(triangles), 1, 3))
    return np.concatenate((centre, triangles), axis=1)


class Regions:
    """Convex regions that make up the elements of a mesh.

    An element with planar faces is one region; a warped element is made of the tetrahedra from its centre to the triangles round the
    centres of its faces.

    Attributes
    ----------
    element : ndarray (n,)
    planes : ndarray (n, 6, 4)
        Outward normals and offsets; unused rows exclude nothing.
    low, high : ndarray (n, 3)
        Boxes.
    volume : ndarray (number of elements,)
        Volumes of elements.
    """

    def __init__(self, mesh: Mesh):
        topology, nodes = mesh.topology, mesh.nodes
        count = topology.element_count
        sizes = np.diff(topology.element_ptr)
        owner = np.repeat(np.arange(count), sizes)
        centre = np.zeros((count, 3))
        np.add.at(centre, owner, nodes[topology.element_nodes])
        centre /= sizes[:, None]
        low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
        np.minimum.at(low, owner, nodes[topology.element_nodes])
        np.maximum.at(high, owner, nodes[topology.element_nodes])

        face, size = topology.face_nodes, topology.face_size
        quad = size == 4
        corners = nodes[np.where(face >= 0, face, face[:, :1])]
        middle = np.where(quad[:, None], corners.mean(1), corners[:, :3].mean(1))
        normal = np.where(
            quad[:, None],
            np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]),
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
        )
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        depth = abs(np.einsum("fai,fi->fa", corners - middle[:, None], normal)).max(1)
        warped = np.zeros(count, bool)
        warped[topology.face_element[depth > PLANAR * np.ptp(nodes, axis=0).max()]] = True

        # triangles round the centres of quadrilaterals; triangular faces are their own
        ahead = np.take_along_axis(face, (np.arange(4) + 1) % size[:, None], 1)
        row = np.repeat(np.arange(len(face)), np.where(quad, 4, 1))
        around = np.stack((np.repeat(middle[quad], 4, 0), nodes[face[quad]].reshape(-1, 3), nodes[ahead[quad]].reshape(-1, 3)), 1)
        triangles = np.empty((len(row), 3, 3))
        triangles[quad[row]] = around
        triangles[~quad[row]] = corners[~quad, :3]
        tetrahedra = np.concatenate((centre[topology.face_element[row]][:, None], triangles), 1)
        self.volume = np.bincount(topology.face_element[row], volumes(tetrahedra), count)

        flat = np.flatnonzero(~warped)
        planes = np.tile([0.0, 0.0, 0.0, 1.0], (len(flat), 6, 1))
        number = np.cumsum(~warped) - 1
        of_flat = np.flatnonzero(~warped[topology.face_element])
        slot = _ranks(topology.face_element[of_flat])
        planes[number[topology.face_element[of_flat]], slot] = np.column_stack(
            (normal[of_flat], np.einsum("fi,fi->f", normal[of_flat], middle[of_flat]))
        )
        pieces = np.flatnonzero(warped[topology.face_element[row]])
        self.element = np.concatenate((flat, topology.face_element[row[pieces]]))
        self.planes = np.concatenate((planes, _planes_of(tetrahedra[pieces])))
        self.low = np.concatenate((low[flat], tetrahedra[pieces].min(1)))
        self.high = np.concatenate((high[flat], tetrahedra[pieces].max(1)))


def _ranks(labels: np.ndarray) -> np.ndarray:
    """0, 1, 2, ... among equal labels, in order."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    start = np.concatenate(([0], np.flatnonzero(np.diff(ordered)) + 1)) if len(labels) else np.zeros(0, int)
    counts = np.diff(np.concatenate((start, [len(labels)])))
    ranks = np.empty(len(labels), int)
    ranks[order] = np.arange(len(labels)) - np.repeat(start, counts)
    return ranks


def _planes_of(tetrahedra: np.ndarray) -> np.ndarray:
    """Planes (n, 6, 4) of tetrahedra, the last two are unused."""
    planes = np.tile([0.0, 0.0, 0.0, 1.0], (len(tetrahedra), 6, 1))
    for k, (a, b, c, opposite) in enumerate(((1, 2, 3, 0), (0, 2, 3, 1), (0, 1, 3, 2), (0, 1, 2, 3))):
        p = tetrahedra[:, a]
        normal = np.cross(tetrahedra[:, b] - p, tetrahedra[:, c] - p)
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
        side = np.sign(np.einsum("ni,ni->n", tetrahedra[:, opposite] - p, normal))
        normal = normal * -side[:, None]
        planes[:, k, :3] = normal
        planes[:, k, 3] = np.einsum("ni,ni->n", normal, p)
    return planes


def cut_by_elements(polyhedra: list[Polyhedron], mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cut polyhedra by the elements of a mesh.

    Returns
    -------
    tetrahedra : ndarray (n, 4, 3)
        Parts inside elements; parts without volume are left out.
    polyhedron, element : ndarray (n,)
        Polyhedron from which each tetrahedron comes, and its element; sorted by element, then polyhedron.
    volume : ndarray (number of elements,)
        Volumes of the elements.
    """
    regions = Regions(mesh)
    fans = [fan(polyhedron) for polyhedron in polyhedra]
    pieces = np.concatenate(fans)
    lengths = np.array([len(tetrahedra) for tetrahedra in fans])
    owner = np.repeat(np.arange(len(fans)), lengths)
    low, high = pieces.min(1), pieces.max(1)
    size = float(max(np.ptp(mesh.nodes, axis=0).max(), abs(mesh.nodes).max() * 1e-3))
    whole = np.array([[polyhedron.vertices.min(0), polyhedron.vertices.max(0)] for polyhedron in polyhedra])
    convex, two = box_pairs(np.concatenate((whole[:, 0], regions.low)), np.concatenate((whole[:, 1], regions.high)))
    mixed = (convex < len(fans)) & (two >= len(fans))
    convex, two = convex[mixed], two[mixed] - len(fans)
    one = ranges((np.cumsum(lengths) - lengths)[convex], lengths[convex])
    two = np.repeat(two, lengths[convex])
    near = ((low[one] <= regions.high[two]) & (regions.low[two] <= high[one])).all(1)
    one, two = one[near], two[near]
    tetrahedra = pieces[one]
    for k in range(6):
        tetrahedra, origin = clip(tetrahedra, regions.planes[two, k], ON_PLANE * size)
        one, two = one[origin], two[origin]
    solid = volumes(tetrahedra) > 1e-15 * regions.volume[regions.element[two]]
    tetrahedra, polyhedron, element = tetrahedra[solid], owner[one[solid]], regions.element[two[solid]]
    order = np.lexsort((polyhedron, element))
    return tetrahedra[order], polyhedron[order], element[order], regions.volume
