"""Planes of mesh elements agree with Solfec-1.0: order, base points, normals, split of warped faces, identifiers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from solfec.shapes import primitives
from solfec.shapes.mesh import Mesh

DATA = Path(__file__).parents[1] / "data" / "shapes" / "element_planes.json.gz"
CASES = json.loads(gzip.decompress(DATA.read_bytes()))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_planes_of_reference_meshes(case, monkeypatch):
    monkeypatch.setattr(primitives, "WARPED", 1e-3)  # Solfec-1.0's limit
    mesh = Mesh.from_records(case["nodes"], case["elements"], case["surfaces"])
    shape = primitives.compile(mesh, 1e-6)
    assert shape.outer_count.tolist() == case["outer"]
    assert shape.face_count.tolist() == [len(p) for p in case["planes"]]
    lead = shape.corners[shape.face_corner_ptr[:, None] + np.arange(3)]
    a, b, c = (shape.vertices[:, lead[:, i]].T for i in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    planes = np.concatenate([np.array(p) for p in case["planes"]])
    assert normals == pytest.approx(planes[:, :3], abs=1e-14)
    assert a == pytest.approx(planes[:, 3:], abs=1e-15)
    for first, outer, surfaces in zip(shape.face_ptr, shape.outer_count, case["plane_surfaces"]):
        assert shape.face_surface[first : first + outer].tolist() == surfaces[:outer]
