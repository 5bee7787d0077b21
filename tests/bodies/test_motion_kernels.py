"""What every body kernel promises: same bits for any number of threads, no copies, little Python, clear failures."""

import re
from time import perf_counter

import numpy as np
import pytest
from body_models import RIGID_SCHEMES, Model
from kernel_threads import with_threads

from solfec.bodies import loads, motion
from solfec.bodies.table import BodyKind, Scheme
from solfec.errors import SolfecError
from solfec.time_series import TimeSeries


def crowd(count):
    """Bodies of all kinds and schemes in random motion, with loads."""
    random, model = np.random.default_rng(3), Model()
    for i in range(count):
        if i % 5 == 4:
            row = model.cube(damping=1e-6)
            model.velo(row)[:, :3] = random.normal(size=(3, 3))
        else:
            kind = BodyKind.OBSTACLE if i % 5 == 3 else BodyKind.RIGID
            row = model.rigid((1.0, 1.5, 2.0), scheme=RIGID_SCHEMES[i % 3], angular=random.normal(size=3), kind=kind)
            if kind == BodyKind.RIGID:
                model.loads.add_force(row, "CONVECTED", random.normal(size=3), random.normal(size=3), 3.0)
    model.loads.set_gravity((0, TimeSeries([0, 1], [0, 1]), -9.81))
    return model.initialise()


def test_two_threads_give_the_same_bits_as_one():
    states = []
    for _ in with_threads(1, 2):
        model = crowd(1201)
        critical = motion.critical_step(model.bodies)
        model.run(1e-4, 5)
        bodies = model.bodies
        states.append(
            (critical, motion.critical_step(bodies), bodies.configurations.conf, bodies.triples.velo, bodies.energy)
        )
    assert states[0][:2] == states[1][:2]
    for one, two in zip(states[0][2:], states[1][2:]):
        assert one.tobytes() == two.tobytes()


def test_a_body_moves_the_same_alone_and_among_others():
    """Rigid bodies are moved eight at a time, with or without a pass for loads in between: no lane may see its neighbour."""

    def add(model, i):
        random = np.random.default_rng(i)
        if i % 7 == 5:
            return model.cube(), random
        kind = BodyKind.OBSTACLE if i % 7 == 3 else BodyKind.RIGID
        spin = random.normal(size=3) * (40.0 if i % 4 == 1 else 1.0)  # some beyond the series of the exponential map
        inertia = np.diag((1.0, 1.5, 2.0)) + 0.1
        row = model.rigid(
            inertia, scheme=RIGID_SCHEMES[i % 3], angular=spin, linear=random.normal(size=3), kind=kind, rotation_disabled=i % 11 == 6
        )
        return row, random

    crowd = Model()
    crowd.loads.set_gravity((0, 1.0, -9.81))
    rows = [add(crowd, i)[0] for i in range(83)]
    crowd.initialise().run(5e-3, 4)
    for loaded in (False, True):  # a load makes a step pass over the bodies twice, here of another body
        for i in range(83):
            model = Model()
            model.loads.set_gravity((0, 1.0, -9.81))
            row, _ = add(model, i)
            if loaded:
                model.loads.add_force(model.rigid(), "SPATIAL", (0, 0, 0), (1, 0, 0), 1.0)
            model.initialise().run(5e-3, 4)
            assert (model.conf(row) == crowd.conf(rows[i])).all(), i
            assert (model.velo(row) == crowd.velo(rows[i])).all(), i
            assert (model.bodies.energy[:, row] == crowd.bodies.energy[:, rows[i]]).all(), i


def test_critical_step_names_the_first_of_equal_bodies_for_any_number_of_threads():
    model = Model()
    for _ in range(1001):
        model.cube()
    for _ in with_threads(1, 2):
        assert motion.critical_step(model.bodies)[1] == 0


KERNELS = {
    motion: ("_initialise", "_predict", "_finish", "_critical_step"),
    loads: ("_add_point_loads",),
}


def test_kernels_receive_columns_as_they_are(monkeypatch):
    """f2py silently copies arrays of another type or order; none of ours is."""
    calls = []

    def watched(kernel):
        ranks = re.findall(r"(\w+) : .*?rank-(\d) array\('(.)'\)", kernel.__doc__)
        names = re.search(r"\(([^[\])]*)", kernel.__doc__).group(1).strip(",").split(",")
        expected = {name: (int(rank), letter) for name, rank, letter in ranks}

        def call(*arguments):
            for name, argument in zip(names, arguments, strict=True):
                if isinstance(argument, np.ndarray):
                    calls.append(name)
                    assert argument.flags.f_contiguous, name
                    assert (argument.ndim, argument.dtype.char) == expected[name], name
                else:
                    assert name not in expected, name
            return kernel(*arguments)

        return call

    for module, names in KERNELS.items():
        for name in names:
            monkeypatch.setattr(module, name, watched(getattr(module, name)))
    model = crowd(40)  # more than the first capacity of the tables
    model.run(1e-4, 1)
    motion.critical_step(model.bodies)
    assert {"handles", "gravity"} <= set(calls)


@pytest.mark.parametrize("count", [10, 400])
def test_a_step_costs_little_python_whatever_the_number_of_bodies(count):
    """Python's share is what is left when the kernels do nothing: 5 us on a quiet machine, some tens on a busy one."""
    model = Model()
    for _ in range(count):
        model.rigid()
    model.loads.set_gravity((0, 0, -9.81))
    model.initialise()
    bodies, table = model.bodies, model.loads
    bodies.n = 0
    best = np.inf
    for _ in range(20):
        start = perf_counter()
        for _ in range(100):
            motion.predict(bodies, table, 0.0, 1e-3)
            motion.correct(bodies, 1e-3)
        best = min(best, (perf_counter() - start) / 100)
    assert best < 60e-6


def failing(action, words, **columns):
    model = Model()
    model.rigid()
    row = model.rigid(id=77)
    for name, value in columns.items():
        getattr(model.bodies, name)[..., row] = value
    with pytest.raises(SolfecError, match=words):
        action(model)


def test_a_body_without_mass_is_reported():
    failing(Model.initialise, "body 77: mass is 0", mass=0.0)


def test_a_tensor_that_is_not_positive_definite_is_reported():
    failing(Model.initialise, "body 77: the inertia", tensor=np.diag([1.0, 1.0, -1.0]))
    failing(Model.initialise, "body 77: the inertia", tensor=np.zeros((3, 3)))


@pytest.mark.parametrize("column", ["conf", "velo"])
def test_a_state_that_is_not_finite_is_reported(column):
    def assigned(model):
        model.initialise()
        getattr(model, column)(1)[2, 1] = np.inf
        model.run(1e-3, 1)

    failing(assigned, "body 77 .*not finite")


def test_a_reaction_that_is_not_finite_is_reported():
    def step(model):
        model.initialise()
        model.bodies.triples.reaction[0, 3] = np.nan
        model.run(1e-3, 1)

    failing(step, "body 77 .*reaction is not finite")


def test_a_reflection_is_not_a_rotation():
    def reflected(model):
        model.conf(1)[:, :3] = np.diag([1.0, 1.0, -1.0001])
        model.velo(1)[:, 0] = 1.0
        model.initialise().run(1e-3, 1)

    failing(reflected, "body 77 .*determinant")


def test_implicit_rotation_far_too_fast_for_the_step_is_reported_or_solved():
    for speed in (1.0, 10.0, 100.0, 1000.0):
        model = Model()
        model.rigid((1.0, 2.0, 3.0), scheme=Scheme.RIG_IMP, angular=(speed, 0.7 * speed, -0.4 * speed))
        model.initialise()
        before = model.spatial_momentum()
        try:
            model.run(0.01, 20)
        except SolfecError as error:
            assert "smaller step" in str(error)
        else:
            assert np.linalg.norm(model.spatial_momentum() - before) < 1e-9 * np.linalg.norm(before)
