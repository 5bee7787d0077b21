"""PENALTY_SOLVER in several processes: bodies and reactions have the bits of a serial run, whatever constraints there are."""

import copy

import deformable
import jointed
import pytest
from courses import NOTHING, course, rounded
from jointed import Scene, X
from processes import spmd
from test_gathered import door, propped, serial

from solfec import SET_VELOCITY
from solfec.divided import Divided
from solfec.parallel.partition import Balance
from solfec.solvers import diagnosis
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


def told(model, size):
    """What process 0 says of a run of one step that constraints which contradict one another spoil, and contacts of a material without a spring."""

    def program(world):
        run = Divided(copy.deepcopy(model), world, PenaltySolver(), Balance(), NOTHING)
        run.advance()
        said = run.worst() if run.worst else diagnosis.worst_row(run.reported, run.whole.report)
        said = run.whole.report.status, said, diagnosis.contradiction(run.reported)
        run.end()
        return *said, run.solver.told()

    return spmd(size, program)[0]


def test_messages_name_constraints_and_contacts_that_other_processes_have():
    scene = Scene()
    balls = [scene.ball((4.0 * k, 0, 0)) for k in range(8)]
    scene.ball((28.0, 0, 0.399))
    for velocity in (1.0, 2.0):
        SET_VELOCITY(balls[6], (24.0, 0, 0), X, velocity)
    alone, parts = told(scene.model, 1), told(scene.model, 3)
    assert alone[0] == "DIVERGED" and "(VELODIR) of body 7" in alone[1] and "contradict" in alone[2] and "of body 9 and body 8" in alone[3]
    assert parts == alone
