"""Splitting shapes by a plane (docs/language-objects.md, SPLIT)."""

from __future__ import annotations

import numpy as np

from .convex import Convex
from .mesh import Mesh
from .split_convex import split_convexes
from .split_mesh import split_mesh


def split(shapes, point, normal, identifiers=(0, 0), connected=False, remesh=True, epsilon=1e-6) -> tuple[list, list]:
    """Split shapes by a plane into those below and those above it.

    Parameters
    ----------
    shapes : list of Convex or Mesh
        Collections of convexes are joined and come first, each convex a shape of its own; not changed.
    point, normal : sequence of 3 numbers
        The plane; its normal points up.
    identifiers : (int, int)
        Surface identifiers of new faces of lower and of upper parts.
    connected : bool
        Cut only the part of each section that is connected with `point` (docs/language-running.md, SIMPLIFIED_CRACK).  Shapes that stay in one
        piece are all returned in the first list.
    remesh : bool
        Whether tetrahedra may replace elements that the plane passes through.
    epsilon : float
        Geometric epsilon, in units of length.

    Returns
    -------
    below, above : list
        A part is below if it extends farther down than up.

    Raises
    ------
    ValueError
        Spheres and ellipsoids, which cannot be split; a zero normal; elements in the way when `remesh` is false.
    """
    normal, point = np.array(normal, float), np.array(point, float)
    length = np.sqrt(normal @ normal)
    if not length > 0.0:
        raise ValueError("'normal' must not be zero")
    normal = normal / length
    for shape in shapes:
        if not isinstance(shape, (Convex, Mesh)):
            raise ValueError(f"a shape of kind {type(shape).__name__} cannot be split; only CONVEX and MESH can")
    polyhedra = [p for shape in shapes if isinstance(shape, Convex) for p in shape.polyhedra]
    below, above = split_convexes(polyhedra, point, normal, identifiers, connected, epsilon)
    for shape in shapes:
        if isinstance(shape, Mesh):
            parts = split_mesh(shape, point, normal, identifiers, connected, remesh, epsilon)
            for part in parts:
                heights = (part.nodes - point) @ normal
                crosses = heights.min() < -epsilon and heights.max() > epsilon  # cut, but still in one piece
                lower = crosses or abs(heights.min()) >= abs(heights.max())
                (below if lower else above).append(part)
    return below, above

