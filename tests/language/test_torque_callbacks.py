"""TORQUE by a user's function: the same motion as by a number, and words for functions that return something else."""

import math

import numpy as np
import pytest

import solfec as s
from solfec.errors import SolfecWarning


def spinning_body(value, kind="SPATIAL", **options):
    """A body of three different moments of inertia that spins, under a torque."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None)
    solfec.verbose = "OFF"
    body = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), s.BULK_MATERIAL(solfec))
    s.BODY_CHARS(body, 1, 1, (0, 0, 0), (1, 0, 0, 0, 2, 0, 0, 0, 3))
    s.INITIAL_VELOCITY(body, (0, 0, 0), (1, 2, -1))
    s.TORQUE(body, kind, (1, 2, 2), value, **options)
    return solfec, body


@pytest.mark.parametrize("kind", ["SPATIAL", "CONVECTED"])
def test_a_function_that_returns_a_number_turns_a_body_as_the_number_does(kind):
    ends = []
    for value in (1.5, lambda q, u, t, h: 1.5):
        solfec, body = spinning_body(value, kind)
        s.RUN(solfec, s.PENALTY_SOLVER(), 0.5)
        ends.append(np.array([*body.conf, *body.velo]))
    assert np.allclose(*ends, rtol=0, atol=1e-12)


def test_a_function_of_time_does_the_work_of_theory():
    """About a principal axis at rest: J dw/dt = sin t, so w = (1 - cos t)/J."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None)
    solfec.verbose = "OFF"
    body = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), s.BULK_MATERIAL(solfec))
    s.BODY_CHARS(body, 1, 1, (0, 0, 0), (1, 0, 0, 0, 2, 0, 0, 0, 3))
    s.TORQUE(body, "CONVECTED", (0, 0, 5), lambda size, q, u, t, h: size * math.sin(t), data=2.0)
    s.RUN(solfec, s.PENALTY_SOLVER(), 2.0)
    assert body.velo[2] == pytest.approx(2.0 * (1 - math.cos(2.0)) / 3, rel=1e-6)


@pytest.mark.parametrize(
    "returned, text",
    [
        ((1, 2), r"torque callback of body 1 at time 0.0005: a number is expected, not \(1, 2\)"),
        (None, "a number is expected, not None"),
        (math.nan, "the result is not finite"),
    ],
)
def test_what_is_no_torque_is_refused(returned, text):
    solfec, _ = spinning_body(lambda q, u, t, h: returned)
    with pytest.raises(Exception, match=text):
        s.RUN(solfec, s.PENALTY_SOLVER(), 0.01)


def test_data_without_a_function_are_told_of():
    with pytest.warns(SolfecWarning, match="TORQUE: 'data' is for a 'value' that is called"):
        spinning_body(1.0, data=3)
