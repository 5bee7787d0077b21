"""Ropes and limits whose motion joints hold already: bodies move as without them, whatever the solver; where joints do not hold it, they do."""

from __future__ import annotations

import numpy as np
import pytest

import solfec as s

by_solver = pytest.mark.parametrize(
    "solver", [s.AUTO_SOLVER, lambda: s.NEWTON_SOLVER(1e-12), lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 1000)], ids=["AUTO", "NEWTON", "GAUSS_SEIDEL"]
)
by_contacts = pytest.mark.parametrize("contacts", ["CLASSIC", pytest.param("MANIFOLD", marks=pytest.mark.slow)])
ROPES = {"from its axis": ((0, 0, 1.0), (0, -1, 1.0)), "to its axis": ((0.5, 0, 0.7), (0, 0, 1.0))}


def between(lower, upper):
    """A box between two corners."""
    return s.BOX(np.mean([lower, upper], axis=0).tolist(), np.subtract(upper, lower).tolist(), 1, 1)


def started(new_model, contacts):
    model = new_model("DYNAMIC", 2e-3, contacts=contacts)
    s.GRAVITY(model, (0, 0, -9.81))
    return model, s.BULK_MATERIAL(model, density=1000)


def swung(model, bodies, solver, duration):
    """Run; return where bodies are and how they move, and the largest reaction of joints on the way."""
    largest = 0.0
    for _ in model.steps(solver, duration):
        assert solver.error == "OK"
        largest = max(largest, *(np.abs(part.R).max() for part in model.constraints if part.kind != "CONTACT"))
    return np.concatenate([np.append(body.conf, body.velo) for body in bodies]), largest


def door(new_model, contacts, held, rope):
    """A door of 80 kg that turns at 3 rad/s, with a rope between a point of its axis and another one."""
    model, wood = started(new_model, contacts)
    leaf = s.BODY(model, "RIGID", between((0, -0.02, 0), (1, 0.02, 2)), wood)
    heights = (0.3, 1.7) if held != "one HINGE" else (1.0,)
    joints = [s.FIX_POINT(leaf, (0, 0, z)) if held == "FIX_POINT" else s.HINGE(leaf, None, (0, 0, z), (0, 0, 1)) for z in heights]
    tied = s.ROPE(leaf, None, *ROPES[rope]) if rope else None
    s.INITIAL_VELOCITY(leaf, (0, 1.5, 0), (0, 0, 3))
    return model, leaf, joints, tied


@by_solver
@by_contacts
@pytest.mark.parametrize("held", ["FIX_POINT", "HINGE", "one HINGE"])
def test_ropes_on_the_axis_of_a_door_change_nothing(new_model, held, contacts, solver):
    """Rates that ropes hold contradicted velocities by terms of second order in the step: 10^14 N, or "not finite any more"."""
    model, leaf, *_ = door(new_model, contacts, held, None)
    alone, without = swung(model, [leaf], solver(), 0.03)
    for rope in ROPES:
        model, leaf, *_ = door(new_model, contacts, held, rope)
        state, largest = swung(model, [leaf], solver(), 0.03)
        assert state == pytest.approx(alone, abs=1e-4)
        assert largest < 1.01 * without


@by_solver
@by_contacts
def test_a_rope_holds_a_door_once_its_joints_are_gone(new_model, contacts, solver):
    model, leaf, joints, rope = door(new_model, contacts, "FIX_POINT", "to its axis")
    s.RUN(model, solver(), 0.02)
    assert rope.tension == 0
    for joint in joints:
        s.DELETE(model, joint)
    end = ROPES["to its axis"]
    length = np.linalg.norm(np.subtract(*end))
    pulled = 0.0
    for _ in model.steps(solver(), 0.1):
        assert np.linalg.norm(np.add(end[0], s.DISPLACEMENT(leaf, end[0])) - end[1]) < length + 1e-4
        pulled = min(pulled, rope.tension)
    assert pulled < -100


def bars(new_model, contacts, joint, more, support):
    """Two bars that tumble about a joint; ropes lead from the joint's point on either bar to points of the other one, or a joint with limits stands beside it."""
    model, stone = started(new_model, contacts)
    one, other = (s.BODY(model, "RIGID", between(*corners), stone) for corners in (((0, 0, 0), (1, 0.2, 0.1)), ((1, 0, 0), (1.6, 0.3, 0.1))))
    s.CONTACT_EXCLUDE_BODIES(one, other)
    place, axis, end, spin = (1, 0.1, 0.05), (0, 1, 0.2), np.array([0, 0.1, 0.05]), np.array([3.0, 2.0, 1.0])
    if joint == "HINGE":
        s.HINGE(one, other, place, axis)
    elif joint == "WELD":
        s.WELD(one, other, place)
    else:
        s.PUT_RIGID_LINK(one, other, place, place)
    if support:
        s.FIX_POINT(one, end.tolist())
    if more == "ropes":
        s.ROPE(one, other, place, (1.5, 0.25, 0.08))
        s.ROPE(one, other, (0.3, 0.15, 0.02), place)
    elif more:
        (s.HINGE if more == "HINGE" else s.SLIDER)(one, other, place, axis, limits=(-1, 0))
    for body in (one, other):
        s.INITIAL_VELOCITY(body, np.cross(spin, np.array(body.center) - end).tolist(), spin.tolist())
    return model, [one, other]


@by_solver
@by_contacts
@pytest.mark.parametrize("support", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("joint, more", [("HINGE", "ropes"), ("coupling", "ropes"), ("WELD", "HINGE"), ("WELD", "SLIDER")])
def test_ropes_and_limits_beside_a_joint_that_tumbles_change_nothing(new_model, joint, more, support, contacts, solver):
    """Bars on coupled points with ropes ended in "not finite any more", or pulled one another by 10^4 N; a limit pushed by 764 N where 19 N act."""
    found = []
    for beside in (None, more):
        model, bodies = bars(new_model, contacts, joint, beside, support)
        found.append(swung(model, bodies, solver(), 0.04))
    (alone, without), (state, largest) = found
    assert state == pytest.approx(alone, abs=1e-5)
    assert largest < 1.01 * without


def pulled_door(new_model, contacts, held, rope=False, link=False, turn=0.3):
    """A door in quasi-statics that 0.3 N, or another force, turn a little, and 10 N pull off its axis."""
    model = new_model("QUASI_STATIC", 0.05, contacts=contacts)
    wood = s.BULK_MATERIAL(model, density=1000)
    leaf = s.BODY(model, "RIGID", between((0, -0.025, 0), (1, 0.025, 1)), wood)
    joints = [s.FIX_POINT(leaf, (0, 0, z)) for z in (0, 1)] if held == "FIX_POINT" else [s.HINGE(leaf, None, (0, 0, 0), (0, 0, 1))]
    tied = s.ROPE(leaf, None, (1, 0, 0.5), (0, 0, 0.5)) if rope else None
    if link:
        s.PUT_RIGID_LINK(leaf, None, (1, 0, 0.5), (0, 0, 0.5))
    s.FORCE(leaf, "CONVECTED", (1, 0, 0.5), (0, 1, 0), turn)
    s.FORCE(leaf, "SPATIAL", (0.5, 0, 0.5), (1, 0, 0), 10.0)
    return model, leaf, joints, tied


@by_solver
@by_contacts
@pytest.mark.parametrize("held", ["FIX_POINT", "HINGE"])
def test_ropes_to_the_axis_of_a_door_change_nothing_in_quasi_statics(new_model, held, contacts, solver):
    """Steps turn points off their axes by terms of second order, which ropes took back: 50 N, where 10 N pull."""
    model, leaf, *_ = pulled_door(new_model, contacts, held, False)
    alone, without = swung(model, [leaf], solver(), 1)
    model, leaf, *_ = pulled_door(new_model, contacts, held, True)
    state, largest = swung(model, [leaf], solver(), 1)
    assert state == pytest.approx(alone, abs=1e-9)
    assert largest < 1.01 * without


@by_solver
def test_a_rope_holds_a_door_in_quasi_statics_once_its_joints_are_gone(new_model, solver):
    model, leaf, joints, rope = pulled_door(new_model, "MANIFOLD", "FIX_POINT", True)
    s.RUN(model, solver(), 0.5)
    assert rope.tension == 0
    for joint in joints:
        s.DELETE(model, joint)
    s.RUN(model, solver(), 0.5)
    assert rope.tension < -5
    assert np.linalg.norm(np.add((1, 0, 0.5), s.DISPLACEMENT(leaf, (1, 0, 0.5))) - (0, 0, 0.5)) < 1 + 1e-4


@by_solver
@by_contacts
@pytest.mark.parametrize("held", ["FIX_POINT", "HINGE"])
def test_links_to_the_axis_of_a_door_push_no_more_than_loads_in_quasi_statics(new_model, held, contacts, solver):
    """Lengths at the end of steps contradicted joints, which hold velocities of their beginning: some kN, where 60 N turn the door."""
    model, leaf, *_ = pulled_door(new_model, contacts, held, turn=60.0)
    _, without = swung(model, [leaf], solver(), 1)
    model, leaf, *_ = pulled_door(new_model, contacts, held, link=True, turn=60.0)
    _, largest = swung(model, [leaf], solver(), 1)
    assert largest < 1.5 * without
    end = np.add((1, 0, 0.5), s.DISPLACEMENT(leaf, (1, 0, 0.5)))
    assert end[0] < 0.995
    assert np.linalg.norm(end - (0, 0, 0.5)) == pytest.approx(1, abs=1e-9)
