"""Elastic slabs on a slope with steps beyond their periods: damping of half a step gives Coulomb's law, and runs without it say so."""

from __future__ import annotations

import math

import pytest

import solfec as sf

SIDE, THICK, STEP, FRICTION, GRAVITY = 2.0, 0.1, 1e-3, 0.5, 9.81
NOTE = "vibrations: 3 bodies of scheme 'DEF_LIM' (2, say) vibrate faster than steps of 0.001 can show"


def corners(low, high):
    return [c for z in (low[2], high[2]) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])) for c in (x, y, z)]


def slabs(angle: float, young: float, damping: float, kind: str = "TL", count: int = 3, scheme: str = "DEF_LIM", analysis: str = "DYNAMIC", duration: float = 0.1):
    """Run slabs of elements (form `kind`), or pseudo-rigid ones, on a slope of `angle` degrees; return displacements of their centres along it."""
    solfec = sf.SOLFEC(analysis, STEP, output=None, contacts="MANIFOLD")
    sf.SURFACE_MATERIAL(solfec, friction=FRICTION)
    stone = sf.BULK_MATERIAL(solfec, young=young, poisson=0.2, density=2000)
    sf.BODY(solfec, "OBSTACLE", sf.HULL(corners((-9, -9, -1), (9, 9, 0)), 1, 1), stone)
    bodies = []
    for level in range(count):
        box = corners((0, 0, THICK * level), (SIDE, SIDE, THICK * (level + 1)))
        if kind == "PSEUDO_RIGID":
            body = sf.BODY(solfec, kind, sf.HULL(box, 2, 2), stone)
        else:
            body = sf.BODY(solfec, "FINITE_ELEMENT", sf.HEX(box, 2, 2, 1, 2, [2] * 6), stone, form=kind)
        body.scheme, body.damping = scheme, damping
        bodies.append(body)
    radians = math.radians(angle)
    sf.GRAVITY(solfec, (GRAVITY * math.sin(radians), 0, -GRAVITY * math.cos(radians)))
    sf.RUN(solfec, sf.AUTO_SOLVER(), duration)
    return [sf.DISPLACEMENT(body, body.center)[0] for body in bodies]


@pytest.mark.parametrize("kind", ["TL", "BC"])
def test_damping_of_half_a_step_makes_stiff_slabs_stick_and_slide_by_coulombs_law(kind, capsys):
    assert slabs(25.0, 1e11, 0.5 * STEP, kind) == pytest.approx([0.0] * 3, abs=1e-6)
    angle, duration = math.radians(32.0), 0.1
    slid = 0.5 * GRAVITY * (math.sin(angle) - FRICTION * math.cos(angle)) * duration**2
    assert slabs(32.0, 1e11, 0.5 * STEP, kind) == pytest.approx([slid] * 3, rel=5e-3)
    assert "vibrations" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["TL", "PSEUDO_RIGID"])
def test_slabs_that_vibrate_faster_than_steps_are_told(kind, capsys):
    slabs(25.0, 1e11, 0.0, kind, duration=0.005)
    printed = capsys.readouterr().out
    assert printed.count(NOTE) == 1 and "BODY.damping = 0.0005, half a step" in printed


@pytest.mark.parametrize(
    "words",
    [
        {"young": 1e7},  # sound takes 55 steps to cross a slab and come back
        {"damping": 0.25 * STEP},
        {"analysis": "QUASI_STATIC"},  # no inertia, no vibrations
        {"kind": "PSEUDO_RIGID", "scheme": "DEF_EXP", "young": 1e8},  # explicit bodies have short steps
        {"count": 0},
    ],
)
def test_nothing_is_said_where_steps_are_short_or_damp(words, capsys):
    slabs(**{"angle": 5.0, "young": 1e11, "damping": 0.0, "duration": 0.005} | words)
    assert "vibrations" not in capsys.readouterr().out
