"""Bodies that move together have free velocities of round-off size only; no solver reports such a step as unsolved, in any units."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import solfec as s
from solfec.solvers import merit

SOLVERS = {
    "sweeps": lambda: s.GAUSS_SEIDEL_SOLVER(1e-12, 2000),
    "merit": lambda: s.GAUSS_SEIDEL_SOLVER(1e-12, 2000, meritval=1e-16),
    "newton": lambda: s.NEWTON_SOLVER(1e-16, 100),
    "auto": lambda: s.AUTO_SOLVER(1e-12),
}
#: Length, mass and time in units of which the scene's own are one; powers of two keep the digits, others do not.
UNITS = [(1.0, 1.0, 1.0), (2.0**-20, 2.0**-60, 2.0**-10), (1e-6, 1e-18, 1e-3), (1e3, 1e9, 1.0), (1.0, 1e-12, 1e3), (1e-3, 1.0, 60.0)]


@pytest.fixture
def new(new_model):
    """Makes models of a session of their own, with a step and a unit of length."""

    def make(step, length):
        model = new_model("DYNAMIC", step)
        s.GEOMETRIC_EPSILON(1e-6 * length)
        return model

    return make


def pair(new, units, velocity=(5.0, 0.0, 0.0), apart=0.2, points=((0.1, 0, 0), (0.1, 0, 0))):
    """Two balls that are coupled, the first of which runs into the second."""
    length, mass, time = units
    model = new(1e-3 * time, length)
    stuff = s.BULK_MATERIAL(model, young=1e9, poisson=0.25, density=1000.0 * mass / length**3)
    balls = [s.BODY(model, "RIGID", s.SPHERE((x * length, 0, 0), 0.1 * length, 1, 1), stuff) for x in (0.0, apart)]
    for ball, along in zip(balls, (velocity[0], 0.0), strict=True):
        s.INITIAL_VELOCITY(ball, tuple(length / time * v for v in (along, *velocity[1:])), (0, 0, 0))
    s.PUT_RIGID_LINK(*balls, *(tuple(length * x for x in point) for point in points))
    return model, balls


@pytest.mark.parametrize("units", UNITS, ids=str)
@pytest.mark.parametrize("make", SOLVERS.values(), ids=list(SOLVERS))
@pytest.mark.parametrize("linked", [False, True])
def test_coupled_balls_at_one_velocity_are_solved(new, make, units, linked):
    length, _, time = units
    about = dict(apart=1.0, points=((0, 0, 0), (1.0, 0, 0))) if linked else {}
    model, balls = pair(new, units, (5.0, 0.3, -0.7), **about)
    solver = make()
    for _ in range(6):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            s.RUN(model, solver, model.step)
        speeds = np.array([ball.velo[3:] for ball in balls]) * time / length
        np.testing.assert_allclose(speeds, [(2.5, 0.3, -0.7)] * 2, atol=1e-11)


@pytest.mark.parametrize("units", UNITS, ids=str)
def test_errors_above_rounding_are_told_however_small_the_free_velocity_is(new, units):
    """A thousandth of what there is to stop is an error of a thousandth, if it is more than the last digits of velocities."""
    length, mass, time = units
    model, _ = pair(new, units)
    s.RUN(model, s.AUTO_SOLVER(1e-12), model.step)  # then both move at 2.5
    local = model._domain.local_dynamics
    rows, n = local.rows, local.n
    unit = length / time
    for free, error, seen in ((1e-6, 1e-9, True), (1e-6, 1e-16, False), (0.0, 1e-9, True), (0.0, 1e-16, False)):
        rows.R[:, :n] = 0.0
        rows.B[:, :n] = 0.0
        rows.law[:3, n - 1] = 0.0  # the joint asks for U = 0
        rows.B[0, n - 1] = free * unit
        rows.U[:, :n] = 0.0
        rows.U[1, n - 1] = error * unit
        g, residual = merit.evaluate(local)
        if not seen:
            assert (g, residual) == (0.0, 0.0)
        elif free:
            assert residual == pytest.approx(error / free, rel=1e-9)
            assert g > 0.0
        else:
            assert min(g, residual) > 1e100
