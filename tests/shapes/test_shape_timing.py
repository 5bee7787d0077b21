"""Inputs that make tens of thousands of shapes start in seconds."""

from __future__ import annotations

import time

import pytest
from sample_shapes import cube, unit_mesh

from solfec.shapes import transform
from solfec.shapes.characteristics import characteristics
from solfec.shapes.convex import Convex
from solfec.shapes.primitives import compile
from solfec.shapes.sphere import Sphere


@pytest.mark.parametrize("base", [Sphere((0, 0, 0), 1.0), cube(), unit_mesh()], ids=["sphere", "hull", "hex"])
def test_ten_thousand_copies_are_moved_compiled_and_weighed_in_seconds(base):
    start = time.process_time()
    for number in range(10000):
        shape = transform.translate(transform.copy(base), (number, 0, 0))
        compile(shape, 1e-6)
        characteristics(shape)
    assert time.process_time() - start < 2.0  # 0.2 to 0.4 s on an idle core


def test_adjacency_of_a_thousand_touching_bricks_takes_less_than_a_second():
    bricks = [cube(corner=(i, j, k)).polyhedra[0] for i in range(10) for j in range(10) for k in range(10)]
    taken = []
    for _ in range(3):
        start = time.process_time()
        compile(Convex(bricks), 1e-6)
        taken.append(time.process_time() - start)
    assert min(taken) < 1.0
