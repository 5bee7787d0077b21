"""Convexes cut into Voronoi cells: the region nearer to a point than to all others."""

from __future__ import annotations

import numpy as np

from .characteristics import characteristics
from .convex import Convex
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
