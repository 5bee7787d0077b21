"""Implicit bodies, and quasi-statics, in models that run divided among several owners: one process solves for all reactions, or all do with NEWTON_SOLVER."""

import copy
from functools import partial

import deformable
import jointed
import numpy as np
import pytest
from courses import NOTHING, OFTEN, course, rounded, sweeps
from jointed import Z
from processes import spmd
from test_gathered import serial
from test_reduced_bodies import MODAL, REDUCED, SOFT
from unit_cube import cube

from solfec import FIX_DIRECTION, FIX_POINT, FORCE, PUT_RIGID_LINK, SET_DISPLACEMENT, TIME_SERIES
from solfec.bodies.finite_elements import within_step
from solfec.bodies.implicit import implicit_of_step
from solfec.divided import Divided
from solfec.kinds import BodyKind, Form, Scheme
from solfec.parallel import part_newton
from solfec.parallel.partition import Balance
from solfec.parallel.shared_compliance import solved_by_owners
from solfec.solvers.auto import AutoSolver
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.penalty import PenaltySolver

pytestmark = pytest.mark.usefixtures("fresh_session")



def by_keys():
    return sweeps(1e-6, 200, "OFF")


def bricks():
    """Pseudo-rigid bricks, every second one implicit."""
    model = deformable.bricks().model
    model.bodies.scheme[np.flatnonzero(model.bodies.view("kind") == BodyKind.PSEUDO_RIGID)[::2]] = Scheme.DEF_LIM
    return model


def rolling():
    """Implicit bricks with rolling friction."""
    model = deformable.bricks(scheme="DEF_LIM").model
    model.surface_materials.rolling_length[0] = 0.01
    return model


def cubes(form="TL"):
    """Implicit finite element bodies that strike one another, with joints."""
    return deformable.cubes(form, scheme="DEF_LIM").model


def reduced():
    """Cubes in bases of modes on two floors, one above another and flying through one another's regions, and rigid blocks on them."""
    scene = jointed.Scene()
    scene.box((2, 1, -0.6), (8, 8, 0.5), kind="OBSTACLE")
    model = scene.model
    for k in range(6):
        form, base = ((Form.BC_MODAL, MODAL), (Form.BC_RO, REDUCED))[k % 2]
        model.insert_body(BodyKind.FINITE_ELEMENT, [cube((1.05 * (k % 3), 0.1 * k, -0.1005 + 1.002 * (k // 3)))], SOFT, form=form, base=base)
    for k in range(4):
        scene.box((0.6 + 1.1 * (k % 2), 0.5, 2.2 + 0.45 * (k // 2)), velocity=(1 - 2 * (k % 2), 0, -1))
    return model


def loaded(form="TL", friction=0.3):
    """Quasi-statics: soft columns with weights on them, a beam between supports that move, a rigid heap, a pseudo-rigid brick."""
    scene = deformable.Soft(young=1e7)
    scene.model.dynamic, scene.model.exact_supports = False, True
    scene.model.surface_materials.friction[0] = friction
    scene.box((2, 1, -0.5), (6, 6, 0.5), kind="OBSTACLE")
    for k in range(4):
        column = scene.mesh((0.7 * k, 0.1 * k, 0), cells=1 + k % 2, form=form)
        scene.box((0.7 * k + 0.2, 0.1 * k + 0.2, 0.6))
        FORCE(column, "SPATIAL", (0.7 * k + 0.4, 0.1 * k + 0.2, 0.2), (1, 0, 0), TIME_SERIES([0, 0, 0.1, 300.0 * k]))
    beam = scene.mesh((0, 3, 1), (2.0, 0.2, 0.2), form=form)
    FIX_POINT(beam, (0, 3, 1))
    FIX_DIRECTION(beam, (0, 3.2, 1), Z)
    FIX_DIRECTION(beam, (0, 3.2, 1), (1, 0, 0))
    for y in (3, 3.2):
        SET_DISPLACEMENT(beam, (2, y, 1), Z, TIME_SERIES([0, 0, 1, -0.05]))
    scene.brick((1, 4, 0.2), scheme="DEF_LIM")
    for k in range(3):
        scene.box((2.2 + 0.4 * k, 3, 0.2))
    scene.box((2.6, 3, 0.6), (0.6, 0.2, 0.2))
    return scene.model


def arch():
    """Quasi-statics of rigid bodies alone."""
    model = jointed.wall().model
    model.dynamic, model.exact_supports = False, True
    return model


@pytest.mark.parametrize(
    ("make_model", "make", "size"),
    [
        (bricks, by_keys, 2), (rolling, AutoSolver, 2), (arch, AutoSolver, 3),
        *(pytest.param(scene, make, size, marks=pytest.mark.slow) for scene in (bricks, rolling, arch) for make in (AutoSolver, by_keys, NewtonSolver, PenaltySolver)
          for size in (2, 3, 4, 7) if scene is bricks or make in (AutoSolver, by_keys)),
    ],
)  # fmt: skip
def test_bodies_without_elements_have_the_bits_of_a_serial_run(make_model, make, size):
    model = make_model()
    model.surface_materials.spring[0] = 1e6 if make is PenaltySolver else 0.0
    alone = copy.deepcopy(model)
    expected = serial(alone, 20, make())
    parts, _ = course(model, size, 20, balance=OFTEN, make=make)
    assert rounded(parts, model) == rounded(expected, model)
    assert alone.constraints.n > 8 and (alone.local_dynamics.coupled or not model.dynamic)


def apart(parts, expected):
    """Largest differences of configurations and velocities, over the largest number of each."""
    both = [[np.frombuffer(columns[k]) for columns, *_ in (one, other)] for one, other in zip(parts, expected) for k in (3, 4)]
    return max(np.abs(one - other).max() / np.abs(other).max() for one, other in both)


@pytest.mark.parametrize(
    ("make_model", "make", "size"),
    [
        (cubes, by_keys, 2), (reduced, AutoSolver, 3), (loaded, AutoSolver, 3),
        *(pytest.param(scene, make, size, marks=pytest.mark.slow) for scene in (cubes, partial(cubes, "BC"), reduced, loaded, partial(loaded, "BC")) for make in (AutoSolver, by_keys, NewtonSolver) for size in (2, 4, 7)),
    ],
)  # fmt: skip
def test_implicit_elements_agree_with_a_serial_run(make_model, make, size):
    model = make_model()
    alone = copy.deepcopy(model)
    expected = serial(alone, 20, make())
    parts, moves = course(model, size, 20, balance=OFTEN, make=make)
    assert apart(parts, expected) <= 1e-9
    assert moves >= size or not model.dynamic
    assert alone.local_dynamics.coupled and alone.constraints.n > 8 and parts[-1][2][5] == expected[-1][2][5]  # as many contacts were born


def test_the_owner_alone_solves_with_the_matrix_of_a_body():
    """Others that hold a copy get its velocity and its part of W, and all agree with a serial run."""

    def program(world):
        whole = copies[world.rank]
        run = Divided(whole, world, by_keys(), Balance(), NOTHING)
        for _ in range(12):
            run.advance()
        bodies = run.part.model.bodies
        solvers = implicit_of_step(bodies, within_step(bodies)).elements
        solved = np.concatenate([solver.rows for solver in solvers]) if solvers else np.zeros(0, int)
        held = np.flatnonzero(solved_by_owners(bodies))
        found = bodies.id[solved].tolist(), bodies.id[held].tolist()
        run.end()
        return found

    model = cubes("BC")
    copies = [copy.deepcopy(model) for _ in range(3)]
    serial(model, 12, by_keys())  # also loads modules, which threads cannot do at once
    solved, held = zip(*spmd(3, program))
    everyone = model.bodies.id[np.flatnonzero(solved_by_owners(model.bodies))].tolist()
    assert sorted(sum(solved, [])) == everyone and sum(map(len, held)) > len(everyone)
    expected = model.bodies.triples.view("velo")
    assert np.abs(copies[0].bodies.triples.view("velo") - expected).max() <= 1e-9 * np.abs(expected).max()


def test_quasi_statics_count_no_work_of_contacts_in_parts_either():
    """Energies of the model in frames, HISTORY and ENERGY depended on the number of processes."""

    def program(world):
        run = Divided(copies[world.rank], world, AutoSolver(), Balance(), NOTHING)
        for _ in range(5):
            run.advance()
        run.end()

    model = loaded()
    copies = [copy.deepcopy(model) for _ in range(2)]
    serial(model, 5, AutoSolver())
    spmd(2, program)
    assert model.constraints.n > 8
    assert [(whole.contact_energy, whole.friction_energy) for whole in (model, *copies)] == 3 * [(0.0, 0.0)]


@pytest.mark.parametrize("dynamic", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_joints_of_a_mesh_and_an_implicit_brick_of_another_process_see_each_body_once(dynamic):
    """Both processes solve with the matrix of the brick; that of the mesh solved for the brick, too, and its part of W counted twice."""
    scene = deformable.Soft(young=1e6)
    scene.model.dynamic = dynamic
    for k in range(3):
        mesh, brick = scene.mesh((2.0 * k, 0, 0), cells=1, form="BC"), scene.brick((2.0 * k + 0.2, 0.2, 0.8))
        mesh.scheme = brick.scheme = "DEF_LIM"
        FIX_POINT(brick, (2.0 * k + 0.2, 0.2, 0.9))
        PUT_RIGID_LINK(mesh, brick, (2.0 * k + 0.1, 0.1, 0.4), (2.0 * k + 0.1, 0.2, 0.7))
    model, made = scene.model, partial(NewtonSolver, meritval=1e-20)
    alone = serial(copy.deepcopy(model), 2, made(), looks=1)
    for size in (2, 3):
        parts, _ = course(model, size, 2, looks=1, make=made)
        for found, expected in zip(parts, alone):
            for one, other in zip(found[0][1:5], expected[0][1:5]):
                one, other = np.frombuffer(one), np.frombuffer(other)
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * np.abs(other).max())


def bond(contacts="CLASSIC"):
    """A wall in bond of all kinds of bodies, which falls by a hair: each touches others of other kinds, and seams of parts go through implicit ones."""
    scene = deformable.Soft(young=1e7, contacts=contacts)
    scene.box((2, 0.2, -0.5), (4, 4, 0.5), kind="OBSTACLE")
    for layer in range(3):
        for k in range(5):
            low, kind = (0.41 * k + 0.2 * (layer % 2), 0.02 * k, 0.001 + 0.401 * layer), (k + layer) % 5
            centre, speed = tuple(x + 0.2 for x in low), (0.2 * (k % 2), 0.1 * (layer - 1), -1.0)
            if kind < 2:
                scene.mesh(low, cells=1 + layer % 2, velocity=speed, form=("TL", "BC")[kind], scheme="DEF_LIM")
            elif kind == 2:
                scene.brick(centre, velocity=speed, scheme="DEF_LIM")
            elif kind == 3:
                scene.box(centre, (0.2, 0.2, 0.2), velocity=speed)
            else:
                scene.brick(centre, velocity=speed)
    return scene.model


@pytest.mark.parametrize(("contacts", "steps"), [("CLASSIC", 12), ("MANIFOLD", 6)], ids=["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("size", [2, 3, pytest.param(7, marks=pytest.mark.slow)])
def test_all_processes_solve_together_for_contacts_of_implicit_bodies(contacts, steps, size, monkeypatch):
    """Before, process 0 solved alone, for which all blocks of W travelled to it.  Later steps with redundant points are not solved to so many digits."""
    used, run = [], part_newton.NewtonByBlocks.run
    monkeypatch.setattr(part_newton, "SHARED_FROM", 0)
    monkeypatch.setattr(part_newton.NewtonByBlocks, "run", lambda iteration: used.append(iteration.copied) or run(iteration))
    model, make = bond(contacts), partial(NewtonSolver, meritval=1e-26)
    alone = copy.deepcopy(model)
    expected = serial(alone, steps, make(), looks=steps // 3)
    parts, _ = course(model, size, steps, looks=steps // 3, balance=OFTEN, make=make)
    assert apart(parts, expected) <= 1e-8
    assert alone.constraints.n > 15 and alone.report.iterations > 0
    assert sum(copied > 0 for copied in used) > size


def test_one_process_solves_for_implicit_bodies_where_the_common_iteration_fails(monkeypatch):
    monkeypatch.setattr(part_newton, "SHARED_FROM", 0)
    model, make = bond(), partial(NewtonSolver, meritval=1e-12, maxiter=1)
    alone = copy.deepcopy(model)
    expected = serial(alone, 4, made := make(), looks=4)
    assert made.fallback > 0
    parts, _ = course(model, 2, 4, looks=4, make=make)
    assert apart(parts, expected) <= 1e-9
