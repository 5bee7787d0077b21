"""Tables keep their rows when they grow, shrink and are copied, and kernels find the columns of today only."""

import copy
import gc

import numpy as np
import pytest

from solfec import _kernels, tables
from solfec.bodies import motion
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, BodyTable
from solfec.domain import Domain
from solfec.shapes.sphere import Sphere

INITIALISE, PREDICT = _kernels.body_motion.initialise_inertia, _kernels.body_motion.predict
UNKNOWN = 100
ROWS = np.arange(2, dtype=np.int32)


def falling(count):
    """Table of so many rigid bodies of different masses at rest."""
    bodies = BodyTable()
    for k in range(count):
        bodies.add(BodyKind.RIGID, id=k + 1, mass=1.0 + k, volume=1.0, tensor=np.eye(3))
    motion.initialise_inertia(bodies)
    return bodies


def drop(bodies, handles=None):
    """Predict once under gravity; return the kernel's status."""
    return PREDICT(bodies.handles if handles is None else handles, 0, 0, 0.5, np.array([0.0, 0.0, -2.0]))[0]


def test_kernels_follow_a_table_that_grows():
    bodies = falling(3)
    first = bodies.handles.tolist()
    while bodies.capacity < 100:
        bodies.add(BodyKind.RIGID, id=bodies.n + 1, mass=1.0, volume=1.0, tensor=np.eye(3))
    motion.initialise_inertia(bodies)
    assert bodies.handles.tolist() == first  # so that whoever keeps them goes on
    assert drop(bodies) == 0
    assert (bodies.triples.view("velo")[:, 1::2] == np.array([[0], [0], [-1]])).all()


def test_wrong_handles_are_refused_and_nothing_moves():
    bodies = falling(3)
    gone = falling(2).handles.copy()
    gc.collect()
    right = bodies.handles
    for wrong in (gone, 0 * right, right + 1, -right, right[::-1].copy(), right + 2**24):
        assert drop(bodies, wrong) == UNKNOWN
        assert INITIALISE(wrong, ROWS)[0] == UNKNOWN
    assert not bodies.triples.velo.any()
    with pytest.raises(RuntimeError, match="handle"):
        motion._raise(bodies, *INITIALISE(gone, ROWS))


def test_only_rows_in_use_are_treated():
    bodies = falling(5)
    bodies.n = 2
    assert drop(bodies) == 0
    assert bodies.triples.velo[2].tolist()[:10] == [0, -1, 0, -1, 0, 0, 0, 0, 0, 0]


def test_handles_of_tables_that_are_gone_are_void_and_their_places_are_used_again():
    bodies = falling(2)
    handles, places = bodies.handles.copy(), set()
    del bodies
    gc.collect()
    assert INITIALISE(handles, ROWS)[0] == UNKNOWN
    for _ in range(500):
        places.add(BodyTable().handle % 2**24)
        gc.collect(0)
    assert len(places) < 10


def test_a_copied_table_has_columns_of_its_own():
    bodies = falling(4)
    copied = copy.deepcopy(bodies)
    assert drop(copied) == 0
    assert copied.triples.velo.any() and not bodies.triples.velo.any()
    assert set(bodies.handles.tolist()).isdisjoint(copied.handles.tolist())
    bodies.mass[:4] = 7.0
    assert copied.mass[:4].tolist() == [1, 2, 3, 4]


def test_columns_are_written_in_place_or_not_at_all():
    bodies = falling(2)
    with pytest.raises(AttributeError, match="column 'mass' of BodyTable"):
        bodies.mass = bodies.mass.copy()
    bodies.mass[:2] = 3.0
    motion.initialise_inertia(bodies)
    assert bodies.triples.inverse_inertia[0, 0, 1] == 1 / 3


def test_columns_that_the_compiled_module_does_not_know_are_refused(monkeypatch):
    columns = dict(BodyTable.COLUMNS, temperature=((), "f8", 0.0))
    monkeypatch.setattr(BodyTable, "COLUMNS", columns)
    with pytest.raises(RuntimeError, match="build it again"):
        BodyTable()


def test_layouts_of_the_build_are_those_of_the_classes():
    assert set(tables.TABLES) >= {"TripleTable", "ConfigurationTable", "BodyTable", "ConstraintTable", "PrimitiveTable", "RowTable"}
    for number, layout in tables.TABLES.values():
        assert number > 0 and ":" in layout


def test_many_models_find_their_own_tables():
    models = []
    for k in range(70):  # more than the registry begins with
        model = Domain(1e-3)
        model.insert_body(BodyKind.RIGID, [Sphere((0, 0, 0), 0.1, 1, 1)], BulkMaterial(density=1000.0 + k))
        model.initialise()
        models.append(model)
    for k, model in enumerate(models):
        assert drop(model.bodies) == 0
        assert model.bodies.triples.inverse_inertia[0, 0, 1] == pytest.approx(1 / (4 / 3 * np.pi * 1e-3 * (1000 + k)), rel=1e-12)


def test_a_record_hands_its_newest_arrays_over_and_keeps_their_kind():
    class Detected(tables.Record):
        COLUMNS = {"boxes": ((6,), "f8"), "rows": ((), "i4")}
        NUMBERS = {"pairs": "i4", "margin": "f8"}

    record = Detected()
    record.boxes, record.pairs, record.margin = np.zeros((6, 5), order="F"), 3, 0.25
    assert (record.boxes.shape, record.pairs, record.margin) == ((6, 5), 3, 0.25)
    with pytest.raises(ValueError, match=r"Detected.rows is an array of i4 \('n',\)"):
        record.rows = np.zeros(3)
    with pytest.raises(ValueError, match="Fortran's order"):
        record.boxes = np.zeros((6, 5))[:, ::2]
    copied = copy.deepcopy(record)
    copied.pairs, copied.boxes[0] = 4, 1.0
    assert record.pairs == 3 and not record.boxes.any()


def test_rows_of_an_extended_table_hold_fill_values():
    class Few(tables.Table):
        REFILLED = True
        COLUMNS = {"number": ((), "i4", -1), "point": ((3,), "f8", 0.5)}

    table = Few(2)
    assert table.append(2, number=7, point=1.0) == 0
    assert table.extend(5) == 2
    assert (table.n, table.edits, table.view("number").tolist()) == (7, 2, [7, 7, *[-1] * 5])
    assert (table.view("point")[:, 2:] == 0.5).all()


def test_a_row_that_is_appended_alone_has_the_values_of_one_among_many():
    class Few(tables.Table):
        COLUMNS = {"number": ((), "i4", -1), "point": ((3,), "f8", 0.5), "matrix": ((2, 2), "f8", 0.0)}

    alone, among = Few(1), Few(1)
    point, matrix = np.array([1.0, 2.0, 3.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
    for number in range(3):
        assert alone.append_row(number=number, point=point, matrix=matrix) == number
        assert among.append(1, number=number, point=point[:, None], matrix=matrix[..., None]) == number
    assert alone.append_row() == among.append() == 3
    for name in Few.COLUMNS:
        np.testing.assert_array_equal(alone.view(name), among.view(name))
    assert (alone.edits, alone.n) == (among.edits, among.n) == (4, 4)
    with pytest.raises(KeyError, match="Few has no columns .'numbers'"):
        alone.append_row(numbers=1)
    assert alone.n == 4
