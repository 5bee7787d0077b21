"""PENALTY_SOLVER in several processes: bodies and reactions have the bits of a serial run, whatever constraints there are."""

import copy

import deformable
import jointed
import pytest
from courses import course, rounded
from test_gathered import door, propped, serial

from solfec.parallel.partition import Balance
from solfec.solvers.penalty import PenaltySolver

MOVING = Balance(1.05, 1.0, 5)  # bodies change owners
SCENES = {
    name: getattr(jointed, name) for name in ("held_to_space", "linked", "chain", "swung", "mechanisms", "wall", "brittle")
} | {"bricks": deformable.bricks, "cubes": deformable.cubes, "door": door, "propped": propped}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in ("held_to_space", "wall", "cubes") else pytest.mark.slow) for name in SCENES])
def test_models_in_parts_have_the_bits_of_a_serial_run(name):
    model = SCENES[name]().model
    model.surface_materials.view("spring")[:] = 1e6
    alone = rounded(serial(copy.deepcopy(model), 20, PenaltySolver(), looks=2), model)
    for size in (1, 3):
        assert rounded(course(copy.deepcopy(model), size, 20, looks=2, make=PenaltySolver, balance=MOVING)[0], model) == alone
