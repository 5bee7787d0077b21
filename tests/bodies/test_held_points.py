"""Which element holds a point of a body."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solfec.bodies import finite_elements
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.domain import Domain
from solfec.shapes import hex_mesh

CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]


@pytest.fixture(scope="module")
def bodies():
    domain = Domain(1e-3)
    mesh = hex_mesh.hex_mesh(CUBE, 3, 2, 2, 1, [1] * 6)
    domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], BulkMaterial("KIRCHHOFF", "", 1e6, 0.3, 1e3))
    return domain.bodies


@pytest.mark.parametrize("reach", [1e-6, 0.1, 1.0, 10.0])
@given(point=st.tuples(*[st.floats(0.0, 1.0)] * 3))
def test_weights_give_a_point_inside_however_far_from_the_body_points_may_be(bodies, reach, point):
    mesh = bodies.meshes[1]
    element, _, weights = finite_elements.find(bodies, 0, point, reach)
    corners = mesh.nodes[mesh.elements[element]]
    np.testing.assert_allclose(weights[: len(corners)] @ corners, point, atol=1e-9)


def test_a_point_outside_is_held_by_the_nearest_element(bodies):
    mesh = bodies.meshes[1]
    for point in [(1.5, 0.9, 0.9), (0.1, -0.3, 0.8), (0.5, 0.2, 1.8)]:
        element, _, _ = finite_elements.find(bodies, 0, point, 2.0)
        centres = mesh.nodes[mesh.elements].mean(axis=1)
        assert element == np.argmin(np.linalg.norm(centres - point, axis=1))
