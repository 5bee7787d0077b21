"""A finite element cube that is torn off its bonds by moved supports: series of a spring and the law, worked out by hand."""

from __future__ import annotations

import itertools

import pytest

import solfec as s

SOLVERS = {"GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-9, 2000), "NEWTON": lambda: s.NEWTON_SOLVER(1e-13), "AUTO": s.AUTO_SOLVER}
YOUNG, STRENGTH, ENERGY = 1e8, 1e5, 100.0  # gone at the opening 2 ENERGY / STRENGTH
RATE = 1e-3  # of the supports [length/time]


def unit_cube(bottom):
    return [x for z in (bottom, bottom + 1) for corner in ((0, 0), (1, 0), (1, 1), (0, 1)) for x in (*corner, z)]


def torn(solver, duration):
    """Areas, normal reactions and damages of the bonds after a while, in quasi-statics."""
    solfec = s.SOLFEC("QUASI_STATIC", 1e-2, None, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, model="COHESIVE", ft=STRENGTH, Gf=ENERGY)
    bulk = s.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=YOUNG, poisson=0.0, density=1000.0)
    s.BODY(solfec, "OBSTACLE", s.HULL(unit_cube(-1), 1, 1), bulk)
    cube = s.BODY(solfec, "FINITE_ELEMENT", s.HEX(unit_cube(0), 2, 2, 2, 1, [1] * 6), bulk, form="TL")
    cube.scheme = "DEF_LIM"
    for x, y in itertools.product((0, 0.5, 1), repeat=2):
        s.SET_VELOCITY(cube, (x, y, 1), (0, 0, 1), RATE)
        s.FIX_DIRECTION(cube, (x, y, 1), (1, 0, 0))
        s.FIX_DIRECTION(cube, (x, y, 1), (0, 1, 0))
    s.RUN(solfec, SOLVERS[solver](), duration)
    bonds = [c for c in solfec.constraints if c.kind == "CONTACT"]
    if any(c.damage for c in bonds):  # beside damaged bonds new contacts may come, which are none
        bonds = [c for c in bonds if c.damage > 0]
    return [sum(c.area for c in bonds), sum(abs(c.R[2]) for c in bonds), max(c.damage for c in bonds)]


@pytest.mark.parametrize("solver", SOLVERS)
def test_bonds_of_nodes_that_elements_share_keep_their_area_and_strength(solver):
    """Several elements have a node in common: their bonds there are one, with their areas together, once and for all."""
    area, force, damage = torn(solver, 0.5)
    assert (area, damage) == (pytest.approx(1.0, rel=1e-3), 0.0)
    assert force == pytest.approx(YOUNG * RATE * 0.5, rel=5e-3)
    area, force, damage = torn(solver, 1.5)  # supports at u: u = stress / YOUNG + opening, stress = STRENGTH (1 - damage)
    expected = (RATE * 1.5 - STRENGTH / YOUNG) / (2 * ENERGY / STRENGTH - STRENGTH / YOUNG)
    assert damage == pytest.approx(expected, abs=2e-3)
    assert force == pytest.approx(STRENGTH * (1 - expected), rel=5e-3)
    assert area == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("upside_down", [False, True])
def test_whole_bonds_stay_closed_while_their_body_stretches(upside_down):
    """The gap is that between the sides of the bond, whichever nodes of the mesh move."""
    solfec = s.SOLFEC("QUASI_STATIC", 1e-2, None, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, model="COHESIVE", ft=STRENGTH, Gf=ENERGY)
    bulk = s.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=YOUNG, poisson=0.0, density=1000.0)
    s.BODY(solfec, "OBSTACLE", s.HULL(unit_cube(1 if upside_down else -1), 1, 1), bulk)
    cube = s.BODY(solfec, "FINITE_ELEMENT", s.HEX(unit_cube(0), 1, 1, 1, 1, [1] * 6), bulk, form="TL")
    cube.scheme = "DEF_LIM"
    for x, y in itertools.product((0, 1), repeat=2):
        point = (x, y, 0 if upside_down else 1)
        s.SET_VELOCITY(cube, point, (0, 0, -1 if upside_down else 1), RATE)
        s.FIX_DIRECTION(cube, point, (1, 0, 0))
        s.FIX_DIRECTION(cube, point, (0, 1, 0))
    s.RUN(solfec, s.AUTO_SOLVER(), 0.5)
    gaps = [c.gap for c in solfec.constraints if c.kind == "CONTACT"]
    assert len(gaps) == 4 and max(map(abs, gaps)) < 1e-9, gaps
