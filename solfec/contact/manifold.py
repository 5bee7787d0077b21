"""Settings of ``SOLFEC (..., contacts = 'MANIFOLD')``.

* Polyhedra share up to four points on features that face each other (kernel `manifold`), with normals of these features.
* They are in contact within a margin, which is a part of the size of the smaller primitive unless the user chose one.
* Surface materials are gap-aware within this margin, unless the user set a distance.
* Sparsification compares contacts of the same two bodies only, and treats both bodies alike.
* Faces along which convexes of a body are glued do not belong to the surface.
* Joints are corrected after every step (constraints/joint_correction.py).
"""

from __future__ import annotations

import sys

import numpy as np

from ..tables import ranges

PART = 0.01  # margin over the size of the smaller primitive
WITHIN_MARGIN = sys.float_info.min  # a distance `gap_aware` that means the margin itself


def choose(domain) -> None:
    """Set a domain without bodies to contacts = 'MANIFOLD'."""
    domain.manifold_contacts = True
    domain.joint_correction = True
    settings = domain.settings
    settings.manifold = settings.patch = settings.symmetric = True
    settings.seams = False
    domain.surface_materials.gap_aware[0] = WITHIN_MARGIN


def sizes_of(geometry) -> np.ndarray:
    """Return sizes (n,) of the primitives in their reference placements, which are the same in all axes: diameters, of polyhedra twice the largest
    deviation of the vertices from their mean along a direction, which is the longest side of a box, or what their distance from the mean allows for."""
    primitives = geometry.primitives
    count = primitives.view("vertex_count")
    if not len(count):
        return np.zeros(0)
    curved = 2 * np.maximum(primitives.view("radius"), primitives.view("radii").max(axis=0))
    return np.where(count == 1, curved, _sizes_of_polyhedra(geometry, primitives.view("vertex_ptr"), count))


def _sizes_of_polyhedra(geometry, pointers: np.ndarray, count: np.ndarray) -> np.ndarray:
    listed = geometry.vertex_lists.vertex[ranges(pointers, count)]
    starts = np.cumsum(count) - count
    places = geometry.vertices.reference[:, listed]
    places = places - np.repeat(np.add.reduceat(places, starts, axis=1) / count, count, axis=1)
    xx, yy, zz, xy, yz, zx = (np.add.reduceat(places[i] * places[j], starts) / count for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)))
    # the largest eigenvalue of the covariance, by the closed form for its mean and its deviator
    mean = (xx + yy + zz) / 3
    spread = np.sqrt(((xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2) / 6 + (xy**2 + yz**2 + zx**2) / 3)
    unit = np.where(spread > 0, spread, 1.0)
    a, b, c, d, e, f = (values / unit for values in (xx - mean, yy - mean, zz - mean, xy, yz, zx))
    cosine = 0.5 * (a * (b * c - e**2) - d * (d * c - e * f) + f * (d * e - b * f))
    largest = mean + 2 * spread * np.cos(np.arccos(np.clip(cosine, -1, 1)) / 3)
    furthest = np.sqrt(np.maximum.reduceat((places**2).sum(0), starts))
    return 2 * np.maximum(np.sqrt(largest), furthest / np.sqrt(3.0))
