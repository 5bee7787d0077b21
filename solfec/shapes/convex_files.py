"""Convex polyhedra from closed surfaces in files (CONVEX_READ); decomposition by the optional package coacd."""

from __future__ import annotations

import warnings

import numpy as np

from .. import installed
from ..connected import components
from ..errors import SolfecWarning
from .convex import Convex
from .hull import hull
from .surface_files import read_surface
from .tetrahedra import MissingPackage, check_closed

INSTALL = "pip install 'solfec[decompose]'"
CONVEXITY = 1e-5
"""Part of its hull that a convex surface may leave empty."""


def read_convexes(path: str, volume_id=0, surface_id=0, concavity: float | None = None, epsilon=1e-6) -> Convex:
    """Read the closed surfaces of a file as a collection of convex polyhedra.

    Parameters
    ----------
    path : str
        A file that `read_surface` can read.
    volume_id, surface_id : int
        Identifiers of all polyhedra and faces.
    concavity : float, optional
        Cut surfaces that are not convex into parts until no part is deeper than this below its hull, relative to the
        size of the surface. None: surfaces that are not convex are errors.
    epsilon : float
        Geometric epsilon; see `hull`.

    Returns
    -------
    Convex
        In the order of the first faces; coplanar triangles are merged.

    Raises
    ------
    MissingPackage
        When coacd is needed and not installed.
    ValueError
        Surfaces that are open, hollow, flat, or not convex.

    Warns
    -----
    SolfecWarning
        When all faces look inward; they are turned round.
    """
    surface = read_surface(path)
    if surface.marks.any():
        raise ValueError(f"'{path}' has facet markers, which convex parts cannot keep; use TETRAHEDRALIZE")
    points, numbers = np.unique(surface.points, axis=0, return_inverse=True)  # seams repeat vertices
    triangles = numbers.ravel()[surface.triangles]
    triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(1)]
    try:
        check_closed(triangles)
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from None
    labels = _parts(triangles)
    volumes = [_volume(points, triangles[labels == part]) for part in range(labels.max() + 1)]
    if max(volumes) < 0.0:
        warnings.warn(f"all faces in '{path}' look inward; they are turned round", SolfecWarning, stacklevel=3)
        triangles, volumes = triangles[:, ::-1], [-volume for volume in volumes]
    polyhedra = []
    for part, volume in enumerate(volumes):
        if volume == 0.0:
            raise ValueError(f"part {part} of '{path}' has no volume")
        if not volume > 0.0:
            raise ValueError(f"part {part} of '{path}' looks inward: hollow bodies are for TETRAHEDRALIZE")
        faces = triangles[labels == part]
        (whole,) = hull(points[np.unique(faces)], volume_id, surface_id, epsilon).polyhedra
        full = _volume(whole.vertices, whole.face_set.triangles)
        if full - volume <= CONVEXITY * full:
            polyhedra.append(whole)
        elif concavity is None:
            raise ValueError(
                f"part {part} of '{path}' is not convex: it fills {100.0 * volume / full:.4g} % of its convex hull; give "
                "decompose='ON', or mesh it by TETRAHEDRALIZE"
            )
        else:
            for piece in decomposed(points, faces, concavity):
                polyhedra += hull(piece, volume_id, surface_id, epsilon).polyhedra
    return Convex(polyhedra)


def decomposed(points: np.ndarray, triangles: np.ndarray, concavity: float) -> list[np.ndarray]:
    """Return vertices of convex parts that nearly fill a closed surface; equal input gives equal parts."""
    try:
        coacd = installed.load("coacd")
    except ImportError:
        raise MissingPackage(
            f"convex decomposition needs the package coacd, which is not installed; run: {INSTALL}"
        ) from None
    used, numbers = np.unique(triangles, return_inverse=True)
    points = points[used]
    centre, size = 0.5 * (points.min(0) + points.max(0)), float(np.ptp(points, axis=0).max())
    coacd.set_log_level("error")
    mesh = coacd.Mesh((points - centre) / size, np.ascontiguousarray(numbers.reshape(-1, 3), np.int32))
    parts = coacd.run_coacd(mesh, threshold=concavity, preprocess_mode="off", seed=0)
    if not parts:
        raise ValueError("coacd found no convex parts")
    return [np.asarray(vertices) * size + centre for vertices, _ in parts]


def _parts(triangles: np.ndarray) -> np.ndarray:
    """Return the number of the connected surface of every triangle, ordered by first triangles."""
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    order = np.lexsort(edges.T)
    same = (edges[order[1:]] == edges[order[:-1]]).all(1)
    pairs = np.stack((order[:-1][same] // 3, order[1:][same] // 3), 1)
    return components(len(triangles), *pairs.T)


def _volume(points: np.ndarray, triangles: np.ndarray) -> float:
    """Signed volume inside outward triangles."""
    corners = points[triangles] - points[triangles[0, 0]]
    return float(np.linalg.det(corners).sum()) / 6.0
