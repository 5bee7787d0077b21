"""Programs of kernels: their arguments are checked, what changes between steps reaches them, and bits are those of single calls."""

import copy
import pickle
import subprocess
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

from solfec import kernel_programs  # noqa: E402
from solfec.bodies import tangent_phases  # noqa: E402
from solfec.bodies.materials import BulkMaterial  # noqa: E402
from solfec.bodies.table import BodyKind, Form, Scheme  # noqa: E402
from solfec.contact import detection  # noqa: E402
from solfec.errors import SolfecError  # noqa: E402
from solfec.kernel_programs import Call, Numbers, Pause, Phase, Preparation, Program, PythonPhase  # noqa: E402
from solfec.shapes import sphere  # noqa: E402
from solfec.solvers import implicit_rows  # noqa: E402
from solfec.solvers.auto import AcceleratedGaussSeidel  # noqa: E402
from solfec.solvers.dump import dump  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402
from solfec.solvers.newton import NewtonSolver  # noqa: E402
from solfec.solvers.penalty import PenaltySolver  # noqa: E402
from solfec.tables import note_reallocation  # noqa: E402
from solfec.time_series import TimeSeries  # noqa: E402

# --- calls -------------------------------------------------------------------------------------------------


class Deepest(Phase):
    """The kernel `deepest_row` alone."""

    def __init__(self, gap, limit=1.0, rows=3):
        self.gap, self.limit, self.rows = gap, limit, rows
        self.cohesion, self.birth = np.zeros(len(gap)), np.zeros(len(gap), np.int64)
        self.found, self.stops = Numbers(row="i4"), []

    def calls(self):
        arrays = self.gap, self.cohesion, self.birth
        return [Call("contacts.deepest_row", 0, self.rows, self.limit, 1, *arrays, results=self.found, wanted={"row": -1})]

    def stopped(self, call):
        self.stops.append(self.found.get()[0])
        return call + 1


def test_a_program_calls_its_kernels_and_stops_where_a_result_is_not_what_it_must_be():
    phases = [Deepest(np.array([0.0, -2.0, -3.0])), Deepest(np.zeros(3)), Deepest(np.array([-1.5, 0.0, 0.0]))]
    seconds = np.zeros(5)
    assert Program(phases, seconds).run()
    assert [phase.stops for phase in phases] == [[2], [], [0]]
    assert seconds[0] > 0.0 and not seconds[1:].any()


def test_kernels_are_left_out_where_their_condition_is_zero():
    phase, condition = Deepest(np.array([-2.0, 0.0, 0.0])), Numbers(ask="i4")
    calls = phase.calls
    phase.calls = lambda: [
        Call(
            "contacts.deepest_row", 0, 3, 1.0, 1, phase.gap, phase.cohesion, phase.birth, results=phase.found,
            wanted={"row": -1}, unless_zero=condition["ask"],
        )
    ]  # fmt: skip
    assert calls()
    program = Program([phase], np.zeros(5))
    program.run()
    assert phase.stops == []
    condition.set(1)
    program.run()
    assert phase.stops == [0]


class Countdown(Deepest):
    """The kernel is called until a pause after it has counted down."""

    def __init__(self, times):
        super().__init__(np.zeros(3))
        self.left, self.times = Numbers(left="i4"), times
        self.left.set(times)

    def calls(self):
        arrays, left = (self.gap, self.cohesion, self.birth), self.left["left"]
        last = Call("contacts.deepest_row", 0, 3, 1.0, 1, *arrays, results=self.found, unless_zero=left, back=1)
        return [Pause(left), last]

    def stopped(self, call):
        self.stops.append(call)
        self.left["left"][0] -= 1
        return call + 1


@pytest.mark.parametrize("stepwise", [False, True])
@pytest.mark.parametrize("times", [0, 1, 5])
def test_programs_pause_for_python_and_go_back(times, stepwise, monkeypatch):
    monkeypatch.setattr(kernel_programs, "stepwise", stepwise)
    phases = [Deepest(np.zeros(3)), Countdown(times), Deepest(np.array([-1.5, 0.0, 0.0]))]
    assert Program(phases, np.zeros(5)).run()
    assert [phase.stops for phase in phases] == [[], [0] * times, [0]]


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda a: a.update(gap=np.zeros(3, np.float32)), "gap must be an array of float64"),
        (lambda a: a.update(gap=np.zeros(6)[::2]), "gap must be an array of float64 in Fortran's order"),
        (lambda a: a.update(gap=np.zeros((3, 1))), "gap must have 1 axes, not 2"),
        (lambda a: a.update(birth=np.zeros(4, np.int64)), "birth has 4 where 3 are wanted"),
        (lambda a: a.pop("birth"), "argument birth is missing"),
        (lambda a: a.update(more=1), "too many arguments"),
        (lambda a: a.update(last=np.zeros(1, np.int64)), "last must be an array of int32"),
    ],
)
def test_arguments_that_are_not_the_kernels_are_refused(change, words):
    arguments = {"first": 0, "last": 3, "depth": 1.0, "step": 1, "gap": np.zeros(3), "cohesion": np.zeros(3), "birth": np.zeros(3, np.int64)}
    Call("contacts.deepest_row", *arguments.values())
    change(arguments)
    with pytest.raises(ValueError, match=words):
        Call("contacts.deepest_row", *arguments.values())


def test_numbers_keep_their_kinds_and_places():
    numbers = Numbers(a="i4", b="f8", c="i4", d="i8")
    numbers.set(1, 2.5, -3, 2**40)
    assert numbers.get() == (1, 2.5, -3, 2**40)
    assert [numbers[name].dtype.str[1:] for name in "abcd"] == ["i4", "f8", "i4", "i8"]
    numbers["c"][0] = 7
    assert numbers.get()[2] == 7
    assert all(numbers[name].flags.aligned for name in "abcd")


def test_copies_of_numbers_have_memory_of_their_own():
    numbers = Numbers(a="i4", b="f8")
    numbers.set(1, 2.5)
    for copied in (copy.copy(numbers), copy.deepcopy(numbers), pickle.loads(pickle.dumps(numbers))):
        assert copied.get() == (1, 2.5)
        copied["a"][0] = 7
        assert copied.get() == (7, 2.5) and numbers.get() == (1, 2.5)


# --- steps -------------------------------------------------------------------------------------------------

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
    model.fix_point(body, (4.0, 0.0, 0.0))
    model.set_velocity(body, (0, 0, 0), (0, 3, 1))
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


@pytest.mark.parametrize("name", MODELS)
def test_kernels_called_one_by_one_from_the_arrays_themselves_give_the_same_bits(name, monkeypatch):
    steps = 40 if name in ("block", "spheres") else 8
    joined = run(MODELS[name](), steps)
    monkeypatch.setattr(kernel_programs, "stepwise", True)  # which also compares addresses before each kernel
    assert run(MODELS[name](), steps) == joined


OTHERS = {
    "penalty": PenaltySolver,
    "explicit penalty": lambda: PenaltySolver("EXPLICIT"),
    "newton": lambda: NewtonSolver(1e-8, 200),
    "diagonal newton": lambda: NewtonSolver(1e-6, 500, linver="DIAG"),
    "newton that falls back": lambda: NewtonSolver(1e-14, 2),
    "newton that fails": lambda: NewtonSolver(1e-14, 2, gsflag=False),
}


@pytest.mark.parametrize("name", ["block", "soft", "mixed", "chains", "springs", "loaded statics", "bases"])
@pytest.mark.parametrize("solver", OTHERS)
def test_other_solvers_in_programs_give_the_bits_of_calls_from_python(name, solver, monkeypatch):
    def course(steps=12):
        model, one = MODELS[name](), OTHERS[solver]()
        try:
            states = [(run(model, 1, one), repr(model.report), getattr(one, "iters", 0), getattr(one, "error", "")) for _ in range(steps)]
        except SolfecError as error:
            return str(error), None
        return states, [type(part) for part in model._time_step._parts]

    joined, parts = course()
    assert parts in (None, [Program])
    monkeypatch.setattr(kernel_programs, "stepwise", True)
    assert course()[0] == joined
    monkeypatch.setattr(kernel_programs, "stepwise", False)
    monkeypatch.setattr(type(OTHERS[solver]()), "is_one_kernel", False)
    apart, parts = course()
    assert apart == joined
    assert parts in (None, [Program, PythonPhase, Program])


@pytest.mark.parametrize("name", MODELS)
def test_a_step_without_callbacks_is_one_program(name):
    model = MODELS[name]()
    run(model, 3)
    assert [type(part) for part in model._time_step._parts] == [Program]


@pytest.mark.parametrize("name", ["factor", "unlike factors"])
def test_programs_do_not_pause_for_solutions_with_kept_factors(name):
    model = MODELS[name]()
    run(model, 3)
    (solver,) = model.bodies.finite_elements.implicit.elements
    assert solver.kept is solver.factor
    program = model._time_step._parts[0]
    implicit = ["implicit" in type(program.phases[owner]).__module__ for owner, _ in program._owner]
    assert any(implicit)
    assert not any(isinstance(call, kernel_programs.Pause) for call, counts in zip(program._calls, implicit) if counts)


@pytest.mark.parametrize("name", ["soft implicit", "factor", "unlike factors", "tangents", "bases", "statics", "tangent statics", "held tangents", "mixed"])
def test_bodies_move_as_by_calls_of_kernels_from_python(name, monkeypatch):
    joined = run(MODELS[name](), 8)
    monkeypatch.setattr("solfec.bodies.implicit_phases.suits", lambda implicit: False)
    model = MODELS[name]()
    assert run(model, 8) == joined
    assert [type(part) for part in model._time_step._parts][-4:] == [PythonPhase, Program, PythonPhase, Program]


def implicit_calls(model):
    """Names of the kernels of implicit bodies in a step."""
    program = model._time_step._parts[0]
    owners = [type(program.phases[owner]).__module__ for owner, _ in program._owner]
    return [call.kernel for call, owner in zip(program._calls, owners) if "implicit" in owner or "tangent" in owner]


def pauses_of(model, steps, monkeypatch):
    """How often steps stop for implicit bodies."""
    stops = []
    for kind in (tangent_phases.Tangents, implicit_rows.SolvedRows):
        stopped = kind.stopped
        monkeypatch.setattr(kind, "stopped", lambda self, call, do=stopped: (stops.append(self._names[call]), do(self, call))[1])
    run(model, steps)
    return stops


@pytest.mark.parametrize("name", ["tangents", "tangent statics", "held tangents", "mixed"])
def test_tangents_are_factorised_and_solved_with_in_programs(name, monkeypatch):
    model = MODELS[name]()
    run(model, 3)
    (solver,) = [one for one in model.bodies.finite_elements.implicit.elements if not one.linear]
    factors = solver.factor.panels[4].copy()
    calls = implicit_calls(model)
    assert "supernodal_cholesky.factorise" in calls and "conjugate_gradients.advance" in calls
    assert pauses_of(model, 30, monkeypatch) == []
    assert (solver.factor.panels[4] != factors).any()


def test_columns_iterated_for_are_those_of_the_factor_itself(monkeypatch):
    """Point by point as with a factor in every step, to the accuracy of the iterations."""
    lagged, fresh = held_tangents(), held_tangents()
    solver = GaussSeidelSolver(1e-12, 1000)
    taken = set()
    for _ in range(40):
        lagged.advance(solver)
        (one,) = lagged.bodies.finite_elements.implicit.elements
        taken.add(int(one.course[10]))  # columns solved for one by one
    monkeypatch.setattr("solfec.bodies.factorisation.Cholesky.WORTH", 0)
    run(fresh, 40, GaussSeidelSolver(1e-12, 1000))
    assert 3 in taken
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
        model.set_velocity(body, (0, 0, 0), (0, 30, 10))
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
    model = MODELS[name]()
    stops = pauses_of(model, 0, monkeypatch)
    run(model, 20, GaussSeidelSolver(1e-12, 1000))
    assert "broken" in stops
    assert np.abs(model.bodies.triples.view("velo") - expected.bodies.triples.view("velo")).max() < 1e-9


@pytest.mark.parametrize("before, stop", [(0, "factor"), (2, "broken")])
def test_a_matrix_without_a_cholesky_factor_is_factorised_otherwise_within_the_step(before, stop, monkeypatch):
    """As by calls from Python: of a bar that is squeezed, in a step beyond its time of buckling, with and without a factor before."""

    def squeezed():
        model, _ = models.domain(0.5, 0.05)
        corners = python_costs.CUBE * (3.0, 0.2, 0.2)
        mesh = python_costs.hex_mesh.hex_mesh(corners.tolist(), 3, 1, 1, 1, [1] * 6)
        soft = python_costs.SOFT
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], soft, form=Form.TL)
        model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
        model.fix_point(body, (0.0, 0.0, 0.0))
        run(model, before)
        model.bodies.configurations.view("conf")[0] = -0.35 * mesh.nodes[:, 0]
        return model

    model = squeezed()
    stops = pauses_of(model, 0, monkeypatch)
    run(model, 2)
    assert stops[0] == stop and set(stops[1:]) <= {"pause", "most"} and len(stops) > 3
    monkeypatch.setattr("solfec.bodies.implicit_phases.suits", lambda implicit: False)
    by_python = squeezed()
    run(by_python, 2)
    assert state(model) == state(by_python)


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
            note_reallocation()
        run(model, 3, solver)
        states.append(state(model))
    assert states[0] == states[1]
    model, solver = MODELS[name](), GaussSeidelSolver(1e-4, 100)
    run(model, 8, solver)
    assert before != state(model) != states[0]


def test_pairs_are_searched_within_the_program_as_by_python(monkeypatch):
    searches = []
    monkeypatch.setattr("solfec.contact.phase.search", lambda *a: (searches.append(0), detection.search(*a)))
    states, counts = [], []
    for excluded in (False, True):
        model = models.spheres(60)
        if excluded:  # parts of a body that is not there
            model.settings.exclude_parts((1000, 0), (1001, 0))
        run(model, 3)
        searches.clear()
        course = []
        for _ in range(60):
            course.append(run(model, 1))
        states.append(course)
        counts.append(len(searches))
    assert counts[0] == 0 and counts[1] >= 2
    assert states[0] == states[1]


@pytest.mark.parametrize("table, column", [("constraints", "R"), ("surface_materials", "friction")])
def test_a_replaced_array_that_was_not_noted_is_found(table, column, monkeypatch):
    monkeypatch.setattr(kernel_programs, "stepwise", True)
    model, solver = models.stacks(2, 1, 2), GaussSeidelSolver(1e-4, 100)
    run(model, 5, solver)
    owner = getattr(model, table)
    setattr(owner, column, getattr(owner, column).copy(order="F"))
    with pytest.raises(AssertionError, match="replaced without note_reallocation"):
        run(model, 1, solver)
    note_reallocation()
    model.set_time(model.time, model.step_number)  # nothing of the step was done
    run(model, 1, solver)


def changes(model, solver):
    """What a user may do between steps, one thing after another."""
    material = BulkMaterial(young=1e7, poisson=0.25, density=1000.0)
    body = lambda k: int(model.bodies.id[k])  # noqa: E731
    yield lambda: model.loads.set_gravity((0.5, 0.0, -5.0))
    yield lambda: model.loads.set_gravity((0.0, TimeSeries([0, 1], [0, 1]), -5.0))
    yield lambda: model.change_step(0.7 * model.step)
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
    yield lambda: model.fix_point(body(1), (0.5, 0.5, 0.5))
    yield lambda: model.prescribe_velocity(body(3), model.bodies.centre[:, 3].copy(), (0, 0, 1), TimeSeries([0, 1], [0, 1]))
    yield lambda: model.delete_constraint(int(model.constraints.id[0]))
    yield lambda: setattr(model, "extents", np.array([-50.0, -50, -50, 50, 50, 50]))
    yield lambda: model.delete_body(body(2))
    yield lambda: model.loads.add_force(3, "SPATIAL", model.bodies.centre[:, 3].copy(), (1, 0, 0), 5.0)
    yield lambda: model.surface_materials.append(surface=np.array([[0], [1]]), friction=0.1)
    yield lambda: model.surface_materials.friction.__setitem__(0, 0.9)
    yield lambda: dump(model.local_dynamics, "/dev/null")
    yield model.local_dynamics.matrix
    place = lambda k: model.bodies.centre[:, k].copy()  # noqa: E731
    yield lambda: model.spring(body(3), place(3), body(1), place(1), lambda stroke, velocity: -stroke, (-99.0, 99.0))
    yield lambda: model.delete_constraint(int(model.constraints.id[model.constraints.user_count - 1]))
    yield lambda: model.change_step(0.8 * model.step)


@pytest.mark.parametrize(
    "build", [lambda: models.stacks(2, 2, 3), lambda: models.soft_cubes(2, 1), mixed], ids=["rigid", "soft", "mixed"]
)
def test_what_a_user_changes_between_steps_reaches_the_kernels(build):
    """A model whose programs are listed anew in every step, and one that relies on being told, take the same course."""
    states = []
    for always in (False, True):
        model, solver = build(), AcceleratedGaussSeidel(1e-4, 50)
        course = []
        run(model, 15, solver)
        for change in changes(model, solver):
            change()
            for _ in range(3):
                if always:
                    note_reallocation()
                model.advance(solver)
                course.append(state(model))
        states.append(course)
        assert model.constraints.n >= 8
    assert [one == two for one, two in zip(*states)] == [True] * len(states[0])


class Replaced(Phase):
    """Arrays that are replaced in a preparation of the same program."""

    def __init__(self):
        self.gap, self.rows, self.seen = np.zeros(3), 3, []
        self.cohesion, self.birth = np.zeros(3), np.zeros(3, np.int64)
        self.found, self.given = Numbers(row="i4"), Numbers(limit="f8")
        self.limit = 1.0

    def prepare(self):
        if self.limit == 2.0:
            self.gap = np.array([-1.5, 0.0, -3.0])
            note_reallocation()

    def settle(self):
        self.given.set(self.limit)

    def calls(self):
        arrays = self.gap, self.cohesion, self.birth
        return [Call("contacts.deepest_row", 0, 3, self.given["limit"], 1, *arrays, results=self.found)]

    def end(self):
        self.seen.append(self.found.get()[0])
        if self.limit == 3.0:
            raise KeyboardInterrupt


def test_preparations_come_before_addresses_are_listed_and_numbers_settle():
    phase = Replaced()
    program = Program([Preparation(phase.prepare, False), phase], np.zeros(5))
    program.run()
    phase.limit = 2.0
    program.run()
    assert phase.seen == [-1, 2]


def test_what_is_broken_off_settles_anew():
    phase = Replaced()
    program = Program([phase], np.zeros(5))
    phase.limit = 3.0
    with pytest.raises(KeyboardInterrupt):
        program.run()
    phase.limit, phase.gap[1] = 1.0, -2.0
    program.run()
    assert phase.seen == [-1, 1]


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
    assert model.report.status == solver.error == "DIVERGED"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_model_cannot_be_copied(copied):
    """A copy would let kernels write into the arrays of the original."""
    model = models.stacks(2, 1, 2)
    run(model, 5)
    before = state(model)
    with pytest.raises(SolfecError, match="a model cannot be copied or pickled"):
        copied(model)
    with pytest.raises(SolfecError, match="a model cannot be copied or pickled"):
        copied([model]) if copied is not copy.copy else copied(model)
    assert state(model) == before
    run(model, 1)


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


# --- what the build writes ---------------------------------------------------------------------------------

MODULE = """
module tool_{name}
  use kinds, only: dp, i4
  implicit none
contains
  subroutine shift(n, by, x, most)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: by
    real(dp), intent(inout) :: x({extent})
    integer(i4), intent(out) :: most
    x = x + by
    most = n
  end subroutine shift
end module tool_{name}
"""


def written(folder, extent, kernel="tool_one.shift"):
    source = folder / "one.f90"
    source.write_text(MODULE.format(name="one", extent=extent))
    command = [sys.executable, str(ROOT / "tools" / "kernel_calls.py"), str(folder / "calls.f90"), str(folder / "arguments.py"), kernel]
    return subprocess.run([*command, str(source)], capture_output=True, text=True)


def test_the_build_reads_signatures_from_the_kernels(tmp_path):
    assert written(tmp_path, "3, 0:n-1").returncode == 0
    names = {}
    exec((tmp_path / "arguments.py").read_text(), names)
    assert names["KERNELS"] == {
        "tool_one.shift": (
            0, (("n", "i4", (), "in"), ("by", "f8", (), "in"), ("x", "f8", ("3", "n"), "inout"), ("most", "i4", (), "out")),
        )
    }  # fmt: skip
    text = (tmp_path / "calls.f90").read_text()
    assert "use tool_one, only: kernel_ => shift" in text and "call c_f_pointer(at_(address_(2)), x, [3, n])" in text


@pytest.mark.parametrize(
    "extent, kernel, words",
    [("0:2*n", "tool_one.shift", "the extent"), ("n", "tool_one.shove", "no subroutine tool_one.shove")],
)
def test_the_build_refuses_what_it_cannot_call(tmp_path, extent, kernel, words):
    process = written(tmp_path, extent, kernel)
    assert process.returncode != 0 and words in process.stderr
