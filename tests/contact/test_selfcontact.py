"""Contacts of a deformable body with itself: between parts that are not adjacent, whatever their kinds."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import Model, box, mesh_box

from solfec.bodies.table import BodyKind
from solfec.shapes.ellipsoid import Ellipsoid
from solfec.shapes.sphere import Sphere


def squeezed(shapes, factor, axis=2):
    """A pseudo-rigid body with self-contact, shortened by a factor along an axis; its contacts."""
    model = Model(threshold=0.0)
    row = model.add(*shapes, kind=BodyKind.PSEUDO_RIGID, centre=(0.0, 0.0, 0.0))
    model.bodies.selfcontact[row] = 1
    model.detect()
    at_rest = model.constraints.n
    model.conf(row)[axis, axis] = factor
    model.detect()
    return at_rest, model


UPPER = {
    "sphere": Sphere((0.0, 0.0, 1.2), 0.5, 0, 0),
    "ellipsoid": Ellipsoid((0.0, 0.0, 1.2), (0.3, 0.4, 0.5), 0, 0),
    "convex": box((-0.5, -0.5, 0.7), (0.5, 0.5, 1.7)),
    "mesh": mesh_box((-0.5, -0.5, 0.7), (0.5, 0.5, 1.7)),
}


@pytest.mark.parametrize("upper", UPPER)
def test_a_sphere_meets_what_is_apart_at_rest_when_the_body_is_squeezed(upper):
    """Spheres keep their radius; other parts of a body that deforms uniformly never meet."""
    at_rest, model = squeezed([Sphere((0, 0, 0), 0.5, 0, 0), UPPER[upper].copy()], 0.6)
    assert at_rest == 0
    assert model.constraints.n == 1 and model.pairs() == [(0, 0)]
    assert model.constraints.gap[0] == pytest.approx({"sphere": 0.72 - 1}.get(upper, 0.42 - 0.5), abs=1e-9)
    assert abs(model.constraints.base[2, 2, 0]) == pytest.approx(1)


def test_a_clump_that_overlaps_at_rest_has_no_contacts_and_its_far_ends_may_meet():
    clump = [Sphere((0.8 * k, 0, 0), 0.5, 0, 0) for k in range(5)]
    clump += [Ellipsoid((0.0, 0.0, 0.6), (0.2, 0.2, 0.3), 0, 0), box((-0.2, -0.2, -0.9), (0.2, 0.2, -0.4))]
    at_rest, model = squeezed(clump, 0.4, axis=0)
    assert at_rest == 0
    numbers = {frozenset(side[1] for side in model.key(row)) for row in range(model.constraints.n)}
    # convexes come first: spheres are 1 to 5
    assert numbers == {frozenset((a, a + k)) for a in range(1, 5) for k in (2, 3) if a + k < 6} | {frozenset((6, 2)), frozenset((0, 2))}


def test_convexes_and_elements_that_touch_at_rest_are_adjacent():
    at_rest, model = squeezed([mesh_box((0, 0, -1), (1, 1, 0), (2, 1, 1)), box((0, 0, 0), (1, 1, 1))], 0.9)
    assert at_rest == model.constraints.n == 0


def test_bodies_without_selfcontact_do_not_meet_themselves():
    model = Model()
    model.add(*(s.copy() for s in UPPER.values()), kind=BodyKind.PSEUDO_RIGID)
    model.detect()
    assert model.constraints.n == 0
    assert np.count_nonzero(model.geometry.primitives.view("adjacent_count")) == 4
