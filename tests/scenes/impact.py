"""Impacts of bodies that do not slide: cradles, bounces, restitution."""

from __future__ import annotations

from math import sqrt

import solfec

from .frame import Figure, G, ball, floored, place, scene, speed

STILL = (0.0, 0.0, 0.0)


def row_of_impacts(speeds, gaps, e, end):
    """Speeds at the time `end` of equal bodies in a row that collide pair by pair: the approach v becomes the parting e v."""
    speeds, gaps, time = list(speeds), list(gaps), 0.0
    while True:
        meet = [(gaps[k] / (speeds[k] - speeds[k + 1]), k) for k in range(len(gaps)) if speeds[k] - speeds[k + 1] > 1e-9]
        if not meet or time + min(meet)[0] > end:
            return speeds
        passed, k = min(meet)
        time += passed
        gaps = [gap - passed * (speeds[i] - speeds[i + 1]) for i, gap in enumerate(gaps)]
        gaps[k] = 0.0
        a, b = speeds[k], speeds[k + 1]
        speeds[k], speeds[k + 1] = ((1 - e) * a + (1 + e) * b) / 2, ((1 + e) * a + (1 - e) * b) / 2


@scene(cases=[dict(e=e) for e in (0.0, 0.6, 1.0)])
def cradle(setup, e):
    """Five equal balls in a row, 5 mm apart: every pair collides by itself, so Newton's law holds pair by pair."""
    model = setup.model(1e-4, gravity=STILL)
    setup.surface(model, friction=0.3, restitution=e)
    bulk = solfec.BULK_MATERIAL(model, density=1000)
    gap, radius, end = 5e-3, 0.05, 0.045
    balls = [ball(model, bulk, (k * (2 * radius + gap), 0, 0), radius, velocity=(float(k == 0), 0, 0)) for k in range(5)]
    setup.run(model, end)
    # e = 0: balls gather, k of them move at 1 / k, and the fourth impact comes at 5 mm (1 + 2 + 3 + 4) / (1 m/s) = 0.05 s.
    speeds = [1 / 4] * 4 + [0.0] if e == 0 else row_of_impacts([1.0, 0, 0, 0, 0], [gap] * 4, e, end)
    return [Figure(f"speed of ball {k + 1}", speed(b)[0], speeds[k], setup.accuracy) for k, b in enumerate(balls)]


@scene(cases=[dict(e=e) for e in (0.0, 0.5, 1.0)])
def two_balls(setup, e):
    """Head-on: v1 = (1 - e) v / 2, v2 = (1 + e) v / 2."""
    model = setup.model(1e-3, gravity=STILL)
    setup.surface(model, restitution=e)
    bulk = solfec.BULK_MATERIAL(model)
    first, second = ball(model, bulk, (0, 0, 0), 0.1, velocity=(1, 0, 0)), ball(model, bulk, (0.21, 0, 0), 0.1)
    setup.run(model, 0.05)
    tolerance = setup.accuracy
    return [
        Figure("speed of the first", speed(first)[0], (1 - e) / 2, tolerance),
        Figure("speed of the second", speed(second)[0], (1 + e) / 2, tolerance),
    ]


@scene(cases=[dict(friction=mu, ratio=m) for mu in (0.0, 0.3) for m in (0.1, 1.0, 1000.0)])
def mass_ratio(setup, friction, ratio):
    """An elastic collision of spheres of masses 1 : ratio."""
    model = setup.model(1e-3, gravity=STILL)
    setup.surface(model, friction=friction, restitution=1.0)
    light, heavy = solfec.BULK_MATERIAL(model, density=1000), solfec.BULK_MATERIAL(model, density=1000 * ratio)
    first, second = ball(model, light, (0, 0, 0), 0.1, velocity=(1, 0, 0)), ball(model, heavy, (0.21, 0, 0), 0.1)
    setup.run(model, 0.05)
    return [
        Figure("speed of the first", speed(first)[0], (1 - ratio) / (1 + ratio), setup.accuracy),
        Figure("speed of the second", speed(second)[0], 2 / (1 + ratio), setup.accuracy),
    ]


@scene(cases=[dict(friction=mu) for mu in (0.0, 0.3)])
def bounces(setup, friction):
    """A ball with e = 0.8 dropped by 0.05 m: the second apex is at e^4 of the height, at the time t0 (1 + 2 e + e^2 ...)."""
    e, drop, radius, step = 0.8, 0.05, 0.1, 2e-4
    model, bulk = floored(setup, step, friction=friction, restitution=e)
    body = ball(model, bulk, (0, 0, radius + drop), radius)
    fall = sqrt(2 * drop / G)
    setup.run(model, fall * (1 + 2 * e + e**2))
    # Every impact is a step or so late or early, and 2 e g h off in its speed.
    return [Figure("height of the second apex", place(body)[2] - radius, e**4 * drop, 0.04 * e**4 * drop)]


@scene()
def bouncing_ends(setup):
    """A ball with e = 0.5 comes to rest after the time t0 (1 + e) / (1 - e)."""
    e, drop, radius, step = 0.5, 0.05, 0.1, 2e-4
    model, bulk = floored(setup, step, friction=0.2, restitution=e)
    body = ball(model, bulk, (0, 0, radius + drop), radius)
    end = sqrt(2 * drop / G) * (1 + e) / (1 - e)
    moving = [0.0]

    def look():
        if abs(speed(body)[2]) > 5 * G * step:
            moving[0] = model.time

    setup.watch(model, 1.3 * end, look)
    return [
        Figure("end of bouncing", moving[0], end, 0.03 * end),
        Figure("height at rest", place(body)[2] - radius, 0.0, 3e-4),
        Figure("speed at rest", abs(speed(body)[2]), 0.0, 3 * G * step),
    ]
