"""Volume, mass centre and Euler tensor of shapes, for unit density."""

from __future__ import annotations

import math

import numpy as np

from .convex import Convex
from .ellipsoid import Ellipsoid
from .mesh import Mesh
from .sphere import Sphere
from .vectors import cross, determinants

IDENTITY = np.eye(3)
PLANE = 1e-13  # volume between the corners of a plane quadrilateral by rounding, over the cube of its size

def characteristics(shapes, bilinear: bool = False) -> tuple[float, np.ndarray, np.ndarray]:
    """Return volume, centre and centred Euler tensor of a shape or a list of shapes; overlaps count twice.

    Faces are cut into fans about their first vertices, so planar faces are integrated exactly. Meshes use boundary faces only.

    Parameters
    ----------
    shapes : Convex, Mesh, Sphere, Ellipsoid or list of these
    bilinear : bool
        Treat quadrilaterals of meshes that are not plane as bilinear patches, as finite elements do, instead of fans;
        the volume is then that of the elements, for any order of their nodes.

    Returns
    -------
    volume : float
    centre : ndarray (3,)
    euler : ndarray (3, 3)
        Integral of (x - centre) (x - centre)^T over the volume.

    Raises
    ------
    ValueError
        When the total volume is not positive.
    """
    if not isinstance(shapes, (list, tuple)):
        shapes = [shapes]
    if len(shapes) == 1 and isinstance(shapes[0], (Sphere, Ellipsoid)):
        volume, euler = ball_moments(shapes[0])
        return _positive(volume), shapes[0].centre.copy(), euler
    origin = _some_point(shapes[0])
    if len(shapes) == 1 and isinstance(shapes[0], Convex) and len(shapes[0].polyhedra) == 1:  # most bodies
        polyhedron = shapes[0].polyhedra[0]
        return centred(*triangle_moments((polyhedron.vertices - origin).take(polyhedron.face_set.triangles, 0)), origin)
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    triangles, patches = [], []
    for shape in shapes:
        if isinstance(shape, (Sphere, Ellipsoid)):
            size, inner = ball_moments(shape)
            arm = shape.centre - origin
            volume += size
            first += size * arm
            second += inner + size * np.outer(arm, arm)
        elif isinstance(shape, Mesh) and bilinear:
            flat, warped = _faces(shape)
            triangles.append(flat)
            patches.append(warped)
        elif isinstance(shape, Mesh):
            triangles.append(shape.nodes[shape.topology.triangles])
        else:
            triangles.extend(p.vertices[p.face_set.triangles] for p in shape.polyhedra)
    if triangles:
        points = (triangles[0] if len(triangles) == 1 else np.concatenate(triangles)) - origin
        moments = triangle_moments(points)
        volume, first, second = volume + moments[0], first + moments[1], second + moments[2]
    for warped in patches:
        moments = patch_moments(warped - origin)
        volume, first, second = volume + moments[0], first + moments[1], second + moments[2]
    return centred(volume, first, second, origin)


def centred(volume: float, first: np.ndarray, second: np.ndarray, origin: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return volume, centre and centred Euler tensor from moments about an origin."""
    arm = first / _positive(volume)
    euler = second - volume * (arm[:, None] * arm)
    return volume, origin + arm, 0.5 * (euler + euler.T)


def _positive(volume: float) -> float:
    """Return a volume; ValueError unless it is positive."""
    if not volume > 0.0:
        raise ValueError("the shape has no positive volume; are its faces listed counter-clockwise from outside?")
    return volume


def ball_moments(shape: Sphere | Ellipsoid) -> tuple[float, np.ndarray]:
    """Volume and second moments about the centre of a sphere or ellipsoid."""
    if isinstance(shape, Sphere):
        volume = 4.0 / 3.0 * math.pi * shape.radius**3
        return volume, 0.2 * volume * shape.radius**2 * IDENTITY
    volume = 4.0 / 3.0 * math.pi * float(np.prod(shape.radii))
    return volume, 0.2 * volume * shape.inverse_shape()


def triangle_moments(points: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, first and second moments of the body bounded by outward triangles `points` (nt, 3, 3)."""
    a, b, c = points[:, 0], points[:, 1], points[:, 2]
    jacobian, sums = determinants(a, b, c), a + b + c
    column = jacobian[:, None]
    weighted = sums * column
    corners, scaled = points.reshape(-1, 3), (points * column[:, None]).reshape(-1, 3)
    second = scaled.T @ corners + weighted.T @ sums
    return float(np.add.reduce(jacobian)) / 6.0, np.add.reduce(weighted) / 24.0, second / 120.0


def patch_moments(corners: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return what bilinear patches (n, 4, 3), counter-clockwise from outside, add to volume, first and second moments.

    The divergence theorem turns volume integrals into integrals over patches. Their integrands have degree four in each coordinate; 3 x 3 points are exact to degree five.
    """
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    if not len(corners):
        return volume, first, second
    places, weights = np.polynomial.legendre.leggauss(3)
    for u, u_weight in zip(places, weights):
        for v, v_weight in zip(places, weights):
            shapes = 0.25 * np.array([(1 - u) * (1 - v), (1 + u) * (1 - v), (1 + u) * (1 + v), (1 - u) * (1 + v)])
            along_u = 0.25 * np.array([v - 1, 1 - v, 1 + v, -1 - v])
            along_v = 0.25 * np.array([u - 1, -1 - u, 1 + u, 1 - u])
            point, tangents = shapes @ corners, (along_u @ corners, along_v @ corners)
            share = u_weight * v_weight * (point * cross(*tangents)).sum(1)
            volume += share.sum() / 3.0
            first += share @ point / 4.0
            second += (point * share[:, None]).T @ point / 5.0
    return float(volume), first, second


def _faces(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Return the boundary of a mesh: triangles (nt, 3, 3), also of plane quadrilaterals, and quadrilaterals (n, 4, 3) that are not plane."""
    triangles, quads = (mesh.nodes[faces] for faces in mesh.topology.outer_faces)
    sides = quads[:, 1:] - quads[:, :1]
    size = np.sqrt(np.einsum("nij,nij->ni", sides, sides)).max(1, initial=0.0)
    warped = np.abs(determinants(sides[:, 0], sides[:, 1], sides[:, 2])) > PLANE * size**3
    plane = quads[~warped] if warped.any() else quads
    return np.concatenate((triangles, plane[:, :3], plane[:, (0, 2, 3)])), quads[warped]


def _some_point(shape) -> np.ndarray:
    """Return a point near the shape, so that a far global origin does not spoil the digits of moments."""
    if isinstance(shape, (Sphere, Ellipsoid)):
        return shape.centre
    if isinstance(shape, Convex):
        vertices = shape.polyhedra[0].vertices
        return vertices.sum(0) / len(vertices)  # a quarter of the time of np.mean
    return shape.nodes.sum(0) / len(shape.nodes)
