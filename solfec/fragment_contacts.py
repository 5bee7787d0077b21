"""Contacts of a body that falls apart: they go to the fragments that touch there, with their reactions, bonds and damage.

So solvers start from the reactions of the last step, and a bond that holds the body holds the fragment on which it lies.
"""

from __future__ import annotations

import numpy as np

from .contact.geometry import Geometry
from .shapes.coplanar import face_normals
from .tables import ranges

INWARDS = 1e-3  # part of the way from a contact's point to the centre of its primitive: there the point lies in one primitive only
MOST_DISTANCES = 10**6  # computed at once


def hand_over(domain, parent: int, children: list[int]) -> None:
    """Attach the contacts of the body in row `parent` to the primitives of fragments at their points.

    A fragment's primitive is a piece of one of the body's, so contacts of different pairs of primitives do not become contacts of one pair.
    Contacts within a fragment end unless it touches itself.

    Parameters
    ----------
    domain : Domain
        It has the body and its fragments.
    parent : int
        Row of the body table.
    children : list of int
        Identifiers of the fragments.
    """
    table, bodies, geometry = domain.constraints, domain.bodies, domain.geometry
    contacts = np.arange(table.user_count, table.n)
    moved = contacts[(table.master[contacts] == parent) | (table.slave[contacts] == parent)]
    if not moved.size:
        return
    rows = np.array([domain.body_row(child) for child in children])
    pieces = ranges(bodies.primitive_ptr[rows], bodies.primitive_count[rows])
    for side in ("master", "slave"):
        body, primitive = getattr(table, side), getattr(table, side + "_primitive")
        mine = moved[body[moved] == parent]
        if not mine.size:
            continue
        point = getattr(table, side + "_point")[:, mine]
        point = point + INWARDS * (_centres(geometry, primitive[mine]) - point)
        primitive[mine] = pieces[nearest_polyhedra(geometry, pieces, point)]
        body[mine] = geometry.primitives.body[primitive[mine]]
    table.evaluated[moved] = -1
    same = table.master[moved] == table.slave[moved]
    ended = moved[same & ((bodies.selfcontact[table.master[moved]] == 0) | (table.master_primitive[moved] == table.slave_primitive[moved]))]
    if ended.size:
        stay = np.ones(table.n, bool)
        stay[ended] = False
        table.keep_marked(stay)


def _centres(geometry: Geometry, rows: np.ndarray) -> np.ndarray:
    """Return the means (3, n) of the referential vertices of primitives."""
    count = geometry.primitives.vertex_count[rows]
    listed = geometry.vertex_lists.vertex[ranges(geometry.primitives.vertex_ptr[rows], count)]
    return np.add.reduceat(geometry.vertices.reference[:, listed], np.cumsum(count) - count, axis=1) / count


def nearest_polyhedra(geometry: Geometry, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return, for each referential point, the place in `rows` of the convex polyhedron that holds it, or whose faces it passes by least.

    Parameters
    ----------
    rows : ndarray (m,) of int
        Rows of the primitive table.
    points : ndarray (3, n)
        In units of length.

    Returns
    -------
    ndarray (n,) of int
    """
    primitives, faces = geometry.primitives, geometry.faces
    face_count = primitives.face_count[rows]
    listed = ranges(primitives.face_ptr[rows], face_count)
    corner_count = faces.corner_count[listed]
    start = np.cumsum(corner_count) - corner_count
    places = ranges(faces.corner_ptr[listed], corner_count)
    ahead = places + 1
    ahead[start + corner_count - 1] = places[start]
    corner, following = (geometry.corners.vertex[k] for k in (places, ahead))
    vertices = geometry.vertices.reference.T
    normal = face_normals(vertices, corner, following, start, np.repeat(np.arange(listed.size), corner_count))
    level = (normal * vertices[corner[start]]).sum(1)
    first = np.cumsum(face_count) - face_count
    found = np.empty(points.shape[1], int)
    several = max(1, MOST_DISTANCES // listed.size)
    for k in range(0, found.size, several):
        beyond = points[:, k : k + several].T @ normal.T - level
        found[k : k + several] = np.maximum.reduceat(beyond, first, axis=1).argmin(axis=1)
    return found
