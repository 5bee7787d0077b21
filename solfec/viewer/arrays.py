"""A domain's tables as whole arrays for a renderer, without OpenGL and without loops over bodies."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyKind
from ..kinds import PrimitiveKind
from ..tables import ranges

PLAIN = np.array([(0.62, 0.62, 0.60), (0.80, 0.80, 0.82), (0.75, 0.82, 0.90), (0.86, 0.83, 0.74)], np.float32)
"""Colours of obstacles, rigid, pseudo-rigid and finite element bodies."""

DWARFED = 2.0  # size of a model, in sizes of what moves in it, above which a picture leaves out far parts of obstacles
AROUND = 0.25  # width of what it shows of them, in sizes of what moves
NO_PLANE = -1  # value in the last column of owners: the triangle is no cap of a cut


class Topology:
    """Arrays that change only when primitives are added or removed.

    Attributes
    ----------
    version : int
        `Geometry.version` for which they hold.
    origin : ndarray (3,)
        Point that is subtracted from points before conversion to single precision [length].
    triangles : ndarray (nt, 3) uint32
        Vertices of the outer faces of polyhedra and elements.
    triangle_primitive, triangle_surface : ndarray (nt,)
        Rows of primitives, and surface identifiers.
    edges : ndarray (ne, 2) uint32
        Vertices of the edges of these faces, each once.
    edge_body : ndarray (ne,) int32
        Rows of bodies.
    quadrics, quadric_centre : ndarray (nq,)
        Rows of the primitives that are spheres or ellipsoids, and the vertices that are their centres.
    """

    def __init__(self, domain):
        geometry = domain.geometry
        primitives, faces, corners = geometry.primitives, geometry.faces, geometry.corners
        self.version = geometry.version
        reference = geometry.vertices.view("current")
        self.origin = reference.mean(axis=1) if reference.shape[1] else np.zeros(3)
        kind = primitives.view("kind")
        solid = np.flatnonzero((kind == PrimitiveKind.CONVEX) | (kind == PrimitiveKind.ELEMENT))
        outer = primitives.view("outer_count")[solid]
        listed = ranges(primitives.view("face_ptr")[solid], outer)
        start, count = faces.view("corner_ptr")[listed], faces.view("corner_count")[listed]
        vertex = corners.view("vertex")
        self.triangles = _fans(vertex, start, count)
        fans = np.maximum(count - 2, 0)
        self.triangle_primitive = np.repeat(np.repeat(solid, outer), fans)
        self.triangle_surface = np.repeat(faces.view("surface")[listed], fans)
        self.edges = _edges(vertex, start, count)
        self.edge_body = geometry.vertices.view("body")[self.edges[:, 0]].astype(np.int32)
        self.quadrics = np.flatnonzero((kind == PrimitiveKind.SPHERE) | (kind == PrimitiveKind.ELLIPSOID))
        self.quadric_centre = geometry.vertex_lists.view("vertex")[primitives.view("vertex_ptr")[self.quadrics]]

    def owners(self, domain, triangle_category=None, quadric_category=None) -> tuple[np.ndarray, np.ndarray]:
        """Return the owners of triangles and quadrics.

        Parameters
        ----------
        triangle_category, quadric_category : ndarray (nt,), (nq,) of int, optional
            Numbers of discrete colours.

        Returns
        -------
        triangles, quadrics : ndarray (nt, 4), (nq, 4) int32
            Row and identifier of the body, category, and the plane of which it is a cap.
        """
        result = []
        for rows, category in ((self.triangle_primitive, triangle_category), (self.quadrics, quadric_category)):
            body = domain.geometry.primitives.view("body")[rows]
            table = np.zeros((len(rows), 4), np.int32)
            table[:, 0], table[:, 1], table[:, 3] = body, domain.bodies.view("id")[body], NO_PLANE
            if category is not None:
                table[:, 2] = category
            result.append(table)
        return result[0], result[1]


def _fans(vertex: np.ndarray, start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return triangles (n, 3) of polygons whose corners begin at `start`."""
    number = np.maximum(count - 2, 0)
    within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    first = np.repeat(start, number)
    return np.stack([vertex[first], vertex[first + within + 1], vertex[first + within + 2]], 1).astype(np.uint32)


def _edges(vertex: np.ndarray, start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return edges (n, 2) of polygons, each once."""
    corner = ranges(start, count)
    last = np.cumsum(count) - 1
    following = np.arange(len(corner)) + 1
    following[last] = last - count + 1
    ends = np.stack([vertex[corner], vertex[corner[following]]], 1).astype(np.int64)
    key = np.unique(ends.min(1) << 32 | ends.max(1)) if len(ends) else np.zeros(0, np.int64)
    return np.stack([key >> 32, key & 0xFFFFFFFF], 1).astype(np.uint32)


def positions(domain, origin: np.ndarray) -> np.ndarray:
    """Return current vertices (n, 3) float32, relative to `origin`."""
    return (domain.geometry.vertices.view("current").T - origin).astype(np.float32)


def quadrics(domain, topology: Topology) -> np.ndarray:
    """Return centres and columns of axes (n, 12) float32 of spheres and ellipsoids; points are centre + axes s, |s| <= 1."""
    geometry, bodies, rows = domain.geometry, domain.bodies, topology.quadrics
    primitives = geometry.primitives
    result = np.empty((len(rows), 12), np.float32)
    result[:, :3] = geometry.vertices.view("current")[:, topology.quadric_centre].T - topology.origin
    axes = primitives.view("axes")[..., rows].transpose(2, 1, 0).reshape(-1, 9).copy()
    sphere = primitives.view("kind")[rows] == PrimitiveKind.SPHERE
    body = primitives.view("body")[rows[sphere]]
    first = bodies.conf_ptr[body]
    turned = bodies.configurations.conf[:, first[:, None] + np.arange(3)].transpose(1, 2, 0).copy()
    # As in contact detection, spheres of deforming bodies remain spheres, so they show no rotation.
    turned[bodies.kind[body] > 1] = np.eye(3)
    axes[sphere] = turned.reshape(-1, 9) * primitives.view("radius")[rows[sphere], None]
    result[:, 3:] = axes
    return result


def references(domain, topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return referential vertices (n, 3) and quadrics (m, 12) float32, in the form of `positions` and `quadrics`."""
    geometry, bodies, rows = domain.geometry, domain.bodies, topology.quadrics
    places = (geometry.vertices.view("reference").T - topology.origin).astype(np.float32)
    result = quadrics(domain, topology)
    result[:, :3] = places[topology.quadric_centre]
    body = geometry.primitives.view("body")[rows]
    first, kind = bodies.conf_ptr[body], bodies.kind[body]
    back = bodies.configurations.conf[:, first[:, None] + np.arange(3)].transpose(1, 2, 0).copy()  # rigid: the rotation's transpose
    deforms = kind == BodyKind.PSEUDO_RIGID
    back[deforms] = np.linalg.inv(back[deforms])  # of the gradient
    round_ones = geometry.primitives.view("kind")[rows] == PrimitiveKind.SPHERE
    back[(kind == BodyKind.FINITE_ELEMENT) | (deforms & round_ones)] = np.eye(3)
    result[:, 3:] = np.einsum("nij,nkj->nki", back, result[:, 3:].reshape(-1, 3, 3)).reshape(-1, 9)
    return places, result


def looks(domain) -> np.ndarray:
    """Return initial colours and opacities (bodies, 4) float32 of bodies; opacity 0 hides, -1 leaves only edges."""
    kind = domain.bodies.view("kind")
    table = np.ones((len(kind), 4), np.float32)
    table[:, :3] = PLAIN[np.clip(kind, 0, 3)]
    return table


def extents(domain) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper corner (3,) of a box around all bodies; a unit box if there are none."""
    boxes = domain.bodies.view("extents")
    if not boxes.shape[1]:
        return -0.5 * np.ones(3), 0.5 * np.ones(3)
    return boxes[:3].min(1), boxes[3:].max(1)


def framed(boxes: np.ndarray, fixed: np.ndarray, began: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return corners (3,) of a box around all bodies, without the far parts of obstacles that dwarf the others.

    Parameters
    ----------
    boxes : ndarray (6, n)
        Boxes of the bodies, as the table of bodies has them.
    fixed : ndarray (n,) of bool
        Mask of obstacles.
    began : ndarray (6, m)
        Boxes of bodies at the beginning: those that have moved came from there.
    """
    low, high = boxes[:3].min(1), boxes[3:].max(1)
    if fixed.all() or not fixed.any():
        return low, high
    others = np.concatenate((boxes[:, ~fixed], began), axis=1)
    least, most = others[:3].min(1), others[3:].max(1)
    size = float(np.linalg.norm(most - least))
    if np.linalg.norm(high - low) <= DWARFED * size:
        return low, high
    obstacles = boxes[:, fixed]
    gaps = np.linalg.norm(np.maximum(0.0, np.maximum(obstacles[:3] - most[:, None], least[:, None] - obstacles[3:])), axis=0)
    near = obstacles[:, gaps <= max(size, float(gaps.min()))]
    around = AROUND * size
    ends = [np.clip(corner, near[:3].T, near[3:].T) for corner in (least - around, most + around)]
    return np.minimum(least, ends[0].min(0)), np.maximum(most, ends[1].max(0))
