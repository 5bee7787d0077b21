"""Random chains of rigid, pseudo-rigid and finite element bodies with joints, motors, limits and ropes move alike in turned and mirrored frames, in other
units, and whatever the order in which bodies and joints are made. None of this depends on formulas of the program."""

import numpy as np
import pytest
from random_scenes import DEFORMABLE, Frame, Scene, random_axes

import solfec as s

KINDS = {"rigid": ("RIGID", "PSEUDO_RIGID"), "elements": ("RIGID", "PSEUDO_RIGID", *DEFORMABLE)}
JOINTS = {
    "rigid": ("HINGE", "HINGE", "SLIDER", "SLIDER", "BALL", "UNIVERSAL", "ROPE", "ROPE", "WELD"),
    "elements": ("BALL", "HINGE", "UNIVERSAL", "WELD", "PUT_RIGID_LINK", "PUT_SPRING"),
}
IMPACT = 5e-5  # accuracy of the places at which fast balls strike, relative; without impacts scenes agree to 1E-12


@pytest.fixture(autouse=True)
def epsilon():
    """Other tests have the usual geometric epsilon."""
    yield
    s.GEOMETRIC_EPSILON(1e-6)


def others(random, scene):
    """Frames and orders in which a scene must move alike."""
    yield {"frame": Frame(random_axes(random), random.normal(size=3))}
    yield {"frame": Frame(np.diag([-1, 1, 1]) @ random_axes(random))}
    yield {"frame": Frame(length=1e3, mass=1e3)}
    yield {"order": random.permutation(len(scene.bodies)), "row_order": random.permutation(len(scene.rows))}


@pytest.mark.filterwarnings("ignore::solfec.errors.SolfecWarning")
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 60))])
def test_chains_move_alike_in_other_frames_units_and_orders(kinds, seed):
    scene = Scene(seed, KINDS[kinds], JOINTS[kinds])
    expected = scene.outcome(s.AUTO_SOLVER(1e-11))
    for other in others(np.random.default_rng(seed), scene):
        np.testing.assert_allclose(scene.outcome(s.AUTO_SOLVER(1e-11), **other), expected, rtol=0, atol=IMPACT * max(1.0, np.abs(expected).max()))
