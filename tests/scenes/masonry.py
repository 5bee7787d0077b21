"""Blocks that stand or fall: stacks, overhangs, arches, domes, walls, cards, rocking and dominoes."""

from __future__ import annotations

from itertools import pairwise
from math import acos, cos, degrees, hypot, pi, radians, sin, sqrt, tan

import solfec

from .frame import Figure, G, Limit, Unsolved, ball, box, centred, floor, floored, holds, place, scene, speed
from .friction import HINGE

SWEEPS = "a thousand sweeps do not pass forces through many bodies, or through light ones under heavy ones"
NEWTON = "Newton iterations do not converge where forces of patches are far from unique"


def moved(bodies, before):
    """Largest distance that mass centres went."""
    return max(hypot(*(a - b for a, b in zip(place(body), old))) for body, old in zip(bodies, before))


def block(model, bulk, corners, width):
    """A prism whose section lies in the plane of x and z."""
    half = width / 2
    return solfec.BODY(model, "RIGID", solfec.HULL([c for y in (-half, half) for x, z in corners for c in (x, y, z)], 1, 1), bulk)


@scene(cases=[dict(n=n) for n in (2, 10)])
def stack(setup, n):
    """A stack of n cubes stays, and the lowest joint carries the weight of all."""
    step, end = 1e-3, 0.3
    model, bulk = floored(setup, step, friction=0.5)
    a = 0.1
    cubes = [solfec.BODY(model, "RIGID", centred((0, 0, (k + 0.5) * a), (a, a, a)), bulk) for k in range(n)]
    before = [place(c) for c in cubes]
    setup.run(model, end)
    left = 2 * n * setup.accuracy * G * step * end  # of the velocity that a step stops, in every joint and step
    weight = n * cubes[0].mass * G
    carried = sum(abs(c.R[2] * c.base[8]) for c in cubes[0].constraints if c.point[2] < a / 2)
    buckles = {"CLASSIC": Limit(0.0075, 0.005, HINGE + ": the column buckles")} if n > 20 else {}
    rattles = {"CLASSIC": Limit(1.0, 1.0, HINGE + ": the column buckles")} if n > 20 else {}
    return [
        Figure("moved", moved(cubes, before), 0.0, max(1e-5, left), buckles),
        Figure("carried by the floor over the weight", carried / weight, 1.0, 0.01, rattles),
    ]


@scene(cases=[dict(n=50)], slow=True, unsolved=[Unsolved(SWEEPS, solver="GAUSS_SEIDEL"), Unsolved(NEWTON, solver="NEWTON")])
def tower(setup, n):
    """A tower of fifty cubes stays at rest."""
    return stack(setup, n)


@scene(
    cases=[dict(ratio=r) for r in (1e2, 1e4, 1e6)],
    unsolved=[Unsolved(SWEEPS, solver="GAUSS_SEIDEL"), Unsolved(NEWTON, options="MANIFOLD", solver="NEWTON", case=dict(ratio=1e6))],
)
def heavy_on_light(setup, ratio):
    """A heavy cube stands on a light one, which does not sink."""
    model = setup.model(1e-3)
    setup.surface(model, friction=0.5)
    light, heavy = solfec.BULK_MATERIAL(model, density=1e3), solfec.BULK_MATERIAL(model, density=1e3 * ratio)
    floor(model, light)
    cubes = [solfec.BODY(model, "RIGID", centred((0, 0, 0.05 + 0.1 * k), (0.1, 0.1, 0.1)), bulk) for k, bulk in enumerate((light, heavy))]
    before = [place(c) for c in cubes]
    setup.run(model, 0.1)
    carried = sum(abs(c.R[2] * c.base[8]) for c in cubes[0].constraints if c.point[2] < 0.05)
    return [
        Figure("moved", moved(cubes, before), 0.0, 1e-5),
        Figure("carried over the weight", carried / ((1 + ratio) * cubes[0].mass * G), 1.0, 0.01),
    ]


@scene(cases=[dict(ratio=0.97), dict(ratio=1.03)])
def overhang(setup, ratio):
    """Five bricks reach out by 1/2, 1/4, 1/6, 1/8 and 1/10 of their length and no more."""
    n, length, width, high = 5, 1.0, 0.4, 0.2
    model = setup.model(1e-3)
    setup.surface(model, friction=0.5)
    bulk = solfec.BULK_MATERIAL(model)
    # The lowest of them lies on a table with the edge x = 0; brick k from the top reaches ratio * length / (2 k) over the next.
    solfec.BODY(model, "OBSTACLE", box((-3, -1, -0.5), (0, 1, 0)), bulk)
    front, bricks = 0.0, []
    for k in range(n, 0, -1):
        front += ratio * length / (2 * k)
        z = (n - k) * high
        bricks.append(solfec.BODY(model, "RIGID", box((front - length, -width / 2, z), (front, width / 2, z + high)), bulk))
    before = [place(b) for b in bricks]
    setup.run(model, 0.5)
    limit = {}
    if ratio < 1:
        limit = {"CLASSIC": Limit(1, 0, HINGE)}
    return [holds("falls", moved(bricks, before) > 2e-3, ratio > 1, limit)]


@scene(cases=[dict(ratio=0.97), dict(ratio=1.03)])
def leaning_tower(setup, ratio):
    """Eight blocks, each shifted by d over the next, stand while 8 d is less than their length."""
    n, length, width, high = 8, 0.4, 0.4, 0.1
    d = ratio * length / n
    model, bulk = floored(setup, 1e-3, friction=0.6)
    blocks = [solfec.BODY(model, "RIGID", centred((k * d, 0, (k + 0.5) * high), (length, width, high)), bulk) for k in range(n)]
    before = [place(b) for b in blocks]
    setup.run(model, 0.5)
    limit = {"CLASSIC": Limit(1, 0, HINGE)} if ratio < 1 else {}
    return [holds("falls", moved(blocks, before) > 2e-3, ratio > 1, limit)]


def voussoirs(model, bulk, ratio, count, radius, width):
    """A semicircular arch on two fixed springers."""
    inner, outer = radius * (1 - ratio / 2), radius * (1 + ratio / 2)

    def corners(a, b):
        return [(-r * cos(t), r * sin(t)) for t in (a, b) for r in (inner, outer)]

    d = pi / count
    bodies = [block(model, bulk, corners(k * d, (k + 1) * d), width) for k in range(count)]
    for a, b in ((-d, 0), (pi, pi + d)):
        solid = solfec.HULL([c for y in (-width / 2, width / 2) for x, z in corners(a, b) for c in (x, y, z)], 1, 1)
        solfec.BODY(model, "OBSTACLE", solid, bulk)
    return bodies


@scene(cases=[dict(ratio=0.12), dict(ratio=0.095)])
def arch(setup, ratio):
    """A semicircular arch stands when thicker than 0.1075 of its radius (Milankovitch)."""
    model = setup.model(1e-3)
    setup.surface(model, friction=0.8)
    blocks = voussoirs(model, solfec.BULK_MATERIAL(model), ratio, 27, 1.0, 0.4)
    before = [place(b) for b in blocks]
    setup.run(model, 0.4)
    limit = {"CLASSIC": Limit(1, 0, HINGE)} if ratio > 0.1075 else {}
    return [holds("falls", moved(blocks, before) > 1e-3, ratio < 0.1075, limit)]


@scene(cases=[dict(ratio=0.12), dict(ratio=0.02)], slow=True)
def dome(setup, ratio):
    """A half dome of blocks, whose meridians may open, stands when thicker than 0.042 of its radius (Heyman)."""
    rings, around, radius = 8, 16, 1.0
    inner, outer = radius * (1 - ratio / 2), radius * (1 + ratio / 2)
    model, bulk = floored(setup, 1e-3, friction=0.8)
    blocks, top = [], radians(85)
    for i in range(rings):
        for j in range(around):
            low, high = top * i / rings, top * (i + 1) / rings
            a, b = (2 * pi * (j + s) / around for s in (0, 1))
            points = [c for e in (low, high) for t in (a, b) for r in (inner, outer) for c in (r * cos(e) * cos(t), r * cos(e) * sin(t), r * sin(e))]
            blocks.append(solfec.BODY(model, "RIGID", solfec.HULL(points, 1, 1), bulk))
    before = [place(b) for b in blocks]
    setup.run(model, 0.3)
    return [holds("falls", moved(blocks, before) > 2e-3, ratio < 0.042)]


@scene(cases=[dict(rows=4, columns=4)])
def wall(setup, rows, columns):
    """A wall in running bond stands."""
    length, width, high = 0.4, 0.2, 0.2
    model = setup.model(1e-3)
    setup.surface(model, friction=0.6)
    bulk = solfec.BULK_MATERIAL(model)
    floor(model, bulk, size=10.0)
    blocks = []
    for i in range(rows):
        ends = [0.0] + [length * (k + (0.5 if i % 2 else 1.0)) for k in range(columns)]
        if i % 2:
            ends.append(length * columns)
        for a, b in pairwise(ends):
            if b > a:
                blocks.append(solfec.BODY(model, "RIGID", box((a, 0, i * high), (b, width, (i + 1) * high)), bulk))
    before = [place(b) for b in blocks]
    setup.run(model, 0.2)
    return [Figure("moved", moved(blocks, before), 0.0, 2e-5), Figure("fastest", max(hypot(*speed(b)) for b in blocks), 0.0, 2e-3)]


@scene(cases=[dict(rows=10, columns=20)], slow=True)
def large_wall(setup, rows, columns):
    """A wall of two hundred blocks stands."""
    return wall(setup, rows, columns)


@scene(cases=[dict(ratio=0.85), dict(ratio=1.1)])
def cards(setup, ratio):
    """Two cards lean on each other at the angle a to the vertical: they stand while mu > tan a / 2."""
    angle, length, t = radians(20), 0.1, 0.002
    mu = ratio * tan(angle) / 2
    model, bulk = floored(setup, 5e-4, friction=mu)
    x = length * sin(angle)
    bodies = []
    for s in (-1, 1):
        # A thin parallelogram whose outer face leans; its head ends in the plane x = 0.
        low, high = -x - t, -x
        corners = [(s * low, 0), (s * high, 0), (0.0, length * cos(angle)), (s * -t, length * cos(angle))]
        bodies.append(block(model, bulk, corners, 0.06))
    z = place(bodies[0])[2]
    setup.run(model, 0.3)
    # The heads meet in a plane of symmetry: friction there carries nothing, H = m g tan a / 2 acts at the head's foot or above.
    return [holds("falls", z - place(bodies[0])[2] > 1e-3, ratio < 1)]


@scene()
def card_house(setup):
    """A house of cards of two storeys stands with friction well above what it needs."""
    angle, length, t = radians(20), 0.1, 0.002
    model, bulk = floored(setup, 5e-4, friction=0.8)
    rise, x = length * cos(angle), length * sin(angle)
    bodies = []

    def pair(middle, z):
        for s in (-1, 1):
            corners = [(middle + s * (-x - t), z), (middle + s * -x, z), (middle, z + rise), (middle + s * -t, z + rise)]
            bodies.append(block(model, bulk, corners, 0.06))

    pair(-x - t, 0.0)
    pair(x + t, 0.0)
    bodies.append(solfec.BODY(model, "RIGID", box((-2 * x, -0.03, rise), (2 * x, 0.03, rise + t)), bulk))
    pair(0.0, rise + t)
    before = [place(b) for b in bodies]
    setup.run(model, 0.3)
    return [holds("falls", moved(bodies, before) > 1e-3, False)]


@scene(cases=[dict(slender=4.0), dict(slender=6.0)], slow=True)
def rocking(setup, slender):
    """A rocking block keeps the part (1 - 3/2 sin^2 a)^2 of its energy when it changes the corner, tan a = b / h (Housner)."""
    b, high = 0.2, 0.2 * slender
    alpha = acos(high / hypot(b, high))
    start = 0.6 * alpha
    model, bulk = floored(setup, 5e-4, friction=2.0)
    shape = solfec.ROTATE(box((0, -0.1, 0), (b, 0.1, high)), (0, 0, 0), (0, 1, 0), -degrees(start))
    body = solfec.BODY(model, "RIGID", shape, bulk)
    inertia = body.mass * (b**2 + high**2) / 3  # about a corner
    spins, seen = [], []

    def look():
        spins.append(body.velo[1])
        seen.append(body.conf[6] if abs(body.conf[6]) > 0 else 0.0)
        return not (len(spins) > 200 and spins[-1] < 0.2 * max(spins) and max(spins) > 0 and len(spins) - spins.index(max(spins)) > 40)

    setup.watch(model, 1.5, look)
    # Before: energy of the fall from the start.  After: ratio r of the angular velocities.
    r = 1 - 1.5 * sin(alpha) ** 2
    half = hypot(b, high) / 2
    w = sqrt(2 * body.mass * G * half * (cos(alpha - start) - cos(alpha)) / inertia)
    k = max(range(len(spins)), key=lambda i: spins[i])
    after = spins[min(k + 8, len(spins) - 1)]
    limit = {"CLASSIC": Limit(0.97 * w, 0.1 * w, HINGE + ", and the normal of a tilted edge is off")}
    return [
        Figure("angular velocity before", spins[k], w, 0.02 * w),
        Figure("angular velocity after", after, r * w, 0.04 * w, limit),
    ]


@scene(cases=[dict(shake=0.85), dict(shake=1.25)])
def shaken_block(setup, shake):
    """A slender block tips backwards when its ground accelerates by more than g b / h."""
    b, high = 0.2, 0.8
    a = shake * G * b / high
    model = setup.model(1e-3)
    setup.surface(model, friction=1.0)
    bulk = solfec.BULK_MATERIAL(model)
    ground = floor(model, bulk)
    for d in ((0, 1, 0), (0, 0, 1)):
        solfec.FIX_DIRECTION(ground, (0, 0, -0.5), d)
    solfec.SET_ACCELERATION(ground, (0, 0, -0.5), (1, 0, 0), solfec.TIME_SERIES([0, a, 1, a]))
    body = solfec.BODY(model, "RIGID", centred((0, 0, high / 2), (b, b, high)), bulk)
    setup.run(model, 0.8)
    tilt = degrees(acos(max(-1, min(1, body.conf[8]))))
    return [holds("tips", tilt > 3, shake > 1)]


@scene(cases=[dict(n=6)])
def pyramid(setup, n):
    """A pyramid of cubes, each on two, stays."""
    model, bulk = floored(setup, 1e-3, friction=0.5)
    a = 0.1
    cubes = [
        solfec.BODY(model, "RIGID", centred(((j - (n - i) / 2) * 1.1 * a, 0, (i + 0.5) * a), (a, a, a)), bulk) for i in range(n) for j in range(n - i)
    ]
    before = [place(c) for c in cubes]
    setup.run(model, 0.2)
    return [Figure("moved", moved(cubes, before), 0.0, 5e-5)]


@scene(cases=[dict(n=20)], slow=True)
def large_pyramid(setup, n):
    """A pyramid of 210 cubes stays."""
    return pyramid(setup, n)


@scene(slow=True)
def dominoes(setup):
    """A row of dominoes falls as a wave of steady speed, of the order of sqrt (g h)."""
    n, high, t, w, spacing = 20, 0.05, 0.01, 0.025, 0.03
    model, bulk = floored(setup, 5e-4, friction=0.3)
    row = [solfec.BODY(model, "RIGID", centred((k * spacing, 0, high / 2), (t, w, high)), bulk) for k in range(n)]
    solfec.INITIAL_VELOCITY(row[0], (0.15, 0, 0), (0, 6, 0))
    times = {}

    def look():
        for k, body in enumerate(row):
            if k not in times and degrees(acos(max(-1, min(1, body.conf[8])))) > 12:
                times[k] = model.time
        return len(times) < n

    setup.watch(model, 2.0, look, every=2e-3)
    speeds = [0.0, 0.0] if len(times) < n else [5 * spacing / (times[k + 5] - times[k]) for k in (8, 13)]
    middle = sqrt(G * high)
    # Known from experiments (Stronge, Banks): 0.9 to 1.8 sqrt (g h) for spacings about half of the height; the wave is steady.
    return [
        Figure("fallen", len(times), n, 0),
        Figure("speed over sqrt (g h)", speeds[1] / middle, 1.3, 0.5),
        Figure("later over earlier speed", speeds[1] / max(speeds[0], 1e-9), 1.0, 0.15),
    ]


@scene(cases=[dict(ratio=0.95), dict(ratio=1.05)])
def lever(setup, ratio):
    """A beam on an edge holds two weights level while their moments differ by less than the beam's edge allows: it tips to the heavier."""
    model = setup.model(1e-3)
    setup.surface(model, friction=1.0)
    bulk = solfec.BULK_MATERIAL(model)
    # The beam rests on two balls: at the pivot and at the far end; the load on the other side lifts it when heavy enough.
    r, beam = 0.05, 2.0
    for x in (0.0, 0.5):
        solfec.BODY(model, "OBSTACLE", solfec.SPHERE((x, 0, -r), r, 1, 1), bulk)
        solfec.BODY(model, "OBSTACLE", solfec.SPHERE((x, 0.3, -r), r, 1, 1), bulk)
    body = solfec.BODY(model, "RIGID", box((-0.8, 0, 0), (0.8, 0.3, 0.02)), bulk)
    i = beam * 0.64 / 3
    solfec.BODY_CHARS(body, beam, 1e-2, (0.2, 0.15, 0.01), (i, 0, 0, 0, i, 0, 0, 0, i))
    # Moments about x = 0: beam * g * 0.2 against F * 0.6.
    force = ratio * beam * G * 0.2 / 0.6
    solfec.FORCE(body, "SPATIAL", (-0.6, 0.15, 0.02), (0, 0, -1), force)
    setup.run(model, 0.5)
    far = solfec.DISPLACEMENT(body, (0.5, 0.15, 0))[2]
    return [holds("tips", far > 2e-3, ratio > 1)]


@scene()
def chain_of_rings(setup):
    """Six rings that hang in one another carry what hangs below: k weights at the k-th joint."""
    n, r, t = 5, 0.1, 0.02
    model = setup.model(1e-3)
    setup.surface(model, friction=0.4)
    bulk = solfec.BULK_MATERIAL(model)
    rings = []
    for k in range(n):
        centre = (0, 0, -k * (2 * r - 2 * t) * 0.995)
        axis = (0, 1, 0) if k % 2 else (1, 0, 0)
        balls = []
        for j in range(24):
            a = 2 * pi * j / 24
            p = (r - t / 2) * cos(a), (r - t / 2) * sin(a)
            place_ = (centre[0] + (p[0] if axis[1] else 0), centre[1] + (0 if axis[1] else p[0]), centre[2] + p[1])
            balls.append(solfec.SPHERE(place_, t / 2, 1, 1))
        rings.append(solfec.BODY(model, "RIGID" if k else "OBSTACLE", balls, bulk))
    for body in rings[1:]:
        body.damping = 0
    z = place(rings[-1])[2]
    setup.run(model, 1.0)
    return [holds("hangs", place(rings[-1])[2] > z - 0.05)]


@scene()
def saddle(setup):
    """A saddle astride a bar is stable while its mass centre hangs below the bar's top: it swings and stays."""
    model = setup.model(1e-3)
    setup.surface(model, friction=0.6)
    bulk = solfec.BULK_MATERIAL(model)
    solfec.BODY(model, "OBSTACLE", box((-1, -0.05, -0.1), (1, 0.05, 0)), bulk)
    parts = [box((-0.1, -0.16, 0), (0.1, 0.16, 0.05)), box((-0.1, -0.16, -0.3), (0.1, -0.06, 0)), box((-0.1, 0.06, -0.3), (0.1, 0.16, 0))]
    body = solfec.BODY(model, "RIGID", parts, bulk)
    before = place(body)
    setup.run(model, 0.5)
    return [Figure("moved", moved([body], [before]), 0.0, 1e-4)]


@scene(cases=[dict(tension=t) for t in (0.9, 1.1)])
def glue(setup, tension):
    """A glued block hangs while its weight is less than cohesion times area, and falls beyond."""
    model = setup.model(1e-3)
    bulk = solfec.BULK_MATERIAL(model, density=1000)
    side = 0.2
    weight = 1000 * side**3 * G
    setup.surface(model, friction=0.5, cohesion=weight / tension / side**2)
    solfec.BODY(model, "OBSTACLE", box((-1, -1, 0), (1, 1, 0.2)), bulk)
    body = solfec.BODY(model, "RIGID", box((-side / 2, -side / 2, -side), (side / 2, side / 2, 0)), bulk)
    z = place(body)[2]
    setup.run(model, 0.2)
    return [holds("falls", z - place(body)[2] > 1e-3, tension > 1)]


@scene(cases=[dict(shear=s) for s in (0.9, 1.1)])
def glued_shear(setup, shear):
    """A glued block without weight stands a push along the joint of less than mu times the cohesive force."""
    model = setup.model(1e-3, gravity=(0, 0, 0))
    bulk = solfec.BULK_MATERIAL(model, density=1000)
    side, mu, strength = 0.2, 0.5, 1000.0
    setup.surface(model, friction=mu, cohesion=strength)
    floor(model, bulk)
    body = solfec.BODY(model, "RIGID", box((-side / 2, -side / 2, 0), (side / 2, side / 2, side)), bulk)
    x = place(body)[0]
    # The push acts in the joint, so that it does not bend it.
    solfec.FORCE(body, "SPATIAL", (0, 0, 0), (1, 0, 0), shear * mu * strength * side**2)
    setup.run(model, 0.2)
    return [holds("slides", place(body)[0] - x > 1e-3, shear > 1)]


@scene()
def thrown_on_stack(setup):
    """A ball dropped on a stack of three plates: momentum and rest; the stack carries all weights at last."""
    model, bulk = floored(setup, 5e-4, friction=0.5)
    plates = [solfec.BODY(model, "RIGID", centred((0, 0, 0.05 + 0.1 * k), (0.4, 0.4, 0.1)), bulk) for k in range(3)]
    drop = ball(model, bulk, (0, 0, 0.45), 0.1)
    setup.run(model, 0.4)
    weight = G * (drop.mass + sum(p.mass for p in plates))
    carried = sum(abs(c.R[2] * c.base[8]) for c in plates[0].constraints if c.point[2] < 0.05)
    return [Figure("carried over the weight", carried / weight, 1.0, 0.01), Figure("height of the ball", place(drop)[2], 0.4, 2e-3)]
