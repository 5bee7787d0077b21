"""W of large bodies of form 'BC' from columns of A^-1 that are kept: the same as from solutions, whatever happened before."""

import copy
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parent.parent))

import models  # noqa: E402
from test_step import state  # noqa: E402

from solfec.bodies.materials import BulkMaterial  # noqa: E402
from solfec.bodies.table import BodyKind, Form, Scheme  # noqa: E402
from solfec.shapes import hex_mesh  # noqa: E402
from solfec.solvers import kept_columns  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402

SOFT = BulkMaterial(density=1000.0, young=1e7, poisson=0.3)


def sliding_slabs():
    """Two slabs of 360 and 450 unknowns that turn, and slide over a bar from element to element."""
    model, _ = models.domain(0.2, 1e-3, manifold=True)
    bar = [c for z in (-0.1, 0) for x, y in ((0.3, -1), (0.7, -1), (0.7, 3), (0.3, 3)) for c in (x, y, z)]
    model.insert_body(BodyKind.OBSTACLE, [hex_mesh.hex_mesh(bar, 1, 9, 1, 1, [1] * 6)], SOFT)
    for shift, cells in ((0.0, (5, 4, 3)), (1.5, (5, 4, 4))):
        corners = [c for z in (0, 0.3) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)) for c in (x, y + shift, z)]
        body = model.insert_body(BodyKind.FINITE_ELEMENT, [hex_mesh.hex_mesh(corners, *cells, 2, [2] * 6)], SOFT, form=Form.BC)
        model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
        model.states.set_velocity(body, (6.0, 0, 0), (0, 0, 3.0))
    return model


def run(model, steps):
    for _ in range(steps):
        model.advance(GaussSeidelSolver(1e-10, 2000))
    return state(model)


def kept_of(model):
    """The kept columns of the model's only solver."""
    (rows,) = (contribution for contribution in model.local_dynamics._implicit_rows if getattr(contribution, "kept", None))
    return rows.kept


def test_w_is_that_of_solutions_after_bodies_have_turned_and_slid(monkeypatch):
    """Step by step: open contacts at their margin come and go by rounding, so that two whole runs would part."""
    kept = sliding_slabs()
    for _ in range(10):
        run(kept, 3)
        solved = copy.deepcopy(kept)
        run(kept, 1)
        assert kept_of(kept).values.size
        with monkeypatch.context() as without:
            without.setattr(kept_columns, "MOST_KEPT", 0)
            run(solved, 1)
        one, two = kept.bodies.triples.velo, solved.bodies.triples.velo
        assert kept.constraints.n == solved.constraints.n > 10
        assert np.abs(one - two).max() < 1e-9 * np.abs(two).max()


def test_bits_do_not_depend_on_when_columns_were_kept():
    """A copy keeps nothing but the state, so it solves for all columns anew."""
    whole, fresh = sliding_slabs(), sliding_slabs()
    for _ in range(12):
        fresh = copy.deepcopy(fresh)
        assert run(whole, 1) == run(fresh, 1)


@pytest.mark.parametrize("more", [0, 2000])
def test_bits_do_not_depend_on_what_was_forgotten(monkeypatch, more):
    """Room for what one step needs, and a little more."""
    roomy = sliding_slabs()
    whole = [run(roomy, 1) for _ in range(40)]
    kept, needed = kept_of(roomy), []
    narrow = sliding_slabs()
    for expected in whole:
        assert run(narrow, 1) == expected
        touched = kept_of(narrow)
        needed.append(touched._needed(touched._touched > 0))
    assert kept._used > max(needed)  # later steps touch other nodes
    monkeypatch.setattr(kept_columns, "MOST_KEPT", max(needed) + more)
    narrow = sliding_slabs()
    assert [run(narrow, 1) for _ in range(40)] == whole
    assert kept_of(narrow)._used <= max(needed) + more


def test_columns_follow_the_step():
    """A of another step is another one."""
    whole, fresh = sliding_slabs(), sliding_slabs()
    run(whole, 5)
    run(fresh, 5)
    fresh = copy.deepcopy(fresh)
    whole.step = fresh.step = 4e-4
    assert run(whole, 3) == run(fresh, 3)
