"""Two free bodies that strike each other keep their angular momentum, with friction, whatever gap is between them when the impact acts (contacts = 'MANIFOLD')."""

import numpy as np
import pytest

import solfec as s

SOLVERS = {"AUTO": lambda: s.AUTO_SOLVER(1e-12), "NEWTON": lambda: s.NEWTON_SOLVER(1e-18, 300), "GS": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 5000), "PENALTY": s.PENALTY_SOLVER}
CORNERS = np.array([(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]) * (0.4, 0.28, 0.2)
TETRAHEDRA = ((0, 1, 3, 4), (1, 2, 3, 6), (1, 4, 5, 6), (3, 4, 6, 7), (1, 3, 4, 6))


def turn(random) -> np.ndarray:
    frame, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return frame * np.sign(np.linalg.det(frame))


def add(model, shape, centre, rotation, bulk):
    """Add a body of one shape, about 0.8 m long."""
    places = (centre + CORNERS @ rotation.T).ravel().tolist()
    if shape == "ball":
        body = s.BODY(model, "RIGID", s.SPHERE(tuple(centre), 0.28, 1, 1), bulk)
    elif shape == "ellipsoid":
        body = s.BODY(model, "RIGID", s.ELLIP(tuple(centre), (0.4, 0.28, 0.2), 1, 1), bulk)
    elif shape == "tetrahedra":
        body = s.BODY(model, "RIGID", s.MESH(places, [n for t in TETRAHEDRA for n in (4, *t, 1)], 1), bulk)
    else:
        body = s.BODY(model, "PSEUDO_RIGID" if shape == "soft brick" else "RIGID", s.HULL(places, 1, 1), bulk)
    return body


def momentum(model, bodies) -> list:
    """Return the angular momentum of each body about the origin, from masses, tensors, places and velocities."""
    found, domain = [], model._simulation.domain
    for body in bodies:
        row = domain.body_row(body.id)
        mass, tensor = domain.bodies.mass[row], domain.bodies.tensor[:, :, row]
        conf, velo = np.array(body.conf), np.array(body.velo)
        if body.kind == "PSEUDO_RIGID":  # rows of F
            product = conf[:9].reshape(3, 3) @ tensor @ velo[:9].reshape(3, 3).T
            own = np.array([product[1, 2] - product[2, 1], product[2, 0] - product[0, 2], product[0, 1] - product[1, 0]])
        else:
            own = conf[:9].reshape(3, 3).T @ tensor @ velo[:3]
        found.append(mass * np.cross(conf[9:], velo[-3:]) + own)
    return found


def strike(one, two, speed, solver, restitution, seed) -> float:
    """Let the second body strike the first one obliquely; return the change of their angular momentum as a part of that of both."""
    random = np.random.default_rng(seed)
    model = s.SOLFEC("DYNAMIC", 2e-4 if solver == "PENALTY" else 1e-3, contacts="MANIFOLD")
    model.verbose = "OFF"
    if solver == "PENALTY":
        s.SURFACE_MATERIAL(model, model="SPRING_DASHPOT", friction=0.3, spring=1e7, dashpot=0.0)
    else:
        s.SURFACE_MATERIAL(model, friction=0.3, restitution=restitution)
    bulk = s.BULK_MATERIAL(model, young=1e9, poisson=0.25, density=1000.0)
    way, side, _ = turn(random).T
    bodies = add(model, one, np.zeros(3), turn(random), bulk), add(model, two, 0.95 * way + 0.1 * side, turn(random), bulk)
    s.INITIAL_VELOCITY(bodies[0], (0, 0, 0), tuple(speed * random.normal(size=3)))
    s.INITIAL_VELOCITY(bodies[1], tuple(speed * (0.2 * side - way)), tuple(speed * random.normal(size=3)))
    before = momentum(model, bodies)
    s.RUN(model, SOLVERS[solver](), 0.8 / speed)
    assert np.linalg.norm(bodies[0].velo[-3:]) > 0.01 * speed  # they have met
    return np.linalg.norm(sum(momentum(model, bodies)) - sum(before)) / sum(map(np.linalg.norm, before))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("pair", ["brick brick", "ball brick", "ellipsoid brick", "tetrahedra tetrahedra", "tetrahedra ball", "soft brick,brick", "ball ball"])
def test_bodies_that_meet_obliquely_keep_their_angular_momentum(pair, solver):
    one, two = pair.split("," if "," in pair else " ")
    assert strike(one, two, 0.6, solver, 0.5, 1) < 1e-11


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("pair", ["brick brick", "tetrahedra tetrahedra"])
def test_polyhedra_that_move_by_more_than_their_margin_in_a_step_do_so_as_well(pair, restitution):
    one, two = pair.split()
    for speed in (6.0, 60.0):
        assert strike(one, two, speed, "AUTO", restitution, 2) < 1e-11
