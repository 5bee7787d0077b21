"""Random models in which bodies are born and die and constraints come and go, bodies on springs and dashpots, and strained blocks of explicit elements
move alike in turned and mirrored frames, in other units, in other orders, and whether events happen in a callback or between steps."""

import numpy as np
import pytest
from random_events import Comings, Cushions, Strained
from random_scenes import Frame, random_axes

import solfec as s

HITS = 1e-8  # round-off grows where bodies strike one another, and where points that move are suddenly held
FRAMES = ("turned", "mirrored", "units", "small units")


@pytest.fixture(autouse=True)
def epsilon():
    """Other tests have the usual geometric epsilon."""
    yield
    s.GEOMETRIC_EPSILON(1e-6)


def frame_of(name, random):
    axes = random_axes(random)
    return {
        "turned": Frame(axes, random.normal(size=3)), "mirrored": Frame(np.diag([-1, 1, 1]) @ axes),
        "units": Frame(length=1e3, mass=1e3), "small units": Frame(length=1e-3, mass=1e-6, time=1e3),
    }[name]  # fmt: skip


def seeds(fast, all_of_them):
    return [*range(fast), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(fast, all_of_them))]


def alike(found, expected, tolerance=1e-9):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.filterwarnings("ignore::solfec.errors.SolfecWarning")
@pytest.mark.parametrize("seed", seeds(10, 60))
def test_bodies_and_constraints_that_come_and_go(seed):
    scene, random = Comings(seed), np.random.default_rng(seed)
    expected = scene.outcome(Frame())
    for name in FRAMES:
        alike(scene.outcome(frame_of(name, random)), expected, HITS)
    alike(scene.outcome(Frame(), order=random.permutation(len(scene.bodies))), expected, HITS)
    alike(scene.outcome(Frame(), called=True), expected, 0.0)


@pytest.mark.filterwarnings("ignore::solfec.errors.SolfecWarning")
@pytest.mark.parametrize("variant", ["IMPLICIT", "EXPLICIT"])
@pytest.mark.parametrize("seed", seeds(6, 40))
def test_bodies_on_springs_and_dashpots(seed, variant):
    scene, random = Cushions(seed), np.random.default_rng(seed)
    expected = scene.outcome(Frame(), s.PENALTY_SOLVER(variant))
    for name in FRAMES:
        alike(scene.outcome(frame_of(name, random), s.PENALTY_SOLVER(variant)), expected)


@pytest.mark.filterwarnings("ignore::solfec.errors.SolfecWarning")
@pytest.mark.parametrize("seed", seeds(10, 60))
def test_strained_blocks_and_their_steps(seed):
    scene, random = Strained(seed), np.random.default_rng(seed)
    expected = scene.outcome(Frame())
    for name in FRAMES:
        alike(scene.outcome(frame_of(name, random)), expected)
