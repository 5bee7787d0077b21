"""Models with Python functions that steps call, for tests of parts: each function returns a Scene."""

import math

import numpy as np
from deformable import Soft
from jointed import X, Y, Z

from solfec import FIX_POINT, FORCE, HINGE, MOTOR, PUT_SPRING, SET_VELOCITY, SLIDER, SURFACE_MATERIAL, TORQUE


def wind(q, u, t, h):
    """A drag that depends on place, velocity and time; 9 numbers for a rigid body."""
    x, y, z = q[9:12]
    return [30 * math.sin(x + 20 * t) - 40 * u[3], 500 * y * h, -20 * u[5] + z, 0.1 * q[1], 0, 1e-3 * u[1], 0.5, 0, 0.2 * math.cos(t)]


def stretch(q, u, t, h):
    """Generalised forces of a pseudo-rigid or finite element body."""
    return [3.0 * math.sin(k + 50 * t) - 0.1 * value for k, value in enumerate(u)]


def loaded():
    """Bodies of all kinds that fly through the regions of a division, under forces and torques by functions and without."""
    scene = Soft()
    SURFACE_MATERIAL(scene.solfec, model="SIGNORINI_COULOMB", friction=0.3)
    scene.box((2, 1, -0.7), (8, 8, 0.5), kind="OBSTACLE")
    for k in range(12):
        ball = scene.ball((0.45 * k, 0.5 * (k % 3), 0.01), velocity=(2 - 4 * (k % 2), 3 - k % 5, 0))
        if k % 4:
            FORCE(ball, "SPATIAL", (0, 0, 0), X, 2.0 * k)
            FORCE(ball, "SPATIAL", (0, 0, 0), X, wind)
        if k % 3 == 0:
            TORQUE(ball, "CONVECTED" if k % 2 else "SPATIAL", (0, 0, 1), lambda q, u, t, h, k=k: k + u[0] * q[10])
    for k in range(4):
        brick = scene.brick((1.4 * k, 2.0, 0.1), velocity=(3 - 2 * k, -1, 0))
        FORCE(brick, "SPATIAL", (0, 0, 0), X, stretch)
    FORCE(scene.mesh((1.0, -1.0, 0.0), velocity=(2, 1, 0)), "SPATIAL", (0, 0, 0), X, stretch)
    scene.mesh((3.0, -1.0, 0.0), velocity=(-2, 1, 0))
    return scene


class Controller:
    """An effort that depends on all that has been."""

    def __init__(self):
        self.sum = 0.0

    def __call__(self, angle, rate, time):
        self.sum += angle
        return 20 * (math.sin(10 * time) - angle) - 2 * rate - 0.5 * self.sum


def sprung():
    """Balls that pass one another on springs and motors by functions, also to obstacles that these move."""
    scene = Soft()
    table = scene.box((4, 0, -1.5), (8, 4, 0.5), kind="OBSTACLE")
    SET_VELOCITY(table, (4, 0, -1.5), Y, 0.2)
    balls = [scene.ball((0.5 * k, 0.41 * (k % 2), 0), velocity=(2 - 4 * (k % 2), 0, 0)) for k in range(14)]
    at = [tuple(ball.center) for ball in balls]
    for k in range(0, 12, 3):
        PUT_SPRING(balls[k], at[k], balls[k + 2], at[k + 2], lambda s, v, k=k: -(100 + k) * s - 500 * s**3 - 2 * v, (-3, 3))
    PUT_SPRING(balls[1], at[1], table, (0.5, 0, -1), lambda s, v: -300 * s - 3 * v, (-0.5, 0.5))
    PUT_SPRING(balls[4], at[4], balls[13], at[13], lambda s, v: -300 * math.tanh(s) - v, (-4, 4), law="IMPLICIT")
    MOTOR(HINGE(scene.box((1, -1, 0.4)), scene.box((1, -1, 0)), (1, -1, 0.2), Z), "EFFORT", Controller())
    MOTOR(HINGE(scene.box((3, -1, 0.4)), None, (3, -1, 0.2), X), "RATE", lambda time: math.sin(30 * time), limit=50)
    frame = scene.box((6, -1, 0))
    FIX_POINT(frame, (6, -1, 0))
    MOTOR(SLIDER(scene.box((6, -1, 0.5)), frame, (6, -1, 0.3), X), "POSITION", lambda time: 0.1 * math.sin(20 * time), limit=1e4)
    return scene


def watched():
    """A heap under functions before, in the midst of and after the motion, which read and change all bodies."""
    scene = loaded()
    scene.seen = []

    def swirl(bodies, time, step):
        away = bodies.centre - bodies.centre.mean(axis=0)
        away[bodies.kind == 0] = 0.0
        return -3 * away - 0.1 * bodies.velocity

    def steer(bodies, time, step):
        bodies.force[bodies.id % 3 == 0, 2] = 5.0 * len(bodies.id)
        bodies.torque[(bodies.id % 4 == 0) & (bodies.kind == 1), 1] = 0.3
        if int(round(time / step)) % 7 == 3:
            bodies.velocity[bodies.id == 5] += (0.1, 0, 0.5)

    def record(bodies, time, step):
        scene.seen.append((round(time, 9), bodies.id.tobytes(), np.array(bodies.centre).tobytes(), np.array(bodies.velo).tobytes()))
        if len(scene.seen) == 12:
            scene.ball((2.0, 1.5, 1.0), velocity=(0, 0, -3))

    scene.solfec.add_forces(swirl)
    scene.solfec.before_motion(steer)
    scene.solfec.after_motion(record)
    return scene
