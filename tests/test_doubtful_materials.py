"""A run on a terminal names surfaces that have a SURFACE_MATERIAL each and none together: which one acts depends on the places of the bodies."""

from __future__ import annotations

import pytest
from unit_cube import CUBE

import solfec as sf

HINT = "materials: 1 pair of surfaces in contact (1 and 2, say) have a SURFACE_MATERIAL each and none together"


def slide(materials, where=0.0, verbose="ON"):
    """A block of surface 2 slides along y on a floor of surface 1, from `where` on in x; the friction that slows it."""
    solfec = sf.SOLFEC("DYNAMIC", 1e-3, output=None, contacts="MANIFOLD")
    solfec.verbose = verbose
    for surfaces, friction in materials:
        sf.SURFACE_MATERIAL(solfec, *surfaces, friction=friction)
    bulk = sf.BULK_MATERIAL(solfec, density=1000)
    sf.GRAVITY(solfec, (0, 0, -10))
    sf.BODY(solfec, "OBSTACLE", sf.TRANSLATE(sf.SCALE(sf.HULL(CUBE, 1, 1), (4, 4, 1)), (0, -2, -1)), bulk)
    block = sf.BODY(solfec, "RIGID", sf.TRANSLATE(sf.SCALE(sf.HULL(CUBE, 1, 2), (0.2, 0.2, 0.1)), (where, 0, 0)), bulk)
    sf.INITIAL_VELOCITY(block, (0, 1, 0), (0, 0, 0))
    sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.02)
    return (1 - block.velo[4]) / 0.2


def test_the_material_of_either_surface_may_act_and_the_run_says_so(capsys):
    both = [((1,), 0.1), ((2,), 0.5)]
    assert slide(both, -0.01) == pytest.approx(0.5, abs=1e-3)
    assert slide(both, 0.01) == pytest.approx(0.1, abs=1e-3)
    assert capsys.readouterr().out.count(HINT) == 2


@pytest.mark.parametrize(
    ("materials", "friction"),
    [
        ([((1,), 0.1), ((2,), 0.5), ((1, 2), 0.3)], 0.3),
        ([((1,), 0.1), ((2,), 0.1)], 0.1),
        ([((1,), 0.1), ((), 0.5)], 0.1),
        ([((1,), 0.1), ((3,), 0.5)], 0.1),
    ],
)
@pytest.mark.parametrize("where", [-0.01, 0.01])
def test_nothing_is_said_where_the_materials_decide(capsys, materials, friction, where):
    assert slide(materials, where) == pytest.approx(friction, abs=1e-3)
    assert "materials:" not in capsys.readouterr().out
