"""One convex polyhedron: vertices and outward faces with surface identifiers."""

from __future__ import annotations

import copy
import operator
import warnings
from itertools import chain

import numpy as np

from ..errors import SolfecWarning
from ..tables import unique
from .coordinates import check_size, scaled
from .identifiers import identifier
from .vectors import cross

COLLINEAR = 1e-9  # sine below which three leading vertices of a face count as collinear
FLAT = 1e-12  # volume relative to the cube of the size that counts as zero
CONVEXITY = 1e-5  # departure from convexity or planarity, relative to the size, above which a warning is given

TOGETHER = 2**22  # distances of vertices from faces that are computed at once: 32 MB


class FaceSet:
    """Faces of a polyhedron, counter-clockwise seen from outside; it is constant, so copies share it.

    Attributes
    ----------
    faces : tuple of tuples of int
        Vertex numbers of every face.
    surfaces : ndarray (nf,) int32
        Surface identifier of every face.
    contact : object or None
        Results of `primitives.compile` for these faces.  They depend on the vertices only up to rigid motion
        and uniform scaling.
    """

    __slots__ = ("faces", "surfaces", "contact", "_lists", "_triangles")

    def __init__(self, faces: tuple[tuple[int, ...], ...], surfaces: np.ndarray):
        self.faces = faces
        self.surfaces = surfaces
        self.contact = None
        self._lists = None
        self._triangles = None

    @classmethod
    def of_lists(cls, start: np.ndarray, corners: np.ndarray, surfaces: np.ndarray) -> FaceSet:
        """Make the faces of `lists`."""
        first, corner = start.tolist(), corners.tolist()
        made = cls(tuple(tuple(corner[a:b]) for a, b in zip(first, first[1:])), surfaces)
        made._lists = start, corners
        return made

    @property
    def lists(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each face begins in the list of corners, and where the last one ends (nf + 1,) int32; and that list, int32."""
        if self._lists is None:
            start = np.cumsum([0, *map(len, self.faces)], dtype=np.int32)
            self._lists = start, np.fromiter(chain.from_iterable(self.faces), np.int32, start[-1])
        return self._lists

    @property
    def triangles(self) -> np.ndarray:
        """Vertex numbers (nt, 3) of the faces' triangles, fans about each face's first vertex."""
        if self._triangles is None:
            fans = [(f[0], f[i], f[i + 1]) for f in self.faces for i in range(1, len(f) - 1)]
            self._triangles = np.array(fans, np.intp).reshape(-1, 3)
        return self._triangles

    def renewed(self) -> FaceSet:
        """Return a copy without results that depend on the shape of the vertices (after non-uniform scaling)."""
        other = copy.copy(self)
        other.contact = None
        return other

    def mirrored(self) -> FaceSet:
        """Return the faces in opposite sense, for mirrored vertices; first vertices stay first."""
        return FaceSet(tuple(map(backwards, self.faces)), self.surfaces)


def backwards(face: tuple[int, ...]) -> tuple[int, ...]:
    """Return a face seen from its other side."""
    return (face[0], *face[:0:-1])


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
        that crosses itself, an edge that does not have two faces, no volume.

    Warns
    -----
    UserWarning
        When faces are not outward (they are turned round), when faces are not planar, the polyhedron is not convex, or
        vertices are not used.
    """

    __slots__ = ("vertices", "face_set", "volume_id")

    def __init__(self, vertices, faces, surfaces, volume_id: int = 0):
        self.vertices = np.array(vertices, float).reshape(-1, 3)
        faces = tuple(tuple(map(operator.index, face)) for face in faces)
        check_faces(self.vertices, faces)
        if len(surfaces) != len(faces):
            raise ValueError("there must be one surface identifier per face")
        faces = turned_outward(self.vertices, faces)
        self.face_set = FaceSet(faces, np.array([identifier(s, "surfid") for s in surfaces], np.int32))
        self.volume_id = identifier(volume_id, "volid")
        check_convexity(self.vertices, faces)

    @classmethod
    def trusted(cls, vertices: np.ndarray, face_set: FaceSet, volume_id: int) -> Polyhedron:
        """Make a polyhedron of valid data without checks; `vertices` is not copied."""
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
        self.face_set = scaled(self.face_set, factors)


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
            others = "no other face has" if len(owner) == 1 else f"{len(owner) - 1} other faces have"
            raise ValueError(f"the surface is not closed: {others} the edge {a}-{b} of face {owner[0]}")


def check_windings(vertices: np.ndarray, faces) -> None:
    """Raise ValueError for a face that crosses itself: its outline does not make exactly one turn."""
    sizes = np.array([len(face) for face in faces])
    crossing = np.zeros(len(faces), bool)
    for size in unique(sizes[sizes > 3]).tolist():
        alike = np.flatnonzero(sizes == size)
        order = np.arange(size)
        after, before = np.roll(order, -1), np.roll(order, 1)
        corners = vertices[np.array([faces[number] for number in alike.tolist()])]
        normal = cross(corners, corners[:, after]).sum(1, keepdims=True)
        ahead = corners[:, after] - corners
        behind = ahead[:, before]
        across = cross(normal, behind)
        turns = np.arctan2((ahead * across).sum(2), (ahead * behind).sum(2) * np.sqrt((normal * normal).sum(2)))
        crossing[alike] = np.abs(turns.sum(1) - 2.0 * np.pi) > 0.5
    if crossing.any():
        raise ValueError(f"face {int(np.argmax(crossing))} crosses itself")


def planes_of(vertices: np.ndarray, faces) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (nf, 3) and first vertices (nf, 3) of faces; ValueError for collinear leading vertices."""
    lead = vertices[np.array([face[:3] for face in faces])]
    one, two = lead[:, 1] - lead[:, 0], lead[:, 2] - lead[:, 0]
    normals = cross(one, two)
    length = np.sqrt((normals**2).sum(1))
    product = np.sqrt((one**2).sum(1) * (two**2).sum(1))
    collinear = length <= COLLINEAR * product
    if collinear.any():
        raise ValueError(f"the first three vertices of face {int(np.argmax(collinear))} are collinear")
    return normals / length[:, None], lead[:, 0]


def turned_outward(vertices: np.ndarray, faces: tuple) -> tuple:
    """Return the faces; reverse, with a warning, those that point towards the mean of the used vertices."""
    normals, first = planes_of(vertices, faces)
    used = unique([v for face in faces for v in face])
    inward = np.einsum("fi,fi->f", normals, vertices[used].mean(0) - first) > 0.0
    if not inward.any():
        return faces
    others = np.count_nonzero(inward) - 1
    more = f", and so do {others} more" if others else ""
    _warn(
        f"face {int(np.argmax(inward))} of a CONVEX points inward{more}: list vertices counter-clockwise seen from "
        "outside; turned round"
    )
    return tuple(backwards(face) if turn else face for face, turn in zip(faces, inward.tolist()))


def check_convexity(vertices: np.ndarray, faces) -> None:
    """Raise ValueError for surfaces without volume; warn if a surface does not bound a convex polyhedron."""
    normals, first = planes_of(vertices, faces)
    check_windings(vertices, faces)
    used, numbers = np.unique([v for face in faces for v in face], return_inverse=True)
    if len(used) < len(vertices):
        spare = np.setdiff1d(np.arange(len(vertices)), used)
        _warn(f"vertex {spare[0]} of a CONVEX is not used by any face" + (f", nor are {len(spare) - 1} more" * (len(spare) > 1)))
    size = float(np.ptp(vertices[used], axis=0).max())
    fans = np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)])
    volume = np.linalg.det((vertices[fans] - vertices[used].mean(0)) / size).sum() / 6.0
    if not volume > FLAT:
        raise ValueError("a CONVEX has no volume: its vertices lie in a plane, or its faces are not those of a convex polyhedron")
    corners = vertices[used]
    owner = np.repeat(np.arange(len(faces)), [len(face) for face in faces])  # ascending, as `numbers` lists their vertices
    count = max(1, TOGETHER // len(used))
    for start in range(0, len(faces), count):
        part = slice(start, start + count)
        above = corners @ normals[part].T - np.einsum("fi,fi->f", normals[part], first[part])
        low, high = np.searchsorted(owner, (start, start + count))
        own = np.zeros(above.shape, bool)
        own[numbers[low:high], owner[low:high] - start] = True
        outside = np.where(own, np.abs(above), above) > CONVEXITY * size
        if outside.any():
            return _warn_of_a_face(start, used, above, own, outside)


def _warn_of_a_face(start: int, used: np.ndarray, above: np.ndarray, own: np.ndarray, outside: np.ndarray) -> None:
    """Warn of the first face that is not plane, or has vertices above it; columns of arrays are faces from number `start` on."""
    face = int(np.argmax(outside.any(0)))
    bent = own[:, face] & outside[:, face]
    vertex = int(np.argmax(np.where(bent if bent.any() else outside[:, face], np.abs(above[:, face]), -1.0)))
    if bent.any():
        _warn(f"face {start + face} of a CONVEX is not planar: its vertex {used[vertex]} lies {abs(above[vertex, face]):g} off its plane", 6)
    else:
        _warn(f"a CONVEX is not convex: vertex {used[vertex]} lies {above[vertex, face]:g} outside face {start + face}", 6)


def _warn(text: str, level: int = 5) -> None:
    warnings.warn(text, SolfecWarning, stacklevel=level)
