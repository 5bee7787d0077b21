"""Contacts that are visited side by side take the course of contacts that are visited one by one, whatever their laws and bodies."""

import copy

import numpy as np
import pytest
from test_parts import MODELS, course

from solfec.bodies.materials import BulkMaterial
from solfec.kinds import BodyKind
from solfec.parallel.colour_messages import ColourMessages
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.rows_in_lanes import RowsInLanes

import models  # isort: skip  # test_parts has found its folder


def soft_heap():
    """Pseudo-rigid cubes, rows of eight entries, among rigid ones, whose rows have four, or six."""
    model, material = models.block(3), BulkMaterial(density=1000.0, young=1e7, poisson=0.3)
    for k in range(8):
        corner = np.array([0.4 + k % 2, 0.4 + k // 2 % 2, 3.0 + k // 4])
        model.insert_body(BodyKind.PSEUDO_RIGID, [models.box(corner, corner + 1)], material)
    return model


CASES = {name: build for name, (build, _) in MODELS.items()} | {"manifold": lambda: models.block(3, manifold=True), "soft": soft_heap}

def one_by_one(monkeypatch):
    """Let sweeps take the rows of a list one after the other."""
    monkeypatch.setattr(ColourMessages, "between", classmethod(lambda *given: None))


def pushed(name):
    """A model whose bodies move sideways, so that many contacts slide and some open."""
    model = CASES[name]()
    model.bodies.triples.velo[:, : model.bodies.triples.n] += 0.3 * np.random.default_rng(4).normal(size=(3, model.bodies.triples.n))
    return model


def reactions(model, solver, steps=3):
    """Reactions, states and sweeps of some steps."""
    _, found, reports, _ = course(model, np.zeros(model.bodies.n), 1, steps, solver)
    return found, reports


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("friction", [0.0, 0.3, 3.0], ids=["smooth", "rough", "jamming"])
@pytest.mark.parametrize("name", CASES)
def test_lanes_have_the_reactions_of_single_visits(name, friction, restitution, monkeypatch):
    """Where friction exceeds W_NN/|W_NT| the last reaction decides between sticking and sliding: such contacts leave their lanes."""
    model = pushed(name)
    model.surface_materials.friction[0] = friction
    model.surface_materials.restitution[0] = restitution
    solver = GaussSeidelSolver(1e-9, 2000)
    beside, told = reactions(copy.deepcopy(model), solver)
    one_by_one(monkeypatch)
    alone, said = reactions(model, solver)
    assert beside.keys() == alone.keys() and len(beside) > 10
    size = max(np.abs(np.frombuffer(value)).max() for value in alone.values())
    for key, value in beside.items():
        assert np.frombuffer(value) == pytest.approx(np.frombuffer(alone[key]), abs=1e-7 * size)
    assert [report[2] for report in told] == [report[2] for report in said]
    assert [report[0] for report in told] == pytest.approx([report[0] for report in said], abs=1)


def test_rows_of_pairs_with_many_contacts_are_visited_one_by_one(monkeypatch):
    """Cubes of elements on an obstacle: the rows of each would fill one lane, and leave others empty."""
    arranged, counts = RowsInLanes.arrange, []

    def arrange(rows, local, listed, *given):
        arranged(rows, local, listed, *given)
        slots, used = rows.chunks.slots, rows.slots.used
        counts.append((int(used[:slots].sum()), rows.chunks.judged_rest, listed.size))

    monkeypatch.setattr(RowsInLanes, "arrange", arrange)
    reactions(models.block(3), GaussSeidelSolver(1e-6, 100), 1)
    reactions(models.soft_cubes(2, 6), GaussSeidelSolver(1e-6, 100), 1)
    (few, none, all_few), (one, many, all_many) = counts
    assert few == all_few > 20 and none == 0
    assert one == 0 and many == all_many > 32
