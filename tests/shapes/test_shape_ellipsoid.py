"""Ellipsoids: characteristics, exact transformations, primitives, points in them, bad ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solfec.contact.geometry import Geometry, PrimitiveKind
from solfec.shapes import transform
from solfec.shapes.characteristics import characteristics
from solfec.shapes.ellipsoid import Ellipsoid
from solfec.shapes.point_query import contains
from solfec.shapes.primitives import compile
from solfec.shapes.sphere import Sphere

ANGLES = st.floats(-180.0, 180.0)
FACTORS = st.tuples(*[st.floats(0.2, 5.0) | st.floats(-5.0, -0.2)] * 3)


def quadric(ellipsoid):
    """The matrix A of (x - c) A (x - c) = 1."""
    return ellipsoid.rotation @ np.diag(ellipsoid.radii**-2.0) @ ellipsoid.rotation.T


def test_volume_and_tensor_turn_with_the_ellipsoid():
    ellipsoid = Ellipsoid((0, 0, 0), (1, 2, 3))
    volume, centre, euler = characteristics(ellipsoid)
    assert volume == pytest.approx(8.0 * math.pi)
    assert centre.tolist() == [0, 0, 0]
    assert euler == pytest.approx(volume / 5.0 * np.diag([1.0, 4.0, 9.0]))
    transform.rotate(ellipsoid, (0, 0, 0), (0, 0, 1), 90)
    assert characteristics(ellipsoid)[2] == pytest.approx(volume / 5.0 * np.diag([4.0, 1.0, 9.0]))


def test_characteristics_of_equal_radii_are_those_of_a_sphere():
    for one, two in zip(characteristics(Ellipsoid((1, 2, 3), (2, 2, 2))), characteristics(Sphere((1, 2, 3), 2))):
        assert one == pytest.approx(two)


def test_scaling_along_the_axes_is_exact_and_moves_the_centre():
    ellipsoid = Ellipsoid((1, 1, 1), (1, 2, 3))
    transform.scale(ellipsoid, (2, 3, -1))
    assert ellipsoid.centre.tolist() == [2, 3, -1]
    assert ellipsoid.radii.tolist() == [2, 6, 3]
    assert np.abs(ellipsoid.rotation).tolist() == np.eye(3).tolist()


@settings(max_examples=60, deadline=None)
@given(ANGLES, ANGLES, FACTORS)
def test_scaling_a_turned_ellipsoid_maps_its_surface(first, second, factors):
    ellipsoid = Ellipsoid((0.3, -0.2, 0.1), (0.5, 1.0, 2.0))
    transform.rotate(ellipsoid, (0, 0, 0), (1, 2, 3), first)
    transform.rotate(ellipsoid, (0, 0, 0), (0, -1, 1), second)
    before, centre = quadric(ellipsoid), ellipsoid.centre.copy()
    transform.scale(ellipsoid, factors)
    inverse = np.diag(1.0 / np.array(factors))
    assert quadric(ellipsoid) == pytest.approx(inverse @ before @ inverse, rel=1e-9, abs=1e-9 * np.abs(inverse).max() ** 2)
    assert ellipsoid.centre == pytest.approx(centre * factors)
    assert np.linalg.det(ellipsoid.rotation) == pytest.approx(1.0)
    assert ellipsoid.rotation.T @ ellipsoid.rotation == pytest.approx(np.eye(3))


def test_axes_keep_their_names_through_a_small_stretch():
    ellipsoid = Ellipsoid((0, 0, 0), (3, 1, 2))
    transform.rotate(ellipsoid, (0, 0, 0), (1, 1, 1), 20)
    before = ellipsoid.rotation.copy()
    transform.scale(ellipsoid, (1.01, 1, 0.99))
    assert np.argsort(ellipsoid.radii).tolist() == [1, 2, 0]
    assert ((before * ellipsoid.rotation).sum(0) > 0.999).all()


def test_copies_are_independent():
    one = Ellipsoid((0, 0, 0), (1, 2, 3), 4, 5)
    two = transform.copy(one)
    transform.rotate(transform.translate(two, (1, 0, 0)), (0, 0, 0), (0, 0, 1), 45)
    assert one.centre.tolist() == [0, 0, 0] and one.rotation.tolist() == np.eye(3).tolist()
    assert (two.volume_id, two.surface_id) == (4, 5)


def test_primitive_holds_radii_and_directions():
    ellipsoid = transform.rotate(Ellipsoid((1, 2, 3), (1, 2, 3), 7, 8), (0, 0, 0), (0, 0, 1), 90)
    shape = compile([Sphere((0, 0, 0), 1), ellipsoid], 1e-6)
    assert shape.kind.tolist() == [PrimitiveKind.SPHERE, PrimitiveKind.ELLIPSOID]
    assert shape.radii[:, 1].tolist() == [1, 2, 3]
    assert shape.orientation[:, :, 1].tolist() == ellipsoid.rotation.tolist()
    assert (shape.volume_id[1], shape.surface[1]) == (7, 8)


def test_points_are_found_in_a_turned_ellipsoid():
    geometry = Geometry()
    ellipsoid = transform.rotate(Ellipsoid((0, 0, 0), (1, 2, 3)), (0, 0, 0), (0, 0, 1), 90)
    rows = geometry.add(0, compile(ellipsoid, 1e-6))
    for point, inside in (((2, 0, 0), True), ((2.01, 0, 0), False), ((0, 1.01, 0), False), ((0, 0, -3), True)):
        assert contains(geometry, *rows, point, 1e-6) is inside


def test_inverse_shape_has_the_squares_of_half_widths_of_the_box():
    ellipsoid = transform.rotate(Ellipsoid((0, 0, 0), (1, 2, 3)), (0, 0, 0), (1, 1, 0), 50)
    directions = np.random.default_rng(0).normal(size=(20000, 3))
    surface = (directions / np.sqrt((directions**2).sum(1, keepdims=True)) * ellipsoid.radii) @ ellipsoid.rotation.T
    assert surface.max(0) == pytest.approx(np.sqrt(np.diag(ellipsoid.inverse_shape())), rel=1e-3)


@pytest.mark.parametrize("radii, text", [((1, 0, 1), "positive"), ((1, math.nan, 1), "finite"), ((1, 1e200, 1), "1e\\+50")])
def test_bad_radii_are_refused(radii, text):
    with pytest.raises(ValueError, match=text):
        Ellipsoid((0, 0, 0), radii)
