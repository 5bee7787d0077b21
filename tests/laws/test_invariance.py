"""The outcome does not depend on where a scene stands, how it is turned, on units, on the order or the roles of bodies, on the mass of
what does not move, or on the pieces that faces and bodies are made of."""

from __future__ import annotations

import numpy as np
import pytest
from coulomb import turn
from hypothesis import given
from hypothesis import strategies as st
from law_rows import SOLVERS
from law_scenes import OPTIONS, Model, Placement, check_step
from law_settings import examples

SEEDS = st.integers(0, 10**6)
SOME = ["GS SEMISMOOTH_NEWTON", "AUTO AUTO", "NEWTON GMRES"]


def scene(seed, option, placement=None, order=None, floor_density=1000.0, kind="rigid", mu=None) -> tuple[Model, list[int]]:
    """Three blocks pushed over a floor, one of them onto the next, and a ball; `order`: in which they are made."""
    random = np.random.default_rng(seed)
    mu = float(random.choice([0.0, 0.15, 0.4])) if mu is None else mu
    # the four forces of a patch are not unique, nor is the friction that they allow: with friction, velocities of turning blocks may differ
    mu = 0.0 if "patch" in OPTIONS[option] else mu
    model = Model(option, mu, 0.0, **({} if placement is None else {"placement": placement}))
    sizes = random.uniform(0.15, 0.3, (3, 3))
    speeds = 0.4 * random.normal(size=(4, 3))
    spin = random.normal(size=3)
    x = np.cumsum([0.0, *(sizes[:2, 0] + 0.002)])
    makers = [lambda k=k: model.box((x[k], 0.013 * k, 0), (x[k] + sizes[k, 0], 0.013 * k + sizes[k, 1], sizes[k, 2]), kind, velocity=speeds[k]) for k in range(3)]
    makers.append(lambda: model.ball((-0.1 - 1e-3, 0.08, 0.1), 0.1, velocity=speeds[3] + (0.5, 0, 0), spin=spin))
    makers.append(lambda: model.floor(density=floor_density))
    made = [0] * 5
    for k in order if order is not None else range(4, -1, -1):
        made[k] = makers[k]()
    return model, made[:4]


def outcome(model: Model, bodies, name="AUTO AUTO", steps=12, accuracy=1e-11) -> np.ndarray:
    """Velocities and places of mass centres after some steps, in the scene's own axes and units."""
    model.advance(SOLVERS[name](accuracy), steps)
    return np.array([[*model.mean_velocity(i), *(model.centre(i) if len(model.domain.states.conf(i)) == 12 else ())] for i in bodies])


def agree(one, two, tolerance=1e-6):
    assert np.abs(one[:, :3]).max() > 1e-2  # something moves
    np.testing.assert_allclose(one, two, atol=tolerance)


@pytest.mark.parametrize("option", OPTIONS)
@given(seed=SEEDS)
@examples(3)
def test_turned(option, seed):
    rotation = turn(np.random.default_rng(seed + 1).normal(size=3))
    agree(outcome(*scene(seed, option)), outcome(*scene(seed, option, Placement(rotation, np.zeros(3)))), 2e-6)


@pytest.mark.parametrize("option", OPTIONS)
@given(seed=SEEDS)
@examples(2)
def test_moved_by_a_thousand_kilometres(option, seed):
    """Coordinates there have 1E-10 m to a digit, which over a step is 1E-7 m/s."""
    away = Placement(np.eye(3), np.array([1e6, -1e6, 1e6]))
    agree(outcome(*scene(seed, option)), outcome(*scene(seed, option, away)), 2e-5)


UNITS = {"micrometres": 1e6, "millimetres": 1e3, "kilometres": 1e-3}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("weight", [1.0, 1e-12, 1e6], ids=["kg", "ng", "mg"])
@pytest.mark.parametrize("name", SOME)
@given(seed=SEEDS, option=st.sampled_from(list(OPTIONS)))
@examples(1)
def test_in_other_units(name, weight, units, seed, option):
    """GEOMETRIC_EPSILON in the same ones."""
    other = Placement(np.eye(3), np.zeros(3), UNITS[units], weight)
    agree(outcome(*scene(seed, option, mu=0.0), name), outcome(*scene(seed, option, other, mu=0.0), name), 1e-4 if "NEWTON" in name[:6] else 1e-6)


@pytest.mark.parametrize("option", OPTIONS)
@given(seed=SEEDS, length=st.sampled_from([1e6, 1e-3]), clock=st.sampled_from([1.0, 1e3]), weight=st.sampled_from([1.0, 1e-9]))
@examples(3)
def test_in_other_units_with_friction(option, seed, length, clock, weight):
    other = Placement(np.eye(3), np.zeros(3), length, weight, clock)
    agree(outcome(*scene(seed, option)), outcome(*scene(seed, option, other)), 1e-6)


@pytest.mark.parametrize("option", OPTIONS)
@given(seed=SEEDS, order=st.permutations(range(5)))
@examples(3)
def test_bodies_in_another_order_and_so_other_roles(option, seed, order):
    agree(outcome(*scene(seed, option)), outcome(*scene(seed, option, order=order)), 2e-6)


@pytest.mark.parametrize("name", SOME)
@given(seed=SEEDS, option=st.sampled_from(list(OPTIONS)))
@examples(3)
def test_on_a_heavier_obstacle(name, seed, option):
    accuracy = 1e-6  # that of everyday use: it may not be taken up by what does not move
    expected = outcome(*scene(seed, option), name, accuracy=accuracy)
    for density in (1e-6, 1e9):
        agree(expected, outcome(*scene(seed, option, floor_density=density), name, accuracy=accuracy), 1e-12)


def on_a_belt(name, density) -> np.ndarray:
    """A block dropped on a belt of 1 m/s, with the accuracy of everyday use."""
    model = Model("all three", 0.3)
    belt = model.floor(density=density)
    block = model.box((0, 0, 0), (0.2, 0.2, 0.1))
    model.domain.joints.prescribe_velocity(belt, (0, 0, -0.1), (1, 0, 0), 1.0)
    model.domain.joints.prescribe_velocity(belt, (0, 0, -0.1), (0, 0, 1), 0.0)
    return outcome(model, [block], name, 50, 1e-6)


@pytest.mark.parametrize("name", SOME)
def test_what_drives_an_obstacle_does_not_count(name):
    expected = on_a_belt(name, 1.0)
    for density in (1e3, 1e8):
        np.testing.assert_allclose(on_a_belt(name, density), expected, atol=1e-6)


def tiled(option, pieces, seams=True, bodies=True, mu=0.1, speed=0.8) -> tuple[Model, int]:
    """A block that slides over a floor of `pieces` flush tiles, which are bodies, or convexes of one."""
    model = Model(option, mu)
    model.domain.settings.seams, model.domain.settings.symmetric = seams, True
    edges = np.linspace(-0.1, 0.5, pieces + 1)
    tiles = [model.convex((a, -0.5, -0.1), (b, 0.5, 0)) for a, b in zip(edges, edges[1:])]
    for shape in ([[tile] for tile in tiles] if bodies else [tiles]):
        model.add(shape, "obstacle")
    return model, model.box((-0.04, -0.03, 0), (0.04, 0.03, 0.02), velocity=(speed, 0.2, 0))


@pytest.mark.parametrize("option", ["patch", "margin and patch", "all three"])
@pytest.mark.parametrize("pieces", [3, 6])
@pytest.mark.parametrize("bodies", [True, False], ids=["bodies", "convexes of one body"])
def test_a_floor_cut_into_tiles_slows_a_block_no_more_than_a_whole_one(option, pieces, bodies):
    model, block = tiled(option, 1)
    expected = outcome(model, [block], steps=200)
    model, block = tiled(option, pieces, seams=bodies, bodies=bodies)
    agree(outcome(model, [block], steps=200), expected, 1e-3)
    decelerated = np.hypot(0.8, 0.2) - 0.1 * 10.0 * 0.2
    assert np.hypot(*expected[0, :2]) == pytest.approx(decelerated, abs=2e-3)


@pytest.mark.parametrize("option", ["patch", "margin and patch", "all three"])
@pytest.mark.parametrize("cut", [(0.5,), (0.3, 0.7)])
def test_a_body_cut_into_convexes_rests_and_slides_as_a_whole_one(option, cut):
    found = []
    for places in ((), cut):
        model = Model(option, 0.2)
        model.domain.settings.seams, model.domain.settings.symmetric = False, True
        model.floor()
        edges = 0.2 * np.array([0.0, *places, 1.0])
        block = model.add([model.convex((a, 0, 0), (b, 0.2, 0.04)) for a, b in zip(edges, edges[1:])], velocity=(0.5, 0.1, 0))
        found.append(outcome(model, [block], steps=60))
    agree(found[0], found[1], 1e-4)


@pytest.mark.parametrize("option", OPTIONS)
def test_turned_resting_block_stays_at_rest(option):
    """On a floor of any direction, with its load along that direction."""
    for seed in range(4):
        rotation = turn(np.random.default_rng(seed).normal(size=3))
        model = Model(option, 0.5, placement=Placement(rotation, np.array([3.0, -2.0, 1.0])))
        model.domain.settings.symmetric = True
        model.floor()
        block = model.box((0, 0, 0), (0.3, 0.2, 0.1))
        model.advance(SOLVERS["AUTO AUTO"](1e-12), 5, check_step)
        assert np.abs(model.mean_velocity(block)).max() < 1e-8
