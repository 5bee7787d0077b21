"""Dry friction: inclines, braking, belts, turntables, ladders, wedges and ropes."""

from __future__ import annotations

from math import atan, cos, degrees, hypot, pi, radians, sin, sqrt, tan

import solfec

from .frame import WITH_PENALTY, Defect, Figure, G, Limit, box, centred, floor, floored, holds, place, scene, slope, speed

HINGE = "one averaged contact point per pair is a hinge"


def inclined(model, material, angle, sizes, surface=1, size=3.0):
    """Floor and block turned about y by an angle, downhill along x; the block, which stands in the middle."""
    ground = solfec.ROTATE(box((-size, -size, -1), (size, size, 0)), (0, 0, 0), (0, 1, 0), degrees(angle))
    solfec.BODY(model, "OBSTACLE", ground, material)
    shape = centred((0, 0, sizes[2] / 2), sizes, surface)
    return solfec.BODY(model, "RIGID", solfec.ROTATE(shape, (0, 0, 0), (0, 1, 0), degrees(angle)), material)


def downhill(body, start, angle):
    """Distance gone along an incline."""
    now = place(body)
    return (now[0] - start[0]) * cos(angle) - (now[2] - start[2]) * sin(angle)


@scene(cases=[dict(ratio=0.99), dict(ratio=1.01)])
def incline(setup, ratio):
    """Friction of 0.99 tan a lets a block slide with g (sin a - mu cos a), 1.01 tan a holds it."""
    angle, end = radians(20), 0.5
    model = setup.model(1e-3)
    setup.surface(model, friction=ratio * tan(angle))
    body = inclined(model, solfec.BULK_MATERIAL(model), angle, (0.4, 0.4, 0.2))
    start = place(body)
    setup.run(model, end)
    way = 0.5 * G * max(0.0, sin(angle) - ratio * tan(angle) * cos(angle)) * end**2
    # 2e-5 m is half a per cent of the way.
    limit = {"CLASSIC": Limit(way, 1.2e-3, HINGE + ": the block nods, and creeps by up to a millimetre")}
    return [Figure("way", downhill(body, start, angle), way, 2e-5, limit)]


@scene(cases=[dict(slope=0.325), dict(slope=0.345)])
def tipping(setup, slope):
    """A block three times as high as wide tips on a slope of more than 1 / 3."""
    angle = atan(slope)
    model = setup.model(1e-3)
    setup.surface(model, friction=1.0)
    body = inclined(model, solfec.BULK_MATERIAL(model), angle, (0.1, 0.1, 0.3))
    setup.run(model, 1.0)
    turned = degrees(atan(abs(body.conf[6] / body.conf[8])) if body.conf[8] > 0 else pi / 2)
    limit = {"CLASSIC": Limit(1, 0, HINGE + ": it tips at 0.32")} if slope < 1 / 3 else {}
    return [holds("tips", turned > 5, slope > 1 / 3, limit)]


@scene(
    cases=[dict(tiles=1), dict(tiles=10)],
    defects=[Defect("the merit of 1E-8 lets averaged points at seams tip the block; NEWTON_SOLVER(1E-14) is right", options="CLASSIC", solver="NEWTON", case=dict(tiles=10))],
)
def braking(setup, tiles):
    """A sliding block stops after v^2 / (2 mu g) and v / (mu g), also where the ground is made of flush tiles."""
    mu, v, length = 0.3, 1.0, 0.1
    model = setup.model(5e-4)
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model)
    ends = [-0.15 + 0.9 * k / tiles for k in range(tiles + 1)]
    for a, b in zip(ends, ends[1:]):
        solfec.BODY(model, "OBSTACLE", box((a, -0.5, -0.1), (b, 0.5, 0)), bulk)
    body = solfec.BODY(model, "RIGID", centred((0, 0, 0.02), (length, 0.06, 0.04)), bulk)
    solfec.INITIAL_VELOCITY(body, (v, 0, 0), (0, 0, 0))
    way = v**2 / (2 * mu * G)
    setup.run(model, v / (mu * G) + 0.05)
    return [Figure("way", place(body)[0], way, 0.01 * way), Figure("speed at the end", hypot(*speed(body)), 0.0, 3e-3)]


@scene(solvers=WITH_PENALTY)
def direction(setup):
    """Friction acts against the velocity, whatever its direction in the plane: the path is straight."""
    mu, v, angle = 0.3, 1.0, radians(30)
    model, bulk = floored(setup, 1e-3, friction=mu)
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, 0.05), 0.05, 1, 1), bulk)
    body.disable_rotation = "ON"
    solfec.INITIAL_VELOCITY(body, (v * cos(angle), v * sin(angle), 0), (0, 0, 0))
    setup.run(model, 0.2)
    left = v - mu * G * 0.2
    return [
        Figure("vx", speed(body)[0], left * cos(angle), 2e-3),
        Figure("vy", speed(body)[1], left * sin(angle), 2e-3),
    ]


@scene()
def spinning_table(setup):
    """A table on four ball feet spins down with the torque mu m g R, R the distance of the feet from the axis."""
    mu, spin, mass, half, end = 0.2, 4.0, 2.0, 0.2, 0.2
    inertia = mass * half**2
    model, bulk = floored(setup, 1e-3, friction=mu)
    feet = [solfec.SPHERE((x, y, 0.02), 0.02, 1, 1) for x in (-half, half) for y in (-half, half)]
    table = solfec.BODY(model, "RIGID", feet, bulk)
    solfec.BODY_CHARS(table, mass, 1e-3, (0, 0, 0.05), (inertia / 2, 0, 0, 0, inertia / 2, 0, 0, 0, inertia))
    solfec.INITIAL_VELOCITY(table, (0, 0, 0), (0, 0, spin))
    setup.run(model, end)
    slower = mu * mass * G * sqrt(2) * half / inertia
    return [
        Figure("spin", table.velo[2], spin - slower * end, 2e-3 * spin),
        Figure("drift", hypot(*speed(table)), 0.0, 1e-3),
    ]


@scene()
def spinning_plate(setup):
    """A flush square plate, which rests on its corners, spins down with the torque mu m g a / sqrt 2."""
    mu, spin, side, end = 0.2, 4.0, 0.2, 0.2
    model, bulk = floored(setup, 1e-3, friction=mu)
    plate = solfec.BODY(model, "RIGID", centred((0, 0, 0.01), (side, side, 0.02)), bulk)
    solfec.INITIAL_VELOCITY(plate, (0, 0, 0), (0, 0, spin))
    setup.run(model, end)
    # Rigid bodies do not tell how pressure is distributed; four corners are the points of a patch.
    slower = mu * plate.mass * G * side / sqrt(2) / (plate.mass * side**2 / 6)
    limit = {"CLASSIC": Limit(spin, 0.05, "one averaged point has no drilling friction")}
    return [Figure("spin", plate.velo[2], max(0, spin - slower * end), 0.01 * spin, limit)]


@scene()
def conveyor(setup):
    """A block put on a belt that moves at v takes its speed after v / (mu g) and lags v^2 / (2 mu g)."""
    mu, v, end = 0.4, 1.0, 0.5
    model = setup.model(1e-3)
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model)
    belt = floor(model, bulk)
    solfec.INITIAL_VELOCITY(belt, (v, 0, 0), (0, 0, 0))
    body = solfec.BODY(model, "RIGID", centred((0, 0, 0.02), (0.2, 0.2, 0.04)), bulk)
    setup.run(model, end)
    way = v * end - v**2 / (2 * mu * G)
    return [Figure("speed", speed(body)[0], v, 2e-3), Figure("way", place(body)[0], way, 3e-3)]


@scene(cases=[dict(ratio=0.98), dict(ratio=1.02)])
def turntable(setup, ratio):
    """A block on a turntable stays while w^2 r < mu g."""
    mu, radius = 0.4, 0.5
    spin = sqrt(ratio * mu * G / radius)
    model = setup.model(1e-3)
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model)
    table = floor(model, bulk, size=1.0)
    solfec.INITIAL_VELOCITY(table, (0, 0, 0), (0, 0, spin))
    body = solfec.BODY(model, "RIGID", centred((radius, 0, 0.01), (0.04, 0.04, 0.02)), bulk)
    solfec.INITIAL_VELOCITY(body, (0, spin * radius, 0), (0, 0, spin))
    setup.run(model, 1.0)
    out = hypot(*place(body)[:2]) - radius
    return [holds("slides out", out > 2e-3, ratio > 1)]


@scene(
    cases=[dict(acceleration=a, density=d) for a in (2.0, 4.0) for d in (1e3, 1e8)],
)
def driven_ground(setup, acceleration, density):
    """A block on ground that accelerates sticks below mu g and slides with mu g above, however heavy the ground."""
    mu, end = 0.3, 0.3
    model = setup.model(1e-3)
    setup.surface(model, friction=mu)
    bulk, heavy = solfec.BULK_MATERIAL(model), solfec.BULK_MATERIAL(model, density=density)
    ground = floor(model, heavy, size=2.0)
    for d in ((0, 1, 0), (0, 0, 1)):
        solfec.FIX_DIRECTION(ground, (0, 0, -0.5), d)
    solfec.SET_ACCELERATION(ground, (0, 0, -0.5), (1, 0, 0), solfec.TIME_SERIES([0, acceleration, 1, acceleration]))
    body = solfec.BODY(model, "RIGID", centred((0, 0, 0.02), (0.2, 0.2, 0.04)), bulk)
    z = place(body)[2]
    setup.run(model, end)
    # Contacts see the ground's velocity one step late.
    return [
        Figure("speed", speed(body)[0], min(acceleration, mu * G) * end, 2 * acceleration * model.step),
        Figure("sunk", z - place(body)[2], 0.0, 5e-5),  # a block on one averaged point nods by 2e-5 m
    ]


@scene(cases=[dict(ratio=0.97), dict(ratio=1.03)])
def ladder(setup, ratio):
    """A ladder against a smooth wall stands while the floor's friction is above tan a / 2, a its angle to the vertical."""
    angle, length = radians(30), 1.0
    mu = ratio * tan(angle) / 2
    model = setup.model(1e-3)
    setup.surface(model, friction=mu, pair=(1, 2))
    setup.surface(model, friction=0.0, pair=(1, 3))
    bulk = solfec.BULK_MATERIAL(model)
    # The ladder is two balls, one at each end, so that contact points are exact; its mass is that of a slender rod.
    r = 0.02
    dx, dz = length * sin(angle), length * cos(angle)
    solfec.BODY(model, "OBSTACLE", box((-3, -1, -1), (0.5, 1, 0), 2), bulk)
    solfec.BODY(model, "OBSTACLE", box((r, -1, 0), (1, 1, 3), 3), bulk)
    feet = [solfec.SPHERE((-dx, y, r), r, 1, 1) for y in (-0.2, 0.2)] + [solfec.SPHERE((0, y, r + dz), r, 1, 1) for y in (-0.2, 0.2)]
    body = solfec.BODY(model, "RIGID", feet, bulk)
    i = length**2 / 12
    solfec.BODY_CHARS(body, 1.0, 1e-3, (-dx / 2, 0, r + dz / 2), (0.02 + i, 0, 0, 0, i, 0, 0, 0, 0.02 + i))
    solfec.GRAVITY(model, (0, 0, -G))
    z = place(body)[2]
    setup.run(model, 0.5)
    return [holds("slips", z - place(body)[2] > 1e-3, ratio < 1), *([Figure("sunk", z - place(body)[2], 0.0, 1e-4)] if ratio > 1 else [])]


@scene(cases=[dict(mu=0.2), dict(mu=0.5)])
def wedge(setup, mu):
    """A heavy wedge in a slot: each side carries N with W / 2 = N (sin a + t cos a), |t| <= mu.

    Rigid bodies do not tell which of the forces between both limits of stick act; theory is the range.
    """
    angle, depth = radians(20), 0.3
    model = setup.model(1e-3)
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model)
    low, high = 0.05, 0.05 + depth * tan(angle)

    def prism(corners):
        return solfec.HULL([c for y in (-0.1, 0.1) for x, z in corners for c in (x, y, z)], 1, 1)

    body = solfec.BODY(model, "RIGID", prism([(-low, 0), (low, 0), (high, depth), (-high, depth)]), bulk)
    for s in (-1, 1):
        wide, under = high + 0.2 * tan(angle), low - 0.1 * tan(angle)
        solfec.BODY(model, "OBSTACLE", prism([(s * under, -0.1), (s * wide, depth + 0.2), (s, depth + 0.2), (s, -0.1)]), bulk)
    z = place(body)[2]
    setup.run(model, 0.2)
    half = body.mass * G / 2
    side = sum(c.R[2] for c in model.constraints if c.point[0] > 0)
    smallest = half / (sin(angle) + mu * cos(angle))
    largest = half / (sin(angle) - mu * cos(angle)) if mu < tan(angle) else float("inf")
    return [
        holds("normal force in its range", 0.99 * smallest < side < 1.01 * largest),
        Figure("sunk", z - place(body)[2], 0.0, 1e-5),
    ]


@scene(cases=[dict(a=0.1), dict(a=0.35)], slow=True)
def spring_and_friction(setup, a):
    """A block on a spring loses 2 mu m g / k of amplitude in every half of its period 2 pi sqrt (m / k)."""
    mu, m, k = 0.2, 1.0, 100.0
    model, bulk = floored(setup, 1e-3, friction=mu)
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((a, 0, 0.05), 0.05, 1, 1), bulk)
    solfec.BODY_CHARS(body, m, 1e-3, (a, 0, 0.05), (1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3))
    body.disable_rotation = "ON"
    post = solfec.BODY(model, "OBSTACLE", solfec.SPHERE((-2, 0, 0.05), 0.02, 1, 1), bulk)
    solfec.FIX_POINT(post, (-2, 0, 0.05))  # springs pull on obstacles as well
    curve = [s for x in (-1.0, 1.0) for s in (x, -k * (x + a))]  # relaxed at x = 0
    solfec.PUT_SPRING(body, (a, 0, 0.05), post, (-2, 0, 0.05), curve, (-1, 1), direction=(1, 0, 0), update="FIXED", law="IMPLICIT")
    loss, amplitude, side = 2 * mu * m * G / k, a, 1
    for _ in range(100):
        if k * amplitude <= mu * m * G:
            break
        amplitude, side = amplitude - loss, -side
        if amplitude < 0:
            amplitude, side = -amplitude, -side
    setup.run(model, 12 * pi * sqrt(m / k))
    return [Figure("place where it sticks", place(body)[0], side * amplitude, 0.01 * a), Figure("speed", abs(speed(body)[0]), 0.0, 1e-3)]


@scene(cases=[dict(ratio=0.97), dict(ratio=1.03)])
def capstan(setup, ratio):
    """A rope of linked balls over a round post: it slips when the pulls differ by more than the friction of its n bends.

    Every ball turns the rope by d: T2 / T1 = (1 + mu tan (d / 2)) / (1 - mu tan (d / 2)), which tends to exp (mu n d).
    """
    mu, n, big, r = 0.3, 19, 0.5, 0.02
    turn = radians(8)
    model = setup.model(1e-3, gravity=(0, 0, 0))
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model, density=1000)
    solfec.BODY(model, "OBSTACLE", solfec.SPHERE((0, 0, 0), big, 1, 1), bulk)
    angles = [turn * (k - (n - 1) / 2) for k in range(n)]
    places = [((big + r) * sin(a), 0, (big + r) * cos(a)) for a in angles]
    balls = [solfec.BODY(model, "RIGID", solfec.SPHERE(p, r, 1, 1), bulk) for p in places]
    for b in balls:
        b.disable_rotation = "ON"
    for one, two, p, q in zip(balls, balls[1:], places, places[1:]):
        solfec.PUT_RIGID_LINK(one, two, p, q)
    step = (1 + mu * tan(turn / 2)) / (1 - mu * tan(turn / 2))
    light = 10.0
    # The ropes' free ends leave along the next chord.
    for k, pull in ((0, light), (-1, light * step**n * ratio)):
        a = angles[k] + (turn / 2 if k else -turn / 2)
        s = 1 if k else -1
        solfec.FORCE(balls[k], "SPATIAL", places[k], (s * cos(a), 0, -s * sin(a)), pull)
    setup.run(model, 0.05)
    middle = place(balls[n // 2])
    return [holds("slips", hypot(middle[0] - places[n // 2][0], middle[2] - places[n // 2][2]) > 2e-4, ratio > 1)]


@scene(cases=[dict(mu=0.0), dict(mu=0.2)])
def groove(setup, mu):
    """A square bar that lies on its edge in a right-angled groove, inclined by a: g (sin a - sqrt 2 mu cos a)."""
    angle, end = radians(25), 0.4
    model = setup.model(1e-3, gravity=slope(angle))
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model)
    for s in (-1, 1):
        corners = [(0, 0), (s, 1), (s, -1), (0, -1)]
        solfec.BODY(model, "OBSTACLE", solfec.HULL([c for x in (-1, 3) for y, z in corners for c in (x, y, z)], 1, 1), bulk)
    d = 0.1
    corners = [(0, 0), (d, d), (0, 2 * d), (-d, d)]
    body = solfec.BODY(model, "RIGID", solfec.HULL([c for x in (0, 0.4) for y, z in corners for c in (x, y, z)], 1, 1), bulk)
    start = place(body)[0]
    setup.run(model, end)
    way = 0.5 * G * (sin(angle) - sqrt(2) * mu * cos(angle)) * end**2
    return [Figure("way", place(body)[0] - start, way, 0.01 * way)]


@scene(cases=[dict(mu=0.2), dict(mu=0.6)])
def painleve(setup, mu):
    """A rod slides on its tip, which leads, with friction that tilts it further: N = m g / (1 + 3 cos a (cos a - mu sin a)), a its angle to the floor."""
    angle, l, m, v = radians(60), 0.5, 1.0, 1.0
    model, bulk = floored(setup, 1e-4, friction=mu)
    r = 1e-4
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, r), r, 1, 1), bulk)
    i = m * l**2 / 3
    solfec.BODY_CHARS(body, m, 1e-3, (l * cos(angle), 0, r + l * sin(angle)), (i, 0, 0, 0, i, 0, 0, 0, i))
    solfec.INITIAL_VELOCITY(body, (-v, 0, 0), (0, 0, 0))
    setup.run(model, 4e-4)
    # Forces (mu N, N) act at (-l cos a, -l sin a) from the centre: the moment is l N (mu sin a - cos a) about the axis that lifts the tip.
    normal = m * G / (1 + 3 * cos(angle) * (cos(angle) - mu * sin(angle)))
    force = sum(c.R[2] for c in model.constraints)
    return [Figure("normal force", force, normal, 0.002 * normal)]


@scene(cases=[dict(e=e, mu=mu) for e in (0.0, 0.5) for mu in (0.05, 0.6)])
def oblique_impact(setup, e, mu):
    """A ball that hits the floor slides through the impact or grips: vx' = max (vx - mu (1 + e) vz, 5 / 7 vx)."""
    vx, vz, r = 2.0, 1.0, 0.1
    model, bulk = floored(setup, 1e-3, gravity=(0, 0, 0), friction=mu, restitution=e)
    body = solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, r + 0.01), r, 1, 1), bulk)
    solfec.INITIAL_VELOCITY(body, (vx, 0, -vz), (0, 0, 0))
    setup.run(model, 0.03)
    after = max(vx - mu * (1 + e) * vz, 5 / 7 * vx)
    scale = 2 * setup.accuracy * vx
    return [
        Figure("vx", speed(body)[0], after, scale),
        Figure("vz", speed(body)[2], e * vz, scale),
        Figure("spin", body.velo[1] * r, 2.5 * (vx - after), 5 * scale),
    ]


@scene(cases=[dict(angle=a) for a in (20, 45, 70)])
def chords(setup, angle):
    """A smooth block slides down every chord from the top of an upright circle in the same time 2 sqrt (R / g) (Galileo)."""
    radius, angle = 0.5, radians(angle)
    model = setup.model(5e-4)
    setup.surface(model, friction=0.0)
    body = inclined(model, solfec.BULK_MATERIAL(model), angle, (0.1, 0.1, 0.02))
    start = place(body)
    end = 2 * sqrt(radius / G)
    setup.run(model, end)  # a whole number of steps, a little longer
    length = 2 * radius * sin(angle)
    return [Figure("way", downhill(body, start, angle), length * (model.time / end) ** 2, 1e-4 * length)]


@scene()
def wall_glides(setup):
    """A block falls freely along a flush wall of tiles that it is pressed against without friction."""
    model = setup.model(5e-4)
    setup.surface(model, friction=0.0)
    bulk = solfec.BULK_MATERIAL(model)
    for k in range(8):
        solfec.BODY(model, "OBSTACLE", box((-0.1, -0.2, -0.1 * k - 0.1), (0, 0.2, -0.1 * k)), bulk)
    body = solfec.BODY(model, "RIGID", box((0, -0.03, -0.16), (0.06, 0.03, -0.1)), bulk)
    start = place(body)
    solfec.FORCE(body, "SPATIAL", start, (-1, 0, 0), 1.0)
    setup.run(model, 0.3)
    fall = 0.5 * G * 0.3**2
    return [
        Figure("fall", start[2] - place(body)[2], fall, 3e-3 * fall),
        Figure("distance from the wall", place(body)[0] - start[0], 0.0, 1e-4),
    ]
