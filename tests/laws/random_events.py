"""Random models whose bodies and constraints come and go, with loads of all kinds, springs and dashpots, or strained elements, which are built in any frame."""

import itertools

import numpy as np
from random_scenes import brick_mesh, random_axes, unit_vector

import solfec as s

KINDS = ("RIGID", "RIGID", "PSEUDO_RIGID", "TL", "BC")
EVENTS = ("birth", "death", "hold", "release", "kick", "stop", "gravity", "push", "scheme")
TETRAHEDRA = ((0, 1, 3, 4), (1, 2, 3, 6), (1, 3, 4, 6), (1, 4, 5, 6), (3, 6, 7, 4))  # of a hexahedron; the same ones in a mirror


class Throng:
    """Bodies from a seed with what happens to them; `outcome` runs them in a frame."""

    contacts, surface, step, duration = "MANIFOLD", {"friction": 0.0}, 1e-3, 0.06

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.bodies, self.loads, self.events, self.gravity = [], [], [], np.zeros(3)
        self.make()

    def brick(self, centre, kind, velocity=(0, 0, 0), spin=(0, 0, 0), **more):
        """Plan a box with random edges; return its edges."""
        edges = np.diag(self.random.uniform(0.2, 0.4, 3)) @ random_axes(self.random)
        plan = {"divisions": tuple(self.random.integers(1, 3, 3).tolist()), "young": 10 ** self.random.uniform(5.5, 6), "scheme": "DEF_LIM"} | more
        corner = centre - 0.5 * edges.sum(axis=0)

        def make(model, frame, label):
            return body_of(model, frame, label, corner, edges, kind, velocity, spin, **plan)

        self.bodies.append((make, [corner + part @ edges for part in np.array([(0.5, 0.5, 0.5), (0.02, 0.1, 0.1), (0.97, 0.9, 0.1)])]))
        return edges

    def ball(self, centre, radius, velocity=(0, 0, 0), spin=(0, 0, 0)):
        def make(model, frame, label):
            bulk = s.BULK_MATERIAL(model, label="ball", density=1000 * frame.density)
            body = s.BODY(model, "RIGID", s.SPHERE(frame.point(centre), radius * frame.length, 1, 1), bulk, label=label)
            s.INITIAL_VELOCITY(body, frame.along(velocity, frame.length / frame.time), frame.about(spin, 1 / frame.time))
            return body

        self.bodies.append((make, [np.add(centre, at) for at in ((0, 0, 0), (0.3 * radius, 0.5 * radius, 0.2 * radius))]))

    def outcome(self, frame, solver=None, order=None, called=False):
        """Displacements and velocities (n, 6) of points of living bodies, in the axes and units of the scene; last the step of the run.

        With `called` events happen in a callback, else between steps.
        """
        s.GEOMETRIC_EPSILON(1e-6 * frame.length)
        model = s.SOLFEC("DYNAMIC", self.step * frame.time, None, contacts=self.contacts)
        model.verbose = "OFF"
        s.GRAVITY(model, frame.along(self.gravity, frame.length / frame.time**2))
        s.SURFACE_MATERIAL(model, **in_units(self.surface, frame))
        planned = len(self.bodies)
        for k in range(planned) if order is None else order:
            self.bodies[k][0](model, frame, f"body {k}")
        for load in self.loads:
            load(model, frame)
        done = itertools.count(1)

        def happen():
            step = next(done)
            for when, event in self.events:
                if when == step:
                    event(model, frame)
            return 1

        if called:
            s.CALLBACK(model, model.step, (), happen)
            s.RUN(model, solver or s.AUTO_SOLVER(1e-11), self.duration * frame.time)
        else:
            for _ in model.steps(solver or s.AUTO_SOLVER(1e-11), self.duration * frame.time):
                happen()
        alive = [(body, points) for k, (_, points) in enumerate(self.bodies[:planned]) if (body := living(model, f"body {k}"))]
        places = np.array([s.DISPLACEMENT(body, frame.point(x)) for body, points in alive for x in points]) @ frame.axes / frame.length
        speeds = np.array([s.VELOCITY(body, frame.point(x)) for body, points in alive for x in points]) @ frame.axes * frame.time / frame.length
        return np.vstack([np.hstack([places, speeds]), np.full(6, model.step / frame.time)])


def living(model, label):
    return next((body for body in model.bodies if body.label == label), None)


def in_units(surface, frame):
    """A surface material of the scene in a frame's units."""
    units = {
        "spring": frame.force / frame.length ** surface.get("hpow", 1),
        "dashpot": frame.force * frame.time / frame.length,
    }
    return {key: value * units.get(key, 1) if not isinstance(value, str) and value > 0 else value for key, value in surface.items()}


def body_of(model, frame, label, corner, edges, kind, velocity, spin, divisions, young, scheme, law="KIRCHHOFF", tetrahedra=False, strain=None):
    """A box of any kind; `strain`: gradient of the velocity of elements."""
    bulk = s.BULK_MATERIAL(model, label=f"bulk {label}", model=law, young=young * frame.stress, density=1000 * frame.density)
    centre = corner + 0.5 * edges.sum(axis=0)
    if kind in ("RIGID", "PSEUDO_RIGID"):
        corners = [frame.point(corner + np.dot(signs, edges)) for signs in itertools.product((0, 1), repeat=3)]
        body = s.BODY(model, kind, s.HULL(np.ravel(corners).tolist(), 1, 1), bulk, label=label)
    else:
        nodes, elements = brick_mesh(corner, edges, divisions, frame)
        if tetrahedra:
            eights = np.reshape(elements, (-1, 10))[:, 1:9]
            elements = [n for eight in eights for four in TETRAHEDRA for n in (4, *eight[list(four)].tolist(), 1)]
        body = s.BODY(model, "FINITE_ELEMENT", s.MESH(nodes, elements, 1), bulk, form=kind, label=label)
    if kind != "RIGID":
        body.scheme = scheme
    s.INITIAL_VELOCITY(body, frame.along(velocity, frame.length / frame.time), frame.about(spin, 1 / frame.time))
    if strain is not None:
        arms = np.reshape(nodes, (-1, 3)) - frame.point(centre)
        body.velo = (arms @ (frame.axes @ strain @ frame.axes.T).T / frame.time).ravel().tolist()
    return body


class Comings(Throng):
    """Free bodies in a row with forces and torques of all kinds; others are born, bodies die, and constraints come and go."""

    def make(self):
        random = self.random
        self.contacts = ("CLASSIC", "MANIFOLD")[random.integers(2)]
        self.gravity = np.array([0, 0, -9.81 * random.integers(2)])
        self.count, self.born = int(random.integers(2, 5)), 0
        self.edges = [
            self.brick(
                self.centre(k),
                str(random.choice(KINDS)),
                0.5 * random.normal(size=3),
                random.normal(size=3),
                scheme=str(random.choice(["DEF_EXP", "DEF_LIM"])),
            )
            for k in range(self.count)
        ]
        for k in range(self.count):
            self.load(k, str(random.choice(["series", "torque", "function", "none"])))
        steps = round(self.duration / self.step)
        for name in random.choice(EVENTS, random.integers(2, 7)):
            self.events.append((int(random.integers(1, steps - 1)), self.event(str(name), int(random.integers(self.count)))))

    def centre(self, k):
        return np.array([0.9 * k, 0, 0])

    def somewhere(self, k):
        return self.centre(k) + self.random.uniform(-0.4, 0.4, 3) @ self.edges[k]

    def load(self, k, name):
        point, axis, size, way = (
            self.somewhere(k),
            unit_vector(self.random),
            10 ** self.random.uniform(1, 2.5),
            str(self.random.choice(["SPATIAL", "CONVECTED"])),
        )

        def put(model, frame):
            body = living(model, f"body {k}")
            unit = frame.force if name == "series" else 0.1 * frame.moment
            series = s.TIME_SERIES(np.ravel([(0, 0), (0.02, size), (0.03, -size), (0.5, 0)] * np.array([frame.time, unit])).tolist())
            if name == "series":
                s.FORCE(body, way, frame.point(point), frame.along(axis), series)
            if name == "torque" and body.kind == "RIGID":
                s.TORQUE(body, way, frame.about(axis), series)
            if name == "function" and body.kind == "RIGID":

                def drag(q, u, t, h):
                    force = -0.1 * size * frame.mass / frame.time * np.array(u[3:6])
                    return *force, 0, 0, 0, *(-1e-3 * size * frame.mass * frame.length**2 / frame.time * np.array(u[:3]))

                s.FORCE(body, "SPATIAL", frame.point(point), frame.along(axis), drag)

        self.loads.append(put)

    def event(self, name, k):
        point, axis, size = self.somewhere(k), unit_vector(self.random), 10 ** self.random.uniform(1, 2.5)
        if name == "birth":
            return self.birth(k)

        def happen(model, frame):
            body, speed = living(model, f"body {k}"), frame.length / frame.time
            if name == "gravity":
                s.GRAVITY(model, frame.along(5 * axis, speed / frame.time))
            elif body is None:
                pass
            elif name == "death":
                s.DELETE(model, body)
            elif name == "hold":
                s.FIX_POINT(body, frame.point(point))
            elif name == "stop":
                s.FIX_DIRECTION(body, frame.point(point), frame.along(axis))
            elif name == "kick":
                s.INITIAL_VELOCITY(body, frame.along(axis, speed), frame.about(axis[::-1], 1 / frame.time))
            elif name == "push":
                s.FORCE(body, "SPATIAL", frame.point(point), frame.along(axis), size * frame.force)
            elif name == "scheme" and body.kind == "RIGID":
                body.scheme = "RIG_IMP"
            elif name == "release":
                held = [row for row in body.constraints if row.kind != "CONTACT"]
                if held:
                    s.DELETE(model, held[0])

        return happen

    def birth(self, k):
        """A body that falls on another one."""
        self.born += 1
        planned, label = len(self.bodies), f"born {self.born}"
        self.brick(self.centre(k) + (0, 0, 0.8 * self.born), str(self.random.choice(["RIGID", "PSEUDO_RIGID"])), (0, 0, -6), (1, 2, 3))
        make, _ = self.bodies.pop()
        assert len(self.bodies) == planned
        return lambda model, frame: make(model, frame, label)


class Cushions(Throng):
    """Bodies on springs and dashpots, with a joint beside the contacts."""

    step, duration, contacts = 2e-4, 0.02, "CLASSIC"

    def make(self):
        random = self.random
        self.gravity = np.array([0, 0, -9.81])
        self.surface = {
            "model": "SPRING_DASHPOT", "spring": 10 ** random.uniform(4, 5.5), "dashpot": float(random.choice([0, 30, 100, -1])),
            "friction": 0.4 * random.integers(2), "hpow": float(random.choice([1, 1.5])),
        }  # fmt: skip
        self.loads.append(self.floor)
        edges = self.brick(np.array([0, 0, 0.3]), str(random.choice(["RIGID", "PSEUDO_RIGID"])), 0.5 * random.normal(size=3), random.normal(size=3))
        low = 0.5 * np.abs(edges[:, 2]).sum()
        self.lift = low - 0.3 + 1e-3
        self.ball(np.array([0.6, 0.3, 0.109 - self.lift]), 0.11, random.normal(size=3) - (1, 1, 0), 3 * random.normal(size=3))
        self.ball(np.array([0.02, -0.03, 0.3 + low + 0.1]), 0.1, (0, 0, -2), 3 * random.normal(size=3))
        point, axis, name = (
            random.uniform(-0.45, 0.45, 3) @ edges + (0, 0, 0.3),
            unit_vector(random),
            str(random.choice(["HINGE", "BALL", "FIX_DIRECTION"])),
        )

        def hold(model, frame):
            direction = {"HINGE": (frame.about(axis),), "FIX_DIRECTION": (frame.along(axis),), "BALL": ()}[name]
            if name != "FIX_DIRECTION":
                direction = None, frame.point(point), *direction
            else:
                direction = frame.point(point), *direction
            getattr(s, name)(living(model, "body 0"), *direction)

        if random.random() < 0.7:
            self.loads.append(hold)

    def floor(self, model, frame):
        """Just below the box."""
        low, high = np.array([-2, -2, -0.5 - self.lift]), np.array([2, 2, -self.lift])
        corners = [frame.point(np.where(signs, high, low)) for signs in itertools.product((0, 1), repeat=3)]
        s.BODY(model, "OBSTACLE", s.HULL(np.ravel(corners).tolist(), 1, 1), s.BULK_MATERIAL(model, label="floor", density=1000 * frame.density))


class Strained(Throng):
    """A free block of explicit elements, which its motion strains until the step has to become shorter."""

    def make(self):
        random, form = self.random, str(self.random.choice(["TL", "TL", "BC"]))
        more = {"law": "NEO_HOOKEAN"} if form == "TL" and random.random() < 0.5 else {}
        strain = random.choice([0.1, 3.0, 10.0]) * random.normal(size=(3, 3))
        self.brick(
            np.zeros(3), form, scheme="DEF_EXP", tetrahedra=bool(random.integers(2)), strain=strain, young=10 ** random.uniform(5.5, 6.5), **more
        )
