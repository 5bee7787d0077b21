"""One convex polyhedron: vertices and outward faces with surface identifiers."""

from __future__ import annotations

import copy
import operator
import warnings

import numpy as np

from ..errors import SolfecWarning
from .coordinates import check_size
from .identifiers import identifier

COLLINEAR = 1e-9  # sine below which three leading vertices of a face count as collinear
CONVEXITY = 1e-5  # departure from convexity or planarity, relative to the size, that draws a warning


class FaceSet:
    """Faces of a polyhedron, counter-clockwise seen from outside; never changed, so copies share it.

    Attributes
    ----------
    faces : tuple of tuples of int
        Vertex numbers of every face.
    surfaces : ndarray (nf,) int32
        Surface identifier of every face.
    contact : object or None
        What `primitives.compile` derived from these faces.  It depends on the vertices only up to rigid motion
        and uniform scaling.
    """

    __slots__ = ("faces", "surfaces", "contact", "_triangles")

    def __init__(self, faces: tuple[tuple[int, ...], ...], surfaces: np.ndarray):
        self.faces = faces
        self.surfaces = surfaces
        self.contact = None
        self._triangles = None

    @property
    def triangles(self) -> np.ndarray:
        """Vertex numbers (nt, 3) of the faces' triangles, fans about each face's first vertex."""
        if self._triangles is None:
            fans = [(f[0], f[i], f[i + 1]) for f in self.faces for i in range(1, len(f) - 1)]
            self._triangles = np.array(fans, np.intp).reshape(-1, 3)
        return self._triangles

    def renewed(self) -> FaceSet:
        """The same faces for vertices of another shape (after non-uniform scaling)."""
        other = copy.copy(self)
        other.contact = None
        return other

    def mirrored(self) -> FaceSet:
        """The faces read backwards, for vertices turned inside out; first vertices stay first."""
        return FaceSet(tuple((f[0], *f[:0:-1]) for f in self.faces), self.surfaces)


class Polyhedron:
    """A convex polyhedron.

    Parameters
    ----------
    vertices : array_like (nv, 3)
        Vertices, in units of length.
    faces : sequence of sequences of int
        Zero-based vertex numbers of every face, counter-clockwise seen from outside.
    surfaces : sequence of int
        Surface identifier of every face.
    volume_id : int
        Volume identifier.

    Raises
    ------
    ValueError
        Fewer than 4 vertices or faces, a face with fewer than 3 vertices, a vertex number out of range or
        repeated, coordinates that are not finite or too large, three collinear leading vertices of a face, a face
        that crosses itself, an edge that does not have two faces.

    Warns
    -----
    UserWarning
        When faces are not outward, not planar or the polyhedron is not convex.
    """

    __slots__ = ("vertices", "face_set", "volume_id")

    def __init__(self, vertices, faces, surfaces, volume_id: int = 0):
        self.vertices = np.array(vertices, float).reshape(-1, 3)
        faces = tuple(tuple(map(operator.index, face)) for face in faces)
        check_faces(self.vertices, faces)
        if len(surfaces) != len(faces):
            raise ValueError("there must be one surface identifier per face")
        self.face_set = FaceSet(faces, np.array([identifier(s, "surfid") for s in surfaces], np.int32))
        self.volume_id = identifier(volume_id, "volid")
        check_convexity(self.vertices, faces)

    @classmethod
    def trusted(cls, vertices: np.ndarray, face_set: FaceSet, volume_id: int) -> Polyhedron:
        """Make a polyhedron of data known to be valid; `vertices` is taken, not copied."""
        polyhedron = object.__new__(cls)
        polyhedron.vertices = vertices
        polyhedron.face_set = face_set
        polyhedron.volume_id = volume_id
        return polyhedron

    @property
    def faces(self) -> tuple[tuple[int, ...], ...]:
        """Vertex numbers of every face."""
        return self.face_set.faces

    @property
    def surfaces(self) -> np.ndarray:
        """Surface identifier of every face (nf,)."""
        return self.face_set.surfaces

    def copy(self) -> Polyhedron:
        """Return an independent copy (the constant faces are shared)."""
        return Polyhedron.trusted(self.vertices.copy(), self.face_set, self.volume_id)

    def scale(self, factors: np.ndarray) -> None:
        """Multiply coordinates by `factors` (3,); faces are turned round when the product is negative."""
        self.vertices *= factors
        if factors[0] * factors[1] * factors[2] < 0.0:
            self.face_set = self.face_set.mirrored()
        elif not factors[0] == factors[1] == factors[2]:
            self.face_set = self.face_set.renewed()


def check_faces(vertices: np.ndarray, faces) -> None:
    """Raise ValueError unless `faces` list at least four faces of valid, distinct numbers of finite vertices."""
    count = len(vertices)
    if count < 4:
        raise ValueError(f"a polyhedron needs at least 4 vertices, not {count}")
    check_size(vertices, "vertices")
    if len(faces) < 4:
        raise ValueError(f"a polyhedron needs at least 4 faces, not {len(faces)}")
    for number, face in enumerate(faces):
        if len(face) < 3:
            raise ValueError(f"face {number} has {len(face)} vertices; at least 3 are needed")
        if min(face) < 0 or max(face) >= count:
            raise ValueError(f"face {number} uses a vertex number out of the range 0 to {count - 1}")
        if len(set(face)) < len(face):
            raise ValueError(f"face {number} repeats a vertex number")
    owners: dict[tuple[int, int], list[int]] = {}
    for number, face in enumerate(faces):
        for a, b in zip(face, face[1:] + face[:1]):
            owners.setdefault((min(a, b), max(a, b)), []).append(number)
    for (a, b), owner in owners.items():
        if len(owner) != 2:
            number = "no other" if len(owner) == 1 else f"{len(owner) - 1} other"
            raise ValueError(f"the surface is not closed: {number} face has the edge {a}-{b} of face {owner[0]}")


def check_windings(vertices: np.ndarray, faces) -> None:
    """Raise ValueError for a face whose outline does not go round just once: it crosses itself."""
    for number, face in enumerate(faces):
        if len(face) < 4:
            continue
        corners = vertices[list(face)]
        normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(0)
        ahead = np.roll(corners, -1, axis=0) - corners
        behind = np.roll(ahead, 1, axis=0)
        across = np.cross(normal, behind)
        turns = np.arctan2((ahead * across).sum(1), (ahead * behind).sum(1) * np.sqrt(normal @ normal))
        if abs(turns.sum() - 2.0 * np.pi) > 0.5:
            raise ValueError(f"face {number} crosses itself")


def check_convexity(vertices: np.ndarray, faces) -> None:
    """Raise ValueError for collinear leading vertices; warn of surfaces that do not bound a convex polyhedron."""
    lead = vertices[np.array([face[:3] for face in faces])]
    one, two = lead[:, 1] - lead[:, 0], lead[:, 2] - lead[:, 0]
    normals = np.cross(one, two)
    length = np.sqrt((normals**2).sum(1))
    product = np.sqrt((one**2).sum(1) * (two**2).sum(1))
    collinear = length <= COLLINEAR * product
    if collinear.any():
        raise ValueError(f"the first three vertices of face {int(np.argmax(collinear))} are collinear")
    normals /= length[:, None]
    check_windings(vertices, faces)
    size = float(np.ptp(vertices, axis=0).max())
    inward = np.einsum("fi,fi->f", normals, vertices.mean(0) - lead[:, 0]) > 0.0
    if inward.any():
        warnings.warn(
            f"face {int(np.argmax(inward))} of a CONVEX points inward: list its vertices counter-clockwise "
            "seen from outside",
            SolfecWarning,
            stacklevel=4,
        )
        return
    above = vertices @ normals.T - np.einsum("fi,fi->f", normals, lead[:, 0])
    outside = above.max(0) > CONVEXITY * size
    if outside.any():
        face = int(np.argmax(outside))
        warnings.warn(
            f"a CONVEX is not convex or not planar: vertex {int(np.argmax(above[:, face]))} lies "
            f"{above[:, face].max():g} outside face {face}",
            SolfecWarning,
            stacklevel=4,
        )
