"""Pendulums, links, linkages, springs, prescribed motion and teeth that engage."""

from __future__ import annotations

from math import acos, asin, atan2, cos, exp, hypot, pi, radians, sin, sqrt

import solfec

from .frame import Figure, G, ball, box, holds, place, scene, speed

STILL = (0.0, 0.0, 0.0)


def complete(k):
    """Complete elliptic integral K of modulus k, by the arithmetic-geometric mean."""
    a, b = 1.0, sqrt(1 - k * k)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, sqrt(a * b)
    return pi / (2 * a)


def weigh(body, mass, centre, inertia):
    """Give a body its mass, centre and principal moments."""
    i, j, k = inertia
    solfec.BODY_CHARS(body, mass, 1e-3, tuple(centre), (i, 0, 0, 0, j, 0, 0, 0, k))


def crossing_period(setup, model, look, duration):
    """Period of an oscillation: mean distance of upward zeros of `look ()`, found linearly between steps."""
    times, last = [], [None, None]

    def watch():
        value = look()
        if last[1] is not None and last[1] < 0 <= value:
            times.append(last[0] + (model.time - last[0]) * -last[1] / (value - last[1]))
        last[0], last[1] = model.time, value

    setup.watch(model, duration, watch)
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else float("nan")


@scene(cases=[dict(swing=s) for s in (90, 10, 150)], slow=True)
def pendulum(setup, swing):
    """A ball on a rigid link swings with the period 4 sqrt (l / g) K (sin (a / 2))."""
    length, a = 1.0, radians(swing)
    model = setup.model(1e-3)
    bulk = solfec.BULK_MATERIAL(model)
    p = (length * sin(a), 0, -length * cos(a))
    body = ball(model, bulk, p, 0.05)
    solfec.PUT_RIGID_LINK(body, None, p, (0, 0, 0))
    period = 4 * sqrt(length / G) * complete(sin(a / 2))
    found = crossing_period(setup, model, lambda: place(body)[0], 3.2 * period)
    return [
        Figure("period", found, period, 1e-4 * period),
        Figure("length", hypot(*place(body)), length, 1e-6),
    ]


@scene(slow=True)
def compound_pendulum(setup):
    """A rod held at its end swings with the period of the length I / (m d)."""
    length, m, a = 1.0, 2.0, radians(30)
    model = setup.model(1e-3)
    bulk = solfec.BULK_MATERIAL(model)
    shape = solfec.ROTATE(box((-0.02, -0.02, -length), (0.02, 0.02, 0)), (0, 0, 0), (0, 1, 0), -30)
    body = solfec.BODY(model, "RIGID", shape, bulk)
    i = m * length**2 / 12
    weigh(body, m, (length / 2 * sin(a), 0, -length / 2 * cos(a)), (i, i, i))
    solfec.FIX_POINT(body, (0, 0, 0))
    equivalent = (i + m * length**2 / 4) / (m * length / 2)
    period = 4 * sqrt(equivalent / G) * complete(sin(a / 2))
    found = crossing_period(setup, model, lambda: place(body)[0], 3.2 * period)
    return [Figure("period", found, period, 1e-4 * period)]


@scene(slow=True)
def double_pendulum(setup):
    """Two rods in a chain keep their energy and lengths while they tumble."""
    length = 0.5
    model = setup.model(1e-3)
    bulk = solfec.BULK_MATERIAL(model)
    rods = [solfec.BODY(model, "RIGID", box((k * length, -0.02, -0.02), ((k + 1) * length, 0.02, 0.02)), bulk) for k in range(2)]
    solfec.CONTACT_EXCLUDE_BODIES(*rods)
    for rod in rods:
        rod.scheme = "RIG_IMP"
    solfec.FIX_POINT(rods[0], (0, 0, 0))
    solfec.PUT_RIGID_LINK(rods[0], rods[1], (length, 0, 0), (length, 0, 0))
    lowest = [0.0]

    def look():
        lowest[0] = max(lowest[0], solfec.ENERGY(model)[0])

    setup.watch(model, 2.0, look)
    e = solfec.ENERGY(model)
    work = -sum(rod.mass * G * place(rod)[2] for rod in rods)
    return [Figure("kinetic energy over the work of weights", e[0] / work, 1.0, 2e-3), holds("it falls", lowest[0] > 1)]


def triple_pendulum_places(masses, length, angles, end):
    """Places (3, 2) of three points on massless rods at a time, let go at angles from the vertical: Lagrange's equations, to 1E-11."""
    import numpy as np
    from scipy.integrate import solve_ivp

    hung = np.array([[sum(masses[max(i, j) :]) for j in range(3)] for i in range(3)])  # mass below both joints

    def rates(_, state):
        a, w = state[:3], state[3:]
        apart = a[:, None] - a[None, :]
        right = -length * (hung * np.sin(apart)) @ w**2 - G * hung.diagonal() * np.sin(a)
        return np.concatenate([w, np.linalg.solve(length * hung * np.cos(apart), right)])

    a = solve_ivp(rates, (0, end), [*angles, 0, 0, 0], method="DOP853", rtol=1e-12, atol=1e-12).y[:3, -1]
    return np.cumsum(length * np.stack([np.sin(a), -np.cos(a)], axis=1), axis=0)


@scene(slow=True)
def three_bodies(setup):
    """Three unequal weights on rods in a chain, let go at 60, 100 and 20 degrees, are where Lagrange's equations put them; second order."""
    length, radii, angles, end = 0.4, (0.05, 0.04, 0.06), [radians(a) for a in (60, 100, 20)], 0.8
    errors = []
    for step in (1e-3, 5e-4):
        model = setup.model(step, strict=True)
        bulk = solfec.BULK_MATERIAL(model)
        points, bodies = [(0.0, 0.0, 0.0)], []
        for radius, a in zip(radii, angles):
            x, y, z = points[-1]
            points.append((x + length * sin(a), y, z - length * cos(a)))
            bodies.append(ball(model, bulk, points[-1], radius))
        solfec.PUT_RIGID_LINK(bodies[0], None, points[1], points[0])
        for k in range(2):
            solfec.PUT_RIGID_LINK(bodies[k], bodies[k + 1], points[k + 1], points[k + 2])
        setup.run(model, end)
        there = triple_pendulum_places([body.mass for body in bodies], length, angles, end)
        errors.append(max(hypot(place(body)[0] - x, place(body)[2] - z) for body, (x, z) in zip(bodies, there)))
    return [
        Figure("distance from theory", errors[0], 0.0, 1e-3 * length),
        Figure("the same at half of the step, over it", errors[1] / errors[0], 0.25, 0.05),
    ]


@scene(cases=[dict(n=10), dict(n=60)], slow=True)
def chain(setup, n):
    """A chain of pinned links let go level: its energy is kept and its joints stay together."""
    link, end = 0.1, 0.8
    model = setup.model(1e-3)
    bulk = solfec.BULK_MATERIAL(model)
    bodies = [solfec.BODY(model, "RIGID", box((k * link, -0.01, -0.01), ((k + 1) * link, 0.01, 0.01)), bulk) for k in range(n)]
    for one, two in zip(bodies, bodies[1:]):
        solfec.CONTACT_EXCLUDE_BODIES(one, two)
    for body in bodies:
        body.scheme = "RIG_IMP"
    solfec.FIX_POINT(bodies[0], (0, 0, 0))
    for k in range(1, n):
        p = (k * link, 0, 0)
        solfec.PUT_RIGID_LINK(bodies[k - 1], bodies[k], p, p)
    setup.run(model, end)
    work = -sum(b.mass * G * place(b)[2] for b in bodies)

    def at(body, k):
        d = solfec.DISPLACEMENT(body, (k * link, 0, 0))
        return (k * link + d[0], d[1], d[2])

    gap = max(hypot(*(a - b for a, b in zip(at(bodies[k - 1], k), at(bodies[k], k)))) for k in range(1, n))
    return [
        Figure("kinetic energy over the work of weights", solfec.ENERGY(model)[0] / work, 1.0, 1e-3),
        Figure("largest distance in a joint", gap, 0.0, 2e-4),
    ]


@scene()
def four_bar(setup):
    """A four-bar linkage whose crank turns at a steady rate: angle of the rocker by Freudenstein's geometry."""
    crank, coupler, rocker, ground, w, end = 0.2, 0.5, 0.4, 0.5, 4.0, 1.5
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)

    def knee(angle):
        a = (crank * cos(angle), crank * sin(angle))
        d = hypot(ground - a[0], a[1])
        turn = acos((coupler**2 + d**2 - rocker**2) / (2 * coupler * d))
        base = asin(-a[1] / d)
        b = (a[0] + coupler * cos(base + turn), a[1] + coupler * sin(base + turn))
        return a, b

    start = radians(90)
    a, b = knee(start)
    balls = {}
    for name, p in (("a", a), ("b", b)):
        balls[name] = ball(model, bulk, (p[0], 0, p[1]), 0.02)
        solfec.FIX_DIRECTION(balls[name], (p[0], 0, p[1]), (0, 1, 0))
    pa, pb = (a[0], 0, a[1]), (b[0], 0, b[1])
    solfec.PUT_RIGID_LINK(balls["a"], balls["b"], pa, pb)
    solfec.PUT_RIGID_LINK(balls["b"], None, pb, (ground, 0, 0))
    # The crank's pin goes round its circle: both components of its velocity are prescribed.
    times = [k * 1e-3 for k in range(1600)]
    vx = [c for t in times for c in (t, -crank * w * sin(start + w * t))]
    vz = [c for t in times for c in (t, crank * w * cos(start + w * t))]
    solfec.SET_VELOCITY(balls["a"], pa, (1, 0, 0), solfec.TIME_SERIES(vx))
    solfec.SET_VELOCITY(balls["a"], pa, (0, 0, 1), solfec.TIME_SERIES(vz))
    setup.run(model, end)
    a, b = knee(start + w * end)
    now = place(balls["b"])
    return [Figure("x of the knee", now[0], b[0], 2e-3), Figure("z of the knee", now[2], b[1], 2e-3)]


@scene()
def slider_crank(setup):
    """A driven crank moves a piston: x = r cos + sqrt (l^2 - r^2 sin^2)."""
    r, l, w, end = 0.2, 0.6, 5.0, 1.0
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    pin = ball(model, bulk, (r, 0, 0), 0.02, velocity=(0, 0, w * r))
    piston = ball(model, bulk, (r + l, 0, 0), 0.05)
    times = [k * 1e-3 for k in range(1100)]
    solfec.FIX_DIRECTION(pin, (r, 0, 0), (0, 1, 0))
    solfec.SET_VELOCITY(pin, (r, 0, 0), (1, 0, 0), solfec.TIME_SERIES([c for t in times for c in (t, -r * w * sin(w * t))]))
    solfec.SET_VELOCITY(pin, (r, 0, 0), (0, 0, 1), solfec.TIME_SERIES([c for t in times for c in (t, r * w * cos(w * t))]))
    for d in ((0, 1, 0), (0, 0, 1)):
        solfec.FIX_DIRECTION(piston, (r + l, 0, 0), d)
    solfec.PUT_RIGID_LINK(pin, piston, (r, 0, 0), (r + l, 0, 0))
    setup.run(model, end)
    return [Figure("place of the piston", place(piston)[0], r * cos(w * end) + sqrt(l**2 - r**2 * sin(w * end) ** 2), 2e-3)]


@scene(cases=[dict(kind=k) for k in ("FIX_POINT", "FIX_DIRECTION", "PUT_RIGID_LINK", "COUPLING")])
def caught(setup, kind):
    """A joint put on a moving ball stops it in the joint's directions at once."""
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = ball(model, bulk, (0, 0, 0), 0.1, velocity=(5, 3, 0))
    expected = (0, 0, 0)
    if kind == "FIX_POINT":
        solfec.FIX_POINT(body, (0, 0, 0))
    elif kind == "FIX_DIRECTION":
        solfec.FIX_DIRECTION(body, (0, 0, 0), (1, 0, 0))
        expected = (0, 3, 0)
    elif kind == "PUT_RIGID_LINK":
        solfec.PUT_RIGID_LINK(body, None, (0, 0, 0), (-1, 0, 0))
        expected = None
    else:
        other = ball(model, bulk, (0, 0, 0), 0.1)
        solfec.CONTACT_EXCLUDE_BODIES(body, other)
        solfec.PUT_RIGID_LINK(body, other, (0, 0, 0), (0, 0, 0))
        expected = (2.5, 1.5, 0)
    seen = []
    setup.watch(model, 0.02, lambda: seen.append(speed(body)))
    if expected is None:
        # The ball goes round: its speed along the link is 0, and the speed across stays 3.
        x, y, _ = place(body)
        vx, vy, _ = speed(body)
        return [Figure("speed along the link", (vx * (x + 1) + vy * y), 0.0, 0.02), Figure("speed", hypot(vx, vy), 3.0, 0.02)]
    return [Figure(f"v{'xyz'[i]} {'first' if k == 0 else 'later'}", seen[k][i], expected[i], 1e-3) for k in (0, -1) for i in range(2)]


@scene()
def pinned_bar(setup):
    """A bar that spins about its middle is caught at its end: angular momentum about the end is kept, w' = w / 4."""
    length, w = 1.0, 6.0
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = solfec.BODY(model, "RIGID", box((0, -0.005, -0.005), (length, 0.005, 0.005)), bulk)
    solfec.INITIAL_VELOCITY(body, (0, 0, 0), (0, 0, w))
    solfec.FIX_POINT(body, (0, 0, 0))
    seen = []
    setup.watch(model, 0.05, lambda: seen.append(body.velo[2]))
    return [Figure("spin in the first step", seen[0], w / 4, 0.01), Figure("spin later", seen[-1], w / 4, 0.01)]


@scene(cases=[dict(ratio=0.95), dict(ratio=1.05)])
def broken_link(setup, ratio):
    """A link that hangs a weight breaks beyond its strength."""
    model = setup.model(1e-3)
    bulk = solfec.BULK_MATERIAL(model)
    body = ball(model, bulk, (0, 0, 0), 0.1)
    solfec.PUT_RIGID_LINK(body, None, (0, 0, 0), (0, 0, 1), body.mass * G / ratio)
    setup.run(model, 0.2)
    return [holds("falls", place(body)[2] < -0.01, ratio > 1)]


def sprung(setup, step, m, k, a, **members):
    """A model, and in it a ball of mass m at x = 1 on a spring of stiffness k, which is relaxed at the stroke -a, where x = 1 - a."""
    model = setup.model(step, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = ball(model, bulk, (1, 0, 0), 0.05)
    weigh(body, m, (1, 0, 0), (1e-3, 1e-3, 1e-3))
    post = solfec.BODY(model, "OBSTACLE", solfec.SPHERE((0, 0, 0), 0.05, 1, 1), bulk)
    solfec.FIX_POINT(post, (0, 0, 0))
    solfec.PUT_SPRING(body, (1, 0, 0), post, (0, 0, 0), [-1, k * (1 - a), 1, -k * (1 + a)], (-1, 1), direction=(1, 0, 0), **members)
    return model, body


@scene(cases=[dict(law=law) for law in ("EXPLICIT", "IMPLICIT")], slow=True)
def spring(setup, law):
    """A ball on a spring swings with the period 2 pi sqrt (m / k) and keeps its energy."""
    m, k, a = 1.0, 400.0, 0.1
    model, body = sprung(setup, 1e-3, m, k, a, law=law)
    period = 2 * pi * sqrt(m / k)
    reach = [0.0]

    def look():
        reach[0] = max(reach[0], abs(place(body)[0] - (1 - a))) if model.time > 5 * period else 0.0
        return place(body)[0] - (1 - a)

    found = crossing_period(setup, model, look, 6.2 * period)
    return [Figure("period", found, period, 1e-3 * period), Figure("amplitude", reach[0], a, 0.01 * a)]


@scene(slow=True)
def dashpot(setup):
    """A damped ball on a spring: successive amplitudes are exp (pi zeta / sqrt (1 - zeta^2)) apart."""
    m, k, a, zeta = 1.0, 400.0, 0.1, 0.1
    d = 2 * zeta * sqrt(k * m)
    model, body = sprung(setup, 5e-4, m, k, a, dashpot=d, law="IMPLICIT")
    w = sqrt(k / m * (1 - zeta**2))
    tops, last = [], [0.0, 0.0]

    def look():
        x = place(body)[0] - (1 - a)
        if last[0] < last[1] >= x:
            tops.append(last[1])
        last[0], last[1] = last[1], x

    setup.watch(model, 4.3 * 2 * pi / w, look)
    ratio = (tops[0] / tops[2]) ** 0.5 if len(tops) > 2 else float("nan")
    return [Figure("ratio of two tops", ratio, exp(2 * pi * zeta / sqrt(1 - zeta**2)), 0.01)]


@scene()
def driven(setup):
    """A prescribed motion x = a sin (w t) is followed."""
    a, w, end = 0.1, 10.0, 1.0
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = ball(model, bulk, (0, 0, 0), 0.1)
    times = [k * 1e-3 for k in range(1100)]
    solfec.SET_DISPLACEMENT(body, (0, 0, 0), (1, 0, 0), solfec.TIME_SERIES([c for t in times for c in (t, a * sin(w * t))]))
    setup.run(model, end)
    return [Figure("place", place(body)[0], a * sin(w * end), 2 * a * w * 1e-3)]


@scene()
def atwood(setup):
    """Two weights on the ends of a light level beam: a = g (M - m) l^2 / ((M + m) l^2 + I) at first."""
    big, small, l = 2.0, 1.0, 0.5
    model = setup.model(1e-4)
    bulk = solfec.BULK_MATERIAL(model)
    beam = solfec.BODY(model, "RIGID", box((-l, -0.01, -0.01), (l, 0.01, 0.01)), bulk)
    i = 0.01
    weigh(beam, 0.1, (0, 0, 0), (i, i, i))
    solfec.FIX_POINT(beam, (0, 0, 0))
    loads = []
    for x, m in ((l, big), (-l, small)):
        body = ball(model, bulk, (x, 0, -0.5), 0.05)
        weigh(body, m, (x, 0, -0.5), (1e-3, 1e-3, 1e-3))
        solfec.PUT_RIGID_LINK(body, beam, (x, 0, -0.5), (x, 0, 0))
        loads.append(body)
    setup.run(model, 0.02)
    a = G * (big - small) * l**2 / ((big + small) * l**2 + i)
    return [Figure("acceleration", -speed(loads[0])[2] / model.time, a, 1e-3 * a)]


@scene(cases=[dict(ratio=1.0), dict(ratio=2.0)], slow=True)
def gears(setup, ratio):
    """Two gears with straight teeth: on average the second turns with the ratio of the numbers of teeth, the other way round."""
    teeth, m = 12, 0.02
    other = int(teeth * ratio)
    model = setup.model(5e-4, gravity=STILL)
    setup.surface(model, friction=0.1)
    bulk = solfec.BULK_MATERIAL(model)
    r, R = teeth * m / 2, other * m / 2

    def gear(centre, radius, count, phase):
        """Trapezoidal teeth on a hub; the tooth's width on the pitch circle is a little less than half of the pitch."""
        parts = [wheel(centre, radius - 1.1 * m, count)]
        for k in range(count):
            a = phase + 2 * pi * k / count
            corners = []
            for rr, w in ((radius - 1.2 * m, 0.95), (radius + 0.9 * m, 0.35)):
                for s in (-1, 1):
                    x, z = rr, s * w * pi * m / 4
                    corners.append((centre[0] + x * cos(a) - z * sin(a), centre[1] + x * sin(a) + z * cos(a)))
            parts.append(solfec.HULL([c for y in (-0.02, 0.02) for x, z in corners for c in (x, y, z)], 1, 1))
        return parts

    def wheel(centre, radius, count):
        points = [(centre[0] + radius * cos(2 * pi * k / count), centre[1] + radius * sin(2 * pi * k / count)) for k in range(count)]
        return solfec.HULL([c for y in (-0.02, 0.02) for x, z in points for c in (x, y, z)], 1, 1)

    first = solfec.BODY(model, "OBSTACLE", gear((0, 0), r, teeth, 0.0), bulk)
    second = solfec.BODY(model, "RIGID", gear((r + R, 0), R, other, pi + pi / other), bulk)
    w = 2.0
    solfec.INITIAL_VELOCITY(first, (0, 0, 0), (0, w, 0))
    weigh(second, 1.0, (r + R, 0, 0), (5e-3, 5e-3, 5e-3))
    for y in (-0.02, 0.02):
        solfec.FIX_POINT(second, (r + R, y, 0))
    angle, last = [0.0], [model.time]

    def look():
        angle[0] += second.velo[1] * (model.time - last[0])
        last[0] = model.time

    setup.watch(model, 2.0, look)
    expected = -w * teeth / other * model.time
    pitch = 2 * pi / other
    return [Figure("angle", angle[0], expected, 0.3 * pitch)]


@scene(cases=[dict(spin=s) for s in (100.0, 200.0)], slow=True)
def heavy_top(setup, spin):
    """A fast top precesses steadily with m g l / (I w) when started so."""
    m, l, i, along = 1.0, 0.1, 4e-3, 2e-3
    model = setup.model(1e-4)
    bulk = solfec.BULK_MATERIAL(model)
    body = solfec.BODY(model, "RIGID", box((0, -0.02, -0.02), (0.2, 0.02, 0.02)), bulk)
    weigh(body, m, (l, 0, 0), (along, i, i))
    solfec.FIX_POINT(body, (0, 0, 0))
    # Level axis: steady precession p = m g l / (along * spin) exactly.
    p = m * G * l / (along * spin)
    solfec.INITIAL_VELOCITY(body, (0, p * l, 0), (spin, 0, p))
    setup.run(model, 0.5)
    x, y, z = place(body)
    return [Figure("angle of precession", atan2(y, x), p * model.time, 0.005 * p * model.time), Figure("level", z, 0.0, 2e-4)]
