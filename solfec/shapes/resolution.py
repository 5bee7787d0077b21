"""Check that a shape's coordinates are small enough to resolve the geometric epsilon."""

from __future__ import annotations

import math
import warnings
from operator import sub

import numpy as np

from ..errors import SolfecWarning
from .convex import Convex
from .coordinates import LARGEST
from .mesh import Mesh
from .sphere import Sphere

DIGITS = 16  # least number of spacings of floating-point numbers in the geometric epsilon
SMALLEST = 100  # least size of a body, in geometric epsilons


def check_resolution(shapes: list, epsilon: float) -> None:
    """Raise ValueError for coordinates whose triple products overflow; warn when epsilon is not larger than round-off, or nearly as large as the body.

    Parameters
    ----------
    shapes : list of Convex, Mesh, Sphere, Ellipsoid
        A body's shape.
    epsilon : float
        Geometric epsilon, in units of length.
    """
    if not shapes:
        return
    low, high = _box(shapes[0])
    for shape in shapes[1:]:
        more = _box(shape)
        low, high = np.minimum(low, more[0]), np.maximum(high, more[1])
    low, high = low.tolist(), high.tolist()  # bodies come in thousands, and few numbers are faster without numpy
    numbers = low + high
    largest = max(map(abs, numbers))
    if not (largest <= LARGEST and all(map(math.isfinite, numbers))):
        raise ValueError(f"coordinates of the shape reach {largest:g}; they must not exceed {LARGEST:g}")
    if DIGITS * math.ulp(largest) > epsilon:
        warnings.warn(
            f"coordinates of the shape reach {largest:g}, where floating-point numbers are {math.ulp(largest):.2g} apart: too "
            f"coarse for the geometric epsilon {epsilon:g}; move the model nearer to the origin or raise GEOMETRIC_EPSILON",
            SolfecWarning,
            stacklevel=3,
        )
    size = max(map(sub, high, low))
    if 0.0 < size < SMALLEST * epsilon:
        warnings.warn(
            f"the shape is {size:.2g} long: too small for the geometric epsilon {epsilon:g}, within which bodies touch; they may float beside "
            "each other or fall through each other; lower GEOMETRIC_EPSILON, before the bodies",
            SolfecWarning,
            stacklevel=3,
        )


def _box(shape) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest coordinates of a shape, of an ellipsoid those of the sphere about it."""
    if isinstance(shape, Convex):
        points = shape.polyhedra[0].vertices if len(shape.polyhedra) == 1 else np.concatenate([p.vertices for p in shape.polyhedra])
    elif isinstance(shape, Mesh):
        points = shape.nodes
    else:
        radius = shape.radius if isinstance(shape, Sphere) else float(shape.radii.max())
        return shape.centre - radius, shape.centre + radius
    return np.minimum.reduce(points), np.maximum.reduce(points)  # in half the time of points.min and max
