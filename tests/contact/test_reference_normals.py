"""Where our normals differ from Solfec-1.0's, they are the mean of what it could have found.

Solfec-1.0 cut every facet of an intersection into triangles from some corner and weighted its normal by their squared areas; we
average over all corners.  The facets are found here by an enumeration of half-spaces.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from detection_models import load, reference_model

spatial = pytest.importorskip("scipy.spatial")
optimize = pytest.importorskip("scipy.optimize")


def planes(model, primitive):
    """Planes (n, 4) of a primitive, outward normal and distance, and the number of outer ones."""
    faces = model.geometry.current
    rows = faces.face_ptr[primitive] + np.arange(faces.face_count[primitive])
    normal = faces.normal[:, rows].T
    point = model.geometry.vertices.current[:, faces.vertex[faces.corner_ptr[rows]]].T
    return np.column_stack([normal, (normal * point).sum(1)]), int(faces.outer_count[primitive])


def fans_of(one, two, shift=0.0):
    """For each facet of the intersection: its signed normal, and the weights of its fans from each corner."""
    (first, outer), (second, other_outer) = one, two
    all_planes = np.vstack([first, second])
    all_planes[:, 3] += shift
    sign = np.zeros(len(all_planes))
    sign[:outer] = 1
    sign[len(first) : len(first) + other_outer] = -1
    n, level = all_planes[:, :3], all_planes[:, 3]
    inner = optimize.linprog([0, 0, 0, -1], A_ub=np.column_stack([n, np.ones(len(n))]), b_ub=level, bounds=[(None, None)] * 4)
    corners = spatial.HalfspaceIntersection(np.column_stack([n, -level]), inner.x[:3]).intersections
    result = []
    for normal, distance, s in zip(n, level, sign):
        on = corners[np.abs(corners @ normal - distance) < 1e-11]
        if len(on) < 3 or s == 0:
            continue
        flat = (on - on.mean(0)) @ np.linalg.svd(normal[None])[2][1:].T
        flat = flat[spatial.ConvexHull(flat).vertices]
        flat = flat[np.linalg.norm(flat - np.roll(flat, 1, 0), axis=1) > 1e-9 * np.ptp(corners, axis=0).max()]
        if len(flat) < 3:
            continue  # a facet of no area
        result.append((s * normal, [fan_weight(np.roll(flat, -k, 0)) for k in range(len(flat))]))
    return result


def fan_weight(polygon):
    """Sum of the squared areas of the triangles of a fan from the first corner."""
    a, b = polygon[1:-1] - polygon[0], polygon[2:] - polygon[0]
    return ((0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])) ** 2).sum()


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def possible_and_mean(facets):
    normals = np.array([normal for normal, _ in facets])
    choices = [np.unique(weights) for _, weights in facets]
    return (
        unit(np.array(list(itertools.product(*choices))) @ normals),
        unit(np.array([np.mean(weights) for _, weights in facets]) @ normals),
    )


def matched(name):
    """(our row, planes of slave and master, Solfec-1.0's contact) of contacts with equal roles."""
    data = load(name)
    model = reference_model(data)
    model.detect()
    rows = {model.key(row): row for row in range(model.constraints.n)}
    for contact in data["contacts"]:
        row = rows.get(tuple((contact[side], contact[f"{side}_object"]) for side in ("slave", "master")))
        if row is not None:
            sides = (model.constraints.slave_primitive[row], model.constraints.master_primitive[row])
            yield model, row, [planes(model, int(side)) for side in sides], contact


def test_normals_of_hulls_are_the_mean_of_those_that_solfec_1_could_find():
    count = 0
    for model, row, sides, contact in matched("convex_mesh_000"):
        if abs(contact["normal"][2]) > 1 - 1e-9:
            continue  # flush faces, for which the fan does not matter
        facets = fans_of(*sides)
        possible, mean = possible_and_mean(facets)
        # it differs from the mean by up to 6e-3, and from one of the possible ones by what moving planes by epsilon may do
        assert np.abs(possible - contact["normal"]).max(1).min() < 1.3e-4
        slack = 2e-6 / np.sqrt(contact["area"]) + 1e-5
        assert np.abs(model.constraints.base[:, 2, row] - mean).max() < slack
        count += 1
    assert count == 9


def test_a_corner_of_two_pyramids_differs_by_planes_that_solfec_1_moved():
    """It moved those three planes by epsilon that its interior point lay on: then its normal is one of the possible ones."""
    for model, row, sides, contact in matched("mixed_elements_000"):
        if (contact["slave"], contact["master"]) != (6, 7):
            continue
        possible, mean = possible_and_mean(fans_of(*sides))
        assert len(possible) < 3 and np.abs(mean - contact["normal"]).max() == pytest.approx(1.36e-4, rel=0.01)
        assert np.abs(model.constraints.base[:, 2, row] - mean).max() < 1e-5
        moved = [
            np.abs(possible_and_mean(fans_of(*sides, 1e-6 * np.isin(range(9), three)))[0] - contact["normal"]).max(1).min()
            for three in itertools.combinations(range(9), 3)
        ]
        assert min(moved) < 1e-12
        return
    pytest.fail("the contact is missing")
