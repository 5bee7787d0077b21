"""Models whose bodies crack, for tests of parts: each function returns a Scene."""

import math

from deformable import CUBE, Soft, cubes
from jointed import Scene, X, Z

import solfec as s

COHESIVE = {"model": "COHESIVE", "ft": 3e4, "Gf": 5.0, "friction": 0.5}
GLUED = {"model": "SIGNORINI_COULOMB", "cohesion": 3e4, "friction": 0.5}


def cracking(energy=0.0, **options):
    """Bodies of all kinds that fly against one another on a floor and crack, some of them again and again, with joints, loads, and points in common."""
    scene = Soft(young=1e6, **options)
    scene.box((2, 1, -0.6), (6, 6, 0.5), kind="OBSTACLE")
    made = {}
    for i in range(3):
        made["bar", i] = bar = bar_of(scene, (0.9 * i, 0, -0.09), (0.6, 0.2, 0.2), velocity=(2 - 2 * i, 1, -1), spin=(0, 4 - i, 3 * i))
        cracks_of(bar, (0.9 * i + 0.3, 0.1, 0.01), (600, 300, 500), (0.0, 0.01, 0.02)[i], energy)
        made["brick", i] = brick = scene.brick((0.9 * i, 0.9, 0.12), velocity=(2 - 2 * i, -1, -1), spin=(0, 0, 2))
        cracks_of(brick, (0.9 * i, 0.9, 0.12), (100 + 200 * i, 400, 2e3), None, energy)
        made["mesh", i] = mesh = scene.mesh((0.9 * i, 1.8, -0.09), velocity=(1, -2 + i, -2), spin=(1, 0, 0), damping=1e-4)
        cracks_of(mesh, (0.9 * i + 0.2, 2.0, 0.105), (300 * (1 + i), 1500, 2e3), None, energy)
        made["ball", i] = scene.ball((0.9 * i + 0.3, 0.5, 0.7), velocity=(1 - i, 0.5, -3))
    hung = scene.box((0, 3, 2), (0.2, 0.1, 0.1))
    s.FIX_POINT(hung, (-0.2, 3, 2))
    s.FORCE(hung, "SPATIAL", (0.2, 3, 2), X, s.TIME_SERIES([0, 0, 0.1, 5e3]))
    s.FORCE(hung, "SPATIAL", (-0.2, 3, 2), X, -10.0)
    s.WELD(hung, scene.box((0.4, 3, 2), (0.2, 0.1, 0.1)), (0.2, 3, 2))
    s.SIMPLIFIED_CRACK(hung, (0, 3, 2), X, (2, 3), "TENSILE", ft=5e3, average=0.01)
    s.PUT_SPRING(made["bar", 0], (0.6, 0.1, 0.11), made["mesh", 0], (0.0, 1.8, 0.31), [-5, -500, 5, 500], (-5, 5))
    s.PRESSURE(made["mesh", 1], 2, s.TIME_SERIES([0, 0, 0.05, 2e3]))
    s.CONTACT_EXCLUDE_BODIES(made["brick", 0], made["bar", 1])
    return scene


def bar_of(scene, low, size, velocity, spin):
    """A rigid box of three elements."""
    nodes = [low[k % 3] + size[k % 3] * value for k, value in enumerate(CUBE)]
    body = s.BODY(scene.solfec, "RIGID", s.HEX(nodes, 3, 1, 1, 1, [1, 1, 1, 1, 1, 2]), scene.bulk)
    s.INITIAL_VELOCITY(body, velocity, spin)
    return body


def cracks_of(body, point, strengths, average, energy):
    """Three cracks through a point."""
    for normal, strength in zip(((1, 0, 0.1), (0, 1, 0), Z), strengths):
        s.SIMPLIFIED_CRACK(body, point, normal, (4, 5), "TENSILE", ft=strength, Gf=energy, average=average)


def flying():
    """Rigid bars that spin, strike one another and cross the regions of a division; none cracks."""
    scene = Soft()
    scene.box((2, 2, -0.5), (6, 6, 0.5), kind="OBSTACLE")
    for i in range(4):
        for j in range(3):
            bar = bar_of(scene, (1.1 * i, 0.8 * j, 0.01 + 0.2 * (j % 2)), (0.6, 0.2, 0.2), velocity=(6 - 4 * i, 5 - 5 * j, -1), spin=(0, 0, 4 - i))
            for normal, average in ((X, 0.01), (Z, 0.03)):
                s.SIMPLIFIED_CRACK(bar, (1.1 * i + 0.3, 0.8 * j + 0.1, 0.11 + 0.2 * (j % 2)), normal, (4, 5), "TENSILE", ft=1e12, average=average)
    return scene


def burst():
    """A bar that spins too fast, on a floor, beside balls that touch it."""
    scene = Soft()
    scene.box((0, 0, -0.5), (6, 6, 0.5), kind="OBSTACLE")
    bar = bar_of(scene, (0, 0, 0), (0.6, 0.2, 0.2), velocity=(0, 0, -1), spin=(0, 0, 20))
    for k in range(4):
        scene.ball((0.3 * k, -0.2, 0.2), velocity=(0, 1, -1))
    s.SIMPLIFIED_CRACK(bar, (0.2, 0.1, 0.1), X, (4, 5), "TENSILE", ft=1e3, average=0.002)
    return scene


def bursts():
    """Bars in the air that spin too fast and crack in the same step, each in its middle."""
    scene = Soft()
    scene.box((0, 0, -3), (6, 6, 0.5), kind="OBSTACLE")
    for k in range(5):
        bar = bar_of(scene, (k, 0, 0), (0.6, 0.2, 0.2), velocity=(0, 0, 0), spin=(0, 0, 20))
        s.SIMPLIFIED_CRACK(bar, (k + 0.3, 0.1, 0.1), X, (4, 5), "TENSILE", ft=1e3, average=0.002)
    return scene


def bonded_cracks():
    """Bodies that crack, whose new faces are bonded, and some of whose bonds break."""
    return cracking(0.1, contacts="MANIFOLD")


def wall(material=COHESIVE, rows=3, columns=4):
    """A wall of bricks that are bonded where they touch at time 0, which falls on a floor, and balls that strike it."""
    scene = Soft(contacts="MANIFOLD")
    scene.box((0, 0, -0.5), (4, 4, 0.5), kind="OBSTACLE")
    s.SURFACE_MATERIAL(scene.solfec, friction=0.3)
    s.SURFACE_MATERIAL(scene.solfec, 5, 5, **material)
    for i in range(rows):
        for j in range(columns):
            scene.box((0.4 * j + 0.2 * (i % 2), 0, 0.105 + 0.2 * i), (0.2, 0.1, 0.1), velocity=(0, 0, -2), surface=5)
    for k in range(3):
        scene.ball((0.6 * k, -0.35, 0.3 + 0.1 * k), velocity=(0, 5, -1))
    return scene


def glued_pairs():
    """Pairs of balls that are glued at their points, pulled and sheared by forces that grow."""
    scene = Scene()
    s.GRAVITY(scene.solfec, (0, 0, 0))
    s.SURFACE_MATERIAL(scene.solfec, model="SIGNORINI_COULOMB", friction=0.5, cohesion=2e3)
    for k in range(6):
        angle, force = 0.3 * (k % 3), s.TIME_SERIES([0, 0, 0.02, 2e3 * (k + 1)])
        for x, sign in ((0, -1), (0.4, 1)):
            s.FORCE(scene.ball((x, k, 0)), "SPATIAL", (x, k, 0), (sign * math.cos(angle), -sign * math.sin(angle), 0), force)
    return scene


def two_blocks(strength=1e5, energy=100.0):
    """Blocks of a face of 1 m^2 that are bonded, and pulled apart by slightly more than the bond carries."""
    scene = Scene(step=2e-4, contacts="MANIFOLD")
    s.GRAVITY(scene.solfec, (0, 0, 0))
    s.SURFACE_MATERIAL(scene.solfec, model="COHESIVE", ft=strength, Gf=energy, friction=0.6)
    for side in (-1, 1):
        block = scene.box((0.5 * side, 0, 0), (0.5, 0.5, 0.5))
        s.FORCE(block, "SPATIAL", (0.5 * side, 0, 0), (side, 0, 0), 1.02 * strength)
    return scene


def checked():
    """Finite element boxes that strike a floor, balls and one another, some of which have fracture checks; reached in some steps."""
    scene = cubes()
    scene.model.bulk_materials[1].fracene = 30.0
    for body in scene.solfec.bodies:
        if body.kind == "FINITE_ELEMENT" and body.id % 3:
            body.fracturecheck = "ON"
    return scene
