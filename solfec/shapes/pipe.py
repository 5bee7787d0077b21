"""Meshes of straight pipes (docs/language-objects.md, PIPE)."""

from __future__ import annotations

import operator

import numpy as np

from ..element_types import HEXAHEDRON
from .coordinates import check_size
from .identifiers import identifier
from .mesh import Mesh, upright
from .mesh_topology import MeshTopology

PARALLEL = 1e-10  # sine of the angle to global x below which the first cross direction is taken from global y
FACE_OF_PIPE = (0, 0, 3, 0, 2, 1)
"""Entry of the surface identifiers (base, far end, inner, outer) for each face index on the boundary."""


def pipe(point, direction, inner: float, thickness: float, along: int, around: int, across: int, volume_id: int,
         surfaces) -> Mesh:  # fmt: skip
    """Mesh a pipe with hexahedra, local x radial, y circumferential, z axial.

    Parameters
    ----------
    point, direction : sequence of 3 numbers
        Centre of the base, and the axis, as long as the pipe.
    inner, thickness : float
        Inner radius and thickness of the wall, positive, in units of length.
    along, around, across : int
        Numbers of elements along the axis, round it (at least 3), and across the wall.
    volume_id : int
        Volume identifier.
    surfaces : sequence of at least 4 int
        Surface identifiers of base, far end, inner wall, outer wall.

    Returns
    -------
    Mesh
        Node (i around + j) (across + 1) + k lies at axial division i, angle j and radial division k.

    Raises
    ------
    ValueError
        Sizes that are not positive, too few divisions or surface identifiers.
    """
    point, direction = np.array(point, float), np.array(direction, float)
    check_size(np.concatenate((point, direction)), "pnt and dir")
    length = np.sqrt(direction @ direction)
    for size, name in ((length, "dir"), (inner, "rin"), (thickness, "thi")):
        if not (size > 0.0 and np.isfinite(size)):
            raise ValueError(f"'{name}' of a pipe must be positive")
    along, around, across = map(operator.index, (along, around, across))
    for count, least, name in ((along, 1, "ndir"), (around, 3, "nrad"), (across, 1, "nthi")):
        if count < least:
            raise ValueError(f"'{name}' must be at least {least}, not {count}")
    if len(surfaces) < 4:
        raise ValueError("'surfids' must hold 4 surface identifiers")
    surfaces = np.array([identifier(s, "surfids") for s in surfaces[:4]])
    axis = direction / length
    first = np.cross(axis, (1.0, 0.0, 0.0))
    if np.sqrt(first @ first) < PARALLEL:
        first = np.cross(axis, (0.0, 1.0, 0.0))
    first /= np.sqrt(first @ first)
    second = np.cross(axis, first)
    angle = 2.0 * np.pi * np.arange(around) / around
    radial = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second
    radii = inner + thickness * np.arange(across + 1) / across
    levels = np.arange(along + 1) / along
    nodes = (
        point + levels[:, None, None, None] * direction + radii[None, None, :, None] * radial[None, :, None, :]
    ).reshape(-1, 3)
    topology = _topology(along, around, across)
    topology = topology.with_surfaces(surfaces[np.array(FACE_OF_PIPE)[topology.face_index]])
    upright(nodes, topology.element_ptr, topology.element_nodes)
    return Mesh(nodes, topology, np.full(topology.element_count, identifier(volume_id, "volid"), np.int32))


def _topology(along: int, around: int, across: int) -> MeshTopology:
    """Elements with axial division slowest and radial division fastest."""
    i, j, k = (n.ravel() for n in np.meshgrid(*map(np.arange, (along, around, across)), indexing="ij"))

    def number(a, b, c):
        return (a * around + b % around) * (across + 1) + c

    base = [number(i, j, k), number(i, j, k + 1), number(i, j + 1, k + 1), number(i, j + 1, k)]
    elements = np.stack(base + [n + around * (across + 1) for n in base], axis=1)
    return MeshTopology((along + 1) * around * (across + 1), HEXAHEDRON.size * np.arange(len(elements) + 1), elements.ravel())
