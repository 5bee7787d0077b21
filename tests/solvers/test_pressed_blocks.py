"""Elastic blocks that prescribed displacements press on the ground in quasi-statics: what solvers call solved is solved, in any frame."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import solfec as s
from solfec.errors import SolfecWarning

AT_REST = np.eye(3)
OBLIQUE = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
DIVISIONS = 2, 2, 2
SUNK = np.array([0.01, 0.006, -0.03])  # by which the upper face moves in five steps


def turned(points, frame):
    return (np.array(points, float) @ frame.T).ravel().tolist()


def pressed(solver, form, friction, frame=AT_REST, steps=6):
    """Return the displacements in the frame of the block, and the steps that were not solved."""
    frame = frame * np.linalg.det(frame)
    model = s.SOLFEC("QUASI_STATIC", 1.0, None, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=friction, gap_aware=1e-3)
    bulk = s.BULK_MATERIAL(model, young=1e6, poisson=0.3, density=1000)
    ground = [np.add((-2, -2, -1), np.multiply(p, (5, 5, 1))) for p in itertools.product((0, 1), repeat=3)]
    s.BODY(model, "OBSTACLE", s.HULL(turned(ground, frame), 1, 1), bulk)
    corners = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    mesh = s.HEX(turned(corners, frame), *DIVISIONS, 1, [1] * 6)
    block = s.BODY(model, "FINITE_ELEMENT", mesh, bulk, form=form)
    for x, y in itertools.product((0.0, 0.5, 1.0), repeat=2):
        for axis, way in zip(frame.T, SUNK):
            s.SET_DISPLACEMENT(block, tuple(frame @ (x, y, 1.0)), tuple(axis), s.TIME_SERIES([0, 0, 5, way, 10, way]))
    unsolved = 0
    for _ in model.steps(solver, steps):
        unsolved += solver.error != "OK"
    return np.array(block.conf).reshape(-1, 3) @ frame, unsolved


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("form", ["TL", "BC"])
def test_newtons_default_is_right_to_a_thousandth(form, friction):
    """Stiff springs at supports of form 'TL' hid errors of contacts in the merit, and GMRES did not solve the long steps of form 'BC'."""
    exact, _ = pressed(s.AUTO_SOLVER(1e-11), form, friction)
    found, unsolved = pressed(s.NEWTON_SOLVER(), form, friction)
    assert not unsolved
    assert np.abs(found - exact).max() < 3e-4 * np.abs(SUNK).max()


@pytest.mark.parametrize("solver", [lambda: s.AUTO_SOLVER(1e-11), s.AUTO_SOLVER, s.NEWTON_SOLVER])
def test_steps_from_round_off_are_solved(solver):
    """Free velocities of a turned block of form 'BC' are round-off in its first step; errors are measured by the displacements that are prescribed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SolfecWarning)
        found, unsolved = pressed(solver(), "BC", 0.0, OBLIQUE, steps=2)
    assert not unsolved
    assert np.isfinite(found).all()
