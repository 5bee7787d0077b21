"""A Geneva drive: a pin turns a slotted wheel by a quarter each turn through contacts alone, and the wheel rests in between."""

from __future__ import annotations

import math

import numpy as np
import pytest

import solfec as s

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 20000),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-16, 1000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-8),
}
CRANK, PIN, CLEARANCE = 0.1, 0.01, 5e-4  # radii of the crank and the pin; play of the pin on each side in its slot
APART = CRANK * math.sqrt(2)  # of the axes: the crank is square to the slot when the pin enters it
RATE, STEP = 2 * math.pi, 1e-3
ENTRY = math.pi / 4  # angle of the crank to the line of the axes when the pin enters or leaves


def plate(corners, low: float, high: float):
    """A convex plate between two heights over corners (n, 2)."""
    return s.HULL([float(v) for z in (low, high) for x, y in corners for v in (x, y, z)], 1, 1)


def lobe(number: int):
    """Convex part of the wheel between two slots, which leave the wheel's rim at odd multiples of 45 degrees."""
    near = PIN + CLEARANCE
    corners = np.array([(near, near), (CRANK, near), (CRANK, 0.6 * CRANK), (0.6 * CRANK, CRANK), (near, CRANK)])
    angle = math.pi / 4 + number * math.pi / 2
    turn = np.array([(math.cos(angle), -math.sin(angle)), (math.sin(angle), math.cos(angle))])
    return plate(corners @ turn.T, -0.01, 0.01)


def geneva_drive(begin: float):
    """A driver whose crank starts at an angle to the line of the axes, and the wheel; their hinges."""
    solfec = s.SOLFEC("DYNAMIC", STEP, None)
    solfec.verbose, solfec.joint_correction = "OFF", "ON"
    s.SURFACE_MATERIAL(solfec, friction=0.0, gap_aware=2e-3)
    bulk = s.BULK_MATERIAL(solfec, density=1000.0)
    wheel = s.BODY(solfec, "RIGID", [lobe(k) for k in range(4)], bulk)
    pin = APART - CRANK * math.cos(begin), CRANK * math.sin(begin)
    arm = plate([pin, (APART - 0.01, -0.01), (APART + 0.01, -0.01), (APART, 0.01)], -0.04, -0.03)
    driver = s.BODY(solfec, "RIGID", [s.SPHERE((*pin, 0.0), PIN, 1, 1), arm], bulk)
    shaft = s.HINGE(driver, None, (APART, 0, 0), (0, 0, -1))
    s.MOTOR(shaft, "RATE", RATE)
    return solfec, shaft, s.HINGE(wheel, None, (0, 0, 0), (0, 0, 1), friction=0.2)


def closed_form(crank: float) -> float:
    """Angle of the wheel, zero before the first turn; the crank begins between -180 and -45 degrees."""
    turns = math.floor((crank + math.pi) / (2 * math.pi))
    angle = crank - 2 * math.pi * turns
    if abs(angle) >= ENTRY:
        return math.pi / 2 * (turns + (angle > 0))
    return math.pi / 2 * turns + ENTRY + math.atan2(math.sin(angle), math.sqrt(2) - math.cos(angle))


@pytest.mark.parametrize("solver", [pytest.param("GAUSS_SEIDEL", marks=pytest.mark.slow), "NEWTON", "AUTO"])
def test_a_geneva_wheel_turns_by_quarters_and_rests_in_between(solver):
    """tan q = sin a / (sqrt 2 - cos a) while the pin is in a slot; the pin has its play, and contacts are up to a step's way late."""
    begin = -ENTRY - 0.2
    solfec, shaft, axle = geneva_drive(begin)
    play, resting = CLEARANCE + STEP * RATE * CRANK, []
    for _ in range(70):
        s.RUN(solfec, SOLVERS[solver](), 1 / 50)
        crank = begin + shaft.angle
        apart = abs(crank - 2 * math.pi * round(crank / (2 * math.pi)))
        pin = CRANK if apart > ENTRY else math.hypot(APART - CRANK * math.cos(apart), CRANK * math.sin(apart))
        assert abs(axle.angle - closed_form(crank)) * pin < play
        if apart > ENTRY + 0.2:
            assert abs(axle.turning) < 1e-9
            resting.append(axle.angle)
    assert len(resting) > 30 and np.ptp(resting[:30]) < 1e-9
    assert resting[-1] - resting[0] == pytest.approx(math.pi / 2, abs=2 * play / CRANK)
