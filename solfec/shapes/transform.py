"""COPY, SCALE, TRANSLATE and ROTATE of shapes (docs/language-objects.md, SCALE, TRANSLATE, ROTATE).

Shapes and lists of shapes are changed in place and returned; a tuple of three numbers gives a new tuple.
"""

from __future__ import annotations

import math

import numpy as np

QUARTER_TURNS = {0.0: (1.0, 0.0), 90.0: (0.0, 1.0), 180.0: (-1.0, 0.0), 270.0: (0.0, -1.0)}


def copy(shape):
    """Return an independent copy of a shape, or a list of copies of a list, in the same order."""
    if isinstance(shape, list):
        return [member.copy() for member in shape]
    return shape.copy()


def translate(shape, vector):
    """Move a shape, the shapes of a list or a point by `vector` (3 numbers, units of length)."""
    vector = _triple(vector, "vector")
    if isinstance(shape, tuple):
        return tuple((_triple(shape, "shape") + vector).tolist())
    for member in shape if isinstance(shape, list) else (shape,):
        member.translate(vector)
    return shape


def scale(shape, factors):
    """Multiply coordinates by three non-zero `factors` about the global origin.

    Spheres keep their centre, and their radius is multiplied by the magnitude of the first factor.  Where the product
    of the factors is negative, faces and elements are reversed so that normals stay outward.
    """
    factors = _triple(factors, "coefs")
    if isinstance(shape, tuple):
        return tuple((_triple(shape, "shape") * factors).tolist())
    if not factors.all():
        raise ValueError("'coefs' must not be zero")
    for member in shape if isinstance(shape, list) else (shape,):
        member.scale(factors)
    return shape


def rotate(shape, point, axis, angle: float):
    """Turn about the axis through `point` along `axis` by `angle` degrees, right-handed.

    Multiples of a quarter turn about a coordinate axis are exact.
    """
    point = _triple(point, "point")
    rotation = rotation_matrix(_triple(axis, "vector"), angle)
    if isinstance(shape, tuple):
        return tuple((point + rotation @ (_triple(shape, "shape") - point)).tolist())
    for member in shape if isinstance(shape, list) else (shape,):
        member.rotate(point, rotation)
    return shape


def rotation_matrix(axis: np.ndarray, angle: float) -> np.ndarray:
    """Matrix (3, 3) of the rotation about `axis` by `angle` degrees."""
    length = math.sqrt(float(axis @ axis))
    if length == 0.0:
        raise ValueError("'vector' of a rotation must not be zero")
    if not math.isfinite(angle):
        raise ValueError("'angle' must be a finite number")
    x, y, z = (axis / length).tolist()
    radians = math.radians(angle)
    c, s = QUARTER_TURNS.get(angle % 360.0) or (math.cos(radians), math.sin(radians))
    d = 1.0 - c
    return np.array(
        [
            [c + d * x * x, d * x * y - s * z, d * x * z + s * y],
            [d * x * y + s * z, c + d * y * y, d * y * z - s * x],
            [d * x * z - s * y, d * y * z + s * x, c + d * z * z],
        ]
    )


def _triple(values, name: str) -> np.ndarray:
    array = np.array(values, float)
    if array.shape != (3,):
        raise ValueError(f"'{name}' must be three numbers")
    if not all(map(math.isfinite, array.tolist())):
        raise ValueError(f"'{name}' must be finite numbers")
    return array
