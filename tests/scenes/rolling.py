"""Rolling, spinning and colliding balls, and bodies that roll over their edges."""

from __future__ import annotations

from math import cos, hypot, radians, sin, sqrt, tan

import solfec

from .frame import WITH_PENALTY, Figure, G, ball, box, floor, floored, holds, place, scene, slope, speed

STILL = (0.0, 0.0, 0.0)


@scene(cases=[dict(kind=k) for k in ("sphere", "ellipsoid")], solvers=WITH_PENALTY)
def down(setup, kind):
    """A ball that rolls down a slope: a = 5 / 7 g sin a."""
    angle, r, end = radians(20), 0.1, 0.5
    model, bulk = floored(setup, 1e-3, gravity=slope(angle), friction=0.5)
    shape = solfec.SPHERE((0, 0, r), r, 1, 1) if kind == "sphere" else solfec.ELLIP((0, 0, r), (r, r, r), 1, 1)
    body = solfec.BODY(model, "RIGID", shape, bulk)
    setup.run(model, end)
    expected = 5 / 7 * G * sin(angle) * end
    tolerance = (5e-3 if setup.penalty else 10 * setup.accuracy) * expected
    return [Figure("speed", speed(body)[0], expected, tolerance), Figure("r w", r * body.velo[1], expected, tolerance)]


@scene(cases=[dict(factor=f) for f in (2 / 3, 0.4, 0.9)], solvers=WITH_PENALTY)
def inertia(setup, factor):
    """Of balls with the moment of inertia f m r^2 the speed down a slope is g sin a t / (1 + f): hollow ones lag."""
    angle, r, end = radians(15), 0.1, 0.4
    model, bulk = floored(setup, 1e-3, gravity=slope(angle), friction=0.9)
    body = ball(model, bulk, (0, 0, r), r)
    i = factor * body.mass * r**2
    solfec.BODY_CHARS(body, body.mass, body.volume, (0, 0, r), (i, 0, 0, 0, i, 0, 0, 0, i))
    setup.run(model, end)
    expected = G * sin(angle) * end / (1 + factor)
    return [Figure("speed", speed(body)[0], expected, (5e-3 if setup.penalty else 10 * setup.accuracy) * expected)]


@scene(cases=[dict(ratio=0.9), dict(ratio=1.1)], solvers=WITH_PENALTY)
def grip(setup, ratio):
    """A ball slips on a slope whose tan a is above 7 / 2 mu: g (sin a - mu cos a), else it rolls."""
    angle, r, end = radians(40), 0.1, 0.4
    mu = ratio * 2 / 7 * tan(angle)
    model, bulk = floored(setup, 1e-3, gravity=slope(angle), friction=mu)
    body = ball(model, bulk, (0, 0, r), r)
    setup.run(model, end)
    expected = end * (5 / 7 * G * sin(angle) if ratio > 1 else G * (sin(angle) - mu * cos(angle)))
    return [Figure("speed", speed(body)[0], expected, (5e-3 if setup.penalty else 10 * setup.accuracy) * expected)]


@scene(cases=[dict(spin=s) for s in (0.0, -60.0)], solvers=WITH_PENALTY)
def skid(setup, spin):
    """A bowled ball, with backspin or without: it rolls at last with (5 v + 2 r w) / 7, after the slip / (7 / 2 mu g)."""
    mu, v, r, step = 0.2, 2.0, 0.1, 1e-3
    model, bulk = floored(setup, step, friction=mu)
    body = ball(model, bulk, (0, 0, r), r, velocity=(v, 0, 0), spin=(0, spin, 0))
    found = [None]

    def look():
        if found[0] is None and abs(speed(body)[0] - r * body.velo[1]) < 5e-3:
            found[0] = model.time

    setup.watch(model, 1.5, look)
    tolerance = 0.01 if setup.penalty else 2e-3
    slip = v - r * spin
    return [
        Figure("speed at last", speed(body)[0], (5 * v + 2 * r * spin) / 7, tolerance),
        Figure("time of rolling", found[0] or 0.0, slip / (3.5 * mu * G), 4 * step + (0.02 if setup.penalty else 0)),
    ]


@scene()
def drilling(setup):
    """A ball that spins upright on its one contact point goes on spinning."""
    model, bulk = floored(setup, 1e-3, friction=0.5)
    body = ball(model, bulk, (0, 0, 0.1), 0.1, spin=(0, 0, 10))
    setup.run(model, 1.0)
    return [Figure("spin", body.velo[2], 10.0, 1e-6), Figure("speed", hypot(*speed(body)), 0.0, 1e-6)]


@scene(cases=[dict(angle=25), dict(angle=35)])
def hexagon(setup, angle):
    """A hexagonal bar rolls over its edges on slopes above 30 degrees."""
    a = radians(angle)
    model, bulk = floored(setup, 1e-3, gravity=slope(a), friction=1.2)
    r = 0.1
    corners = [(r * cos(radians(60 * k)), r * sin(radians(60 * k)) + r * sqrt(0.75)) for k in range(6)]
    body = solfec.BODY(model, "RIGID", solfec.HULL([c for y in (-0.2, 0.2) for x, z in corners for c in (x, y, z)], 1, 1), bulk)
    setup.run(model, 1.0)
    return [holds("rolls", place(body)[0] > 0.05, angle > 30)]


@scene(cases=[dict(density=1e3), dict(density=1e5)])
def plate_on_balls(setup, density):
    """A plate on four balls on a slope: both roll, the plate twice as fast as the balls."""
    angle, r, end = radians(10), 0.05, 0.2
    model = setup.model(1e-3, gravity=slope(angle))
    setup.surface(model, friction=0.5)
    bulk, heavy = solfec.BULK_MATERIAL(model, density=1e3), solfec.BULK_MATERIAL(model, density=density)
    floor(model, bulk)
    balls = [ball(model, bulk, (x, y, r), r) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    plate = solfec.BODY(model, "RIGID", box((-0.5, -0.5, 2 * r), (0.5, 0.5, 2 * r + 0.02)), heavy)
    m, big = 4 * balls[0].mass, plate.mass
    setup.run(model, end)
    # Energy: plate at 2 v, balls at v with spin v / r: (4 M + 7 / 5 m) v dv/dt = (2 M + m) g sin a v.
    v = (2 * big + m) * G * sin(angle) / (4 * big + 1.4 * m) * end
    tolerance = 2e-3 * v
    return [Figure("speed of the balls", sum(speed(b)[0] for b in balls) / 4, v, tolerance), Figure("speed of the plate", speed(plate)[0], 2 * v, 2 * tolerance)]


@scene(cases=[dict(e=e, cut=c) for e in (0.5, 1.0) for c in (0, 30, 60)])
def billiards(setup, e, cut):
    """A smooth ball struck at the cut angle a leaves along the line of centres with (1 + e) / 2 v cos a; with e = 1 both part at 90 degrees."""
    r, v, a, step = 0.05, 1.0, radians(cut), 1e-4
    model = setup.model(step, gravity=STILL)
    setup.surface(model, restitution=e)
    bulk = solfec.BULK_MATERIAL(model)
    # At contact the line of centres is inclined by a to the path along x.
    first = ball(model, bulk, (-2 * r * cos(a) - 0.01, -2 * r * sin(a), 0), r, velocity=(v, 0, 0))
    second = ball(model, bulk, (0, 0, 0), r)
    setup.run(model, 0.03)
    n = (cos(a), sin(a))
    struck = (1 + e) / 2 * v * cos(a)
    one, two = speed(first), speed(second)
    # Contact is found up to a step late or a margin early: the line of centres is off by about h v sin a / (2 r).
    late = 3 * step * v * max(sin(a), 0.01) / (2 * r) / max(cos(a), 0.3) + setup.accuracy
    figures = [
        Figure("struck, along the line of centres", two[0] * n[0] + two[1] * n[1], struck, late),
        Figure("struck, across", two[1] * n[0] - two[0] * n[1], 0.0, late),
        Figure("momentum along x", one[0] + two[0], v, 1e-9),
    ]
    if e == 1 and cut:
        figures.append(Figure("cosine between both", (one[0] * two[0] + one[1] * two[1]) / hypot(*one) / hypot(*two), 0.0, 3 * late))
    return figures


@scene()
def pool_break(setup):
    """Fifteen balls struck by a sixteenth with e = 1 and without friction keep momentum and energy."""
    r = 0.028
    model = setup.model(1e-4, gravity=STILL)
    setup.surface(model, restitution=1.0)
    bulk = solfec.BULK_MATERIAL(model)
    d = 2 * r + 1e-4
    balls = [ball(model, bulk, (i * d * sqrt(0.75), (j - i / 2) * d, 0), r) for i in range(5) for j in range(i + 1)]
    cue = ball(model, bulk, (-0.1, 0.003, 0), r, velocity=(5, 0, 0))
    before = 0.5 * cue.mass * 25
    setup.run(model, 0.05)
    energy = sum(0.5 * b.mass * sum(c * c for c in speed(b)) for b in [cue, *balls])
    momentum = [sum(speed(b)[k] for b in [cue, *balls]) for k in range(2)]
    return [
        Figure("energy over the first", energy / before, 1.0, 20 * setup.accuracy),
        Figure("momentum along x", momentum[0], 5.0, 1e-9),
        Figure("momentum along y", momentum[1], 0.0, 1e-9),
    ]


@scene(solvers=WITH_PENALTY)
def v_groove(setup):
    """A ball rests in a right-angled groove: each side carries m g / sqrt 2."""
    model = setup.model(1e-3)
    setup.surface(model, friction=0.3)
    bulk = solfec.BULK_MATERIAL(model)
    for s in (-1, 1):
        corners = [(0, 0), (s, 1), (s, -1), (0, -1)]
        solfec.BODY(model, "OBSTACLE", solfec.HULL([c for y in (-1, 1) for x, z in corners for c in (x, y, z)], 1, 1), bulk)
    r = 0.1
    body = ball(model, bulk, (0, 0, r * sqrt(2)), r)
    z = place(body)[2]
    setup.run(model, 0.5)
    forces = sorted(c.R[2] for c in model.constraints)
    expected = body.mass * G / sqrt(2)
    # Friction may carry part of the weight, which rigid bodies do not tell: m g / sqrt 2 is the most that a side gets, 1 / (1 + mu) of it the least.
    return [
        Figure("contacts", len(forces), 2, 0),
        Figure("sunk", z - place(body)[2], 0.0, 1e-4 if setup.penalty else 1e-5),
        holds("normal forces in their range", all(expected / 1.3 - 1 <= force <= 1.01 * expected for force in forces)),
    ]


@scene(cases=[dict(gap=1.5e-3), dict(gap=1e-4)])
def fly_by(setup, gap):
    """A ball that passes another at a distance, or a floor in parallel, keeps its velocity."""
    model = setup.model(1e-3, gravity=STILL)
    setup.surface(model, friction=0.5, restitution=0.5)
    bulk = solfec.BULK_MATERIAL(model)
    floor(model, bulk, size=2)
    r = 0.1
    body = ball(model, bulk, (-0.3, 0, r + gap), r, velocity=(3, 0, 0))
    other = ball(model, bulk, (0, 2 * r + gap, r + 2), r)
    passing = ball(model, bulk, (-0.3, 0, r + 2), r, velocity=(3, 0, 0))
    setup.run(model, 0.2)
    return [
        Figure("speed over the floor", speed(body)[0], 3.0, 1e-9),
        Figure("lifted", speed(body)[2], 0.0, 1e-9),
        Figure("speed past the other", speed(passing)[0], 3.0, 1e-9),
        Figure("speed of the other", hypot(*speed(other)), 0.0, 1e-9),
    ]


@scene(cases=[dict(tiles=1), dict(tiles=8)])
def over_tiles(setup, tiles):
    """A ball that rolls over flush tiles keeps its speed."""
    model = setup.model(1e-3)
    setup.surface(model, friction=0.5)
    bulk = solfec.BULK_MATERIAL(model)
    for k in range(tiles):
        solfec.BODY(model, "OBSTACLE", box((-0.1 + 0.8 * k / tiles, -1, -0.1), (-0.1 + 0.8 * (k + 1) / tiles, 1, 0)), bulk)
    r, v = 0.1, 1.0
    body = ball(model, bulk, (0, 0, r), r, velocity=(v, 0, 0), spin=(0, v / r, 0))
    setup.run(model, 0.5)
    return [Figure("speed", speed(body)[0], v, 1e-3 * v), Figure("height", place(body)[2], r, 2e-5)]


@scene()
def turned(setup):
    """A sphere on a sphere leaves it at the angle where cos a = 10 / 17 (rolling without slip)."""
    big, r, start = 1.0, 0.1, radians(5)
    step = 1e-3
    model = setup.model(step)
    setup.surface(model, friction=50.0)
    bulk = solfec.BULK_MATERIAL(model)
    solfec.BODY(model, "OBSTACLE", solfec.SPHERE((0, 0, 0), big, 1, 1), bulk)
    body = ball(model, bulk, ((big + r) * sin(start), 0, (big + r) * cos(start)), r)
    left = [0.0]

    def look():
        x, _, z = place(body)
        if any(c.R[2] > 0 for c in model.constraints):
            left[0] = z / hypot(x, z)

    setup.watch(model, 2.0, look)
    # m v^2 / (R + r) = m g cos a with 7 / 10 v^2 = g (R + r) (cos a0 - cos a).
    return [Figure("cosine of the angle", left[0], 10 / 17 * cos(start), 0.01)]
