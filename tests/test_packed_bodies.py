"""Bodies that are packed, deleted and unpacked again, or unpacked in another model, go on with the same bits."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_step import models, state
from test_step_changes import MODELS, SOLVERS, run

from solfec import body_packing
from solfec.bodies.cracks import Crack
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.body_rows import BodyRows
from solfec.domain import Domain
from solfec.errors import SolfecError
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.time_series import TimeSeries


def varied():
    """Several time series, curves, functions, pressures, materials and cracks, so that none is at the place that it has when it is packed."""
    model, material = models.domain(0.5, 1e-3)
    stiff = BulkMaterial(young=1e7, poisson=0.3, density=2e3)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1, -1, -1), (12, 2, 0))], material)
    for k in range(5):
        model.insert_body(BodyKind.RIGID, [models.box((2 * k, 0, 0), (2 * k + 1, 1, 1))], (material, stiff)[k % 2])
    held = [model.insert_body(BodyKind.PSEUDO_RIGID, [models.box((2 * k, 0, 3), (2 * k + 1, 1, 4))], stiff) for k in range(3)]
    for k, body in enumerate(held):
        place = model.bodies.centre[:, model.body_row(body)].copy()
        model.joints.prescribe_velocity(body, place, (1, 0, 0), TimeSeries([0, 1], [0, k]))
        model.loads.add_force(model.body_row(body), "SPATIAL", place, (0, 0, 1), TimeSeries([0, 1], [k, 2]))
        triangle = np.array([[(2 * k, 0, 4), (2 * k + 1, 0, 4), (2 * k + 1, 1, 4)]], float)
        model.loads.add_pressure(model.body_row(body), triangle, None, TimeSeries([0, 1], [2, 10 * k]))
        model.cracks.add(body, Crack(tuple(place.tolist()), (0.0, 0.0, 1.0), (0, 1), strength=1e30, energy=1.0))
        law = [[(-1, -10), (1, 10)], [(-1, -70), (1, 50)], lambda stroke, velocity: 20 * stroke - velocity][k]
        model.joints.spring(body, place, 3 + k, model.bodies.centre[:, 2 + k].copy(), law, (-9, 9))
        model.loads.add_callback(model.body_row(body), lambda q, u, t, h, k=k: (0.0,) * 9 + (k, 0, 1))
    return model


BUILT = {**MODELS, "varied": varied}
BEGUN = {}  # models by name, some steps after their beginning


def begun(name):
    """A copy of a model that has made some steps."""
    if name not in BEGUN:
        model = BEGUN[name] = BUILT[name]()
        run(model, 8)
    return copy.deepcopy(BEGUN[name])


def ids_of(model):
    return model.bodies.view("id").tolist()


def columns(model):
    """All columns of all tables but those in which only detection's course is, or what is compiled."""
    tables = (*BodyRows.of(model.bodies, model.geometry).tables.values(), model.constraints, model.loads.table, model.loads.pressures.table)
    left_out = ("evaluated", "node_ptr", "element_ptr", "overlap_ptr")
    return {
        (type(table).__name__, name): table.view(name).tobytes()
        for table in tables for name in table.COLUMNS if name not in left_out
    }  # fmt: skip


def without_lists(found):
    """Without rows of lists, of which the other model has its own."""
    return {key: value for key, value in found.items() if key[1] not in ("material", "series", "series_rows", "curve")}


def take_out(model, chosen):
    packed = model.pack_bodies(chosen)
    model.remove_bodies(np.isin(model.bodies.view("id"), list(chosen)))
    return packed


@pytest.mark.parametrize("name", BUILT)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bodies_packed_deleted_and_unpacked_go_on_with_the_same_bits(name, data):
    model, undisturbed = begun(name), begun(name)
    chosen = data.draw(st.sets(st.sampled_from(ids_of(model)), min_size=1))
    before = columns(model)
    model.unpack_bodies(take_out(model, chosen))
    after = columns(model)
    assert [key for key in before if before[key] != after[key]] == []
    assert model.constraints.functions == undisturbed.constraints.functions
    assert model.cracks.of_body.keys() == undisturbed.cracks.of_body.keys()
    assert run(model, 6) == run(undisturbed, 6)


@pytest.mark.parametrize("name", ["block", "spheres", "loaded", "chains", "mixed", "bases"])
def test_bodies_one_by_one_in_any_order(name):
    """Bodies that touch go together; otherwise rows come back in the middle of tables, time after time."""
    model, undisturbed = begun(name), begun(name)
    for identifier in ids_of(model)[::-1][:6]:
        for other in (model, undisturbed):
            other.advance(GaussSeidelSolver(1e-4, 100))
        model.unpack_bodies(take_out(model, [identifier]))
        assert ids_of(model) == sorted(ids_of(model))
    assert run(model, 4) == run(undisturbed, 4)


@pytest.mark.parametrize("name", ["block", "soft", "varied"])
def test_what_was_kept_from_former_steps_changes_nothing(name):
    """A step is made while bodies are away; a copy, which keeps nothing but its state, takes the same course when they are back."""
    model = begun(name)
    for chosen in ([3], [2, 4, 5], ids_of(model)[-2:], ids_of(model)[:1]):
        packed = take_out(model, chosen)
        run(model, 2)
        model.unpack_bodies(packed)
        copied = copy.deepcopy(model)
        assert run(copied, 3) == run(model, 3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_goes_on(solver):
    model, undisturbed = begun("springs"), begun("springs")
    one, two = SOLVERS[solver](), SOLVERS[solver]()
    run(model, 3, one), run(undisturbed, 3, two)
    model.unpack_bodies(take_out(model, ids_of(model)[::2]))
    assert run(model, 4, one) == run(undisturbed, 4, two)


def empty_like(model):
    """A model without bodies, whose lists of series and materials have something else in front, that has the other's gravity and options, and stands at its time."""
    other = Domain(model.step, model.epsilon, model.dynamic)
    other.loads.set_gravity(model.loads.gravity.tolist())
    other.loads.epsilon = model.loads.epsilon
    other.settings = copy.deepcopy(model.settings)
    other.clock_origin, other.time, other.step_number = model.clock_origin, model.time, model.step_number
    other.constraints.next_id = model.constraints.next_id
    first = other.surface_materials
    first.keep(np.zeros(first.n, bool))
    other.surface_labels.clear()
    first.unpack(model.surface_materials.pack(slice(0, model.surface_materials.n)))
    other.surface_labels += model.surface_labels
    other.bulk_materials.append(BulkMaterial(young=1.0, poisson=0.1, density=1.0))
    for table in (other.loads.series, other.constraints.series):
        table.add(TimeSeries([0, 1], [7, 8]))
    other.constraints.curves.add([(0, 5), (1, 5)])
    other.initialise()
    return other


@pytest.mark.parametrize("name", [*"block spheres soft loaded chains enhanced held bases mixed varied".split(), "soft implicit"])
def test_a_model_moves_into_an_empty_one(name):
    """Through a file, as to another process, where there are no functions."""
    model, ids = begun(name), ids_of(begun(name))
    other = empty_like(model)
    packed = model.pack_bodies(ids)
    if name != "varied":
        packed = pickle.loads(pickle.dumps(packed))
    other.unpack_bodies(packed)
    assert without_lists(columns(other)) == without_lists(columns(model))
    assert run(other, 6) == run(model, 6)


@pytest.mark.parametrize("name", ["block", "spheres", "varied"])
def test_a_model_gets_the_later_state_of_its_double(name):
    """Which has updated its shapes more often."""
    early, late = begun(name), begun(name)
    run(late, 7)
    take_out(early, ids_of(early))
    early.clock_origin, early.time, early.step_number = late.clock_origin, late.time, late.step_number
    early.unpack_bodies(late.pack_bodies(ids_of(late)))
    assert columns(early) == columns(late)
    assert run(early, 5) == run(late, 5)


def test_bodies_without_constraints_between_them_come_in_parts_in_any_order():
    model = MODELS["spheres"]()
    ids, other = ids_of(model), empty_like(model)
    for part in (ids[1::3], ids[2::3], ids[0::3]):
        other.unpack_bodies(model.pack_bodies(part))
    assert without_lists(columns(other)) == without_lists(columns(model))
    assert run(other, 12) == run(model, 12)


def test_what_cannot_be_packed_or_unpacked_is_refused():
    model = begun("block")
    with pytest.raises(SolfecError, match="body 99999 cannot be packed"):
        model.pack_bodies([99999])
    packed = model.pack_bodies(ids_of(model)[1:])
    with pytest.raises(SolfecError, match=f"body {ids_of(model)[1]} cannot be unpacked; the model has it already"):
        model.unpack_bodies(packed)
    with pytest.raises(SolfecError, match="is neither packed nor in the model; pack both bodies together"):
        empty_like(model).unpack_bodies(packed)
    unharmed = begun("block")
    assert columns(model) == columns(unharmed)
    model.loads.add_callback(1, lambda *_: model.pack_bodies([1]))
    assert model.bodies.kind[1] == BodyKind.RIGID
    with pytest.raises(SolfecError, match="cannot pack bodies"):
        run(model, 1)


def test_constraints_on_a_missing_body_do_not_go_to_the_next_one():
    model = begun("block")
    packed = body_packing.pack_constraints(model, np.ones(model.constraints.n, bool))
    gone = int(packed.ends[packed.ends > 0].min())
    assert gone < ids_of(model)[-1]
    model.remove_bodies(np.isin(model.bodies.view("id"), [gone]))
    with pytest.raises(SolfecError, match=f"acts on body {gone}, which the model does not have"):
        body_packing.replace_constraints(model, [packed])


def test_nothing_packed_changes_nothing():
    model, undisturbed = begun("block"), begun("block")
    model.unpack_bodies(model.pack_bodies([]))
    assert columns(model) == columns(undisturbed)
    assert state(model) == state(undisturbed)
