"""A lever on an axle of two fixed points is pressed on two stops by a torque: reactions are of the size of its loads, whatever supports share."""

import numpy as np
import pytest

import solfec as s

CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
STEP = 1e-3
SOLVERS = {
    "AUTO": lambda: s.AUTO_SOLVER(),
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 1000),
    "NEWTON": lambda: s.NEWTON_SOLVER(),
}


def box(low, high):
    return s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, 1), tuple(b - a for a, b in zip(low, high))), low)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", [0, 4, 6, 21, *(pytest.param(k, marks=pytest.mark.slow) for k in range(30, 60))])
def test_reactions_of_a_pressed_lever_stay_of_the_size_of_its_loads(seed, solver):
    random = np.random.default_rng(seed)
    solfec = s.SOLFEC("DYNAMIC", STEP, None, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=0.3)
    bulk = s.BULK_MATERIAL(solfec, density=1e3)
    lever = s.BODY(solfec, "RIGID", box((-0.5, -0.1, -0.1), (0.5, 0.1, 0.1)), bulk)
    s.BODY(solfec, "OBSTACLE", box((-0.5, -0.2, -0.3), (-0.3, 0.2, -0.1)), bulk)
    s.BODY(solfec, "OBSTACLE", box((0.3, -0.2, 0.1), (0.5, 0.2, 0.3)), bulk)
    for y in random.uniform(0.05, 0.1, 2) * (-1, 1):
        s.FIX_POINT(lever, (0, y, 0))
    s.GRAVITY(solfec, (1, 2, -10))
    speed, torque = random.uniform(0.5, 2), random.uniform(10, 200)
    s.INITIAL_VELOCITY(lever, (0, 0, 0), (0, -speed, 0))
    s.TORQUE(lever, "SPATIAL", (0, -1, 0), torque)
    loads = lever.mass * (speed / STEP + 10) + torque / 0.3  # of the impact, the weight and the torque on the shortest arm
    largest = []

    def look():
        largest.append(max(np.abs(constraint.R).max() for constraint in solfec.constraints))
        return 1

    s.CALLBACK(solfec, STEP, (), look)
    s.RUN(solfec, SOLVERS[solver](), 20 * STEP)
    assert max(largest) < 3 * loads
    assert abs(lever.velo[1]) < 1e-3
