"""Balls and ellipsoids that spin and meet fast (contacts = 'MANIFOLD') leave impacts as theory says."""

import numpy as np
import pytest

import solfec as s

SOLVERS = {"AUTO": lambda: s.AUTO_SOLVER(1e-12), "NEWTON": lambda: s.NEWTON_SOLVER(1e-18, 300), "GS": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 5000)}
DENSITY, SPEED = 1000.0, 5.0
EPSILON = 1e-6  # bodies meet when they are this near: normals differ by as much over the radius


def frame(random) -> np.ndarray:
    axes, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return axes * np.sign(np.linalg.det(axes))


def model(step, friction, restitution):
    made = s.SOLFEC("DYNAMIC", step, contacts="MANIFOLD")
    made.verbose = "OFF"
    s.SURFACE_MATERIAL(made, friction=friction, restitution=restitution)
    return made, s.BULK_MATERIAL(made, young=1e9, poisson=0.25, density=DENSITY)


def run_until_struck(made, body, solver):
    """Run to the end of the step in which the velocity of a body changes."""
    before = np.array(body.velo[3:])
    for _ in range(1000):
        s.RUN(made, SOLVERS[solver](), made.step)
        if np.linalg.norm(np.array(body.velo[3:]) - before) > 1e-3 * SPEED:
            return
    raise AssertionError("the bodies have not met")


def spin_of(body) -> np.ndarray:
    return np.array(body.conf[:9]).reshape(3, 3).T @ body.velo[:3]


def struck(u, normal, masses, arms, inertias, friction, restitution) -> np.ndarray:
    """Return the impulse on the second body by Newton's and Coulomb's laws.

    Before, the second body moves by u relative to the first at the contact.
    """
    w = sum(np.eye(3) / mass for mass in masses)
    for arm, inertia in zip(arms, inertias):
        cross = np.cross(np.eye(3), arm)  # cross @ v = v x arm, up to the sign that cancels
        w = w + cross @ np.linalg.inv(inertia) @ cross.T
    asked = -restitution * (u @ normal) * normal
    impulse = np.linalg.solve(w, asked - u)
    tangent = np.eye(3) - np.outer(normal, normal)
    if np.linalg.norm(tangent @ impulse) <= friction * (normal @ impulse):
        return impulse
    way = tangent @ u / np.linalg.norm(tangent @ u)
    for _ in range(300):  # friction is against the slip after the impact
        direction = normal - friction * way
        impulse = (asked - u) @ normal / (normal @ w @ direction) * direction
        slip = tangent @ (u + w @ impulse)
        way = way + 0.3 * slip / np.linalg.norm(slip)
        way = way / np.linalg.norm(way)
    assert way == pytest.approx(slip / np.linalg.norm(slip), abs=1e-9)
    return impulse


@pytest.mark.parametrize("step", [1e-3, 5e-4])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 1.0), (0.3, 0.5), (2.0, 0.8)])
def test_two_balls_that_spin_leave_an_oblique_impact_as_theory_says(friction, restitution, solver, step):
    """A ball that spins does not move its surface: the impact was looked for along the way of the points that are near each other."""
    radii = 0.1, 0.14
    masses = [DENSITY * 4 / 3 * np.pi * r**3 for r in radii]
    inertias = [0.4 * m * r**2 * np.eye(3) for m, r in zip(masses, radii)]
    for seed in range(3):
        random = np.random.default_rng(seed)
        way, side, _ = frame(random).T
        centres = np.zeros(3), sum(radii) * (1.3 * way + 0.3 * side)
        velocities = 0.2 * SPEED * side, SPEED * (0.1 * side - way)
        spins = 50 * random.normal(size=3), 50 * random.normal(size=3)
        made, bulk = model(step, friction, restitution)
        bodies = [s.BODY(made, "RIGID", s.SPHERE(tuple(c), r, 1, 1), bulk) for c, r in zip(centres, radii)]
        for body, velocity, spin in zip(bodies, velocities, spins):
            s.INITIAL_VELOCITY(body, tuple(velocity), tuple(spin))
        run_until_struck(made, bodies[0], solver)

        apart, closing = centres[1] - centres[0], velocities[1] - velocities[0]
        b, c = apart @ closing, apart @ apart - sum(radii) ** 2
        time = (-b - np.sqrt(b**2 - closing @ closing * c)) / (closing @ closing)
        normal = (apart + time * closing) / sum(radii)
        arms = radii[0] * normal, -radii[1] * normal
        slip = closing + np.cross(spins[1], arms[1]) - np.cross(spins[0], arms[0])
        impulse = struck(slip, normal, masses, arms, inertias, friction, restitution)
        for body, sign, velocity, spin, mass, arm, inertia in zip(bodies, (-1, 1), velocities, spins, masses, arms, inertias):
            assert body.velo[3:] == pytest.approx(velocity + sign * impulse / mass, abs=2e-5 * SPEED)
            assert spin_of(body) == pytest.approx(spin + np.linalg.inv(inertia) @ np.cross(arm, sign * impulse), abs=2e-5 * SPEED / radii[0])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 1.0), (0.3, 0.5)])
def test_a_ball_that_spins_strikes_the_face_of_a_free_brick_as_theory_says(friction, restitution, solver):
    radius, sizes = 0.1, np.array((0.4, 0.3, 0.2))
    for seed in range(3):
        random = np.random.default_rng(seed)
        turn = frame(random)
        made, bulk = model(1e-3, friction, restitution)
        corners = [turn @ (sizes * (x, y, z)) / 2 for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        brick = s.BODY(made, "RIGID", s.HULL(np.ravel(corners).tolist(), 1, 1), bulk)
        hit = turn @ (0.12, -0.08, 0.1)  # on the upper face
        normal = turn[:, 2]
        velocity, spin = SPEED * (0.5 * turn[:, 0] + 0.3 * turn[:, 1] - normal), 60 * random.normal(size=3)
        ball = s.BODY(made, "RIGID", s.SPHERE(tuple(hit + radius * normal - 0.0203 * velocity), radius, 1, 1), bulk)
        s.INITIAL_VELOCITY(ball, tuple(velocity), tuple(spin))
        run_until_struck(made, ball, solver)

        masses = DENSITY * np.prod(sizes), DENSITY * 4 / 3 * np.pi * radius**3
        inertias = turn @ np.diag(masses[0] / 12 * (np.sum(sizes**2) - sizes**2)) @ turn.T, 0.4 * masses[1] * radius**2 * np.eye(3)
        arms = hit, -radius * normal
        impulse = struck(velocity + np.cross(spin, arms[1]), normal, masses, arms, inertias, friction, restitution)
        assert ball.velo[3:] == pytest.approx(velocity + impulse / masses[1], abs=2e-5 * SPEED)
        assert spin_of(ball) == pytest.approx(spin + np.linalg.inv(inertias[1]) @ np.cross(arms[1], impulse), abs=2e-5 * SPEED / radius)
        assert brick.velo[3:] == pytest.approx(-impulse / masses[0], abs=2e-5 * SPEED)
        turned = np.array(brick.conf[:9]).reshape(3, 3).T  # for half a step by now, which its angular momentum does not tell
        assert turned @ inertias[0] @ brick.velo[:3] == pytest.approx(np.cross(arms[0], -impulse), abs=2e-5 * masses[1] * SPEED * sizes[0])


def test_a_ball_strikes_a_brick_of_finite_elements_where_it_meets_it():
    """The brick turns by the impulse at the place of the impact: before, at the ball's present place, 2.3 mm beside it."""
    radius, sizes = 0.1, np.array((0.4, 0.3, 0.2))
    turn = frame(np.random.default_rng(1))
    made, _ = model(1e-3, 0.3, 0.5)
    bulk = s.BULK_MATERIAL(made, "KIRCHHOFF", young=1e8, poisson=0.0, density=DENSITY)
    corners = [turn @ (sizes * (x, y, z)) / 2 for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    brick = s.BODY(made, "FINITE_ELEMENT", s.HEX(np.ravel(corners).tolist(), 4, 3, 2, 1, [1] * 6), bulk, form="TL")
    brick.scheme = "DEF_LIM"
    hit, normal = turn @ (0.12, -0.08, 0.1), turn[:, 2]
    velocity = SPEED * (0.5 * turn[:, 0] + 0.3 * turn[:, 1] - normal)
    ball = s.BODY(made, "RIGID", s.SPHERE(tuple(hit + radius * normal - 0.0203 * velocity), radius, 1, 1), bulk)
    s.INITIAL_VELOCITY(ball, tuple(velocity), (40, -50, 60))
    run_until_struck(made, ball, "AUTO")
    impulse = ball.mass * (np.array(ball.velo[3:]) - velocity)
    bodies = made._simulation.domain.bodies
    nodes = bodies.finite_elements
    places = nodes.reference + bodies.configurations.conf[:, nodes.conf_row]
    turning = (nodes.mass * np.cross(places, bodies.triples.velo[:, nodes.velo_row], axis=0)).sum(axis=1)
    assert turning == pytest.approx(np.cross(hit, -impulse), abs=1e-5 * np.linalg.norm(impulse))


@pytest.mark.parametrize("radii", [(0.14, 0.14, 0.1), (0.1, 0.1, 0.16), (0.15, 0.15, 0.05)], ids=["oblate", "prolate", "disc"])
@pytest.mark.parametrize("other", ["ball", "ellipsoid", "brick"])
def test_a_smooth_spheroid_that_spins_about_its_axis_is_struck_as_one_that_does_not(other, radii):
    for seed in range(3):
        found = []
        for spin in (0.0, 80.0):
            random = np.random.default_rng(seed)
            way, side, _ = frame(random).T
            made, bulk = model(1e-3, 0.0, 1.0)
            shape, angle = s.ELLIP((0, 0, 0), radii, 1, 1), random.uniform(0, 180)
            s.ROTATE(shape, (0, 0, 0), (1, 0, 0), angle)
            axis = np.array((0, -np.sin(np.radians(angle)), np.cos(np.radians(angle))))
            body = s.BODY(made, "RIGID", shape, bulk)
            centre = 0.324 * way + 0.08 * side
            corners = [
                centre + 0.08 * np.array(c)
                for c in ((-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1))
            ]
            shapes = {
                "ball": s.SPHERE(tuple(centre), 0.1, 1, 1),
                "ellipsoid": s.ELLIP(tuple(centre), (0.07, 0.09, 0.12), 1, 1),
                "brick": s.HULL(np.ravel(corners).tolist(), 1, 1),
            }
            striker = s.BODY(made, "RIGID", shapes[other], bulk)
            s.INITIAL_VELOCITY(body, tuple(0.2 * SPEED * side), tuple(spin * axis))
            s.INITIAL_VELOCITY(striker, tuple(SPEED * (0.1 * side - way)), (0, 0, 0))
            run_until_struck(made, body, "AUTO")
            found.append([body.velo[3:], striker.velo[3:]])
        assert found[1] == pytest.approx(np.array(found[0]), abs=1e-10 * SPEED)
