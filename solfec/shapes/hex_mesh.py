"""Structured meshes of hexahedra (docs/language-objects.md, HEX)."""

from __future__ import annotations

import operator
from functools import lru_cache

import numpy as np

from ..element_types import HEXAHEDRON
from .coordinates import check_size
from .identifiers import identifier
from .mesh import Mesh, upright
from .mesh_topology import MeshTopology
from .vectors import cross

FACE_OF_BOX = (0, 4, 3, 2, 1, 5)
"""Entry of the surface list (bottom, left, back, right, front, top) for each face index of a hexahedron."""

MOST_SHARED = 4096  # elements of a topology that is kept for further meshes


def hex_mesh(nodes, i: int, j: int, k: int, volume_id: int, surfaces, dx=None, dy=None, dz=None) -> Mesh:
    """Subdivide a hexahedron into i x j x k elements.

    Parameters
    ----------
    nodes : sequence of 24 numbers
        Corners, in units of length: four of the lower layer, counter-clockwise seen from the upper one, then those
        above them.  Layers given upside down are exchanged; surface identifiers are not.
    i, j, k : int
        Numbers of elements along local x (corner 0 to 1), y (1 to 2) and z (0 to 4).
    volume_id : int
        Volume identifier.
    surfaces : sequence of at least 6 int
        Surface identifiers of z low, x low, y high, x high, y low, z high of the local frame.
    dx, dy, dz : sequence of at least i, j, k positive numbers, optional
        Ratios of element lengths along each direction.

    Raises
    ------
    ValueError
        Too few numbers, counts or ratios that are not positive, corners that do not span a volume.
    """
    corners = np.array(nodes[:24], float)
    if corners.size < 24:
        raise ValueError("'nodes' must hold 8 points (24 numbers)")
    check_size(corners, "nodes")
    if len(surfaces) < 6:
        raise ValueError("'surfids' must hold 6 surface identifiers")
    surfaces = tuple(identifier(s, "surfids") for s in surfaces[:6])
    i, j, k = map(operator.index, (i, j, k))
    for count, name in ((i, "i"), (j, "j"), (k, "k")):
        if count <= 0:
            raise ValueError(f"'{name}' must be positive")
    corners = corners.reshape(8, 3)
    if cross(corners[1] - corners[0], corners[2] - corners[1]) @ (corners[4] - corners[0]) < 0.0:
        corners = corners[[4, 5, 6, 7, 0, 1, 2, 3]]
    x, y, z = breakpoints(dx, i, "dx"), breakpoints(dy, j, "dy"), breakpoints(dz, k, "dz")
    points = blend(corners, x, y, z)
    topology = _hex_topology(i, j, k, surfaces).renewed()
    topology.recall_checks(points)
    if "upright" not in topology.passed:
        upright(points, topology.element_ptr, topology.element_nodes)
        topology.passed.add("upright")
    return Mesh(points, topology, np.full(i * j * k, identifier(volume_id, "volid"), np.int32))


def breakpoints(ratios, count: int, name: str) -> np.ndarray:
    """Positions (count + 1,) in [0, 1] of cell ends, uniform or in proportion to the first `count` ratios."""
    if ratios is None:
        return np.arange(count + 1) / count
    lengths = np.array(ratios[:count], float)
    if lengths.size < count:
        raise ValueError(f"'{name}' must hold at least {count} numbers")
    if not (np.isfinite(lengths).all() and (lengths > 0.0).all()):
        raise ValueError(f"'{name}' must hold positive numbers")
    ends = np.concatenate(([0.0], np.cumsum(lengths)))
    return ends / ends[-1]


def blend(corners: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Trilinear image of a grid in eight corners (8, 3): points numbered with x fastest, then y, then z."""
    x, y, z = (np.array((1.0 - ends, ends)) for ends in (x, y, z))
    box = corners[[0, 1, 3, 2, 4, 5, 7, 6]].reshape(2, 2, 2, 3)  # upper or lower z, y, x
    points = np.einsum("zyxi,xa->zyai", box, x)
    points = np.einsum("zyai,yb->zbai", points, y)
    return np.einsum("zbai,zc->cbai", points, z).reshape(-1, 3)


def _hex_topology(i: int, j: int, k: int, surfaces: tuple[int, ...]) -> MeshTopology:
    """Return the topology of the structured mesh; equal calls share one object if it is small."""
    return (_shared_topology if i * j * k <= MOST_SHARED else _new_topology)(i, j, k, surfaces)


def _new_topology(i: int, j: int, k: int, surfaces: tuple[int, ...]) -> MeshTopology:
    """Return a topology of the structured mesh."""
    a, b, c = np.meshgrid(np.arange(i), np.arange(j), np.arange(k), indexing="ij")
    first = (a + b * (i + 1) + c * (i + 1) * (j + 1)).transpose(2, 1, 0).reshape(-1, 1)
    layer = (i + 1) * (j + 1)
    square = np.array([0, 1, i + 2, i + 1])
    elements = first + np.concatenate((square, square + layer))
    pointers = HEXAHEDRON.size * np.arange(len(elements) + 1)
    topology = MeshTopology(layer * (k + 1), pointers, elements.ravel())
    return topology.with_surfaces(np.array(surfaces)[np.array(FACE_OF_BOX)[topology.face_index]])


_shared_topology = lru_cache(maxsize=64)(_new_topology)
