"""Ellipsoids (docs/language-objects.md, ELLIP)."""

from __future__ import annotations

import numpy as np

from .coordinates import check_size
from .identifiers import identifier

ORTHOGONAL = 1e-14  # cosine below which scaled axes are still orthogonal


class Ellipsoid:
    """The points x with |D^-1 R^T (x - centre)| <= 1, D the diagonal matrix of semi-axes, R their directions.

    Parameters
    ----------
    centre : sequence of 3 numbers
        Centre, in units of length.
    radii : sequence of 3 numbers
        Positive semi-axes, in units of length; at first along the global axes.
    volume_id, surface_id : int
        Identifiers by which materials are assigned.

    Attributes
    ----------
    rotation : ndarray (3, 3)
        Proper rotation whose columns are the directions of the semi-axes.

    Raises
    ------
    ValueError
        When a semi-axis is not positive or a number is not finite or too large.
    """

    __slots__ = ("centre", "radii", "rotation", "volume_id", "surface_id")

    def __init__(self, centre, radii, volume_id: int = 0, surface_id: int = 0):
        self.centre, self.radii = np.array(centre, float), np.array(radii, float)
        if self.centre.shape != (3,) or self.radii.shape != (3,):
            raise ValueError("'center' and 'radii' must be three numbers each")
        check_size(self.centre, "center")
        check_size(self.radii, "radii")
        if not (self.radii > 0.0).all():
            raise ValueError(f"'radii' of an ellipsoid must be positive, not {tuple(self.radii.tolist())}")
        self.rotation = np.eye(3)
        self.volume_id = identifier(volume_id, "volid")
        self.surface_id = identifier(surface_id, "surfid")

    def copy(self) -> Ellipsoid:
        """Return an independent copy."""
        other = object.__new__(Ellipsoid)
        other.centre, other.radii, other.rotation = self.centre.copy(), self.radii.copy(), self.rotation.copy()
        other.volume_id, other.surface_id = self.volume_id, self.surface_id
        return other

    def translate(self, vector: np.ndarray) -> None:
        """Move the centre by `vector` (3,)."""
        self.centre += vector

    def rotate(self, point: np.ndarray, rotation: np.ndarray) -> None:
        """Turn about `point` (3,) by the matrix `rotation` (3, 3)."""
        self.centre = point + rotation @ (self.centre - point)
        self.rotation = rotation @ self.rotation

    def scale(self, factors: np.ndarray) -> None:
        """Multiply coordinates by `factors` (3,) about the global origin."""
        self.centre *= factors
        self.radii, self.rotation = stretched(self.radii, self.rotation, np.diag(factors))

    def inverse_shape(self) -> np.ndarray:
        """Symmetric matrix (3, 3) B with support function sqrt(n B n): R D^2 R^T."""
        return (self.rotation * self.radii**2) @ self.rotation.T


def stretched(radii: np.ndarray, rotation: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Semi-axes and directions of the image of an ellipsoid under the linear map `gradient` (3, 3).

    The quadric A = R D^-2 R^T becomes F^-T A F^-1, so R' D' are the left singular vectors and singular values of
    F R D.  Every new axis takes the place and the sense of the nearest old one.
    """
    columns = gradient @ (rotation * radii)
    lengths = np.sqrt((columns**2).sum(0))
    cosines = (columns / lengths).T @ (columns / lengths)
    if np.abs(cosines - np.diag(np.diag(cosines))).max() <= ORTHOGONAL:  # images of the axes stay orthogonal
        radii, rotation = lengths, columns / lengths
    else:
        directions, values, sources = np.linalg.svd(columns)
        order, weights = [-1, -1, -1], np.abs(sources)
        for _ in range(3):
            new, old = np.unravel_index(np.argmax(weights), (3, 3))
            order[old] = new
            weights[new, :] = weights[:, old] = -1.0
        radii, rotation = values[order], directions[:, order]
        rotation = rotation * np.where((rotation * columns).sum(0) < 0.0, -1.0, 1.0)
    return radii, -rotation if np.linalg.det(rotation) < 0.0 else rotation
