"""Constraints of the user in models that run divided among several owners; in threads of one process."""

import copy

import deformable
import jointed
import numpy as np
import pytest
from courses import NOTHING, OFTEN, contents, course, quick, scatter, solver, sweeps
from jointed import Scene, X, Z
from processes import spmd
from unit_cube import block

from solfec import (
    BALL,
    DISTANCE,
    FIX_POINT,
    FORCE,
    HINGE,
    MOTOR,
    PUT_RIGID_LINK,
    PUT_SPRING,
    ROPE,
    SET_ROTATION,
    SET_VELOCITY,
    SLIDER,
    TIME_SERIES,
    divided,
)
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.constraints import joint_starts, user
from solfec.divided import Divided
from solfec.domain import Domain
from solfec.errors import SolfecError
from solfec.kinds import ConstraintKind, Energy
from solfec.parallel import measures
from solfec.parallel.colours import WORD
from solfec.parallel.communicator import Alone
from solfec.parallel.partition import Balance
from solfec.solvers import merit
from solfec.solvers.gauss_seidel import GaussSeidelSolver

pytestmark = pytest.mark.usefixtures("fresh_session")

MODELS = {name: getattr(jointed, name) for name in ("held_to_space", "linked", "chain", "swung", "mechanisms", "wall", "brittle")}


@pytest.mark.parametrize("size", [3, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 4, 7))])
@pytest.mark.parametrize("name", MODELS)
def test_constraints_have_the_bits_of_the_whole(name, size):
    model = MODELS[name]().model
    before = model.constraints.user_count
    whole, _ = course(model, 1, 30, make=quick)
    parts, moves = course(model, size, 30, balance=OFTEN, make=quick)
    assert parts == whole
    assert moves > 0 or name in ("held_to_space", "linked", "swung")
    if name in ("wall", "brittle"):
        for _ in range(30):
            model.advance(quick())
        assert model.constraints.next_id > before + 1  # there were contacts
        assert (model.constraints.user_count < before) == (name == "brittle")


@pytest.mark.parametrize("name", ["wall", pytest.param("mechanisms", marks=pytest.mark.slow), pytest.param("brittle", marks=pytest.mark.slow)])
def test_absurd_divisions_have_the_bits_of_the_whole(name, monkeypatch):
    model = MODELS[name]().model
    whole, _ = course(model, 1, 30, make=quick)
    scatter(monkeypatch)
    assert course(model, 3, 30, make=quick)[0] == whole


def test_what_callbacks_do_to_constraints_reaches_all_parts():
    model = jointed.mechanisms().model
    hinges = sorted(set(model.constraints.view("joint")[: model.constraints.user_count].tolist()) - {0})

    def change(whole, step):
        bodies, joints = whole.bodies.view("id"), whole.joints
        if step == 9:
            joints.delete_constraint(hinges[0])
            whole.constraints.drive[1, joints.rows_of(hinges[1])] = 50.0
            joints.fix_point(int(bodies[0]), (0.0, 0.0, 0.1), strength=4000.0)
            joints.rigid_link(int(bodies[1]), int(bodies[12]), (2.0, 0.0, 0.1), (4.5, 0.0, 0.4))
        elif step == 19:
            whole.delete_body(int(bodies[14]))  # with its hinge, and the gear
        else:
            whole.states.set_velocity(int(bodies[3]), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))

    assert course(model, 3, 30, between=change)[0] == course(model, 1, 30, between=change)[0]


def test_a_stopped_joint_stops_links_of_the_same_obstacle_in_all_parts():
    scene = Scene()
    beam = scene.box((5, 0, 1), (10, 1, 0.1), kind="OBSTACLE")
    BALL(scene.box((0, 0, 0.4), velocity=(0, 1, 0), spin=(1, 0, 0)), beam, (0, 0, 0.9))
    DISTANCE(scene.box((10, 0, 0), velocity=(0, 2, 0)), beam, (10, 0, 0), (10, 0, 0.9))
    whole, _ = course(scene.model, 1, 4, looks=1)
    assert course(scene.model, 2, 4, looks=1)[0] == whole


def test_impacts_pass_through_reactions_of_this_step_alone(monkeypatch):
    """The rope is slack when the ball strikes; a part that moves neither of its ends has its old reaction."""
    monkeypatch.setattr(divided, "REACH", 50.0)  # all bodies are in all parts
    scene = Scene()
    one, two, three = (scene.box((k, 0, 0)) for k in (0, 1, 2))
    scene.ball((0, 0.46, 0), velocity=(0, -2, 0))
    for k in range(3):
        scene.box((4 + k, 0, 0))
    ROPE(one, two, (0.2, 0, 0), (0.8, 0, 0))
    BALL(two, three, (1.5, 0, 0))
    FORCE(one, "SPATIAL", (0, 0, 0), X, TIME_SERIES([0, -500, 0.01, -500, 0.011, 2000]))
    model = scene.model
    for _ in range(5):
        model.advance(solver())
    rope = model.constraints.kind[: model.constraints.user_count] == ConstraintKind.SPAN
    assert abs(model.constraints.R[2, : rope.size][rope][0]) > 100
    never = Balance(1e9, 1.0, 1000)  # bodies keep their owners
    assert course(model, 2, 20, looks=1, balance=never)[0] == course(model, 1, 20, looks=1)[0]


@pytest.mark.parametrize("hung", [False, True])
def test_parts_look_for_struck_joints_if_moving_bodies_have_some(monkeypatch, hung):
    """Impacts do not pass through obstacles: a table that turns as prescribed has joints that none can reach."""
    looked = []
    monkeypatch.setattr(joint_starts, "note_impacts", lambda *given: looked.append(given))
    scene = Scene()
    SET_ROTATION(scene.box((0, 0, 0), (4, 4, 0.2), kind="OBSTACLE"), (0, 0, 0), Z, 2.0)
    ball = scene.ball((1, 0, 0.5), velocity=(0, 0, -1))
    scene.ball((-1, 0, 0.5), velocity=(0, 0, -1))
    if hung:
        FIX_POINT(ball, (1, 0, 0.5))
    course(scene.model, 2, 3)
    assert bool(looked) == hung


def test_redundant_joints_that_tumble_move_alike_though_some_parts_have_none(monkeypatch):
    """Bodies go to parts by hashes: with seven parts most have no joint, and some no body."""
    scene = Scene(step=1e-3)
    one = scene.box((0, 0, 0), velocity=(0.1, 0, 0), spin=(1, 2, -1.5))
    other = scene.box((0.5, 0, 0), velocity=(0.1, 0.75, 1.0), spin=(1, 2, -1.5))
    for height in (-0.1, 0.1):
        HINGE(one, other, (0.25, 0, height), Z)
    model = scene.model
    whole, _ = course(model, 1, 20)
    scatter(monkeypatch)
    assert [course(model, size, 20)[0] == whole for size in (2, 3, 7)] == [True] * 3


@pytest.mark.parametrize("coupled", [False, True], ids=["hinged", "coupled"])
def test_links_beside_joints_prescribe_velocities_in_all_parts(monkeypatch, coupled):
    """Whether joints are redundant, and whether gaps are closed for the sake of links, is that of the whole model."""
    scene = Scene(step=1e-3)
    half, place = (0.25, 0.2, 0.2), (0.25, 0, 0)
    one = scene.box((0, 0, 0), half, velocity=(0.1, 0, 0), spin=(1, 2, -1.5))
    other = scene.box((0.5, 0, 0), half, velocity=(0.1, 0.75, 1.0), spin=(1, 2, -1.5))
    scene.box((0.5, 0.1, 3))
    if coupled:
        PUT_RIGID_LINK(one, other, place, place)
    else:
        HINGE(one, other, place, Z)
    PUT_RIGID_LINK(one, other, place, (0.6, 0.1, 0.1))
    PUT_RIGID_LINK(one, other, (-0.1, 0.1, 0.1), place)
    whole, _ = course(scene.model, 1, 20)
    scatter(monkeypatch)
    assert [course(scene.model, size, 20)[0] == whole for size in (2, 3, 7)] == [True] * 3


def test_ropes_beside_joints_do_nothing_in_all_parts(monkeypatch):
    """Which limits joints hold is found from the joints of the whole model."""
    scene = Scene(step=1e-3)
    half, place = (0.25, 0.2, 0.2), (0.25, 0, 0)
    one = scene.box((0, 0, 0), half, velocity=(0.1, 0, 0), spin=(1, 2, -1.5))
    other = scene.box((0.5, 0, 0), half, velocity=(0.1, -0.75, -1.0), spin=(1, 2, -1.5))
    scene.box((0.5, 0.1, 3))
    BALL(one, other, place)
    for ends in ((place, (0.6, 0.1, 0.1)), ((-0.1, 0.1, 0.1), place), ((0, 0.2, 0), (0.5, 0.2, 0))):
        ROPE(one, other, *ends)
    scatter(monkeypatch)
    parts = [course(scene.model, size, 20)[0] for size in (2, 7)]
    assert [course(scene.model, 1, 20)[0] == part for part in parts] == [True] * 2
    scene.model.advance(quick())
    held = scene.model.constraints.held[: scene.model.constraints.user_count]
    assert held.tolist() == [0, 1, 1, 0]


def test_motors_along_axes_of_soft_arms_that_turn_have_the_bits_of_the_whole(monkeypatch):
    """The law takes the angular velocity of the element that carries the axis, of which a process may have a copy."""
    scene = deformable.Soft(step=1e-3)
    for k in range(3):
        rate = 5.0 + k
        arm = scene.mesh((-0.5, 2 * k - 0.05, -0.05), (1, 0.1, 0.1), spin=(0, 0, rate))
        bead = scene.box((0.2, 2 * k, 0), (0.05, 0.05, 0.05), velocity=(0, 0.2 * rate, 0), spin=(0, 0, rate))
        HINGE(arm, None, (0, 2 * k, 0), Z)
        MOTOR(SLIDER(bead, arm, (0.2, 2 * k, 0), X), "RATE", 1.0)
    whole, _ = course(scene.model, 1, 15, make=quick)
    scatter(monkeypatch)
    assert [course(scene.model, size, 15, make=quick)[0] == whole for size in (2, 3)] == [True, True]


def test_obstacles_that_are_driven_upon_bodies_have_the_bits_of_the_whole():
    """Contacts take their velocity at the end of the step, which one process computes and all need."""
    scene = Scene(contacts="MANIFOLD")
    scene.box((0, 0, -1), (9, 9, 1), kind="OBSTACLE")
    wall, paddle = scene.box((-1, 0, 0.5), (0.5, 2, 0.4), kind="OBSTACLE"), scene.box((6, 0, 0.5), (1, 0.1, 0.4), kind="OBSTACLE")
    for point in ((-1, 0, 0.5), (-1, 1, 0.5), (-1, 0, 0.8)):
        SET_VELOCITY(wall, point, X, TIME_SERIES([0, 0, 0.009, 0, 0.01, 5, 1, 5]))
    SET_ROTATION(paddle, (6, 0, 0), Z, 4.0)
    for k in range(8):
        scene.box((-0.28 + 0.45 * k, 0.02 * k, 0.2))
    scene.box((6.7, 0.31, 0.2))
    model = scene.model
    whole, _ = course(model, 1, 20, make=quick)
    assert [course(model, size, 20, balance=OFTEN, make=quick)[0] == whole for size in (2, 3)] == [True, True]
    for _ in range(20):
        model.advance(quick())
    velocities = [model.states.velo(body)[3:] for body in model.bodies.id[3 : model.bodies.n]]
    assert velocities[0][0] > 4.0 and velocities[-1][1] > 2.0  # wall and paddle have met them


def test_rigid_bodies_that_are_driven_upon_others_have_the_bits_of_the_whole(monkeypatch):
    """All processes that hold a ram need the way that it is driven in its first step."""
    scene = Scene(contacts="MANIFOLD")
    scene.box((0, 0, -1), (9, 9, 1), kind="OBSTACLE")
    for k in range(3):
        ram = scene.box((k, 0, 0.2))
        for point in ((k, 0, 0.2), (k, 0.1, 0.2), (k, 0, 0.3)):
            SET_VELOCITY(ram, point, X, TIME_SERIES([0, 0, 0.009, 0, 0.01, 10, 1, 10]))
        scene.box((k + 0.417, 0.02 * k, 0.2))
    model = scene.model
    whole, _ = course(model, 1, 12, make=quick)
    scatter(monkeypatch)
    assert [course(model, size, 12, balance=OFTEN, make=quick)[0] == whole for size in (2, 3)] == [True, True]
    for _ in range(8):
        model.advance(quick())
    rams, blocks = ([model.states.velo(body)[3] for body in model.bodies.id[first : model.bodies.n : 2]] for first in (1, 2))
    assert min(rams) > 9.0 and min(blocks) > 9.0  # they have met, and move on together


def test_the_sweeps_may_go_backwards_and_end_by_the_merit():
    def make():
        chosen = solver(meritval=1e-8)
        chosen.reverse = True
        return chosen

    model = jointed.held_to_space().model
    assert course(model, 3, 10, make=make)[0] == course(model, 1, 10, make=make)[0]


def test_corrected_joints_close_in_all_parts():
    model = jointed.mechanisms().model
    model.joint_correction = True

    def displace(whole, step):
        """The correction then moves the body, and what is joined to it, far in one step."""
        if step == 9:
            whole.bodies.configurations.conf[:, whole.bodies.conf_ptr[17] + 3] += (0.2, -0.1, 0.0)

    whole, _ = course(model, 1, 20, between=displace, make=quick)
    parts, moves = course(model, 3, 20, between=displace, make=quick)
    assert parts == whole and moves > 3
    run = Divided(model, Alone(), quick(), Balance(), NOTHING)
    for _ in range(10):
        run.advance()
    with user.present(model.constraints, model.bodies, model.time):
        held = np.isin(model.constraints.kind[: model.constraints.user_count], [ConstraintKind.FIXPNT, ConstraintKind.RIGLNK])
        apart = model.constraints.point[:, : held.size] - model.constraints.other_point[:, : held.size]
        assert np.abs(np.linalg.norm(apart, axis=0) - model.constraints.length[: held.size])[held].max() < 1e-6


def test_joints_that_are_not_corrected_are_named():
    model = jointed.linked().model
    model.joint_correction = True
    copies = [copy.deepcopy(model) for _ in range(2)]
    spmd(2, lambda world: Divided(copies[world.rank], world, solver(), Balance(), NOTHING).advance())
    assert all("fixed directions between two bodies (constraint 12)" in one.uncorrected.told() for one in copies)


def far_from_rest():
    """A pendulum, a chain and a coupled pair, all of one model."""
    scene = Scene(2e-3)
    BALL(scene.box((-3, 0, 0), (0.4, 0.1, 0.1), velocity=(0, 0, 1.0), spin=(0, -2.5, 0)), None, (-3.4, 0, 0))
    above = None
    for k in range(4):
        box = scene.box((0.5 + k, 0, 0), (0.4, 0.1, 0.1))
        BALL(box, above, (k, 0, 0))
        above = box
    one, two = scene.ball((-1, 3, 0)), scene.ball((6, 3, 0), velocity=(0, 2, 0))
    PUT_SPRING(one, (-1, 3, 0), two, (6, 3, 0), [-1, 500, 1, -500], (-9, 9), law="IMPLICIT")
    return scene.model


def test_divided_models_follow_the_serial_run_and_keep_their_energy():
    """The one sweeps by colours, the other as constraints were created: the same motion to accuracy."""
    model = far_from_rest()
    serial, start = copy.deepcopy(model), model.energy()
    exact = GaussSeidelSolver(1e-11, 20000)
    for _ in range(25):
        serial.advance(exact)

    def make():
        return sweeps(1e-11, 20000)

    copies = [copy.deepcopy(model) for _ in range(3)]

    def program(world):
        run = Divided(copies[world.rank], world, make(), Balance(), NOTHING)
        for _ in range(25):
            run.advance()
        run.end()
        return run.part.own.size

    assert min(spmd(3, program)) > 0
    for table, column in (("configurations", "conf"), ("triples", "velo")):
        found, expected = (getattr(one.bodies, table).view(column) for one in (copies[0], serial))
        assert np.abs(found - expected).max() < 1e-7
    last = copies[0].energy()
    gained = last - start  # the spring keeps a little
    assert abs(gained[Energy.KINETIC] - gained[Energy.EXTERNAL]) < 0.01 * last[Energy.KINETIC]
    assert gained[Energy.EXTERNAL] > 0.1 * last[Energy.KINETIC]


def test_merit_and_residual_are_those_of_the_whole():
    model = jointed.held_to_space().model
    run = Divided(model, Alone(), solver(), Balance(), NOTHING)
    for _ in range(20):
        run.advance()
        assert (model.report.merit, model.report.residual) == pytest.approx(merit.evaluate(model.local_dynamics), rel=1e-9)


@pytest.mark.parametrize("driven", [False, True])
def test_reactions_where_nothing_is_asked_have_the_errors_of_a_serial_run(driven):
    domain = Domain(0.1)
    body = domain.insert_body(BodyKind.RIGID, [block((1, 1, 1), (1, 1, 1))], BulkMaterial(density=1000.0))
    for place in ((0, 0, 0), (1, 0, 0), (0, 1, 0)):
        domain.joints.fix_point(body, place)
    domain.advance(GaussSeidelSolver(1e-6, 100))
    local = domain.local_dynamics
    local.rows.R[:, :3], local.rows.U[:, :3] = np.arange(9.0).reshape(3, 3), 1e-3
    found = measures.measured(local, np.arange(3), driven, False, Alone())
    assert not local.rows.B[:, :3].any()
    assert found == pytest.approx(merit.evaluate(local), rel=1e-12)
    assert 0 < found[1] < 10


@pytest.mark.parametrize("kind", ["OBSTACLE", "RIGID"])
def test_a_body_may_carry_more_constraints_than_a_word_has_colours(kind):
    scene = Scene()
    beam = scene.box((0, 0, 2), (20, 20, 0.2), kind=kind)
    FIX_POINT(beam, (0, 0, 2))
    for k in range(WORD + 9):
        at = (k % 9 - 4.0, k // 9 - 4.0, 0.0)
        PUT_SPRING(scene.ball(at, velocity=(0, 0.1 * k, 0)), at, beam, (at[0], at[1], 1.8), [-1, 2000, 1, -2000], (-1, 1))
    whole, _ = course(scene.model, 1, 5, looks=5)
    assert course(scene.model, 2, 5, looks=5)[0] == whole


def test_obstacles_move_in_the_whole_model():
    scene = Scene()
    ball, plate = scene.ball((0, 0, 0.41)), scene.box((0, 0, 0), (2, 2, 0.2), kind="OBSTACLE")
    FIX_POINT(ball, (0, 0, 0.41))
    model = scene.model
    model.states.set_velocity(plate._id, (0.5, 0, -1), (0, 0, 0))
    whole, _ = course(model, 1, 20)
    assert course(model, 2, 20)[0] == whole
    for _ in range(20):
        model.advance(solver())
    assert contents(model)[0][3] == whole[-1][0][3] and model.bodies.configurations.conf[0, 7] == pytest.approx(0.02)


def test_constraints_that_contradict_one_another_are_named_once():
    scene = Scene()
    boxes = [scene.box((2 * k, 0, 0)) for k in range(6)]
    for k, box in enumerate(boxes):
        FIX_POINT(box, (2 * k, 0, 0))
    SET_VELOCITY(boxes[5], (10, 0, 0), X, 1.0)
    copies, said = [copy.deepcopy(scene.model) for _ in range(3)], [[], [], []]

    def program(world):
        made = solver()
        made.notify = said[world.rank].append
        run = Divided(copies[world.rank], world, made, Balance(), NOTHING)
        for _ in range(3):
            run.advance()

    spmd(3, program)
    assert all(texts == said[0] for texts in said) and len(said[0]) == 1
    assert "body 6" in said[0][0] and "contradict one another" in said[0][0]


def test_broken_joints_let_go_of_copies():
    scene = Scene()
    one, two = scene.box((0, 0, 0)), scene.box((30, 0, 0))
    PUT_RIGID_LINK(one, two, (0, 0, 0), (30, 0, 0), strength=10)
    for k in range(3):
        scene.box((5 * k, 9, 0))
    scene.model.states.set_velocity(two._id, (5, 0, 0), (0, 0, 0))
    copies = [copy.deepcopy(scene.model) for _ in range(2)]

    def program(world):
        run = Divided(copies[world.rank], world, solver(), OFTEN, NOTHING)
        held = [int(np.isin([one._id, two._id], run.part.model.bodies.view("id")).sum())]
        for _ in range(20):
            run.advance()
        return [*held, int(np.isin([one._id, two._id], run.part.model.bodies.view("id")).sum())]

    assert spmd(2, program) == [[2, 1], [2, 1]]


def test_a_joint_that_differs_in_one_process_is_told():
    models = [jointed.mechanisms().model for _ in range(2)]
    row = int(np.flatnonzero(models[1].constraints.view("kind") == ConstraintKind.TORSIONAL)[0])
    models[1].constraints.drive[0, row] += 0.5
    with pytest.raises(SolfecError, match="they differ in constraints;"):
        spmd(2, lambda world: Divided(models[world.rank], world, quick(), OFTEN, NOTHING))
