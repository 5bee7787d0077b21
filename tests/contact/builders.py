"""Geometry tables straight from vertices and faces, without shapes, bodies or detection."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from solfec.contact.geometry import Geometry, PrimitiveKind, ShapePrimitives


@dataclass
class Polyhedron:
    """Vertices (n, 3), faces (vertex numbers, counter-clockwise from outside; outer ones first), one surface per face."""

    vertices: np.ndarray
    faces: list
    surfaces: list = field(default_factory=list)
    outer: int | None = None

    def moved(self, rotation=None, shift=(0, 0, 0), scale=1.0) -> Polyhedron:
        """A scaled, rotated and translated copy."""
        x = np.asarray(self.vertices, float) * scale
        if rotation is not None:
            x = x @ np.asarray(rotation).T
        return Polyhedron(x + np.asarray(shift, float), self.faces, self.surfaces, self.outer)


@dataclass
class Ball:
    """A sphere; with radius zero a point."""

    centre: np.ndarray
    radius: float
    surface: int = 0

    def moved(self, rotation=None, shift=(0, 0, 0), scale=1.0) -> Ball:
        """A scaled, rotated and translated copy."""
        c = np.asarray(self.centre, float) * scale
        if rotation is not None:
            c = np.asarray(rotation) @ c
        return Ball(c + np.asarray(shift, float), self.radius * scale, self.surface)


@dataclass
class Ellipsoid:
    """An ellipsoid: points centre + axes s, |s| <= 1; the columns of axes are orthogonal."""

    centre: np.ndarray
    axes: np.ndarray
    surface: int = 0
    radius = 0.0

    def moved(self, rotation=None, shift=(0, 0, 0), scale=1.0) -> Ellipsoid:
        """A scaled, rotated and translated copy."""
        rotation = np.eye(3) if rotation is None else np.asarray(rotation)
        centre = rotation @ (np.asarray(self.centre, float) * scale) + np.asarray(shift, float)
        return Ellipsoid(centre, rotation @ self.axes * scale, self.surface)


CURVED = (Ball, Ellipsoid)
BOX_FACES = [(0, 3, 2, 1), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (4, 5, 6, 7)]


def box(x0, x1, y0, y1, z0, z1, surfaces=range(1, 7)) -> Polyhedron:
    """An axis-aligned box; faces in the order -z, -y, +x, +y, -x, +z."""
    lower = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return Polyhedron(np.array([(x, y, z) for z in (z0, z1) for x, y in lower], float), BOX_FACES, list(surfaces))


def from_planes(vertices, planes, surfaces) -> Polyhedron:
    """Faces from planes (m, 6: outward normal, point): the vertices on each, ordered about the normal.

    Planes on the same vertices (coplanar triangles) become one face, that of the first.
    """
    x = np.asarray(vertices, float)
    size = np.ptp(x, axis=0).max()
    faces, kept, seen = [], [], set()
    for plane, surface in zip(np.asarray(planes, float), surfaces):
        n = plane[:3] / np.linalg.norm(plane[:3])
        distance = (x - plane[3:]) @ n
        on = np.flatnonzero(np.abs(distance) < 1e-7 * size)
        if on.size < 3 or tuple(on) in seen:
            continue
        seen.add(tuple(on))
        faces.append(tuple(on[np.argsort(_angles(x[on], n))]))
        kept.append(surface)
    return Polyhedron(x, faces, kept)


def _angles(x, normal):
    u = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    u /= np.linalg.norm(u)
    v = np.cross(normal, u)
    y = x - x.mean(axis=0)
    return np.arctan2(y @ v, y @ u)


def hull(points, surface=1) -> Polyhedron:
    """The convex hull as triangles (reference construction of scipy)."""
    from scipy.spatial import ConvexHull

    made = ConvexHull(points)
    used = np.unique(made.simplices)
    number = np.full(len(points), -1)
    number[used] = np.arange(used.size)
    x = np.asarray(points, float)
    a, b, c = x[made.simplices.T]
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), made.equations[:, :3]) <= 0
    faces = list(map(tuple, number[np.where(inward[:, None], made.simplices[:, ::-1], made.simplices)]))
    return Polyhedron(x[used], faces, [surface] * len(faces))


def rotation(axis, angle) -> np.ndarray:
    """Rotation matrix about an axis by an angle in radians."""
    k = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def random_rotation(random) -> np.ndarray:
    """A uniformly distributed rotation matrix."""
    q = random.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def kind_of(shape) -> PrimitiveKind:
    """The primitive that a shape is."""
    kinds = {Ball: PrimitiveKind.SPHERE, Ellipsoid: PrimitiveKind.ELLIPSOID}
    return kinds.get(type(shape), PrimitiveKind.CONVEX)


def compiled(shapes, epsilon=1e-6) -> Geometry:
    """Geometry tables with one primitive per shape, each on a body of its own; normals and boxes are current."""
    vertices = [np.atleast_2d(s.centre if isinstance(s, CURVED) else s.vertices) for s in shapes]
    counts = np.array([len(v) for v in vertices])
    offsets = np.cumsum(counts) - counts
    polygons = [[] if isinstance(s, CURVED) else s.faces for s in shapes]
    faces = [np.asarray(f) + offset for polygon, offset in zip(polygons, offsets) for f in polygon]
    corner_count = np.array([len(f) for f in faces], "i4")
    face_count = np.array([len(p) for p in polygons])
    outer = [len(p) if getattr(s, "outer", None) is None else s.outer for s, p in zip(shapes, polygons)]
    surfaces = [s.surfaces or [0] * len(s.faces) for s in shapes if isinstance(s, Polyhedron)]
    n = len(shapes)
    geometry = Geometry()
    geometry.add(
        0,
        ShapePrimitives(
            vertices=np.concatenate(vertices).T,
            vertex_list=np.arange(counts.sum()),
            vertex_ptr=offsets,
            vertex_count=counts,
            corners=np.concatenate(faces) if faces else np.zeros(0, "i4"),
            face_corner_ptr=np.cumsum(corner_count) - corner_count,
            face_corner_count=corner_count,
            face_surface=np.array(list(itertools.chain(*surfaces)), "i4"),
            kind=np.array([kind_of(s) for s in shapes]),
            volume_id=np.zeros(n, "i4"),
            surface=np.array([s.surface if isinstance(s, CURVED) else 0 for s in shapes]),
            radius=np.array([s.radius if isinstance(s, Ball) else 0.0 for s in shapes]),
            face_ptr=np.cumsum(face_count) - face_count,
            face_count=face_count,
            outer_count=np.array(outer),
            adjacency=np.zeros(0, "i4"),
            adjacent_ptr=np.zeros(n, "i4"),
            adjacent_count=np.zeros(n, "i4"),
        ),
    )
    for i, shape in enumerate(shapes):
        if isinstance(shape, Ellipsoid):
            geometry.primitives.axes[:, :, i] = shape.axes
    geometry.vertices.body[: counts.sum()] = np.repeat(np.arange(n), counts)
    geometry.primitives.body[:n] = np.arange(n)
    _update(geometry, epsilon)
    return geometry


def _update(geometry, epsilon):
    x = geometry.vertices.current
    f, p = geometry.faces, geometry.primitives
    if f.n:  # corners of all faces, one face after another
        start, count = f.view("corner_ptr"), f.view("corner_count")
        corner = x[:, geometry.corners.view("vertex")]
        following = np.roll(corner, -1, axis=1)
        base = np.repeat(corner[:, start], count, axis=1)
        following[:, start + count - 1] = corner[:, start]
        normal = np.add.reduceat(np.cross(corner - base, following - base, axis=0), start, axis=1)
        f.view("normal")[:] = normal / np.linalg.norm(normal, axis=0)
    own, start = x[:, geometry.vertex_lists.view("vertex")], p.view("vertex_ptr")
    reach = p.view("radius") + np.linalg.norm(p.view("axes"), axis=1) + epsilon
    p.view("box")[:3] = np.minimum.reduceat(own, start, axis=1) - reach
    p.view("box")[3:] = np.maximum.reduceat(own, start, axis=1) + reach
