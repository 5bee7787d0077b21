"""What ``SOLFEC (..., contacts = 'MANIFOLD')`` means.

* Polyhedra share up to four points on the features that face each other (kernel `manifold`), with those features' normals.
* They do so from a margin, which is a part of the size of the smaller of both primitives unless the user chose one.
* Surface materials are gap-aware within this margin, unless the user set a distance of their own.
* Contacts are thinned out within a pair of bodies only, alike for both.
* Faces along which convexes of a body are glued are no surface.
* In dynamics the points of joints are brought together again after every step (constraints/joint_correction.py).
"""

from __future__ import annotations

import sys

import numpy as np

from ..tables import ranges

PART = 0.01  # of the size of the smaller primitive: the margin
WITHIN_MARGIN = sys.float_info.min  # a distance `gap_aware` that stands for the margin, whatever that is


def choose(domain) -> None:
    """Let a domain without bodies have contacts as 'MANIFOLD' says."""
    domain.manifold_contacts = True
    domain.joint_correction = domain.dynamic
    settings = domain.settings
    settings.manifold = settings.patch = settings.symmetric = True
    settings.seams = False
    domain.surface_materials.gap_aware[0] = WITHIN_MARGIN


def sizes_of(geometry) -> np.ndarray:
    """Sizes (n,) of the primitives in their reference placements: longest sides of their boxes, diameters."""
    primitives = geometry.primitives
    count = primitives.view("vertex_count")
    if not len(count):
        return np.zeros(0)
    listed = geometry.vertex_lists.vertex[ranges(primitives.view("vertex_ptr"), count)]
    points, starts = geometry.vertices.reference[:, listed], np.cumsum(count) - count
    extents = np.maximum.reduceat(points, starts, axis=1) - np.minimum.reduceat(points, starts, axis=1)
    curved = 2 * np.maximum(primitives.view("radius"), primitives.view("radii").max(axis=0))
    return np.maximum(extents.max(axis=0), np.where(count == 1, curved, 0.0))
