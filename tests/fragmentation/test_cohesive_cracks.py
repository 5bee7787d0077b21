"""SIMPLIFIED_CRACK with a fracture energy: bonds on the faces that come about."""

import numpy as np
import pytest

import solfec as s
from solfec.kinds import SurfaceModel
from solfec.solvers.gauss_seidel import GaussSeidelSolver

CORNERS = [0, 0, 0, 1, 0, 0, 1, 0.1, 0, 0, 0.1, 0, 0, 0, 0.1, 1, 0, 0.1, 1, 0.1, 0.1, 0, 0.1, 0.1]
AREA = 0.01


def pulled(kind, Gf=20.0, ft=2e4, friction=0.3, solfec=None):
    """A bar that two forces pull apart, slowly, up to one and a half times its strength."""
    solfec = solfec or s.SOLFEC("DYNAMIC", 2e-5, None, contacts="MANIFOLD")
    s.SURFACE_MATERIAL(solfec, friction=friction)
    material = s.BULK_MATERIAL(solfec, young=1e7, poisson=0.0, density=1000)
    shape = s.HEX(CORNERS, 10, 1, 1, 1, [1] * 6) if kind == "FINITE_ELEMENT" else s.HULL(CORNERS, 1, 1)
    bar = s.BODY(solfec, kind, shape, material, label="bar")
    force = s.TIME_SERIES([0, 0, 0.02, 300, 1, 300])
    s.FORCE(bar, "SPATIAL", (1, 0.05, 0.05), (1, 0, 0), force)
    s.FORCE(bar, "SPATIAL", (0, 0.05, 0.05), (-1, 0, 0), force)
    s.SIMPLIFIED_CRACK(bar, (0.5, 0, 0), (1, 0, 0), (2, 3), "TENSILE", ft=ft, Gf=Gf)
    return bar


@pytest.mark.parametrize("kind", ["FINITE_ELEMENT", "PSEUDO_RIGID"])
def test_new_faces_carry_the_strength_and_take_the_fracture_energy(kind):
    bar = pulled(kind)
    domain, solver = bar._simulation.domain, GaussSeidelSolver(1e-8, 2000)
    while not bar.fragments:
        domain.advance(solver)
    domain.advance(solver)
    table = domain.constraints
    assert table.n == 4 and (table.view("cohesion") == 2e4).all()
    assert table.view("area").sum() == pytest.approx(AREA, rel=1e-9)
    assert table.view("R")[2].sum() == pytest.approx(-2e4 * AREA, rel=1e-4)
    tractions = []
    for _ in range(1000):
        domain.advance(solver)
        damage, normal = table.view("damage"), table.view("R")[2]
        if damage.size and (damage < 1).all():
            tractions.append(np.abs(normal + (1 - damage) * 2e4 * table.view("area")).max())
        if not (table.view("cohesion") > 0).any():
            break
    assert max(tractions) < 1e-3 * 2e4 * AREA
    assert -(domain.contact_energy + domain.friction_energy) == pytest.approx(20.0 * AREA, rel=0.02)


def test_a_crack_without_energy_is_brittle_and_has_no_bonds():
    bar = pulled("PSEUDO_RIGID", Gf=0.0)
    domain, solver = bar._simulation.domain, GaussSeidelSolver(1e-8, 2000)
    while not bar.fragments:
        domain.advance(solver)
    for _ in range(3):
        domain.advance(solver)
    assert domain.surface_materials.n == 1 and not (domain.constraints.view("cohesion") > 0).any()


def test_bonds_of_cracks_have_a_material_of_their_own():
    """The friction is that of both surfaces; contacts that come about later do not find it; the same crack elsewhere shares it."""
    bar = pulled("PSEUDO_RIGID", friction=0.7)
    domain, solver = bar._simulation.domain, GaussSeidelSolver(1e-8, 2000)
    while not bar.fragments:
        domain.advance(solver)
    materials = domain.surface_materials
    row = materials.n - 1
    assert materials.model[row] == SurfaceModel.COHESIVE and materials.friction[row] == 0.7
    assert materials.row_of(2, 3) != row
    domain.advance(solver)
    assert (domain.constraints.view("material") == row).all() and not domain.cracks.faces


def test_bonds_of_cracks_outlast_a_material_that_is_added():
    solfec = s.SOLFEC("DYNAMIC", 2e-5, None, contacts="MANIFOLD")
    bar = pulled("PSEUDO_RIGID", solfec=solfec)
    domain, solver = bar._simulation.domain, GaussSeidelSolver(1e-8, 2000)
    while not bar.fragments:
        domain.advance(solver)
    domain.advance(solver)
    cohesion, material = domain.constraints.view("cohesion").copy(), domain.constraints.view("material").copy()
    assert (cohesion > 0).all() and cohesion.size
    for surfaces in ((8, 9), (2, 3)):
        s.SURFACE_MATERIAL(solfec, *surfaces, friction=0.1)
        assert np.array_equal(domain.constraints.view("cohesion"), cohesion) and np.array_equal(domain.constraints.view("material"), material)
