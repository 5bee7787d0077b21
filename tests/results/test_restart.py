"""A run continued from a stored frame gives the bits of a run that was not interrupted."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))

import models  # noqa: E402

from solfec.bodies.materials import BulkMaterial  # noqa: E402
from solfec.bodies.table import BodyKind, Scheme  # noqa: E402
from solfec.constraints.curves import SpringCurves  # noqa: E402
from solfec.constraints.table import ConstraintKind, DirectionUpdate  # noqa: E402
from solfec.domain import Domain  # noqa: E402
from solfec.errors import SolfecError  # noqa: E402
from solfec.results import ResultsReader, ResultsWriter  # noqa: E402
from solfec.shapes.sphere import Sphere  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402
from solfec.time_series import SeriesTable, TimeSeries  # noqa: E402


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
    model.joints.fix_point(rigid[0], centre + 0.5)
    model.joints.rigid_link(rigid[3], rigid[4], bodies.centre[:, model.body_row(rigid[3])],
                     bodies.centre[:, model.body_row(rigid[4])] + 0.25)  # fmt: skip
    model.states.set_velocity(rigid[7], (0.3, -0.2, 0.1), (1.0, 2.0, 3.0))
    return model


def advance(model, steps):
    solver = GaussSeidelSolver(1e-5, 100)
    for _ in range(steps):
        if model.step_number == 25:
            model.delete_body(6)
        model.advance(solver)


def state(model):
    """Return the state of a model that users see, as bytes."""
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


def joined(law):
    """Make balls with constraints of every kind."""
    model = Domain(1e-3)
    model.loads.set_gravity((0.0, 0.5, -10.0))
    bulk = BulkMaterial(young=1e7, poisson=0.3, density=1000.0)
    places = [(float(k), 0.0, 0.0) for k in range(8)]
    balls = [model.insert_body(BodyKind.RIGID, [Sphere(place, 0.2, 1, 1)], bulk) for place in places]
    plate = model.insert_body(BodyKind.OBSTACLE, [models.box((-1.0, -1.0, -0.4), (9.0, 1.0, -0.199))], bulk)
    model.joints.fix_point(balls[0], places[0])
    model.joints.fix_direction(balls[1], places[1], (0.6, 0.0, 0.8))
    model.joints.fix_direction(balls[2], places[2], (0.0, 1.0, 0.0), balls[3], places[3])
    wave = TimeSeries(np.linspace(0.0, 1.0, 50), np.sin(np.arange(50.0)))
    model.joints.prescribe_velocity(balls[4], places[4], (1.0, 0.0, 0.0), wave.integral())
    model.joints.prescribe_velocities(plate, (0.0, 0.0, -0.3), np.eye(3), (0.0, wave, 0.01))
    model.joints.rigid_link(balls[5], None, places[5], (5.0, 0.0, 2.0))
    model.joints.spring(balls[4], places[4], balls[5], places[5], law, (-0.3, 0.3))
    model.joints.spring(balls[6], places[6], balls[7], places[7], law, (-1e-5, 1e-5), (1.0, 0.0, 0.0), DirectionUpdate.CONV1, implicit=True)
    model.states.set_velocity(balls[6], (0.1, 0.0, 0.0), (0.0, 1.0, 2.0))
    return model


LAWS = {"curve": [(-0.1, 500.0), (0.0, 0.0), (0.05, -500.0)], "function": lambda stroke, velocity: -5e3 * stroke - 2.0 * velocity}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_joints_motions_and_springs_continue_with_the_same_bits(tmp_path, law):
    whole = joined(law)
    advance(whole, 12)
    joints_of_mechanisms = {kind for kind in ConstraintKind if kind >= ConstraintKind.GUIDE}  # tests/restart/models/mechanisms.py
    assert set(whole.constraints.view("kind").tolist()) == set(ConstraintKind) - joints_of_mechanisms
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        writer.write_frame(whole)
    continued = joined(law)
    with ResultsReader(tmp_path / "run") as reader:
        reader.load(continued, 0)
    for model in (whole, continued):
        advance(model, 20)
    assert state(continued) == state(whole)


def test_a_continued_run_without_its_series_or_springs_says_which_constraint_lacks_them(tmp_path):
    for law, missing in ((LAWS["curve"], "curve"), (LAWS["function"], "function")):
        whole = joined(law)
        with ResultsWriter.create(str(tmp_path / missing)) as writer:
            writer.write_frame(whole)
        for forgotten in ("time series", missing):
            continued = joined(law)
            with ResultsReader(tmp_path / missing) as reader:
                reader.load(continued, 0)
            if forgotten == "time series":
                continued.constraints.series = SeriesTable()
            else:
                continued.constraints.curves, continued.constraints.functions = SpringCurves(), {}
            with pytest.raises(SolfecError, match=f"{forgotten} of constraint [0-9]+ .*continued run"):
                advance(continued, 1)
