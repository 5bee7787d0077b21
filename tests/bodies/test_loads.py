"""Gravity, forces, torques and callbacks, and what their errors say."""

import numpy as np
import pytest
from body_models import Model

from solfec.bodies import motion
from solfec.bodies.table import BodyKind
from solfec.errors import SolfecError
from solfec.time_series import TimeSeries


@pytest.fixture
def model():
    model = Model()
    model.rigid((1.0, 1.0, 1.0), mass=2.0, id=41)
    model.cube(id=42)
    model.rigid(kind=BodyKind.OBSTACLE, id=43)
    return model


def kicked(model, time=0.0, step=1e-6):
    """Generalised forces right after the loads of one step at `time`."""
    model.initialise()
    model.bodies.triples.velo[...] = 0
    motion.predict(model.bodies, model.loads, time - step / 2, step)
    return model.bodies.triples.force


@pytest.mark.parametrize(
    ("kind", "point", "direction", "spatial"), [("SPATIAL", (1, 0, 0), (3, 0, 0), (5, 0, 0)), ("CONVECTED", (0, 1, 0), (1, 0, 0), (0, 5, 0))]
)
def test_eccentric_forces_make_moments_in_the_body_frame_and_convected_ones_turn_with_it(model, kind, point, direction, spatial):
    model.conf()[:, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # by 90 degrees about z
    model.loads.add_force(0, kind, point, direction, 5.0)
    force = kicked(model)
    np.testing.assert_allclose(force[:, 0], (0, 0, -5), atol=1e-15)
    np.testing.assert_allclose(force[:, 1], spatial, atol=1e-15)


def test_torques_in_space_and_in_the_body(model):
    model.conf()[:, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    model.loads.add_torque(0, "SPATIAL", (1, 0, 0), 2.0)
    model.loads.add_torque(0, "CONVECTED", (1, 0, 0), 7.0)
    np.testing.assert_allclose(kicked(model)[:, 0], (7, -2, 0), atol=1e-15)


def test_time_series_are_taken_at_mid_step(model):
    ramp = TimeSeries([0, 1], [0, 10])
    model.loads.add_force(0, "SPATIAL", (0, 0, 0), (1, 0, 0), ramp)
    model.loads.add_force(1, "SPATIAL", (0, 0, 0), (0, 0, 1), ramp)
    model.loads.set_gravity((0, ramp, 1.0))
    assert model.loads.series.n == 1
    force = kicked(model, time=0.25)
    np.testing.assert_allclose(force[:, 1], (2.5, 2.0 * 2.5, 2.0), rtol=1e-14)
    np.testing.assert_allclose(force[:, 5], (0, 2500.0, 1002.5), rtol=1e-14)


def test_callback_sees_mid_step_and_its_result_counts(model):
    seen = []

    def rigid(q, u, t, h):
        seen.append((q, u, t, h))
        return (1, 2, 3), (4, 5, 6), (7, 8, 9)

    model.conf()[:, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    model.velo()[:, 1] = (8, 0, 0)
    model.loads.add_force(0, "SPATIAL", (0, 0, 0), (0, 0, 0), rigid)
    model.loads.add_callback(1, lambda q, u, t, h: np.arange(12.0))
    model.initialise()
    motion.predict(model.bodies, model.loads, 1.0, 0.5)
    q, u, t, h = seen[0]
    assert (t, h) == (1.25, 0.5)
    assert q == (0, 1, 0, -1, 0, 0, 0, 0, 1, 2.0, 0, 0)
    assert u == (0, 0, 0, 8.0, 0, 0)
    assert isinstance(q, tuple) and isinstance(u, tuple)
    np.testing.assert_allclose(model.bodies.triples.force[:, 1], (1, 2, 3))
    np.testing.assert_allclose(model.bodies.triples.force[:, 2:6].T.ravel(), np.arange(12))


def test_callback_moments_are_spatial_then_referential(model):
    model.conf()[:, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    model.loads.add_callback(0, lambda q, u, t, h: (0, 0, 0, 4, 5, 6, 7, 8, 9))
    np.testing.assert_allclose(kicked(model)[:, 0], (5 + 7, -4 + 8, 6 + 9), rtol=1e-14)


def raising(q, u, t, h):
    raise KeyError("spring")


@pytest.mark.parametrize(
    "row, function, words",
    [
        (0, lambda q, u, t, h: (1, 2, 3), "body 41.*9 numbers are expected, 3 were returned"),
        (1, lambda q, u, t, h: (0,) * 9, "body 42.*12 numbers are expected, 9 were returned"),
        (0, lambda q, u, t, h: None, "body 41.*sequence of 9 numbers is expected, not None"),
        (0, lambda q, u, t, h: "nine here", "body 41.*sequence of 9 numbers"),
        (0, lambda q, u, t, h: (0, float("nan")) + (0,) * 7, "body 41.*number 1 of the result is not finite"),
    ],
)
def test_bad_callbacks_are_named_with_their_body(model, row, function, words):
    model.loads.add_callback(row, function)
    with pytest.raises(SolfecError, match=words):
        kicked(model)


@pytest.mark.parametrize("function, kind", [(raising, KeyError), (lambda q, u: (0,) * 9, TypeError)])
def test_what_a_callback_raises_goes_on_with_a_note_of_its_body(model, function, kind):
    model.loads.add_callback(0, function)
    with pytest.raises(kind) as caught:
        kicked(model)
    assert "force callback of body 41" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((2, "SPATIAL", (0, 0, 0), (1, 0, 0), 1.0), "body 43 is of kind OBSTACLE"),
        ((2, "SPATIAL", (0, 0, 0), (1, 0, 0), lambda q, u, t, h: ()), "body 43 is of kind OBSTACLE"),
        ((0, "SPATIAL", (0, 0, 0), (0, 0, 0), 1.0), "direction.*zero"),
        ((0, "SPATIAL", (0, 0, 0), (0, 0, 1), float("nan")), "value must be finite"),
        ((0, "SPATIAL", (0, 0), (0, 0, 1), 1.0), "point must be three finite numbers"),
        ((0, "SPATIAL", (0, 0, 0), (0, 0, float("inf")), 1.0), "direction must be three finite numbers"),
        ((0, "SIDEWAYS", (0, 0, 0), (0, 0, 1), 1.0), "'SPATIAL' or 'CONVECTED'"),
    ],
)
def test_bad_forces_are_refused_when_they_are_made(model, arguments, words):
    with pytest.raises(ValueError, match=words):
        model.loads.add_force(*arguments)
    assert model.loads.table.n == 0 and not model.loads.callbacks


def test_torques_are_for_rigid_bodies(model):
    with pytest.raises(ValueError, match="body 42 is not RIGID"):
        model.loads.add_torque(1, "SPATIAL", (0, 0, 1), 1.0)


@pytest.mark.parametrize("vector", [(0, 0), (0, 0, float("inf"))])
def test_bad_gravity_is_refused(model, vector):
    with pytest.raises(ValueError, match="gravity"):
        model.loads.set_gravity(vector)


def test_loads_follow_their_bodies_and_go_with_them(model):
    for row in (0, 1):
        model.loads.add_force(row, "SPATIAL", (0, 0, 0), (1, 0, 0), float(row + 1))
        model.loads.add_callback(row, lambda q, u, t, h: (0,) * 12)
    model.loads.remap(model.bodies.remove(np.array([True, False, False])))
    assert model.loads.table.n == 1 and len(model.loads.callbacks) == 1
    force = kicked(model)
    np.testing.assert_allclose(force[:, 3], (2, 0, 0))
