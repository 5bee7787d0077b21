"""The body or constraint under a pixel, and the point, in double precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CAP, QUADRIC, CONSTRAINT = 0x20000000, 0x40000000, 0x80000000  # added to numbers of triangles of cuts and of quadrics, and to identifiers


@dataclass
class Picked:
    """The object at a pixel: the identifier of a `body` or of a `constraint`, 0 if it is none, and its `point` (3,)."""

    body: int = 0
    constraint: int = 0
    point: np.ndarray | None = None


def pick(presentation, x: int, y: int) -> Picked:
    """Return the object at a pixel of the last picture, y from above."""
    targets, camera = presentation.renderer.targets, presentation.camera
    identifier, number = (int(value) for value in targets.ids(x, y, 1, 1)[0, 0])
    if identifier == 0 and number == 0:
        return Picked()
    if identifier >= CONSTRAINT:
        return Picked(constraint=identifier - CONSTRAINT, point=presentation.domain.constraints.view("point")[:, number].copy())
    extent = targets.width, targets.height
    if number >= CAP:  # exact for spheres; for cuts accurate to a pixel
        return Picked(body=identifier, point=camera.unproject(x + 0.5, y + 0.5, targets.depth(x, y), *extent))
    corners = presentation.domain.geometry.vertices.view("current")[:, presentation.topology.triangles[number - 1]].T
    near, far = (camera.unproject(x + 0.5, y + 0.5, depth, *extent) for depth in (0.0, 1.0))
    return Picked(body=identifier, point=_on_plane(near, far, corners))


def _on_plane(start: np.ndarray, end: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the intersection of a line through two points with the plane of a triangle (3, 3); the triangle's middle if they are parallel."""
    normal, way = np.cross(corners[1] - corners[0], corners[2] - corners[0]), end - start
    rate = normal @ way
    if abs(rate) <= 1e-12 * np.linalg.norm(normal) * np.linalg.norm(way):
        return corners.mean(0)
    return start + way * (normal @ (corners[0] - start)) / rate


def nearest_vertex(presentation, picked: Picked) -> int | None:
    """Return the row of the picked body's vertex that is nearest to the picked point."""
    if not picked.body:
        return None
    domain = presentation.domain
    rows = np.flatnonzero(domain.geometry.vertices.view("body") == domain.body_row(picked.body))
    away = domain.geometry.vertices.view("current")[:, rows] - picked.point[:, None]
    return int(rows[np.argmin((away**2).sum(0))])
