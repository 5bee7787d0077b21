"""Tetrahedra inside closed triangulated surfaces, by the optional package tetgen."""

from __future__ import annotations

import glob
import os

import numpy as np

from .. import installed
from ..element_types import TETRAHEDRON
from .adjacency import box_pairs
from .mesh import Mesh
from .mesh_topology import MeshTopology

ATTEMPTS = 20
INSTALL = "pip install 'solfec[tetgen]'"


class MissingPackage(ImportError):
    """An optional package is needed and not installed."""


def backend():
    """Return the package's mesher; MissingPackage, with the command that installs it, if it is not installed."""
    try:
        mesher = installed.load("tetgen._tetgen")
    except ImportError:
        raise MissingPackage(
            f"tetrahedral meshing needs the package tetgen, which is not installed; run: {INSTALL}"
        ) from None
    return mesher.PyTetgen()


def tetrahedralize(points: np.ndarray, triangles: np.ndarray, surfaces: np.ndarray, volume: float | None = None,
                   quality: float | None = None, keep_surface: bool = False, regions=()) -> tuple:  # fmt: skip
    """Fill a closed surface with tetrahedra; the same input always gives the same mesh.

    Parameters
    ----------
    points : ndarray (n, 3)
        Vertices, in units of length.
    triangles : ndarray (nt, 3) of int
        Outward faces; further ones inside are kept as faces between tetrahedra.
    surfaces : ndarray (nt,) of int
        Mark of every face, any integer.
    volume, quality : float, optional
        Greatest volume, and greatest ratio of circumradius and shortest edge, of elements.
    keep_surface : bool
        Put no new points on the surface.
    regions : sequence of (3 numbers, int)
        A point in each region and the region's identifier.

    Returns
    -------
    nodes : ndarray (m, 3)
    elements : ndarray (ne, 4)
    faces, face_marks : ndarray (nf, 3), (nf,)
        Pieces of the given faces, and their marks.
    element_regions : ndarray (ne,) or None
        Region of every element; None without `regions`.

    Raises
    ------
    MissingPackage
        When tetgen is not installed.
    ValueError
        For a surface that is open, crosses itself, or cannot be meshed.
    """
    target = volume
    for _ in range(ATTEMPTS):  # tetgen's last pass, which improves shapes, may enlarge elements again
        result = _filled(points, triangles, surfaces, target, quality, keep_surface, regions)
        corners = result[0][result[1]]
        largest = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).max() / 6.0
        if volume is None or largest <= volume:
            return result
        target *= min(0.95, volume / largest)
    raise ValueError(f"tetgen left an element of volume {largest:g}, although {volume:g} was asked for")


def _filled(points, triangles, surfaces, volume, quality, keep_surface, regions) -> tuple:
    """Make one attempt of `tetrahedralize`."""
    mesher = backend()
    marks, index = np.unique(surfaces, return_inverse=True)
    centre = 0.5 * (points.min(0) + points.max(0))
    size = float(np.ptp(points, axis=0).max())
    mesher.load_mesh(np.ascontiguousarray((points - centre) / size), np.ascontiguousarray(triangles, np.int32))
    mesher.load_facet_markers((index + 1).astype(np.int32))
    for number, (point, _) in enumerate(regions):
        mesher.load_region([*((np.array(point) - centre) / size).tolist(), float(number + 1), 0.0])
    options = dict(plc=1, zeroindex=1, quiet=1, nowarning=1, regionattrib=int(bool(regions)))
    if quality is not None:
        options.update(quality=1, minratio=float(quality))
    if volume is not None:
        options.update(quality=1, fixedvolume=1, maxvolume=float(volume) / size**3)
        options.setdefault("minratio", 1e3)  # a bound on volume alone does not bound shape
    if keep_surface:
        options.update(nobisect=1)
    before = set(glob.glob("_skipped.*"))
    try:
        mesher.tetrahedralize(**options)
    except RuntimeError as error:
        for litter in set(glob.glob("_skipped.*")) - before:  # tetgen writes files of skipped input
            os.remove(litter)
        crossing = crossing_triangles(points, triangles)
        if crossing is not None:
            raise ValueError(f"the surface crosses itself: faces {crossing[0]} and {crossing[1]}") from None
        raise ValueError(f"tetgen could not mesh the surface: {' '.join(str(error).split())}") from None
    nodes, elements = mesher.return_nodes() * size + centre, mesher.return_tets().astype(int)
    faces = mesher.return_trifaces().astype(int)
    face_marks = mesher.return_triface_markers().astype(int)
    if len(elements) == 0:
        raise ValueError("tetgen found no volume inside the surface")
    known = (face_marks >= 1) & (face_marks <= len(marks))
    attributes = np.rint(mesher.return_tetrahedron_attributes()[:, 0]).astype(int) if regions else None
    return nodes, elements, faces[known], marks[face_marks[known] - 1], attributes


def tetrahedral_mesh(nodes, elements, faces, face_marks, volume_ids) -> Mesh:
    """A mesh of tetrahedra with surface identifiers of boundary faces given as triangles."""
    corners = nodes[elements]
    inverted = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0.0
    elements = np.where(inverted[:, None], elements[:, [0, 2, 1, 3]], elements)
    used, flat = np.unique(elements, return_inverse=True)
    topology = MeshTopology(len(used), TETRAHEDRON.size * np.arange(len(elements) + 1), flat.ravel())
    keys, order = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    wanted = np.sort(used[topology.face_nodes[:, :3]], axis=1)
    place = row_numbers(keys, wanted)
    surface = np.where(place >= 0, face_marks[order][place], 0)
    return Mesh(nodes[used], topology.with_surfaces(surface), np.asarray(volume_ids, np.int32))


def row_numbers(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the number of each of `rows` (n, k) among the distinct rows of `table` (m, k); -1 if it is missing."""
    both, inverse = np.unique(np.concatenate((table, rows)), axis=0, return_inverse=True)
    number = np.full(len(both), -1)
    number[inverse.ravel()[: len(table)]] = np.arange(len(table))
    return number[inverse.ravel()[len(table) :]]


def check_closed(triangles: np.ndarray) -> None:
    """Raise ValueError, naming a face, unless every edge belongs to two triangles (nt, 3) of opposite sense."""
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    codes = edges[:, 0].astype(np.int64) * (int(triangles.max()) + 1) + edges[:, 1]
    back = edges[:, 1].astype(np.int64) * (int(triangles.max()) + 1) + edges[:, 0]
    forward, counts = np.unique(codes, return_counts=True)
    at = np.minimum(np.searchsorted(forward, back), len(forward) - 1)
    alone = (forward[at] != back) | (counts[at] != counts[np.searchsorted(forward, codes)])
    if alone.any():
        edge = int(np.argmax(alone))
        a, b = edges[edge].tolist()
        raise ValueError(f"the surface is open or not oriented: edge {a}-{b} of face {edge // 3} has no partner")


def crossing_triangles(points: np.ndarray, triangles: np.ndarray) -> tuple[int, int] | None:
    """Return two triangles without a common vertex that intersect, or None; an edge of one passes through the other."""
    corners = points[triangles]
    one, two = box_pairs(corners.min(1), corners.max(1))
    apart = ~(triangles[one][:, :, None] == triangles[two][:, None, :]).any((1, 2))
    one, two = one[apart], two[apart]
    for a, b in ((one, two), (two, one)):
        for start in range(3):
            p, q = corners[a][:, start], corners[a][:, (start + 1) % 3]
            hit = _passes(p, q, corners[b])
            if hit.any():
                pair = int(np.argmax(hit))
                return tuple(sorted((int(a[pair]), int(b[pair]))))
    return None


def _passes(p: np.ndarray, q: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Whether segments p-q (n, 3) pass through triangles (n, 3, 3)."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]

    def side(u, v, w, x):
        return np.einsum("ij,ij->i", np.cross(v - u, w - u), x - u)

    ends = side(a, b, c, p) * side(a, b, c, q) < 0.0
    turns = np.stack((side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)))
    return ends & ((turns >= 0.0).all(0) | (turns <= 0.0).all(0))
