"""A model that is divided among several owners, in one process, takes the same course as the whole one."""

import copy
import math
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT / "benchmarks"))  # behind this folder, which has a module processes, too

import models  # noqa: E402
from processes import spmd  # noqa: E402

from solfec.errors import SolfecError  # noqa: E402
from solfec.kinds import BodyKind  # noqa: E402
from solfec.parallel.colours import colour, hashes  # noqa: E402
from solfec.parallel.communicator import Alone  # noqa: E402
from solfec.parallel.part import NO_CONTACT, Part, pairs_of_rows  # noqa: E402
from solfec.parallel.part_sweeps import PartSweeps  # noqa: E402
from solfec.parallel.partition import Balance  # noqa: E402
from solfec.parallel.prediction import divided  # noqa: E402
from solfec.parallel.sums import SweepSums, ordered_by_rows, ordered_nowhere  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402


def slabs(model, size):
    """Owners by the places of bodies along the longest side of the model."""
    centre = model.bodies.view("centre")
    axis = np.argmax(np.ptp(centre, axis=1))
    return np.argsort(np.argsort(centre[axis], kind="stable")) * size // model.bodies.n


def anyhow(model, size):
    """Owners without any sense."""
    ids = model.bodies.view("id")
    return hashes(ids, ids) % size


def settled(model, steps):
    """A model whose bodies have begun to touch."""
    for _ in range(steps):
        model.advance(GaussSeidelSolver(1e-3, 50))
    return model


#: Models, and the reach with which they are divided.
MODELS = {"block": (lambda: models.block(3), 1.0), "spheres": (lambda: settled(models.spheres(150, side=3), 350), 0.1), "stacks": (lambda: settled(models.stacks(3, 2, 4), 60), 0.2)}
DIVIDED = {"slabs": slabs, "anyhow": anyhow}


def course(model, owner, size, steps, solver=None, reach=1.0):
    """States of own bodies and reactions of their contacts after some steps, by identity, from all parts."""

    def program(world):
        mine = copies[world.rank]
        mine.bodies.view("owner")[:] = owner
        part = Part(mine, world, reach)
        sweeps = PartSweeps(part, copy.copy(solver or GaussSeidelSolver(1e-4, 60)))
        reports = []
        for _ in range(steps):
            part.advance(sweeps)
            report = mine.report
            reports.append((report.iterations, report.error, report.status))
        held = {int(mine.bodies.id[row]): state_of(mine, row) for row in np.flatnonzero(part.moving)}
        return collect(part), reports, part, held

    copies = [copy.deepcopy(model) for _ in range(size)]
    results = spmd(size, program)
    bodies, contacts = {}, {}
    for (states, reactions), *_ in results:
        assert not set(states) & set(bodies)
        bodies.update(states)
        for key, value in reactions.items():
            assert contacts.setdefault(key, value) == value  # two owners find and solve a contact alike
    assert all(reports == results[0][1] for _, reports, *_ in results)
    for *_, held in results:  # copies are in their owners' states
        assert held.items() <= bodies.items()
    return bodies, contacts, results[0][1], [part for *_, part, _ in results]


def state_of(model, row):
    bodies = model.bodies
    parts = bodies.configurations.conf[:, bodies.conf_slice(row)], bodies.triples.velo[:, bodies.velo_slice(row)], bodies.energy[:, row]
    return b"".join(np.ascontiguousarray(array).tobytes() for array in (*parts, bodies.momentum[:, row]))


def collect(part):
    model = part.model
    bodies, constraints = model.bodies, model.constraints
    states = {int(bodies.id[row]): state_of(model, row) for row in part.own}
    reactions = {}
    for k in range(constraints.n):
        sides = [(int(constraints.master[k]), int(constraints.master_primitive[k])), (int(constraints.slave[k]), int(constraints.slave_primitive[k]))]
        if any(part.owned[row] for row, _ in sides):
            ends = tuple((int(bodies.id[row]), int(number - bodies.primitive_ptr[row])) for row, number in sides)
            key = int(constraints.birth[k]), ends, int(constraints.slot[k])
            reactions[key] = b"".join(np.ascontiguousarray(getattr(constraints, name)[..., k]).tobytes() for name in ("R", "U", "V", "base", "gap", "area"))
    return states, reactions


@pytest.mark.parametrize("division", DIVIDED)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name != "stacks" else []) for name in MODELS])
def test_parts_have_the_bits_of_the_whole(name, division):
    build, reach = MODELS[name]
    model = build()
    whole = course(model, np.zeros(model.bodies.n), 1, 6, reach=reach)
    assert len(whole[1]) > 20
    for size in (3,) if name == "block" else (2, 3):
        parts = course(model, DIVIDED[division](model, size), size, 6, reach=reach)
        assert parts[2] == whole[2]
        assert parts[0] == whole[0]
        assert parts[1] == whole[1]


def test_parts_hold_less_than_the_whole_and_exchange_something():
    model = models.stacks(12, 1, 3)
    *_, parts = course(model, slabs(model, 3), 3, 2, reach=0.2)
    assert all(part.model.bodies.n < 0.8 * model.bodies.n for part in parts)
    assert all(part.own.size > 0 for part in parts)


def test_parts_may_be_without_bodies_or_contacts():
    model = models.spheres(20)
    whole, parts = (course(model, owner, size, 3) for owner, size in ((np.zeros(21), 1), (np.arange(21) % 2 * 2, 4)))
    assert whole[:3] == parts[:3] and not whole[1]
    assert [part.own.size for part in parts[3]] == [10, 0, 10, 0]
    stack = settled(models.stacks(3, 2, 4), 60)
    assert course(stack, np.zeros(stack.bodies.n), 1, 3)[:3] == course(stack, np.full(stack.bodies.n, 2), 3, 3)[:3]


def test_a_whole_model_agrees_with_the_serial_solver():
    """The one sweeps by colours, the other by keys: the same solution to accuracy."""
    model, serial = models.block(3), models.block(3)
    solver = GaussSeidelSolver(1e-12, 5000)
    course_of_one = course(model, np.zeros(model.bodies.n), 1, 8, solver)
    for _ in range(8):
        serial.advance(GaussSeidelSolver(1e-12, 5000))
    (part,) = course_of_one[3]
    for table, column in (("configurations", "conf"), ("triples", "velo")):
        one, two = (getattr(m.bodies, table).view(column) for m in (part.model, serial))
        assert np.abs(one - two).max() < 1e-7 * max(1.0, np.abs(two).max())


def test_colours_divide_no_body_and_depend_on_no_owner():
    model = settled(models.spheres(120), 350)

    def program_of(copies, owner):
        def program(world):
            mine = copies[world.rank]
            mine.bodies.view("owner")[:] = owner
            part = Part(mine, world, 0.02)
            ends = pairs_of_rows(mine.constraints, np.arange(mine.constraints.n), part.moving)
            rows = np.flatnonzero(part.owned[ends[0]] & (ends[0] >= 0) | part.owned[ends[1]])
            found, _ = colour(part, ends[:, rows])
            ids = mine.bodies.id[np.maximum(ends[:, rows], 0)] * (ends[:, rows] >= 0)
            return dict(zip(map(tuple, ids.T.tolist()), found.tolist()))

        return program

    (whole,) = spmd(1, program_of([copy.deepcopy(model)], 0))
    assert len(whole) > 20 and len(set(whole.values())) > 2
    for colour_of in set(whole.values()):
        bodies = [body for pair, chosen in whole.items() if chosen == colour_of for body in pair if body]
        assert len(bodies) == len(set(bodies))
    for found in spmd(3, program_of([copy.deepcopy(model) for _ in range(3)], anyhow(model, 3))):
        assert found.items() <= whole.items()


def test_sums_do_not_depend_on_order_or_parts():
    rng = np.random.default_rng(7)
    terms = rng.random((3, 500)) * 10.0 ** rng.integers(-12, 6, (3, 500))
    whole = ordered_nowhere(terms, Alone())
    assert np.allclose(whole, terms.sum(axis=1), rtol=1e-15)
    shuffled = terms[:, rng.permutation(500)]
    for found in spmd(3, lambda world: ordered_nowhere(np.array_split(shuffled, 3, axis=1)[world.rank], world)):
        assert found.tobytes() == whole.tobytes()
    rows = np.arange(0, 500, 3)
    for size in (1.0, 1e-290):
        listed = ordered_by_rows(rows, np.asfortranarray(size * terms), Alone())
        assert listed.tobytes() == ordered_nowhere(size * terms[:, rows], Alone()).tobytes()
    assert ordered_nowhere(np.zeros((3, 0)), Alone()).tolist() == [0, 0, 0]
    assert ordered_nowhere(np.array([[1.0, np.inf], [1.0, 2.0]]), Alone())[0] == np.inf


def test_bodies_that_have_moved_too_far_are_told_of():
    model = models.spheres(20)
    moving = np.flatnonzero(model.bodies.view("kind") != BodyKind.OBSTACLE)[0]
    model.states.set_velocity(int(model.bodies.id[moving]), (0, 0, 1e3), (0, 0, 0))
    with pytest.raises(SolfecError, match="more than a quarter of the reach 0.01"):
        course(model, slabs(model, 2), 2, 20, reach=0.01)


def test_what_cannot_be_divided_yet_is_refused():
    model = models.block(2)
    with pytest.raises(SolfecError, match="reach 1e-06 of parts of a model must be at least 8e-06"):
        Part(model, Alone(), 1e-6)
    model.bodies.view("owner")[:] = 1
    with pytest.raises(SolfecError, match="owners of bodies must be ranks from 0 to 0"):
        Part(model, Alone(), 1.0)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_threads_sweep_the_colours_of_a_part_with_the_same_bits(size, reverse, threads):
    """Faces share four contacts, which have to be visited one after the other."""
    model = models.block(7, manifold=True)
    solver = GaussSeidelSolver(1e-12, 15)
    solver.reverse = reverse
    owner, courses = slabs(model, size), []
    for count in (1, 2, 3):
        threads(count)
        courses.append(course(copy.deepcopy(model), owner, size, 2, solver)[:3])
    assert len(courses[0][1]) > 12 * 128  # enough rows of each colour
    assert courses[1] == courses[0] and courses[2] == courses[0]


def test_bodies_are_divided_by_the_sweeps_that_their_contacts_take():
    """A block beside eight times as many bodies that fly: half of the contacts is the goal, not half of the bodies."""
    model = models.block(5)
    for k in range(1000):
        model.insert_body(BodyKind.RIGID, [models.box((100.0 + 2 * k, 0, 0), (101.0 + 2 * k, 1, 1))], model.bulk_materials[0])
    part = Part(model, Alone(), 1.0)
    part.advance(PartSweeps(part, GaussSeidelSolver(1e-14, 400)))
    assert model.report.iterations == 400
    owner = divided(model, 1.0, 2, Balance())
    contacts = np.bincount(owner[pairs_of_rows(model.constraints, np.arange(model.constraints.n), part.moving)[1]])
    assert contacts.sum() > 100 and contacts.max() < 0.6 * contacts.sum()


def test_pairs_that_come_apart_and_touch_with_exchanged_roles_are_numbered_as_new_ones():
    """As in a serial run; further points of pairs that still touch come before them."""
    model = models.block(3, manifold=True)
    part = Part(model, Alone(), 1.0)
    part.advance(PartSweeps(part, GaussSeidelSolver(1e-3, 50)))
    constraints, rows = model.constraints, np.arange(model.constraints.n)[:5]
    part._note_touching()
    model.geometry.workspace.joined = np.array([constraints.slave_primitive[rows[:2]], constraints.master_primitive[rows[:2]]])
    first = part.contact_keys(rows)[0]
    assert np.isin(first[:2], constraints.id[: constraints.n]).all()
    joined = part._pairs(constraints.master_primitive[rows], constraints.slave_primitive[rows])
    others = ~np.isin(joined, joined[:2])
    assert others.any() and (first[others] == NO_CONTACT).all()


def test_sums_after_sweeps_do_not_depend_on_order_or_parts_while_terms_grow_and_shrink():
    rng = np.random.default_rng(8)
    sweeps = [np.asfortranarray(rng.random((5, 300)) * 10.0**power) for power in (0, 0.3, 3, -4, -9, -9.2, 6, 6)]
    sweeps.append(np.zeros((5, 300), order="F"))
    rows = np.arange(300, dtype=np.int32)

    def course(world):
        totals, part = SweepSums(world), np.array_split(rows[::-1] if world.size > 1 else rows, world.size)[world.rank]
        return [totals(part, figures, np.array([world.rank, 0, 1], np.int32)) for figures in sweeps]

    whole = course(Alone())
    for (_, found), figures in zip(whole, sweeps):
        assert found == pytest.approx([math.fsum(terms) for terms in figures], rel=4e-16)
    for course_of_one in spmd(3, course):
        for (most, found), (_, expected) in zip(course_of_one, whole):
            assert most.tolist() == [2, 0, 1] and found.tobytes() == expected.tobytes()


def test_sweeps_tell_nothing_of_bodies_that_others_do_not_touch():
    """Processes with stacks side by side have copies of one another's bodies: a user would wait for messages that no row needs."""
    model = models.stacks(2, 1, 4)
    told, owner = [], (model.bodies.view("centre")[0] > 1.5).astype(int)
    for sweeps in (1, 20):
        *_, parts = course(model, owner, 2, 2, GaussSeidelSolver(1e-12, sweeps), reach=5.0)
        assert all(part.sent and part.received for part in parts)
        told.append([part.world.traffic.messages for part in parts])
    assert told[0] == told[1]


@pytest.mark.extreme_numbers
def test_a_term_that_is_no_number_spoils_its_own_sum_only():
    figures = np.ones((5, 4), order="F")
    figures[1, 2], figures[3, 0] = np.inf, np.nan
    assert SweepSums(Alone())(np.arange(4, dtype=np.int32), figures, np.zeros(3, np.int32))[1].tolist() == [0, np.inf, 0, np.inf, 0]
