"""Quasi-static bodies of form 'TL' whose tangents are definite on their supports only, and supports that are met whatever a solver comes to."""

import warnings

import numpy as np
import pytest
from unit_cube import BOX

import solfec as sf
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.errors import SolfecWarning
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.sphere import Sphere
from solfec.solvers import exact_supports
from solfec.solvers.auto import AutoSolver
from solfec.solvers.contact_problem import Method
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.time_series import TimeSeries


def beam(domain, cells=(8, 1, 1), size=(1.0, 0.1, 0.1), form=Form.TL, young=1e7):
    mesh = hex_mesh((BOX * size).tolist(), *cells, 1, [1] * 6)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], BulkMaterial(young=young, poisson=0.0, density=1000), form=form)
    return body, mesh.nodes


def slender(tmp_path, step, exact, clamped=True):
    """A beam of length 1 and thickness b, P = E I."""
    b = 0.05
    s = sf.SOLFEC("QUASI_STATIC", step, str(tmp_path / f"out{step}{exact}"))
    s.verbose = "OFF"
    bulk = sf.BULK_MATERIAL(s, young=1e7, poisson=0.0, density=1000)
    n = [0, 0, 0, 1, 0, 0, 1, b, 0, 0, b, 0, 0, 0, b, 1, 0, b, 1, b, b, 0, b, b]
    body = sf.BODY(s, "FINITE_ELEMENT", sf.HEX(n, 40, 1, 2, 1, [1] * 6), bulk)
    body.enhanced = "ON"
    if clamped:
        for y in (0, b):
            for z in (0, b / 2, b):
                sf.FIX_POINT(body, (0, y, z))
    s.exact_supports = exact
    return s, body, b, 1e7 * b**4 / 12


@pytest.mark.parametrize("step, exact", [(0.2, "ON"), (2.0, "ON"), (2.0, "OFF")])
def test_a_clamped_beam_bends_as_the_elastica(tmp_path, step, exact):
    """Mattiasson, at P L^2 / (E I) = 4: (-0.32894, -0.66996); the free tangent has been indefinite since w/L = 0.08.  Equilibrium by sums."""
    s, body, b, unit = slender(tmp_path, step, exact)
    sf.FORCE(body, "SPATIAL", (1, b / 2, b / 2), (0, 0, -1), sf.TIME_SERIES([0, 0, 20, 4 * unit, 100, 4 * unit]))
    sf.RUN(s, sf.AUTO_SOLVER(1e-11), 24 if step < 1 else 60)
    x, y, z = sf.DISPLACEMENT(body, (1, b / 2, b / 2))
    assert (x, z) == pytest.approx((-0.32894, -0.66996), rel=5e-3) and abs(y) < 1e-9
    forces = np.array([c.R for c in body.constraints])
    places = np.array([c.point for c in body.constraints]) - (0, b / 2, b / 2)
    assert forces.sum(0) == pytest.approx((0, 0, 4 * unit), abs=1e-6 * unit)
    assert np.cross(places, forces).sum(0)[1] == pytest.approx(-4 * unit * (1 + x), rel=1e-6)


def test_a_column_beyond_its_buckling_load_is_told(tmp_path):
    s, body, b, unit = slender(tmp_path, 1.0, "ON")
    sf.FORCE(body, "SPATIAL", (1, b / 2, b / 2), (-1, 0, 0), sf.TIME_SERIES([0, 0, 20, 1.5 * np.pi**2 / 4 * unit]))
    with pytest.warns(SolfecWarning, match="body 1: the tangent matrix, supports included, is not positive definite: the body buckles"):
        sf.RUN(s, sf.AUTO_SOLVER(1e-11), 20)


def test_a_column_below_it_is_not(tmp_path):
    s, body, b, unit = slender(tmp_path, 1.0, "ON")
    sf.FORCE(body, "SPATIAL", (1, b / 2, b / 2), (-1, 0, 0), sf.TIME_SERIES([0, 0, 20, 0.97 * np.pi**2 / 4 * unit]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.RUN(s, sf.AUTO_SOLVER(1e-11), 20)


def supported(domain, kinds):
    """A beam with supports of some kinds, among them such as lie in faces and are put twice, and a load."""
    body, nodes = beam(domain)
    if "fixed" in kinds:
        for y in (0.02, 0.05, 0.09):
            domain.joints.fix_point(body, (0, y, 0.03))
        domain.joints.fix_point(body, (0, 0.02, 0.03))
        domain.joints.fix_point(body, (0, 0.05, 0.1))
    if "sliding" in kinds:
        for node in nodes[nodes[:, 0] < 1e-9]:
            domain.joints.fix_direction(body, node, (1, 0, 0))
        domain.joints.fix_direction(body, (0, 0.05, 0.02), (0, 0.6, 0.8))
        domain.joints.fix_direction(body, (0, 0.0, 0.02), (0, 0.8, -0.6))
        domain.joints.fix_direction(body, (0.5, 0.07, 0.0), (0, 1, 0))
    if "driven" in kinds:
        domain.joints.prescribe_velocity(body, (1, 0.04, 0.06), (0, 0, 1), TimeSeries([0, 1], [0.1, 0.3]))
    domain.loads.add_force(domain.body_row(body), "SPATIAL", (1, 0.05, 0.05), (0, 0.3, 1), 5.0)
    return body


@pytest.mark.parametrize("kinds", ["fixed", "sliding", "fixed and driven", "sliding and driven"])
def test_springs_of_supports_change_neither_motion_nor_reactions(kinds):
    """Steps with and without them, solved tightly: the same displacements, and the same sum of reactions of each support's place."""
    results = []
    for exact in (True, False):
        domain = Domain(0.05, epsilon=1e-6, dynamic=False)
        body = supported(domain, kinds)
        domain.exact_supports = exact
        for _ in range(20):
            domain.advance(AutoSolver(1e-13, 20000))
        moved = domain.bodies.configurations.conf[:, domain.bodies.conf_slice(domain.body_row(body))].copy()
        c = domain.constraints
        forces = np.einsum("ijk,jk->ik", c.view("base"), c.view("R"))
        moments = np.cross(c.view("point").T, forces.T).sum(0)
        results.append((moved, forces.sum(1), moments))
    size = np.abs(results[1][0]).max()
    assert size > 1e-4
    assert np.abs(results[0][0] - results[1][0]).max() < 1e-7 * size
    assert results[0][1] == pytest.approx(results[1][1], abs=1e-5 * np.abs(results[1][1]).max())
    assert results[0][2] == pytest.approx(results[1][2], abs=1e-5 * np.abs(results[1][2]).max())


def tube(tmp_path, solver, steps=10):
    """Plane strain of a tube by 120 fixed directions, under pressure."""
    s = sf.SOLFEC("QUASI_STATIC", 0.1, str(tmp_path / "tube"))
    s.verbose = "OFF"
    bulk = sf.BULK_MATERIAL(s, young=1e6, poisson=0.3, density=1)
    body = sf.BODY(s, "FINITE_ELEMENT", sf.PIPE((0, 0, 0), (0, 0, 0.1), 1, 1, 1, 12, 4, 1, [1, 2, 3, 4]), bulk)
    x = body.mesh.get_data()[0]
    for i in range(0, len(x), 3):
        sf.FIX_DIRECTION(body, tuple(x[i : i + 3]), (0, 0, 1))
    sf.PRESSURE(body, 3, -1.0)
    sf.RUN(s, solver, steps * 0.1)
    return s, body


@pytest.mark.parametrize("most", [3000, 0], ids=["direct", "conjugate gradients"])
@pytest.mark.parametrize("sweeps", [2000, 1])
def test_supports_are_met_by_steps_that_solvers_leave_unsolved(tmp_path, monkeypatch, sweeps, most):
    """Solfec-1.0's elements on this mesh: 1.8479E-6; Lame's solution of a fine one, 2.0E-6."""
    monkeypatch.setattr(exact_supports, "LARGEST", most)
    s, body = tube(tmp_path, sf.GAUSS_SEIDEL_SOLVER(1e-10, sweeps))
    assert max(abs(z) for z in body.conf[2::3]) < 1e-16
    assert sf.DISPLACEMENT(body, (1, 0, 0))[0] == pytest.approx(1.8479e-6, rel=1e-4)


def test_supports_that_contradict_one_another_are_told(tmp_path):
    s = sf.SOLFEC("QUASI_STATIC", 0.1, str(tmp_path / "out"))
    s.verbose = "OFF"
    bulk = sf.BULK_MATERIAL(s, young=1e6, poisson=0.3, density=1)
    body = sf.BODY(s, "FINITE_ELEMENT", sf.HEX(BOX.ravel().tolist(), 1, 1, 1, 1, [1] * 6), bulk)
    for k in range(4):
        sf.FIX_POINT(body, tuple(BOX[k]))
    sf.SET_VELOCITY(body, tuple(BOX[0]), (0, 0, 1), 0.1)
    with pytest.warns(SolfecWarning, match="exact_supports: fixed points and prescribed velocities could not be met"):
        sf.RUN(s, sf.GAUSS_SEIDEL_SOLVER(1e-6, 100), 0.3)


def test_loose_sweeps_hold_supports_of_bodies_of_every_kind():
    """Rigid, pseudo-rigid, of form 'BC': a support is met by the step, not by patience."""
    domain = Domain(0.01, epsilon=1e-6, dynamic=False)
    bulk = BulkMaterial(young=1e7, poisson=0.3, density=1000)
    bodies = []
    for k, kind in enumerate((BodyKind.RIGID, BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT)):
        cube = hex_mesh((BOX * 0.5 + (2 * k, 0, 0)).tolist(), 1, 1, 1, 1, [1] * 6)
        bodies.append(domain.insert_body(kind, [cube], bulk, **({"form": Form.BC} if k == 2 else {})))
    points = [(2 * k, y, z) for k in range(3) for y, z in ((0, 0), (0.5, 0), (0, 0.5))]
    for point in points:
        domain.joints.fix_point(bodies[int(point[0] // 2)], point)
    domain.loads.set_gravity((3, 1, -10))
    for _ in range(10):
        domain.advance(GaussSeidelSolver(1e-1, 3))
    for point in points:
        assert np.abs(domain.points.displacement(bodies[int(point[0] // 2)], point)).max() < 1e-13


def held_block(cells, friction):
    """An elastic block, fixed at all nodes below, in dynamics, and an obstacle that moves into it."""
    domain = Domain(1e-3, epsilon=1e-6)
    domain.surface_materials.friction[0] = friction
    body, nodes = beam(domain, (cells, cells, 2), (1.0, 1.0, 0.5), Form.BC, 1e6)
    domain.bodies.scheme[domain.body_row(body)] = Scheme.DEF_LIM
    for node in nodes[nodes[:, 2] < 1e-9]:
        domain.joints.fix_point(body, node)
    ball = domain.insert_body(BodyKind.OBSTACLE, [Sphere(np.array((0.4, 0.45, 1.45)), 1.0)], BulkMaterial(young=1, poisson=0, density=1))
    domain.bodies.triples.velo[:, domain.bodies.velo_slice(domain.body_row(ball))][:, 1] = (0.3, 0.1, -0.5)
    return domain


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_contacts_of_a_held_body_are_solved_with_its_supports_taken_out(friction):
    """Reactions equal those of one system of all rows; the ball presses, and the ground carries."""
    found = []
    for method in (Method.AUTO, Method.NEWTON):
        domain = held_block(4, friction)
        solver = AutoSolver(1e-11, 2000, method=method)
        for _ in range(12):
            domain.advance(solver)
            assert solver.error == "OK"
        assert (solver.methods.get("DIRECT", 0) == 1) == (method == Method.AUTO)
        found.append((domain.constraints.view("kind").copy(), domain.constraints.view("R").copy(), domain.bodies.configurations.conf.copy()))
    (kind, one, place), (_, other, elsewhere) = found
    assert (kind == 0).sum() >= 4 and (kind == 1).sum() == 25
    assert one[2, kind == 0].sum() > 1.0
    assert np.abs(one - other).max() < 1e-6 * np.abs(other).max()
    assert np.abs(place - elsewhere).max() < 1e-10


def test_supports_alone_are_solved_directly(tmp_path):
    """120 rows took 2.5 s a step, 648 were left unsolved: no iteration, and accuracy."""
    solver = sf.AUTO_SOLVER(1e-12)
    s, body = tube(tmp_path, solver, 3)
    assert (solver.error, solver.iters, solver.methods) == ("OK", 0, {"DIRECT": 1})
    assert max(abs(z) for z in body.conf[2::3]) < 1e-16


def test_supports_that_are_put_twice_are_solved_directly_too():
    domain = held_block(2, 0.2)
    body = int(domain.bodies.id[0])
    for point in ((0, 0, 0), (0.5, 0.5, 0), (0.25, 0.25, 0)):
        domain.joints.fix_point(body, point)
    domain.joints.fix_direction(body, (1, 1, 0), (0, 0.6, 0.8))
    solver = AutoSolver(1e-10)
    for _ in range(5):
        domain.advance(solver)
        assert solver.error == "OK" and solver.methods["DIRECT"] == 1
    users = domain.constraints.user_count
    assert np.abs(domain.constraints.view("U")[:, :users] + domain.constraints.view("V")[:, :users])[2].max() < 1e-9


@pytest.mark.parametrize("form", ["TL", "BC"])
@pytest.mark.parametrize("step", [0.1, 1.0])
@pytest.mark.parametrize("solver", [lambda: sf.AUTO_SOLVER(), lambda: sf.GAUSS_SEIDEL_SOLVER(1e-6, 1000)], ids=["AUTO", "GAUSS_SEIDEL"])
def test_a_bar_that_is_pulled_without_other_loads_draws_no_warning(solver, step, form):
    """At first its free velocities are round-off of its rotation, beside which any error is large."""
    solfec = sf.SOLFEC("QUASI_STATIC", step)
    solfec.verbose = "OFF"
    bulk = sf.BULK_MATERIAL(solfec, young=1e6, poisson=0.0, density=1000.0)
    bar = sf.BODY(solfec, "FINITE_ELEMENT", sf.BOX((0.5, 0, 0), (1, 0.1, 0.1), divisions=(4, 1, 1)), bulk, form=form)
    for y in (-0.05, 0.05):
        for z in (-0.05, 0.05):
            sf.FIX_POINT(bar, (0, y, z))
            sf.SET_VELOCITY(bar, (1, y, z), (1, 0, 0), 0.0025 / step)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.RUN(solfec, solver(), 4 * step)
    assert sf.DISPLACEMENT(bar, (1, 0, 0))[0] == pytest.approx(0.01, abs=1e-9)


@pytest.mark.parametrize("points", [2, 4], ids="{} points".format)
def test_modal_bodies_are_held_by_more_points_than_their_modes_tell_apart(points, tmp_path):
    """An end section that no mode of the base deforms is held by several of its points: the work of all forces is the bar's energy.

    Reactions that cancel one another grew to 10^13 N, with works of 10^5 J beside 0.02 J.
    """
    model = sf.SOLFEC("DYNAMIC", 5e-4)
    model.verbose = "OFF"
    bulk = sf.BULK_MATERIAL(model, young=2e9, poisson=0.0, density=2000)
    shape = sf.BOX((1, 0.1, 0.1), (2, 0.2, 0.2), divisions=(8, 2, 2))
    free = sf.BODY(model, "FINITE_ELEMENT", sf.COPY(shape), bulk, form="BC")
    modes = sf.MODAL_ANALYSIS(free, 14, str(tmp_path / "modes"))
    sf.DELETE(model, free)
    bar = sf.BODY(model, "FINITE_ELEMENT", shape, bulk, form="BC-MODAL", base=modes)
    for y, z in ((0.0, 0.0), (0.2, 0.2), (0.2, 0.0), (0.0, 0.2))[:points]:
        sf.FIX_POINT(bar, (0.0, y, z))
    sf.FORCE(bar, "SPATIAL", (2, 0.1, 0.1), (0, 0, 1), 100)
    largest = 0.0
    for _ in model.steps(sf.AUTO_SOLVER(), 0.1):
        largest = max(largest, np.abs(model.snapshot().constraints.R).max())
    energy = sf.ENERGY(bar)
    stored = energy.kinetic + energy.internal
    assert stored > 1e-2
    assert energy.external == pytest.approx(stored, rel=1e-4)
    assert largest < 1e5  # 100 N at an arm of 2 m, held at one of 0.2 m
