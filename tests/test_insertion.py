"""Bodies that come and go between steps: what is kept of the others, and what that costs."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import insertion  # noqa: E402
import machine  # noqa: E402
import models  # noqa: E402
from python_costs import CUBE, SOFT, hex_mesh  # noqa: E402
from test_step import state  # noqa: E402

from solfec import _kernels, tables  # noqa: E402
from solfec.bodies.finite_elements import OF_BODIES, OF_ELEMENTS, OF_NODES, FiniteElements, compiled  # noqa: E402
from solfec.bodies.materials import BulkMaterial  # noqa: E402
from solfec.bodies.small_bodies import SmallBodySolver  # noqa: E402
from solfec.bodies.table import BodyKind, Form, Scheme  # noqa: E402
from solfec.contact import detection  # noqa: E402
from solfec.errors import SolfecError  # noqa: E402
from solfec.shapes import sphere  # noqa: E402
from solfec.shapes.mesh import Mesh  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402
from solfec.tables import Gaps, Table, appended, close_up  # noqa: E402

RUBBER = BulkMaterial("NEO_HOOKEAN", young=1e6, poisson=0.3, density=1e3)
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


@pytest.fixture(autouse=True)
def rows_before_gaps_move(monkeypatch, request):
    """Let the fewer rows move in small models, too; but measure times of those that users have."""
    if "one_thread" not in request.fixturenames:
        monkeypatch.setattr(tables, "FEWER", 0)


def tetrahedron(place) -> Mesh:
    return Mesh.from_records((TETRAHEDRON + place).ravel().tolist(), [4, 0, 1, 2, 3, 1], 1)


def put(model, kind: str, place) -> int:
    """A body of some kind at a place; its identifier."""
    place = np.asarray(place, float)
    if kind == "ball":
        return model.insert_body(BodyKind.RIGID, [sphere.Sphere(place + 0.5, 0.5, 1, 1)], SOFT)
    if kind == "box":
        return model.insert_body(BodyKind.RIGID, [models.box(place, place + 1)], SOFT)
    if kind == "pseudo-rigid":
        return model.insert_body(BodyKind.PSEUDO_RIGID, [models.box(place, place + 1)], SOFT)
    if kind == "tetrahedron":
        return model.insert_body(BodyKind.FINITE_ELEMENT, [tetrahedron(place)], SOFT, form=Form.TL)
    cells = int(kind[-1])
    mesh = hex_mesh.hex_mesh((CUBE + place).tolist(), cells, cells, cells, 1, [1] * 6)
    if kind.startswith("inside"):
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [models.box(place + 0.1, place + 0.9)], SOFT, form=Form.BC, mesh=mesh)
        model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
        return body
    material = RUBBER if kind.startswith("rubber") else SOFT
    body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], material, form=Form.BC if kind.startswith("BC") else Form.TL)
    if kind.startswith("enhanced"):
        model.bodies.enhanced[model.body_row(body)] = 1
    if kind.startswith("BC"):
        model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
    return body


KINDS = ["ball", "box", "pseudo-rigid", "TL 2", "TL 3", "TL 1", "tetrahedron", "rubber 2", "enhanced 2", "BC 2"]
MIXTURES = {
    "rigid": ["ball", "box", "ball", "box", "pseudo-rigid"],
    "blocks": ["TL 2", "ball", "TL 2", "TL 2", "box", "TL 2"],
    "odd": ["TL 3", "TL 1", "TL 2", "box", "TL 3"],
    "inside": ["inside 2", "TL 2", "inside 1", "ball", "inside 3"],
    "co-rotated": ["BC 2", "BC 1", "ball", "BC 3", "BC 2", "BC 5"],
    "all": KINDS,
}


def places():
    """Ever new places, a little above and beside one another, so that bodies fall on others."""
    for number in range(1000):
        yield 0.9 * (number % 4), 0.9 * (number // 4 % 3), 0.01 + 1.02 * (number // 12)


def mixed(mixture: str, steps: int = 0):
    """A model of some bodies of a mixture on an obstacle after so many steps, and its solver."""
    model, _ = models.domain(0.5, 1e-4)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-5, -5, -1), (9, 9, 0))], SOFT)
    for kind, place in zip(2 * MIXTURES[mixture], places()):
        put(model, kind, place)
    solver = GaussSeidelSolver(1e-4, 100)
    for _ in range(steps):
        model.advance(solver)
    return model, solver


def forget(model) -> None:
    """All that a model keeps besides its state."""
    model.geometry.workspace = model.geometry.current = model.bodies.finite_elements = None
    model.constraints.view("evaluated")[:] = -1


def overlapping(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Whether boxes (6, ...) overlap, in x by more than a plane."""
    strict = (one[0] < two[3]) & (two[0] < one[3])
    return strict & ((one[1:3] <= two[4:6]) & (two[1:3] <= one[4:6])).all(0)


@pytest.mark.parametrize("mixture, compared", [*((mixture, detection.MOST_COMPARED) for mixture in MIXTURES), ("all", 0)])
def test_models_that_bodies_enter_and_leave_take_the_course_of_those_that_keep_nothing(mixture, compared, monkeypatch):
    """Also if new bodies count as ones of many boxes, for which detection searches all pairs."""
    monkeypatch.setattr(detection, "MOST_COMPARED", compared)
    (kept, one), (fresh, other) = mixed(mixture), mixed(mixture)
    random, ahead = np.random.default_rng(1), places()
    for _ in range(2 * len(MIXTURES[mixture])):
        next(ahead)
    for number in range(24):
        deed = random.integers(4)
        if deed < 2:
            kind, place = MIXTURES[mixture][random.integers(len(MIXTURES[mixture]))], next(ahead)
            for model in (kept, fresh):
                body = put(model, kind, place)
                if number % 3 == 0:
                    model.states.set_velocity(body, (0, 0, -1), (0, 0, 0))
        if 0 < deed < 3 and kept.bodies.n > 4:
            gone = np.zeros(kept.bodies.n, bool)
            gone[1 + random.choice(kept.bodies.n - 1, 1 + number % 3, replace=False)] = True
            for model in (kept, fresh):
                model.remove_bodies(gone.copy())
        forget(fresh)
        kept.advance(one)
        fresh.advance(other)
        assert state(kept) == state(fresh)


def test_implicit_bodies_keep_their_inverses(monkeypatch):
    """A body that comes, goes or gets another damping costs its own inverse alone."""
    model, solver = mixed("co-rotated")
    made, whole = [], SmallBodySolver._make
    monkeypatch.setattr(SmallBodySolver, "_make", lambda solver, bodies, missing, place: (made.append(len(missing)), whole(solver, bodies, missing, place)))

    def made_in_a_step() -> list[int]:
        made.clear()
        model.advance(solver)
        return made

    assert made_in_a_step() == [2, 4, 2]  # of one, two and three elements along an edge; those of five are too large
    assert made_in_a_step() == []
    body = put(model, "BC 3", (30, 0, 0))
    assert made_in_a_step() == [1]
    model.bodies.damping[model.body_row(body)] = 1e-3
    assert made_in_a_step() == [1]
    model.delete_body(int(model.bodies.id[1]))
    assert made_in_a_step() == []
    model.delete_body(body)
    put(model, "BC 3", (30, 0, 0))
    assert made_in_a_step() == [1]
    model.step *= 0.5
    assert made_in_a_step() == [2, 3, 2, 1]  # matrices of two of the largest bodies are assembled at once


def test_small_matrices_are_inverted():
    random = np.random.default_rng(3)
    for n in (1, 2, 12, 81, 249):
        root = random.standard_normal((3, n, n))
        matrices = root @ root.transpose(0, 2, 1) + 0.1 * n * np.eye(n)
        found = matrices.transpose(1, 2, 0).copy(order="F")
        assert _kernels.small_inverses.invert(found) == -1
        assert np.array_equal(found, found.transpose(1, 0, 2))
        np.testing.assert_allclose(matrices @ found.transpose(2, 0, 1), np.tile(np.eye(n), (3, 1, 1)), atol=1e-11)
    matrices[1, 7, 7] = -1.0
    assert _kernels.small_inverses.invert(np.asfortranarray(matrices.transpose(1, 2, 0))) == 1
    if _kernels.threads.has_checks() == 1:  # they refuse NaN
        return
    matrices[0, 3, 5] = matrices[0, 5, 3] = np.nan
    assert _kernels.small_inverses.invert(np.asfortranarray(matrices.transpose(1, 2, 0))) == 0


@pytest.mark.parametrize("mixture", MIXTURES)
def test_pairs_of_a_new_body_are_added_to_those_that_there_are(mixture):
    """They are all that overlap, and the others need no search."""
    model, _ = mixed(mixture, 3)
    work, ahead = model.geometry.workspace, places()
    searched, added = work.searched, 0
    for number in range(6):
        put(model, MIXTURES[mixture][number % len(MIXTURES[mixture])], np.array(next(ahead)) + (0.3, 0.3, 2.1))
        before = work.pairs
        detection = model._time_step.detection
        detection.move_shapes()
        assert work.fresh == 0 and work.searched == searched
        added += work.pairs - before
        fat, body = work.fat[:, : model.geometry.primitives.n], model.geometry.primitives.view("body")
        low, high = np.nonzero(np.triu(overlapping(fat[:, :, None], fat[:, None])) & (body[:, None] != body))
        assert np.array_equal(work.low[: work.pairs], low) and np.array_equal(work.high[: work.pairs], high)
        assert (work.apart[: work.pairs] == -1).sum() >= work.pairs - before
        detection.follow_contacts()
        detection.find_contacts()
    assert added > 0


def compare_with_made_at_once(model) -> None:
    """Compare arrays of finite elements with those that are made anew from the bodies."""
    fe = compiled(model.bodies)
    pointers = model.bodies.view("node_ptr").copy(), model.bodies.view("element_ptr").copy()
    made = FiniteElements(model.bodies)
    assert np.array_equal(pointers[0], model.bodies.view("node_ptr")) and np.array_equal(pointers[1], model.bodies.view("element_ptr"))
    for name in {*OF_BODIES, *OF_NODES, *OF_ELEMENTS, "first", "first_element"} - {"rotation", "strain", "displacement", "internal", "viscous", "net", "square_at_rest", "laplacian"}:
        assert np.array_equal(getattr(fe, name), getattr(made, name)), name
    for name in ("embedded", "overlap_first", "overlap", "vertex_triple", "vertex_weights"):
        assert np.array_equal(getattr(fe, name), getattr(made, name)), name
    assert [group.key for group in fe.assembly.groups] == [group.key for group in made.assembly.groups]
    for one, two in zip(fe.assembly.groups, made.assembly.groups):
        assert np.array_equal(one.numbers, two.numbers) and np.array_equal(one.body, two.body)
        for name in {*one.LANED} - {"energy", "strain"}:
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert np.array_equal(fe.assembly.first, made.assembly.first) and np.array_equal(fe.assembly.position, made.assembly.position)
    for one, two in zip(fe.assembly.elements, made.assembly.elements):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("mixture", ["blocks", "odd", "inside", "all"])
def test_arrays_of_finite_elements_are_those_made_at_once(mixture):
    model, _ = mixed(mixture)
    random, ahead = np.random.default_rng(2), places()
    for number in range(12):
        compiled(model.bodies)
        if number % 2:
            put(model, MIXTURES[mixture][number % len(MIXTURES[mixture])], next(ahead))
        else:
            model.delete_body(int(model.bodies.id[1 + random.integers(model.bodies.n - 1)]))
        compare_with_made_at_once(model)


@pytest.mark.parametrize("kinds", [["TL 2", "tetrahedron", "rubber 2", "enhanced 2", "inside 2"], ["inside 1", "enhanced 2", "TL 1", "rubber 2", "tetrahedron"]])
def test_elements_of_new_kinds_join_those_that_there_are(kinds):
    model, _ = models.domain(0.5, 1e-4)
    ahead = places()
    put(model, kinds[0], next(ahead))
    first = compiled(model.bodies)
    for kind in (*kinds[1:], *kinds):
        put(model, kind, next(ahead))
        compare_with_made_at_once(model)
    assert compiled(model.bodies) is first and len(first.assembly.groups) == 5


@pytest.mark.parametrize("gone", [[], [0], [4], [9], [0, 1, 2], [1, 5, 8], [0, 2, 4, 6, 8], list(range(10))])
def test_rows_close_up_and_pointers_follow(gone):
    gaps = Gaps(np.array(gone, int), np.array(gone, int) + 1)
    kept = np.delete(np.arange(10), gone)
    column = np.asfortranarray(np.arange(36.0).reshape(3, 12))
    column[:, 10:] = -1.0
    expected = column[:, kept]
    column = close_up(column, gaps, 10, -1.0)
    assert np.array_equal(column[:, : kept.size], expected) and (column[:, kept.size :] == -1.0).all()
    pointer = 2 * np.arange(12, dtype=np.int32)  # of lists of two rows each
    pointer = close_up(pointer, gaps, 10, 0, 2 * gaps.shift)
    assert np.array_equal(pointer[: kept.size], 2 * np.arange(kept.size))
    rows = gaps.rows(10)
    assert np.array_equal(rows[kept], np.arange(kept.size)) and (rows[gone] == -1).all()


@pytest.mark.parametrize("start, moved", [(1, [0]), (6, [8, 9])])
def test_the_fewer_rows_move(start, moved):
    """Before a gap they move down, and the column then begins in the midst of its memory, of which what is appended later fills the end."""
    memory = np.zeros((2, 12), order="F")
    column = memory[:, :10]
    column[:] = np.arange(10.0)
    address = {row: column[:, row:].ctypes.data for row in range(10)}
    closed = close_up(column, Gaps([start], [start + 2]), 10, 0.0)[:, :8]
    kept = [row for row in range(10) if not start <= row < start + 2]
    assert closed[1].tolist() == kept
    assert [row for place, row in enumerate(kept) if closed[:, place:].ctypes.data != address[row]] == moved
    longer = appended(closed, np.full((2, 2), 10.0))
    assert longer[0].tolist() == [*kept, 10.0, 10.0] and np.shares_memory(longer, memory)


def test_appended_arrays_share_memory_and_old_values():
    array = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    more = np.ones((3, 1))
    longer = appended(array, more)
    assert np.array_equal(longer, np.hstack((array, more))) and longer.flags.f_contiguous
    longest = appended(longer, more)
    assert np.shares_memory(longest, longer) and np.array_equal(longest[:, :2], array) and longest.shape == (3, 4)


def test_identifiers_are_found_wherever_they_stand():
    """Also where those in between are elsewhere."""
    model = models.stacks(3, 1, 3)
    model.remove_bodies(np.isin(model.bodies.view("id"), [2, 5, 6]))
    assert [model.bodies.row_of(identifier) for identifier in (1, 2, 3, 4, 5, 6, 7, 10, 11, 0)] == [0, -1, 1, 2, -1, -1, 3, 6, -1, -1]


class Pointers(Table):
    COLUMNS = {"row": ((), "i4", -1), "value": ((2,), "f8", 0.0)}
    POINTS_INTO = {"row": "Others"}


def test_tables_close_up_with_the_tables_into_which_they_point():
    table = Pointers()
    table.append(6, row=np.arange(0, 18, 3), value=np.arange(6.0))
    table.close({"Pointers": Gaps([1, 4], [3, 5]), "Others": Gaps([3, 12], [9, 15])})
    assert table.n == 3 and table.view("row").tolist() == [0, 3, 6] and table.view("value")[0].tolist() == [0, 3, 5]


@pytest.mark.parametrize("mixture", MIXTURES)
def test_rows_behind_those_in_use_hold_fill_values(mixture):
    """So a row that is appended needs only the columns that are given."""
    model, solver = mixed(mixture)
    for number in range(4):
        model.advance(solver)
        model.delete_body(int(model.bodies.id[1 + number]))
    tables = model.bodies, model.bodies.triples, model.bodies.configurations, *model.geometry.tables
    for table in tables:
        assert table.REFILLED
        for name, (_, _, fill) in table.COLUMNS.items():
            assert (getattr(table, name)[..., table.n :] == fill).all(), name


def test_meshes_of_one_shape_share_checks_until_their_nodes_are_changed():
    one, two, other = (hex_mesh.hex_mesh((corners + 0.1).tolist(), 2, 2, 2, 1, [1] * 6) for corners in (CUBE, CUBE + (3, 0, 7), 2 * CUBE))
    assert one.topology.passed is two.topology.passed and "upright" in one.topology.passed
    assert other.topology.passed is not one.topology.passed
    model, _ = models.domain(0.5, 1e-4)
    model.insert_body(BodyKind.FINITE_ELEMENT, [one], SOFT, form=Form.TL)
    assert two.topology.passed == {"upright", "convex", "unfolded"} and other.topology.passed == {"upright"}
    again = hex_mesh.hex_mesh((CUBE + (3.1, 0.1, 7.1)).tolist(), 2, 2, 2, 1, [1] * 6)  # meshes of another shape came last
    again.set_node(13, (3.1, 0.1, 7.1))
    assert not again.topology.passed
    with pytest.raises((SolfecError, ValueError), match="two nodes in one place"):
        model.insert_body(BodyKind.FINITE_ELEMENT, [again], SOFT, form=Form.TL)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are not timed")
@pytest.mark.parametrize("kind", ["spheres", "cubes", "TL"])
def test_a_body_among_many_costs_hardly_more_than_one_among_few(kind):
    """Generously: arrays of all bodies made anew would take ten times as long as this allows for."""
    limit = {"spheres": 6.0, "cubes": 6.0, "TL": 25.0}[kind]
    assert min(max(insertion.excess(kind, 400, 8).values()) for _ in range(2)) < limit


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are not timed")
@pytest.mark.parametrize("kind", ["spheres", "cubes"])
def test_a_body_among_a_thousand_costs_at_most_a_third_of_a_millisecond_more(kind):
    figures = machine.figures()
    slowness = max(1.0, 24 / figures["triad_GB_per_s"], 53 / figures["dgemm_GFLOP_per_s"])
    found = [insertion.excess(kind, 1000, 40) for _ in range(3)]
    assert max(min(costs[what] for costs in found) for what in ("insert", "delete")) < 0.3 * slowness
