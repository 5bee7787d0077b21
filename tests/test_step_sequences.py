"""Cached data never affect results: models without caches have the same bits.

A program keeps addresses of arrays and copies of numbers.  Random sequences of what users do between steps are carried out on
pairs of models: one is left to itself, the other gets new work arrays, a new list of phases and a new solver for every step.
"""

import gc
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import models  # noqa: E402
from test_step import state  # noqa: E402

from solfec import _kernels, results  # noqa: E402
from solfec.bodies.materials import BulkMaterial  # noqa: E402
from solfec.bodies.table import BodyKind, Form, Scheme  # noqa: E402
from solfec.errors import SolfecError  # noqa: E402
from solfec.shapes import hex_mesh, sphere  # noqa: E402
from solfec.solvers import dump  # noqa: E402
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver  # noqa: E402
from solfec.solvers.local_dynamics import LocalDynamics  # noqa: E402
from solfec.solvers.newton import NewtonSolver  # noqa: E402
from solfec.solvers.penalty import PenaltySolver  # noqa: E402
from solfec.time_series import TimeSeries  # noqa: E402
from solfec.time_step import TimeStep  # noqa: E402

MATERIAL = BulkMaterial(young=1e6, poisson=0.25, density=1000.0)
FINITE = BodyKind.FINITE_ELEMENT


def cube_mesh(corner):
    """A cube of eight elements."""
    corners = np.array([(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], float)
    return hex_mesh.hex_mesh((corners + corner).ravel(), 2, 2, 2, 1, [1] * 6)


def soft():
    """Two cubes of finite elements, one of them implicit from the start, and a rigid one on top."""
    model = models.soft_cubes(1, 2)
    model.insert_body(FINITE, [cube_mesh([3, 0, 0])], MATERIAL, form=Form.BC)
    model.insert_body(BodyKind.RIGID, [models.box((0, 0, 1), (1, 1, 2))], MATERIAL)
    return model


def cloud(side=5):
    """Spheres that fly at one another, and meet all in the same step; a few rest on the floor already."""
    model, material = models.domain(0.3, 1e-3)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-3, -3, -1), (3, 3, 0))], material)
    centre = np.array([0.0, 0.0, 1.7])
    for place in np.ndindex(side, side, side):
        at = 0.62 * (np.array(place) - (side - 1) / 2) + centre
        body = model.insert_body(BodyKind.RIGID, [sphere.Sphere(at, 0.3, 1, 1)], material)
        model.states.set_velocity(body, tuple(-3.0 * (at - centre)), (0.0, 0.0, 0.0))
    for x in (-2.5, 2.5):
        model.insert_body(BodyKind.RIGID, [sphere.Sphere((x, 2.5, 0.3 - 1e-5), 0.3, 1, 1)], material)
    return model


MODELS = {
    "stacks": lambda: models.cubes(2, 1, 2, spacing=2.0, gap=1e-5, friction=0.5),
    "block": lambda: models.block(2),
    "spheres": lambda: models.spheres(12),
    "cloud": lambda: cloud(3),
    "soft": soft,
}

SOLVERS = {
    "sweeps": lambda: AcceleratedGaussSeidel(1e-4, 30),
    "strict sweeps": lambda: AcceleratedGaussSeidel(1e-9, 60),
    "newton": NewtonSolver,
    "auto": AutoSolver,
    "penalty": PenaltySolver,
}


def forget(model) -> None:
    """Discard all caches of a model."""
    model.local_dynamics = LocalDynamics()
    model._time_step = TimeStep(model)
    model.timings = model._time_step.timings
    model.geometry.workspace = model.geometry.current = None
    model.constraints.view("evaluated")[:] = -1


class Pair:
    """A model and a second one without caches.

    Attributes
    ----------
    identifiers : list of int
        Of the user's constraints that have been put.
    functions : bool
        Whether a Python function acts, which no frame can hold.
    """

    def __init__(self, name: str):
        self.name = name
        self.functions = False
        self._directory = self._writer = None
        self.both = MODELS[name](), MODELS[name]()
        self.identifiers: list[int] = []

    def do(self, action) -> tuple[str | None, object]:
        """Do the same to both models, and compare errors and results."""
        outcomes = []
        for model in self.both:
            try:
                outcomes.append((None, action(model)))
            except (SolfecError, ValueError, RuntimeError) as error:
                outcomes.append((f"{type(error).__name__}: {error}", None))
        assert outcomes[0][0] == outcomes[1][0]
        return outcomes[0]

    def put(self, action) -> None:
        """Put a constraint."""
        failed, identifier = self.do(action)
        if failed is None:
            self.identifiers.append(identifier)

    def body(self, number: int) -> int:
        """Identifier of a body that moves, or is made to."""
        bodies = self.both[0].bodies
        return int(bodies.id[1 + number % (bodies.n - 1)])

    def place(self, body: int):
        """A referential point in a body."""
        bodies = self.both[0].bodies
        return bodies.centre[:, self.both[0].body_row(body)].copy()

    def store(self) -> None:
        """Write a frame of the model that is left to itself."""
        if self._writer is None:
            self._directory = tempfile.TemporaryDirectory()
            self._writer = results.ResultsWriter.create(self._directory.name + "/run")
        self._writer.write_frame(self.both[0])

    def stop(self) -> None:
        """Put in the double's place a model that goes on from a frame of the one that is left to itself."""
        self.store()
        with results.open(self._directory.name + "/run") as reader:
            continued = MODELS[self.name]()
            results.resume(reader, continued, None)
        self.both = self.both[0], continued

    def is_alike(self) -> None:
        """Compare the models, energies and reports included."""
        one, two = self.both
        assert one.time == two.time and one.step == two.step
        assert state(one) == state(two)
        assert (one.contact_energy, one.friction_energy, one.sparsified) == (two.contact_energy, two.friction_energy, two.sparsified)
        if one.report is not None:
            said = [(r.status, r.iterations, r.residual) for r in (one.report, two.report)]
            assert repr(said[0]) == repr(said[1])


def scheme_of(model, row: int, implicit: bool) -> None:
    """Another scheme where the body's kind has two."""
    if model.bodies.kind[row] >= BodyKind.PSEUDO_RIGID:
        model.bodies.scheme[row] = Scheme.DEF_LIM if implicit else Scheme.DEF_EXP
    elif model.bodies.kind[row] == BodyKind.RIGID:
        model.bodies.scheme[row] = Scheme.RIG_POS if implicit else Scheme.RIG_NEG
    model.state_changes += 1


class Failing:
    """A force that raises an error once a flag is set."""

    def __init__(self):
        self.fails = False

    def __call__(self, q, u, t, h):
        if self.fails:
            raise ValueError("no force today")
        return (0.0,) * (9 if len(q) == 12 and len(u) == 6 else len(u))


numbers = st.integers(0, 50)
shares = st.sampled_from([0.0, 0.1, 0.5, 0.9])


class Sequences(RuleBasedStateMachine):
    """Up to three pairs of models, advanced in turn by solvers that the models left to themselves share.

    Steps follow every change.
    """

    stops = False

    def __init__(self):
        super().__init__()
        self.pairs: list[Pair] = []
        self.solvers = {name: make() for name, make in SOLVERS.items()}
        self.solver = "sweeps"
        self.changed: list[tuple[str, str, object]] = []
        self.threads = _kernels.threads.get_threads()

    def teardown(self):
        _kernels.threads.set_threads(self.threads)

    def fresh_solver(self):
        """A solver like the shared one, without a past."""
        solver = SOLVERS[self.solver]()
        for name, member, value in self.changed:
            if name == self.solver:
                setattr(solver, member, value)
        return solver

    def advance_pair(self, pair: Pair, steps: int) -> None:
        def step(model):
            if model is pair.both[0]:
                model.advance(self.solvers[self.solver])
            else:
                forget(model)
                model.advance(self.fresh_solver())

        for _ in range(steps):
            failed, _ = pair.do(step)
            if failed is not None:
                self.pairs.remove(pair)  # the midst of a step is nowhere to go on from
                return
            pair.is_alike()
            if self.stops and not pair.functions:
                pair.stop()

    def advance_all(self, steps: int = 2) -> None:
        for pair in list(self.pairs):
            self.advance_pair(pair, steps)

    def add_pair(self, name: str) -> None:
        """Another model and its double, at the beginning."""
        self.pairs.append(Pair(name))
        if self.stops:
            self.pairs[-1].do(lambda model: model.initialise())
            self.pairs[-1].store()

    def pair(self, number: int) -> Pair:
        """One of the pairs; there is always one."""
        if not self.pairs:
            self.add_pair("block")
        return self.pairs[number % len(self.pairs)]

    def change(self, number: int, action) -> None:
        """Do something to one of the models, and advance it."""
        pair = self.pair(number)
        pair.do(action)
        self.advance_pair(pair, 2)

    # --- models and steps ----------------------------------------------------------------------------------

    @initialize(names=st.lists(st.sampled_from(sorted(MODELS)), min_size=1, max_size=2))
    def begin(self, names):
        for name in names:
            self.add_pair(name)
        self.advance_all(6)

    @precondition(lambda self: len(self.pairs) < 3)
    @rule(name=st.sampled_from(sorted(MODELS)))
    def make(self, name):
        self.add_pair(name)
        self.advance_all()

    @precondition(lambda self: len(self.pairs) > 1)
    @rule(k=numbers)
    def forget_a_model(self, k):
        self.pairs.remove(self.pair(k))
        gc.collect()

    @rule(steps=st.integers(1, 8))
    def advance(self, steps):
        self.advance_all(steps)

    @rule(rounds=st.integers(1, 4))
    def advance_in_turn(self, rounds):
        for _ in range(rounds):
            self.advance_all(1)

    @rule(count=st.sampled_from([1, 2]))
    def use_threads(self, count):
        _kernels.threads.set_threads(count)

    # --- solvers -------------------------------------------------------------------------------------------

    @rule(name=st.sampled_from(sorted(SOLVERS)))
    def use_solver(self, name):
        self.solver = name
        self.advance_all()

    @rule()
    def return_to_sweeps(self):
        self.solver = "sweeps"
        self.advance_all(1)

    @rule(
        name=st.sampled_from(["sweeps", "sweeps", "strict sweeps"]),
        change=st.sampled_from([
            ("epsilon", 1e-7), ("epsilon", 1e-3), ("maxiter", 3), ("maxiter", 300), ("meritval", 1e-6), ("reverse", True),
            ("reverse", False), ("colouring", "ON"), ("colouring", "OFF"), ("anderson", True), ("anderson", False),
            ("islands", True), ("islands", False), ("diagsolver", "PROJECTED_GRADIENT"), ("diagmaxiter", 5), ("failure", "EXIT"),
            ("failure", "CONTINUE"),
        ]),
    )  # fmt: skip
    def change_solver(self, name, change):
        setattr(self.solvers[name], *change)
        self.changed.append((name, *change))
        self.solver = name
        self.advance_all()

    @rule(
        change=st.sampled_from([
            ("newton", "maxiter", 2), ("newton", "maxiter", 500), ("newton", "gsflag", False), ("newton", "gsflag", True),
            ("newton", "linver", "DIAG"), ("newton", "linver", "GMRES"), ("newton", "reldelta", "avgWii"), ("newton", "reldelta", "OFF"),
            ("newton", "delta", 1e-3), ("newton", "locdyn", False), ("newton", "linmaxiter", 3), ("penalty", "variant", "EXPLICIT"),
            ("penalty", "variant", "IMPLICIT"), ("auto", "epsilon", 1e-4),
        ]),
    )  # fmt: skip
    def change_another_solver(self, change):
        name, member, value = change
        setattr(self.solvers[name], member, value)
        self.changed.append(change)
        self.solver = name
        self.advance_all()

    @rule(name=st.sampled_from(["sweeps", "strict sweeps", "newton"]))
    def collect_iterations(self, name):
        self.solvers[name].itershist = []

    # --- settings ------------------------------------------------------------------------------------------

    @rule(k=numbers, factor=st.sampled_from([0.5, 0.7, 1.3]))
    def change_step(self, k, factor):
        self.change(k, lambda model: model.set_step(factor * model.step))

    @rule(k=numbers, sideways=shares, varies=st.booleans())
    def set_gravity(self, k, sideways, varies):
        x = TimeSeries([0, 1], [0, 10 * sideways]) if varies else sideways
        self.change(k, lambda model: model.loads.set_gravity((x, 0.0, -9.0)))

    @rule(
        k=numbers,
        change=st.sampled_from([
            ("patch", True), ("patch", False), ("margin", 1e-3), ("margin", 0.0), ("threshold", 0.3), ("threshold", 0.01),
            ("symmetric", True), ("symmetric", False), ("depth", 0.5), ("depth", np.inf), ("min_area", 1e-3), ("min_distance", 0.01),
        ]),
    )  # fmt: skip
    def change_settings(self, k, change):
        self.change(k, lambda model: setattr(model.settings, *change))

    @rule(k=numbers, epsilon=st.sampled_from([1e-6, 1e-5]))
    def change_epsilon(self, k, epsilon):
        self.change(k, lambda model: setattr(model, "epsilon", epsilon))

    @rule(k=numbers, one=numbers, two=numbers, surfaces=st.booleans())
    def exclude(self, k, one, two, surfaces):
        pair = self.pair(k)
        if surfaces:
            self.change(k, lambda model: model.settings.exclude_surfaces(one % 3, two % 3))
        else:
            bodies = pair.body(one), pair.body(two)
            self.change(k, lambda model: model.settings.exclude_bodies(*bodies))

    @rule(
        k=numbers, new=st.booleans(), column=st.sampled_from(["friction", "restitution", "cohesion", "spring", "model", "gap_aware"]),
        share=shares,
    )  # fmt: skip
    def change_surface_material(self, k, new, column, share):
        value = {"cohesion": 1e4 * share, "spring": 1e6 * share, "model": int(share > 0.5), "gap_aware": 0.01 * share}.get(column, share)

        def change(model):
            table = model.surface_materials
            row = table.append(surface=np.array([[0], [table.n]])) if new else 0
            getattr(table, column)[row] = value
            model.settings.widen(table.view("gap_aware"))

        self.change(k, change)

    # --- bodies --------------------------------------------------------------------------------------------

    @rule(k=numbers, kind=st.sampled_from(["ball", "brick", "obstacle", "pseudo-rigid", "elements"]), x=numbers, many=st.sampled_from([1, 1, 12]))
    def insert(self, k, kind, x, many):
        if self.pair(k).both[0].bodies.n > 40:
            return

        def insert(model):
            for n in range(many):
                at = np.array([0.3 * (x % 7) + 1.3 * (n % 4), 0.3 * (x % 3), 1.2 + 0.1 * (x % 20) + 1.1 * (n // 4)])
                if kind == "ball":
                    model.insert_body(BodyKind.RIGID, [sphere.Sphere(at, 0.3, 1, 1)], MATERIAL)
                elif kind == "elements":
                    model.insert_body(FINITE, [cube_mesh(at)], MATERIAL, form=Form.TL if x % 2 else Form.BC)
                    return
                else:
                    chosen = {"brick": BodyKind.RIGID, "obstacle": BodyKind.OBSTACLE, "pseudo-rigid": BodyKind.PSEUDO_RIGID}[kind]
                    model.insert_body(chosen, [models.box(at, at + 0.5)], MATERIAL)

        self.change(k, insert)

    @rule(k=numbers, number=numbers)
    def delete(self, k, number):
        pair = self.pair(k)
        if pair.both[0].bodies.n > 2:
            body = pair.body(number)
            self.change(k, lambda model: model.delete_body(body))

    @rule(k=numbers, number=numbers, what=st.sampled_from(["implicit", "explicit", "damping", "selfcontact", "stop", "young", "push", "still"]))
    def change_body(self, k, number, what):
        pair = self.pair(k)
        body = pair.body(number)

        def change(model):
            bodies, row = model.bodies, model.body_row(body)
            if what in ("implicit", "explicit"):
                scheme_of(model, row, what == "implicit")
            elif what == "damping":
                bodies.damping[row] = 1e-3
            elif what == "selfcontact":
                bodies.selfcontact[row] = 1
            elif what == "young":
                bodies.lame[:, row] *= 2.0
            elif what == "push" and bodies.kind[row] != BodyKind.OBSTACLE:
                model.states.set_velocity(body, (0.5, 0.1, -1.0), (0.0, 0.0, 0.3) if bodies.kind[row] != FINITE else (0.0, 0.0, 0.0))
            elif what in ("stop", "still") and bodies.kind[row] == BodyKind.RIGID:
                model.states.disable_rotation(body, what == "stop")

        self.change(k, change)

    # --- constraints and loads -----------------------------------------------------------------------------

    @rule(
        k=numbers, one=numbers, two=numbers,
        kind=st.sampled_from(["point", "weak point", "direction", "velocity", "varying velocity", "link", "spring", "function"]),
    )  # fmt: skip
    def constrain(self, k, one, two, kind):
        pair = self.pair(k)
        body, other = pair.body(one), pair.body(two)
        here, there = pair.place(body), pair.place(other)
        if kind in ("link", "spring", "function") and body == other:
            return
        pair.functions = pair.functions or kind == "function"
        pair.put({
            "point": lambda model: model.joints.fix_point(body, here),
            "weak point": lambda model: model.joints.fix_point(body, here, 1e3),
            "direction": lambda model: model.joints.fix_direction(body, here, (1.0, 0.0, 0.0)),
            "velocity": lambda model: model.joints.prescribe_velocity(body, here, (0.0, 0.0, 1.0), 0.5),
            "varying velocity": lambda model: model.joints.prescribe_velocity(body, here, (0.0, 1.0, 0.0), TimeSeries([0, 1], [0, 1 + one])),
            "link": lambda model: model.joints.rigid_link(body, other, here, there),
            "spring": lambda model: model.joints.spring(body, here, other, there, [(-9.0, 900.0), (9.0, -900.0)], (-8.0, 8.0)),
            "function": lambda model: model.joints.spring(body, here, other, there, lambda stroke, velocity: -100.0 * stroke, (-8.0, 8.0)),
        }[kind])  # fmt: skip
        self.advance_pair(pair, 2)

    @precondition(lambda self: any(pair.identifiers for pair in self.pairs))
    @rule(k=numbers)
    def release(self, k):
        pair = [pair for pair in self.pairs if pair.identifiers][k % sum(bool(pair.identifiers) for pair in self.pairs)]
        identifier = pair.identifiers.pop(k % len(pair.identifiers))
        pair.do(lambda model: model.joints.delete_constraint(identifier))
        self.advance_pair(pair, 2)

    @rule(k=numbers, number=numbers, kind=st.sampled_from(["constant", "varying", "function", "torque", "failing"]))
    def load(self, k, number, kind):
        pair = self.pair(k)
        body = pair.body(number)
        here = pair.place(body)
        if kind == "torque":
            self.change(k, lambda model: model.loads.add_torque(model.body_row(body), "SPATIAL", (0.0, 0.0, 1.0), 3.0))
            return
        pair.functions = pair.functions or kind in ("function", "failing")
        value = {"constant": 20.0, "varying": TimeSeries([0, 1], [0, 50 + number])}.get(kind) or Failing()
        self.change(k, lambda model: model.loads.add_force(model.body_row(body), "SPATIAL", here, (1.0, 0.0, 0.0), value))
        if kind == "failing" and pair in self.pairs and pair.both[0].bodies.kind[pair.both[0].body_row(body)] != BodyKind.OBSTACLE:
            value.fails = True
            self.advance_pair(pair, 1)
            assert pair not in self.pairs

    # --- questions -----------------------------------------------------------------------------------------

    @rule(k=numbers, what=st.sampled_from(["dump", "matrix", "shapes", "energy", "blocks"]))
    def ask(self, k, what):
        """Read from the first model only, which must not change its results."""
        model = self.pair(k).both[0]
        local = model.local_dynamics
        if what == "energy":
            self.pair(k).do(lambda model: model.energy().tobytes())
        elif what == "shapes":
            model.states.update_shapes()
        elif getattr(local, "constraints", None) is not None and local.stands:
            {"dump": lambda: dump.dump(local, "/dev/null"), "matrix": local.matrix, "blocks": local.require_blocks}[what]()
        self.advance_all()


class Stopped(Sequences):
    """Sequences whose doubles are models continued from a frame of the current step."""

    stops = True


def test_a_model_that_goes_on_knows_that_its_materials_have_become_gap_aware():
    """Pairs that pass at an edge are distinguished then, also in a model continued after the change."""
    state = Stopped()
    state.begin(names=["block"])
    state.delete(k=16, number=19)
    state.change_surface_material(column="gap_aware", k=0, new=False, share=0.9)
    one, two = state.pairs[0].both
    assert one.settings.speculative and two.settings.speculative
    state.teardown()


def sequences(examples: int, steps: int, machine: type = Sequences) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck), database=None
        ),
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_contacts_that_come_all_at_once_are_those_of_a_model_that_remembers_nothing(name):
    """Tables grow tenfold in the midst of a step without a notice of change."""
    pair = Pair("block")
    pair.both = cloud(), cloud()
    solver, counts = SOLVERS[name](), []

    def step(model):
        if model is not pair.both[0]:
            forget(model)
        model.advance(solver if model is pair.both[0] else SOLVERS[name]())

    for _ in range(20):
        counts.append(pair.both[0].constraints.n)
        assert pair.do(step)[0] is None
        pair.is_alike()
    assert any(before < 25 and after > 250 for before, after in zip(counts, counts[1:]))


def test_no_sequence_of_changes_leaves_anything_behind():
    sequences(6, 30)


def test_models_that_go_on_from_frames_take_the_same_course():
    sequences(3, 20, Stopped)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_models_that_go_on_from_frames_take_the_same_course_in_many_tries():
    sequences(100, 50, Stopped)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_sequence_of_changes_leaves_anything_behind_in_many_tries():
    sequences(120, 50)
