"""Chains of bars with random joints, open or closed, which a ball may strike: solvers agree, and energy does not grow."""

import itertools

import numpy as np
import pytest

import solfec as s

STEP, DURATION = 1e-3, 0.12
SOLVERS = {
    "AUTO": lambda: s.AUTO_SOLVER(1e-9),
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-11, 5000),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-20),
}
JOINTS = {
    "BALL": s.BALL,
    "HINGE": lambda one, two, point, axis: s.HINGE(one, two, point, axis),
    "UNIVERSAL": lambda one, two, point, axis: s.UNIVERSAL(one, two, point, axis, tuple(np.roll(axis, 1))),
    "WELD": s.WELD,
}


class Chain:
    """A zigzag of bars, whose joints, and what holds its ends, follow from a seed; it turns about its first end."""

    def __init__(self, seed):
        self.random = random = np.random.default_rng(seed)
        self.solfec = s.SOLFEC("DYNAMIC", STEP, None, contacts=("CLASSIC", "MANIFOLD")[seed % 2])
        self.solfec.verbose = "OFF"
        self.bulk = s.BULK_MATERIAL(self.solfec, density=1000.0)
        self.weight = -9.81 * random.integers(2)
        s.GRAVITY(self.solfec, (0, 0, self.weight))
        s.SURFACE_MATERIAL(self.solfec, model="SIGNORINI_COULOMB", friction=0.4 * random.integers(2), restitution=0.5 * random.integers(2))
        self.points = [np.zeros(3)]
        self.spin = 3.0 * random.normal(size=3) * random.integers(2)
        self.bodies = [self.bar(k) for k in range(random.integers(2, 5))]
        self.between = self.bodies[:]
        for k, (one, two) in enumerate(itertools.pairwise(self.between)):
            self.join(one, two, k + 1)
            s.CONTACT_EXCLUDE_BODIES(one, two)
        if random.random() < 0.85:
            self.hold(0, 0.1)
        if random.random() < 0.6:
            self.hold(len(self.between) - 1, 0.9)
        if random.random() < 0.4:
            s.FIX_POINT(self.between[0], self.at(0, 0.2))
        if random.random() < 0.6:
            self.ball()

    def bar(self, k):
        along = np.array([1, (-1) ** k * self.random.uniform(0.3, 0.8), self.random.uniform(-0.25, 0.25)])
        along /= np.linalg.norm(along)
        across = np.cross(along, (0, 0, 1))
        frame = np.array([along, across / np.linalg.norm(across), np.cross(along, across) / np.linalg.norm(across)])
        start = self.points[-1]
        half = 0.5, *self.random.uniform(0.06, 0.16, 2)
        self.points.append(start + along)
        corners = [start + 0.5 * along + np.multiply(signs, half) @ frame for signs in itertools.product((-1, 1), repeat=3)]
        body = s.BODY(self.solfec, "RIGID", s.HULL(np.concatenate(corners).tolist(), 1, 1), self.bulk)
        s.INITIAL_VELOCITY(body, tuple(np.cross(self.spin, start + 0.5 * along)), tuple(self.spin))
        return body

    def at(self, k, part):
        """A point of bar k."""
        return tuple((1 - part) * self.points[k] + part * self.points[k + 1])

    def join(self, one, two, k):
        name = self.random.choice([*JOINTS, "link"])
        if name == "link":
            s.PUT_RIGID_LINK(one, two, self.at(k - 1, 0.9), self.at(k, 0.15))
        else:
            axis = tuple(np.roll((1, 0, 0), self.random.integers(3)).tolist())
            JOINTS[name](one, two, tuple(self.points[k]), *([axis] if name in ("HINGE", "UNIVERSAL") else []))

    def hold(self, k, part):
        """Hold a point of bar k in space."""
        name, point = self.random.choice(["BALL", "HINGE", "FIX_POINT", "link"]), self.at(k, part)
        if name == "link":
            s.PUT_RIGID_LINK(self.between[k], None, point, tuple(np.add(point, (-0.3, 0.2, 0.3))))
        elif name == "FIX_POINT":
            s.FIX_POINT(self.between[k], point)
        elif name == "HINGE":
            s.HINGE(self.between[k], None, point, (0, 0, 1))
        else:
            s.BALL(self.between[k], None, point)

    def ball(self):
        ball = s.BODY(self.solfec, "RIGID", s.SPHERE(tuple(np.add(self.at(1, 0.5), (0.02, 0.03, 0.5))), 0.12, 1, 1), self.bulk)
        s.INITIAL_VELOCITY(ball, (0, 0, -3), (1, 2, 3))
        self.bodies.append(ball)

    def energy(self):
        return s.ENERGY(self.solfec).kinetic - self.weight * sum(body.mass * body.conf[11] for body in self.bodies)


@pytest.mark.filterwarnings("ignore:RUN", "ignore:GAUSS_SEIDEL_SOLVER", "ignore:NEWTON_SOLVER", "ignore:some joints")
@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 230))])
def test_solvers_agree_on_random_mechanisms(seed):
    """AUTO_SOLVER agrees with at least one other solver, since each may fail to reach its accuracy; joints, links, impacts and friction make no energy."""
    found = {}
    for name, make in SOLVERS.items():
        chain = Chain(seed)
        before = chain.energy()
        s.RUN(chain.solfec, make(), DURATION)
        found[name] = np.array([body.velo for body in chain.bodies])
        if name == "AUTO":
            assert chain.energy() < before + 1e-3 * abs(before) + 1e-6
    errors = [np.abs(found["AUTO"] - found[name]).max() for name in ("GAUSS_SEIDEL", "NEWTON")]
    assert min(errors) < 1e-4 * max(1.0, np.abs(found["AUTO"]).max())
