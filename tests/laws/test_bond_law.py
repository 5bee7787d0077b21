"""Surface model 'COHESIVE': every solver's reactions against the law in plain Python, its energy, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from bonds import Bond
from law_rows import SOLVERS, System, turn
from law_scenes import Model

from solfec.bodies.table import BodyKind
from solfec.errors import SolfecError
from solfec.kinds import RowKind, SurfaceModel
from solfec.solvers.penalty import PenaltySolver

THOSE_THAT_SOLVE_BONDS = ["GS SEMISMOOTH_NEWTON", "GS PROJECTED_GRADIENT", "GS with merit", "GS reverse", "NEWTON GMRES", "NEWTON velocity form", "AUTO AUTO"]


class Bonds(System):
    """Random systems whose contacts are bonds."""

    def bond(self, master, slave, mu=0.0, damage=0.0, opening=(0, 0, 0), strengths=(1.0, 0.7), energies=(0.5, 0.8), **where) -> None:
        row = self.contact(master, slave, mu=mu, cohesion=strengths[0], **where)
        material = self.constraints.material[row]
        self.materials.model[material] = SurfaceModel.COHESIVE
        self.materials.shear_strength[material], self.materials.fracture_energy[:, material] = strengths[1], energies
        self.constraints.damage[row] = damage
        self.constraints.other_point[:, row] = self.constraints.point[:, row] - self.constraints.base[..., row] @ np.asarray(opening, float)
        self.bonds = [*getattr(self, "bonds", []), (Bond(1.0, *strengths, *energies), damage, np.asarray(opening, float))]

    def wrong(self, solver) -> float:
        report, R, U = self.solve(solver)
        assert report.status == "OK"
        b, _ = self.velocities()
        velocity = np.abs(b).max()
        force = max(np.abs(R).max(), 1.0)
        after = self.constraints.view("damage")
        assert np.allclose(b.ravel() + self.delassus() @ R.ravel(), U.ravel(), rtol=0, atol=1e-9 * velocity)
        return max(
            bond.wrong(self.rows[i].mu, before, after[i], opening, self.step, R[i], U[i], force, velocity)
            for i, (bond, before, opening) in enumerate(self.bonds)
        )


@pytest.mark.parametrize("name", THOSE_THAT_SOLVE_BONDS)
@pytest.mark.parametrize("mu", [0.0, 0.4])
@pytest.mark.parametrize("damage", [0.0, 0.3])
def test_one_bond_follows_its_law(name, mu, damage):
    seen = set()
    for seed in range(25):
        system = Bonds(step=0.1, seed=seed)
        master = system.random_body(still=True)
        system.body(BodyKind.OBSTACLE)
        random = system.random
        system.table.triples.velo[:] *= 10.0 ** random.uniform(-1, 3)
        system.bodies[master].free[:] = system.table.triples.velo[:, system.table.velo_slice(master)].T.ravel()
        direction = random.normal(size=3)
        opening = direction / np.linalg.norm(direction) * random.uniform(0, damage) * np.array([2 * 0.8 / 0.7, 2 * 0.8 / 0.7, 1.0])
        opening[2] = abs(opening[2])
        centre = system.bodies[master].centre
        arm = 0.3 * random.normal(size=3)
        system.bond(master, 1, mu, damage, opening, normal=random.normal(size=3), points=(centre + arm, system.bodies[1].centre))
        assert system.wrong(SOLVERS[name](1e-11)) < 1e-7, seed
        row = system.local.rows.kind[0]
        assert row == RowKind.COHESIVE
        after = system.constraints.damage[0]
        seen.add("whole" if after == damage else "gone" if after == 1.0 else "damaged")
    assert seen == {"whole", "damaged", "gone"}


@pytest.mark.parametrize("name", THOSE_THAT_SOLVE_BONDS)
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_bonds_that_share_bodies_follow_their_laws(name, mu):
    for seed in range(12):
        system = Bonds(step=0.05, seed=seed)
        bodies = [system.random_body(BodyKind.PSEUDO_RIGID if k == 1 else BodyKind.RIGID) for k in range(4)]
        random = system.random
        for k in range(3):
            damage = random.choice([0.0, 0.2, 0.6])
            opening = damage * random.uniform(0, 0.5) * np.array([random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0, 1)])
            points = [system.bodies[j].centre + 0.2 * random.normal(size=3) for j in (bodies[k], bodies[k + 1])]
            system.bond(bodies[k], bodies[k + 1], mu, damage, opening, normal=turn(random.normal(size=3))[:, 0], points=tuple(points))
        assert system.wrong(SOLVERS[name](1e-11)) < 1e-6, seed


def pulled(speed, step, mass=1.0, damage=0.0) -> Bonds:
    """A particle that flies off, held by one bond of strength 1 that is gone at an opening of 1."""
    system = Bonds(step)
    system.body(mass=mass, free=[0, 0, 0, 0, 0, speed])
    system.body(BodyKind.OBSTACLE)
    system.bond(0, 1, damage=damage, strengths=(1.0, 1.0), energies=(0.5, 0.5))
    return system


@pytest.mark.parametrize("name", ["GS SEMISMOOTH_NEWTON", "NEWTON GMRES", "AUTO AUTO"])
def test_a_step_too_large_for_softening_lets_go_at_once(name):
    """W_NN h f/(2 G/f) = h^2/m here: above 1 no partly opened bond is in balance; it holds, or is gone."""
    for speed, gone in ((1.9, False), (2.1, True)):
        system = pulled(speed, 2.0)
        _, R, U = system.solve(SOLVERS[name](1e-12))
        assert R[0, 2] == pytest.approx(0.0 if gone else -speed / 2.0, abs=1e-9)
        assert system.constraints.damage[0] == (1.0 if gone else 0.0)
        assert (system.constraints.cohesion[0] == 0.0) == gone


@pytest.mark.parametrize("name", ["GS SEMISMOOTH_NEWTON", "NEWTON GMRES", "AUTO AUTO"])
def test_a_bond_is_unloaded_to_the_origin(name):
    """Traction of damage k at the opening d: f (1 - k) d/(k d_last)."""
    system = pulled(0.0, 0.1, damage=0.5)
    system.bonds.clear()
    row = 0
    system.constraints.other_point[2, row] = system.constraints.point[2, row] - 0.25
    _, R, U = system.solve(SOLVERS[name](1e-12))
    assert R[0, 2] == pytest.approx(-0.5 * (0.25 + 0.1 * U[0, 2]) / 0.5, rel=1e-9)
    assert system.constraints.damage[0] == 0.5


@pytest.mark.parametrize("name", ["GS SEMISMOOTH_NEWTON", "NEWTON GMRES", "AUTO AUTO"])
def test_a_bond_with_a_spring_is_elastic_until_its_strength(name):
    """R = -K d at the end of a step, d = h U, up to the strength less the part k_0 = 1/(1 + K); the energy is less by the same part."""
    stiffness, step = 24.0, 0.1
    first = 1 / (1 + stiffness)
    for speed, whole in ((0.3, True), (-0.3, True), (5.0, False)):
        system = pulled(speed, step)
        system.bonds.clear()
        system.materials.spring[system.constraints.material[0]] = stiffness
        _, R, U = system.solve(SOLVERS[name](1e-12))
        damage = system.constraints.damage[0]
        if speed < 0:
            assert abs(U[0, 2]) < 1e-12 and damage == first  # the contact carries what pushes
            continue
        opening = step * U[0, 2]
        assert opening > 1e-3 and R[0, 2] == pytest.approx(-(stiffness * opening if whole else 1 - opening), rel=1e-9)
        assert damage == pytest.approx(first if whole else opening, rel=1e-9) and (damage > first) != whole


def drawn(direction, load, solver, step, ft=1e5, fs=5e4, Gf=100.0, Gs=200.0):
    """A block of 1 kg on a floor that a force draws off; work of the bond, and steps that it took to go."""
    model = Model("all three", 0.0, 0.0, 0.0, gravity=np.asarray(direction) * load)
    domain = model.domain
    domain.step = step
    domain.surface_materials.model[0], domain.surface_materials.cohesion[0] = SurfaceModel.COHESIVE, ft
    domain.surface_materials.shear_strength[0], domain.surface_materials.fracture_energy[:, 0] = fs, (Gf, Gs)
    domain.settings.widen(domain.surface_materials.reaches)
    model.floor()
    model.box((0, 0, 0), (0.2, 0.1, 0.05))
    steps = 0
    while True:
        domain.advance(solver)
        bonded = domain.constraints.view("cohesion") > 0
        steps += bool(bonded.any())
        if not bonded.any() or steps > 5000:
            return -(domain.contact_energy + domain.friction_energy), steps


@pytest.mark.parametrize("name", ["GS SEMISMOOTH_NEWTON", "NEWTON GMRES", "AUTO AUTO"])
@pytest.mark.parametrize("direction, energy, strength", [((0, 0, 1), 100.0, 1e5), ((1, 0, 0), 200.0, 5e4)], ids=["opening", "sliding"])
def test_a_bond_takes_its_fracture_energy(name, direction, energy, strength):
    """Reactions belong to the end of a step, so that what is missing falls with the step."""
    area, mass = 0.02, 1.0
    whole, half = (drawn(direction, 1.02 * strength * area / mass, SOLVERS[name](1e-9), step)[0] / (energy * area) for step in (5e-5, 2.5e-5))
    assert 0.94 < whole < half < 1.0
    assert 2 * half - whole == pytest.approx(1.0, abs=5e-3)


def test_solvers_without_bonds_refuse_them():
    with pytest.raises(SolfecError, match="PENALTY_SOLVER: constraint 1 .* 'COHESIVE', whose law"):
        pulled(1.0, 0.1).solve(PenaltySolver())
