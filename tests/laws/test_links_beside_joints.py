"""Links that hold, with other joints, a motion twice: bodies move as without them, whatever the solver, and reactions stay those of the loads."""

from __future__ import annotations

import numpy as np
import pytest

import solfec as s

by_solver = pytest.mark.parametrize(
    "solver", [s.AUTO_SOLVER, lambda: s.NEWTON_SOLVER(1e-12), lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 1000)], ids=["AUTO", "NEWTON", "GAUSS_SEIDEL"]
)


def between(lower, upper):
    """A box between two corners."""
    return s.BOX(np.mean([lower, upper], axis=0).tolist(), np.subtract(upper, lower).tolist(), 1, 1)


def started(new_model, contacts, step=2e-3):
    model = new_model("DYNAMIC", step, contacts=contacts)
    s.GRAVITY(model, (0, 0, -9.81))
    s.SURFACE_MATERIAL(model, friction=0.2)
    return model, s.BULK_MATERIAL(model, density=1000)


def swung(model, bodies, joints, solver, duration):
    """Run; return where bodies are and how they move, and the largest reaction of joints on the way."""
    largest = 0.0
    for _ in model.steps(solver, duration):
        assert solver.error == "OK"
        largest = max(largest, *(np.abs(part.R).max() for part in joints()))
    return np.concatenate([np.append(body.conf, body.velo) for body in bodies]), largest


def joints_of(model):
    return lambda: [row for row in model.constraints if row.kind != "CONTACT"]


def door(new_model, contacts, held, link):
    """A door of 80 kg that turns at 3 rad/s and meets a ball; the link leads from a point of its axis to the ground."""
    model, wood = started(new_model, contacts)
    leaf = s.BODY(model, "RIGID", between((0, -0.02, 0), (1, 0.02, 2)), wood)
    for height in (0.3, 1.7):
        if held == "HINGE":
            s.HINGE(leaf, None, (0, 0, height), (0, 0, 1))
        else:
            s.FIX_POINT(leaf, (0, 0, height))
    if link:
        link(leaf, None, (0, 0, 1.0), (0, -1, 1.0))
    ball = s.BODY(model, "RIGID", s.SPHERE((0.9, -0.3, 1.0), 0.1, 1, 1), wood)
    s.INITIAL_VELOCITY(leaf, (0, 1.5, 0), (0, 0, 3))
    s.INITIAL_VELOCITY(ball, (0, 4, 0), (0, 0, 0))
    return model, [leaf, ball]


@by_solver
@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("held", ["FIX_POINT", "HINGE"])
def test_link_from_the_axis_of_a_door_changes_nothing(new_model, held, contacts, solver):
    """Lengths contradicted velocities by terms of second order in the step: GAUSS_SEIDEL_SOLVER made 33 kJ of 222 J, and AUTO_SOLVER 10^16 N, or ended the run."""
    found = []
    for link in (None, s.PUT_RIGID_LINK, s.DISTANCE):
        model, bodies = door(new_model, contacts, held, link)
        found.append(swung(model, bodies, joints_of(model), solver(), 0.3))
    (alone, without), *linked = found
    assert 0 < without < 1200
    for state, largest in linked:
        assert state == pytest.approx(alone, abs=2e-4)
        assert largest < 1.6 * without


def jointed(one, other, joint, place):
    if joint == "HINGE":
        s.HINGE(one, other, place, (0, 1, 0.2))
    elif joint == "BALL":
        s.BALL(one, other, place)
    else:
        s.PUT_RIGID_LINK(one, other, place, place)


def bars(new_model, contacts, joint, link, support, step):
    """Two bars that tumble about a joint, and meet a ball; links lead from the joint's point on either bar to points of the other one."""
    model, stone = started(new_model, contacts, step)
    one, other = (s.BODY(model, "RIGID", between(*corners), stone) for corners in (((0, 0, 0), (1, 0.2, 0.1)), ((1, 0, 0), (1.6, 0.3, 0.1))))
    s.CONTACT_EXCLUDE_BODIES(one, other)
    place, end, spin = (1, 0.1, 0.05), np.array([0, 0.1, 0.05]), np.array([3.0, 2.0, 1.0])
    jointed(one, other, joint, place)
    if support:
        s.FIX_POINT(one, end.tolist())
    if link:
        link(one, other, place, (1.5, 0.25, 0.08))
        link(one, other, (0.3, 0.15, 0.02), place)
    for body in (one, other):
        s.INITIAL_VELOCITY(body, np.cross(spin, np.array(body.center) - end).tolist(), spin.tolist())
    ball = s.BODY(model, "RIGID", s.SPHERE((1.4, 0.1, 0.6), 0.1, 1, 1), stone)
    s.INITIAL_VELOCITY(ball, (0, 0, -3), (0, 0, 0))
    return model, [one, other, ball]


@by_solver
@pytest.mark.parametrize("support", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("joint", ["HINGE", "BALL", "coupling"])
def test_links_beside_a_joint_that_tumbles_change_nothing(new_model, joint, support, solver):
    """Bars on coupled points and links went out of bounds, or held one another by 10^7 N."""
    found = []
    for link in (None, s.PUT_RIGID_LINK):
        model, bodies = bars(new_model, "CLASSIC", joint, link, support, 2e-3)
        found.append(swung(model, bodies, joints_of(model), solver(), 0.3))
    (alone, without), (state, largest) = found
    assert state == pytest.approx(alone, abs=2e-3)
    assert largest < 1.5 * max(without, 40)


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
def test_links_beside_joints_keep_their_lengths_and_second_order(new_model, contacts):
    """What a link that prescribes velocities leaves of its length is closed at the end of the step; errors fall by a quarter."""
    ends = []
    for step in (4e-3, 2e-3, 1e-3):
        model, bodies = bars(new_model, contacts, "HINGE", s.PUT_RIGID_LINK, True, step)
        s.DELETE(model, bodies.pop())
        s.RUN(model, s.AUTO_SOLVER(1e-12), 0.4)
        first = np.array(s.DISPLACEMENT(bodies[0], (1, 0.1, 0.05))) + (1, 0.1, 0.05)
        second = np.array(s.DISPLACEMENT(bodies[1], (1.5, 0.25, 0.08))) + (1.5, 0.25, 0.08)
        assert np.linalg.norm(second - first) == pytest.approx(np.linalg.norm(np.subtract((1.5, 0.25, 0.08), (1, 0.1, 0.05))), abs=1e-9)
        ends.append(second)
    coarse, fine = np.linalg.norm(ends[0] - ends[1]), np.linalg.norm(ends[1] - ends[2])
    assert 3.5 < coarse / fine < 4.5


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("joint", [s.BALL, lambda one, other, place: s.PUT_RIGID_LINK(one, other, place, place)], ids=["BALL", "coupling"])
@by_solver
def test_links_beside_a_joint_that_is_stopped_keep_their_lengths(new_model, joint, contacts, solver):
    """Points of the joint move in the first step; lengths of its end would contradict the joint once its gap is closed, and made 17 MJ of 37 J in the next step."""
    energies = []
    for linked in (False, True):
        model, stone = started(new_model, contacts, 1e-3)
        one, other = (s.BODY(model, "RIGID", s.BOX((0.5 * k, 0, 0), (0.5, 0.4, 0.4), 1, 1), stone) for k in range(2))
        s.CONTACT_EXCLUDE_BODIES(one, other)
        place = (0.25, 0, 0)
        joint(one, other, place)
        if linked:
            s.PUT_RIGID_LINK(one, other, place, (0.6, 0.1, 0.1))
            s.PUT_RIGID_LINK(one, other, (-0.1, 0.1, 0.1), place)
        s.INITIAL_VELOCITY(one, (0.1, 0, 0), (1, 2, -1.5))
        s.INITIAL_VELOCITY(other, (0.1, 0.75, 1.0), (1, 2, -1.5))
        s.RUN(model, solver(), 0.02)
        energies.append(s.ENERGY(model).kinetic)
    assert energies[1] == pytest.approx(energies[0], rel=1e-4)


@by_solver
def test_a_link_that_holds_nothing_for_a_moment_keeps_its_length(new_model, solver):
    """The bars of a parallelogram pass through one line, where their link looks redundant; closing gaps there turned bars, and made 13 times the energy."""
    model = new_model("DYNAMIC", 1e-3, contacts="CLASSIC")
    wood = s.BULK_MATERIAL(model, density=1000)
    bars = [s.BODY(model, "RIGID", between((x, -0.02, z - 0.02), (x + 0.3, 0.02, z + 0.02)), wood) for x, z in ((0, 0), (1, 0.07))]
    for bar, place in zip(bars, ((0, 0, 0), (1, 0, 0.07))):
        s.HINGE(bar, None, place, (0, 0, 1))
        s.INITIAL_VELOCITY(bar, (0, 0.6, 0), (0, 0, 4))
    s.PUT_RIGID_LINK(*bars, (0.3, 0.02, 0), (1.3, 0.02, 0.07))
    energy = s.ENERGY(model).kinetic
    s.RUN(model, solver(), 1.7)
    assert s.ENERGY(model).kinetic == pytest.approx(energy, rel=1e-4)
    assert [bar.velo[2] for bar in bars] == pytest.approx([4, 4], abs=1e-2)
