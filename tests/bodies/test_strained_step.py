"""The critical step of strained finite element bodies: as long as it may be, and short enough."""

import tracemalloc

import numpy as np
import pytest
from finite_element_models import ElementModel, block
from scipy.spatial.transform import Rotation
from unit_cube import BOX

from solfec.bodies import frequencies, motion
from solfec.bodies.finite_elements import compiled
from solfec.bodies.materials import BulkMaterial, Law
from solfec.bodies.table import BodyKind, Energy, Form
from solfec.domain import Domain
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.hull import hull
from solfec.shapes.plane_cut import refined
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.step_limit import limit_step


def true_step(model, row=0):
    """1/omega of the tangent at the present displacements, by all its eigenvalues."""
    fe = model.bodies.finite_elements
    nodes = np.arange(fe.first[row], fe.first[row + 1])
    matrix = np.empty((3 * len(nodes),) * 2)
    for column, unit in enumerate(np.eye(3 * len(nodes))):
        direction = np.zeros_like(fe.displacement, order="F")
        direction[:, nodes] = unit.reshape(3, -1, order="F")
        product = fe.assembly.tangent_product(fe.displacement, direction, np.zeros_like(direction, order="F"))
        matrix[:, column] = product[:, nodes].ravel(order="F")
    root = np.repeat(1 / np.sqrt(fe.mass[nodes]), 3)
    return 1 / np.sqrt(np.linalg.eigvalsh(matrix * root * root[:, None])[-1])


STATES = {
    "stretched": np.diag([1.0, 1.0, 1.5]), "pulled at all sides": 1.4 * np.eye(3), "pressed": np.diag([1.0, 1.0, 0.7]),
    "pressed at all sides": 0.7 * np.eye(3), "sheared": np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
}  # fmt: skip


@pytest.mark.parametrize("gradient", STATES.values(), ids=STATES)
@pytest.mark.parametrize("cells, size", [((3, 3, 3), (1, 1, 1)), ((1, 1, 8), (0.1, 0.1, 0.8)), ((4, 4, 1), (1, 1, 0.1))])
def test_the_refined_step_is_that_of_the_tangent_and_never_above_that_at_rest(cells, size, gradient):
    model = ElementModel()
    mesh = block(cells, high=size)
    row = model.add(mesh)
    model.initialise()
    at_rest = motion.critical_step(model.bodies)[0]
    model.conf(row)[:] = (gradient - np.eye(3)) @ mesh.nodes.T
    model.conf(row)[:] += 0.02 * size[2] / cells[2] * np.random.default_rng(5).uniform(-1, 1, model.conf(row).shape)
    model.initialise()
    true, bound = true_step(model), motion.critical_step(model.bodies)[0]
    refined, body = motion.refined_critical_step(model.bodies, True)
    wanted = min(true, at_rest)
    assert body == row and bound < wanted
    assert 0.93 * wanted < refined < 1.02 * wanted
    assert motion.refined_critical_step(model.bodies, False) == (pytest.approx(at_rest, rel=1e-12), row)
    assert motion.critical_step(model.bodies)[0] == bound


@pytest.mark.parametrize("stretch", [1.0, 1.2, 1.4])
def test_the_step_of_a_cube_that_is_pulled_at_all_sides_is_known(stretch):
    """Its fastest motion is to swell: with masses m/8 at the corners of a cube of the edge a, w^2 = 4 (3 lambda + 2 mu) (3 s^2 - 1) / (2 rho a^2)."""
    model, edge = ElementModel(), 0.3
    mesh = block((1, 1, 1), high=(edge,) * 3)
    row = model.add(mesh, young=1e6, poisson=0.3)
    model.initialise()
    model.conf(row)[:] = (stretch - 1) * mesh.nodes.T
    model.initialise()
    lame = model.bodies.lame[:, row]
    exact = 0.5 * edge * np.sqrt(1e3 / ((3 * lame[0] + 2 * lame[1]) * (1.5 * stretch**2 - 0.5)))
    assert true_step(model) == pytest.approx(exact, rel=1e-12)
    assert motion.refined_critical_step(model.bodies, False)[0] == pytest.approx(exact * np.sqrt(1.5 * stretch**2 - 0.5), rel=1e-12)
    assert 0.95 * exact < motion.refined_critical_step(model.bodies, True)[0] <= exact * (1 + 1e-12)


def test_the_bound_without_strains_is_the_step_at_rest_to_the_last_bit():
    """Else round-off decided whether a step that had been lowered to that at rest was lowered again by any small strain, between the looks at the tangent."""
    domain = Domain(1.0)
    material = BulkMaterial(young=1e6, poisson=0.3, density=1e3)
    domain.insert_body(BodyKind.FINITE_ELEMENT, [hex_mesh(BOX.tolist(), 1, 1, 1, 1, [1] * 6)], material, form=Form.TL)
    domain.initialise()
    limit_step(domain)
    fe = compiled(domain.bodies)
    for square in fe.square_at_rest[0] * np.random.default_rng(2).uniform(0.5, 2.0, 500):
        fe.square_at_rest[0] = square
        assert motion.critical_step(domain.bodies) == motion.refined_critical_step(domain.bodies, False)


@pytest.mark.parametrize("law", [Law.KIRCHHOFF, Law.NEO_HOOKEAN])
def test_steps_are_the_same_for_a_body_that_is_turned_or_mirrored(law):
    """Whether before it is made, or by its motion."""
    turned, mirrored = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix(), np.diag([-1.0, 1.0, 1.0])
    steps = []
    for made, moved in (np.eye(3),) * 2, (turned, np.eye(3)), (mirrored, np.eye(3)), (turned @ mirrored, turned), (np.eye(3), turned):
        model, mesh = ElementModel(), block((4, 2, 3), high=(1.0, 0.3, 0.5))
        random = np.random.default_rng(1)
        gradient = np.eye(3) + 0.2 * random.uniform(-1, 1, (3, 3))
        places = (mesh.nodes @ gradient + 0.02 * random.uniform(-1, 1, mesh.nodes.shape)) @ made.T @ moved.T
        mesh.scale(np.array([np.linalg.det(made), 1.0, 1.0]))
        mesh.rotate(np.zeros(3), made @ np.diag([np.linalg.det(made), 1.0, 1.0]))
        row = model.add(mesh)
        model.bodies.law[row] = law
        model.initialise()
        model.conf(row)[:] = (places - mesh.nodes).T
        model.initialise()
        steps.append([motion.refined_critical_step(model.bodies, exactly)[0] for exactly in (True, False)] + [motion.critical_step(model.bodies)[0]])
        assert 0.93 * min(true_step(model), steps[-1][1]) < steps[-1][0] < steps[-1][1]
    np.testing.assert_allclose(steps, steps[:1] * 5, rtol=1e-11)


@pytest.mark.parametrize("kind", ["hexahedra", "enhanced", "tetrahedra", "cut"])
@pytest.mark.parametrize("damping", [0.0, 1e-3])
@pytest.mark.parametrize("poisson", [0.3, 0.0])
def test_new_bodies_take_the_same_step_whether_their_frequency_is_found_or_bounded(kind, damping, poisson):
    """Steps that the cheap bound allows for find no eigenvalues, and all others become the critical one, to the last bit.

    Without lateral contraction the bound is close to the frequency, so a lower one would let steps pass that are too long.
    """

    def made():
        domain = Domain(1.0)
        material = BulkMaterial(model="KIRCHHOFF", young=1e6, poisson=poisson, density=1e3)
        mesh = hex_mesh(BOX.tolist(), 3, 2, 2, 1, [1] * 6)
        if kind == "tetrahedra":
            mesh = refined(mesh, np.array([0.45, 0.45, 0.45]), np.array([1.0, 0.4, 0.2]) / np.sqrt(1.2), domain.epsilon).mesh
        if kind == "cut":
            shape = hull((0.8 * BOX.reshape(-1, 3) + 0.1).tolist(), 1, 1)
            body = domain.insert_body(BodyKind.FINITE_ELEMENT, [shape], material, mesh=mesh)
        else:
            body = domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], material, form=Form.TL)
        row = domain.body_row(body)
        domain.bodies.enhanced[row] = kind == "enhanced"
        domain.bodies.damping[row] = damping
        domain.initialise()
        return domain

    critical = motion.critical_step(made().bodies)[0]
    found = []
    for part in (0.02, 0.3, 0.6, 0.9, 1.0, 1.1, 3.0):
        domain = made()
        domain.step = part * critical
        limit_step(domain)
        assert domain.step == min(part * critical, critical)
        found.append(np.isfinite(compiled(domain.bodies).square_at_rest[0]))
    assert found == sorted(found) and not found[0] and found[-1]
    if not damping:
        assert not found[1], "the bound is much too high"


@pytest.mark.parametrize("largest", [[1.0, 0.3], [1.0, 1.0, 0.5], [1.0, 1.0 - 1e-7, 0.9], [1.0, 0.999, 0.998]])
def test_the_largest_eigenvalue_is_found_among_close_ones(largest):
    rng = np.random.default_rng(7)
    values = np.concatenate([largest, rng.uniform(-0.1, 0.9 * largest[-1], 400)])
    q = np.linalg.qr(rng.normal(size=(len(values),) * 2))[0]
    matrix = 3e7 * (q * values) @ q.T
    assert frequencies.largest_eigenvalue(lambda x: matrix @ x, rng.uniform(-1, 1, len(values))) == pytest.approx(3e7, rel=3e-7)
    assert frequencies.largest_eigenvalue(lambda x: 5.0 * x, rng.uniform(-1, 1, 90)) == pytest.approx(5.0, rel=1e-12)


def test_the_bound_of_large_meshes_needs_little_memory_and_is_that_of_their_parts(monkeypatch):
    """A model of a million elements would need 6 GB for the Laplacians' terms, several times what it has afterwards."""
    model = ElementModel()
    model.add(block((16, 16, 16)))
    model.initialise()
    assembly = compiled(model.bodies).assembly
    density = np.full(assembly.element_count, 1e3)
    kept = sum(array.nbytes for group in assembly.groups for array in vars(group).values() if isinstance(array, np.ndarray))
    tracemalloc.start()
    bound = frequencies.laplacian_bound(assembly, density)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * kept
    monkeypatch.setattr(frequencies, "AT_ONCE", 1 << 20)
    assert frequencies.laplacian_bound(assembly, density) == bound


def test_bodies_are_refined_as_if_alone():
    steps = []
    for others in (0, 2):
        model = ElementModel()
        for k in range(others):
            model.add(block((2, 1 + k, 1), (3.0 * k + 5, 0, 0), (3.0 * k + 7, 1, 1)), young=1e6, form=Form.BC if k else Form.TL)
        row = model.add(block((3, 2, 2)))
        model.conf(row)[:] = 0.3 * np.random.default_rng(1).uniform(-1, 1, model.conf(row).shape) / 3
        model.initialise()
        steps.append(motion.refined_critical_step(model.bodies, True))
        assert steps[-1][1] == row
    assert steps[0][0] == steps[1][0]


def released(stretch, law="KIRCHHOFF"):
    """A free block let go when it is stretched, or pressed, by a gradient; the domain, its step at rest."""
    domain = Domain(1.0)
    material = BulkMaterial(model=law, young=1e6, poisson=0.3, density=1e3)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [hex_mesh(BOX.tolist(), 3, 3, 3, 1, [1] * 6)], material, form=Form.TL)
    domain.initialise()
    at_rest = motion.refined_critical_step(domain.bodies, False)[0]
    nodes = domain.bodies.meshes[body].nodes
    domain.states.set_conf(body, ((nodes - 0.5) @ (np.asarray(stretch) - np.eye(3)).T).ravel())
    return domain, at_rest


@pytest.mark.parametrize(
    "stretch, law",
    [(np.diag([1.0, 1.0, 1.4]), "KIRCHHOFF"), (np.diag([1.0, 1.0, 0.75]), "KIRCHHOFF"), (0.8 * np.eye(3), "KIRCHHOFF"),
     (np.diag([0.7, 1.0, 1.4]), "NEO_HOOKEAN")],
)  # fmt: skip
def test_a_block_let_go_vibrates_without_gaining_energy_at_a_step_near_that_of_its_rest(stretch, law):
    """Over dozens of periods its energy stays in its band and does not drift; the bound alone would make the step a half to a quarter of this."""
    domain, at_rest = released(stretch, law)
    domain.initialise()
    start, balance, solver = domain.energy()[Energy.INTERNAL], [], GaussSeidelSolver(1e-6, 10)
    for _ in range(600):
        domain.advance(solver)
        energy = domain.energy()
        balance.append((energy[Energy.KINETIC] + energy[Energy.INTERNAL]) / start - 1.0)
    assert np.abs(balance).max() < 0.12
    assert np.mean(balance[-150:]) == pytest.approx(np.mean(balance[:150]), abs=0.01)
    assert 0.6 * at_rest < domain.step <= at_rest


def test_a_strained_body_that_is_forced_to_a_step_above_its_limit_ends_the_run():
    from solfec.errors import SolfecError

    domain, at_rest = released(1.6 * np.eye(3))
    domain.set_step(1.6 * at_rest)  # below the limit at rest, above that of the stretched block
    domain.step_kept = True
    with pytest.raises(SolfecError, match=r"body 1 \(FINITE_ELEMENT\), element \d+, is unstable at the step"):
        domain.advance(GaussSeidelSolver(1e-6, 10))
