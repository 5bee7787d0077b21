"""A smooth ladder that slides down between a wall and a floor."""

from __future__ import annotations

import math

import pytest

import solfec as s

LENGTH, HALF_WIDTH, BULGE, ANGLE = 2.0, 0.2, 0.01, math.radians(70)
SOLVERS = {"GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 1000), "NEWTON": lambda: s.NEWTON_SOLVER(1e-14), "AUTO": s.AUTO_SOLVER}


def box(x, z):
    return s.HULL([float(c) for w in z for y in (-1, 1) for u in x for c in (u, y, w)], 1, 1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_smooth_ladder_leaves_the_wall_at_two_thirds_of_its_height(solver):
    """For any moment of inertia; a rhombic section puts the feet on its axis.

    The mass centre moves on a circle about the corner.  The wall's force, its acceleration away from the wall, changes sign where
    2 (sin a - sin b) = sin b, with a the first angle.
    """
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, model="SIGNORINI_COULOMB", friction=0.0)
    s.GRAVITY(solfec, (0, 0, -9.81))
    bulk = s.BULK_MATERIAL(solfec, density=1000.0)
    s.BODY(solfec, "OBSTACLE", box((-1, 5), (-1, 0)), bulk)
    s.BODY(solfec, "OBSTACLE", box((-1, 0), (0, 5)), bulk)
    cosine, sine = math.cos(ANGLE), math.sin(ANGLE)
    foot, top = LENGTH * cosine, LENGTH * sine
    section = (foot, 0), (foot / 2 + sine * BULGE, top / 2 + cosine * BULGE), (0, top), (foot / 2 - sine * BULGE, top / 2 - cosine * BULGE)
    corners = [float(c) for y in (-HALF_WIDTH, HALF_WIDTH) for x, z in section for c in (x, y, z)]
    ladder = s.BODY(solfec, "RIGID", s.HULL(corners, 2, 2), bulk)
    last = 1.0
    for _ in range(600):
        s.RUN(solfec, SOLVERS[solver](), 1e-3)
        if sum(c.R[2] for c in solfec.constraints if abs(c.base[6]) > 0.9) > 0.05:  # of 80 N of weight
            last = 1 + s.DISPLACEMENT(ladder, (0.0, 0.0, top))[2] / top
    assert last == pytest.approx(2 / 3, abs=2e-3)
