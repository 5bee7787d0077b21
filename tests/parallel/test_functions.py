"""Python functions that steps call, in models that run divided among several owners: the bits are those of one process."""

import copy

import called
import pytest
from courses import NOTHING, OFTEN, contents, course, rounded, solver
from jointed import Scene, X
from processes import spmd
from test_gathered import serial

from solfec import FORCE, PUT_RIGID_LINK, PUT_SPRING
from solfec.divided import Divided
from solfec.errors import SolfecError
from solfec.solvers.auto import AutoSolver
from solfec.solvers.newton import NewtonSolver

pytestmark = pytest.mark.usefixtures("fresh_session")



@pytest.mark.parametrize("size", [3, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 4, 7))])
@pytest.mark.parametrize("name", ["loaded", "sprung"])
def test_forces_springs_and_motors_by_functions_have_the_bits_of_one_process(name, size):
    """Also a motor that keeps a sum from step to step."""
    model = getattr(called, name)().model
    whole, _ = course(copy.deepcopy(model), 1, 30)
    parts, moves = course(copy.deepcopy(model), size, 30, balance=OFTEN)
    assert moves > 0 and parts == whole


@pytest.mark.parametrize("make", [NewtonSolver, pytest.param(AutoSolver, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["loaded", "sprung"])
def test_other_solvers_give_the_bits_of_a_serial_run(name, make):
    model = getattr(called, name)().model
    alone = rounded(serial(copy.deepcopy(model), 20, make()), model)
    parts = rounded(course(copy.deepcopy(model), 3, 20, make=make, balance=OFTEN)[0], model)
    assert [found[:4] for found in parts] == [found[:4] for found in alone]  # residuals of springs that drive obstacles are summed elsewhere


@pytest.mark.parametrize("law", ["EXPLICIT", "IMPLICIT"])
def test_springs_that_only_one_process_solves_for_do_not_keep_it_from_the_others(law):
    """The others once waited for ever: they had no function's spring, and so no part in a sum over all processes."""
    scene = Scene()
    balls = [scene.ball((1.0 * k, 0, 0), velocity=(0.1 * k, 0, 0)) for k in range(8)]
    PUT_SPRING(balls[0], (0, 0, 0), balls[1], (1, 0, 0), lambda s, v: -300 * s - 500 * s**3 - 2 * v, (-3, 3), law=law)
    for one, two in ((2, 3), (4, 5), (6, 7)):
        PUT_RIGID_LINK(balls[one], balls[two], (1.0 * one, 0, 0), (1.0 * two, 0, 0))
    alone = rounded(serial(copy.deepcopy(scene.model), 20, AutoSolver()), scene.model)
    assert rounded(course(scene.model, 3, 20, make=AutoSolver)[0], scene.model) == alone


@pytest.mark.parametrize("size", [1, 2])
def test_a_run_goes_on_when_all_springs_by_functions_are_gone(size):
    """Errors of springs were kept from the step before, also where no springs were left."""
    scene = Scene()
    balls = [scene.ball((0.39 * k, 0, 0)) for k in range(4)]
    for k in (2, 3):
        PUT_SPRING(balls[0], (0, 0, 0), balls[k], (0.39 * k, 0, 0), lambda s, v: -300 * s, (-3, 3))

    def let_go(model, step):
        for constraint in list(model.constraints.view("id")[: model.constraints.user_count]):
            model.joints.delete_constraint(int(constraint))

    found, _ = course(scene.model, size, 4, looks=2, between=let_go)
    assert len(found) == 2


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_functions_of_all_bodies_see_and_change_the_whole_model(size):
    """Before, in the midst of and after the motion; one of them puts a body into the model."""

    def outcome(size):
        scenes = [called.watched() for _ in range(size)]

        def program(world):
            scene = scenes[world.rank]
            run = Divided(scene.model, world, solver(), OFTEN, NOTHING)
            for _ in range(20):
                run.advance()
            run.end()
            return contents(scene.model), scene.seen

        found = spmd(size, program)
        assert all(one == found[0] for one in found)
        return found[0]

    one = outcome(1)
    assert len(one[1]) == 20 and len(one[1][-1][1]) > len(one[1][0][1])
    assert outcome(size) == one


def test_a_function_of_one_body_is_told_that_it_cannot_read_others():
    def program(world):
        scene = Scene()
        balls = [scene.ball((k, 0, 0)) for k in range(4)]
        FORCE(balls[0], "SPATIAL", (0, 0, 0), X, lambda q, u, t, h: [balls[3].center[0] + scene.solfec.time, *[0] * 8])
        Divided(scene.model, world, solver(), OFTEN, NOTHING).advance()

    with pytest.raises(SolfecError, match=r"cannot read or change the model, since bodies may be elsewhere \(HERE\); let it depend on its arguments"):
        spmd(2, program)
