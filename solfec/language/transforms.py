"""COPY, SCALE, TRANSLATE, ROTATE and BEND (docs/language-objects.md, Shapes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..shapes import transform
from ..shapes.bend import bend
from ..shapes.coordinates import check_size
from . import checks, session
from .checks import BadValue, command
from .hints import Vector
from .shapes import MESH, Shape, reported, shape_of, shapes_of

Shaped = TypeVar("Shaped", bound=Shape | Sequence)  # a shape, a list of shapes, or a point


@command("COPY")
def COPY(shape: Shaped) -> Shaped:
    """Copy shapes: one object for one, a list for several.

    Parameters
    ----------
    shape
        Shape object, or a list of them; not changed.

    Returns
    -------
    shape object or list
    """
    copies = [type(item)._of(transform.copy(item._content)) for item in shapes_of(shape, "shape")]
    return copies[0] if len(copies) == 1 else copies


@command("SCALE")
def SCALE(shape: Shaped, coefs: Vector) -> Shaped:
    """Scale shapes, or a point, along the axes about the origin (a sphere: its radius by the first factor).

    Parameters
    ----------
    shape
        Shape object, list of them (returned, changed in place), or point (a new tuple is returned).
    coefs : tuple of 3
        Factors, not zero.

    Returns
    -------
    shape object or list, changed in place, or the new point
    """
    coefs = _usable(coefs, "coefs")
    if 0.0 in coefs:
        raise BadValue("'coefs' must not hold zeros")
    return _applied(transform.scale, shape, coefs)


@command("TRANSLATE")
def TRANSLATE(shape: Shaped, vector: Vector) -> Shaped:
    """Move shapes, or a point, by a vector.

    Parameters
    ----------
    shape
        See SCALE.
    vector : tuple of 3

    Returns
    -------
    shape object or list, changed in place, or the new point
    """
    vector = _usable(vector, "vector")
    return _applied(transform.translate, shape, vector)


@command("ROTATE")
def ROTATE(shape: Shaped, point: Vector, vector: Vector, angle: float) -> Shaped:
    """Turn shapes, or a point, about an axis.

    Parameters
    ----------
    shape
        See SCALE.
    point, vector : tuple of 3
        Point on the axis and its direction, not zero.
    angle : float
        Degrees.

    Returns
    -------
    shape object or list, changed in place, or the new point
    """
    point, vector = checks.vector(point, "point"), checks.direction(vector, "vector")
    angle = checks.number(angle, "angle")
    return _applied(transform.rotate, shape, point, vector, angle)


@command("BEND")
def BEND(shape: Shaped, point: Vector, direction: Vector, angle: float) -> Shaped:
    """Wrap a mesh round an axis, from its section nearest to the axis onward.

    Parameters
    ----------
    shape : MESH
        Changed in place and returned.
    point, direction : tuple of 3
        Axis; the bending follows its right-hand sense.
    angle : float
        Positive, degrees.

    Returns
    -------
    MESH or list
        `shape`, changed in place.
    """
    shape = shape_of(shape, "shape", MESH)
    point, direction = checks.vector(point, "point"), checks.direction(direction, "direction")
    angle = checks.positive(angle, "angle")
    with reported():
        bend(shape._content, point, direction, angle, session.current().epsilon)
    return shape


def _usable(vector: Vector, name: str) -> tuple[float, float, float]:
    """Check a vector whose numbers are small enough for coordinates not to overflow."""
    vector = checks.vector(vector, name)
    with reported():
        check_size(vector, name)
    return vector


def _applied(function, shape, *arguments):
    """Apply a transformation; return the image of a point, or the changed shapes."""
    if checks.is_sequence(shape) and len(shape) > 0 and not any(isinstance(item, Shape) for item in shape):
        return function(checks.vector(shape, "shape"), *arguments)
    for item in shapes_of(shape, "shape"):
        with reported():
            function(item._content, *arguments)
    return shape
