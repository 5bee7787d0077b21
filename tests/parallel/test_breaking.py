"""Bodies that crack in models that run divided among several owners; in threads of one process."""

import copy
import itertools

import breaking
import numpy as np
import pytest
from courses import NOTHING, contents, course, rounded, scatter, sweeps
from processes import spmd
from test_divided_bodies import OFTEN, quick
from test_gathered import by_keys, serial

from solfec import divided
from solfec.divided import Divided
from solfec.lives import Cause
from solfec.parallel.communicator import Alone
from solfec.parallel.partition import Balance
from solfec.results.records import constraint_records
from solfec.solvers.auto import AutoSolver
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.unsolved import UnsolvedSteps

pytestmark = pytest.mark.usefixtures("fresh_session")


@pytest.mark.parametrize(("size", "steps"), [(2, 12), *(pytest.param(size, 40, marks=pytest.mark.slow) for size in (2, 3, 4, 7))])
def test_bodies_crack_in_any_number_of_processes_as_in_one(size, steps):
    """Fragments have the same identifiers, states, energies, constraints and remaining cracks, after every fifth step."""
    model = breaking.cracking().model
    whole, _ = course(model, 1, steps, looks=5, make=quick)
    assert course(model, size, steps, looks=5, balance=OFTEN, make=quick)[0] == whole
    for _ in range(steps):
        model.advance(quick())
    deaths = [event for event in model.lives.events if not event.born]
    assert all(event.cause == Cause.CRACK for event in deaths) and len({event.step for event in deaths}) > 4
    assert {model.lives.parents.get(event.body, 0) > 0 for event in deaths} == {False, True}  # fragments crack, too


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 7])
def test_bonds_of_new_faces_break_in_any_number_of_processes_as_in_one(size):
    model = breaking.bonded_cracks().model
    whole, _ = course(model, 1, 40, looks=5, make=quick)
    assert course(model, size, 40, looks=5, balance=OFTEN, make=quick)[0] == whole
    damaged = np.frombuffer(whole[-1][1], constraint_records(model.constraints, model).dtype)["damage"]
    assert (damaged > 0).sum() > 20 and (damaged == 1).any()


@pytest.mark.parametrize(("material", "size"), [("COHESIVE", 3), *(pytest.param(*case, marks=pytest.mark.slow) for case in itertools.product(("COHESIVE", "GLUED"), (2, 4, 7)))])
def test_bonds_break_in_any_number_of_processes_as_in_one(material, size):
    """Also in steps that sweeps cannot solve, of which all processes give the same cause."""

    def make():
        return sweeps(1e-4, 100)

    model = breaking.wall(getattr(breaking, material)).model
    whole, _ = course(model, 1, 10, looks=2, make=make)
    assert course(model, size, 10, looks=2, balance=OFTEN, make=make)[0] == whole
    assert "bonds soften" in whole[-1][-1] or material == "GLUED"
    kind = constraint_records(model.constraints, model).dtype
    bonds = [(np.frombuffer(records, kind)["cohesion"] > 0).sum() for _, records, *_ in whole]
    assert bonds[0] > bonds[-1] and (bonds[0] > 80 or material == "GLUED")


@pytest.mark.slow
@pytest.mark.parametrize("make", [AutoSolver, NewtonSolver, by_keys])
@pytest.mark.parametrize("material", ["COHESIVE", "GLUED"])
def test_solvers_of_the_whole_break_bonds_as_in_a_serial_run(make, material):
    model = breaking.wall(getattr(breaking, material)).model
    parts = course(model, 3, 12, looks=2, balance=OFTEN, make=make)[0]
    assert rounded(parts, model) == rounded(serial(model, 12, make(), looks=2), model)


@pytest.mark.parametrize("make", [AutoSolver, *(pytest.param(make, marks=pytest.mark.slow) for make in (NewtonSolver, by_keys))])
def test_glue_at_single_points_ends_as_in_a_serial_run(make):
    model = breaking.glued_pairs().model
    parts = course(model, 2, 6, looks=1, make=make)[0]
    assert rounded(parts, model) == rounded(serial(model, 6, make(), looks=1), model)
    assert 0 < (model.constraints.view("cohesion") > 0).sum() < 6


@pytest.mark.parametrize("make", [quick, pytest.param(AutoSolver, marks=pytest.mark.slow)])
def test_bonds_between_copies_end_where_owners_find_that_they_end(make):
    """They decide which contacts beside them are redundant."""
    copies = [breaking.wall().model for _ in range(3)]

    def differing(world):
        whole, wrong, foreign = copies[world.rank], 0, 0
        run = Divided(whole, world, make(), Balance(), NOTHING)
        for _ in range(7):
            run.advance()
            run.show()
            known = dict(zip(whole.constraints.view("id").tolist(), whole.constraints.view("cohesion").tolist()))
            here = run.part.model.constraints
            wrong += sum(known[number] != value for number, value in zip(here.view("id").tolist(), here.view("cohesion").tolist()))
            foreign += int(((here.view("cohesion") > 0) & ~run.part.holds(np.arange(here.n))).sum())
        return wrong, foreign

    found = spmd(3, differing)
    assert [wrong for wrong, _ in found] == [0, 0, 0] and min(foreign for _, foreign in found) > 10


def test_a_bond_between_bodies_of_two_processes_takes_its_fracture_energy():
    """They are 100 J for a face of 1 m^2; a bond that breaks in some 60 steps takes a few of them less."""
    copies = [breaking.two_blocks().model for _ in range(2)]

    def run(world):
        course, steps = Divided(copies[world.rank], world, quick(), Balance(), NOTHING), 0
        assert course.part.sizes == (1, 1)
        while steps < 200:
            course.advance()
            steps += 1
            if not (course.part.model.constraints.view("cohesion") > 0).any():
                break
        return copies[world.rank].contact_energy, steps

    (energy, steps), other = spmd(2, run)
    assert other == (energy, steps) and 40 < steps < 200
    assert -100 < energy < -92


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 7])
def test_auto_solver_cracks_bodies_as_a_serial_run(size):
    model = breaking.cracking().model
    parts = course(model, size, 40, balance=OFTEN, make=AutoSolver)[0]
    for _ in range(40):
        model.advance(AutoSolver())
    assert rounded(parts[-1:], model)[0][:3] == rounded([contents(model)], model)[0][:3] and len(model.lives.events) > 30


def test_fragments_get_their_identifiers_in_the_order_of_bodies(monkeypatch):
    """Wherever bodies are that crack in one step: bodies 2, 3 and so on become 7 and 8, 9 and 10."""
    scatter(monkeypatch)
    copies = [breaking.bursts().model for _ in range(3)]

    def events(world):
        whole = copies[world.rank]
        run = Divided(whole, world, quick(), Balance(), NOTHING)
        while not whole.lives.events:
            run.advance()
        assert len(set(whole.bodies.owner[1 : whole.bodies.n].tolist())) == 3
        return [(event.body, event.parent) for event in whole.lives.events]

    expected = [pair for body in range(2, 7) for pair in ((body, 0), (2 * body + 3, body), (2 * body + 4, body))]
    assert spmd(3, events) == [expected] * 3


@pytest.mark.slow
def test_absurd_divisions_have_the_bits_of_the_whole(monkeypatch):
    model = breaking.cracking().model
    whole, _ = course(model, 1, 30, make=quick)
    scatter(monkeypatch)
    monkeypatch.setattr(divided, "LASTING", 2)
    assert course(model, 3, 30, make=quick)[0] == whole


def test_averages_of_stresses_follow_rigid_bodies_to_other_owners(monkeypatch):
    """Bars fly through all regions and strike one another; those that do not crack have the averages of a serial run."""
    model = breaking.flying().model
    alone = copy.deepcopy(model)
    monkeypatch.setattr(divided, "LASTING", 2)
    parts, moves = course(model, 3, 20, balance=Balance(1.05, 1.0, 3), make=AutoSolver)
    for _ in range(20):
        alone.advance(AutoSolver())
    assert moves >= 6 and len(alone.cracks.tensions) == 24 and alone.constraints.n > 3
    assert rounded(parts[-1:], model)[0][0] == rounded([contents(alone)], model)[0][0]


def test_an_unsolved_step_has_its_name_when_a_body_cracks_in_it():
    """In several processes as in one, although the body has gone and parts have been made anew."""
    model = breaking.burst().model
    poor = sweeps(1e-16, 1)

    def told(world):
        whole, said = copies[world.rank], []
        run, unsolved = Divided(whole, world, poor, Balance(), NOTHING), UnsolvedSteps(said.append)
        while not whole.lives.events:
            run.advance()
        unsolved.after_step(run.model, run.reported, run.worst)
        unsolved.end("GAUSS_SEIDEL", whole.step_number)
        return said

    copies = [copy.deepcopy(model)]
    alone = told(Alone())
    copies = [copy.deepcopy(model) for _ in range(2)]
    one, other = spmd(2, told)
    assert "did not reach its accuracy in 1 of" in one[0] and "of body 2 and body 1" in one[0] and one == other == alone


def recorded(fractures):
    """Return records of fracture checks as bytes."""
    return [(one.body, one.time, one.step, *(array.tobytes() for array in (one.displacement, one.radius, one.point, one.reaction))) for one in fractures.records]


@pytest.mark.parametrize("size", [2, *(pytest.param(size, marks=pytest.mark.slow) for size in (3, 4, 7))])
def test_fracture_checks_record_what_they_record_in_one_process(size):
    """Process 0 has all records when frames are written, also those of bodies that others moved and of times before a callback."""

    def run(world):
        whole = copies[world.rank]
        course = Divided(whole, world, quick(), OFTEN, NOTHING)
        for step in range(30):
            course.advance()
            if step == 25:  # a callback
                course.show()
                course.take()
            if step == 28:  # a frame
                course.collect()
        course.collect()
        return recorded(whole.fractures)

    copies = [breaking.checked().model]
    alone = run(Alone())
    copies = [breaking.checked().model for _ in range(size)]
    assert spmd(size, run)[0] == alone
    assert {record[0] for record in alone} == {2, 13} and len(alone) > 8
