"""Springs: the force laws, limits and directions, curves against functions, and chains of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.constraints.table import DirectionUpdate, SurfaceModel
from solfec.domain import Domain
from solfec.errors import SolfecError
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.sphere import Sphere
from solfec.solvers.auto import AutoSolver
from solfec.solvers.dump import dump
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.time_series import TimeSeries

X, Y, Z = np.eye(3)
BULK = BulkMaterial(young=1e6, poisson=0.3, density=1.0)
LINEAR = [(-1.0, 1000.0), (1.0, -1000.0)]
SHAPES = {  # of the same law f = -1000 s
    "curve": LINEAR,
    "knots": [(s, -1000.0 * s) for s in np.linspace(-0.05, 0.05, 41)],
    "function": lambda stroke, velocity: -1000.0 * stroke,
}
LAWS = pytest.mark.parametrize("law", SHAPES.values(), ids=SHAPES)


def ball(domain, centre, mass=1.0, kind=BodyKind.RIGID) -> int:
    body = domain.insert_body(kind, [Sphere(centre, 0.1, 1, 1)], BULK)
    domain.states.set_characteristics(body, mass, 1.0, centre, np.eye(3))
    return body


def pair(law, velocity=1.0, limits=(-1.0, 1.0), step=0.01, **options):
    """Two balls a unit apart along x, the first flying away from the second."""
    domain = Domain(step)
    second, first = ball(domain, (0, 0, 0)), ball(domain, (1.0, 0, 0))
    domain.states.set_velocity(first, (velocity, 0, 0), (0, 0, 0))
    spring = domain.joints.spring(first, (1.0, 0, 0), second, (0, 0, 0), law, limits, **options)
    return domain, spring


def advance(domain, steps=1, solver=None):
    solver = solver or GaussSeidelSolver(1e-10, 1000)
    for _ in range(steps):
        domain.advance(solver)
        assert domain.report.status == "OK"


def column(domain, identifier, name):
    return getattr(domain.constraints, name)[..., domain.constraints.row_of(identifier)]


@LAWS
def test_the_explicit_law_takes_the_force_at_mid_step(law):
    domain, spring = pair(law)
    advance(domain)
    assert column(domain, spring, "gap") == pytest.approx(0.005)
    np.testing.assert_allclose(column(domain, spring, "R"), (0, 0, -5.0), atol=1e-11)
    assert column(domain, spring, "U")[2] == pytest.approx(0.9)
    assert domain.report.residual < 1e-12


@LAWS
def test_the_implicit_law_takes_the_force_at_the_mean_stroke_of_the_step(law):
    domain, spring = pair(law, implicit=True)
    advance(domain)
    assert column(domain, spring, "R")[2] == pytest.approx(-5.0 / 1.05)
    assert column(domain, spring, "U")[2] == pytest.approx(0.904762, abs=1e-6)
    assert domain.report.residual < 1e-12


def test_a_dashpot_acts_on_the_mean_velocity_or_on_the_free_one():
    for implicit, force in ((False, -5.0 - 10.0), (True, -(5.0 + 10.0) / (1 + 0.05 + 0.1))):
        domain, spring = pair(LINEAR, dashpot=10.0, implicit=implicit)
        advance(domain)
        assert column(domain, spring, "R")[2] == pytest.approx(force)
        twin, other = pair(lambda s, v: -1000.0 * s - 10.0 * v, implicit=implicit)
        advance(twin)
        assert column(twin, other, "R")[2] == pytest.approx(force)


def test_a_spring_swings_with_its_period_and_implicit_ones_keep_their_energy():
    period = 2 * math.pi / math.sqrt(2 * 1000.0)  # of two unit masses
    domain, spring = pair(LINEAR, step=period / 200, implicit=True)
    strokes = []
    for _ in range(200):
        advance(domain)
        strokes.append(float(column(domain, spring, "gap")))
    velocity = domain.states.velo(2)[3] - domain.states.velo(1)[3]
    assert velocity == pytest.approx(1.0, rel=1e-4)
    assert max(strokes) == pytest.approx(1 / math.sqrt(2000.0), rel=1e-3)
    assert min(strokes) == pytest.approx(-1 / math.sqrt(2000.0), rel=1e-3)


def test_the_implicit_law_is_stable_where_the_explicit_one_is_not():
    stiff = [(-1.0, 3e4), (1.0, -3e4)]  # h omega = 2.4
    largest = {}
    for implicit in (True, False):
        domain, _ = pair(stiff, limits=(-1e9, 1e9), implicit=implicit)
        largest[implicit] = 0.0
        for _ in range(100):
            advance(domain)
            largest[implicit] = max(largest[implicit], abs(domain.states.velo(2)[3]))
    assert largest[True] == pytest.approx(1.0, abs=1e-3)  # the balls swap velocities, energy stays
    assert largest[False] > 1e3


@LAWS
def test_beyond_its_limits_a_spring_is_a_rigid_stop(law):
    domain, spring = pair(law, limits=(-0.001, 0.001))
    advance(domain)
    assert column(domain, spring, "R")[2] == pytest.approx(-100.0)  # U_N = -V_N = -1 with W_NN = 0.02
    assert column(domain, spring, "U")[2] == pytest.approx(-1.0)
    domain, spring = pair(law, velocity=-1.0, limits=(-0.001, 0.001))
    advance(domain)
    assert column(domain, spring, "R")[2] == pytest.approx(100.0)


def test_a_curve_is_piecewise_linear_and_goes_on_beyond_its_ends():
    curve = [(-0.01, 4.0), (0.0, 0.0), (0.002, -8.0), (0.004, -4.0)]
    for velocity, force in ((0.2, -4.0), (0.6, -6.0), (1.0, -2.0), (-1.0, 2.0), (-4.0, 8.0)):
        domain, spring = pair(curve, velocity=velocity)
        advance(domain)
        assert column(domain, spring, "R")[2] == pytest.approx(force), velocity


@pytest.mark.parametrize("seed", range(3))
def test_long_curves_and_functions_give_the_same_motion(seed):
    random = np.random.default_rng(seed)
    strokes = np.sort(random.uniform(-0.2, 0.2, 60))
    forces = -np.sort(random.uniform(-200.0, 200.0, 60))
    ends = [pair(law, velocity=3.0, implicit=implicit, dashpot=0.0) for implicit in (False, True)
            for law in (np.stack([strokes, forces], axis=1), lambda s, v: float(np.interp(s, strokes, forces)))]  # fmt: skip
    for domain, _ in ends:
        advance(domain, 30)
    velocities = [domain.states.velo(2)[3] for domain, _ in ends]
    assert velocities[0] == pytest.approx(velocities[1], abs=1e-9)
    assert velocities[2] == pytest.approx(velocities[3], abs=1e-9)


def test_a_spring_without_direction_follows_its_points():
    domain = Domain(0.01)
    one, two = ball(domain, (3.0, 4.0, 0)), ball(domain, (0, 0, 0))
    spring = domain.joints.spring(one, (3.0, 4.0, 0), two, (0, 0, 0), LINEAR, (-1, 1))
    domain.states.set_conf(one, (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 6.0))
    domain.states.set_conf(two, (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0.5))
    advance(domain)
    np.testing.assert_allclose(column(domain, spring, "base")[:, 2], Z)
    assert column(domain, spring, "gap") == pytest.approx(0.5)
    assert domain.states.velo(one)[5] == pytest.approx(-5.0)


def test_coincident_points_of_a_spring_take_the_vertical():
    domain = Domain(0.01)
    one, two = ball(domain, (0, 0, 0)), ball(domain, (0.1, 0, 0))
    spring = domain.joints.spring(one, (0.05, 0, 0), two, (0.05, 0, 0), LINEAR, (-1, 1))
    np.testing.assert_allclose(column(domain, spring, "base")[:, 2], Z)
    advance(domain)


@pytest.mark.parametrize(
    ("update", "normal"), [(DirectionUpdate.FIXED, X), (DirectionUpdate.CONV1, Y), (DirectionUpdate.CONV2, -Y)]
)
def test_a_given_direction_stays_or_turns_with_a_body(update, normal):
    domain = Domain(0.01)
    one, two = ball(domain, (2.0, 0, 0)), ball(domain, (0, 0, 0))
    spring = domain.joints.spring(one, (2.0, 0, 0), two, (0, 0, 0), LINEAR, (-9, 9), X, update)
    quarter = (0, 1, 0, -1, 0, 0, 0, 0, 1)
    domain.states.set_conf(one, (*quarter, 2.5, 0.25, 0))
    domain.states.set_conf(two, (0, -1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0))
    advance(domain)
    np.testing.assert_allclose(column(domain, spring, "base")[:, 2], normal, atol=1e-15)
    assert column(domain, spring, "gap") == pytest.approx(np.array([2.5, 0.25, 0]) @ normal - 2.0)


@pytest.mark.parametrize("form", [Form.TL, Form.BC])
@pytest.mark.parametrize("update", [DirectionUpdate.CONV1, DirectionUpdate.CONV2])
def test_finite_elements_carry_a_direction_by_their_gradient_at_the_point(form, update):
    """A quarter turn and a bend, whose gradient differs from point to point; the force stays along the direction."""
    domain, place = Domain(1e-5), np.array([0.9, 0.2, 0.3])
    nodes = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    beam = domain.insert_body(BodyKind.FINITE_ELEMENT, [hex_mesh(nodes, 2, 1, 1, 1, [1] * 6)], BULK, form=form)
    other = ball(domain, (0.9, 0.2, 2.0))
    given = np.array([0.0, 0.6, 0.8])
    ends = ((beam, place), (other, (0.9, 0.2, 2.0)))
    one, two = ends if update == DirectionUpdate.CONV1 else ends[::-1]
    spring = domain.joints.spring(*one, *two, LINEAR, (-9, 9), given, update)
    points = domain.bodies.meshes[beam].nodes
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    bent = points @ turn.T + np.outer(points[:, 0] * points[:, 1], (0.05, 0.02, 0.1))
    domain.states.set_conf(beam, (bent - points).ravel())
    advance(domain)
    gradient = turn + np.outer((0.05, 0.02, 0.1), (place[1], place[0], 0))
    carried = gradient @ given / np.linalg.norm(gradient @ given)
    np.testing.assert_allclose(column(domain, spring, "base")[:, 2], carried, atol=2e-4)  # what the step's motion adds
    assert np.abs(carried - turn @ given).max() > 0.02


@pytest.mark.parametrize("kinds", [(BodyKind.RIGID, BodyKind.RIGID), (BodyKind.PSEUDO_RIGID, BodyKind.RIGID)], ids=["rigid", "pseudo-rigid"])
@pytest.mark.parametrize("update", [DirectionUpdate.CONV1, DirectionUpdate.CONV2])
def test_a_spring_whose_direction_a_free_body_carries_makes_neither_energy_nor_momentum(update, kinds):
    """Its points are apart across the direction, so that its two forces make a couple, which the carrier must bear."""
    domain = Domain(1e-3)
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]) - 0.5
    soft = BulkMaterial(young=1e4, poisson=0.3, density=10.0)
    places = np.array([[0.0, 0, 0], [2.0, 1.0, 0.5]])
    shapes = [hex_mesh((corners * size + place).tolist(), 1, 1, 1, 1, [1] * 6) for size, place in zip(((1, 0.7, 0.5), (0.6, 0.8, 1)), places)]
    bodies = [domain.insert_body(kind, [shape], soft) for kind, shape in zip(kinds, shapes)]
    domain.bodies.scheme[:2] = [Scheme.RIG_IMP if kind == BodyKind.RIGID else Scheme.DEF_LIM for kind in kinds]
    one, two = bodies if update == DirectionUpdate.CONV1 else bodies[::-1]
    carrier, other = places if update == DirectionUpdate.CONV1 else places[::-1]
    points = [carrier + (0.4, 0.3, 0.2), other - (0.2, 0.3, 0.1)]
    domain.joints.spring(one, points[0], two, points[1], [(-1.0, 200.0), (1.0, -200.0)], (-9, 9), X, update, implicit=True)
    domain.states.set_velocity(bodies[1], (1.0, 0, 0), (0, 0.5, 0))
    length = (points[0] - points[1])[0]

    def totals():
        conf = domain.states.conf(bodies[0])[:9].reshape(3, 3)
        direction = conf.T[:, 0] if kinds[0] == BodyKind.RIGID else conf[:, 0] / np.linalg.norm(conf[:, 0])
        ends = [np.array(point) + domain.points.displacement(body, point) for body, point in zip((one, two), points)]
        energy, momentum = 100.0 * (direction @ (ends[0] - ends[1]) - length) ** 2, np.zeros(3)
        for body in bodies:
            row, velo = domain.body_row(body), domain.states.velo(body)
            conf, tensor = domain.states.conf(body), domain.bodies.tensor[:, :, domain.body_row(body)]
            if domain.bodies.kind[row] == BodyKind.RIGID:
                momentum += conf[:9].reshape(3, 3).T @ tensor @ velo[:3]
            else:
                turning = velo[:9].reshape(3, 3) @ tensor @ conf[:9].reshape(3, 3).T
                momentum += [turning[2, 1] - turning[1, 2], turning[0, 2] - turning[2, 0], turning[1, 0] - turning[0, 1]]
            momentum += domain.bodies.mass[row] * np.cross(conf[9:], velo[-3:])
            energy += domain.bodies.energy[:2, row].sum()
        return energy, momentum

    advance(domain)
    energies, momenta = zip(totals(), *[(advance(domain), totals())[1] for _ in range(2000)])
    assert np.ptp(energies) < 1e-4 * energies[0]
    assert np.ptp(momenta, axis=0).max() < 1e-4 * np.abs(momenta[0]).max()


def test_a_direction_fixed_between_two_bodies_turns_with_the_elastic_first_one():
    """A ball beside a turning block does not move relative to it along the direction that the block carries, and is free across."""
    domain = Domain(1e-4)
    nodes = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    block = domain.insert_body(BodyKind.FINITE_ELEMENT, [hex_mesh(nodes, 2, 1, 1, 1, [1] * 6)], BULK, form=Form.TL)
    other = ball(domain, (3.0, 0.5, 0.5))
    domain.states.set_velocity(block, (0, 0, 0), (0, 0, 2))
    given = np.array([0.6, 0.8, 0.0])
    fixed = domain.joints.fix_direction(block, (1, 0.5, 0.5), given, other, (3.0, 0.5, 0.5))
    for _ in range(20):
        domain.advance(GaussSeidelSolver(1e-12, 1000))
    across, along = np.array([-0.8, 0.6, 0.0]), column(domain, fixed, "base")[:, 2]
    assert across @ along > 1e-3  # it turns with the block
    mean = column(domain, fixed, "U") + column(domain, fixed, "V")
    assert abs(mean[2]) < 1e-9 and np.abs(mean[:2]).max() > 0.1


def chain(law, count, step, mass=10.0, velocity=None):
    """Balls along x, 0.5 apart, joined by springs; the first one's velocity is prescribed (10 by default)."""
    domain = Domain(step)
    before = None
    for k in range(count):
        place = (0.5 * k, 0.0, 0.0)
        body = ball(domain, place, mass)
        domain.joints.fix_direction(body, place, Y)
        domain.joints.fix_direction(body, place, Z)
        if before:
            domain.joints.spring(*before, body, place, law, (-2.0, 2.0))
        before = body, place
    domain.joints.prescribe_velocity(1, (0, 0, 0), X, 10.0 if velocity is None else velocity)
    return domain


def test_a_chain_of_springs_moves_alike_with_curves_and_functions():
    states = []
    for law in (LINEAR, SHAPES["function"]):
        domain = chain(law, 8, 1e-3)
        solver = GaussSeidelSolver(1e-10, 500)
        for _ in range(100):
            domain.advance(solver)
            assert domain.report.status == "OK"
        states.append(np.array([domain.states.conf(body)[9] for body in range(1, 9)]))
    np.testing.assert_allclose(states[0], states[1], atol=1e-10)
    assert states[0][1] > 0.51 and states[0][2] > 1.0  # the wave has come


def test_functions_take_part_in_backward_sweeps_and_bounds():
    domain = chain(SHAPES["function"], 4, 1e-3)
    solver = GaussSeidelSolver(1e-8, 100)
    solver.reverse = True
    advance(domain, 5, solver)
    assert len(solver.rerhist) == solver.iters > 1
    bounded = GaussSeidelSolver(1e-300, 3)
    domain.advance(bounded)
    assert bounded.error in ("OK", "DIVERGED") and bounded.iters <= 3


def test_a_function_that_fails_names_its_spring():
    def broken(stroke, velocity):
        raise LookupError("no such stroke")

    domain, _ = pair(broken)
    with pytest.raises(LookupError) as caught:
        advance(domain)
    assert "function of constraint 1 (SPRING) of body 2 and body 1" in caught.value.__notes__[0]
    domain, _ = pair(lambda stroke, velocity: (1.0, 2.0))
    with pytest.raises(SolfecError, match="must return a number"):
        advance(domain)


@pytest.mark.parametrize(("count", "mass"), [(2, 100.0), (8, 10.0)])
@pytest.mark.parametrize("frequency", [5, 20])
def test_driven_chains_of_springs_move_as_their_equations_say(count, mass, frequency):
    """Chains of 2 and 8 balls on springs of 1000, the first ball driven by a sine of acceleration."""
    step, steps = 1e-4, 2000
    times = np.linspace(0.0, 1.0, 2001)
    velocity = TimeSeries(times, np.sin(2 * np.pi * frequency * times)).integral()
    domain = chain(LINEAR, count, step, mass, velocity)
    advance(domain, steps, GaussSeidelSolver(1e-9, 200))
    found = np.array([domain.points.displacement(k + 1, (0.5 * k, 0, 0))[0] for k in range(count)])

    def force(place):
        extension = np.diff(place)
        return 1000.0 * (np.append(extension, 0.0) - np.insert(extension, 0, 0.0))

    place, speed = np.zeros(count), np.zeros(count)
    for n in range(steps):  # leapfrog on the same times
        place += step / 2 * speed
        speed += step / mass * force(place)
        speed[0] = velocity((n + 1) * step)
        place += step / 2 * speed
    np.testing.assert_allclose(found, place, rtol=1e-9, atol=1e-13)
    omega = 2 * np.pi * frequency
    exact = steps * step / omega - np.sin(omega * steps * step) / omega**2
    assert found[0] == pytest.approx(exact, rel=1e-3)


FUNCTIONS = {  # the implicit law's force and velocity after a step, from the same equations solved by hand or by bisection
    "linear": (lambda s, v: -1000.0 * s, -5.0 / 1.05),
    "damped": (lambda s, v: -1000.0 * s - 10.0 * v, -15.0 / 1.15),
    "hardening": (lambda s, v: -1000.0 * s - 4e6 * s**3, None),
    "one-sided": (lambda s, v: -1000.0 * max(s, 0.0), -5.0 / 1.05),
    "constant": (lambda s, v: -3.0, -3.0),
}


@pytest.mark.parametrize("linver", ["GMRES", "DIAG"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_newton_takes_functions_at_the_mean_stroke_and_velocity_of_the_step(name, linver):
    function, force = FUNCTIONS[name]
    domain, spring = pair(function)
    solver = NewtonSolver(1e-24, 2000, linver=linver, gsflag=False)
    advance(domain, 1, solver)
    reaction, velocity = column(domain, spring, "R")[2], column(domain, spring, "U")[2]
    assert velocity == pytest.approx(1.0 + 0.02 * reaction, abs=1e-12)
    assert reaction == pytest.approx(function(0.005 + 0.0025 * (velocity - 1.0), 0.5 * (velocity + 1.0)), rel=1e-9)
    if force is not None:
        assert reaction == pytest.approx(force, rel=1e-9)
    assert domain.report.residual < 1e-9 and solver.fallback == 0
    assert len(solver.merhist) == len(solver.mvhist) == solver.iters > 0
    assert (np.diff(solver.mvhist) >= 0).all()


def test_newton_gives_a_function_and_its_curve_the_same_motion():
    paths = []
    for law in (SHAPES["function"], LINEAR):
        domain, _ = pair(law)
        advance(domain, 50, NewtonSolver(1e-24, gsflag=False))
        paths.append(domain.bodies.configurations.conf[:, : domain.bodies.configurations.n].copy())
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-9)


def test_newton_leaves_a_function_that_it_cannot_follow_to_sweeps():
    domain, spring = pair(lambda s, v: -20.0 if v > 0.95 else 20.0)  # no force fits its own velocity
    solver = NewtonSolver(1e-12, 50)
    domain.advance(solver)
    assert solver.fallback > 0 and column(domain, spring, "R")[2] == pytest.approx(-20.0)  # the explicit law


def chain_on_a_floor(law, limits=(-0.5, 0.5), step=0.002, **options):
    """Four balls that fall on a floor, springs between neighbours, the first one pushed along."""
    domain = Domain(step)
    domain.insert_body(BodyKind.OBSTACLE, [Sphere((0.6, 0.0, -500.1), 500.0, 1, 1)], BULK)
    domain.surface_materials.friction[0] = 0.4
    domain.loads.set_gravity((0, 0, -10.0))
    balls = [ball(domain, (0.4 * k, 0, 0)) for k in range(4)]
    for body in balls:
        domain.states.set_velocity(body, (1.0 if body == balls[0] else 0.0, 0, -0.2), (0, 0, 0))
    for k, (two, one) in enumerate(zip(balls, balls[1:], strict=False)):
        domain.joints.spring(one, (0.4 * k + 0.4, 0, 0), two, (0.4 * k, 0, 0), law, limits, **options)
    return domain


def cubic(stroke, velocity):
    return -500.0 * stroke - 1e6 * stroke**3 - 5.0 * velocity


CHAINS = {
    "soft curve": (LINEAR, {}),
    "stiff curve": ([(-1.0, 3e7), (1.0, -3e7)], {"implicit": True}),
    "kinked curve": ([(-1.0, 3e4), (0.0, 0.0), (1.0, -1e6)], {"implicit": True, "dashpot": 20.0}),
    "explicit dashpot": (LINEAR, {"dashpot": 100.0}),
    "function": (cubic, {}),
    "implicit function": (cubic, {"implicit": True}),
    "stops": (LINEAR, {"limits": (-1e-4, 1e-4)}),
}


@pytest.mark.parametrize("name", CHAINS)
def test_automatic_solver_moves_springs_and_contacts_as_tight_sweeps_do(name):
    law, options = CHAINS[name]
    paths = []
    for solver in (AutoSolver(1e-9), GaussSeidelSolver(1e-13, 20000)):
        domain = chain_on_a_floor(law, **options)
        methods = set()
        for _ in range(4 if name == "stops" else 15):  # with two stops at once a step may have no solution
            domain.advance(solver)
            methods |= set(getattr(solver, "methods", ()))
            assert domain.report.status == "OK" and domain.report.residual < 2e-9
        assert domain.constraints.contact_count >= 4
        assert methods <= {"ANDERSON", "NONE", "NEWTON", "INTERIOR_POINT"}  # none was left to plain sweeps
        paths.append(domain.bodies.triples.velo[:, : domain.bodies.triples.n].copy())
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-6)


def test_automatic_solver_solves_a_step_with_soft_springs_once():
    calls = []

    def law(stroke, velocity):
        calls.append(stroke)
        return -1000.0 * stroke

    domain, spring = pair(law, step=0.001, implicit=True)  # the force changes its velocity by a thousandth
    advance(domain, 1, AutoSolver(1e-9))
    assert len(calls) == 6  # three for the tangent before the solution, and three after it
    assert column(domain, spring, "R")[2] == pytest.approx(-0.5 / 1.0005)


def test_automatic_solver_leaves_springs_without_a_tangent_to_sweeps():
    domain, spring = pair(lambda s, v: -20.0 if v > 0.95 else 20.0, implicit=True)
    solver = AutoSolver(1e-9, 50)
    domain.advance(solver)
    assert solver.methods == {"GAUSS_SEIDEL": 1}
    assert column(domain, spring, "R")[2] == pytest.approx(-20.0)


def test_contacts_of_springs_and_dashpots_are_solved_with_the_springs():
    velocities = []
    for solver in (AutoSolver(1e-9), GaussSeidelSolver(1e-13, 20000)):
        domain = chain_on_a_floor(LINEAR)
        domain.surface_materials.model[0] = SurfaceModel.SPRING_DASHPOT
        domain.surface_materials.spring[0] = 1e5
        advance(domain, 3, solver)
        assert solver.error == "OK" and "GAUSS_SEIDEL" not in getattr(solver, "methods", {})
        velocities.append(domain.bodies.triples.view("velo").copy())
    np.testing.assert_allclose(*velocities, atol=1e-6 * np.abs(velocities[1]).max())


@pytest.mark.parametrize("law", [LINEAR, lambda stroke, velocity: -1000.0 * stroke], ids=["curve", "function"])
def test_two_springs_on_one_obstacle_couple_alike_in_both_forms_of_w(law):
    domain = Domain(0.01)
    wall = ball(domain, (0, 0, 0), kind=BodyKind.OBSTACLE)
    for x in (-1.0, 1.0):
        domain.joints.spring(ball(domain, (x, 0, 0)), (x, 0, 0), wall, (0, 0, 0), law, (-1.0, 1.0))
    advance(domain)
    local = domain.local_dynamics
    matrix = local.matrix()
    local.stored = False  # products go through velocities of bodies
    for k in range(3 * local.n):
        local.rows.R[...] = 0.0
        local.rows.R[k % 3, k // 3] = 1.0
        moved = local.velocities(np.zeros_like(local.rows.U, order="F"))[:, : local.n] - local.rows.B[:, : local.n]
        np.testing.assert_allclose(matrix[:, k], moved.T.ravel(), atol=1e-14)
    assert np.abs(matrix[:3, 3:]).max() > 0.0  # through the obstacle, which has a mass of 1


def test_a_dump_leaves_the_matrix_of_implicit_bodies_as_it_is(tmp_path):
    domain = Domain(0.01)
    nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    block = domain.insert_body(BodyKind.FINITE_ELEMENT, [hex_mesh(nodes, 1, 1, 1, 1, [1] * 6)], BULK, form=Form.BC)
    domain.bodies.scheme[0] = Scheme.DEF_LIM
    middle = ball(domain, (2.0, 0, 0))
    domain.joints.spring(block, (1.0, 0, 0), middle, (2.0, 0, 0), LINEAR, (-1.0, 1.0))
    domain.joints.spring(ball(domain, (3.0, 0, 0)), (3.0, 0, 0), middle, (2.0, 0, 0), LINEAR, (-1.0, 1.0))
    advance(domain)
    local = domain.local_dynamics
    assert local.coupled
    before = local.matrix()
    dump(local, str(tmp_path / "rows"))
    np.testing.assert_array_equal(local.matrix(), before)
    assert np.abs(before[:3, 3:]).max() > 0.0
