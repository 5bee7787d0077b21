"""A run continued from a stored frame gives the bits of a run that was not interrupted."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))

import models  # noqa: E402

from solfec.bodies.materials import BulkMaterial  # noqa: E402
from solfec.bodies.table import BodyKind, Scheme  # noqa: E402
from solfec.results import ResultsReader, ResultsWriter  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402


def mixed():
    """Stacks of rigid cubes, some pseudo-rigid, with a pinned corner and a link."""
    model = models.stacks(2, 2, 3)
    soft = BulkMaterial(young=1e7, poisson=0.3, density=1000.0)
    model.insert_body(BodyKind.PSEUDO_RIGID, [models.box((1.2, 1.2, 0.002), (1.9, 1.9, 0.7))], soft)
    bodies = model.bodies
    rigid = bodies.view("id")[bodies.view("kind") == BodyKind.RIGID].tolist()
    bodies.scheme[model.body_row(rigid[1])] = Scheme.RIG_IMP
    bodies.scheme[model.body_row(rigid[2])] = Scheme.RIG_POS
    centre = bodies.centre[:, model.body_row(rigid[0])]
    model.fix_point(rigid[0], centre + 0.5)
    model.rigid_link(rigid[3], rigid[4], bodies.centre[:, model.body_row(rigid[3])],
                     bodies.centre[:, model.body_row(rigid[4])] + 0.25)  # fmt: skip
    model.set_velocity(rigid[7], (0.3, -0.2, 0.1), (1.0, 2.0, 3.0))
    return model


def advance(model, steps):
    solver = GaussSeidelSolver(1e-5, 100)
    for _ in range(steps):
        if model.step_number == 25:
            model.delete_body(6)
        model.advance(solver)


def state(model):
    """What the user sees of a model, as bytes."""
    bodies, table = model.bodies, model.constraints
    columns = [bodies.configurations.view("conf"), bodies.triples.view("velo"), bodies.view("momentum"), bodies.view("energy")]
    columns += [table.view(name) for name in ("id", "birth", "R", "U", "V", "point", "base", "gap", "area", "master", "slave")]
    return [np.ascontiguousarray(column).tobytes() for column in columns] + [model.time, model.contact_energy]


@pytest.mark.parametrize("stop", [1, 30, 40])
def test_a_run_continued_from_a_frame_has_the_bits_of_one_run(tmp_path, stop):
    whole = mixed()
    advance(whole, stop)
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        writer.write_frame(whole)
    continued = mixed()
    with ResultsReader(tmp_path / "run") as reader:
        reader.load(continued, 0)
    assert state(continued) == state(whole)
    advance(whole, 30)
    advance(continued, 30)
    assert whole.constraints.n > 3
    assert state(continued) == state(whole)
    assert continued.time == whole.time and continued.next_body_id == whole.next_body_id
