"""Convexes and meshes cut into Voronoi cells: the region nearer to a point than to all others."""

from __future__ import annotations

import numpy as np

from .characteristics import characteristics
from .convex import Convex
from .mesh import Mesh, element_volumes
from .plane_cut import along_faces
from .polyhedron import Polyhedron
from .split_convex import halves

ON_PLANE = 1e-10  # of the size of a polyhedron: vertices nearer than this to a bisector lie on it


def voronoi(polyhedra: list[Polyhedron], points: np.ndarray, surface: int) -> list[Convex]:
    """Cut polyhedra into the cells of points.

    Parameters
    ----------
    polyhedra : list of Polyhedron
        Not changed; each is cut by the points inside it, and stays whole with fewer than two.
    points : ndarray (n, 3)
    surface : int
        Surface identifier of the faces between cells; outer ones keep theirs.

    Returns
    -------
    list of Convex
        One for each point inside a polyhedron, in their order; one for each polyhedron without points.

    Raises
    ------
    ValueError
        A point outside of all polyhedra, two points in one place.
    """
    owner = holders(polyhedra, points)
    if (owner < 0).any():
        x, y, z = points[int(np.argmin(owner))]
        raise ValueError(f"point {int(np.argmin(owner))} of 'seeds', ({x:g}, {y:g}, {z:g}), is outside of the shape")
    cells = []
    for number, polyhedron in enumerate(polyhedra):
        own = points[owner == number]
        cells += [polyhedron.copy()] if len(own) < 2 else _cells(polyhedron, own, surface)
    return [Convex([cell]) for cell in cells]


def _cells(polyhedron: Polyhedron, points: np.ndarray, surface: int) -> list[Polyhedron]:
    """The cells of points, all of them inside of a polyhedron.

    Each is cut by the bisectors with other points, near ones first, until the next point is more than twice as far away as the cell's vertices.
    """
    size = float(np.ptp(polyhedron.vertices, axis=0).max())
    cells = []
    for point in points:
        away = np.linalg.norm(points - point, axis=1)
        cell, reach = polyhedron, np.inf
        for other in np.argsort(away, kind="stable")[1:].tolist():
            if away[other] <= 1e-9 * size:
                x, y, z = point
                raise ValueError(f"two points of 'seeds' are in one place, ({x:g}, {y:g}, {z:g})")
            if away[other] > 2.0 * reach * (1.0 + 1e-9):
                break
            normal = (points[other] - point) / away[other]
            below, _ = halves(cell, 0.5 * (point + points[other]), normal, (surface, surface), ON_PLANE * size)
            if below is not cell:
                cell, reach = below, np.linalg.norm(below.vertices - point, axis=1).max()
        cells.append(cell.copy() if cell is polyhedron else cell)
    return cells


def holders(polyhedra: list[Polyhedron], points: np.ndarray) -> np.ndarray:
    """Return the first polyhedron that strictly contains each point (n, 3), -1 for none."""
    owner = np.full(len(points), -1)
    for number in reversed(range(len(polyhedra))):
        inside = np.ones(len(points), bool)
        polyhedron = polyhedra[number]
        for face in polyhedron.faces:
            a, b, c = polyhedron.vertices[list(face[:3])]
            inside &= (points - a) @ np.cross(b - a, c - a) < 0.0
        owner[inside] = number
    return owner


def random_points(polyhedra: list[Polyhedron], count: int, seed: int) -> np.ndarray:
    """Draw points (count, 3) uniformly in the volume of polyhedra; equal seeds give equal points."""
    random = np.random.default_rng(seed)
    volumes = np.array([characteristics([Convex([p])])[0] for p in polyhedra])
    chosen = np.sort(random.choice(len(polyhedra), count, p=volumes / volumes.sum()))
    points = []
    for number in chosen.tolist():
        low, high = polyhedra[number].vertices.min(0), polyhedra[number].vertices.max(0)
        while True:
            tried = low + (high - low) * random.random((64, 3))
            found = np.flatnonzero(holders([polyhedra[number]], tried) == 0)
            if found.size:
                points.append(tried[found[0]])
                break
    return np.array(points)


def voronoi_of_mesh(mesh: Mesh, points: np.ndarray, surface: int, relax: int = 0) -> list[Mesh]:
    """Part a mesh between its elements into the cells of points: elements whose middles are nearest to the same point.

    Parameters
    ----------
    mesh : Mesh
        Not changed.
    points : ndarray (n, 3)
    surface : int
        Surface identifier of the faces between cells; outer ones keep theirs.
    relax : int
        How many times points move to the centres of their cells.

    Returns
    -------
    list of Mesh
        The parts that hang together through faces; a point has none, one or several.
    """
    from scipy.spatial import cKDTree

    topology = mesh.topology
    flat, pointers = topology.element_nodes, topology.element_ptr
    middles = np.add.reduceat(mesh.nodes[flat], pointers[:-1]) / np.diff(pointers)[:, None]
    volumes = element_volumes(mesh.nodes, pointers, flat)
    for _ in range(relax):
        cell = cKDTree(points).query(middles)[1]
        sizes = np.bincount(cell, volumes, len(points))
        moments = np.column_stack([np.bincount(cell, volumes * x, len(points)) for x in middles.T])
        points = np.where(sizes[:, None] > 0, moments / np.maximum(sizes, np.finfo(float).tiny)[:, None], points)
    cell = cKDTree(points).query(middles)[1]
    inner, side = ~topology.boundary, cell[topology.face_element]
    cut = np.zeros(len(side), bool)
    cut[inner] = side[inner] != side[topology.face_neighbour[inner]]
    faces = np.where(cut, surface, topology.face_surface)
    pieces = along_faces(mesh, cut, faces, cell % 2 > 0)
    return [mesh.copy()] if pieces is None else [piece.mesh for piece in pieces]


def random_points_of_mesh(mesh: Mesh, count: int, seed: int) -> np.ndarray:
    """The middles (count, 3) of random elements, large ones more often, none twice."""
    topology = mesh.topology
    flat, pointers = topology.element_nodes, topology.element_ptr
    if count > topology.element_count:
        raise ValueError(f"a mesh of {topology.element_count} elements has no {count} cells")
    volumes = element_volumes(mesh.nodes, pointers, flat)
    chosen = np.random.default_rng(seed).choice(topology.element_count, count, replace=False, p=volumes / volumes.sum())
    return (np.add.reduceat(mesh.nodes[flat], pointers[:-1]) / np.diff(pointers)[:, None])[np.sort(chosen)]
