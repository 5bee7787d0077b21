"""Contacts of whole models are those of Solfec-1.0: pairs, roles, points, normals, gaps, areas, surfaces."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import load, reference_model

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
    assert found.keys() == expected.keys()
    for key, contact in expected.items():
        row = found[key]
        sign = 1.0
        surfaces = contact["surfaces_slave_master"]
        if model.key(row) != sides(contact):
            assert lower_bounds_tie(model, row)
            sign, surfaces = -1.0, surfaces[::-1]
        assert np.abs(table.base[:, 2, row] - sign * np.array(contact["normal"])).max() < 5e-6
        assert np.abs(table.point[:, row] - contact["point"]).max() < 2 * data["epsilon"]
        assert abs(table.gap[row] - contact["gap"]) < 2 * data["epsilon"]
        assert abs(table.area[row] - contact["area"]) < 1e-5
        assert table.surface[:, row].tolist() == surfaces
