"""Masses at few nodes make bodies of elements turn too slowly; runs say so, and by how much."""

from __future__ import annotations

import math

import pytest

import solfec as sf

LENGTH, SIDE, GRAVITY = 1.0, 0.1, 9.81
CORNERS = [c for z in (-0.05, 0.05) for x, y in ((0, -0.05), (LENGTH, -0.05), (LENGTH, 0.05), (0, 0.05)) for c in (x, y, z)]


def pendulum(elements: int, form: str = "BC", analysis: str = "DYNAMIC", kind: str = "FINITE_ELEMENT", duration: float = 0.2):
    """Let a bar of so many elements fall from the horizontal about its end; return its angle."""
    model = sf.SOLFEC(analysis, 4e-3, output=None)
    steel = sf.BULK_MATERIAL(model, young=1e10, poisson=0.25, density=1000)
    shape = sf.HEX(CORNERS, elements, 1, 1, 1, [1] * 6) if kind == "FINITE_ELEMENT" else sf.HULL(CORNERS, 1, 1)
    body = sf.BODY(model, kind, shape, steel, **({"form": form} if kind == "FINITE_ELEMENT" else {}))
    if kind == "FINITE_ELEMENT":
        body.scheme = "DEF_LIM"
    sf.FIX_POINT(body, (0, 0, 0))
    sf.GRAVITY(model, (0, 0, -GRAVITY))
    sf.RUN(model, sf.AUTO_SOLVER(1e-10), duration)
    dx, _, dz = sf.DISPLACEMENT(body, (LENGTH, 0, 0))
    return math.atan2(-dz, LENGTH + dx)


def fallen(inertia: float, duration: float = 0.2) -> float:
    """Integrate I phi'' = g L / 2 cos phi per unit of mass."""
    angle = rate = 0.0
    for _ in range(2000):
        step = duration / 2000
        rate += step * 0.5 * GRAVITY * LENGTH * math.cos(angle + 0.5 * step * rate) / inertia
        angle += step * rate
    return angle


@pytest.mark.parametrize(("form", "elements", "ratio"), [("TL", 1, 3.0), ("BC", 2, 1.51)])
def test_bars_of_few_elements_turn_as_their_lumped_masses_do_and_are_told(form, elements, ratio, capsys):
    lumped = (LENGTH**2 * (1 + 2 / elements**2) + 3 * SIDE**2) / 12  # about the centre, m = 1; corners carry the section
    assert ratio == pytest.approx(lumped / ((LENGTH**2 + SIDE**2) / 12), abs=5e-3)
    assert pendulum(elements, form) == pytest.approx(fallen(lumped + LENGTH**2 / 4), rel=1e-2)
    assert (
        f"inertia: 1 finite element body turned with masses at so few nodes that their moment of inertia is too large (body 1: {ratio:.2f} times)"
        in capsys.readouterr().out
    )


def test_bodies_of_many_elements_rigid_ones_and_those_that_have_not_turned_are_not_told(capsys):
    true = (LENGTH**2 + SIDE**2) / 12 + LENGTH**2 / 4
    assert pendulum(8) == pytest.approx(fallen(true), rel=2e-2)
    assert pendulum(1, kind="RIGID") == pytest.approx(fallen(true), rel=1e-2)
    pendulum(1, duration=0.02)
    assert "inertia" not in capsys.readouterr().out
