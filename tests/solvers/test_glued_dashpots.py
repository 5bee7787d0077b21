"""Cohesive SPRING_DASHPOT contacts: the dashpot creeps, cohesion ends at its limit, and the body flies; by closed forms."""

from __future__ import annotations

from math import exp, log

import pytest

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, FORCE, GAUSS_SEIDEL_SOLVER, HULL, PENALTY_SOLVER, RUN, SURFACE_MATERIAL

SOLVERS = {"PENALTY": PENALTY_SOLVER, "GAUSS_SEIDEL": lambda: GAUSS_SEIDEL_SOLVER(1e-10, 1000), "AUTO": lambda: AUTO_SOLVER(1e-10)}
COHESION, DASHPOT, END = 100.0, 100.0, 0.1


def box(lower, upper):
    (x, y, z), (X, Y, Z) = lower, upper
    return HULL([c for k in (z, Z) for j in (y, Y) for i in (x, X) for c in (i, j, k)], 1, 1)


def height(pull, mass):
    """A mass on a dashpot that lets go at its limit: m v' = F - d v, then m v' = F."""
    rate = DASHPOT / mass

    def crept(time):
        return pull / DASHPOT * (time - (1 - exp(-rate * time)) / rate)

    if pull <= COHESION:
        return crept(END)
    until = min(-log(1 - COHESION / pull) / rate, END)
    left = END - until
    return crept(until) + COHESION / DASHPOT * left + pull / mass * left**2 / 2


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("pull", [50.0, 200.0, pytest.param(1000.0, marks=pytest.mark.slow)])
def test_cohesion_of_dashpots_ends_at_its_limit(new_model, solver, pull):
    model = new_model("DYNAMIC", 1e-4)
    SURFACE_MATERIAL(model, model="SPRING_DASHPOT", friction=0.0, cohesion=COHESION, spring=1e6, dashpot=DASHPOT)
    bulk = BULK_MATERIAL(model, density=1e3)
    BODY(model, "OBSTACLE", box((-1, -1, -0.1), (2, 2, 0)), bulk)
    plate = BODY(model, "RIGID", box((0, 0, 0), (1, 1, 0.01)), bulk)
    FORCE(plate, "SPATIAL", (0.5, 0.5, 0.005), (0, 0, 1), pull)
    RUN(model, SOLVERS[solver](), END)
    assert plate.conf[11] - 0.005 == pytest.approx(height(pull, plate.mass), rel=3e-3)
    assert len(model.constraints) == (1 if pull < COHESION else 0)
