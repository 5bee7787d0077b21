"""Volume, mass centre and Euler tensor of shapes, for unit density."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from .convex import Convex
from .ellipsoid import Ellipsoid
from .mesh import Mesh
from .sphere import Sphere
from .vectors import cross, determinants

IDENTITY = np.eye(3)
_moments_of_one = _kernels.polyhedron_moments.moments_of_one
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
    if len(shapes) == 1 and isinstance(shapes[0], Convex) and len(shapes[0].polyhedra) == 1:
        polyhedron = shapes[0].polyhedra[0]
        moments = _moments_of_one(polyhedron.vertices.T, polyhedron.face_set.triangles.T)
        return _positive(float(moments[0])), moments[1:4], moments[4:].reshape(3, 3)
    origin = _some_point(shapes[0])
    moments = np.zeros(13)  # volume, first and second moments about the origin
    for shape in shapes:
        if isinstance(shape, Convex):
            for polyhedron in shape.polyhedra:
                _kernels.polyhedron_moments.add_moments(polyhedron.vertices.T, polyhedron.face_set.triangles.T, origin, moments)
        elif isinstance(shape, (Sphere, Ellipsoid)):
            size, inner = ball_moments(shape)
            arm = shape.centre - origin
            _add(moments, size, size * arm, inner + size * np.outer(arm, arm))
        elif bilinear:
            triangles, patches = _faces(shape)
            if len(triangles):
                _kernels.polyhedron_moments.add_moments(shape.nodes.T, triangles.T, origin, moments)
            _add(moments, *patch_moments(shape.nodes[patches] - origin))
        else:
            _kernels.polyhedron_moments.add_moments(shape.nodes.T, shape.topology.triangles.T, origin, moments)
    volume = _positive(float(moments[0]))
    _kernels.polyhedron_moments.centre_moments(origin, moments)
    return volume, moments[1:4], moments[4:].reshape(3, 3)


def _add(moments: np.ndarray, volume: float, first: np.ndarray, second: np.ndarray) -> None:
    """Add volume, first and second moments to those of other shapes."""
    moments[0] += volume
    moments[1:4] += first
    moments[4:] += second.ravel()


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
    """Return node numbers of the boundary of a mesh: triangles (nt, 3), also of plane quadrilaterals, and quadrilaterals (n, 4) that are not plane."""
    triangles, quads = mesh.topology.outer_faces
    corners = mesh.nodes[quads]
    sides = corners[:, 1:] - corners[:, :1]
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
