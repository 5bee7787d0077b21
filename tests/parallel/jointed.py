"""Models with constraints of the user, for tests of parts: each function returns a Scene."""

import itertools
import math

from solfec import (
    BALL,
    BODY,
    BULK_MATERIAL,
    CYLINDRICAL,
    DISTANCE,
    FIX_DIRECTION,
    FIX_POINT,
    FORCE,
    GEAR,
    GRAVITY,
    HINGE,
    HULL,
    INITIAL_VELOCITY,
    MOTOR,
    PUT_RIGID_LINK,
    PUT_SPRING,
    RACK,
    ROPE,
    SET_ACCELERATION3,
    SET_DISPLACEMENT,
    SET_ROTATION,
    SET_VELOCITY,
    SLIDER,
    SOLFEC,
    SPHERE,
    TIME_SERIES,
    TORQUE,
    UNIVERSAL,
    WELD,
)

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
WAVE = [value for k in range(41) for value in (0.02 * k, math.sin(0.4 * k))]


class Scene:
    """A model to which boxes are added."""

    path = None  # of results

    def __init__(self, step=2e-3, **options):
        self.solfec = SOLFEC("DYNAMIC", step, self.path, **options)
        self.bulk = BULK_MATERIAL(self.solfec, density=1e3)
        GRAVITY(self.solfec, (0, 0, -10))

    def box(self, centre, half=(0.2, 0.2, 0.2), kind="RIGID", velocity=(0, 0, 0), spin=(0, 0, 0), surface=1):
        corners = [tuple(c + s * h for c, s, h in zip(centre, signs, half)) for signs in itertools.product((-1, 1), repeat=3)]
        body = BODY(self.solfec, kind, HULL(corners, 1, surface), self.bulk)
        if kind == "RIGID":
            INITIAL_VELOCITY(body, velocity, spin)
        return body

    def ball(self, centre, radius=0.2, velocity=(0, 0, 0)):
        body = BODY(self.solfec, "RIGID", SPHERE(centre, radius, 1, 1), self.bulk)
        INITIAL_VELOCITY(body, velocity, (0, 0, 0))
        return body

    @property
    def model(self):
        return self.solfec._simulation.domain


def held_to_space():
    """Boxes on constraints of one body, and boxes on a floor that is shaken and one that turns; loads follow a series, too."""
    scene = Scene()
    series = TIME_SERIES(WAVE)
    GRAVITY(scene.solfec, (0, series, -10))
    for k in range(8):
        box = scene.box((k, 0, 2), spin=(0, k, 1))
        corner = (k - 0.2, -0.2, 2.2)
        if k % 4 == 0:
            FIX_POINT(box, corner)
        elif k % 4 == 1:
            FIX_DIRECTION(box, corner, Z)
            SET_VELOCITY(box, (k, 0, 2), X, series)
        elif k % 4 == 2:
            SET_DISPLACEMENT(box, corner, (0, 0.6, 0.8), series)
        else:
            SET_ACCELERATION3(box, (k, 0, 2), (*X, *Y, *Z), (series, series, TIME_SERIES([0, 1, 1, 1])))
        if k % 3 == 0:
            FORCE(box, "SPATIAL", (k, 0, 2), Y, series)
            TORQUE(box, "CONVECTED", Z, series)
    floor = scene.box((3, 0, 0), (4, 2, 0.2), kind="OBSTACLE")
    SET_VELOCITY(floor, (3, 0, 0), X, series)
    SET_VELOCITY(floor, (3, 0, 0), Y, 0.1)
    for k in range(6):
        scene.ball((0.4 + k, 0.5, 0.41), velocity=(0.5 - k % 2, 0, 0))
    table = scene.box((12, 0, 0), (2, 2, 0.2), kind="OBSTACLE")
    SET_ROTATION(table, (12, 0, 0), Z, 2.0)
    for k in range(4):
        scene.box((11 + 0.6 * k, 0.3 * k, 0.41))
    return scene


def linked():
    """Bodies far from one another that rods and springs join, and springs to obstacles."""
    scene = Scene()
    floor = scene.box((4, 0, -0.5), (8, 4, 0.5), kind="OBSTACLE")
    FIX_POINT(floor, (4, 0, -0.5))
    FIX_DIRECTION(floor, (4, 1, -0.5), X)
    boxes = [scene.box((k, (k % 3) * 0.7, 0.3 + 0.2 * (k % 2)), velocity=(1 - 0.3 * k, 0, 0), spin=(0, 0, k)) for k in range(9)]
    at = [tuple(box.center) for box in boxes]
    PUT_RIGID_LINK(boxes[0], boxes[7], at[0], at[7])
    PUT_RIGID_LINK(boxes[2], None, at[2], (2, 0, 5))
    PUT_RIGID_LINK(boxes[3], scene.box((3.3, 0, 0.5)), (3.15, 0, 0.5), (3.15, 0, 0.5))
    soft = [-1, 200, 0, 0, 0.5, -100, 1, -400]
    PUT_SPRING(boxes[1], at[1], boxes[8], at[8], soft, (-3, 3), dashpot=5)
    PUT_SPRING(boxes[2], at[2], boxes[6], at[6], [-1, 300, 1, -300], (-0.05, 0.05), Z, "CONV1", law="IMPLICIT")
    PUT_SPRING(boxes[5], at[5], floor, (5, 0, 0), soft, (-0.3, 0.3), Z, dashpot=20)
    for k in (0, 4, 8):
        PUT_SPRING(boxes[k], at[k], floor, (k, 3, 0), soft, (-4, 4))
    FIX_DIRECTION(boxes[6], at[6], X, boxes[0], at[0])
    return scene


def chain(count=8, spacing=1.0, tip=(0, 3, 0)):
    """Bodies on a chain of ball joints that hangs from a point in space."""
    scene = Scene()
    above = None
    for k in range(count):
        box = scene.box((spacing * (k + 0.5), 0, 0), (0.4 * spacing, 0.1, 0.1), velocity=tip if k == count - 1 else (0, 0, 0))
        BALL(box, above, (spacing * k, 0, 0))
        above = box
    return scene


def swung():
    """Pendulums of three boxes on joints and links, whose supports damp errors, and one in a loop of supports until one of them breaks."""
    scene = Scene()
    for k in range(4):
        boxes = [scene.box((i + 0.5, 0, k), (0.4, 0.1, 0.1), velocity=(0, 4 * i + 2, 0), spin=(0, 0, 4)) for i in range(3)]
        FIX_POINT(boxes[0], (0.1, 0, k))
        if k % 2:
            FIX_POINT(boxes[0], (0.1, 0, k + 0.1))
        BALL(boxes[0], boxes[1], (1, 0, k))
        PUT_RIGID_LINK(boxes[1], boxes[2], (1.9, 0, k), (2.1, 0, k))
        if k == 2:
            FIX_POINT(boxes[1], (1.9, 0, k), strength=1e3)
    return scene


def mechanisms():
    """All joints of mechanisms with limits, motors, friction and springs, and gears, side by side."""
    scene = Scene()
    series = TIME_SERIES(WAVE)
    frames = [scene.box((2 * k, 0, 0), (0.5, 0.5, 0.1), velocity=(0, 0, 2), spin=(0, 0.2 * k, 0)) for k in range(10)]
    arms = [scene.box((2 * k + 0.5, 0, 0.4), (0.6, 0.1, 0.1), spin=(0, 0, 3)) for k in range(10)]
    at = [(2 * k, 0, 0.3) for k in range(10)]
    hinges = [HINGE(arms[0], frames[0], at[0], Z, (-0.2, 0.3), 0.5), HINGE(arms[1], frames[1], at[1], Z, friction=5, spring=50, damper=1)]
    MOTOR(hinges[1], "RATE", series, limit=400)
    slider = SLIDER(arms[2], frames[2], at[2], X, (-0.1, 0.1), 0.3, 4.0)
    MOTOR(SLIDER(arms[3], frames[3], at[3], X), "POSITION", series, limit=1e4)
    turner = HINGE(arms[4], frames[4], at[4], Z)
    MOTOR(turner, "EFFORT", series)
    CYLINDRICAL(arms[5], frames[5], at[5], Z)
    UNIVERSAL(arms[6], frames[6], at[6], X, Y)
    WELD(arms[7], frames[7], at[7])
    ROPE(arms[8], frames[2], at[8], (4, 0, 0))
    DISTANCE(arms[9], frames[8], at[9], (16, 0, 0.1))
    other = scene.box((9.0, 0.5, 0.4), (0.1, 0.6, 0.1))
    GEAR(turner, HINGE(other, frames[4], (9.0, 0.4, 0.4), Z), -0.5)
    rod = scene.box((4, 0.4, 0.4), (0.6, 0.1, 0.1))
    RACK(HINGE(rod, frames[2], (4.5, 0.4, 0.4), Z), slider, 0.3)
    beam = scene.box((9, 0, -1), (12, 2, 0.3), kind="OBSTACLE")
    HINGE(scene.box((20, 0, 0), (0.1, 0.5, 0.3)), beam, (20, 0, -0.5), X, limits=(-1, 1))
    BALL(frames[9], beam, (18, 0, -0.1))
    return scene


def wall(wide=5, high=3, speed=4.0):
    """A curtain of boxes hinged to one another, which flies through the regions of a division onto a floor; its joints are corrected."""
    scene = Scene(contacts="MANIFOLD")
    scene.box((3, 0, -0.92), (8, 8, 0.5), kind="OBSTACLE")
    boxes = {}
    for i, j in itertools.product(range(wide), range(high)):
        box = boxes[i, j] = scene.box((i, 0, j), (0.48, 0.1, 0.4), velocity=(speed, 0.5 * j, 0))
        if j:
            HINGE(box, boxes[i, j - 1], (i, 0, j - 0.5), X, limits=(-0.6, 0.6))
        if i and not j:
            HINGE(box, boxes[i - 1, j], (i - 0.5, 0, j), Z, limits=(-0.6, 0.6), restitution=0.5)
    for k in range(6):
        scene.ball((1.5 * k, 0.4, 0.2), velocity=(-2, -3, 0))
    return scene


def brittle():
    """A chain whose joints break one after another while balls strike it, wheels that go with their joint, and a rod that breaks."""
    scene = Scene()
    above = None
    for k in range(8):
        box = scene.box((0.3 * k, 0, -k), (0.1, 0.1, 0.4))
        BALL(box, above, (0.3 * k, 0, 0.5 - k), strength=1.5 * 320 * (8 - k))
        FORCE(box, "SPATIAL", (0.3 * k, 0, -k), X, TIME_SERIES([0, 0, 1, (-1) ** k * 3e4 * (k + 1)]))
        scene.ball((0.3 * k, 0.34, -k), velocity=(0, -1 - k, 0))
        above = box
    frame = scene.box((-2, 0, 0), (0.5, 0.5, 0.1))
    FIX_POINT(frame, (-2.5, 0, 0), strength=5000)
    arms = [scene.box((-2 + 0.4 * s, 0, 0.3), (0.1, 0.4, 0.1), spin=(0, 0, s)) for s in (-1, 1)]
    one, two = (HINGE(arm, frame, tuple(arm.center), Z, strength=600 + 2000 * k) for k, arm in enumerate(arms))
    GEAR(one, two, -1.0)
    FORCE(arms[0], "SPATIAL", tuple(arms[0].center), X, TIME_SERIES([0, 0, 0.05, 900]))
    ball = scene.ball((5, 0, 0))
    PUT_RIGID_LINK(ball, None, (5, 0, 0), (6, 0, 3), strength=600)
    FORCE(ball, "SPATIAL", (5, 0, 0), Z, TIME_SERIES([0, 0, 0.05, -900]))
    return scene
