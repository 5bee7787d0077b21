"""Merit and residual are rounding at solutions made by hand, the right size at known errors, and rise whatever is perturbed."""

from __future__ import annotations

import numpy as np
import pytest
from coulomb import frame
from hypothesis import given
from hypothesis import strategies as st
from law_rows import System
from law_settings import examples

from solfec.bodies.table import BodyKind
from solfec.solvers import merit
from solfec.solvers.newton import NewtonSolver

EPS = np.finfo(float).eps
STEP = 0.5


def ball(b, v=(0, 0, 0), mass=2.0, **law):
    """A particle in contact with an obstacle, W = STEP/mass I, with local velocities: free b, before v."""
    system = System(STEP)
    base = frame((0, 0, 1))
    body = system.body(mass=mass, before=[0, 0, 0, *(base @ v)], free=[0, 0, 0, *(base @ b)])
    floor = system.body(BodyKind.OBSTACLE)
    system.contact(body, floor, **law)
    return system


W = STEP / 2.0

#: name: free velocity, law, velocity before, R of the solution (of the particle of mass 2, W = 1/4)
CASES = {
    "open, parting": ((0.3, 0, 1.0), {"mu": 0.4}, (0, 0, 0), (0, 0, 0)),
    "open, parting, frictionless": ((0.0, 0, 1.0), {}, (0, 0, 0), (0, 0, 0)),
    "just touching": ((0.3, 0.4, 0.0), {"mu": 0.4}, (0, 0, 0), (0, 0, 0)),
    "nothing moves": ((0, 0, 0), {"mu": 0.4}, (0, 0, 0), (0, 0, 0)),
    "frictionless, pressed": ((0, 0, -1.0), {}, (0, 0, 0), (0, 0, 4.0)),
    "frictionless, sliding": ((0.6, 0.8, -1.0), {}, (0, 0, 0), (0, 0, 4.0)),
    "sticking without load": ((0, 0, -1.0), {"mu": 0.5}, (0, 0, 0), (0, 0, 4.0)),
    "sticking": ((0.3, 0, -1.0), {"mu": 0.5}, (0, 0, 0), (-1.2, 0, 4.0)),
    "at the edge of sliding": ((0.3, 0.4, -1.0), {"mu": 0.5}, (0, 0, 0), (-1.2, -1.6, 4.0)),
    "sliding": ((3.0, 4.0, -1.0), {"mu": 0.5}, (0, 0, 0), (-1.2, -1.6, 4.0)),
    "huge friction": ((3.0, 4.0, -1.0), {"mu": 1e6}, (0, 0, 0), (-12.0, -16.0, 4.0)),
    "plastic impact": ((0, 0, -1.0), {"mu": 0.1, "restitution": 0.0}, (0, 0, -1.0), (0, 0, 4.0)),
    "elastic impact": ((0, 0, -1.0), {"mu": 0.1, "restitution": 1.0}, (0, 0, -1.0), (0, 0, 8.0)),
    "restitution of a contact that parts": ((0, 0, -1.0), {"restitution": 0.5}, (0, 0, 2.0), (0, 0, 4.0)),
    "half elastic, sliding": ((3.0, 4.0, -1.0), {"mu": 0.5, "restitution": 0.5}, (0, 0, -1.0), (-1.8, -2.4, 6.0)),
    "glue that pulls": ((0, 0, 0.5), {"cohesion": 3.0}, (0, 0, 0), (0, 0, -2.0)),
    "glue at its limit": ((0, 0, 0.75), {"cohesion": 3.0}, (0, 0, 0), (0, 0, -3.0)),
    "glue that breaks": ((0, 0, 1.0), {"cohesion": 3.0}, (0, 0, 0), (0, 0, -3.0)),
    "glue that holds sideways": ((0.25, 0, 0.25), {"cohesion": 3.0, "mu": 0.5}, (0, 0, 0), (-1.0, 0, -1.0)),
    "glue that slides": ((1.0, 0, 0.25), {"cohesion": 3.0, "mu": 0.5}, (0, 0, 0), (-1.0, 0, -1.0)),
}  # fmt: skip


def measured(system, reactions, stored=True):
    """Merit, residual, and members of every row in the order of creation."""
    local = system.assemble(stored)
    n = len(system.rows)
    order = local.rows.order[:n]
    local.rows.R[:, :n] = np.asarray(reactions, float)[order].T
    b, _ = system.velocities()
    u = b.ravel() + system.delassus() @ np.ravel(reactions)
    local.rows.U[:, :n] = u.reshape(n, 3)[order].T
    g, residual = merit.evaluate(local)
    members = np.empty((2, n))
    members[:, order] = local.rows.merit[:n], local.rows.residual[:n]
    return g, residual, members


@pytest.mark.parametrize("name", CASES)
def test_both_are_rounding_at_a_solution_and_rise_when_any_component_is_off(name):
    b, law, v, reaction = CASES[name]
    scale = W * max(np.abs(reaction).max(), 1e-300) / max(np.linalg.norm(b), 1e-300)
    g, residual, _ = measured(ball(b, v, **law), [reaction])
    assert residual <= 10 * EPS * max(1.0, scale) * max(1.0, law.get("mu", 0.0))
    assert g <= (10 * EPS * max(1.0, scale) * max(1.0, law.get("mu", 0.0)) * (1 + 4 / W)) ** 2
    size = max(np.abs(reaction).max(), np.linalg.norm(b) / W, 1.0)
    for axis in range(3):
        for amount in (-1e-4, 1e-4):
            wrong = np.array(reaction, float)
            wrong[axis] += amount * size
            g_wrong, residual_wrong, (member, row) = measured(ball(b, v, **law), [wrong])
            assert residual_wrong > 1e-6 * min(1.0, W) and g_wrong > 1e-13, (axis, amount, residual_wrong, g_wrong)
            if np.any(b):
                assert member[0] == pytest.approx(2 * g_wrong, rel=1e-12)
                assert row[0] == pytest.approx(residual_wrong * np.linalg.norm(b), rel=1e-12)
            else:  # with nothing to stop the error is as large as all that reactions do, in any units
                assert min(g_wrong, residual_wrong) > 0.1


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("by", ["newton", "diag"])
def test_newton_stops_at_a_solution_and_goes_on_elsewhere(name, by):
    b, law, v, reaction = CASES[name]
    if not np.any(b):
        pytest.skip("nothing moves, whatever the reaction was")
    for amount, busy in ((0.0, False), (0.03, True)):
        system = ball(b, v, **law)
        start = np.array(reaction, float) + amount * np.array([0.6, 0.7, 1.0]) * max(1.0, np.abs(reaction).max())
        system.constraints.R[:, 0] = start
        solver = NewtonSolver(1e-20, 500, linver={"newton": "GMRES", "diag": "DIAG"}[by], gsflag=False)
        report, r, _ = system.solve(solver)
        if law.get("mu", 0.0) < 10.0:
            assert report.status == "OK"
            assert (report.iterations > 0) == busy
            np.testing.assert_allclose(r[0], reaction, atol=1e-8 * max(1.0, np.abs(reaction).max()))


def test_a_unit_error_has_the_size_that_the_definitions_give():
    """No reaction where (0, 0, 4) is right: C is all of the free velocity, and the merit 1 (docs/theory.md, Merit and residual)."""
    g, residual, (member, row) = measured(ball((0, 0, -1.0), mu=0.3), [(0, 0, 0)])
    assert (g, residual, member[0], row[0]) == pytest.approx((1.0, 1.0, 2.0, 1.0), rel=1e-14)
    # half of it: half of the velocity is left
    g, residual, _ = measured(ball((0, 0, -1.0), mu=0.3), [(0, 0, 2.0)])
    assert (g, residual) == pytest.approx((0.25, 0.5), rel=1e-14)
    # tension where bodies part: C_rho = r / rho, rho = 1/W
    g, residual, _ = measured(ball((0, 0, 1.0)), [(0, 0, -2.0)])
    assert residual == pytest.approx(2.0 * W, rel=1e-14)


def test_rows_of_a_heterogeneous_block_are_weighted_by_its_inverse():
    """Merit: sum of C.A C with A = W_aa^-1 (9.2), of a block with couplings; here C = U - target, of a fixed point."""
    system = System(STEP, seed=3)
    system.random_body()
    system.joint("FIXPNT", 0, points=(system.bodies[0].centre + (0.3, -0.2, 0.5), (0, 0, 0)))
    reaction = np.array([[1.0, -2.0, 0.5]])
    g, residual, _ = measured(system, reaction)
    b, v = system.velocities()
    w = system.delassus()
    unmet = b[0] + w @ reaction[0] + v[0]
    assert g == pytest.approx(unmet @ np.linalg.solve(w, unmet) / (b[0] @ np.linalg.solve(w, b[0])), rel=1e-12)
    assert residual == pytest.approx(np.linalg.norm(unmet) / np.linalg.norm(b[0]), rel=1e-12)


@pytest.mark.parametrize("kind", ["FIXPNT", "FIXDIR", "VELODIR", "VELODIR3"])
@given(seed=st.integers(0, 10**6))
@examples(5)
def test_joints_are_measured_by_what_they_ask_for(kind, seed):
    system = System(STEP, seed=seed)
    for _ in range(2):
        system.random_body()
    near = tuple(body.centre + 0.3 * system.random.normal(size=3) for body in system.bodies)
    two = kind == "FIXDIR"
    value = system.random.normal(size=3)
    system.joint(kind, 0, 1 if two else -1, points=near, normal=system.random.normal(size=3), value=value)
    b, v = system.velocities()
    w = system.delassus()
    wanted = {"FIXPNT": -v[0], "FIXDIR": -v[0], "VELODIR": np.array([0, 0, value[2]]), "VELODIR3": value}[kind]
    if kind in ("VELODIR", "VELODIR3"):
        wanted = wanted - system.bend(system.rows[0])
    if kind in ("FIXDIR", "VELODIR"):
        r = np.array([0.0, 0.0, (wanted[2] - b[0, 2]) / w[2, 2]])
    else:
        r = np.linalg.solve(w, wanted - b[0])
    g, residual, _ = measured(system, [r])
    assert residual <= 1e-14 and g <= 1e-28
    energy = b[0] @ np.linalg.solve(w, b[0])
    if kind == "VELODIR":
        energy += np.linalg.inv(w)[2, 2] * wanted[2] ** 2
    off = np.array([0.0, 0.0, 0.1]) if kind in ("FIXDIR", "VELODIR") else 0.1 * system.random.normal(size=3)
    g, residual, (member, _) = measured(system, [r + off])
    missed = w @ off
    if kind in ("FIXDIR", "VELODIR"):
        expected, size = np.linalg.inv(w)[2, 2] * missed[2] ** 2, abs(missed[2])
    else:
        expected, size = missed @ np.linalg.solve(w, missed), np.linalg.norm(missed)
    assert g == pytest.approx(expected / energy, rel=1e-9) and member[0] == pytest.approx(2 * g, rel=1e-12)
    assert residual == pytest.approx(size / np.linalg.norm(b[0]), rel=1e-9)


def test_what_an_open_contact_carries_is_an_error():
    g, residual, _ = measured(ball((0, 0, -1.0), gap=1e-3, mu=0.3), [(0, 0, 0)])
    assert residual == 0.0 and g == 0.0
    for reaction in ((0, 0, 1.0), (0, 0, -1.0), (0.1, 0, 0)):
        g, residual, _ = measured(ball((0, 0, -1.0), gap=1e-3, mu=0.3), [reaction])
        assert residual > 1e-3 and g > 1e-6, reaction


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_the_residual_has_no_unit(scale):
    """Masses, and so forces and energies, may have any unit."""
    expected = None
    for unit in (1.0, scale):
        system = ball((0.3, 0.1, -1.0), mu=0.3, mass=2.0 * unit)
        g, residual, _ = measured(system, [(-0.5 * unit, 0.2 * unit, 3.0 * unit)])
        expected = expected or residual
        assert residual == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mass", [1e-20, 1e-12, 1.0, 1e12])
def test_the_merit_of_no_reactions_is_one_however_small_the_bodies(mass):
    """Half the free energy over half the free energy; energies below 2E-16 J are those of bodies of micrometres."""
    g, residual, _ = measured(ball((0, 0, -1e-3), mass=mass), [(0, 0, 0)])
    assert (g, residual) == pytest.approx((1.0, 1.0), rel=1e-12)
