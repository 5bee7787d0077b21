"""Ropes that have become slack are left alone, whatever round-off a solver leaves on them."""

import itertools

import numpy as np
import pytest

import solfec


def two_bars_and_ropes(unit):
    """Places of two bars that hang on each other, the upper one pseudo-rigid, with ropes that knock; masses and stiffness are in a unit of `unit` kg."""
    model = solfec.SOLFEC("DYNAMIC", 1e-3, None, contacts="MANIFOLD")
    model.verbose = "OFF"
    bulk = solfec.BULK_MATERIAL(model, young=1e6 * unit, density=1000.0 * unit)
    solfec.GRAVITY(model, (0, 0, -9.81))
    solfec.CONTACT_EXCLUDE_SURFACES(model, 1, 1)
    bars = []
    for start, end, kind in (((0, 0, 0), (1, 0.3, 0.2), "PSEUDO_RIGID"), ((1, 0.3, 0.2), (2, -0.2, 0.1), "RIGID")):
        along = np.subtract(end, start)
        across = np.cross(along, (0, 0, 1)) / np.linalg.norm(np.cross(along, (0, 0, 1)))
        edges = np.array([along, 0.2 * across, 0.3 * np.cross(along, across) / np.linalg.norm(along)])
        corners = [start + np.dot((a, b, c), edges) for a, b, c in itertools.product((0, 1), (-0.5, 0.5), (-0.5, 0.5))]
        bars.append(solfec.BODY(model, kind, solfec.HULL(np.ravel(corners).tolist(), 1, 1), bulk))
    solfec.HINGE(bars[0], None, (0, 0, 0), (0.2, 1, 0.1))
    solfec.BALL(*bars, (1, 0.3, 0.2))
    solfec.ROPE(bars[1], None, (1.9, -0.15, 0.11), (1.9, -0.15, 0.6), length=0.52)
    solfec.ROPE(*bars, (0.5, 0.15, 0.1), (1.5, 0.05, 0.15))
    solfec.RUN(model, solfec.AUTO_SOLVER(1e-11), 0.4)
    return np.concatenate([bar.conf for bar in bars])


@pytest.mark.parametrize("unit", [3.0, 7.0, 1e3])
def test_round_off_of_a_solver_on_a_slack_rope_does_not_close_it(unit):
    """Masses, forces and stiffness times any number make the same motion; where round-off of a reaction counted as a pull, ropes that had become slack were closed."""
    np.testing.assert_allclose(two_bars_and_ropes(unit), two_bars_and_ropes(1.0), rtol=0, atol=1e-11)
