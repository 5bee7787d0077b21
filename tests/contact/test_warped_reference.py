"""Points and areas of contacts between elements whose faces have warped are those of their nodes' convex hulls.

The exact intersections of hulls are made by other means (Qhull), swollen by half an epsilon each.  Solfec-1.0 takes a face whose nodes are less
than a limit off a plane for the plane through three of them: its areas are wrong by up to a half where contacts are shallower than the
fourth node is off that plane.
"""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import load, reference_model
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection


def inner_point(planes):
    """Centre of the largest ball behind planes (n, d), n·x <= d; None: there is none."""
    ones = np.ones((len(planes), 1))
    found = linprog([0, 0, 0, -1], np.hstack((planes[:, :3], ones)), planes[:, 3], bounds=[(None, None)] * 4)
    return found.x[:3] if found.success and found.x[3] > 0 else None


def measure(planes, inside):
    """Half the surface and its centroid of what is behind planes, as (area, x, y, z)."""
    if inside is None or not np.all(planes[:, :3] @ inside < planes[:, 3]):
        inside = inner_point(planes)
        if inside is None:
            return np.full(4, np.inf)
    corners = HalfspaceIntersection(planes * (1, 1, 1, -1), inside).intersections
    triangles = corners[ConvexHull((corners - inside) * 1e3, qhull_options="QJ").simplices]
    areas = 0.5 * np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    return np.array((0.5 * areas.sum(), *(areas @ triangles.mean(axis=1)) / areas.sum()))


def planes_of_hull(model, row):
    """Planes (n, d) of the convex hull of a primitive's nodes."""
    primitives = model.geometry.primitives
    start, count = primitives.vertex_ptr[row], primitives.vertex_count[row]
    nodes = model.geometry.vertices.current[:, model.geometry.vertex_lists.vertex[start : start + count]].T
    normals, distances = np.split(ConvexHull((nodes - nodes[0]) * 1e3).equations, (3,), axis=1)
    return np.hstack((normals, normals @ nodes[0][:, None] - distances / 1e3))


def test_points_and_areas_where_faces_have_warped():
    data = load("fem_200")
    model = reference_model(data | {"threshold": 0.0})
    model.detect()
    table, swelling = model.constraints, (0, 0, 0, 0.5 * data["epsilon"])
    found = {model.key(row): row for row in range(table.n)}
    theirs = []
    for contact in data["contacts"]:
        row = found[tuple((contact[side], contact[f"{side}_object"]) for side in ("slave", "master"))]
        planes = np.vstack([planes_of_hull(model, side) for side in (table.slave_primitive[row], table.master_primitive[row])]) + swelling
        exact = measure(planes, inner_point(planes))
        assert (table.area[row], *table.point[:, row]) == pytest.approx(exact, abs=3e-7)
        theirs.append(contact["area"] / exact[0])
    assert min(theirs) < 0.5 and max(theirs) > 1.2
