"""Models with deformable bodies, for tests of parts: each function returns a Scene."""

from jointed import WAVE, Scene, X, Z

import solfec as s

CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]


class Soft(Scene):
    """A scene with a soft material."""

    def __init__(self, young=1e6, **options):
        super().__init__(**options)
        self.soft = s.BULK_MATERIAL(self.solfec, model="KIRCHHOFF", young=young, poisson=0.3, density=1e3)

    def brick(self, centre, half=(0.2, 0.2, 0.2), velocity=(0, 0, 0), spin=(0, 0, 0), **members):
        """A pseudo-rigid box."""
        self.bulk, hard = self.soft, self.bulk
        body = self.box(centre, half, kind="PSEUDO_RIGID")
        self.bulk = hard
        return self.begun(body, velocity, spin, members)

    def mesh(self, low, size=(0.4, 0.4, 0.4), cells=2, velocity=(0, 0, 0), spin=(0, 0, 0), form="TL", **members):
        """A box of finite elements."""
        nodes = [low[k % 3] + size[k % 3] * value for k, value in enumerate(CUBE)]
        body = s.BODY(self.solfec, "FINITE_ELEMENT", s.HEX(nodes, cells, cells, cells, 1, [1, 1, 1, 1, 1, 2]), self.soft, form=form)
        return self.begun(body, velocity, spin, members)

    @staticmethod
    def begun(body, velocity, spin, members):
        s.INITIAL_VELOCITY(body, velocity, spin)
        for name, value in members.items():
            setattr(body, name, value)
        return body


def bricks(**members):
    """Pseudo-rigid bricks that fly against one another, through the regions of a division, on a shaken floor; some are joined to others or hang from space."""
    scene = Soft(contacts="MANIFOLD")
    floor = scene.box((2, 1, -0.6), (6, 6, 0.5), kind="OBSTACLE")
    for direction in (X, Z):
        s.SET_VELOCITY(floor, (2, 1, -0.6), direction, s.TIME_SERIES(WAVE))
    made = {}
    for i in range(5):
        for j in range(2):
            made[i, j] = scene.brick((0.9 * i, 0.9 * j, 0.21), velocity=(2 - i, 1 - 2 * j, 0), spin=(0, 0, i), damping=1e-4 * j, **members)
            made[i, j, 1] = scene.brick((0.9 * i, 0.9 * j, 0.7), (0.2, 0.3, 0.2), velocity=(2 - i, 1 - 2 * j, -2), **members)
    for i in range(4):
        scene.box((0.9 * i + 0.4, 0.4, 1.2), (0.3, 0.3, 0.1), velocity=(3 - i, 0, -2))
    swings = [scene.brick((0.6 * i, 3, 2), (0.2, 0.1, 0.1), velocity=(0, 0, i), **members) for i in range(4)]
    s.FIX_POINT(swings[0], (-0.2, 3, 2))
    s.BALL(swings[0], swings[1], (0.3, 3, 2))
    s.HINGE(swings[1], swings[2], (0.9, 3, 2), Z, limits=(-0.3, 0.3))
    s.PUT_RIGID_LINK(swings[2], swings[3], (1.2, 3, 2), (1.8, 3, 2))
    s.FIX_DIRECTION(swings[3], (1.8, 3, 2), Z)
    s.PUT_SPRING(swings[3], (1.9, 3, 2), made[4, 1, 1], (3.6, 0.9, 0.7), [-1, 500, 1, -500], (-5, 5))
    s.FORCE(made[0, 0], "SPATIAL", (0, 0, 0.3), X, s.TIME_SERIES([0, 0, 0.1, 1e3]))
    return scene


def cubes(form="TL", **members):
    """Boxes of finite elements that strike one another and rigid balls, with a pressure, a damped one, one in contact with itself, and joints."""
    scene = Soft(young=1e7)
    scene.box((2, 1, -0.5), (6, 6, 0.5), kind="OBSTACLE")
    made = [scene.mesh((0.7 * i, 0.7 * (i % 2), 0.01), velocity=(3 - i, 2 - 4 * (i % 2), 0), spin=(0, 0, i), form=form, **members) for i in range(6)]
    made[1].damping, made[2].selfcontact = 1e-4, "ON"
    for i in range(4):
        scene.ball((0.9 * i + 0.3, 0.5, 0.65), velocity=(2 - i, 0, -3))
    s.PRESSURE(made[3], 2, s.TIME_SERIES([0, 0, 0.05, 2e3]))
    s.FORCE(made[4], "SPATIAL", (3.0, 0.2, 0.2), Z, 40.0)
    high = [scene.mesh((0.41 * i, 3, 2), cells=1 + i % 2, velocity=(0, 0, i), form=form, **members) for i in range(4)]
    s.FIX_POINT(high[0], (0, 3, 2))
    s.WELD(high[1], scene.box((0.61, 3.6, 2.2)), (0.61, 3.4, 2.2))
    s.PUT_RIGID_LINK(high[1], scene.ball((2.9, 3.2, 2.2), 0.1), (0.6, 3.2, 2.2), (2.9, 3.2, 2.2))
    s.PUT_SPRING(high[2], (1.0, 3.2, 2.2), high[3], (1.4, 3.2, 2.2), [-1, 500, 1, -500], (-5, 5))
    s.FIX_DIRECTION(high[3], (1.4, 3.2, 2.2), Z)
    return scene
