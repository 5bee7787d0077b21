"""Cohesion: what a glued contact carries, in which step it ends, and that it has ended for good; restitution at its ends."""

from __future__ import annotations

import numpy as np
import pytest
from law_rows import SOLVERS, System
from law_scenes import STEP, Model, Snapshot, check_step

from solfec.bodies.table import BodyKind

SOME = ["GS SEMISMOOTH_NEWTON", "GS PROJECTED_GRADIENT", "AUTO AUTO", "NEWTON GMRES"]

def pulled(name, option, force, mu=0.5, glue=40.0, steps=6) -> tuple[Model, int]:
    """A block of 1 kg glued to the floor with `glue` newtons and pulled by `force` beyond its weight."""
    area = 0.2 * 0.1
    weight = 0.2 * 0.1 * 0.05 * 1000.0
    acceleration = np.asarray(force, float) / weight
    model = Model(option, mu, 0.0, glue / area, gravity=acceleration)
    model.domain.settings.symmetric = True
    model.floor()
    block = model.box((0, 0, 0), (0.2, 0.1, 0.05))
    solver = SOLVERS[name](1e-10)
    for _ in range(steps):
        model.domain.advance(solver)
    return model, block


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("force", [(0, 0, 20), (0, 0, 38)], ids=str)
def test_glue_holds_below_its_strength(name, force):
    model, block = pulled(name, "default", force)
    assert np.abs(model.mean_velocity(block)).max() < 1e-7
    table = model.domain.constraints
    assert (table.view("cohesion") > 0).all() and table.view("R")[2].sum() == pytest.approx(-force[2], rel=1e-6)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("option", ["patch", "margin", "margin and patch", "all three"])
@pytest.mark.parametrize("force", [20.0, 38.0])
def test_glue_holds_with_every_option(name, option, force):
    model, block = pulled(name, option, (0, 0, force))
    assert np.abs(model.mean_velocity(block)).max() < 1e-6


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("option", ["default", "patch", "margin", "all three"])
def test_glue_breaks_above_its_strength_in_the_first_step(name, option):
    model, block = pulled(name, option, (0, 0, 44.0), steps=1)
    # the glue acts in full in the step in which it breaks
    assert model.mean_velocity(block)[2] == pytest.approx(4.0 * STEP, rel=1e-2)
    model.domain.advance(SOLVERS[name](1e-10))
    assert not (model.domain.constraints.view("cohesion") > 0).any()
    assert model.mean_velocity(block)[2] == pytest.approx(48.0 * STEP, rel=1e-2)


@pytest.mark.parametrize("option", ["default", "margin", "all three"])
@pytest.mark.parametrize("height", [1e-3, 5e-3])
def test_only_what_touches_at_the_start_is_glued(option, height):
    """A block that lands later can be lifted like any other."""
    model = Model(option, 0.3, 0.0, 1e4, gravity=(0, 0, -10.0))
    model.floor()
    block = model.box((0, 0, height), (0.2, 0.1, 0.05 + height), velocity=(0, 0, -0.5))
    model.advance(SOLVERS["AUTO AUTO"](1e-10), 25, check_step)
    assert model.contacts() and not (model.domain.constraints.view("cohesion") > 0).any()
    model.domain.states.set_velocity(block, (0, 0, 0.1), (0, 0, 0))
    model.advance(SOLVERS["AUTO AUTO"](1e-10), 2, check_step)
    assert model.mean_velocity(block)[2] == pytest.approx(0.1 - 0.02, abs=1e-6)


def particle(mu, glue, b, dynamic=True) -> System:
    system = System(0.5, dynamic)
    system.body(mass=0.5, before=np.zeros(6), free=[0, 0, 0, *b])
    system.body(BodyKind.OBSTACLE)
    system.contact(0, 1, mu=mu, cohesion=glue)
    return system


THRESHOLDS = [
    # mu, b (W = I, glue 1), ends?
    (0.5, (0, 0, 0.5), False),
    (0.5, (0, 0, 0.999), False),
    (0.5, (0, 0, 1.001), True),
    (0.5, (0, 0, 1.0), True),
    (0.5, (0.2, 0, 0.5), False),
    (0.5, (0.2499, 0, 0.5), False),
    (0.5, (0.2501, 0, 0.5), True),
    (0.5, (0, -0.2501, 0.5), True),
    (0.5, (0.99, 0, -1.0), False),
    (0.5, (1.01, 0, -1.0), True),
    (0.0, (0.3, 0, 0.5), False),
    (0.0, (0.3, 0, 1.001), True),
    (0.5, (0.0, 0, -3.0), False),
]


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("mu, b, ends", THRESHOLDS, ids=str)
def test_cohesion_ends_where_the_contact_opens_or_slides(name, mu, b, ends):
    """Theory: it ends when R_N + c = 0, and with friction when |R_T| = mu (R_N + c)."""
    system = particle(mu, 1.0, b)
    report, r, u = system.solve(SOLVERS[name](1e-12))
    assert report.status == "OK"
    assert system.law_violation(r, u) < 1e-9
    lost = system.local.rows.lost[system.local.rows.order[0]]
    assert bool(lost) == ends, (r, u)


@pytest.mark.parametrize("name", ["GS SEMISMOOTH_NEWTON", "AUTO AUTO", "NEWTON GMRES"])
@pytest.mark.parametrize("e", [0.0, 0.25, 1.0])
def test_restitution_gives_back_its_part_and_no_more(name, e):
    model = Model("default", 0.2, e, gravity=(0, 0, 0))
    model.floor()
    ball = model.ball((0, 0, 0.1), 0.1, velocity=(0, 0, -2.0))
    speeds = []
    solver = SOLVERS[name](1e-12)
    for _ in range(6):
        before = Snapshot(model)
        model.domain.advance(solver)
        check_step(before, model)
        speeds.append(model.mean_velocity(ball)[2])
    assert speeds[-1] == pytest.approx(2.0 * e, abs=1e-9)
