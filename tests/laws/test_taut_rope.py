"""Step at which light links under tension begin to swing ever wider, docs/choices.md (How long a step?)."""

import numpy as np
import pytest

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, CONTACT_EXCLUDE_SURFACES, DISTANCE, GRAVITY, INITIAL_VELOCITY, SPHERE

MASS, LENGTH, WEIGHT, BEADS = 0.01, 0.1, 98.1, 10


def swings_wider(new_model, share: float, correction: str) -> bool:
    """Whether beads with alternating 0.1 mm/s, near the mode of the highest frequency 2 √(F/(m l)), reach 1 mm/s in 300 steps of `share` √(m l/F)."""
    model = new_model(step=share * np.sqrt(MASS * LENGTH / WEIGHT))
    model.joint_correction = correction
    CONTACT_EXCLUDE_SURFACES(model, 1, 1)
    GRAVITY(model, (0, 0, -9.81))
    rope = []
    for n in range(1, BEADS + 2):
        mass, radius = (MASS, 0.01) if n <= BEADS else (WEIGHT / 9.81, 0.04)
        bulk = BULK_MATERIAL(model, density=mass / (4 / 3 * np.pi * radius**3))
        bead = BODY(model, "RIGID", SPHERE((0, 0, -LENGTH * n), radius, 1, 1), bulk)
        DISTANCE(bead, rope[-1] if rope else None, (0, 0, -LENGTH * n), (0, 0, -LENGTH * (n - 1)))
        rope.append(bead)
    for n, bead in enumerate(rope[:-1]):
        INITIAL_VELOCITY(bead, (1e-4 * (-1) ** n, 0, 0), (0, 0, 0))
    steps = model.steps(AUTO_SOLVER(1e-9), 300 * model.step)
    return any(max(abs(bead.velo[3]) for bead in rope) > 1e-3 for _ in steps)


@pytest.mark.parametrize("correction", ["ON", "OFF"])
def test_beads_of_a_taut_rope_swing_no_wider_below_the_stated_step_and_do_above_it(new_model, correction):
    assert not swings_wider(new_model, 0.96, correction)
    assert swings_wider(new_model, 1.04, correction)
