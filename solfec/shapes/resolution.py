"""Check that a shape's coordinates are small enough to resolve the geometric epsilon."""

from __future__ import annotations

import math
import warnings

import numpy as np

from ..errors import SolfecWarning
from .convex import Convex
from .coordinates import LARGEST
from .mesh import Mesh
from .sphere import Sphere

DIGITS = 16  # least number of spacings of floating-point numbers in the geometric epsilon


def check_resolution(shapes: list, epsilon: float) -> None:
    """Raise ValueError for coordinates whose triple products overflow; warn when epsilon is not larger than round-off.

    Parameters
    ----------
    shapes : list of Convex, Mesh, Sphere, Ellipsoid
        A body's shape.
    epsilon : float
        Geometric epsilon, in units of length.
    """
    largest = max(map(_largest, shapes), default=0.0)
    if not largest <= LARGEST:
        raise ValueError(f"coordinates of the shape reach {largest:g}; they must not exceed {LARGEST:g}")
    if DIGITS * math.ulp(largest) > epsilon:
        warnings.warn(
            f"coordinates of the shape reach {largest:g}, where floating-point numbers are {math.ulp(largest):.2g} apart: too "
            f"coarse for the geometric epsilon {epsilon:g}; move the model nearer to the origin or raise GEOMETRIC_EPSILON",
            SolfecWarning,
            stacklevel=3,
        )


def _largest(shape) -> float:
    """Return the larger of a shape's largest coordinate magnitude and its size."""
    if isinstance(shape, Convex):
        return max([float(np.abs(p.vertices).max()) for p in shape.polyhedra])
    if isinstance(shape, Mesh):
        return float(np.abs(shape.nodes).max())
    radius = shape.radius if isinstance(shape, Sphere) else float(shape.radii.max())
    return max(map(abs, shape.centre.tolist())) + radius
