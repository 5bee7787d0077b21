"""Contacts of whole models are those of Solfec-1.0: pairs, roles, points, normals, gaps, areas, surfaces."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import load, reference_model

# Solfec-1.0 cut facets into triangles from an arbitrary corner, and normals depend on it unless facets are triangles
# or parallelograms.  We average over all corners; its normals were checked to be among the possible ones.
NORMAL = {"convex_mesh_000": 7e-3, "mixed_elements_000": 2e-4}
# Thin patches are swollen by epsilon, which Solfec-1.0 did unevenly: points move by epsilon over the slope between
# facets, areas by epsilon times the length of the patch.
POINT = {"convex_mesh_000": 1e-5}
LENGTH = {"arch_full_000": 3.0, "arch_sparse_000": 3.0}

MODELS = (
    "arch_full_000", "arch_sparse_000", "convex_mesh_000", "cubes27_000", "curved_000", "hexstack_000",
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
    if data["left_out"]:
        print("left out: ellipsoid bodies", data["left_out"])
    model = reference_model(data)
    model.detect()
    table = model.constraints
    found = {frozenset(model.key(row)): row for row in range(table.n)}
    expected = {frozenset(sides(contact)): contact for contact in data["contacts"]}
    ours = [(key, table.point[:, row]) for key, row in found.items()]
    theirs = [(key, contact["point"]) for key, contact in expected.items()]
    assert len(ours) == len(theirs)
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
    # the gap is the depth along the normal, so it inherits its difference
    near = POINT.get(name, 2 * epsilon)
    normal = NORMAL.get(name, 5e-6)
    assert table.base[:, 2, row] == pytest.approx(sign * np.array(contact["normal"]), abs=normal)
    assert table.point[:, row] == pytest.approx(np.array(contact["point"]), abs=near)
    assert table.slave_point[:, row] == pytest.approx(np.array(points[0]), abs=near)
    assert table.master_point[:, row] == pytest.approx(np.array(points[1]), abs=near)
    assert table.gap[row] == pytest.approx(contact["gap"], abs=2 * epsilon + 0.01 * normal)
    assert table.area[row] == pytest.approx(contact["area"], abs=max(1e-5, 2 * epsilon * LENGTH.get(name, 1.0)))
    assert table.surface[:, row].tolist() == surfaces
