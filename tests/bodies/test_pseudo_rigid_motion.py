"""Pseudo-rigid bodies: stiffness, critical step, vibrations, momentum, Solfec-1.0's trajectories."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from body_models import Model, skew

from solfec.bodies import motion
from solfec.bodies.finite_elements import compiled
from solfec.bodies.implicit import implicit_of
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import Energy, Scheme
from solfec.errors import SolfecError

DATA = Path(__file__).parent.parent / "data" / "bodies"
BAR = json.loads((DATA / "pseudo_rigid_bar.json").read_text())
SOLFEC_1_ORDER = [Energy.KINETIC, Energy.EXTERNAL, Energy.CONTACT, Energy.FRICTION, Energy.INTERNAL]


def bar(case):
    """The model of a case."""
    model = Model()
    material = BulkMaterial(young=case["young"], poisson=case["poisson"], density=case["density"])
    model.cube(material, case["damping"], edges=(2.0, 0.5, 0.4), scheme=Scheme[case.get("scheme", "DEF_EXP")])
    if case["angular_velocity0"]:
        model.velo()[:, :3] = skew(case["angular_velocity0"]).T
    model.velo()[:, 3] = case["linear_velocity0"] or (0, 0, 0)
    if case["gravity"]:
        model.loads.set_gravity(case["gravity"])
    if case["load"]:
        model.loads.add_force(0, *case["load"])
    return model.initialise()


def frames_of(case):
    """States of Solfec-1.0."""
    with np.load(DATA / "pseudo_rigid_bar.npz") as data:
        return {name: data[f"case{case['index']:02d}_{name}"] for name in ("time", "conf", "velo", "energy")}


@pytest.mark.parametrize("case", [case for case in BAR if not case["damping"]], ids=lambda case: f"{case['name']}-{case.get('scheme', 'DEF_EXP')}")
def test_bar_moves_as_in_solfec_1(case):
    model, frames = bar(case), frames_of(case)
    done = 0
    for k, time in enumerate(frames["time"]):
        if k == 0:
            continue  # written before energies were set
        number = round(time / case["step"])
        model.run(case["step"], number - done)
        done = number
        assert np.abs(model.conf().T.ravel() - frames["conf"][k]).max() < 1e-11
        assert np.abs(model.velo().T.ravel() - frames["velo"][k]).max() < 1e-11
        assert np.abs(model.bodies.energy[SOLFEC_1_ORDER, 0] - frames["energy"][k]).max() < 1e-11
    assert done == case["steps"]


@pytest.mark.parametrize("case", [case for case in BAR if case["damping"]], ids=lambda case: case.get("scheme", "DEF_EXP"))
def test_damping_is_that_of_solfec_1_without_stresses_that_turn(case):
    """Steps written down a second time come to Solfec-1.0's state with the damping force eta V dP/dt, to ours without its part dF/dt S."""
    model = bar(case)
    model.run(case["step"], case["steps"])
    theirs, ours = (march(model.bodies, case, turned) for turned in (True, False))
    assert np.abs(theirs - frames_of(case)["conf"][-1][:9]).max() < 1e-11
    assert np.abs(ours - model.conf().T.ravel()[:9]).max() < 1e-11
    assert np.abs(ours - theirs).max() > 1e-10


def march(bodies, case, turned):
    """Return the gradient (9,) after all steps; `turned`: damping acts on dF/dt S, too."""
    lame, mu = bodies.lame[:, 0]
    eta, step, volume, euler = case["damping"], case["step"], bodies.volume[0], np.kron(np.eye(3), bodies.tensor[:, :, 0])
    _, point, direction, value = case["load"]
    load = value * np.outer(np.array(direction) / np.linalg.norm(direction), point - bodies.centre[:, 0])

    def stress(strain):
        return lame * np.trace(strain) * np.eye(3) + 2.0 * mu * strain

    def by_strain(gradient):
        """F (dS/dE : dE) for all nine changes of F, by C = lambda 1 x 1 + 2 mu: lambda F_ij F_kl + mu ((F F^T)_ik d_jl + F_il F_kj)."""
        flat, left = gradient.ravel(), gradient @ gradient.T
        crossed = np.einsum("il,kj->ijkl", gradient, gradient).reshape(9, 9)
        return volume * (lame * np.outer(flat, flat) + mu * (np.kron(left, np.eye(3)) + crossed))

    gradient, rate = np.eye(3), np.zeros((3, 3))
    for _ in range(case["steps"]):
        middle = gradient + 0.5 * step * rate
        second = stress(0.5 * (middle.T @ middle - np.eye(3)))
        strained = by_strain(middle)
        turning = volume * np.kron(np.eye(3), second)
        damped = eta * (strained + turning) if turned else eta * strained
        matrix = euler
        if case.get("scheme") == "DEF_LIM":
            matrix = euler + 0.25 * step**2 * (strained + turning) + 0.5 * step * damped
        force = (load - volume * middle @ second).ravel() - damped @ rate.ravel()
        rate = (rate.ravel() + step * np.linalg.solve(matrix, force)).reshape(3, 3)
        gradient = middle + 0.5 * step * rate
    return gradient.ravel()


@pytest.mark.parametrize(
    ("scheme", "young", "edges", "most"), [(Scheme.DEF_EXP, 1e6, (2.0, 0.5, 0.4), 1e-12), (Scheme.DEF_LIM, 1e9, (1.0, 0.05, 0.05), 1e-6)]
)
def test_damping_does_not_brake_a_body_that_turns(scheme, young, edges, most):
    """Damping that acted on all of dP/dF, as in Solfec-1.0, took a third of this angular momentum with 'DEF_LIM'."""
    model = Model()
    model.cube(BulkMaterial(young=young, poisson=0.0, density=1e3), 2e-3, edges=edges, scheme=scheme)
    model.velo()[:, :3] = skew((0, 0, 20.0 if scheme == Scheme.DEF_LIM else 5.0)).T
    model.initialise()
    moment = lambda: model.conf()[:, :3].T @ model.bodies.tensor[:, :, 0] @ model.velo()[:, :3]  # noqa: E731
    start = moment()
    model.run(1e-3, 100)
    now = moment()
    assert abs((now - now.T)[0, 1] / (start - start.T)[0, 1] - 1.0) < most


def test_eigenvalues_of_the_unit_cube_are_those_of_its_material():
    """M^-1 K at rest: three rotations, 24 mu/(rho a^2) five times, 12 (3 lambda + 2 mu)/(rho a^2) once."""
    model, size = Model(), 1e-6
    model.cube()
    model.initialise()
    matrix = np.empty((9, 9))
    for i in range(9):
        response = []
        for sign in (1, -1):
            model.conf()[:, :3] = np.eye(3) + sign * size * np.eye(9)[i].reshape(3, 3).T
            model.velo()[...] = 0
            motion.predict(model.bodies, model.loads, 0.0, 1.0)
            response.append(-model.velo()[:, :3].T.ravel())
        matrix[:, i] = (response[0] - response[1]) / (2 * size)
    eigenvalues = np.sort(np.linalg.eigvals(matrix).real)
    np.testing.assert_allclose(eigenvalues, [0] * 3 + [9.6e6] * 5 + [2.4e7], rtol=1e-6, atol=10.0)


def test_critical_step_of_the_unit_cube():
    model = Model()
    model.rigid()
    model.cube()
    model.cube()
    step, row = motion.critical_step(model.bodies)
    assert step == pytest.approx(1 / math.sqrt(2.4e7), rel=1e-13)
    assert row == 1


def test_critical_step_of_the_tutorial_body():
    """Block over [-1, 1]^2 whose top falls from 2 to 1 along y; 1.165185e-4 s."""
    (nodes, weights), material = np.polynomial.legendre.leggauss(4), BulkMaterial(young=15e9, poisson=0.3, density=2e3)
    points, volumes = [], []
    for x, wx in zip(nodes, weights):
        for y, wy in zip(nodes, weights):
            height = 1.5 - 0.5 * y
            for z, wz in zip(nodes, weights):
                points.append((x, y, height * (1 + z) / 2))
                volumes.append(wx * wy * wz * height / 2)
    points, volumes = np.array(points), np.array(volumes)
    centre = volumes @ points / volumes.sum()
    euler = material.density * np.einsum("p,pi,pj->ij", volumes, points - centre, points - centre)
    model = Model()
    model.cube(material, volume=volumes.sum(), mass=material.density * volumes.sum(), centre=centre, tensor=euler)
    assert motion.critical_step(model.bodies)[0] == pytest.approx(1.165185e-4, abs=5e-11)


def test_critical_step_follows_from_the_largest_eigenvalue_of_deformed_bodies():
    random, model = np.random.default_rng(7), Model()
    expected = []
    for _ in range(60):
        row = model.cube(BulkMaterial(young=random.uniform(1e8, 1e9), poisson=random.uniform(0, 0.45)))
        euler = random.normal(size=(3, 3))
        model.bodies.tensor[:, :, row] = 100 * (euler @ euler.T + np.eye(3))
        gradient = np.eye(3) + 0.2 * random.normal(size=(3, 3))
        model.conf(row)[:, :3] = gradient.T
        expected.append(1 / math.sqrt(largest_eigenvalue(gradient, model.bodies, row)))
        single = motion.critical_step(model.bodies)
        assert single[1] == int(np.argmin(expected))
        assert single[0] == pytest.approx(min(expected), rel=1e-12)


def largest_eigenvalue(gradient, bodies, row):
    (lam, mu), unit = bodies.lame[:, row], np.eye(3)
    strain = (gradient.T @ gradient - unit) / 2
    stress = lam * np.trace(strain) * unit + 2 * mu * strain
    elasticity = lam * np.einsum("mj,nl->mjnl", unit, unit)
    elasticity += mu * (np.einsum("mn,jl->mjnl", unit, unit) + np.einsum("ml,jn->mjnl", unit, unit))
    tangent = np.einsum("ik,jl->ijkl", unit, stress) + np.einsum("im,mjnl,kn->ijkl", gradient, elasticity, gradient)
    root = np.kron(unit, np.linalg.inv(np.linalg.cholesky(bodies.tensor[:, :, row])))
    return np.linalg.eigvalsh(bodies.volume[row] * root @ tangent.reshape(9, 9) @ root.T).max()


def test_nothing_bounds_the_step_without_explicit_bodies():
    model = Model()
    assert motion.critical_step(model.bodies) == (math.inf, -1)
    model.rigid()
    assert motion.critical_step(model.bodies) == (math.inf, -1)


def breathing(amplitude, scheme=Scheme.DEF_EXP):
    model = Model()
    model.cube(scheme=scheme)
    model.conf()[:, :3] *= 1 + amplitude
    return model.initialise()


def test_dilated_cube_stores_its_strain_energy_and_keeps_it_within_the_band():
    model, h, balance = breathing(1e-3), 1e-5, []
    assert model.energy(Energy.INTERNAL) == pytest.approx(3003.0007, abs=1e-3)
    total = model.energy(Energy.INTERNAL)
    model.run(h, 1000, lambda n: balance.append(model.energy(Energy.INTERNAL) + model.energy(Energy.KINETIC)))
    assert np.abs(np.array(balance) / total - 1).max() < (math.sqrt(2.4e7) * h) ** 2 / 4 * 1.05


@pytest.mark.parametrize("h, deviation", [(1e-5, 1e-6), (1e-4, 1e-4)])
def test_an_implicit_dilated_cube_keeps_its_energy(h, deviation):
    """Case 12."""
    model, balance = breathing(1e-3, Scheme.DEF_LIM), []
    total = model.energy(Energy.INTERNAL)
    assert total == pytest.approx(3003.0007, abs=1e-3)
    model.run(h, round(1e-2 / h), lambda n: balance.append(model.energy(Energy.INTERNAL) + model.energy(Energy.KINETIC)))
    assert 0 < np.abs(np.array(balance) / total - 1).max() < deviation


@pytest.mark.parametrize("h, stride, scheme, expected", [
    (1e-6, 100, Scheme.DEF_EXP, 1.28255e-3), (1e-4, 1, Scheme.DEF_EXP, 1.26950e-3),
    (1e-6, 100, Scheme.DEF_LIM, 1.28255e-3), (1e-4, 1, Scheme.DEF_LIM, 1.30780e-3),
])  # fmt: skip
def test_small_dilatations_have_the_period_of_the_scheme(h, stride, scheme, expected):
    """sin(omega_d h/2) = omega h/2, tan of DEF_LIM: 1.28255e-3 s in the limit of small steps."""
    model, amplitudes = breathing(1e-6, scheme), []
    model.run(h, 400, lambda n: amplitudes.append(model.conf()[0, 0] - 1))
    a = np.array(amplitudes)
    # x(n+1) + x(n-1) = 2 cos(omega_d h) x(n) for every linear mode of the scheme
    middle = a[stride:-stride]
    cosine = (middle @ (a[2 * stride :] + a[: -2 * stride])) / (2 * middle @ middle)
    period = 2 * math.pi * stride * h / math.acos(cosine)
    angle = (math.asin if scheme == Scheme.DEF_EXP else math.atan)(math.sqrt(2.4e7) * h / 2)
    assert period == pytest.approx(math.pi * h / angle, rel=2e-6)
    assert period == pytest.approx(expected, abs=5e-9)


def test_damping_lets_a_mode_decay_at_its_ratio():
    omega, ratio, h = math.sqrt(2.4e7), 0.02, 1e-6
    model = Model()
    model.cube(damping=2 * ratio / omega)
    model.conf()[:, :3] *= 1 + 1e-6
    model.initialise()
    before = model.energy(Energy.INTERNAL)
    steps = round(10 * 2 * math.pi / omega / h)
    model.run(h, steps)
    total = model.energy(Energy.INTERNAL) + model.energy(Energy.KINETIC)
    assert math.sqrt(total / before) == pytest.approx(math.exp(-ratio * omega * steps * h), rel=0.01)


def test_free_spin_conserves_angular_momentum():
    model, omega = Model(), np.array([3.0, -20.0, 11.0])
    model.cube(BulkMaterial(young=1e6), edges=(1.0, 0.7, 1.3))
    model.velo()[:, :3] = skew(omega).T
    model.initialise()

    def momentum():
        product = model.gradient() @ model.bodies.tensor[:, :, 0] @ model.velo()[:, :3]
        return product - product.T

    before = momentum()
    model.run(1e-3, 1000)
    assert np.abs(model.gradient() - np.eye(3)).max() > 0.1
    assert np.abs(momentum() - before).max() < 1e-12 * np.abs(before).max()


def test_implicit_free_spin_keeps_angular_momentum_to_second_order_or_better():
    def drift(step):
        model = Model()
        model.cube(BulkMaterial(young=1e6), edges=(1.0, 0.7, 1.3), scheme=Scheme.DEF_LIM)
        model.velo()[:, :3] = skew(np.array([0.6, -4.0, 2.2])).T
        model.initialise()
        product = model.gradient() @ model.bodies.tensor[:, :, 0] @ model.velo()[:, :3]
        model.run(step, round(0.2 / step))
        after = model.gradient() @ model.bodies.tensor[:, :, 0] @ model.velo()[:, :3]
        return np.abs((after - after.T) - (product - product.T)).max() / np.abs(product - product.T).max()

    errors = np.array([drift(step) for step in (2e-3, 1e-3, 5e-4)])
    assert 1e-12 < errors[-1] < errors[0] < 1e-2
    assert np.log2(errors[:-1] / errors[1:]).min() > 1.8


def test_convected_force_turns_with_the_body():
    model = Model()
    model.cube()
    model.conf()[:, :3] = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).T  # rows of R_z(90 degrees)
    model.loads.add_force(0, "CONVECTED", (0.5, 0, 0), (1, 0, 0), 12.0)
    model.initialise()
    motion.predict(model.bodies, model.loads, 0.0, 1e-6)
    np.testing.assert_allclose(model.bodies.triples.force[:, 3], (0, 12, 0), atol=1e-12)
    np.testing.assert_allclose(model.bodies.triples.force[:, :3].T, [[0, 0, 0], [6, 0, 0], [0, 0, 0]], atol=1e-12)


def test_body_turned_inside_out_is_reported():
    model = Model()
    model.cube(id=17)
    model.initialise()
    model.velo()[0, 0] = -3.0
    with pytest.raises(SolfecError, match="body 17.*inside out"):
        motion.predict(model.bodies, model.loads, 0.0, 1.0)


@pytest.mark.parametrize("damping", [1e-6, 1e-4, 1e-2])
def test_damping_shortens_the_critical_step_to_half_of_the_stability_limit(damping):
    model = Model()
    model.cube()
    model.bodies.damping[0] = damping
    step, row = motion.critical_step(model.bodies)
    assert step * (step + damping) == pytest.approx(1 / 2.4e7, rel=1e-12) and row == 0
    model.initialise()
    for factor, stable in ((1.95, True), (2.2, False)):  # the linear stability limit is twice the critical step
        model.conf()[:, :3] = np.eye(3)
        model.conf()[0, 0] += 1e-9
        model.velo()[...] = 0.0
        try:
            model.run(factor * step, 2000)
            bounded = np.abs(model.gradient() - np.eye(3)).max() < 1e-7
        except SolfecError:  # turned inside out
            bounded = False
        assert bounded == stable


def test_a_body_without_stiffness_has_no_critical_step():
    model = Model()
    model.cube(BulkMaterial(young=0.0), id=5)
    with pytest.raises(SolfecError, match="body 5.*Young"):
        motion.critical_step(model.bodies)


def first_piola_kirchhoff(material, gradient):
    """P (3, 3) of St Venant-Kirchhoff's material."""
    lame, mu = material.lame
    strain = 0.5 * (gradient.T @ gradient - np.eye(3))
    return gradient @ (lame * np.trace(strain) * np.eye(3) + 2.0 * mu * strain)


@pytest.mark.parametrize("size", [1.0, 1.3, 0.5])  # compressed to one half, where stresses make the tangent indefinite
@pytest.mark.parametrize("dynamic", [True, False])
def test_implicit_steps_solve_with_mass_and_tangent(size, dynamic):
    """A^-1 of DEF_LIM is the inverse of M + beta V dP/dF, the derivative being that of the stress; damping leaves out dF S."""
    model, material, step, eta = Model(), BulkMaterial(young=100.0, poisson=0.3, density=2.0), 0.7, 0.05
    model.cube(material)
    model.cube(material, eta, edges=(2.0, 0.5, 0.4), scheme=Scheme.DEF_LIM)
    model.initialise()
    bodies, delta = model.bodies, 1e-5
    gradient = size * (np.eye(3) + 0.1 * np.random.default_rng(1).normal(size=(3, 3)))
    bodies.configurations.conf[:, bodies.conf_ptr[1] : bodies.conf_ptr[1] + 3] = gradient.T
    tangent = np.empty((9, 9))
    for k in range(9):
        change = delta * np.eye(9)[k].reshape(3, 3)
        difference = first_piola_kirchhoff(material, gradient + change) - first_piola_kirchhoff(material, gradient - change)
        tangent[:, k] = difference.ravel() / (2.0 * delta)
    matrix = np.zeros((12, 12))
    matrix[:9, :9] = np.kron(np.eye(3), bodies.tensor[:, :, 1])
    matrix[9:, 9:] = bodies.mass[1] * np.eye(3)
    matrix[:9, :9] += (0.5 * eta * step + 0.25 * step**2 if dynamic else step**2) * bodies.volume[1] * tangent
    strain = 0.5 * (gradient.T @ gradient - np.eye(3))
    stress = material.lame[0] * np.trace(strain) * np.eye(3) + 2.0 * material.lame[1] * strain
    matrix[:9, :9] -= (0.5 * eta * step if dynamic else 0.0) * bodies.volume[1] * np.kron(np.eye(3), stress)
    assert (np.linalg.eigvalsh(matrix).min() < 0.0) == (size == 0.5)
    solver = implicit_of(bodies, compiled(bodies), 1).pseudo_rigid
    solver.refresh(bodies, step, dynamic)
    found = solver.inverses[:, :, 0]
    assert np.array_equal(found, found.T)
    assert np.abs(found @ matrix - np.eye(12)).max() < 1e-7


def test_a_singular_matrix_of_an_implicit_body_is_named():
    model = Model()
    model.cube(BulkMaterial(young=100.0, poisson=0.3, density=2.0), scheme=Scheme.DEF_LIM)
    model.initialise()
    model.bodies.tensor[:, :, 0] = 0.0
    model.bodies.lame[:, 0] = 0.0
    solver = implicit_of(model.bodies, compiled(model.bodies), 1).pseudo_rigid
    with pytest.raises(SolfecError, match="body 1 .*scheme DEF_LIM: the matrix is singular"):
        solver.refresh(model.bodies, 0.1)
