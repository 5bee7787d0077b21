"""Deformable bodies in models that run divided among several owners; in threads of one process."""

import deformable
import numpy as np
import pytest
from courses import NOTHING, OFTEN, contents, course, quick, rounded, scatter, sweeps

from solfec.divided import Divided
from solfec.kinds import BodyKind
from solfec.parallel.communicator import Alone
from solfec.parallel.part import Part, lengths
from solfec.parallel.partition import Balance
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.penalty import PenaltySolver

pytestmark = pytest.mark.usefixtures("fresh_session")

MODELS = {"bricks": deformable.bricks, "cubes": deformable.cubes, "co-rotated": lambda: deformable.cubes("BC", scheme="DEF_EXP")}


@pytest.mark.parametrize("size", [3, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 4, 7))])
@pytest.mark.parametrize("name", MODELS)
def test_deformable_bodies_have_the_bits_of_the_whole(name, size):
    model = MODELS[name]().model
    step, before = model.step, model.constraints.next_id
    whole, _ = course(model, 1, 40, make=quick)
    parts, moves = course(model, size, 40, balance=OFTEN, make=quick)
    assert parts == whole
    assert moves >= size
    for _ in range(40):
        model.advance(quick())
    assert model.step < step and model.constraints.next_id > before + 20  # a body has lowered the step, and there were contacts


def test_absurd_divisions_have_the_bits_of_the_whole(monkeypatch):
    model = deformable.bricks().model
    whole, _ = course(model, 1, 20, make=quick)
    scatter(monkeypatch)
    assert course(model, 3, 20, make=quick)[0] == whole


def test_auto_solver_has_the_bits_of_a_serial_run():
    model = deformable.bricks().model
    parts = course(model, 3, 40, balance=OFTEN, make=AutoSolver)[0]
    for _ in range(40):
        model.advance(AutoSolver())
    assert rounded(parts[-1:], model)[0][:3] == rounded([contents(model)], model)[0][:3] and model.constraints.n > 20


@pytest.mark.parametrize("name", ["bricks", "cubes"])
def test_the_penalty_solver_has_the_bits_of_one_process(name):
    model = MODELS[name]().model
    model.surface_materials.spring[0] = 1e6
    whole, _ = course(model, 1, 20, make=PenaltySolver)
    assert course(model, 3, 20, balance=OFTEN, make=PenaltySolver)[0] == whole
    assert model.constraints.n and "PENALTY" in whole[-1][-1]


def test_what_callbacks_do_to_soft_bodies_reaches_all_parts():
    model = deformable.cubes().model

    def change(whole, step):
        bodies = whole.bodies.view("id")
        if step == 9:
            whole.states.set_velocity(int(bodies[4]), (0.0, 1.0, 3.0), (0.0, 2.0, 0.0))
            whole.delete_body(int(bodies[2]))
            whole.bodies.damping[3] = 1e-4

    assert course(model, 3, 20, looks=5, between=change)[0] == course(model, 1, 20, looks=5, between=change)[0]


def test_divided_models_follow_the_serial_run():
    model = deformable.bricks().model
    by_colours, tight = sweeps(1e-12, 2000), GaussSeidelSolver(1e-12, 2000)
    run = Divided(model, Alone(), by_colours, Balance(), NOTHING)
    serial = deformable.bricks().model
    for _ in range(40):
        run.advance()
        serial.advance(tight)
    assert model.constraints.n > 20
    np.testing.assert_allclose(model.bodies.configurations.view("conf"), serial.bodies.configurations.view("conf"), atol=1e-7)


def test_bounds_of_speeds_bound_the_motion_of_vertices():
    model = deformable.bricks().model
    for _ in range(30):
        model.advance(quick())
    bodies, vertices = model.bodies, model.geometry.vertices
    model.states.update_shapes()
    bound, before = model.step * lengths(bodies, bodies.triples.velo), vertices.view("current").copy()
    for name, start, width in (("conf", bodies.conf_ptr, 4),):
        for row in np.flatnonzero(bodies.view("kind") == BodyKind.PSEUDO_RIGID):
            at, of = start[row], bodies.velo_ptr[row]
            getattr(bodies.configurations, name)[:, at : at + width] += model.step * bodies.triples.velo[:, of : of + width]
    model.states.update_shapes()
    moved = np.linalg.norm(vertices.view("current") - before, axis=0)
    soft = bodies.kind[vertices.view("body")] == BodyKind.PSEUDO_RIGID
    assert (moved <= bound[vertices.view("body")] * (1 + 1e-9))[soft].all()
    assert (moved[soft] > 0.2 * bound[vertices.view("body")][soft]).any()


def test_motion_of_a_part_is_that_of_the_boxes_of_own_bodies():
    model = deformable.bricks().model
    part, bodies = Part(model, Alone(), 1.0), model.bodies
    assert part.motion()[0] == 0.0
    row = int(np.flatnonzero(bodies.view("kind") == BodyKind.RIGID)[0])
    still = part.motion()[1]
    model.states.set_velocity(int(bodies.id[row]), (300.0, 0.0, 400.0), (0.0, 0.0, 0.0))
    assert part.motion() == pytest.approx((0.0, 500.0 * model.step), rel=1e-12)
    assert still < part.motion()[1]
    bodies.extents[4, row] -= 0.25
    assert part.motion() == pytest.approx((0.25, 0.25 + 500.0 * model.step), rel=1e-12)
    bodies.triples.velo[0, bodies.velo_ptr[row] + 1] = np.nan
    assert np.isnan(part.motion()[1])  # so that the run ends with an error


def leaving():
    """Bodies that leave the scene, some of them from joints."""
    model = deformable.bricks().model
    for k, row in enumerate(np.flatnonzero(model.bodies.view("kind") != BodyKind.OBSTACLE)):
        if k % 4 == 0 or k == 27:  # the last of four that are joined
            model.states.set_velocity(int(model.bodies.id[row]), (0.0, 0.0, 12.0 + 0.5 * (k % 7)), (0.0, 0.0, 1.0))
    model.extents = np.array([-1.0, -1.0, -2.0, 5.0, 4.5, 1.1 + 0.2])
    return model


@pytest.mark.parametrize("size", [3, pytest.param(7, marks=pytest.mark.slow)])
def test_bodies_that_leave_the_scene_are_gone_in_all_parts(size):
    model = leaving()
    before = model.bodies.n
    whole, _ = course(model, 1, 40, make=quick)
    assert course(model, size, 40, balance=OFTEN, make=quick)[0] == whole
    for _ in range(40):
        model.advance(quick())
    assert before > model.bodies.n and len(model.lives.events) == before - model.bodies.n


@pytest.mark.slow
def test_auto_solver_solves_on_when_bodies_have_left_the_scene():
    model = leaving()
    parts = course(model, 3, 40, balance=OFTEN, make=AutoSolver)[0]
    for _ in range(40):
        model.advance(AutoSolver())
    assert rounded(parts[-1:], model)[0][:3] == rounded([contents(model)], model)[0][:3] and model.lives.events
