"""Bodies that crack in models that run divided among several owners; in threads of one process."""

import copy

import breaking
import numpy as np
import pytest
from courses import NOTHING, contents, course, rounded
from processes import spmd
from test_divided_bodies import OFTEN, quick

from solfec import divided
from solfec.divided import Divided
from solfec.lives import Cause
from solfec.parallel.colours import hashes
from solfec.parallel.partition import Balance, Partition
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.unsolved import UnsolvedSteps

pytestmark = pytest.mark.usefixtures("fresh_session")


@pytest.mark.parametrize(("size", "steps"), [(2, 17), *(pytest.param(size, 40, marks=pytest.mark.slow) for size in (2, 3, 4, 7))])
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
def test_auto_solver_cracks_bodies_as_a_serial_run(size):
    model = breaking.cracking().model
    parts = course(model, size, 40, balance=OFTEN, make=AutoSolver)[0]
    for _ in range(40):
        model.advance(AutoSolver())
    assert rounded(parts[-1:], model)[0][:3] == rounded([contents(model)], model)[0][:3] and len(model.lives.events) > 30


def test_fragments_get_their_identifiers_in_the_order_of_bodies(monkeypatch):
    """Wherever bodies are that crack in one step: bodies 2, 3 and so on become 7 and 8, 9 and 10."""
    monkeypatch.setattr(Partition, "leaf_of", lambda tree, points, ids: (hashes(ids, ids) % tree.leaves).astype(np.int32))
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
    monkeypatch.setattr(Partition, "leaf_of", lambda tree, points, ids: (hashes(ids, ids) % tree.leaves).astype(np.int32))
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
    """A division after the crack loses no local dynamics that the message needs."""
    model = breaking.burst().model
    poor = GaussSeidelSolver(1e-16, 1)
    poor.colouring = "ON"

    def told(world):
        whole, said = copies[world.rank], []
        run, unsolved = Divided(whole, world, poor, Balance(), NOTHING), UnsolvedSteps(said.append)
        while not whole.lives.events:
            run.advance()
        unsolved.after_step(run.model, run.reported)
        unsolved.end("GAUSS_SEIDEL", whole.step_number)
        return said

    copies = [copy.deepcopy(model) for _ in range(2)]
    one, other = spmd(2, told)
    assert "did not reach its accuracy in 1 of" in one[0] and "of body" in one[0] and "of body" in other[0]
