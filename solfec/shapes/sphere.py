"""Spheres (docs/language-objects.md, SPHERE)."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import SolfecWarning
from .coordinates import LARGEST, check_point
from .identifiers import identifier


class Sphere:
    """A ball with one surface identifier.

    Parameters
    ----------
    centre : sequence of 3 numbers
        Centre, in units of length.
    radius : float
        Positive radius, in units of length.
    volume_id, surface_id : int
        Identifiers by which materials are assigned.

    Raises
    ------
    ValueError
        When the radius is not positive or a number is not finite.
    """

    __slots__ = ("centre", "radius", "volume_id", "surface_id")

    def __init__(self, centre, radius: float, volume_id: int = 0, surface_id: int = 0):
        self.centre = np.array(centre, float)
        self.radius = float(radius)
        if self.centre.shape != (3,):
            raise ValueError("'center' must be three numbers")
        check_point(self.centre.tolist(), "center")
        if not self.radius <= LARGEST:
            check_point([self.radius], "radius")
        if self.radius <= 0.0:
            raise ValueError(f"'radius' of a sphere must be positive, not {self.radius:g}")
        self.volume_id = identifier(volume_id, "volid")
        self.surface_id = identifier(surface_id, "surfid")

    def copy(self) -> Sphere:
        """Return an independent copy."""
        other = object.__new__(Sphere)
        other.centre = self.centre.copy()
        other.radius = self.radius
        other.volume_id = self.volume_id
        other.surface_id = self.surface_id
        return other

    def translate(self, vector: np.ndarray) -> None:
        """Move the centre by `vector` (3,)."""
        self.centre += vector

    def rotate(self, point: np.ndarray, rotation: np.ndarray) -> None:
        """Turn the centre about `point` (3,) by the matrix `rotation` (3, 3)."""
        self.centre = point + rotation @ (self.centre - point)

    def scale(self, factors: np.ndarray) -> None:
        """Scale the radius by the first factor; the centre stays, as in Solfec-1.0, with a warning."""
        if self.centre.any():
            warnings.warn("SCALE changes the radius of a SPHERE and leaves its centre where it is", SolfecWarning, stacklevel=3)
        self.radius *= abs(float(factors[0]))
