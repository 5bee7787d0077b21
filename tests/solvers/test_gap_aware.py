"""Gap-aware contacts: impacts leave no penetration, restitution stays, other laws do not act at a distance."""

from __future__ import annotations

import numpy as np
import pytest
from particle_scene import Scene

from solfec.constraints.table import SurfaceModel
from solfec.solvers import merit
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.penalty import PenaltySolver

STEP = 1e-3


def drop(solver, steps=40, height=0.01037, restitution=0.0, gap_aware=4e-3, speed=1.0, dynamic=True) -> tuple[np.ndarray, Scene]:
    """Heights after every step, and at mid step, of a particle above a floor."""
    scene = Scene(STEP, (0, 0, -10.0))
    material = scene.material(friction=0.3, restitution=restitution, gap_aware=gap_aware)
    ball, floor = scene.body(velocity=(0, 0, -speed)), scene.obstacle()
    row = scene.contact(ball, floor, material=material)
    heights = []
    for _ in range(steps):
        scene.predict()
        gap = height + scene.centres[2, ball]
        scene.constraints.gap[row] = gap
        if gap > gap_aware:
            scene.constraints.gap[row] = 1.0  # not found yet; (8.1a) lets it close anyway
        scene.assemble(dynamic)
        scene.report = solver.solve(scene.local)
        scene.correct()
        heights += [gap, height + scene.centres[2, ball]]
    return np.array(heights), scene


SOLVERS = [GaussSeidelSolver(1e-8, 100), NewtonSolver(1e-16, omega=1e-20), AutoSolver(1e-10)]


@pytest.mark.parametrize("solver", SOLVERS, ids=["sweeps", "newton", "auto"])
@pytest.mark.parametrize("height", np.linspace(0.0101, 0.011, 5))
def test_an_impact_leaves_less_penetration_than_two_micrometres(solver, height):
    heights, scene = drop(solver, height=height)
    assert heights.min() > -2e-6
    assert heights[-1] < 2e-6  # the gap is closed
    assert scene.report.residual < 1e-6
    assert abs(scene.linear[2, 0]) < 1e-9


def test_restitution_returns_its_share_of_the_speed():
    heights, scene = drop(GaussSeidelSolver(1e-8, 100), steps=12, restitution=0.5)
    assert heights.min() > -2e-6
    assert scene.linear[2, 0] == pytest.approx(0.55, abs=0.03)


ALL_SOLVERS = {
    "sweeps": lambda: GaussSeidelSolver(1e-8, 100), "merit": lambda: GaussSeidelSolver(1e-8, 100, meritval=1e-10), "newton": NewtonSolver,
    "auto": AutoSolver, "implicit": PenaltySolver, "explicit": lambda: PenaltySolver("EXPLICIT"),
}  # fmt: skip


@pytest.mark.parametrize("model", list(SurfaceModel), ids=lambda model: model.name)
@pytest.mark.parametrize("make", ALL_SOLVERS.values(), ids=list(ALL_SOLVERS))
@pytest.mark.parametrize("last", [(0.0, 0.0, 0.0), (30.0, -10.0, 2400.0)], ids=["new", "after an impact"])
def test_an_open_contact_of_other_materials_carries_nothing(make, model, last):
    scene = Scene(STEP)
    material = scene.material(model=model, spring=1e4, dashpot=10.0, friction=0.3)
    row = scene.contact(scene.body(velocity=(0, 0, -1.0)), scene.obstacle(), material=material, gap=1e-4)
    scene.constraints.R[:, row] = last
    scene.advance(make())
    np.testing.assert_array_equal(scene.reaction(row), 0.0)
    assert scene.linear[2, 0] == -1.0
    assert scene.report.residual == 0.0


def test_what_an_open_contact_carries_is_an_error():
    scene = Scene(STEP)
    mass = 2.0
    scene.contact(scene.body(mass=mass, velocity=(0, 0, -1.0)), scene.obstacle(), gap=1e-4)
    scene.predict()
    local = scene.assemble()
    local.rows.R[:, 0] = 3.0, 0.0, 4.0
    local.velocities(local.rows.U)
    figures = merit.evaluate(local)
    jump = 5.0 * STEP / mass  # of the velocity, by these forces
    assert figures[1] == pytest.approx(jump)  # over |B| = 1
    assert local.rows.residual[0] == pytest.approx(jump)
    assert figures[0] == pytest.approx(25.0)  # unit scaling: the force itself, over the velocity


def test_overlap_is_not_pushed_out():
    scene = Scene(STEP)
    row = scene.contact(scene.body(), scene.obstacle(), material=scene.material(gap_aware=1e-3), gap=-1e-4)
    scene.advance(GaussSeidelSolver(1e-8, 100))
    assert scene.reaction(row)[2] == 0.0 and scene.linear[2, 0] == 0.0


IMPACT_SOLVERS = {"sweeps": lambda: GaussSeidelSolver(1e-11, 20000), "newton": lambda: NewtonSolver(1e-22, 10000, omega=1e-20), "auto": lambda: AutoSolver(1e-10)}


def chain(random, restitution: float, bodies: int, touching: bool) -> Scene:
    """Balls in a row of any masses, speeds and gaps up to what is closed in a step, on gap-aware frictionless contacts."""
    scene = Scene(STEP)
    material = scene.material(restitution=restitution, gap_aware=1e-2)
    row = [scene.body(mass=10 ** random.uniform(-1, 1), velocity=(0, 0, random.uniform(-1, 1))) for _ in range(bodies)]
    for one, other in zip(row[1:], row, strict=False):
        scene.contact(one, other, material=material, gap=0.0 if touching else random.uniform(-0.2, 2.0) * STEP)
    return scene


def kinetic(scene) -> float:
    """Kinetic energy of the balls."""
    mass = 1.0 / scene.bodies.triples.inverse_inertia[0, 0, 1 : scene.bodies.triples.n : 2]
    return float(0.5 * (mass * (scene.linear**2).sum(axis=0)).sum())


@pytest.mark.parametrize("make", IMPACT_SOLVERS.values(), ids=list(IMPACT_SOLVERS))
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("touching", [True, False])
def test_impacts_in_a_row_make_no_energy_and_nothing_rebounds_too_fast(make, restitution, touching):
    random = np.random.default_rng(11)
    impacts = 0
    for bodies in (2, 3, 3, 3, 5, 8):
        scene = chain(random, restitution, bodies, touching)
        before, momentum = kinetic(scene), None
        mass = 1.0 / scene.bodies.triples.inverse_inertia[0, 0, 1 : scene.bodies.triples.n : 2]
        momentum = (mass * scene.linear[2]).sum()
        gap, approach = scene.constraints.view("gap").copy(), np.diff(scene.linear[2])
        scene.advance(make())
        after, reaction = np.diff(scene.linear[2]), scene.constraints.view("R")[2]
        impacts += (reaction > 1e-9).sum()
        assert kinetic(scene) <= before * (1 + 1e-9)
        assert (mass * scene.linear[2]).sum() == pytest.approx(momentum, abs=1e-12)
        assert reaction.min() >= -1e-9
        pushed = reaction > 1e-6
        assert (after[pushed] <= np.maximum(-restitution * approach[pushed], 0.0) + 1e-6).all()
        # what closes is no more than the gap, or e times the speed at which bodies parted
        assert (after >= -np.maximum(np.maximum(gap, 0.0) / STEP, restitution * approach) - 1e-6).all()
    assert impacts >= 5


@pytest.mark.parametrize("make", IMPACT_SOLVERS.values(), ids=list(IMPACT_SOLVERS))
def test_a_ball_struck_while_it_parts_makes_no_energy(make):
    """Three equal balls: the first strikes the second, which touches a third that goes ahead at a tenth of the speed."""
    scene = Scene(STEP)
    material = scene.material(restitution=1.0, gap_aware=1e-2)
    one, two, three = (scene.body(velocity=(0, 0, v)) for v in (1.0, 0.0, 0.1))
    for upper, lower in ((two, one), (three, two)):
        scene.contact(upper, lower, material=material, gap=0.0)
    scene.advance(make())
    assert kinetic(scene) == pytest.approx(0.505, rel=1e-9)  # e = 1 keeps it; (8.1) makes 0.535 of it
    scene.advance(make())
    assert kinetic(scene) <= 0.505 * (1 + 1e-9)


def step_with_gaps(scene, solver, pairs, rows, gaps):
    """Make a step in which contacts of unit balls have the given gaps, besides what the balls have moved."""
    scene.predict()
    moved = scene.centres[2]
    for (upper, lower), row, gap in zip(pairs, rows, gaps, strict=True):
        scene.constraints.gap[row] = gap + moved[upper] - moved[lower] - 1.0
    scene.assemble()
    solver.solve(scene.local)
    scene.correct()


@pytest.mark.parametrize("make", IMPACT_SOLVERS.values(), ids=list(IMPACT_SOLVERS))
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_stack_with_small_gaps_comes_to_rest(make, restitution):
    """Without overlap; with restitution contacts of a body that is struck wait for the next step (docs/materials.md, SIGNORINI_COULOMB), by the way made in one."""
    scene = Scene(STEP, (0.0, 0.0, -10.0))
    material = scene.material(restitution=restitution, gap_aware=1e-2, friction=0.3)
    floor = scene.obstacle(centre=(0, 0, 0))
    balls = [scene.body(centre=(0, 0, k + 1)) for k in range(4)]
    pairs = list(zip(balls, [floor, *balls], strict=False))
    rows = [scene.contact(upper, lower, scene.bodies.centre[:, upper] - (0, 0, 0.5), material=material) for upper, lower in pairs]
    start, fastest = np.array([1e-9, 1e-6, 3e-5, 2e-4]), 0.0
    for _ in range(300):
        step_with_gaps(scene, make(), pairs, rows, start)
        fastest = max(fastest, -scene.local.rows.V[2, : scene.local.n].min())
    assert abs(scene.linear).max() < 1e-6
    assert scene.constraints.view("gap").min() > -2e-6 - (STEP * fastest if restitution else 0.0)


@pytest.mark.parametrize("make", IMPACT_SOLVERS.values(), ids=list(IMPACT_SOLVERS))
def test_a_row_of_balls_with_gaps_shorter_than_the_way_of_a_step_hands_velocity_on(make):
    """With e = 1 equal balls exchange velocities, one impact after another, whatever the gaps between them are."""
    for seed in range(5):
        gaps = np.random.default_rng(seed).uniform(0.05, 2.0, 4) * STEP
        scene = Scene(STEP, (0.0, 0.0, 0.0))
        material = scene.material(restitution=1.0, gap_aware=1e-2)
        balls = [scene.body(centre=(0, 0, k)) for k in range(5)]
        pairs = list(zip(balls[1:], balls))
        rows = [scene.contact(upper, lower, scene.bodies.centre[:, upper] - (0, 0, 0.5), material=material) for upper, lower in pairs]
        scene.linear[2, balls[0]] = 1.0
        for _ in range(40):
            step_with_gaps(scene, make(), pairs, rows, gaps)
        np.testing.assert_allclose(scene.linear[2, balls], [0, 0, 0, 0, 1], atol=1e-9)
