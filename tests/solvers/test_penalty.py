"""The penalty solver."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import Scene
from reference_rows import assembled, load

import solfec
from solfec import AUTO_SOLVER, BALL, BODY, BULK_MATERIAL, GRAVITY, PENALTY_SOLVER, RUN, SOLFEC, SPHERE, SURFACE_MATERIAL
from solfec.solvers.penalty import PenaltySolver


@pytest.mark.parametrize("name", ["m01_060", "m03_020", "m08_100", "m13_050"])
def test_reactions_and_velocities_equal_those_of_solfec(name):
    data = load(name)
    local = assembled(data)
    PenaltySolver("IMPLICIT").solve(local)
    n = local.n
    np.testing.assert_allclose(
        local.rows.R[:, :n].T, data["R_PENALTY"], atol=1e-12 * np.abs(data["R_PENALTY"]).max()
    )
    # U of Solfec-1.0 is that of the contact's own reaction alone, and 0 where contacts separate
    pressed = np.abs(data["R_PENALTY"]).sum(1) > 0
    alone = local.rows.B[:, :n].T + np.einsum("ija,ja->ai", local.rows.diagonal[..., :n], local.rows.R[:, :n])
    np.testing.assert_allclose(alone[pressed], data["U_PENALTY"][pressed], atol=1e-12)
    coupled = local.rows.B[:, :n].T.reshape(-1) + local.matrix() @ local.rows.R[:, :n].T.reshape(-1)
    np.testing.assert_allclose(local.rows.U[:, :n].T.reshape(-1), coupled, rtol=0, atol=1e-12 * np.abs(coupled).max())


@pytest.mark.parametrize("variant", ["IMPLICIT", "EXPLICIT"])
def test_velocities_and_works_of_contacts_of_one_body_are_those_of_its_motion(variant):
    # works were those of each contact alone, and ENERGY of contacts was off by half of the energy of bodies on several points
    scene = Scene(0.01)
    material = scene.material(spring=1e3, friction=0.3)
    ball, floor = scene.body(velocity=(0.5, 0, -1.0)), scene.obstacle()
    rows = [scene.contact(ball, floor, material=material, gap=-gap) for gap in (0.05, 0.03, 0.01)]
    energy = 0.5 * (scene.linear[:, ball] ** 2).sum()
    works = scene.advance(PenaltySolver(variant))
    assert sum(works) == pytest.approx(0.5 * (scene.linear[:, ball] ** 2).sum() - energy, rel=1e-12)
    for row in rows:
        base = scene.constraints.base[..., row]
        np.testing.assert_allclose(scene.constraints.U[:, row], base.T @ scene.linear[:, ball], atol=1e-12)


def test_contacts_pass_their_reactions_on_to_the_users_constraints():
    # a fixed ball hit by a moving one: the support takes the whole contact force
    scene = Scene(0.01)
    material = scene.material(spring=1000.0)
    fixed = scene.body()
    other = scene.body(velocity=(0, 0, -1.0))
    support = scene.fix("FIXPNT", fixed)
    row = scene.contact(other, fixed, material=material, gap=-0.01)
    scene.advance(PenaltySolver())
    assert scene.reaction(row)[2] > 9.0
    np.testing.assert_allclose(scene.reaction(support), (0, 0, scene.reaction(row)[2]), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scene.linear[:, fixed], 0, atol=1e-12)


@pytest.mark.parametrize(
    ("friction", "velocity", "kept"), [(0.5, (0, 0, 3.0), False), (0.5, (0, 0, 0.0), True)]
)
def test_cohesion_breaks_beyond_its_strength(friction, velocity, kept):
    scene = Scene(0.01)
    material = scene.material(spring=1e5, dashpot=-1.0, friction=friction, cohesion=20.0)
    ball = scene.body(velocity=velocity)
    row = scene.contact(ball, scene.obstacle(), material=material, gap=-1e-6, area=1.0, cohesion=20.0)
    scene.advance(PenaltySolver())
    assert scene.reaction(row)[2] >= -20.0
    assert (scene.constraints.cohesion[row] > 0) == kept


def test_unknown_variants_are_refused():
    with pytest.raises(ValueError, match="IMPLICIT, EXPLICIT"):
        PenaltySolver("SEMI")


def test_the_residual_says_how_far_springs_are_from_rigid_contact():
    scene = Scene(0.01)
    material = scene.material(spring=1000.0)
    row = scene.contact(scene.body(velocity=(0, 0, -1.0)), scene.obstacle(), material=material, gap=-1e-3)
    scene.advance(PenaltySolver())
    assert scene.report.merit == 0.0
    # U_N stays negative; rigid contact would bring it to zero
    assert scene.constraints.residual[row] == pytest.approx(-scene.constraints.U[2, row])
    assert scene.report.residual == pytest.approx(-scene.constraints.U[2, row] / 1.0)


@pytest.mark.parametrize(("spring", "dashpot", "warned"), [(0.0, 0.0, True), (0.0, 10.0, False), (1000.0, 0.0, False)])
def test_contacts_that_carry_nothing_are_told_once(spring, dashpot, warned):
    # bodies fall through floors whose material keeps the default spring of zero
    scene = Scene(0.01)
    material = scene.material(spring=spring, dashpot=dashpot)
    scene.contact(scene.body(velocity=(0, 0, -1.0)), scene.obstacle(), material=material, gap=-1e-3)
    solver = PenaltySolver()
    scene.advance(solver)
    assert ("`spring`" in solver.told()) == warned
    assert solver.told() == ""


def test_chains_hang_from_contacts_as_exactly_as_without_them():
    # sweeps that ended when reactions changed by less than 1E-4 left the last ball 0.14 mm off after a second
    def last_ball(make):
        model = SOLFEC("DYNAMIC", 1e-3, None)
        material = BULK_MATERIAL(model, density=1e3)
        SURFACE_MATERIAL(model, model="SPRING_DASHPOT", spring=1e6, dashpot=1e2)
        GRAVITY(model, (0, 0, -9.81))
        balls = [BODY(model, "RIGID", SPHERE((0.3 * k + 0.15, 0, 0), 0.1, 1, 1), material) for k in range(20)]
        for k, ball in enumerate(balls):
            BALL(ball, balls[k - 1] if k else None, (0.3 * k, 0, 0))
        RUN(model, make(), 0.3)
        return np.array(balls[-1].conf[9:])

    assert np.abs(last_ball(PENALTY_SOLVER) - last_ball(AUTO_SOLVER)).max() < 1e-9


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
def test_the_direction_of_gravity_does_not_matter(contacts):
    """Friction of the last step counts in (8.4); it kept its numbers while tangents, which follow axes, turned from under it where normals pass the x axis."""

    def rocked(axes):
        model = solfec.SOLFEC("DYNAMIC", 1e-3, None, contacts=contacts)
        model.verbose = "OFF"
        solfec.SURFACE_MATERIAL(model, model="SPRING_DASHPOT", spring=1e4, dashpot=50.0, friction=0.8)
        bulk = solfec.BULK_MATERIAL(model, density=1000.0)
        solfec.GRAVITY(model, tuple(axes @ (0, 0, -9.81)))
        solfec.BODY(model, "OBSTACLE", solfec.SPHERE((0, 0, 0), 0.3, 1, 1), bulk)
        tilt = np.array([[1, 0, 0.01], [0, 1, 0], [-0.01, 0, 1]])
        corners = np.array([(x, y, 0.3 + z) for x in (-0.3, 0.2) for y in (-0.1, 0.2) for z in (-3e-3, 0.1)]) @ tilt.T @ axes.T
        bar = solfec.BODY(model, "RIGID", solfec.HULL(corners.ravel().tolist(), 1, 1), bulk)
        solfec.INITIAL_VELOCITY(bar, tuple(axes @ (0.3, 1, 0)), tuple(axes @ (0, -1, 0)))
        solfec.RUN(model, solfec.PENALTY_SOLVER(), 0.06)
        return np.array([solfec.DISPLACEMENT(bar, bar.center), solfec.VELOCITY(bar, bar.center)]) @ axes

    up = rocked(np.eye(3))
    assert np.abs(up[0]).max() > 0.01
    for order in ((2, 0, 1), (1, 2, 0)):
        np.testing.assert_allclose(rocked(np.eye(3)[list(order)]), up, rtol=0, atol=1e-13)
