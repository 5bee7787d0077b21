"""Large islands are factorised by their bodies: walls that sweeps do not settle, and the same solutions as by rows."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_threads import with_threads

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form
from solfec.domain import Domain
from solfec.shapes import hex_mesh, hull
from solfec.solvers.auto import AutoSolver
from solfec.solvers.constraint_solver import ConstraintSolver
from solfec.solvers.contact_problem import Method
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.local_dynamics import RowKind

MATERIAL = BulkMaterial(density=1000.0, young=1e9, poisson=0.3)


def box(lower, upper):
    (x0, y0, z0), (x1, y1, z1) = lower, upper
    return hull.hull([(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)], 1, 1)


def wall(columns: int, rows: int, kinds=(BodyKind.RIGID,)) -> Domain:
    """Rows of blocks 2 x 1 x 1, each on halves of two below, four points a joint; kinds of bodies in turn."""
    model = Domain(1e-4)
    model.surface_materials.friction[0] = 0.5
    model.loads.set_gravity((0.3, 0.0, -9.81))
    model.settings.patch = True
    model.insert_body(BodyKind.OBSTACLE, [box((-2, -1, -1), (2 * columns + 3, 2, 0))], MATERIAL)
    for number in range(columns * rows):
        row, column = divmod(number, columns)
        corner = np.array([column * 2.001 + row % 2, 0, row])
        kind = kinds[number % len(kinds)]
        if kind == BodyKind.FINITE_ELEMENT:
            corners = np.array([(x, y, z) for z in (0, 1) for x, y in ((0, 0), (2, 0), (2, 1), (0, 1))], float)
            shape = hex_mesh.hex_mesh((corners + corner).ravel(), 2, 1, 1, 1, [1] * 6)
            model.insert_body(kind, [shape], MATERIAL, form=Form.TL)
        else:
            model.insert_body(kind, [box(corner, corner + (2, 1, 1))], MATERIAL)
    return model


class Recorder(ConstraintSolver):
    """Solves with two solvers, the second from the same reactions without the operators of rows; keeps both velocities."""

    colouring, stored_form = "OFF", True

    def __init__(self, solver):
        self.solver = solver

    def solve(self, local):
        start, n = local.rows.R.copy(), local.n
        operators, local.operators = local.operators, lambda: None
        by_rows = self.solver().solve(local)
        self.by_rows, self.rows = by_rows, local.rows.U[:, :n].copy()
        local.operators = operators
        local.rows.R[...] = start
        report = self.solver().solve(local)
        self.by_bodies, self.bodies = report, local.rows.U[:, :n].copy()
        self.size = np.abs(local.rows.B[:, :n]).max()
        return report


@pytest.mark.parametrize("method", [Method.ADMM, Method.NEWTON, Method.AUTO], ids=lambda method: method.name)
@pytest.mark.parametrize(
    "kinds",
    [(BodyKind.RIGID,), (BodyKind.RIGID, BodyKind.PSEUDO_RIGID), (BodyKind.RIGID, BodyKind.FINITE_ELEMENT)],
    ids=["rigid", "pseudo-rigid", "finite elements"],
)
def test_factors_by_bodies_and_by_rows_lead_to_the_same_velocities(method, kinds):
    model = wall(5, 6, kinds)
    model.joints.fix_point(2, (1.0, 0.5, 0.5))
    model.joints.fix_direction(3, (3.0, 0.5, 0.5), (0.0, 1.0, 0.0))
    recorder = Recorder(lambda: AutoSolver(1e-7, 60 if method == Method.AUTO else 4000, method=method))
    model.advance(recorder)
    assert recorder.by_rows.status == recorder.by_bodies.status == "OK"
    assert recorder.bodies == pytest.approx(recorder.rows, abs=2e-5 * recorder.size)
    assert not np.array_equal(recorder.bodies, recorder.rows), "both went the same way"


def test_springs_that_yield_are_factorised_by_bodies_as_by_rows():
    model = wall(5, 6)
    for body in range(2, 27):
        place = (2.001 * ((body - 2) % 5) + (body - 2) // 5 % 2 + 1.0, 0.5, (body - 2) // 5 + 0.5)
        end = (place[0], place[1], place[2] + 0.8)
        model.joints.spring(body, place, body + 5, end, [(-1.0, 1e10), (1.0, -1e10)], (-9.0, 9.0), implicit=True)
    recorder = Recorder(lambda: AutoSolver(1e-7, 60))
    model.advance(recorder)
    assert recorder.by_rows.status == recorder.by_bodies.status == "OK"
    springs = model.local_dynamics.rows.kind[: model.local_dynamics.n] == RowKind.SPRING
    assert springs.sum() == 25 and np.abs(model.local_dynamics.rows.R[2, : springs.size][springs]).max() > 1.0
    assert recorder.bodies == pytest.approx(recorder.rows, abs=2e-5 * recorder.size)
    assert not np.array_equal(recorder.bodies, recorder.rows), "both went the same way"


def test_wall_that_sweeps_do_not_settle_is_solved_in_one_step():
    swept, solved = wall(20, 20), wall(20, 20)
    swept.advance(GaussSeidelSolver(1e-9, 300))
    assert swept.report.residual > 1e-2, "the case has become too easy to prove anything"
    solver = AutoSolver(1e-6)
    for _ in range(3):
        solved.advance(solver)
        assert solver.error == "OK" and solved.report.residual <= 1e-6
    assert np.abs(solved.bodies.triples.view("velo")[2, 1::2]).max() < 1e-6


def test_bits_do_not_depend_on_threads():
    reactions = []
    for _ in with_threads(1, 2):
        model = wall(20, 20)
        model.advance(AutoSolver(1e-6))
        reactions.append(model.constraints.view("R").copy())
    assert np.array_equal(*reactions)
