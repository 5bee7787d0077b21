"""Collections of convex polyhedra (docs/language-objects.md, CONVEX)."""

from __future__ import annotations

import operator

import numpy as np

from .polyhedron import Polyhedron


class Convex:
    """A collection of convex polyhedra; the most recently added one is the first.

    Parameters
    ----------
    polyhedra : iterable of Polyhedron
        They are not copied.
    """

    __slots__ = ("polyhedra",)

    def __init__(self, polyhedra):
        self.polyhedra: list[Polyhedron] = list(polyhedra)

    @classmethod
    def from_records(cls, vertices, faces, volume_id: int = 0) -> Convex:
        """Make one polyhedron from the flat lists of the CONVEX command.

        Parameters
        ----------
        vertices : sequence of 3 nv numbers
            Coordinates of the vertices, in units of length.
        faces : sequence of int
            Records (count, vertex numbers..., surface identifier).
        volume_id : int
            Volume identifier.

        Raises
        ------
        ValueError
            See `Polyhedron`; also incomplete records, and numbers of coordinates that are not multiples of three.
        """
        if len(vertices) % 3:
            raise ValueError("'vertices' must hold three numbers per vertex")
        lists, surfaces = split_face_records(faces)
        return cls([Polyhedron(vertices, lists, surfaces, volume_id)])

    def prepend(self, other: Convex) -> None:
        """Put the polyhedra of `other` before those of this collection."""
        self.polyhedra[:0] = other.polyhedra

    def copy(self) -> Convex:
        """Return an independent copy, in the same order."""
        return Convex([p.copy() for p in self.polyhedra])

    def translate(self, vector: np.ndarray) -> None:
        """Move by `vector` (3,)."""
        for polyhedron in self.polyhedra:
            polyhedron.vertices += vector

    def rotate(self, point: np.ndarray, rotation: np.ndarray) -> None:
        """Turn about `point` (3,) by the matrix `rotation` (3, 3)."""
        for polyhedron in self.polyhedra:
            polyhedron.vertices = (polyhedron.vertices - point) @ rotation.T + point

    def scale(self, factors: np.ndarray) -> None:
        """Multiply coordinates by `factors` (3,) about the global origin."""
        for polyhedron in self.polyhedra:
            polyhedron.scale(factors)


def split_face_records(faces) -> tuple[list, list]:
    """Split flat records (count, vertex numbers..., surface identifier) into vertex lists and identifiers."""
    faces = list(map(operator.index, faces))
    lists, surfaces, at = [], [], 0
    while at < len(faces):
        count = faces[at]
        if count < 3:
            raise ValueError(f"face {len(lists)} in 'faces' has {count} vertices; at least 3 are needed")
        if at + count + 2 > len(faces):
            raise ValueError(f"the record of face {len(lists)} in 'faces' is cut short")
        lists.append(faces[at + 1 : at + 1 + count])
        surfaces.append(faces[at + 1 + count])
        at += count + 2
    return lists, surfaces
