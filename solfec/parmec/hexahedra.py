"""MESH_HEX, a helper of Parmec's inputs: a particle meshed by a grid of hexahedra."""

from __future__ import annotations

import numpy as np

from ..language import checks
from ..language.checks import BadValue, command
from ..language.hints import Numbers
from ..language.shapes import reported
from ..shapes.hex_mesh import hex_mesh
from . import arguments
from .model import current
from .particles import MESH


@command("MESH_HEX")
def MESH_HEX(
    nodes: list, i: int, j: int, k: int, material: int, colors: list[int], dx: Numbers | None = None, dy: Numbers | None = None, dz: Numbers | None = None
) -> int:
    """Create a rigid particle from a hexahedron that is cut into i x j x k elements.

    Parameters
    ----------
    nodes : list of 8 tuples of 3 floats
        Corners: four of the lower layer, counter-clockwise seen from above, then those above them.
    i, j, k : int
        Numbers of elements along the sides from corner 0 to 1, 1 to 2 and 0 to 4.
    material : int
    colors : list of 6 int
        Colors of the faces, in the order of HEX: z low, x low, y high, x high, y low, z high of the local frame.
    dx, dy, dz : list of floats, optional
        Ratios of the elements' lengths.

    Returns
    -------
    int
        Number of the particle.
    """
    corners = [checks.vector(item, f"nodes[{n}]") for n, item in enumerate(checks.sequence(nodes, "nodes"))]
    if len(corners) != 8:
        raise BadValue(f"'nodes' must hold 8 points, it holds {len(corners)}")
    counts = [checks.integer(value, name, minimum=1) for value, name in ((i, "i"), (j, "j"), (k, "k"))]
    number = arguments.material(current(), material)
    faces = [arguments.colour(item, f"colors[{n}]") for n, item in enumerate(checks.sequence(colors, "colors"))]
    if len(faces) != 6:
        raise BadValue(f"'colors' must hold 6 colors, it holds {len(faces)}")
    ratios = [None if value is None else checks.numbers(value, name).tolist() for value, name in ((dx, "dx"), (dy, "dy"), (dz, "dz"))]
    with reported():
        mesh = hex_mesh(np.ravel(corners).tolist(), *counts, number, faces, *ratios)
    points, elements, surfaces = mesh.records()
    return MESH(points, elements, number, [faces[0], *surfaces[1:]])
