"""Sweeps by colours visit contacts eight at a time: the law holds for each of them, as if it were alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_rows import System
from law_settings import examples

from solfec.bodies.table import BodyKind
from solfec.solvers.gauss_seidel import GaussSeidelSolver

EXACT, TOLERANCE = 1e-10, 1e-8


def crowd(seed, pairs, friction, cohesion):
    """A chain of bodies with one to four contacts from each to the next, which are of two colours, and a few on an obstacle."""
    system = System(0.01, True, seed)
    random = system.random
    ground = system.random_body(BodyKind.OBSTACLE)
    bodies = [system.random_body(BodyKind.RIGID if random.random() < 0.7 else BodyKind.PSEUDO_RIGID) for _ in range(2 * pairs)]

    def touch(master, slave):
        points = tuple(system.bodies[k].centre + 0.5 * random.normal(size=3) for k in (master, slave))
        restitution = random.choice([0.0, 0.5])
        system.contact(master, slave, random.normal(size=3), points, random.choice(friction), restitution, cohesion * random.random())

    for first in (0, 1):
        for one, other in zip(bodies[first::2], bodies[first + 1 :: 2]):
            for _ in range(int(random.integers(1, 5))):
                touch(*random.permutation([one, other]))
    for one in bodies[::5]:
        touch(one, ground)
    return system


def swept(reverse=False, meritval=1.0):
    """A solver that sweeps by colours, however small the system is; with a merit lanes are filled for each visit."""
    solver = GaussSeidelSolver(EXACT, 20000, meritval=meritval)
    solver.colouring, solver.reverse = "ON", reverse
    return solver


@pytest.mark.parametrize("solver", [swept(), swept(True), swept(meritval=1e-12)], ids=["forward", "reverse", "with merit"])
@given(seed=st.integers(0, 10**6), pairs=st.integers(70, 78), friction=st.sampled_from([[0.0], [0.3], [0.0, 0.1, 0.3]]), cohesion=st.sampled_from([0.0, 20.0]))
@examples(6)
def test_laws_hold_for_contacts_in_lanes(solver, seed, pairs, friction, cohesion):
    system = crowd(seed, pairs, friction, cohesion)
    report, r, u = system.solve(solver, stored=False)
    lanes = system.local.arranged
    assert lanes.slots.used[: lanes.chunks.slots].sum() > 128
    assert report.status == "OK"
    assert system.law_violation(r, u) <= TOLERANCE


def seesaws(count, half, side):
    """Planks that come down with the end at x = -3, and go up with the other one until reactions throw it down; contacts at `side` come first."""
    system = System(0.01)
    ground = system.body(BodyKind.OBSTACLE)
    for _ in range(count):
        plank = system.body(before=np.array([0.0, -0.5, 0.0, 0.0, 0.0, -1.0]))  # rotation, and velocity of the centre
        for x in [side] * half + [-side] * half:
            system.contact(plank, ground, points=((x, 0.0, 0.0), (x, 0.0, 0.0)))
    return system


@pytest.mark.parametrize("side", [3.0, -3.0])  # in one of these the ends that go up are visited first
@pytest.mark.parametrize("count, half", [(64, 1), (8, 17)], ids=["in lanes", "one by one"])
def test_sweeps_go_on_while_open_contacts_must_close(count, half, side):
    """A contact that was open at its last visit closes in the next one at the earliest; nothing else may change in between."""
    system = seesaws(count, half, side)
    report, r, u = system.solve(swept(), stored=False)
    lanes = system.local.arranged
    in_lanes = lanes.slots.used[: lanes.chunks.slots].sum()
    assert (in_lanes, lanes.chunks.judged_rest) == ((len(r), 0) if half == 1 else (0, len(r)))
    assert report.status == "OK"
    assert system.law_violation(r, u) <= TOLERANCE


@pytest.mark.parametrize("count, half", [(64, 1), (8, 17)], ids=["in lanes", "one by one"])
def test_sweeps_go_on_while_friction_changes(count, half):
    """The first sweep finds the normal reactions of both ends of a plank, which do not act on one another; friction does, as the plank spins with ease."""
    system = System(0.01)
    ground = system.body(BodyKind.OBSTACLE)
    for _ in range(count):
        plank = system.body(tensor=np.diag([1.0, 1.0, 0.1]), before=np.array([0.0, 0.0, 0.05, 0.0, 0.05, -1.0]))
        for x in [1.0] * half + [-1.0] * half:
            system.contact(plank, ground, points=((x, 0.0, 0.0), (x, 0.0, 0.0)), mu=0.9)
    solver = swept()
    report, r, u = system.solve(solver, stored=False)
    assert report.status == "OK" and report.iterations > 2
    assert system.law_violation(r, u) <= TOLERANCE


@pytest.mark.parametrize("count, half", [(64, 1), (8, 17)], ids=["in lanes", "one by one"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_velocity_that_is_no_number_is_told_with_its_contact(count, half, wrong):
    """One among eight contacts in lanes: neither does it count as open, nor are those beside it to blame."""
    system = seesaws(count, half, 3.0)
    plank = 5
    system.table.triples.velo[2, system.table.velo_slice(plank)] = wrong
    report, _, _ = system.solve(swept(), stored=False)
    failed = system.local.rows.order[report.failed_row]
    assert report.status == "DIAGONAL_FAILED" and not report.error <= 1.0
    assert system.rows[failed].master == plank


def test_the_asked_block_solver_visits_contacts():
    """One step of a gradient method does not solve a contact, so another method must help out; lanes would solve it directly."""
    system = seesaws(64, 1, 3.0)
    solver = GaussSeidelSolver(EXACT, 20000, diagmaxiter=1, diagsolver="PROJECTED_GRADIENT")
    solver.colouring = "ON"
    report, r, u = system.solve(solver, stored=False)
    assert report.status == "OK" and report.fallbacks > 0
    assert system.law_violation(r, u) <= TOLERANCE


@pytest.mark.parametrize("solver", [swept(), swept(meritval=1e-12)], ids=["forward", "with merit"])
def test_contacts_that_are_gone_do_not_count(solver):
    """Their lanes are empty in the next step: reactions there once would hide changes of others, which are judged in relation to the sum."""
    system = seesaws(71, 1, 3.0)
    velo, last = system.table.triples.velo, len(system.rows) - 2
    velo *= 1e6
    assert system.solve(solver, stored=False)[0].status == "OK"
    velo *= 1e-6
    for k in (last, last + 1):
        system.rows[k].gap = system.constraints.gap[k] = 1.0
    report, r, u = system.solve(solver, stored=False)
    assert report.status == "OK" and not r[last:].any()
    assert system.law_violation(r, u) <= TOLERANCE
