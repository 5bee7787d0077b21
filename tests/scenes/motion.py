"""Free motion of bodies: flight, spin, tumbling."""

from __future__ import annotations

from math import acos, cos, hypot, pi, radians, sin, sqrt

import solfec

from .frame import Figure, G, ball, box, place, scene, speed
from .joints import complete, weigh

STILL = (0.0, 0.0, 0.0)
FREE = ("AUTO",)  # no constraint acts


@scene(solvers=FREE)
def projectile(setup):
    """A parabola, exactly."""
    model = setup.model(1e-3)
    bulk = solfec.BULK_MATERIAL(model)
    body = ball(model, bulk, (0, 0, 0), 0.1, velocity=(3, 0, 5), spin=(1, 2, 3))
    setup.run(model, 1.0)
    return [Figure("x", place(body)[0], 3.0, 1e-9), Figure("z", place(body)[2], 5 - G / 2, 1e-9)]


@scene(solvers=FREE, cases=[dict(scheme=s) for s in ("RIG_NEG", "RIG_IMP")], slow=True)
def tumbling(setup, scheme):
    """A box spun about its middle axis tumbles with the period of Jacobi's elliptic functions (Dzhanibekov)."""
    i = (1.0, 2.0, 3.0)
    w, kick = 5.0, 0.05
    model = setup.model(5e-4, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = solfec.BODY(model, "RIGID", box((-0.1, -0.2, -0.3), (0.1, 0.2, 0.3)), bulk)
    weigh(body, 1.0, (0, 0, 0), i)
    body.scheme = scheme
    solfec.INITIAL_VELOCITY(body, (0, 0, 0), (kick, w, kick))
    energy = sum(a * b * b for a, b in zip(i, (kick, w, kick)))  # twice the energy
    momentum = sum((a * b) ** 2 for a, b in zip(i, (kick, w, kick)))
    # Landau and Lifshitz, section 37, with L^2 above or below 2 E I2.
    one, two, three = i
    if momentum > energy * two:
        rate = (three - two) * (momentum - energy * one) / (one * two * three)
        k2 = (two - one) * (energy * three - momentum) / ((three - two) * (momentum - energy * one))
    else:
        rate = (two - one) * (energy * three - momentum) / (one * two * three)
        k2 = (three - two) * (momentum - energy * one) / ((two - one) * (energy * three - momentum))
    period = 4 * complete(sqrt(k2)) / sqrt(rate)
    # w2 has the period 4 K: it passes zero upwards once in it.
    times, last = [], [0.0]

    def look():
        if last[0] < 0 <= body.velo[1]:
            times.append(model.time)
        last[0] = body.velo[1]

    setup.watch(model, 2.1 * period, look)
    now = body.velo[:3]
    return [
        Figure("period", times[1] - times[0] if len(times) > 1 else 0.0, period, 2e-3 * period),
        Figure("angular momentum", sqrt(sum((a * b) ** 2 for a, b in zip(i, now))), sqrt(momentum), 1e-6 * sqrt(momentum)),
        Figure("energy", sum(a * b * b for a, b in zip(i, now)), energy, 1e-4 * energy),
    ]


@scene(solvers=FREE)
def coin(setup):
    """A thrown disc wobbles: its axis goes round its angular momentum with L / I, which for a flat disc is near twice its spin."""
    flat, across = 2.0, 1.0
    spin, tilt = 20.0, 2.0
    model = setup.model(1e-4, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = solfec.BODY(model, "RIGID", solfec.ELLIP((0, 0, 0), (0.2, 0.2, 0.02), 1, 1), bulk)
    weigh(body, 1.0, (0, 0, 0), (across, across, flat))
    solfec.INITIAL_VELOCITY(body, (0, 0, 0), (tilt, 0, spin))
    momentum = hypot(across * tilt, flat * spin)
    axis = (across * tilt / momentum, 0.0, flat * spin / momentum)
    wobble = 2 * pi * across / momentum
    setup.run(model, 3 * wobble)  # the axis of the disc is back where it was
    e = body.conf[6:9]
    cone = acos(sum(a * b for a, b in zip(e, axis)))
    return [
        Figure("angle of the cone", cone, acos(axis[2]), 1e-4),
        Figure("axis back, x", e[0], 0.0, 2e-3),
        Figure("axis back, y", e[1], 0.0, 2e-3),
    ]


@scene(solvers=FREE)
def spring_orbit(setup):
    """A force towards a centre that grows with the distance makes an ellipse round that centre."""
    k, m, a, v = 25.0, 1.0, 1.0, 2.0
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = ball(model, bulk, (a, 0, 0), 0.05, velocity=(0, v, 0))
    weigh(body, m, (a, 0, 0), (1e-3, 1e-3, 1e-3))

    def pull(q, u, t, h):
        return [-k * c for c in q[9:12]], (0, 0, 0), (0, 0, 0)

    solfec.FORCE(body, "SPATIAL", (0, 0, 0), (1, 0, 0), pull)
    w, end = sqrt(k / m), 1.0
    setup.run(model, end)
    return [Figure("x", place(body)[0], a * cos(w * end), 1e-4), Figure("y", place(body)[1], v / w * sin(w * end), 1e-4)]


@scene(solvers=FREE, cases=[dict(angle=a) for a in (30, 75)])
def torque(setup, angle):
    """A torque about a principal axis: angle = T t^2 / (2 I)."""
    i, t = 0.5, 1.0
    load = 2 * i * radians(angle) / t**2
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model)
    body = ball(model, bulk, (0, 0, 0), 0.1)
    weigh(body, 1.0, (0, 0, 0), (i, i, i))
    solfec.TORQUE(body, "SPATIAL", (0, 0, 1), load)
    setup.run(model, t)
    return [Figure("spin", body.velo[2], load * t / i, 1e-9), Figure("sine of the angle", body.conf[1], sin(radians(angle)), 1e-6), Figure("speed", hypot(*speed(body)), 0.0, 1e-12)]
