"""Solvers that need all constraints in one process: what several processes compute has the bits of a serial run."""

import copy
from functools import partial

import jointed
import numpy as np
import pytest
from courses import NOTHING, contents, course, rounded, sweeps
from jointed import Scene, X, Z
from processes import spmd
from test_divided import crowd

from solfec import DISTANCE, EXTENTS, FIX_POINT, HINGE, PUT_SPRING, SET_VELOCITY
from solfec.divided import Divided
from solfec.parallel.communicator import Alone
from solfec.parallel.partition import Balance
from solfec.solvers import merit
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.penalty import PenaltySolver
from solfec.solvers.unsolved import UnsolvedSteps

MOVING = Balance(1.05, 1.0, 5)  # bodies change owners


def serial(model, steps, solver, looks=10):
    """Contents of a model after every `looks` steps of a serial run."""
    found = []
    for step in range(steps):
        model.advance(solver)
        if (step + 1) % looks == 0:
            found.append(contents(model))
    return found


def door():
    """A door on two hinges and a latch, of which only some are needed, beside a heap; one hinge of a second door breaks."""
    scene = Scene()
    door, other = scene.box((0.5, 0, 0), (0.5, 0.05, 1.0)), scene.box((3.5, 0, 0), (0.5, 0.05, 1.0))
    frame = scene.box((1.2, 0, 0), (0.1, 0.1, 1.0), spin=(0, 0, 0.2))
    for height in (-0.7, 0.8):
        HINGE(door, None, (0, 0, height), Z)
        HINGE(other, None, (3, 0, height), Z, strength=4500 if height > 0 else np.inf)
    HINGE(frame, door, (1.1, 0, 0.5), Z)
    HINGE(frame, door, (1.1, 0, -0.5), Z)
    scene.box((2, 0, -2), (3, 2, 0.5), kind="OBSTACLE")
    for k in range(6):
        scene.ball((0.5 * k, 0.3 + 0.03 * k, -1.2), velocity=(1, -2, 0))
    return scene


def propped():
    """Doors on a hinge and on a rod along its axis, which hold their weight together, beside balls that fly by."""
    scene = Scene()
    for k in range(4):
        door = scene.box((3 * k + 0.5, 0, 0), (0.5, 0.05, 1.0), spin=(0, 0, k))
        HINGE(door, None, (3 * k, 0, 0.8), Z)
        DISTANCE(door, None, (3 * k, 0, -1), (3 * k, 0, -3))
        for i in range(3):
            scene.ball((3 * k + 0.8 * i, 2, 0), velocity=(40 - 30 * k, 0, 0))
    return scene


def rolling():
    """Spheres that fly through one another's regions and roll."""
    model = crowd()
    model.surface_materials.rolling_length[0], model.surface_materials.spinning_length[0] = 0.01, 0.02
    return model


SCENES = {
    "crowd": crowd, "rolling": rolling, "door": lambda: door().model, "wall": lambda: jointed.wall().model, "chain": lambda: jointed.chain().model,
    "mechanisms": lambda: jointed.mechanisms().model, "brittle": lambda: jointed.brittle().model, "held_to_space": lambda: jointed.held_to_space().model,
    "linked": lambda: jointed.linked().model, "propped": lambda: propped().model,
}  # fmt: skip


def by_keys():
    return sweeps(1e-6, 200, "OFF")


def by_colours():
    return sweeps(1e-8, 2000)


def accelerated():
    solver = AcceleratedGaussSeidel(1e-6, 200)
    solver.anderson = solver.islands = True
    return solver


@pytest.mark.parametrize(
    ("scene", "size", "make"),
    [
        ("crowd", 3, AutoSolver), ("rolling", 2, AutoSolver), ("door", 3, AutoSolver), ("mechanisms", 2, AutoSolver), ("brittle", 2, NewtonSolver), ("wall", 2, NewtonSolver),
        ("linked", 2, by_keys), ("crowd", 2, accelerated), ("propped", 2, AutoSolver),
        *(pytest.param(scene, size, make, marks=pytest.mark.slow) for scene in SCENES for size in (2, 3, 4, 7)
          for make in (AutoSolver, NewtonSolver, by_keys, accelerated) if scene != "rolling" or make is not NewtonSolver),
    ],
)  # fmt: skip
def test_solvers_of_the_whole_give_the_bits_of_a_serial_run(scene, size, make):
    model = SCENES[scene]()
    alone = serial(copy.deepcopy(model), 20, make())
    assert "residual" in alone[-1][3] and model.constraints.n + len(alone[-1][1])
    parts, moves = course(model, size, 20, make=make, balance=MOVING)
    assert moves >= size and rounded(parts, model) == rounded(alone, model)
    if make is AutoSolver:
        assert course(model, 1, 20, make=make)[0] == parts


@pytest.mark.parametrize("make", [by_colours, PenaltySolver])
def test_redundant_joints_have_the_same_shares_in_any_number_of_processes(make):
    model = door().model
    model.surface_materials.spring[0] = 1e6
    whole, _ = course(model, 1 if make is by_colours else 2, 20, make=make)
    assert course(model, 3, 20, make=make, balance=MOVING)[0] == whole


def test_sweeps_by_colours_solve_rolling_friction():
    """All processes as one, with the same bits, and that one as a serial run by keys."""

    def make(colouring="ON", accuracy=1e-10):
        return sweeps(accuracy, 2000, colouring)

    model, roughly = rolling(), partial(make, accuracy=1e-3)
    whole, _ = course(model, 1, 20, make=roughly)
    assert course(model, 2, 20, make=roughly, balance=MOVING)[0] == whole
    alone = copy.deepcopy(model)
    serial(alone, 9, make("OFF"))
    run = Divided(model, Alone(), make(), Balance(), NOTHING)
    for _ in range(9):  # later, impacts on several contacts have more than one solution
        run.advance()
    moment = np.abs(alone.constraints.moment[:, : alone.constraints.n])
    assert moment.max() > 1.0 and model.local_dynamics.n > model.constraints.n
    assert model.constraints.moment[:, : model.constraints.n] == pytest.approx(alone.constraints.moment[:, : alone.constraints.n], abs=1e-7 * moment.max())
    assert model.report.residual == pytest.approx(merit.evaluate(model.local_dynamics)[1], rel=1e-6, abs=1e-14)
    assert (model.contact_energy, model.friction_energy) == pytest.approx((alone.contact_energy, alone.friction_energy), rel=1e-9)


def many_heaps():
    """Heaps apart from one another, of which some lie across regions, and a chain with a spring between them."""
    scene = Scene()
    scene.box((6, 0, -0.5), (8, 4, 0.5), kind="OBSTACLE")
    for heap in range(7):
        for k in range(4):
            scene.ball((1.7 * heap + 0.25 * (k % 2), 0.26 * (k // 2), 0.2 + 0.3 * (k % 3)), velocity=(0, 0.2 * heap, -1))
    boxes = [scene.box((1.5 * k, 3, 0.6), (0.5, 0.1, 0.1)) for k in range(8)]
    for one, two in zip(boxes, boxes[1:]):
        PUT_SPRING(one, tuple(one.center), two, tuple(two.center), [-1, 500, 1, -500], (-1, 1), dashpot=2, law="IMPLICIT")
    return scene.model


def found(solver: AutoSolver) -> tuple:
    """What users read of the last solution."""
    return solver.error, solver.iters, solver.methods, solver.iterations, solver.islands


def test_processes_solve_islands_of_their_own():
    model = many_heaps()
    alone, solver = copy.deepcopy(model), AutoSolver()
    serial_run = serial(alone, 30, solver)
    parts, _ = course(model, 3, 30, make=AutoSolver, balance=MOVING)
    assert rounded(parts, model) == rounded(serial_run, model)
    copies = [copy.deepcopy(model) for _ in range(3)]

    def program(world):
        made = AutoSolver()
        run = Divided(copies[world.rank], world, made, MOVING, NOTHING)
        for _ in range(30):
            run.advance()
        return run._solver._islands.rows.n, found(made)

    rows, outcomes = zip(*spmd(3, program))
    assert sum(rows) == alone.local_dynamics.n and min(rows) > 5
    assert outcomes[0] == outcomes[1] == outcomes[2] == found(solver) and solver.islands > 6


def towers():
    """Towers apart from one another, near enough for processes to have copies of whole ones; tops hang on joints, and a ball rolls on each."""
    scene = Scene()
    scene.box((6, 0, -0.5), (8, 4, 0.5), kind="OBSTACLE")
    for tower in range(6):
        x = 0.45 * tower
        boxes = [scene.box((x, 0, 0.2 + 0.401 * k), (0.2, 0.2, 0.2), velocity=(0.1 * tower, 0.2, 0)) for k in range(3)]
        HINGE(boxes[2], boxes[1], (x, 0.2, 0.8), Z)
        scene.ball((x + 0.02, 0, 1.31), velocity=(0, 0, -1))
    return scene.model


def test_islands_that_no_process_shares_are_solved_where_they_are():
    model = towers()
    model.surface_materials.rolling_length[0] = 0.01
    alone, solver = copy.deepcopy(model), AutoSolver()
    serial_run = serial(alone, 30, solver)
    assert rounded(course(model, 3, 30, make=AutoSolver)[0], model) == rounded(serial_run, model)
    copies = [copy.deepcopy(model) for _ in range(3)]

    def program(world):
        made = AutoSolver()
        run = Divided(copies[world.rank], world, made, Balance(), NOTHING)
        for _ in range(30):
            run.advance()
        return run._solver._islands.rows.n, run._solver.counted.size, run.part.model.local_dynamics.n, found(made)

    travelled, counted, present, outcomes = zip(*spmd(3, program))
    assert travelled == (0, 0, 0) and sum(counted) == alone.local_dynamics.n < sum(present)
    assert outcomes[0] == outcomes[1] == outcomes[2] and outcomes[0][:2] == found(solver)[:2]


def test_steps_that_need_sweeps_are_swept_in_one_process():
    """Springs whose force grows with the velocity cannot be replaced by joints: the step is swept as a whole."""
    scene = Scene()
    boxes = [scene.box((1.5 * k, 0, 1), velocity=(0.3 * k, 0, 0)) for k in range(6)]
    for one, two in zip(boxes, boxes[1:]):
        PUT_SPRING(one, tuple(one.center), two, tuple(two.center), [-1, -4e6, 1, 4e6], (-1, 1), law="IMPLICIT")
    alone, solver = copy.deepcopy(scene.model), AutoSolver()
    expected = serial(alone, 6, solver, looks=2)
    assert solver.methods == {"GAUSS_SEIDEL": 1}
    parts, _ = course(scene.model, 2, 6, looks=2, make=AutoSolver)
    assert rounded(parts, scene.model) == rounded(expected, scene.model)


def test_any_row_of_a_step_that_is_not_solved_has_its_name():
    scene = Scene()
    boxes = [scene.box((2 * k, 0, 0)) for k in range(6)]
    for k, box in enumerate(boxes):
        FIX_POINT(box, (2 * k, 0, 0))
    SET_VELOCITY(boxes[5], (10, 0, 0), (1, 0, 0), 1.0)
    copies = [copy.deepcopy(scene.model) for _ in range(3)]

    def fault(world):
        run, said = Divided(copies[world.rank], world, AutoSolver(), Balance(), NOTHING), []
        unsolved = UnsolvedSteps(said.append, True)
        run.advance()
        unsolved.after_step(run.model, run.reported)
        return said

    assert spmd(3, fault)[0] == ["AUTO_SOLVER: constraint 6 (FIXPNT) of body 6 and constraint 7 (VELODIR) of body 6 contradict one another"]


def test_a_model_without_bodies_takes_steps_in_several_processes():
    """Bodies may be born in a later RUN."""
    copies = [copy.deepcopy(Scene().model) for _ in range(3)]

    def steps(world):
        run = Divided(copies[world.rank], world, AutoSolver(), Balance(), NOTHING)
        for _ in range(3):
            run.advance()
        return copies[world.rank].step_number

    assert spmd(3, steps) == [3, 3, 3]


def falling_beside_rows(count):
    """Copies of a model whose stack has all constraints, and whose balls, which fall freely, make the part of process 0."""
    scene = Scene()
    scene.box((6, 0, -0.5), (3, 3, 0.5), kind="OBSTACLE")
    for k in range(4):
        scene.ball((-3 * k, 0, 5))
        scene.box((5 + 0.3 * k, 0.05 * k, 0.2 + 0.39 * k), velocity=(0, 0, -1))
    return [copy.deepcopy(scene.model) for _ in range(count)]


def test_steps_that_are_not_solved_count_where_process_0_has_no_rows():
    """All processes name the row that is worst."""
    copies = falling_beside_rows(2)

    def told(world):
        solver, said, rows = sweeps(1e-16, 1), [], 0
        run, unsolved = Divided(copies[world.rank], world, solver, Balance(), NOTHING), UnsolvedSteps(said.append)
        for _ in range(3):
            run.advance()
            rows += run.reported.n
            unsolved.after_step(run.model, run.reported, run.worst)
        unsolved.end("GAUSS_SEIDEL", 3)
        return rows, said

    (none, one), (some, other) = spmd(2, told)
    assert none == 0 < some and one == other and "in 3 of 3 steps" in one[0] and "is that of constraint" in one[0]


@pytest.mark.parametrize("force", [[-1, 10, 1, -10], lambda stroke, velocity: -10 * stroke], ids=["curve", "function"])
@pytest.mark.parametrize("make", [partial(sweeps, 1e-8, 300), partial(sweeps, 1e-8, 300, "OFF"), AutoSolver, PenaltySolver, NewtonSolver])
def test_contradictory_steps_have_the_least_errors_in_several_processes(make, force):
    """Reactions stay below the weight times the velocity in a step; two boxes of other processes are joined, so that islands cross to them."""
    scene = Scene()
    boxes = [scene.box((2 * k, 0, 0)) for k in range(4)]
    for velocity in (0.1, 0.2):
        SET_VELOCITY(boxes[2], (4, 0, 0), (1, 0, 0), velocity)
    PUT_SPRING(boxes[1], (2, 0, 0), boxes[2], (4, 0, 0), force, (-5, 5))
    mass, step = boxes[2].mass, scene.model.step

    def outcome(world):
        solver = make()
        run = Divided(copies[world.rank], world, solver, Balance(), NOTHING)
        for _ in range(4):
            run.advance()
        run.show()
        whole = copies[world.rank]
        return whole.bodies.triples.velo[0, : whole.bodies.triples.n].max(), np.abs(whole.constraints.view("R")).max(), whole.report.status

    for size in (1, 2, 4):
        copies = [copy.deepcopy(scene.model) for _ in range(size)]
        for velocity, largest, status in spmd(size, outcome) if size > 1 else [outcome(Alone())]:
            assert velocity == pytest.approx(0.15, rel=1e-3)
            assert largest < mass * 0.2 / step and status == "DIVERGED"


@pytest.mark.parametrize("make", [partial(sweeps, 1e-8, 300), AutoSolver, PenaltySolver])
def test_contradictory_steps_of_implicit_bodies_have_the_least_errors_in_several_processes(make):
    """One point of a pseudo-rigid body of scheme 'DEF_LIM' is to move at 0.1 and at 0.2."""
    scene = Scene()
    bodies = [scene.box((2 * k, 0, 0), kind="PSEUDO_RIGID") for k in range(3)]
    for body in bodies:
        body.scheme = "DEF_LIM"
    for velocity in (0.1, 0.2):
        SET_VELOCITY(bodies[1], (2, 0, 0), (1, 0, 0), velocity)
    copies = [copy.deepcopy(scene.model) for _ in range(2)]

    def outcome(world):
        run = Divided(copies[world.rank], world, make(), Balance(), NOTHING)
        for _ in range(4):
            run.advance()
        run.show()
        model = copies[world.rank]
        return model.points.velocity(bodies[1].id, (2, 0, 0))[0], model.report.cause

    for velocity, cause in spmd(2, outcome):
        assert velocity == pytest.approx(0.15, rel=1e-3) and "least errors" in cause


@pytest.mark.parametrize("colouring", ["ON", "OFF"])
def test_a_failure_that_ends_the_run_is_told_alike_where_process_0_has_no_rows(colouring):
    """A process holds rows that others solve, whose residuals mean nothing in it."""
    copies = falling_beside_rows(3)

    def told(world):
        run = Divided(copies[world.rank], world, sweeps(1e-16, 1, colouring, failure="EXIT"), Balance(), NOTHING)
        with pytest.raises(RuntimeError, match="error code DIVERGED: the largest residual, .* is that of constraint") as error:
            run.advance()
        return str(error.value)

    assert len(set(spmd(3, told))) == 1


def test_solvers_tell_all_processes_what_they_have_found():
    copies = [jointed.mechanisms().model for _ in range(2)]

    def outcome(world):
        auto, newton = AutoSolver(), NewtonSolver()
        newton.itershist = []
        for solver in (auto, newton):
            run = Divided(copies[world.rank], world, solver, Balance(), NOTHING)
            for _ in range(3):
                run.advance()
            run.end()
        return found(auto), newton.outcome(), newton.merhist, newton.mvhist

    one, other = spmd(2, outcome)
    assert one == other
    assert one[0][2] and one[0][4] > 5 and len(one[1]["itershist"]) == 3 and one[2][-1] <= 1e-8


def test_gathered_rows_have_the_names_of_a_serial_run():
    model = crowd()
    alone = copy.deepcopy(model)
    solver = NewtonSolver()
    copies = [copy.deepcopy(model) for _ in range(3)]

    def names(world):
        run, found = Divided(copies[world.rank], world, NewtonSolver(), MOVING, NOTHING), []
        for _ in range(12):
            run.advance()
            found.append([run.reported.name(row) for row in range(run.reported.n)] if world.rank == 0 else [])
        return found

    several = spmd(3, names)[0]
    for found in several:
        alone.advance(solver)
        local = alone.local_dynamics
        assert found == [local.name(row) for row in range(local.n)]
    assert len(several[-1]) > 10


@pytest.mark.parametrize("make", [AutoSolver, by_colours])
def test_shares_of_redundant_joints_hold_what_a_door_weighs(make):
    """Both hinges carry half of the weight of a door that stands still, in any process."""
    scene = Scene()
    door = scene.box((0.5, 0, 0), (0.5, 0.05, 1.0))
    for height in (-0.7, 0.7):
        HINGE(door, None, (0, 0, height), Z)
    for k in range(3):
        scene.ball((4 + 2 * k, 0, 0))
    copies = [copy.deepcopy(scene.model) for _ in range(2)]

    def run(world):
        course = Divided(copies[world.rank], world, make(), Balance(), NOTHING)
        for _ in range(5):
            course.advance()
        course.end()
        return copies[world.rank].constraints

    for constraints in spmd(2, run):
        held = constraints.base[2, :, : constraints.user_count]
        weight = (held * constraints.R[:, : constraints.user_count]).sum(axis=0)[constraints.kind[: constraints.user_count] == constraints.kind[0]]
        assert weight == pytest.approx([1000.0, 1000.0], rel=1e-6)  # of 0.2 m^3 of 1000 kg/m^3 at 10 m/s^2, shared by two


def broken_in_contradiction(gone):
    """A box whose weak support breaks in a step in which two motions prescribe another box's velocity; `gone`: a ball leaves the scene, too."""
    scene = Scene()
    boxes = [scene.box((2 * k, 0, 0)) for k in range(4)]
    FIX_POINT(boxes[0], (0, 0, 0), strength=1e-3)
    FIX_POINT(boxes[1], (2, 0, 0))
    for velocity in (0.1, 0.2):
        SET_VELOCITY(boxes[2], (4, 0, 0), X, velocity)
    if gone:
        scene.ball((2, 0, 9), velocity=(0, 0, 1e5))
        EXTENTS(scene.solfec, (-9, -9, -9, 9, 9, 20))
    return scene.model


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("make", [partial(sweeps, 1e-8, 300), AutoSolver, NewtonSolver])
def test_messages_name_constraints_of_steps_in_which_others_break(make, gone):
    """Those that remain move to other places of the table, and processes make parts anew when bodies go."""
    for size in (0, 1, 2, 3):
        copies = [broken_in_contradiction(gone) for _ in range(size or 1)]

        def told(world, copies=copies, divided=size > 0):
            solver, said, model = make(), [], copies[world.rank]
            solver.notify = said.append
            unsolved = UnsolvedSteps(said.append, not solver.names_contradictions)
            if divided:
                run = Divided(model, world, solver, Balance(), NOTHING)
                run.advance()
                unsolved.after_step(run.model, run.reported, run.worst)
            else:
                model.advance(solver)
                unsolved.after_step(model, model.local_dynamics)
            unsolved.end(model.report.solver, 1)
            return said

        for contradiction, worst in spmd(size, told)[:1] if size > 1 else [told(Alone())]:
            assert "constraint 3 (VELODIR) of body 3 and constraint 4 (VELODIR) of body 3 contradict one another" in contradiction
            assert "(VELODIR) of body 3" in worst
