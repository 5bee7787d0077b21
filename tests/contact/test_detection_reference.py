"""Contacts of whole models are those of Solfec-1.0: pairs, roles, points, normals, gaps, areas, surfaces."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from detection_models import load, reference_model

from solfec.contact.geometry import PrimitiveKind

# Solfec-1.0 cut facets into triangles from an arbitrary corner, and normals depend on it unless facets are triangles
# or parallelograms.  We average over all corners; test_reference_normals.py shows that its normals are among the possible ones.
NORMAL = {"convex_mesh_000": 7e-3, "mixed_elements_000": 2e-4}
# Thin patches are swollen by epsilon, which Solfec-1.0 did unevenly: points move by epsilon over the slope between
# facets, areas by epsilon times the length of the patch.
POINT = {"convex_mesh_000": 1e-5}
LENGTH = {"arch_full_000": 3.0, "arch_sparse_000": 3.0}
# Eight joints of 3 x 2 elements on as many have 28 pairs of elements that touch, the two supports 6 each: 236 in all.
# Solfec-1.0 found 235: an odd number, though the arch is its own mirror image and no joint is in its middle.
LOST_BY_SOLFEC_1 = {"arch_full_000": 1, "arch_sparse_000": 1}

MODELS = (
    "arch_full_000", "arch_sparse_000", "convex_mesh_000", "cubes27_000", "curved_000", "fem_000", "hexstack_000",
    "hexstack_030", "mixed_elements_000", "pipe_000",
)  # fmt: skip


def sides(contact):
    return tuple((contact[side], contact[f"{side}_object"]) for side in ("slave", "master"))


def lower_bounds_tie(model, row):
    boxes = model.geometry.primitives.box
    table = model.constraints
    return abs(boxes[0, table.slave_primitive[row]] - boxes[0, table.master_primitive[row]]) < 1e-9


def is_twin(one, two, distance):
    """Contacts so close to each other that sparsification keeps one of them."""
    close = np.abs(np.subtract(one[1], two[1])).max() < 2 * distance
    return close and bool({body for body, _ in one[0]} & {body for body, _ in two[0]})


@pytest.mark.parametrize("name", MODELS)
def test_contacts_are_those_of_solfec_1(name):
    data = load(name)
    model = reference_model(data)
    removed = model.detect()
    model.refer()
    table = model.constraints
    found = {frozenset(model.key(row)): row for row in range(table.n)}
    expected = {frozenset(sides(contact)): contact for contact in data["contacts"]}
    ours = [(key, table.point[:, row]) for key, row in found.items()]
    theirs = [(key, contact["point"]) for key, contact in expected.items()]
    assert len(ours) == len(theirs)
    assert removed == data["sparsified"] + LOST_BY_SOLFEC_1.get(name, 0)
    for one, others, known in ((ours, theirs, expected), (theirs, ours, found)):
        for contact in one:
            assert contact[0] in known or any(is_twin(contact, other, data["min_distance"]) for other in others)
    for key in found.keys() & expected.keys():
        compare(model, found[key], expected[key], name, data["epsilon"])


def compare(model, row, contact, name, epsilon):
    table = model.constraints
    sign = 1.0
    surfaces = contact["surfaces_slave_master"]
    points = [contact["slave_ref_point"], contact["master_ref_point"]]
    if model.key(row) != sides(contact):
        assert lower_bounds_tie(model, row)
        sign, surfaces, points = -1.0, surfaces[::-1], points[::-1]
    assert table.surface[:, row].tolist() == surfaces
    kinds = model.geometry.primitives.kind[[table.slave_primitive[row], table.master_primitive[row]]]
    if kinds.min() >= PrimitiveKind.SPHERE and kinds.max() == PrimitiveKind.ELLIPSOID:
        compare_ellipsoids(table, row, contact, epsilon)
        return
    # the gap is the depth along the normal, so it inherits its difference
    near = POINT.get(name, 2 * epsilon)
    normal = NORMAL.get(name, 5e-6)
    assert table.base[:, 2, row] == pytest.approx(sign * np.array(contact["normal"]), abs=normal)
    assert table.point[:, row] == pytest.approx(np.array(contact["point"]), abs=near)
    assert table.slave_point[:, row] == pytest.approx(np.array(points[0]), abs=near)
    assert table.master_point[:, row] == pytest.approx(np.array(points[1]), abs=near)
    assert table.gap[row] == pytest.approx(contact["gap"], abs=2 * epsilon + 0.01 * normal)
    assert table.area[row] == pytest.approx(contact["area"], abs=max(1e-5, 2 * epsilon * LENGTH.get(name, 1.0)))


def compare_ellipsoids(table, row, contact, epsilon):
    """Solfec-1.0 took the normal at an arbitrary common point; ours is that of least depth, so ours is the smaller one.

    How far common points are apart grows with the root of the depth, and so does the difference of normals.
    """
    assert contact["gap"] - 2 * epsilon <= table.gap[row] <= 0
    depth = -contact["gap"]
    assert table.gap[row] == pytest.approx(contact["gap"], abs=2 * epsilon + depth**2)
    assert table.base[:, 2, row] == pytest.approx(np.array(contact["normal"]), abs=0.5 * depth**0.5)
    assert table.point[:, row] == pytest.approx(np.array(contact["point"]), abs=0.5 * depth**0.5)


def test_every_pair_of_elements_that_touch_in_an_arch_is_found():
    model = reference_model(load("arch_full_000") | {"threshold": 0.0, "min_distance": 0.0})
    assert model.detect() == 0
    joints = Counter(frozenset(pair) for pair in model.pairs())
    assert sorted(joints.values()) == [6, 6] + [28] * 8


def test_contacts_of_elements_whose_faces_have_warped():
    """Faces split as they warp, so contacts are those of Solfec-1.0; what sparsification would remove it had kept.

    In Solfec-1.0 faces that are warped by less than a limit are a plane through three of four nodes.  Where contacts are shallower than
    the fourth lies off it, its points, areas and gaps depend on which three; ours hold for the true nodes.
    test_warped_reference.py holds points and areas against exact intersections.
    """
    data = load("fem_200")
    model = reference_model(data | {"threshold": 0.0})
    model.detect()
    table = model.constraints
    faces = model.geometry.current
    assert faces.face_count[: len(model.geometry.primitives.view("kind"))].max() == 12
    found = {model.key(row): row for row in range(table.n)}
    expected = {sides(contact): contact for contact in data["contacts"]}
    assert expected.keys() <= found.keys()
    same = 0
    largest = max(contact["area"] for contact in data["contacts"])
    for key in found.keys() - expected.keys():
        assert table.area[found[key]] < data["threshold"] * largest
    for key, contact in expected.items():
        row = found[key]
        normal = table.base[:, 2, row]
        assert table.surface[:, row].tolist() == contact["surfaces_slave_master"]
        assert normal == pytest.approx(np.array(contact["normal"]), abs=1e-3)  # the limit of Solfec-1.0
        assert depth_along(model, row, normal) - 2e-6 <= table.gap[row] <= contact["gap"] + 2e-6
        same += abs(table.gap[row] - contact["gap"]) < 2e-6
    assert same == len(expected) - 2  # and two are deeper


def depth_along(model, row, normal):
    """How far the nodes of two elements reach into each other's extent along a normal, as a gap."""
    table, primitives = model.constraints, model.geometry.primitives
    reach = []
    for primitive, direction in ((table.slave_primitive[row], normal), (table.master_primitive[row], -normal)):
        start, count = primitives.vertex_ptr[primitive], primitives.vertex_count[primitive]
        nodes = model.geometry.vertices.current[:, model.geometry.vertex_lists.vertex[start : start + count]]
        reach.append((direction @ nodes).max())
    return -(reach[0] + reach[1])
