"""Solutions of linearly implicit bodies: factors, conjugate gradients with an old factor, and what a continued run recalls."""

from itertools import pairwise

import numpy as np
import pytest
from finite_element_models import ElementModel, block
from kernel_threads import with_threads
from scipy import sparse

from solfec.bodies import factorisation, implicit
from solfec.bodies.conjugate_gradients import NoConvergence
from solfec.bodies.table import Energy, Form, Scheme

FACTORS = [factorisation.SuperLU, factorisation.Cholesky]


def lower_of(dense):
    """Pattern and values of the lower triangle of a matrix."""
    rows, columns = np.nonzero(np.tril(dense).T)[::-1]
    pointer = np.searchsorted(columns, np.arange(len(dense) + 1))
    return factorisation.LowerPattern(len(dense), pointer.astype(np.int32), rows.astype(np.int32)), dense[rows, columns]


@pytest.mark.parametrize("kind", FACTORS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("count", [1, 48, 150])
def test_many_right_hand_sides_are_solved_with_the_factor_itself(kind, count):
    """Of a band with a border, whose factor has wide and narrow supernodes; anew after the values have changed."""
    random = np.random.default_rng(1)
    size = 60
    dense = random.uniform(-1, 1, (size, size)) * (np.abs(np.subtract.outer(np.arange(size), np.arange(size))) < 7)
    dense = dense + dense.T + 30 * np.eye(size)
    dense[:, -4:] += 0.5
    dense[-4:] += 0.5
    pattern, values = lower_of(dense)
    factor = kind(pattern)
    right = random.uniform(-1, 1, (size, count)) * (random.uniform(size=(size, count)) < 0.1)
    for scale in (1.0, 2.0):
        factor.factorise(scale * values)
        found = factor.solve(right)
        assert np.abs(scale * dense @ found - right).max() < 1e-13
        alone = np.stack([factor.solve(column) for column in right.T], axis=1)
        assert np.abs(found - alone).max() < 1e-15


@pytest.mark.parametrize("kind", FACTORS, ids=lambda k: k.__name__)
def test_factors_solve_after_every_change_of_values(kind):
    random = np.random.default_rng(0)
    chain = np.diag(np.full(30, 4.0)) + np.diag(np.full(29, -1.0), 1) + np.diag(np.full(29, -1.0), -1)
    pattern, values = lower_of(chain)
    factor = kind(pattern)
    for scale in (1.0, 3.0):
        factor.factorise(scale * values)
        right = random.uniform(-1, 1, (30, 4))
        assert np.abs(scale * chain @ factor.solve(right) - right).max() < 1e-13
        assert np.abs(scale * chain @ factor.solve(right[:, 0]) - right[:, 0]).max() < 1e-13
        factor.vector[:] = right[:, 1]
        assert np.abs(scale * chain @ factor.solve_vector() - right[:, 1]).max() < 1e-13


def grid_matrix(shape, width, random):
    """A matrix of the neighbours on a grid of nodes, each with so many unknowns, made positive definite by its diagonal."""
    number = np.arange(np.prod(shape)).reshape(shape)
    count = number.size
    joined = np.zeros((count, count), bool)
    for step in np.ndindex(*3 * [2]):
        near, far = (number[tuple(slice(s, None) for s in step)], number[tuple(slice(None, n - s) for n, s in zip(shape, step))])
        joined[near.ravel(), far.ravel()] = joined[far.ravel(), near.ravel()] = True
    dense = random.uniform(-1, 1, (width * count, width * count)) * np.kron(joined, np.ones((width, width)))
    dense = dense + dense.T
    return dense + np.diag(np.abs(dense).sum(0) + 1)


@pytest.mark.parametrize("library", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 2, 1), (5, 5, 2), (9, 8, 5)])
def test_panels_of_many_widths_hold_the_factor(shape, library, monkeypatch):
    """Wide ones, of parts, and some that end within a tile; ordered with and without the optional library."""
    if not library:
        monkeypatch.setattr(factorisation, "cholmod_present", lambda: False)
    random = np.random.default_rng(5)
    dense = grid_matrix(shape, 3, random)
    pattern, values = lower_of(dense)
    factor = factorisation.Cholesky(factorisation.LowerPattern(pattern.size, pattern.indptr, pattern.indices, 3))
    factor.factorise(values)
    right = random.uniform(-1, 1, (len(dense), 21))
    assert np.abs(dense @ factor.solve(right) - right).max() < 1e-13
    assert np.abs(dense @ factor.solve(right[:, 0].copy()) - right[:, 0]).max() < 1e-13
    if np.prod(shape) > 300:
        widths = np.diff(factor.first)
        assert widths.max() <= factorisation.WIDEST and len(set(widths)) > 5


def test_factors_refuse_what_is_not_positive_definite():
    chain = np.diag(np.full(30, 4.0)) + np.diag(np.full(29, -1.0), 1) + np.diag(np.full(29, -1.0), -1)
    pattern, values = lower_of(chain)
    factor = factorisation.Cholesky(pattern)
    with pytest.raises(factorisation.NotPositiveDefinite):
        factor.factorise(-values)
    values[7] = np.nan
    with pytest.raises(factorisation.NotPositiveDefinite):
        factor.factorise(values)


def separate_blocks(random):
    """Matrices of separate bodies, large and small ones in turn, as a sparse matrix, dense blocks and their first rows."""
    blocks = [grid_matrix(shape, 3, random) for _ in range(12) for shape in ((3, 3, 3), (1, 1, 1), (4, 3, 2))]
    lower = sparse.block_diag(blocks, format="csc")
    lower = sparse.tril(lower, format="csc")
    lower.sort_indices()
    return lower, blocks, np.cumsum([0, *map(len, blocks)])


def test_threads_share_separate_bodies_with_the_same_bits(threads):
    random = np.random.default_rng(7)
    lower, blocks, starts = separate_blocks(random)
    size = lower.shape[0]
    right = random.uniform(-1, 1, (size, 40)) * np.repeat(random.uniform(size=(len(blocks), 40)) < 0.5, np.diff(starts), axis=0)
    found = []
    for count in (1, 2, 3):
        threads(count)
        factor = factorisation.Cholesky(factorisation.LowerPattern(size, lower.indptr, lower.indices, 3))
        factor.factorise(lower.data)
        found.append((factor.value.copy(), factor.solve(right), factor.solve(right[:, 0].copy())))
        assert len(factor.tree) - 1 >= len(blocks) and len(factor.value) > 30_000  # enough for threads
    for other in found[1:]:
        assert all(map(np.array_equal, found[0], other))
    for dense, (first, end) in zip(blocks, pairwise(starts)):
        assert np.abs(dense @ found[0][1][first:end] - right[first:end]).max() < 1e-13
        assert np.abs(dense @ found[0][2][first:end] - right[first:end, 0]).max() < 1e-13


@pytest.mark.parametrize("spoilt", [0, 17, 35])
def test_threads_refuse_one_body_of_many_that_is_not_positive_definite(threads, spoilt):
    lower, _, starts = separate_blocks(np.random.default_rng(7))
    factor = factorisation.Cholesky(factorisation.LowerPattern(lower.shape[0], lower.indptr, lower.indices, 3))
    wrong = lower.data.copy()
    wrong[lower.indptr[starts[spoilt]] : lower.indptr[starts[spoilt + 1]]] *= -1.0
    for count in (1, 2, 3):
        threads(count)
        with pytest.raises(factorisation.NotPositiveDefinite):
            factor.factorise(wrong)
        factor.factorise(lower.data)  # which does not raise


def tumbling(damping=0.0):
    """A soft bar that turns, bends and swings, beside another of the same mesh at rest."""
    model = ElementModel()
    for place in (0.0, 3.0):
        mesh = block((6, 2, 2), (place, 0, 0), (place + 1, 0.2, 0.2))
        model.add(mesh, 1e6, 0.3, 1e3, Form.TL, Scheme.DEF_LIM, damping)
    model.spin(0, (0, 0, 1), (0, 20, 5))
    model.velo(0)[2] += 5 * np.sin(3 * model.bodies.meshes[1].nodes[:, 0])
    model.loads.set_gravity((0, 0, -9.81))
    return model.initialise()


def solver_of(model):
    (solver,) = model.bodies.finite_elements.implicit.elements
    return solver


def test_an_old_factor_gives_the_velocities_of_a_new_one():
    lagged, fresh = tumbling(1e-4), tumbling(1e-4)
    factorised = []
    for _ in range(60):
        lagged.run(1e-3, 1)
        factorised.append(solver_of(lagged).fresh)
        fresh.run(1e-3, 1)
        solver_of(fresh).memory = None
    assert 1 < sum(factorised) < 20
    scale = np.abs(fresh.velo(0)).max()
    assert np.abs(lagged.velo(0) - fresh.velo(0)).max() < 1e-10 * scale
    assert np.abs(lagged.velo(1) - fresh.velo(1)).max() < 1e-10 * scale


def test_conjugate_gradients_reach_round_off_and_say_when_they_cannot():
    """With the factor of another step, for bodies that have turned and bent since; a negative matrix is none of theirs."""
    model = tumbling(1e-4)
    model.run(1e-3, 12)
    solver = solver_of(model)
    solver.renew()
    now, gradients = solver.displacement.copy(order="F"), solver.gradients
    model.run(1e-3, 4)
    gradients.follow(now, solver.displacement)
    right = np.asfortranarray(np.random.default_rng(1).uniform(-1, 1, (3, len(solver.nodes))))
    products = gradients.solve(solver.factor, solver.displacement, solver.beta, right)
    assert 1 < products < 12
    found = gradients.solution.copy(order="F")
    image = solver.assembly.tangent_product(solver.displacement, found, np.zeros_like(found, order="F"))
    image = solver.beta[gradients.owner] * image + solver.mass * found
    assert np.abs(image - right).max() < 1e-9
    with pytest.raises(NoConvergence):
        gradients.solve(solver.factor, solver.displacement, -1e3 * solver.beta, right)


def test_threads_do_not_change_the_bits_of_a_solution():
    model = ElementModel()
    model.add(block((20, 11, 11), (0, 0, 0), (3, 1, 1)), 1e6, 0.3, 1e3, Form.TL, Scheme.DEF_LIM)  # more nodes than wake threads
    model.velo(0)[2] = np.sin(3 * model.bodies.meshes[1].nodes[:, 0])
    model.initialise()
    model.run(1e-3, 2)
    solver = solver_of(model)
    assert not solver.fresh
    right, found = np.random.default_rng(2).uniform(-1, 1, solver.size), []
    for _ in with_threads(1, 2):
        found.append(solver.solve(right).copy())
    assert solver.products > 1
    assert np.array_equal(*found)


def test_a_factor_turns_with_its_body(monkeypatch):
    """In three radians of free rotation a turned factor is renewed rarely, one that stays behind often."""

    def factorisations():
        model = ElementModel()
        model.add(block((4, 1, 1), (0, 0, 0), (1, 0.2, 0.2)), 1e9, 0.3, 1e3, Form.TL, Scheme.DEF_LIM)
        model.spin(0, (0, 0, 0), (0, 0, 30))
        model.initialise()
        count = 0
        for _ in range(100):
            model.run(1e-3, 1)
            count += solver_of(model).fresh
        return count

    turned = factorisations()
    assert turned < 6
    monkeypatch.setattr("solfec.bodies.conjugate_gradients.ConjugateGradients.follow", lambda self, made, present: None)
    assert 3 * turned < factorisations()


def test_a_buckling_matrix_is_solved_all_the_same():
    """Large steps under compression make A indefinite: no Cholesky factor, yet a solution."""
    model = ElementModel()
    row = model.add(block((3, 1, 1), (0, 0, 0), (3, 0.2, 0.2)), 1e6, 0.2, 1e3, Form.TL, Scheme.DEF_LIM)
    model.conf(row)[0] = -0.35 * model.bodies.meshes[1].nodes[:, 0]
    model.initialise()
    model.run(0.05, 1)
    solver = solver_of(model)
    assert isinstance(solver.factor, factorisation.SuperLU)
    assert np.isfinite(model.energy(Energy.KINETIC))
    right = np.random.default_rng(3).uniform(-1, 1, solver.size)
    fe = model.bodies.finite_elements
    mid = model.conf() - 0.025 * model.velo()
    fe.displacement[:] = mid
    found = solver.solve(right).reshape(3, -1, order="F")
    image = solver.assembly.tangent_product(fe.displacement, found, np.zeros_like(found, order="F"))
    image = solver.beta[0] * image + solver.mass * found
    assert np.abs(image - right.reshape(3, -1, order="F")).max() < 1e-6


def test_a_recalled_factor_gives_equal_bits():
    model, twin = tumbling(), tumbling()
    model.run(1e-3, 17)
    twin.run(1e-3, 17)
    memory = implicit.memory(twin.bodies, 1e-3)
    assert memory.fewest > 0
    twin.bodies.finite_elements = None  # as in a program that has just been started
    twin.initialise()
    implicit.recall(twin.bodies, twin.bodies.finite_elements, 1e-3, True, memory)
    assert implicit.memory(twin.bodies, 1e-3) is memory
    assert implicit.memory(twin.bodies, 2e-3) is None
    for m in (model, twin):
        m.run(1e-3, 25)
    assert np.array_equal(model.conf(0), twin.conf(0))
    assert np.array_equal(model.velo(1), twin.velo(1))
