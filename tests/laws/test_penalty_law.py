"""Spring-dashpot contacts: the force that a spring and a dashpot have at the mean gap and velocity of the step, and Coulomb's disc."""

from __future__ import annotations

import numpy as np
import pytest
from coulomb import length
from hypothesis import given
from hypothesis import strategies as st
from law_scenes import Model, Snapshot, check_momentum, check_velocities
from law_settings import examples, random_block

import solfec as s
from solfec import _kernels
from solfec.constraints.table import SurfaceModel
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.penalty import PenaltySolver

SEEDS = st.integers(0, 10**6)


def solve(implicit, w, b, v, gap, spring, dashpot, power=1.0, mu=0.0, cohesion=0.0, step=0.01, start=(0, 0, 0)):
    """R and whether cohesion ended, of one contact."""
    law = np.array([gap, spring, dashpot, power, mu, 0.0, cohesion, 0.0])
    r, lost = np.array(start, float)[:, None].copy(order="F"), np.zeros(1, np.int32)
    _kernels.block_problems.penalty_problems(
        np.array([int(implicit)], np.int32), np.asfortranarray(w[..., None]), law[:, None].copy(order="F"), np.array([step]),
        np.array(b, float)[:, None].copy(order="F"), np.array(v, float)[:, None].copy(order="F"), r, lost,
    )  # fmt: skip
    return r[:, 0], bool(lost[0])


@given(seed=SEEDS, mu=st.sampled_from([0.0, 0.4]))
@examples(40)
def test_the_implicit_force_is_that_of_the_mean_gap_and_velocity(seed, mu):
    """With U of its own reaction: R_N = -k (g + h/4 (U_N - V_N)) - d/2 (U_N + V_N), or no force where that would pull."""
    random = np.random.default_rng(seed)
    w = random_block(random) / 1e3
    b, v = random.normal(size=(2, 3)) * 10.0 ** random.uniform(-3, 3)
    step, gap = 0.01, -np.abs(random.normal()) * 0.02 * np.abs(b).max()
    spring = 10.0 ** random.uniform(-1, 1) / (step * w[2, 2])
    dashpot = random.choice([0.0, 0.3 / w[2, 2]])
    start = 0.1 * random.normal(size=3) * np.abs(b).max() / w[2, 2] * [1, 1, 0]
    if gap + step / 4 * (b[2] + w[2, :2] @ start[:2] - v[2]) > 0.0:
        return  # parted at the mean gap: the spring is not reached
    r, _ = solve(True, w, b, v, gap, spring, dashpot, mu=mu, step=step, start=start)
    normal_u = b[2] + w[2, :2] @ start[:2] + w[2, 2] * r[2]
    force = -spring * (gap + step / 4 * (normal_u - v[2])) - dashpot / 2 * (normal_u + v[2])
    scale = spring * abs(gap) + (spring * step + dashpot) * (np.abs(b).max() + np.abs(v).max()) + np.abs(r).max()
    if r[2] == 0.0:
        free = b[2] + w[2, :2] @ start[:2]
        assert -spring * (gap + step / 4 * (free - v[2])) - dashpot / 2 * (free + v[2]) <= 1e-9 * scale
        assert not r.any()
        return
    assert r[2] > 0.0
    assert force == pytest.approx(r[2], abs=1e-9 * scale)
    sticking = np.linalg.solve(w[:2, :2], -(b[:2] + w[:2, 2] * r[2]))
    held = min(1.0, mu * r[2] / length(sticking))
    np.testing.assert_allclose(r[:2], held * sticking, atol=1e-9 * scale)


@given(seed=SEEDS, power=st.sampled_from([1.0, 1.5, 2.0]))
@examples(15)
def test_the_explicit_force_is_that_of_the_gap_and_of_the_velocity_before(seed, power):
    random = np.random.default_rng(seed)
    w = random_block(random)
    gap, v, b = -random.random(), random.normal(size=3), random.normal(size=3)
    r, _ = solve(False, w, b, v, gap, 3.0, 0.7, power)
    assert r[2] == pytest.approx(max(0.0, 3.0 * (-gap) ** power - 0.7 * v[2]), rel=1e-12)


@pytest.mark.parametrize("power", [1.0, 1.5, 3.0])
def test_a_stiffening_spring_is_linearised_at_the_gap_that_the_free_velocity_makes(power):
    w, b, v, gap, step, spring = np.eye(3) * 1e-3, np.array([0, 0, -1.0]), np.array([0, 0, -0.4]), -0.02, 0.01, 1e4
    r, _ = solve(True, w, b, v, gap, spring, 0.0, power, step=step)
    depth = 0.02 - step / 4 * (b[2] - v[2])
    slope = (spring * (depth + 1e-7) ** power - spring * (depth - 1e-7) ** power) / 2e-7
    # the reaction moves the mean gap by h/4 W R
    assert r[2] == pytest.approx(spring * depth**power - slope * step / 4 * w[2, 2] * r[2], rel=1e-6)


@pytest.mark.parametrize("b, ends, expected", [((0, 0, 10.0), True, -2.0), ((0, 0, 0.0), False, None), ((50.0, 0, 0.0), True, None)])
def test_glue_of_springs_pulls_up_to_its_strength(b, ends, expected):
    r, lost = solve(True, np.eye(3), b, (0, 0, 0), -1e-3, 100.0, 1.0, mu=0.5, cohesion=2.0)
    assert lost == ends and r[2] >= -2.0 - 1e-12
    if expected is not None:
        assert r[2] == pytest.approx(expected)
    assert length(r[:2]) <= 0.5 * abs(r[2]) + 1e-12


@pytest.mark.parametrize("solver", ["PENALTY IMPLICIT", "PENALTY EXPLICIT", "GS"])
@pytest.mark.parametrize("option", ["default", "margin", "patch", "gap_aware"])
@pytest.mark.parametrize("kind", ["rigid", "pseudo-rigid"])
def test_steps_of_spring_dashpot_contacts(solver, option, kind):
    made = {"PENALTY IMPLICIT": lambda: PenaltySolver(), "PENALTY EXPLICIT": lambda: PenaltySolver("EXPLICIT"), "GS": lambda: GaussSeidelSolver(1e-12, 5000)}
    model = Model(option, 0.3)
    materials = model.domain.surface_materials
    materials.model[0], materials.spring[0], materials.dashpot[0] = int(SurfaceModel.SPRING_DASHPOT), 1e5, 10.0
    materials.hpow[0] = 1.0
    model.floor()
    model.box((0, 0, 1e-4), (0.2, 0.2, 0.1), kind, velocity=(0.3, 0, -0.2))
    model.ball((-0.2, 0, 0.1 + 1e-4), 0.1, kind, velocity=(0, 0.1, -0.3))
    chosen, pressed = made[solver](), 0
    for _ in range(12):
        before = Snapshot(model)
        model.domain.advance(chosen)
        rows = list(model.contacts())
        table = model.domain.constraints
        check_momentum(before, model, rows, 1.0, None)
        for row in rows:
            r = table.R[:, row]
            assert r[2] >= 0.0 and length(r[:2]) <= 0.3 * r[2] * (1 + 1e-12)
            pressed += r[2] > 0.0
            assert table.gap[row] <= 0.0 or not r.any()
        if solver == "GS":
            check_velocities(before, model, rows, 1.0, None)
    assert pressed


@pytest.mark.parametrize("dashpot", [0.0, 30.0, -1.0])
@pytest.mark.parametrize("power", [1.0, 1.5])
@pytest.mark.parametrize("step", [0.05, 0.5])  # free, a ball would fall by 25 mm and by 2.5 m in a step
@pytest.mark.parametrize("solver", ["PENALTY", "GAUSS_SEIDEL", "AUTO"])
def test_quasi_static_balls_sink_until_springs_carry_them_whatever_the_step(solver, step, power, dashpot):
    spring = 1e4 if power == 1.0 else 1e6
    solfec = s.SOLFEC("QUASI_STATIC", step, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    s.GRAVITY(solfec, (0, 0, -10))
    s.SURFACE_MATERIAL(solfec, model="SPRING_DASHPOT", spring=spring, dashpot=dashpot, friction=0.3, hpow=power)
    bulk = s.BULK_MATERIAL(solfec)
    s.BODY(solfec, "OBSTACLE", s.BOX((0, 0, -0.5), (4, 4, 1)), bulk)
    count = 1 if solver == "PENALTY" else 3  # whose contacts do not know of one another within a step
    balls = [s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0.1 + 0.2 * k + 5e-4 * (k + 1)), 0.1, 1, 1), bulk) for k in range(count)]
    for k, ball in enumerate(balls):
        s.BODY_CHARS(ball, 1, 1, (0, 0, 0.1 + 0.2 * k + 5e-4 * (k + 1)), (1, 0, 0, 0, 1, 0, 0, 0, 1))
    solvers = {"PENALTY": s.PENALTY_SOLVER(), "GAUSS_SEIDEL": s.GAUSS_SEIDEL_SOLVER(1e-12, 10000), "AUTO": s.AUTO_SOLVER(1e-10)}
    s.RUN(solfec, solvers[solver], 100 * step)
    sunk = np.cumsum([(10.0 * (count - k) / spring) ** (1 / power) for k in range(count)])
    expected = [0.1 + 0.2 * k - sunk[k] for k in range(count)]
    assert [ball.conf[11] for ball in balls] == pytest.approx(expected, abs=1e-8)
