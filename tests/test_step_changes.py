"""What users do between steps reaches the next one: options, bodies and constraints; copies of models and solvers; steps that break off."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import finite_elements  # noqa: E402
import models  # noqa: E402
import python_costs  # noqa: E402
import springs  # noqa: E402
from test_step import loaded_boxes, state  # noqa: E402

from solfec.bodies import motion  # noqa: E402
from solfec.bodies.element_solver import ElementSolver  # noqa: E402
from solfec.bodies.factorisation import SuperLU  # noqa: E402
from solfec.bodies.materials import BulkMaterial  # noqa: E402
from solfec.bodies.table import BodyKind, Form, Scheme  # noqa: E402
from solfec.errors import SolfecError  # noqa: E402
from solfec.shapes import sphere  # noqa: E402
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver  # noqa: E402
from solfec.solvers.dump import dump  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402
from solfec.solvers.local_dynamics import LocalDynamics  # noqa: E402
from solfec.solvers.newton import NewtonSolver  # noqa: E402
from solfec.solvers.penalty import PenaltySolver  # noqa: E402
from solfec.time_series import TimeSeries  # noqa: E402

MODELS = {
    "block": lambda: models.block(3),
    "spheres": lambda: models.spheres(60),
    "soft": lambda: models.soft_cubes(2, 2),
    "soft implicit": lambda: models.soft_cubes(2, 2, implicit=True),
    "loaded": lambda: loaded_boxes(3, True),
    "loaded statics": lambda: loaded_boxes(3, False),
    "chains": lambda: python_costs.chains(3, 4),
    "springs": lambda: springs.net(4, 1e4, False),
    "forces": python_costs.loaded,
    "enhanced": lambda: python_costs.elements(Form.TL, Scheme.DEF_EXP, 2, damping=1e-6, enhanced=1),
    "factor": lambda: python_costs.elements(Form.BC, Scheme.DEF_LIM, 1, 5, step=1e-3),
    "unlike factors": lambda: unlike(),
    "tangents": lambda: python_costs.elements(Form.TL, Scheme.DEF_LIM, 2, step=1e-3),
    "conserving": lambda: python_costs.elements(Form.TL, Scheme.DEF_LIM, 1, step=1e-3, conserving=1),
    "held": python_costs.held_elements,
    "bases": lambda: finite_elements.cubes(2, 1, base=finite_elements.modes_of_cube(2, 12)),
    "statics": lambda: python_costs.slow(python_costs.rest_soft),
    "tangent statics": lambda: python_costs.slow(tangent_cubes),
    "held tangents": lambda: held_tangents(),
    "mixed": lambda: mixed(),
}


def mixed():
    """Implicit bodies of all kinds and forms beside explicit and rigid ones, all touching one obstacle."""
    model, material = models.domain(0.5, 1e-3)
    soft = python_costs.SOFT
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1, -1, -1), (12, 2, 0))], soft)
    for k, (form, scheme) in enumerate([(Form.TL, Scheme.DEF_LIM), (Form.BC, Scheme.DEF_LIM), (Form.TL, Scheme.DEF_EXP)]):
        mesh = python_costs.hex_mesh.hex_mesh((python_costs.CUBE + (2 * k, 0, 0)).tolist(), 2, 2, 2, 1, [1] * 6)
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], soft, form=form)
        model.bodies.scheme[model.body_row(body)] = scheme
    for k, scheme in ((3, Scheme.DEF_LIM), (4, Scheme.DEF_EXP)):
        body = model.insert_body(BodyKind.PSEUDO_RIGID, [models.box((2 * k, 0, 0), (2 * k + 1, 1, 1))], soft)
        model.bodies.scheme[model.body_row(body)] = scheme
    model.insert_body(BodyKind.RIGID, [models.box((10, 0, 0), (11, 1, 1))], material)
    return model


def tangent_cubes(model, count=2, first=0.0):
    """Implicit cubes of form 'TL'."""
    for k in range(count):
        mesh = python_costs.hex_mesh.hex_mesh((python_costs.CUBE + (2 * k + first, 0, 0)).tolist(), 2, 2, 2, 1, [1] * 6)
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], python_costs.SOFT, form=Form.TL)
        model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
    return body


def held_tangents():
    """Some that fall, and one that spins about a point: so few rows that solutions for them are iterated for, one by one."""
    model, _ = models.domain(0.5, 1e-3)
    body = tangent_cubes(model, 3)
    model.joints.fix_point(body, (4.0, 0.0, 0.0))
    model.states.set_velocity(body, (0, 0, 0), (0, 3, 1))
    return model


def unlike():
    """Implicit bodies of unlike sizes, whose inverses are not kept."""
    model, _ = models.domain(0.5, 1e-3)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1, -1, -1), (12, 2, 0))], python_costs.SOFT)
    for k in (1, 2):
        mesh = python_costs.hex_mesh.hex_mesh((python_costs.CUBE + (2 * k, 0, 0)).tolist(), k, k, k, 1, [1] * 6)
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], python_costs.SOFT, form=Form.BC)
        model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
    return model


def run(model, steps, solver=None):
    solver = solver or GaussSeidelSolver(1e-4, 100)
    for _ in range(steps):
        model.advance(solver)
    return state(model)


SOLVERS = {
    "gauss-seidel": lambda: GaussSeidelSolver(1e-4, 100),
    "penalty": PenaltySolver,
    "newton": lambda: NewtonSolver(1e-8, 200),
    "auto": AutoSolver,
}


@pytest.mark.parametrize("name", MODELS)
def test_a_copied_model_goes_on_with_the_same_bits(name):
    model = MODELS[name]()
    run(model, 12)
    copied = copy.deepcopy(model)
    other = run(copied, 10)
    assert run(model, 10) == other
    assert model.time == copied.time


@pytest.mark.parametrize("name", ["block", "springs", "mixed"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_was_kept_from_former_steps_changes_nothing(name, solver):
    """A model that is copied before every step, and so keeps nothing but its state, takes the same course."""
    whole, fresh = MODELS[name](), MODELS[name]()
    one, two = SOLVERS[solver](), SOLVERS[solver]()
    for _ in range(12):
        fresh = copy.deepcopy(fresh)
        assert run(whole, 1, one) == run(fresh, 1, two)


def test_models_are_not_pickled_or_copied_by_halves():
    model = models.stacks(2, 1, 2)
    with pytest.raises(SolfecError, match="cannot be pickled"):
        pickle.dumps(model)
    with pytest.raises(SolfecError, match="cannot be pickled"):
        copy.copy(model)


def test_columns_iterated_for_are_those_of_the_factor_itself(monkeypatch):
    """Point by point as with a factor in every step, to the accuracy of the iterations."""
    lagged, fresh = held_tangents(), held_tangents()
    solver = GaussSeidelSolver(1e-12, 1000)
    taken = set()
    for _ in range(40):
        lagged.advance(solver)
        (one,) = lagged.bodies.finite_elements.implicit.elements
        taken.add(one.fresh)
    monkeypatch.setattr("solfec.bodies.factorisation.Cholesky.WORTH", 0)
    run(fresh, 40, GaussSeidelSolver(1e-12, 1000))
    assert False in taken  # columns were solved for one by one
    for column in ("conf", "velo"):
        one, two = ((m.bodies.configurations if column == "conf" else m.bodies.triples).view(column) for m in (lagged, fresh))
        assert np.abs(one - two).max() < 1e-9


def test_bodies_without_constraints_iterate_once_a_step():
    """For velocities; again for W would renew factors twice as often, and run longer.  A force that a function gives has predictions made in Python."""
    spent = []
    for called in (False, True):
        model, _ = models.domain(0.5, 1e-3)
        mesh = python_costs.hex_mesh.hex_mesh(python_costs.CUBE.tolist(), 3, 3, 3, 1, [1] * 6)
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], python_costs.SOFT, form=Form.TL)
        row = model.body_row(body)
        model.bodies.scheme[row] = Scheme.DEF_LIM
        model.states.set_velocity(body, (0, 0, 0), (0, 30, 10))
        if called:
            model.loads.add_callback(row, lambda q, u, t, h: (0.0,) * len(u))
        solver = GaussSeidelSolver(1e-6, 100)
        counts = []
        for _ in range(8):
            model.advance(solver)
            (iterated,) = model.bodies.finite_elements.implicit.elements
            counts.append((iterated.memory.fewest, iterated.memory.spent))
        spent.append(counts)
    assert spent[0] == spent[1]
    assert any(products for _, products in spent[0])  # factors of former steps were used


def test_a_copied_newton_solver_remembers_its_own_solutions():
    one = NewtonSolver(1e-8, 7)
    other = copy.copy(one)
    run(models.block(2), 3, one)
    assert other.maxiter == 7
    assert other.iters == 0 != one.iters


@pytest.mark.parametrize("name", ["tangents", "held tangents"])
def test_iterations_that_fail_are_made_up_for_by_a_new_factor(name, monkeypatch):
    expected = MODELS[name]()
    run(expected, 20, GaussSeidelSolver(1e-12, 1000))
    monkeypatch.setattr("solfec.bodies.conjugate_gradients.MOST", 1)
    monkeypatch.setattr("solfec.bodies.element_solver.LEAST_PRODUCTS", 0)  # iterations come first, whatever W needs
    failed = []
    monkeypatch.setattr(ElementSolver, "solve_afresh", lambda solver, right, whole=ElementSolver.solve_afresh: (failed.append(0), whole(solver, right))[1])
    model = MODELS[name]()
    run(model, 20, GaussSeidelSolver(1e-12, 1000))
    assert failed
    assert np.abs(model.bodies.triples.view("velo") - expected.bodies.triples.view("velo")).max() < 1e-9


@pytest.mark.parametrize("before", [0, 2])
def test_a_matrix_without_a_cholesky_factor_is_factorised_otherwise_within_the_step(before):
    """Of a bar that is squeezed, in a step beyond its time of buckling, with and without a factor before."""
    def squeezed():
        model, _ = models.domain(0.5, 0.05)
        corners = python_costs.CUBE * (3.0, 0.2, 0.2)
        mesh = python_costs.hex_mesh.hex_mesh(corners.tolist(), 3, 1, 1, 1, [1] * 6)
        soft = python_costs.SOFT
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], soft, form=Form.TL)
        model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
        model.joints.fix_point(body, (0.0, 0.0, 0.0))
        run(model, before)
        model.bodies.configurations.view("conf")[0] = -0.35 * mesh.nodes[:, 0]
        return model

    model = squeezed()
    run(model, 2)
    (solver,) = model.bodies.finite_elements.implicit.elements
    assert isinstance(solver.factor, SuperLU)
    assert np.isfinite(model.bodies.triples.view("velo")).all()
    assert np.abs(model.local_dynamics.rows.U[:, 0]).max() < 1e-6 * np.abs(model.bodies.triples.view("velo")).max()


@pytest.mark.parametrize("name", ["soft implicit", "mixed"])
@pytest.mark.parametrize("column, value", [("damping", 1e-3), ("scheme", Scheme.DEF_EXP)])
def test_options_of_implicit_bodies_change_without_a_word(name, column, value):
    states = []
    for told in (False, True):
        model, solver = MODELS[name](), GaussSeidelSolver(1e-4, 100)
        run(model, 5, solver)
        before = state(model)
        getattr(model.bodies, column)[2] = value
        if told:
            model = copy.deepcopy(model)
        run(model, 3, solver)
        states.append(state(model))
    assert states[0] == states[1]
    model, solver = MODELS[name](), GaussSeidelSolver(1e-4, 100)
    run(model, 8, solver)
    assert before != state(model) != states[0]


def forget(model) -> None:
    """Discard all caches of a model."""
    model.local_dynamics = LocalDynamics()
    model.geometry.workspace = model.geometry.current = None
    model.constraints.view("evaluated")[:] = -1


def changes(model, solver):
    """Yield changes that a user may make between steps."""
    material = BulkMaterial(young=1e7, poisson=0.25, density=1000.0)
    body = lambda k: int(model.bodies.id[k])  # noqa: E731
    yield lambda: model.loads.set_gravity((0.5, 0.0, -5.0))
    yield lambda: model.loads.set_gravity((0.0, TimeSeries([0, 1], [0, 1]), -5.0))
    yield lambda: model.set_step(0.7 * model.step)
    yield lambda: model.settings.exclude_surfaces(0, 1)
    yield lambda: model.settings.exclude_bodies(2, 3)
    yield lambda: setattr(model.settings, "patch", True)
    yield lambda: setattr(model.settings, "margin", 1e-3)
    yield lambda: setattr(model.settings, "threshold", 0.2)
    yield lambda: setattr(model.settings, "symmetric", True)
    yield lambda: setattr(model.settings, "symmetric", False)
    yield lambda: setattr(model.settings, "depth", 10.0)
    yield lambda: setattr(model, "epsilon", 1e-5)
    yield lambda: setattr(solver, "maxiter", 7)
    yield lambda: setattr(solver, "epsilon", 1e-8)
    yield lambda: setattr(solver, "colouring", "ON")
    yield lambda: setattr(solver, "anderson", True)
    yield lambda: setattr(solver, "anderson", False)
    yield lambda: setattr(solver, "meritval", 1e-6)
    yield lambda: setattr(solver, "diagsolver", "PROJECTED_GRADIENT")
    yield lambda: model.insert_body(BodyKind.RIGID, [sphere.Sphere((0.5, 0.5, 20.0), 0.3, 0, 0)], material)
    yield lambda: model.insert_body(BodyKind.PSEUDO_RIGID, [models.box((30, 30, 5), (31, 31, 6))], material)
    yield lambda: model.bodies.scheme.__setitem__(model.bodies.n - 1, Scheme.DEF_LIM)
    yield lambda: model.bodies.scheme.__setitem__(model.bodies.n - 1, Scheme.DEF_EXP)
    yield lambda: model.bodies.damping.__setitem__(model.bodies.n - 1, 1e-3)
    yield lambda: model.joints.fix_point(body(1), (0.5, 0.5, 0.5))
    yield lambda: model.joints.prescribe_velocity(body(3), model.bodies.centre[:, 3].copy(), (0, 0, 1), TimeSeries([0, 1], [0, 1]))
    yield lambda: model.joints.delete_constraint(int(model.constraints.id[0]))
    yield lambda: setattr(model, "extents", np.array([-50.0, -50, -50, 50, 50, 50]))
    yield lambda: model.delete_body(body(2))
    yield lambda: model.loads.add_force(3, "SPATIAL", model.bodies.centre[:, 3].copy(), (1, 0, 0), 5.0)
    yield lambda: model.surface_materials.append(surface=np.array([[0], [1]]), friction=0.1)
    yield lambda: model.surface_materials.friction.__setitem__(0, 0.9)
    yield lambda: dump(model.local_dynamics, "/dev/null")
    yield model.local_dynamics.matrix
    place = lambda k: model.bodies.centre[:, k].copy()  # noqa: E731
    yield lambda: model.joints.spring(body(3), place(3), body(1), place(1), lambda stroke, velocity: -stroke, (-99.0, 99.0))
    yield lambda: model.joints.delete_constraint(int(model.constraints.id[model.constraints.user_count - 1]))
    yield lambda: model.set_step(0.8 * model.step)


@pytest.mark.parametrize(
    "build", [lambda: models.stacks(2, 2, 3), lambda: models.soft_cubes(2, 1), mixed], ids=["rigid", "soft", "mixed"]
)
def test_what_a_user_changes_between_steps_reaches_the_kernels(build):
    """A model that keeps nothing from step to step, and one that does, take the same course."""
    states = []
    for always in (False, True):
        model, solver = build(), AcceleratedGaussSeidel(1e-4, 50)
        course = []
        run(model, 15, solver)
        for change in changes(model, solver):
            change()
            for _ in range(3):
                if always:
                    forget(model)
                model.advance(solver)
                course.append(state(model))
        states.append(course)
        assert model.constraints.n >= 8
    assert [one == two for one, two in zip(*states)] == [True] * len(states[0])


def test_a_step_that_was_broken_off_is_followed_by_no_other():
    model, solver = models.stacks(2, 1, 2), GaussSeidelSolver(1e-4, 100)
    run(model, 5, solver)
    fails = [True]

    def force(q, u, t, h):
        if fails[0]:
            raise ValueError("no force today")
        return (0.0,) * 9

    model.loads.add_force(2, "SPATIAL", (0, 0, 0), (1, 0, 0), force)
    with pytest.raises(ValueError, match="no force today"):
        model.advance(solver)
    fails[0] = False
    with pytest.raises(SolfecError, match="an error has broken off the step that began at time 0.005"):
        model.advance(solver)
    model.set_time(0.0, 0)  # as frames do that are loaded
    model.advance(solver)


def test_contacts_deeper_than_allowed_are_listed_as_they_were_found():
    model, solver = models.stacks(2, 2, 2), GaussSeidelSolver(1e-4, 100)
    run(model, 45, solver)
    model.settings.depth = 0.2
    ball = model.insert_body(BodyKind.RIGID, [sphere.Sphere((0.5, 0.5, 2.1), 0.4, 1, 1)], BulkMaterial(density=1000.0))
    model.delete_body(int(model.bodies.id[3]))
    with pytest.raises(SolfecError, match=f"bodies .* and {ball} overlap|bodies {ball} and"):
        run(model, 2, solver)
    table, row = model.constraints, model.body_row(ball)
    assert ((table.view("master") == row) | (table.view("slave") == row)).sum() == 1
    assert table.n == 4 and (np.diff(table.view("id")) > 0).all() and (table.view("id") < table.next_id).all()


def test_failures_of_the_solver_end_a_step_before_bodies_move():
    model = models.stacks(2, 1, 3)
    run(model, 60)
    before = model.bodies.configurations.view("conf").copy()
    solver = GaussSeidelSolver(1e-15, 1, failure="EXIT")
    with pytest.raises(RuntimeError, match="GAUSS_SEIDEL_SOLVER failed with error code DIVERGED"):
        model.advance(solver)
    moved = np.abs(model.bodies.configurations.view("conf") - before).max()
    assert 0.0 < moved < model.step  # to mid-step only
    assert solver.error == "DIVERGED"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_a_solver_go_their_own_ways(copied):
    one, two = models.block(3), models.block(3)
    solver = GaussSeidelSolver(1e-12, 20)
    run(one, 30, solver)
    other = copied(solver)
    before = solver.iters, solver.rerhist, solver.error
    assert (other.iters, other.rerhist, other.error) == before and solver.iters > 1
    run(two, 30, other)
    other.maxiter = 1
    other.epsilon = 1e-15
    run(two, 1, other)
    assert (solver.iters, solver.rerhist, solver.error) == before
    assert (other.iters, other.error, len(other.rerhist)) == (1, "DIVERGED", 1)


def test_a_copied_model_knows_the_strains_of_its_explicit_bodies():
    """Strains bound the critical step."""
    model, _ = models.domain(0.5, 1e-2)
    mesh = python_costs.hex_mesh.hex_mesh(python_costs.CUBE.tolist(), 2, 2, 2, 1, [1] * 6)
    body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], python_costs.SOFT, form=Form.TL)
    conf = model.bodies.configurations.conf
    conf[:, model.bodies.conf_slice(0)] = 0.6 * mesh.nodes.T
    model.note_change(body)
    model.settle()
    copied = copy.deepcopy(model)
    assert motion.critical_step(copied.bodies) == motion.critical_step(model.bodies)
    assert run(copied, 1) == run(model, 1)
    assert motion.refined_critical_step(copied.bodies, True) == motion.refined_critical_step(model.bodies, True)
