"""A body without rotation that slides along curved tracks of flat tiles."""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

import solfec

from .frame import Figure, G, Limit, place, scene

EDGES = "averaged contacts lean at the edges of the next tile"


def track(model, bulk, points, width=0.05, depth=0.05):
    """Obstacles whose tops join points (x, z) of a curve that is run from left to right, without gaps below."""
    for (x, z), (X, Z) in zip(points, points[1:]):
        low = min(z, Z) - depth
        corners = [c for y in (-width, width) for c in (x, y, z, X, y, Z, x, y, low, X, y, low)]
        solfec.BODY(model, "OBSTACLE", solfec.HULL(corners, 1, 1), bulk)


def slider(model, bulk, x, z, slope, r):
    """A ball that may not turn, on the track at (x, z)."""
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((x - r * sin(slope), 0, z + r * cos(slope)), r, 1, 1), bulk)
    body.disable_rotation = "ON"
    return body


@scene(cases=[dict(start=s) for s in (0.4 * pi, 0.7 * pi)])
def tautochrone(setup, start):
    """From wherever on a cycloid it starts, a smooth body needs pi sqrt (a / g) to the bottom (Huygens)."""
    a, r, n = 0.25, 0.001, 400
    model = setup.model(2e-4)
    setup.surface(model, friction=0.0)
    bulk = solfec.BULK_MATERIAL(model)
    track(model, bulk, [(a * (t - sin(t)), a * (1 + cos(t))) for t in (0.2 + (2 * pi - 0.4) * k / n for k in range(n + 1))])
    t = start
    body = slider(model, bulk, a * (t - sin(t)), a * (1 + cos(t)), atan2(-sin(t), 1 - cos(t)), r)
    passed = []

    def look():
        x = place(body)[0]
        if x > pi * a:
            passed.append(model.time)
        return not passed

    expected = pi * sqrt(a / G)
    setup.watch(model, 2 * expected, look)
    # every seam takes the part of the speed that points into the next tile
    edges = {"CLASSIC": Limit(0.512, 0.008, EDGES)}
    return [Figure("time to the bottom", passed[0], expected, 2e-3 * expected, edges)]


@scene()
def friction_pendulum(setup):
    """In a dish of radius R a body swings with the period 2 pi sqrt (R / g) and loses 2 mu R of its amplitude in every half swing."""
    radius, r, mu, n, amplitude = 1.0, 0.002, 0.004, 200, 0.1
    model = setup.model(5e-4)
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model)
    track(model, bulk, [(radius * sin(t), radius * (1 - cos(t))) for t in (0.24 * k / n - 0.12 for k in range(n + 1))])
    t = -amplitude
    body = slider(model, bulk, radius * sin(t), radius * (1 - cos(t)), t, r)
    turns, direction = [], [1.0]

    def look():
        if body.velo[3] * direction[0] < 0:
            turns.append((model.time, place(body)[0]))
            direction[0] *= -1
        return len(turns) < 3

    half = pi * sqrt((radius - r) / G)
    setup.watch(model, 4 * half, look)
    times, places = zip(*turns)
    figures = [Figure("half period", times[1] - times[0], half, 3e-3 * half, {"CLASSIC": Limit(1.003, 0.006, EDGES)})]
    for n, (x, slow) in enumerate(zip(places, (0.086, 0.074, 0.062)), 1):
        edges = {"CLASSIC": Limit(slow, 0.003, EDGES)}
        figures.append(Figure(f"turn {n}", abs(x), amplitude - 2 * n * mu * radius, 1e-3, edges))
    return figures
