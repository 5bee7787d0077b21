"""Random chains of bodies of all kinds with joints and their laws, which are built in any frame, in any units and in any order."""

import itertools

import numpy as np

import solfec as s

DEFORMABLE = ("TL", "BC", "BC-MODAL", "BC-RO")
OTHER_WAY = (0, 3, 2, 1, 4, 7, 6, 5)  # order of a hexahedron's nodes in a mirror
MODES = 12
STEP = 1e-3


class Frame:
    """Axes (columns of a rotation, or of a reflection), place and units, in which a scene is built."""

    def __init__(self, axes=None, place=(0, 0, 0), length=1.0, mass=1.0, time=1.0):
        self.axes = np.eye(3) if axes is None else axes
        self.place, self.length, self.mass, self.time = np.array(place), length, mass, time
        self.sense = np.sign(np.linalg.det(self.axes))  # mirrors turn axial vectors round
        self.force = mass * length / time**2
        self.moment, self.stress, self.density = self.force * length, self.force / length**2, mass / length**3

    def point(self, x):
        return tuple(self.length * (self.axes @ x + self.place))

    def along(self, vector, unit=1.0):
        return tuple(unit * (self.axes @ vector))

    def about(self, vector, unit=1.0):
        return tuple(self.sense * unit * (self.axes @ vector))


def random_axes(random):
    """A random rotation."""
    axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return axes * np.linalg.det(axes)


def unit_vector(random):
    vector = random.normal(size=3)
    return vector / np.linalg.norm(vector)


def brick_mesh(corner, edges, divisions, frame):
    """Nodes and elements of a box of hexahedra, as MESH takes them."""
    steps = [np.linspace(0, 1, n + 1) for n in divisions]
    nodes = [frame.point(corner + np.array([x, y, z]) @ edges) for z in steps[2] for y in steps[1] for x in steps[0]]
    at = np.arange(len(nodes)).reshape([n + 1 for n in divisions[::-1]])
    elements = []
    for k, j, i in np.ndindex(*divisions[::-1]):
        layers = [[at[c, j, i], at[c, j, i + 1], at[c, j + 1, i + 1], at[c, j + 1, i]] for c in (k, k + 1)]
        eight = [int(node) for layer in layers for node in layer]
        if frame.sense * np.linalg.det(edges) < 0:
            eight = [eight[n] for n in OTHER_WAY]
        elements += [8, *eight, 1]
    return [float(x) for node in nodes for x in node], elements


def base_of(form, nodes, elements, frame, young):
    """A base of the lowest modes, which `BC-RO` takes as snapshots."""
    free = s.SOLFEC("DYNAMIC", STEP * frame.time, None)
    bulk = s.BULK_MATERIAL(free, young=young * frame.stress, density=1000 * frame.density)
    body = s.BODY(free, "FINITE_ELEMENT", s.MESH(nodes, elements, 1), bulk, form="BC")
    values, vectors = s.MODAL_ANALYSIS(body, MODES)
    if form == "BC-MODAL":
        return values, vectors
    shapes = np.reshape(vectors, (MODES, -1))[6:] / np.arange(1, MODES - 5)[:, None]
    return s.POD_BASE(body, shapes.tolist(), num=MODES)


class Scene:
    """A zigzag of up to three bars with what holds and drives them, from a seed; `build` makes it in a frame."""

    def __init__(self, seed, kinds, names, duration=0.1):
        self.random = random = np.random.default_rng(seed)
        self.duration, self.bodies, self.rows, self.watched = duration, [], [], []
        self.contacts = ("CLASSIC", "MANIFOLD")[random.integers(2)]
        self.correction = ("OFF", "ON")[random.integers(2)]
        self.gravity = np.array([0, 0, -9.81 * random.integers(2)])
        self.surface = {"friction": 0.4 * random.integers(2), "restitution": 0.5 * random.integers(2)}
        self.spin = 3.0 * random.normal(size=3) * random.integers(2)
        self.points = [np.zeros(3)]
        count = int(random.integers(1, 4))
        for k in range(count):
            self.bar(k, str(random.choice(kinds)))
        self.chained = count - 1
        for k in range(count - 1):
            self.join(k, k + 1, str(random.choice(names)))
        self.join(0, None, str(random.choice(names)))
        self.load(int(random.integers(count)), unit_vector(random), 10 ** random.uniform(1, 2.7) * random.integers(2))
        if random.random() < 0.6:
            self.ball()

    def at(self, k, part):
        """A point of bar k."""
        return (1 - part) * self.points[k] + part * self.points[k + 1]

    def bar(self, k, kind):
        random = self.random
        along = np.array([1, (-1) ** k * random.uniform(0.3, 0.8), random.uniform(-0.25, 0.25)])
        along /= np.linalg.norm(along)
        across = np.cross(along, (0, 0, 1)) / np.linalg.norm(np.cross(along, (0, 0, 1)))
        wide, high = random.uniform(0.12, 0.3, 2)
        edges = np.array([along, wide * across, high * np.cross(along, across)])
        divisions = int(random.integers(2, 5)), 1, int(random.integers(1, 3))
        scheme = str(random.choice(["DEF_LIM", "DEF_EXP"]))
        young = 10 ** random.uniform(6, 6.5) if scheme == "DEF_LIM" else 3e5  # so soft that the critical step is longer than the step
        centre = self.points[-1] + 0.5 * along
        corner = centre - 0.5 * edges.sum(axis=0)

        def make(model, frame):
            bulk = s.BULK_MATERIAL(model, label=f"bulk {k}", young=young * frame.stress, density=1000 * frame.density)
            if kind in DEFORMABLE:
                nodes, elements = brick_mesh(corner, edges, divisions, frame)
                base = {"base": base_of(kind, nodes, elements, frame, young)} if kind in ("BC-MODAL", "BC-RO") else {}
                body = s.BODY(model, "FINITE_ELEMENT", s.MESH(nodes, elements, 1), bulk, form=kind, **base)
            else:
                corners = [frame.point(corner + np.dot(signs, edges)) for signs in itertools.product((0, 1), repeat=3)]
                body = s.BODY(model, kind, s.HULL(np.ravel(corners).tolist(), 1, 1), bulk)
            if kind in ("PSEUDO_RIGID", "TL", "BC"):
                body.scheme = scheme
            speed = frame.length / frame.time
            s.INITIAL_VELOCITY(body, frame.along(np.cross(self.spin, centre), speed), frame.about(self.spin, 1 / frame.time))
            return body

        self.bodies.append(make)
        self.points.append(self.points[-1] + along)
        self.watched += [(k, corner + np.array(part) @ edges) for part in ((0.5, 0.5, 0.5), (0.02, 0.1, 0.1), (0.97, 0.9, 0.1))]

    def join(self, one, two, name):
        """Join bar `one` to bar `two`, or to space."""
        random = self.random
        point = self.points[one + 1] if two is not None else self.at(one, 0.05)
        ends = (self.at(one, 0.9), self.at(two, 0.15)) if two is not None else (self.at(one, 0.1), self.at(one, 0.1) + (-0.3, 0.2, 0.3))
        axis = unit_vector(random)
        second = np.cross(axis, unit_vector(random))
        law = self.law() if name in ("HINGE", "SLIDER") else {}
        motor = (str(random.choice(["RATE", "POSITION", "EFFORT"])), random.uniform(-3, 3)) if random.random() < 0.5 else None
        limits = random.uniform(0.005, 0.1, 2) * (-1, 1) if random.random() < 0.5 else None
        slack, stiffness = random.uniform(0.01, 0.05) * random.integers(2), 10 ** random.uniform(3, 5)

        def make(bodies, frame):
            pair = bodies[one], None if two is None else bodies[two]
            first, last = map(frame.point, ends)
            if name in ("HINGE", "SLIDER"):
                return drive(name, pair, frame, point, axis, law, limits, motor)
            if name == "UNIVERSAL":
                return s.UNIVERSAL(*pair, frame.point(point), frame.along(axis), frame.along(second))
            if name == "ROPE":
                return s.ROPE(*pair, first, last, length=(np.linalg.norm(ends[1] - ends[0]) + slack) * frame.length)
            if name == "PUT_SPRING" and two is not None:
                curve = [-frame.length, stiffness * frame.force, frame.length, -stiffness * frame.force]
                return s.PUT_SPRING(pair[0], first, pair[1], last, curve, (-np.inf, np.inf))
            if name in ("PUT_RIGID_LINK", "PUT_SPRING"):
                return s.PUT_RIGID_LINK(*pair, first, last)
            return getattr(s, name)(*pair, frame.point(point))

        self.rows.append(make)

    def law(self):
        """Friction, spring and damper along an axis, in the scene's units."""
        chosen = self.random.integers(2, size=3) * self.random.uniform((1, 10, 1), (60, 2000, 20))
        return dict(zip(("friction", "spring", "damper"), chosen.tolist()))

    def load(self, k, direction, force):
        point = self.at(k, 0.7)
        self.rows.append(lambda bodies, frame: s.FORCE(bodies[k], "SPATIAL", frame.point(point), frame.along(direction), force * frame.force))

    def ball(self):
        centre = self.at(0, 0.5) + (0.02, 0.03, 0.45)

        def make(model, frame):
            bulk = s.BULK_MATERIAL(model, label="ball", density=1000 * frame.density)
            ball = s.BODY(model, "RIGID", s.SPHERE(frame.point(centre), 0.12 * frame.length, 1, 1), bulk)
            s.INITIAL_VELOCITY(ball, frame.along((0, 0, -6), frame.length / frame.time), frame.about((1, 2, 3), 1 / frame.time))
            return ball

        self.watched += [(len(self.bodies), centre), (len(self.bodies), centre + (0.03, 0.06, 0.02))]
        self.bodies.append(make)

    def outcome(self, solver, frame=None, order=None, row_order=None):
        """Displacements and velocities (n, 6) of points at the end, in the axes and units of the scene."""
        frame = frame or Frame()
        s.GEOMETRIC_EPSILON(1e-6 * frame.length)
        model = s.SOLFEC("DYNAMIC", STEP * frame.time, None, contacts=self.contacts)
        model.verbose, model.joint_correction = "OFF", self.correction
        s.GRAVITY(model, frame.along(self.gravity, frame.length / frame.time**2))
        s.SURFACE_MATERIAL(model, **self.surface)
        bodies = [None] * len(self.bodies)
        for k in range(len(bodies)) if order is None else order:
            bodies[k] = self.bodies[k](model, frame)
        for k in range(self.chained):
            s.CONTACT_EXCLUDE_BODIES(bodies[k], bodies[k + 1])
        for k in range(len(self.rows)) if row_order is None else row_order:
            self.rows[k](bodies, frame)
        s.RUN(model, solver, self.duration * frame.time)
        places = [s.DISPLACEMENT(bodies[k], frame.point(x)) for k, x in self.watched]
        speeds = [s.VELOCITY(bodies[k], frame.point(x)) for k, x in self.watched]
        return np.hstack([places @ frame.axes / frame.length, speeds @ frame.axes * frame.time / frame.length])


def drive(name, pair, frame, point, axis, law, limits, motor):
    """A HINGE or SLIDER with laws along its axis."""
    turns = name == "HINGE"
    coordinate, effort = (1.0, frame.moment) if turns else (frame.length, frame.force)
    units = {"friction": effort, "spring": effort / coordinate, "damper": effort / coordinate * frame.time}
    laws = {key: value * units[key] for key, value in law.items()}
    if limits is not None:
        laws["limits"] = tuple(limits * coordinate)
    direction = frame.about(axis) if turns else frame.along(axis)
    joint = getattr(s, name)(*pair, frame.point(point), direction, **laws)
    if motor is not None:
        kind, size = motor
        value = {
            "RATE": size * coordinate / frame.time,
            "POSITION": lambda t: 0.1 * size * coordinate * (1 - np.cos(20 * t / frame.time)),
            "EFFORT": 30 * size * effort,
        }[kind]
        s.MOTOR(joint, kind, value, **({} if kind == "EFFORT" else {"limit": 20.0 * effort}))
    return joint
