"""Splitting convexes by a plane (docs/language-objects.md, SPLIT)."""

from __future__ import annotations

import warnings

import numpy as np

from ..connected import components
from ..errors import SolfecWarning
from .adjacency import convex_adjacency
from .clip import Clipper, open_edges
from .convex import Convex
from .distance import closer
from .polyhedron import FaceSet, Polyhedron


def halves(polyhedron: Polyhedron, point, normal, identifiers, epsilon: float) -> tuple:
    """Return the parts of a polyhedron below and above a plane; None for an empty part.

    Parameters
    ----------
    point, normal : ndarray (3,)
        The plane; the normal has unit length and points up.
    identifiers : (int, int)
        Surface identifiers of the new face of the lower and of the upper part.
    epsilon : float
        A part that extends no farther than this from the plane is empty; the polyhedron then stays whole.
    """
    heights = (polyhedron.vertices - point) @ normal
    if heights.max() <= epsilon or heights.min() >= -epsilon:
        return (polyhedron, None) if abs(heights.min()) >= abs(heights.max()) else (None, polyhedron)
    clipper = Clipper(polyhedron.vertices, heights, epsilon)
    return tuple(_half(polyhedron, clipper, side, new) for side, new in zip((-1, 1), identifiers))


def _half(polyhedron: Polyhedron, clipper: Clipper, side: int, identifier: int) -> Polyhedron:
    """One part: faces clipped in their order, then the new face."""
    faces, surfaces = [], []
    for face, surface in zip(polyhedron.faces, polyhedron.surfaces.tolist()):
        kept = clipper.half(face, side)
        if kept:
            faces.append(kept)
            surfaces.append(surface)
    section = _loop(open_edges(faces))
    points = clipper.points
    faces.append(_led_by_corner(points, section))
    surfaces.append(identifier)
    used, flat = np.unique([v for face in faces for v in face], return_inverse=True)
    numbers, start = flat.tolist(), 0
    lists = []
    for face in faces:
        lists.append(tuple(numbers[start : start + len(face)]))
        start += len(face)
    return Polyhedron.trusted(points[used], FaceSet(tuple(lists), np.array(surfaces, np.int32)), polyhedron.volume_id)


def _loop(edges) -> list[int]:
    """Return the polygon that closes open edges, in opposite sense."""
    before = {b: a for a, b in edges}
    first = next(iter(before))
    loop, at = [first], before[first]
    while at != first and len(loop) <= len(edges):
        loop.append(at)
        at = before.get(at, first)
    if len(loop) != len(edges):
        raise ValueError("a CONVEX cannot be split: its faces do not form a closed surface")
    return loop


def _led_by_corner(points: np.ndarray, face: list[int]) -> list[int]:
    """Rotate a polygon's list so that its first three vertices span the largest triangle; they define its plane."""
    corners = points[face]
    one, two = np.roll(corners, -1, axis=0) - corners, np.roll(corners, -2, axis=0) - corners
    start = int(np.argmax((np.cross(one, two) ** 2).sum(1)))
    return face[start:] + face[:start]


def split_convexes(polyhedra: list[Polyhedron], point, normal, identifiers, connected: bool, epsilon: float) -> tuple:
    """Split polyhedra by a plane.

    Parameters
    ----------
    point, normal, identifiers, epsilon
        See `halves`.
    connected : bool
        Split only polyhedra whose sections are connected, within epsilon, with the section within ten epsilons of `point`.

    Returns
    -------
    below, above : lists of Convex
        Each has one polyhedron; or ([one Convex of all polyhedra], []) if some sections were left uncut.
    """
    parts = [halves(p, point, normal, identifiers, epsilon) for p in polyhedra]
    crossed = [i for i, (below, above) in enumerate(parts) if below is not None and above is not None]
    if connected and crossed:
        chosen = _patch([section(parts[i][0]) for i in crossed], point, epsilon)
        if len(chosen) < len(crossed):
            if not chosen:
                warnings.warn("SPLIT cut no CONVEX: none has a section at the point", SolfecWarning, stacklevel=3)
            cut = {crossed[i] for i in chosen}
            result = [q for i, p in enumerate(polyhedra) for q in (parts[i] if i in cut else (p,))]
            return [Convex(result)], []
    return tuple([Convex([pair[side]]) for pair in parts if pair[side] is not None] for side in (0, 1))


def section(below: Polyhedron) -> np.ndarray:
    """Corners (n, 3) of the face that a split made."""
    return below.vertices[list(below.faces[-1])]


def _patch(sections: list[np.ndarray], point: np.ndarray, epsilon: float) -> list[int]:
    """Return numbers of the sections connected with the first one at the point; an empty list if no section is there."""
    count = len(sections)
    number = np.arange(count)
    near = closer([*sections, point[None]], number, np.full(count, count), 10.0 * epsilon)
    if not near.any():
        return []
    pointers, neighbours = convex_adjacency(sections, epsilon)
    labels = components(count, np.repeat(number, np.diff(pointers)), neighbours)
    return np.flatnonzero(labels == labels[np.argmax(near)]).tolist()
