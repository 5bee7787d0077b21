"""Many bodies: piles, hoppers, clusters."""

from __future__ import annotations

import random
from math import hypot, radians, tan

import solfec

from .frame import Figure, G, ball, box, centred, floor, floored, holds, place, scene, speed

STILL = (0.0, 0.0, 0.0)


@scene(cases=[dict(e=e) for e in (0.5, 1.0)])
def cluster(setup, e):
    """Forty balls that fly into one another keep momentum and angular momentum; energy falls, or stays with e = 1 and no friction."""
    random.seed(1)
    model = setup.model(2e-4, gravity=STILL)
    setup.surface(model, friction=0.0 if e == 1 else 0.3, restitution=e)
    bulk = solfec.BULK_MATERIAL(model)
    r, balls, places = 0.05, [], []
    while len(balls) < 40:
        p = [random.uniform(-0.4, 0.4) for _ in range(3)]
        if all(hypot(*(a - b for a, b in zip(p, q))) > 2 * r + 0.01 for q in places):
            places.append(p)
            balls.append(ball(model, bulk, p, r, velocity=[-2 * c for c in p]))
    mass = balls[0].mass

    def sums():
        p = [sum(mass * speed(b)[k] for b in balls) for k in range(3)]
        i = 0.4 * mass * r**2
        spins = [[sum(b.conf[3 * j + k] * b.velo[j] for j in range(3)) for k in range(3)] for b in balls]
        l = [0.0] * 3
        for b, w in zip(balls, spins):
            x, v = place(b), speed(b)
            for k in range(3):
                a, c = (k + 1) % 3, (k + 2) % 3
                l[k] += mass * (x[a] * v[c] - x[c] * v[a]) + i * w[k]
        return p, l

    p0, l0 = sums()
    before = solfec.ENERGY(model)[0]
    setup.run(model, 0.4)
    p1, l1 = sums()
    ratio = solfec.ENERGY(model)[0] / before
    figures = [
        Figure("change of momentum", hypot(*(a - b for a, b in zip(p0, p1))), 0.0, 1e-9),
        # Arms of a contact are taken at mid step from both sides of the gap: they err by the gap and the depth.
        Figure("change of angular momentum", hypot(*(a - b for a, b in zip(l0, l1))), 0.0, 2e-3 * mass),
    ]
    if e == 1:
        figures.append(Figure("energy over the first", ratio, 1.0, 0.01))
    else:
        figures.append(holds("energy falls", 0.02 < ratio < 0.99))
    return figures


@scene(cases=[dict(mu=0.3)], slow=True)
def settled(setup, mu):
    """Balls that settle in a box: floor and walls carry the weight."""
    random.seed(2)
    model = setup.model(1e-3)
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model)
    floor(model, bulk, size=2)
    side, r = 0.3, 0.03
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        a, b = side + 0.1 if x else side + 0.2, side + 0.1 if y else side + 0.2
        centre = (x * (side / 2 + 0.05), y * (side / 2 + 0.05), 0.5)
        solfec.BODY(model, "OBSTACLE", centred(centre, (0.1 if x else a, 0.1 if y else b, 1.0)), bulk)
    balls = []
    for k in range(8):
        for i in range(4):
            for j in range(4):
                p = (-0.105 + 0.07 * i + random.uniform(-4e-3, 4e-3), -0.105 + 0.07 * j + random.uniform(-4e-3, 4e-3), 0.04 + 0.07 * k)
                balls.append(ball(model, bulk, p, r))
    setup.run(model, 1.2)
    weight = sum(b.mass for b in balls) * G
    floors = [c for c in model.constraints if any(b.kind == "OBSTACLE" for b in c.adjbod)]
    up = 0.0
    for c in floors:
        force = [sum(c.R[i] * c.base[3 * i + k] for i in range(3)) for k in range(3)]
        up += force[2] if c.adjbod[0].kind == "RIGID" else -force[2]
    return [
        Figure("carried over the weight", up / weight, 1.0, 0.05),
        Figure("fastest", max(hypot(*speed(b)) for b in balls), 0.0, 0.1),
        holds("inside", all(abs(place(b)[0]) < side / 2 and 0 < place(b)[2] < 1 for b in balls)),
    ]


@scene(cases=[dict(mu=0.27), dict(mu=0.266)])
def repose(setup, mu):
    """The smallest heap: a ball on two that touch stays there while the angle of friction is at least 15 degrees, half of the contacts' slope."""
    r = 0.05
    model, bulk = floored(setup, 1e-3, friction=mu)
    for x in (-r, r):
        ball(model, bulk, (x, 0, r), r)
    top = ball(model, bulk, (0, 0, (1 + 3**0.5) * r), r)
    setup.run(model, 0.3)
    sunk = (1 + 3**0.5) * r - place(top)[2]
    if mu > tan(radians(15)):
        return [Figure("way down", sunk, 0.0, 1e-4)]
    return [holds("falls", sunk > 3e-4)]


@scene(slow=True)
def hopper(setup):
    """Flow of discs through slots follows Beverloo: (D - k d)^(3/2) in two dimensions, with k about 1.4."""
    d, rates = 0.02, []
    slots = (5.0, 8.0)
    for slot in slots:
        random.seed(4)
        model = setup.model(1e-3)
        setup.surface(model, friction=0.4)
        setup.surface(model, friction=0.0, pair=(2, 1))
        bulk = solfec.BULK_MATERIAL(model)
        wide = 20 * d
        for s in (-1, 1):
            solfec.BODY(model, "OBSTACLE", centred((0, s * (0.51 * d + 0.05), 0.5), (2, 0.1, 3), 2), bulk)
            solfec.BODY(model, "OBSTACLE", box((s * wide / 2 if s > 0 else -wide / 2 - 0.1, -0.1, 0), (wide / 2 + 0.1 if s > 0 else -wide / 2, 0.1, 2)), bulk)
            edge = slot * d / 2
            solfec.BODY(model, "OBSTACLE", box((edge if s > 0 else -wide / 2, -0.1, -0.1), (wide / 2 if s > 0 else -edge, 0.1, 0)), bulk)
        balls = []
        for k in range(16):
            for i in range(18):
                x = (i - 8.5) * 1.08 * d + random.uniform(-5e-4, 5e-4)
                balls.append(ball(model, bulk, (x, 0, 0.55 * d + 1.05 * d * k), d / 2))
        solfec.EXTENTS(model, (-1, -1, -0.15, 1, 1, 3))
        out = {}

        def look(model=model, out=out):
            out[round(model.time, 6)] = 18 * 16 - sum(1 for b in model.bodies if b.kind == "RIGID")

        setup.watch(model, 0.7, look, every=0.02)
        times = sorted(out)
        a, b = times[len(times) // 3], times[-1]
        rates.append((out[b] - out[a]) / (b - a))
    expected = ((slots[1] - 1.4) / (slots[0] - 1.4)) ** 1.5
    return [Figure("ratio of rates", rates[1] / max(rates[0], 1e-9), expected, 0.35 * expected)]


@scene()
def galton(setup):
    """Balls dropped on a symmetric row of pins: the mirrored drop gives the mirrored path."""
    r, ends = 0.02, []
    for s in (-1, 1):
        model = setup.model(5e-4)
        setup.surface(model, friction=0.3, restitution=0.3)
        bulk = solfec.BULK_MATERIAL(model)
        for row in range(3):
            for k in range(-2, 3):
                solfec.BODY(model, "OBSTACLE", solfec.SPHERE(((k + 0.5 * (row % 2)) * 0.1 * s, 0, -0.08 * row), 0.01, 1, 1), bulk)
        body = ball(model, bulk, (s * 0.013, 0, 0.06), r)
        setup.run(model, 0.25)
        ends.append(place(body))
    return [Figure("x against its mirror image", ends[0][0], -ends[1][0], 1e-4), Figure("z against its mirror image", ends[0][2], ends[1][2], 1e-4)]


@scene(cases=[dict(n=3)])
def column_of_balls(setup, n):
    """Balls stacked upright between four smooth plates: joint k carries k weights."""
    r = 0.05
    model = setup.model(1e-3)
    setup.surface(model, friction=0.3)
    bulk = solfec.BULK_MATERIAL(model)
    floor(model, bulk, size=1)
    balls = [ball(model, bulk, (0, 0, r + 2 * r * k), r) for k in range(n)]
    setup.run(model, 0.2)
    weight = balls[0].mass * G
    return [
        Figure(f"force under ball {k + 1}", sum(abs(c.R[2]) for c in b.constraints if c.point[2] < place(b)[2]), (n - k) * weight, 0.01 * n * weight)
        for k, b in enumerate(balls)
    ]


@scene(slow=True)
def ellipsoids(setup):
    """Ellipsoids that settle in a box stay inside, come to rest and lie flatter than they were thrown."""
    random.seed(5)
    model = setup.model(1e-3)
    setup.surface(model, friction=0.4)
    bulk = solfec.BULK_MATERIAL(model)
    floor(model, bulk, size=2)
    side = 0.4
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        a, b = side + 0.1 if x else side + 0.2, side + 0.1 if y else side + 0.2
        solfec.BODY(model, "OBSTACLE", centred((x * (side / 2 + 0.05), y * (side / 2 + 0.05), 0.5), (0.1 if x else a, 0.1 if y else b, 1.0)), bulk)
    bodies = []
    for k in range(3):
        for i in range(3):
            for j in range(3):
                p = (-0.12 + 0.12 * i, -0.12 + 0.12 * j, 0.08 + 0.13 * k)
                shape = solfec.ELLIP(p, (0.05, 0.04, 0.025), 1, 1)
                axis = [random.uniform(-1, 1) for _ in range(3)]
                bodies.append(solfec.BODY(model, "RIGID", solfec.ROTATE(shape, p, axis, random.uniform(0, 90)), bulk))
    setup.run(model, 1.2)
    return [
        Figure("fastest", max(hypot(*speed(b)) for b in bodies), 0.0, 0.15),
        holds("inside", all(abs(place(b)[0]) < side / 2 and 0 < place(b)[2] < 0.4 for b in bodies)),
    ]
