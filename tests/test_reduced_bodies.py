"""Bodies of the forms 'BC-MODAL' and 'BC-RO' in contact, joints, results, quasi-statics."""

import numpy as np
import pytest
from kernel_threads import with_threads
from unit_cube import assert_goes_on, cube, state_of

from solfec import _kernels
from solfec.bodies import modal, state
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.reduced_base import ReducedBase, orthonormal
from solfec.bodies.table import BodyKind, Energy, Form, Scheme
from solfec.domain import Domain
from solfec.results import ResultsReader, ResultsWriter
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.penalty import PenaltySolver

SOFT = BulkMaterial(young=1e7, poisson=0.3, density=1e3)


def modes_of(count):
    domain = Domain(1e-3)
    domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0))], SOFT, form=Form.BC)
    domain.initialise()
    return modal.lowest_modes(*modal.matrices(domain.bodies, 0), count, domain.bodies.meshes[1].nodes)


VALUES, VECTORS = modes_of(81)
MODAL, REDUCED, COMPLETE = (
    ReducedBase(VALUES[:14], VECTORS[:14]),
    ReducedBase(VALUES[:20], orthonormal(VECTORS[:20])),
    ReducedBase(VALUES, orthonormal(VECTORS)),
)


def stack(step=1e-3, dynamic=True):
    """On the ground a modal cube, one of a larger base, another modal one; a rigid block on top."""
    domain = Domain(step, dynamic=dynamic)
    domain.insert_body(BodyKind.OBSTACLE, [cube((-1, -1, -3), 3.0, 1)], SOFT)
    for k, (form, base) in enumerate(((Form.BC_MODAL, MODAL), (Form.BC_RO, REDUCED), (Form.BC_MODAL, MODAL))):
        domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0.02 * k, 0.02 * k, k))], SOFT, form=form, base=base)
    domain.insert_body(BodyKind.RIGID, [cube((0.1, 0.1, 3), 0.4, 1)], SOFT)
    domain.bodies.damping[1:4] = 2e-4
    domain.loads.set_gravity((0.3, 0.0, -9.81))
    domain.surface_materials.friction[0] = 0.4
    return domain


def run(domain, steps):
    for _ in range(steps):
        domain.advance(GaussSeidelSolver(1e-10, 2000))


def test_contacts_carry_a_stack_whose_impulse_balances():
    """The momentum after n steps is that of gravity less what the ground took up."""
    domain, ground, steps = stack(), np.zeros(3), 80
    for _ in range(steps):
        run(domain, 1)
        constraints = domain.constraints
        sign = (constraints.view("slave") == 0) * 1.0 - (constraints.view("master") == 0) * 1.0
        ground += domain.step * (np.einsum("ijn,jn->in", constraints.view("base"), constraints.view("R")) * sign).sum(1)
    bodies = domain.bodies
    fe = bodies.finite_elements
    momentum = (fe.mass * bodies.triples.velo[:, fe.velo_row]).sum(1)
    momentum += bodies.mass[4] * bodies.triples.velo[:, bodies.velo_slice(4)][:, -1]
    weight = bodies.mass[1:5].sum() * np.array((0.3, 0.0, -9.81)) * steps * domain.step
    assert ground + weight == pytest.approx(momentum, abs=1e-8 * np.abs(weight).max())
    assert ground[2] > 0.5 * abs(weight[2])
    assert domain.constraints.gap[: domain.constraints.n].min() > -1e-2


@pytest.mark.parametrize(
    "solver",
    [GaussSeidelSolver(1e-10, 2000), NewtonSolver(1e-10, 500), AutoSolver(1e-10), PenaltySolver()],
    ids=lambda solver: type(solver).__name__,
)
def test_every_solver_holds_the_stack(solver):
    """A joint and contacts carry it: the block on top stands still, within what springs give."""
    domain = stack()
    if isinstance(solver, PenaltySolver):
        domain.surface_materials.spring[0], domain.surface_materials.dashpot[0] = 1e7, 1e4
        domain.surface_materials.model[0] = 1
    domain.joints.fix_point(3, (0.52, 0.52, 1.5))
    for _ in range(20):
        domain.advance(solver)
    assert np.abs(domain.points.displacement(3, (0.52, 0.52, 1.5))).max() < 1e-9
    assert np.abs(domain.points.displacement(5, (0.3, 0.3, 3.2))).max() < 0.03
    assert np.isfinite(domain.energy()).all()


class Halt(Exception):
    """Raised to end a step."""


class Halting(AutoSolver):
    """A solver that raises Halt."""

    def solve(self, local):
        raise Halt


def test_compliance_is_the_product_of_its_definition():
    """W = h H E A^-1 E^T H^T, H from nodal velocities, against dense matrices; U = B + W R after the step."""
    domain = stack()
    run(domain, 3)
    bodies, local = domain.bodies, domain.local_dynamics
    with pytest.raises(Halt):  # bodies are then within their step
        domain.advance(Halting(1e-6))
    matrix = local.matrix()
    fe = bodies.finite_elements
    expected = np.zeros_like(matrix)
    order = local.rows.order[: local.n]
    for number, row in enumerate(fe.rows):
        base, nodes = bodies.bases[int(bodies.id[row])], bodies.node_count[row]
        mass, stiffness = modal.matrices(bodies, row)
        beta = domain.step**2 / 4 + domain.step * 1e-4
        projected = base.vectors @ (mass[:, None] * base.vectors.T + beta * stiffness @ base.vectors.T)
        spread = np.kron(np.eye(nodes), fe.rotation[:, :, number]) @ base.vectors.T
        operator = np.zeros((3 * local.n, 3 * nodes))
        for place, constraint in enumerate(order):
            for side, sign in (("master", 1), ("slave", -1)):
                if getattr(domain.constraints, side)[constraint] != row:
                    continue
                which = 0 if side == "master" else 1
                element = domain.constraints.element[which, constraint]
                frame = domain.constraints.base[:, :, constraint]
                mesh = bodies.meshes[int(bodies.id[row])]
                for a, node in enumerate(mesh.elements[element, : mesh.sizes[element]]):
                    weight = domain.constraints.weights[a, which, constraint]
                    operator[3 * place : 3 * place + 3, 3 * node : 3 * node + 3] += sign * weight * frame.T
        expected += domain.step * operator @ spread @ np.linalg.solve(projected, (operator @ spread).T)
    rigid = np.flatnonzero((domain.constraints.master[order] == 4) | (domain.constraints.slave[order] == 4))
    elastic = np.setdiff1d(np.arange(local.n), rigid)
    assert len(elastic) > 8
    both = (3 * elastic[:, None] + np.arange(3)).ravel()
    assert np.abs(matrix - expected)[np.ix_(both, both)].max() < 1e-11 * np.abs(expected).max()
    assert np.linalg.eigvalsh(matrix).min() > -1e-14 * np.abs(matrix).max()


def test_complete_base_in_contact_moves_as_the_co_rotated_body():
    """Falling on an edge of an obstacle, fixed at a point: all modes give the trajectory of form 'BC'."""
    found = []
    for form, base in ((Form.BC, None), (Form.BC_RO, COMPLETE)):
        domain = Domain(5e-4)
        domain.insert_body(BodyKind.OBSTACLE, [cube((0.6, -1, -3.02), 3.0, 1)], SOFT)
        body = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0))], SOFT, form=form, base=base)
        domain.bodies.scheme[1] = Scheme.DEF_LIM
        domain.joints.fix_point(body, (0.0, 0.0, 1.0))
        domain.loads.set_gravity((0.0, 0.0, -9.81))
        run(domain, 200)
        assert domain.constraints.contact_count
        found.append((domain.points.displacement(body, (1, 1, 0)), domain.points.stress(body, (0.4, 0.6, 0.3)), domain.energy()))
    for one, other in zip(*found):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9 * np.abs(one).max())


@pytest.mark.parametrize("empty", [False, True])
def test_restart_goes_on_with_equal_bits(tmp_path, empty):
    """Also into a domain without bodies, which are rebuilt with their bases from the file."""
    again = Domain(1e-3) if empty else stack()
    again.loads.set_gravity((0.3, 0.0, -9.81))
    again.surface_materials.friction[0] = 0.4
    assert_goes_on(tmp_path, stack(), again, run)
    if empty:
        bases = again.bodies.bases
        assert bases[2] is bases[4] and bases[3] is not bases[2]


def test_bodies_that_come_and_go_are_read_back(tmp_path):
    """A frame with fewer bodies, another with one born later: configurations are those of the domain."""
    domain, kept = stack(), []
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        run(domain, 2)
        writer.write_frame(domain)
        kept.append(state_of(domain))
        domain.delete_body(2)
        born = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((3, 0, 0))], SOFT, form=Form.BC_RO, base=REDUCED)
        run(domain, 2)
        writer.write_frame(domain)
        kept.append(state_of(domain))
    with ResultsReader(tmp_path / "run") as reader:
        for frame in (1, 0):
            again = Domain(1e-3)
            reader.load(again, frame)
            for one, other in zip(kept[frame], state_of(again)):
                assert np.array_equal(one, other)
        assert state.configuration(again.bodies, 1) == pytest.approx(state.configuration(stack_like(reader, 0).bodies, 1))
        _, height = reader.history([(born, (3.5, 0.5, 0.5), "CZ")], 0.0, 1.0)
        assert np.isnan(height[0]) and height[1] < 0.5


def stack_like(reader, frame):
    domain = Domain(1e-3)
    reader.load(domain, frame)
    return domain


def test_quasi_static_column_settles_to_the_weight_of_its_modes():
    """A hung cube with all modes settles to the state of form 'BC'; the error shrinks by 1/(1 + h**2 omega**2) a step."""
    found = []
    for form, base in ((Form.BC, None), (Form.BC_RO, COMPLETE), (Form.BC_MODAL, ReducedBase(VALUES, VECTORS))):
        domain = Domain(0.05, dynamic=False)
        body = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0))], SOFT, form=form, base=base)
        for corner in ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)):
            domain.joints.fix_point(body, corner)
        domain.loads.set_gravity((0.0, 0.0, -9.81))
        run(domain, 60)
        assert np.abs(domain.states.velo(body)).max() < 1e-10
        found.append(domain.points.displacement(body, (0.5, 0.5, 0.0)))
    assert found[0][2] < -1e-4
    assert found[1] == pytest.approx(found[0], abs=1e-9 * np.abs(found[0]).max())
    assert found[2] == pytest.approx(found[0], abs=1e-9 * np.abs(found[0]).max())


def test_energy_of_a_bouncing_body_balances():
    """Dropped on an obstacle: KINETIC + INTERNAL - EXTERNAL stays."""
    domain, many = Domain(2e-4), ReducedBase(VALUES[:60], VECTORS[:60])
    domain.insert_body(BodyKind.OBSTACLE, [cube((-1, -1, -3), 3.0, 1)], SOFT)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [cube((0, 0, 0.001))], SOFT, form=Form.BC_MODAL, base=many)
    domain.states.set_velocity(body, (0, 0, -1.0), (0, 0, 0))
    domain.initialise()
    start = domain.energy([body])[Energy.KINETIC]
    run(domain, 40)
    energy = domain.energy([body])
    assert energy[Energy.INTERNAL] > 1e-2 * start
    total = energy[Energy.KINETIC] + energy[Energy.INTERNAL] - energy[Energy.EXTERNAL]
    assert total == pytest.approx(start, rel=2e-3)


def test_bits_do_not_depend_on_threads():
    """Sixteen bodies on the ground, some on others, with one thread and with two."""
    found = []
    for _ in with_threads(1, 2):
        domain = Domain(1e-3)
        domain.insert_body(BodyKind.OBSTACLE, [cube((-1, -1, -12), 12.0, 1)], SOFT)
        for k in range(16):
            low = (1.3 * (k % 8), 0.1 * k, k // 8)
            form, base = ((Form.BC_MODAL, MODAL), (Form.BC_RO, REDUCED))[k % 2]
            domain.insert_body(BodyKind.FINITE_ELEMENT, [cube(low)], SOFT, form=form, base=base)
        domain.loads.set_gravity((1.0, 0.0, -9.81))
        run(domain, 8)
        found.append(state_of(domain))
    for one, other in zip(*found):
        assert np.array_equal(one, other)


@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are wrapped already")
def test_thousand_bodies_step_in_a_few_calls():
    """The kernels are called a fixed number of times a step, however many bodies there are."""
    from solfec import kernel_checks

    found = []
    for count in (2, 60):
        domain = Domain(1e-3)
        for k in range(count):
            low = (2.0 * (k % 10), 2.0 * (k // 10), 0)
            domain.insert_body(BodyKind.FINITE_ELEMENT, [cube(low)], SOFT, form=Form.BC_MODAL, base=MODAL)
        run(domain, 1)
        calls = []
        replaced = kernel_checks.wrap(lambda kernel, name: lambda *a, **k: calls.append(name) or kernel(*a, **k))  # noqa: B023
        run(domain, 1)
        kernel_checks.unwrap(replaced)
        found.append([name for name in calls if name != "table_handles.free_table"])  # of models of other tests, collected now
    assert found[0] == found[1] and 0 < len(found[0]) <= 60
