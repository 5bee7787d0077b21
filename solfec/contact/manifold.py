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

from .. import _kernels
from ..tables import opened

_find_sizes = _kernels.primitive_sizes.find_sizes

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
    """Return sizes (n,) of the primitives in their reference placements: diameters, and of polyhedra the largest width across a face."""
    sizes = np.empty(geometry.primitives.n)
    if sizes.size:
        opened(_find_sizes(geometry.handles, sizes))
    return sizes
