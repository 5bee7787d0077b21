"""Rows of every table of the program come back from records bit by bit, and their pointers find the same things."""

import importlib
import pkgutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solfec.bodies.materials import BulkMaterial
from solfec.domain import Domain
from solfec.kinds import BodyKind
from solfec.shapes.sphere import Sphere
from solfec.tables import Table

OTHER_LISTS = {"bulk materials", "nodes", "elements", "overlaps", "SeriesTable", "CurveTable", "SpringCurves"}


def all_tables():
    """Every table class of the program."""
    for name in ("bodies", "constraints", "contact", "solvers", "parmec"):
        package = importlib.import_module(f"solfec.{name}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"solfec.{name}.{module.name}")
    found, queue = set(), [Table]
    while queue:
        below = [kind for kind in queue.pop().__subclasses__() if kind.__module__.startswith("solfec.")]
        found.update(below)
        queue += below
    return sorted(found, key=lambda kind: kind.__name__)


TABLES = all_tables()
every_table = pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)


def filled(kind, rows, seed):
    """A table with so many more rows of random bits, pointers between -1 and 1000."""
    table, rng = kind(), np.random.default_rng(seed)
    first = table.append(rows)
    for name, (shape, dtype, _) in kind.COLUMNS.items():
        size = (*shape, rows)
        if name in kind.POINTS_INTO:
            values = rng.integers(-1, 1000, size).astype(dtype)
        else:
            values = np.frombuffer(rng.bytes(int(np.prod(size)) * np.dtype(dtype).itemsize), dtype).reshape(size)
        getattr(table, name)[..., first : table.n] = values
    return table


def bits(table, name, rows):
    """What stands in one column, row by row."""
    return [getattr(table, name)[..., row].tobytes() for row in rows]


def test_all_tables_are_found():
    names = {kind.__name__ for kind in TABLES}
    assert {"BodyTable", "TripleTable", "ConstraintTable", "PrimitiveTable", "PressureTable", "RowTable"} <= names


@every_table
def test_pointers_are_named(kind):
    known = OTHER_LISTS | {table.__name__ for table in TABLES}
    for name, target in kind.POINTS_INTO.items():
        assert kind.COLUMNS[name][1] == "i4"
        assert target in known
    meant = {name for name in kind.COLUMNS if name.endswith("_ptr") or name in ("body", "master", "slave", "series", "curve")}
    assert meant <= set(kind.POINTS_INTO)


@every_table
@given(rows=st.integers(0, 40), seed=st.integers(0, 2**32 - 1), there=st.integers(0, 20), data=st.data())
def test_rows_come_back(kind, rows, seed, there, data):
    source, target = filled(kind, rows, seed), filled(kind, there, seed + 1)
    chosen = data.draw(st.lists(st.integers(0, source.n - 1), max_size=30)) if source.n else []
    before = {name: bits(target, name, range(target.n)) for name in kind.COLUMNS}
    count = target.n
    first = target.unpack(source.pack(np.array(chosen, int)))
    assert (first, target.n) == (count, count + len(chosen))
    for name in kind.COLUMNS:
        assert bits(target, name, range(count)) == before[name]
        assert bits(target, name, range(first, target.n)) == bits(source, name, chosen)


@every_table
@given(seed=st.integers(0, 2**32 - 1), first=st.integers(0, 12), end=st.integers(0, 12))
def test_slices_and_masks_say_the_same_as_numbers(kind, seed, first, end):
    source = filled(kind, 9, seed)
    numbers = list(range(source.n))[first:end]
    mask = np.isin(np.arange(source.n), numbers)
    expected = source.pack(numbers).tobytes()
    assert source.pack(slice(first, end)).tobytes() == expected
    assert source.pack(mask).tobytes() == expected


@every_table
@given(seed=st.integers(0, 2**32 - 1), data=st.data())
def test_pointers_move_with_their_origins(kind, seed, data):
    source, target = filled(kind, 7, seed), kind()
    lists = sorted(set(kind.POINTS_INTO.values()))
    there = {name: data.draw(st.integers(0, 500)) for name in lists}
    here = {name: data.draw(st.integers(0, 500)) for name in lists}
    packed = source.pack(slice(0, source.n), origins=there)
    as_packed = packed.tobytes()
    first = target.unpack(packed, here)
    assert packed.tobytes() == as_packed
    for name in kind.COLUMNS:
        if name not in kind.POINTS_INTO:
            assert bits(target, name, range(first, target.n)) == bits(source, name, range(source.n))
            continue
        way = here[kind.POINTS_INTO[name]] - there[kind.POINTS_INTO[name]]
        for row in range(source.n):
            pairs = zip(getattr(source, name)[..., row].ravel(), getattr(target, name)[..., first + row].ravel())
            for old, new in pairs:
                if old < 0:
                    assert new == old
                elif old >= there[kind.POINTS_INTO[name]]:
                    assert new - old == way


def test_origins_that_lack_a_table_and_columns_that_are_unknown_are_refused():
    domain = Domain(step=1e-3)
    domain.insert_body(BodyKind.RIGID, [Sphere((0, 0, 0), 1.0, 1, 1)], BulkMaterial(young=1e6, poisson=0.2, density=1e3))
    primitives = domain.geometry.primitives
    with pytest.raises(KeyError, match="PrimitiveTable points into AdjacencyTable, FaceTable, VertexListTable"):
        primitives.pack(slice(0, 1), origins={"BodyTable": 0})
    with pytest.raises(KeyError, match="VertexTable has no columns"):
        domain.geometry.vertices.unpack(primitives.pack(slice(0, 1)))
