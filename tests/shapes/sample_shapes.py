"""Shapes that several tests use."""

from __future__ import annotations

import itertools

import numpy as np

from solfec.shapes.convex import Convex
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.hull import hull

UNIT_CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BOX_FACES = [4, 0, 3, 2, 1, 1, 4, 0, 1, 5, 4, 2, 4, 1, 2, 6, 5, 3, 4, 2, 3, 7, 6, 4, 4, 0, 4, 7, 3, 5, 4, 4, 5, 6, 7, 6]
TET_FACES = [3, 0, 2, 1, 7, 3, 0, 1, 3, 7, 3, 1, 2, 3, 7, 3, 2, 0, 3, 7]
TET_VERTICES = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]


def cube(edge=1.0, corner=(0.0, 0.0, 0.0), surface=0):
    """A cube made by HULL."""
    points = np.array(list(itertools.product((0.0, edge), repeat=3))) + corner
    return hull(points, 0, surface)


def polygon_cube():
    """The unit cube as CONVEX with one surface identifier (1 to 6) per face."""
    return Convex.from_records(UNIT_CORNERS, BOX_FACES, 3)


def unit_mesh(i=1, j=1, k=1, surfaces=(11, 12, 13, 14, 15, 16), **ratios):
    """The unit cube as HEX."""
    return hex_mesh(UNIT_CORNERS, i, j, k, 0, list(surfaces), **ratios)


def tetrahedron():
    """The unit tetrahedron as CONVEX."""
    return Convex.from_records(TET_VERTICES, TET_FACES, 0)
