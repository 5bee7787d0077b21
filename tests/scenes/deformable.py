"""Pseudo-rigid and finite element bodies: waves, bending, patch tests, press-fits, Hertz."""

from __future__ import annotations

from math import cos, hypot, pi, radians, sin, sqrt

import numpy as np
from scipy.integrate import solve_bvp

import solfec

from .frame import Defect, Figure, G, Limit, box, floor, holds, place, scene, slope
from .joints import crossing_period

STILL = (0.0, 0.0, 0.0)


def corners(lower, upper):
    """Eight corners of a box in the order of HEX."""
    (x, y, z), (X, Y, Z) = lower, upper
    return [x, y, z, X, y, z, X, Y, z, x, Y, z, x, y, Z, X, y, Z, X, Y, Z, x, Y, Z]


def hexes(lower, upper, n, surfaces=(1, 1, 1, 1, 1, 1)):
    """A box of hexahedra."""
    return solfec.HEX(corners(lower, upper), *n, 1, list(surfaces))


def tetrahedra(lower, upper, n):
    """A box of tetrahedra, six to a brick, which match along the faces of bricks."""
    lengths = [(b - a) / k for a, b, k in zip(lower, upper, n)]
    nodes, elements = [], []
    number = lambda i, j, k: (k * (n[1] + 1) + j) * (n[0] + 1) + i  # noqa: E731
    for k in range(n[2] + 1):
        for j in range(n[1] + 1):
            for i in range(n[0] + 1):
                nodes += [a + d * m for a, d, m in zip(lower, lengths, (i, j, k))]
    ways = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    for k in range(n[2]):
        for j in range(n[1]):
            for i in range(n[0]):
                for way in ways:
                    at, path = [i, j, k], [number(i, j, k)]
                    for axis in way:
                        at[axis] += 1
                        path.append(number(*at))
                    if way in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
                        path[1], path[2] = path[2], path[1]
                    elements += [4, *path, 1]
    return solfec.MESH(nodes, elements, 1)


def stress(body, point, component):
    """A component of the Cauchy stress at a referential point."""
    return solfec.STRESS(body, point)[component]


@scene(cases=[dict(scheme=s) for s in ("DEF_EXP", "DEF_LIM")], slow=True)
def equal_bars(setup, scheme):
    """Two equal bars collide end to end: both waves return after 2 L / c; the force is rho c v A / 2 and the momentum passes over."""
    length, side, n = 1.0, 0.05, 40
    young, rho, v = 1e9, 1e3, 1.0
    c = sqrt(young / rho)
    model = setup.model(0.2 * length / n / c, gravity=STILL)
    setup.surface(model)
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=rho)
    bars = []
    for k in range(2):
        x = k * (length + 1e-6)
        bars.append(solfec.BODY(model, "FINITE_ELEMENT", hexes((x, 0, 0), (x + length, side, side), (n, 1, 1)), bulk))
        bars[-1].scheme = scheme
    solfec.INITIAL_VELOCITY(bars[0], (v, 0, 0), STILL)
    force = []

    def look():
        force.append((model.time, sum(abs(r.R[2]) for r in model.constraints)))

    setup.watch(model, 3 * length / c, look)
    plateau = [f for t, f in force if 0.4 * length / c < t < 1.6 * length / c]
    end = max((t for t, f in force if f > 0.25 * rho * c * v / 2 * side**2), default=0.0)
    expected = rho * c * v / 2 * side**2
    mass = bars[0].mass
    impulse = sum(f for _, f in force) * model.step
    return [
        Figure("force", sum(plateau) / max(len(plateau), 1), expected, 0.04 * expected),
        Figure("end of the force", end, 2 * length / c, 0.06 * length / c),
        Figure("impulse", impulse, mass * v, 0.03 * mass * v),
    ]


@scene(cases=[dict(e=e) for e in (0.0, 1.0)], slow=True)
def bar_on_wall(setup, e):
    """A bar hits a wall and springs off with its speed, whatever restitution: its waves give back all."""
    length, side, n = 1.0, 0.05, 40
    young, rho, v = 1e9, 1e3, 1.0
    c = sqrt(young / rho)
    model = setup.model(0.2 * length / n / c, gravity=STILL)
    setup.surface(model, restitution=e)
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=rho)
    solfec.BODY(model, "OBSTACLE", box((-0.2, -0.2, -0.2), (0, 0.25, 0.25)), bulk)
    bar = solfec.BODY(model, "FINITE_ELEMENT", hexes((1e-6, 0, 0), (length, side, side), (n, 1, 1)), bulk)
    bar.scheme = "DEF_LIM"
    solfec.INITIAL_VELOCITY(bar, (-v, 0, 0), STILL)
    setup.run(model, 3.5 * length / c)
    v_mean = momentum_velocity(bar)[0]
    return [Figure("speed after", v_mean, v, 0.06 * v)]


def momentum_velocity(body):
    """Mean velocity of the nodes of a uniform mesh, with the weights of one-dimensional lumping left out."""
    velocity = body.velo
    count = len(velocity) // 3
    return [sum(velocity[k::3]) / count for k in range(3)]


@scene(
    cases=[dict(upper=u, lower=w) for u, w in (("hex", "hex"), ("tet", "tet"), ("hex", "tet"), ("tet", "hex"))],
)
def patch_test(setup, upper, lower):
    """Uniform pressure passes through the joint of two meshes that do not match."""
    pressure, young = 1000.0, 1e6
    # A step of 0.1 s is ten times as long as the slowest vibration of a block: every step leaves a few per cent of the error before.
    model = setup.model(0.1, gravity=STILL, analysis="QUASI_STATIC")
    model.exact_supports = "ON"
    setup.surface(model, friction=0.0)
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=1e3)
    meshes = {"hex": hexes, "tet": tetrahedra}
    low = solfec.BODY(model, "FINITE_ELEMENT", meshes[lower]((0, 0, 0), (1, 1, 1), (3, 3, 2)), bulk)
    high = solfec.BODY(model, "FINITE_ELEMENT", meshes[upper]((0, 0, 1), (1, 1, 2), (2, 2, 2)), bulk)
    grid = [i / 3 for i in range(4)]
    for x in grid:
        for y in grid:
            solfec.FIX_DIRECTION(low, (x, y, 0), (0, 0, 1))
    for p in ((0, 0, 0), (1, 0, 0)):
        solfec.FIX_DIRECTION(low, p, (0, 1, 0))
    solfec.FIX_DIRECTION(low, (0, 0, 0), (1, 0, 0))
    for p in ((0, 0, 2), (1, 0, 2)):
        solfec.FIX_DIRECTION(high, p, (0, 1, 0))
    solfec.FIX_DIRECTION(high, (0, 0, 2), (1, 0, 0))
    # The top is pressed by forces that belong to uniform pressure on two by two squares of the top.
    for i in range(3):
        for j in range(3):
            share = 0.25 * (1 if i == 1 else 0.5) * (1 if j == 1 else 0.5)
            if upper == "tet":
                share = corner_share(i, j)
            solfec.FORCE(high, "SPATIAL", (i / 2, j / 2, 2), (0, 0, -1), pressure * share)
    setup.run(model, 2.0)
    found = [stress(body, (x, y, z), 2) for body, z in ((low, 0.75), (high, 1.25)) for x in (0.2, 0.5, 0.8) for y in (0.2, 0.5, 0.8)]
    limits = {}
    if (upper, lower) == ("tet", "hex"):
        limits = {"CLASSIC": Limit(-pressure, 0.03 * pressure, "one averaged point per pair of elements is not where their stresses balance")}
    return [
        Figure("lowest stress", min(found), -pressure, 0.01 * pressure, limits),
        Figure("highest stress", max(found), -pressure, 0.01 * pressure, limits),
    ]


def corner_share(i, j):
    """Part of a unit square's area that belongs to node (i, j) of two by two squares, each cut along its diagonal from low to high."""
    share = 0.0
    for a in range(2):
        for b in range(2):
            for triangle in (((a, b), (a + 1, b), (a + 1, b + 1)), ((a, b), (a, b + 1), (a + 1, b + 1))):
                share += triangle.count((i, j)) * 0.125 / 3
    return share


@scene(cases=[dict(form=f) for f in ("TL", "BC")])
def cantilever(setup, form):
    """Deflection of a clamped beam under its weight: q L^4 / (8 E I), with Timoshenko's shear."""
    length, side, young, rho = 1.0, 0.1, 1e9, 1e3
    model = setup.model(0.5, analysis="QUASI_STATIC", gravity=(0, 0, -0.01))
    model.exact_supports = "ON"
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=rho)
    body = solfec.BODY(model, "FINITE_ELEMENT", hexes((0, 0, 0), (length, side, side), (20, 2, 2)), bulk, form=form)
    body.enhanced = "ON"
    for y in (0, side / 2, side):
        for z in (0, side / 2, side):
            solfec.FIX_POINT(body, (0, y, z))
    setup.run(model, 3.0)
    q, i, area = rho * 0.01 * side**2, side**4 / 12, side**2
    w = q * length**4 / (8 * young * i) + q * length**2 / (2 * 5 / 6 * young / 2 * area)
    return [Figure("deflection", -solfec.DISPLACEMENT(body, (length, side / 2, side / 2))[2], w, 0.012 * w)]


@scene(slow=True)
def beam_frequency(setup):
    """First bending frequency of a clamped beam: 3.516 sqrt (E I / (rho A L^4))."""
    length, side, young, rho = 1.0, 0.05, 1e9, 1e3
    w = 3.51602 * sqrt(young * side**2 / 12 / rho) / length**2
    period = 2 * pi / w
    model = setup.model(period / 200, gravity=(0, 0, -0.1))
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=rho)
    body = solfec.BODY(model, "FINITE_ELEMENT", hexes((0, 0, 0), (length, side, side), (20, 2, 2)), bulk, form="BC")
    body.enhanced, body.scheme = "ON", "DEF_LIM"
    for y in (0, side / 2, side):
        for z in (0, side / 2, side):
            solfec.FIX_POINT(body, (0, y, z))
    static = rho * 0.1 * side**2 * length**4 / (8 * young * side**4 / 12)
    found = crossing_period(setup, model, lambda: solfec.DISPLACEMENT(body, (length, side / 2, side / 2))[2] + static, 3.3 * period)
    return [Figure("period", found, period, 0.02 * period)]


@scene(cases=[dict(kind="PSEUDO_RIGID"), dict(kind="FINITE_ELEMENT")])
def pulled_bar(setup, kind):
    """A bar that hangs from its top: stress rho g (L - z), elongation rho g L^2 / (2 E) (pseudo-rigid: mean stress)."""
    length, side, young, rho = 1.0, 0.2, 1e7, 1e3
    model = setup.model(0.5, analysis="QUASI_STATIC")
    model.exact_supports = "ON"
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=rho)
    if kind == "FINITE_ELEMENT":
        body = solfec.BODY(model, kind, hexes((0, 0, -length), (side, side, 0), (1, 1, 20)), bulk)
    else:
        body = solfec.BODY(model, kind, box((0, 0, -length), (side, side, 0)), bulk)
        body.scheme = "DEF_LIM"
    for x, y in ((0, 0), (side, 0), (0, side), (side, side)):
        solfec.FIX_POINT(body, (x, y, 0))
    setup.run(model, 20.0 if kind == "PSEUDO_RIGID" else 3.0)
    elongation = rho * G * length**2 / (2 * young)
    return [Figure("elongation", -solfec.DISPLACEMENT(body, (side / 2, side / 2, -length))[2], elongation, 0.01 * elongation)]


@scene(cases=[dict(kind=k) for k in ("PSEUDO_RIGID", "FINITE_ELEMENT")])
def soft_block_rests(setup, kind):
    """A soft block put on the floor is carried by forces that sum to its weight, and does not slide on a slope below its friction."""
    model = setup.model(1e-3, gravity=(0.2 * G, 0, -G))
    setup.surface(model, friction=0.4)
    bulk = solfec.BULK_MATERIAL(model, young=1e6, poisson=0.3, density=1e3)
    floor(model, bulk)
    side = 0.2
    if kind == "FINITE_ELEMENT":
        body = solfec.BODY(model, kind, hexes((0, 0, 0), (side, side, side), (3, 3, 3)), bulk)
    else:
        body = solfec.BODY(model, kind, box((0, 0, 0), (side, side, side)), bulk)
    body.scheme, body.damping = "DEF_LIM", 5e-3
    setup.run(model, 0.6)
    weight = body.mass * G
    carried = sum(abs(c.R[2]) for c in model.constraints)
    # The middle of the sole: shear of the block tilts what lies above.
    slid = sum(solfec.DISPLACEMENT(body, (x, y, 0))[0] for x in (0, side) for y in (0, side)) / 4
    return [Figure("carried over the weight", carried / weight, 1.0, 0.01), Figure("slid", slid, 0.0, 2e-3)]


@scene(cases=[dict(kind=k, mesh=m) for k, m in (("PSEUDO_RIGID", "hex"), ("FINITE_ELEMENT", "hex"), ("FINITE_ELEMENT", "tet"))])
def sliding_block(setup, kind, mesh):
    """A stiff block slides down a slope with g (sin a - mu cos a), whatever its kind and elements."""
    angle, mu, end = radians(30), 0.3, 0.2
    model = setup.model(1e-3, gravity=slope(angle))
    setup.surface(model, friction=mu)
    bulk = solfec.BULK_MATERIAL(model, young=1e8, poisson=0.3, density=1e3)
    floor(model, bulk)
    lower, upper = (0, 0, 0), (0.4, 0.4, 0.1)
    if kind == "PSEUDO_RIGID":
        shape = box(lower, upper)
    else:
        shape = (hexes if mesh == "hex" else tetrahedra)(lower, upper, (3, 3, 1))
    body = solfec.BODY(model, kind, shape, bulk)
    body.scheme, body.damping = "DEF_LIM", 1e-4
    setup.run(model, end)
    way = solfec.DISPLACEMENT(body, (0.2, 0.2, 0.05))
    expected = 0.5 * G * (sin(angle) - mu * cos(angle)) * end**2
    return [Figure("way", way[0], expected, 0.02 * expected), Figure("sideways", way[1], 0.0, 0.01 * expected)]


@scene(cases=[dict(e=e) for e in (0.0, 1.0)])
def pseudo_rigid_spheres(setup, e):
    """Two pseudo-rigid spheres collide head-on: momentum is kept, and what is not lost to restitution goes to vibration."""
    model = setup.model(2e-5, gravity=STILL)
    setup.surface(model, restitution=e)
    bulk = solfec.BULK_MATERIAL(model, young=1e7, poisson=0.25, density=1e3)
    balls = [solfec.BODY(model, "PSEUDO_RIGID", solfec.SPHERE((x, 0, 0), 0.1, 1, 1), bulk) for x in (0, 0.202)]
    for body in balls:
        body.scheme = "DEF_LIM"
    solfec.INITIAL_VELOCITY(balls[0], (1, 0, 0), STILL)
    before = solfec.ENERGY(model)[0]
    setup.run(model, 0.02)
    energy = solfec.ENERGY(model)
    figures = [Figure("momentum", sum(b.velo[9] for b in balls), 1.0, 1e-6)]
    ratio = (energy[0] + energy[1]) / before
    if e == 1:
        figures.append(Figure("energy over the first", ratio, 1.0, 0.01))
    else:
        figures.append(holds("energy does not grow", ratio < 1.0001))
    return figures


@scene(slow=True)
def hertz(setup):
    """A rigid sphere pressed on an elastic block by F: d = (3 F (1 - nu^2) / (4 E sqrt R))^(2/3)."""
    radius, d, young, nu = 1.0, 2e-3, 1e6, 0.3
    a = sqrt(radius * d)
    size, n = 8 * a, 10
    model = setup.model(0.05, gravity=STILL, analysis="QUASI_STATIC")
    model.exact_supports = "ON"
    setup.surface(model, friction=0.0)
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=nu, density=1e3)
    across = [1.5 ** abs(k - (n - 1) / 2) for k in range(n)]
    deep = [1.4 ** (n / 2 - k) for k in range(n // 2)]
    mesh = solfec.HEX(corners((-size, -size, -size), (size, size, 0)), n, n, n // 2, 1, [1] * 6, dx=across, dy=across, dz=deep)
    block = solfec.BODY(model, "FINITE_ELEMENT", mesh, bulk)
    ticks = [-size + 2 * size * sum(across[:k]) / sum(across) for k in range(n + 1)]
    for x in ticks:
        for y in ticks:
            solfec.FIX_POINT(block, (x, y, -size))
    sphere = solfec.BODY(model, "RIGID", solfec.SPHERE((0, 0, radius), radius, 1, 1), bulk)
    solfec.BODY_CHARS(sphere, 1.0, 1.0, (0, 0, radius), (1, 0, 0, 0, 1, 0, 0, 0, 1))
    sphere.disable_rotation = "ON"
    for direction in ((1, 0, 0), (0, 1, 0)):
        solfec.FIX_DIRECTION(sphere, (0, 0, radius), direction)
    force = 4 / 3 * young / (1 - nu**2) * sqrt(radius) * d**1.5
    solfec.FORCE(sphere, "SPATIAL", (0, 0, radius), (0, 0, -1), solfec.TIME_SERIES([0, 0, 1, force, 2, force]))
    setup.run(model, 2.0)
    # The block is eight contact radii deep and bonded below, which makes it stiffer by about a tenth; four elements lie across the contact.
    return [Figure("depth", -solfec.DISPLACEMENT(sphere, (0, 0, radius))[2], d, 0.2 * d)]


@scene(
    cases=[dict(mesh="hex"), dict(mesh="tet")],
    defects=[
        Defect("averaged points of flush tetrahedra do not share the force by their areas, and glue breaks early; MANIFOLD is right", "CLASSIC", solver, dict(mesh="tet"))
        for solver in ("GAUSS_SEIDEL", "NEWTON")  # the points AUTO_SOLVER loads happen to be enough: forces on them are not unique
    ],
)
def tied_bars(setup, mesh):
    """Two bars glued end to end are pulled: they hold below the cohesion, and break above."""
    cohesion, side = 5000.0, 0.2
    made = hexes if mesh == "hex" else tetrahedra
    model = setup.model(1e-3, gravity=STILL)
    setup.surface(model, friction=0.5, cohesion=cohesion)
    bulk = solfec.BULK_MATERIAL(model, young=1e8, poisson=0.0, density=1e3)
    low = solfec.BODY(model, "FINITE_ELEMENT", made((0, 0, 0), (side, side, 0.4), (2, 2, 4)), bulk)
    high = solfec.BODY(model, "FINITE_ELEMENT", made((0, 0, 0.4), (side, side, 0.8), (2, 2, 4)), bulk)
    for body in (low, high):
        body.scheme, body.damping = "DEF_LIM", 2e-3
    for x in (0, side / 2, side):
        for y in (0, side / 2, side):
            solfec.FIX_POINT(low, (x, y, 0))
    ramp = solfec.TIME_SERIES([0, 0, 0.5, 0.9 * cohesion, 0.6, 0.9 * cohesion, 0.7, 1.15 * cohesion, 1, 1.15 * cohesion])
    for i in range(3):
        for j in range(3):
            part = 0.25 * (1 if i == 1 else 0.5) * (1 if j == 1 else 0.5) if mesh == "hex" else corner_share(i, j)
            series = solfec.TIME_SERIES([c for t, v in zip(ramp.times, ramp.values) for c in (t, part * v * side**2)])
            solfec.FORCE(high, "SPATIAL", (i * side / 2, j * side / 2, 0.8), (0, 0, 1), series)
    gap = lambda: solfec.DISPLACEMENT(high, (side / 2, side / 2, 0.4))[2] - solfec.DISPLACEMENT(low, (side / 2, side / 2, 0.4))[2]  # noqa: E731
    setup.run(model, 0.6)
    held = gap()
    setup.run(model, 0.4)
    return [Figure("open below the strength", held, 0.0, 1e-5), holds("broken above it", gap() > 1e-3)]


@scene(slow=True)
def pressurised_tube(setup):
    """A thick tube under internal pressure: Lame's radial displacement."""
    inner, thick, p, young, nu = 1.0, 1.0, 1.0, 1e6, 0.3
    model = setup.model(0.1, gravity=STILL, analysis="QUASI_STATIC")
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=nu, density=1.0)
    tube = solfec.BODY(model, "FINITE_ELEMENT", solfec.PIPE((0, 0, 0), (0, 0, 0.1), inner, thick, 1, 36, 8, 1, [1, 2, 3, 4]), bulk)
    solfec.PRESSURE(tube, 3, -p)
    setup.run(model, 1.0)
    outer = inner + thick
    # Plane stress: the ends are free.
    u = p * inner**2 / (young * (outer**2 - inner**2)) * ((1 - nu) * inner + (1 + nu) * outer**2 / inner)
    return [Figure("radial displacement", solfec.DISPLACEMENT(tube, (inner, 0, 0.05))[0], u, 0.01 * u)]


@scene(cases=[dict(scheme=s) for s in ("DEF_EXP", "DEF_LIM")])
def press_fit(setup, scheme):
    """Two blocks that overlap when made stay as they are: velocities are constrained, and no energy comes from the overlap."""
    model = setup.model(1e-4, gravity=STILL)
    setup.surface(model, friction=0.3)
    bulk = solfec.BULK_MATERIAL(model, young=1e6, poisson=0.3, density=1e3)
    blocks = [solfec.BODY(model, "FINITE_ELEMENT", hexes((0, 0, z), (0.2, 0.2, z + 0.2), (2, 2, 2)), bulk) for z in (0, 0.198)]
    for body in blocks:
        body.scheme = scheme
    setup.run(model, 0.05)
    energy = solfec.ENERGY(model)
    rise = solfec.DISPLACEMENT(blocks[1], (0.1, 0.1, 0.398))[2] - solfec.DISPLACEMENT(blocks[0], (0.1, 0.1, 0.0))[2]
    return [Figure("energy", energy[0] + energy[1], 0.0, 1e-12), Figure("moved apart", rise, 0.0, 1e-9)]


@scene(cases=[dict(model_="KIRCHHOFF"), dict(model_="NEO_HOOKEAN")], slow=True)
def spinning_ring(setup, model_):
    """A spinning ring grows by rho w^2 r^3 / E."""
    r, t, w, young, rho = 1.0, 0.05, 10.0, 1e8, 1e3
    model = setup.model(1e-3, gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model, model=model_, young=young, poisson=0.0, density=rho)
    body = solfec.BODY(model, "FINITE_ELEMENT", solfec.PIPE((0, 0, 0), (0, 0, t), r - t / 2, t, 1, 32, 1, 1, [1] * 4), bulk)
    body.scheme, body.damping = "DEF_LIM", 0.0
    solfec.INITIAL_VELOCITY(body, STILL, (0, 0, w))
    period = 2 * pi * sqrt(rho / young) * r
    radii = []

    def look():
        d = solfec.DISPLACEMENT(body, (r - t / 2, 0, 0))
        radii.append(hypot(r - t / 2 + d[0], d[1]))

    setup.watch(model, 8 * period, look)
    growth = rho * w**2 * r**3 / young
    # Started without strain it breathes about the equilibrium: the mean over whole periods is the static growth.
    return [Figure("mean growth", sum(radii) / len(radii) - (r - t / 2), growth * (r - t / 2) / r, 0.06 * growth)]


@scene(cases=[dict(material="NEO_HOOKEAN"), dict(material="KIRCHHOFF")])
def dropped_on_element(setup, material):
    """A sphere that falls on one soft hexahedron is caught; energy does not grow."""
    model = setup.model(5e-4)
    setup.surface(model, friction=0.3)
    bulk = solfec.BULK_MATERIAL(model, model=material, young=2e5, poisson=0.3, density=1e3)
    stone = solfec.BULK_MATERIAL(model, density=1e3)
    block = solfec.BODY(model, "FINITE_ELEMENT", hexes((0, 0, 0), (0.5, 0.5, 0.5), (1, 1, 1)), bulk)
    block.scheme = "DEF_LIM"
    for x in (0, 0.5):
        for y in (0, 0.5):
            solfec.FIX_POINT(block, (x, y, 0))
    drop = solfec.BODY(model, "RIGID", solfec.SPHERE((0.27, 0.24, 0.75), 0.2, 1, 1), stone)
    start = place(drop)[2]
    setup.run(model, 0.5)
    energy = solfec.ENERGY(model)
    total = energy[0] + energy[1]
    return [
        holds("energy does not grow", total <= drop.mass * G * (start - place(drop)[2]) + block.mass * G * 0.3 + 1e-6),
        holds("caught", place(drop)[2] > 0.2),
    ]


@scene(slow=True, cases=[dict(load=p) for p in (1.0, 3.0, 10.0)])
def elastica(setup, load):
    """A thin cantilever bent by a dead force at its tip, P L^2 / (E I) = load: E I theta'' = -P cos theta, solved as it stands."""
    length, side, young = 1.0, 0.02, 1e9
    model = setup.model(0.05, analysis="QUASI_STATIC", gravity=(0, 0, 0))
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=1e3)
    body = solfec.BODY(model, "FINITE_ELEMENT", hexes((0, 0, 0), (length, side, side), (40, 1, 1)), bulk, form="TL")
    body.enhanced = "ON"
    for y in (0, side):
        for z in (0, side):
            solfec.FIX_POINT(body, (0, y, z))
    force = load * young * side**4 / 12 / length**2
    ramp = solfec.TIME_SERIES([0, 0, 1, -force, 9, -force])
    tip = (length, side / 2, side / 2)
    solfec.FORCE(body, "SPATIAL", tip, (0, 0, 1), ramp)
    setup.run(model, 4.0)
    s = np.linspace(0, 1, 101)
    bent = solve_bvp(
        lambda _, y: [y[1], -load * np.cos(y[0])], lambda a, b: [a[0], b[1]], s, [0.3 * load**0.5 * s, 0.3 * (1 - s)], tol=1e-8
    )
    assert bent.success
    fine = np.linspace(0, 1, 2001)
    angle = bent.sol(fine)[0]
    down, back = np.trapezoid(np.sin(angle), fine), 1 - np.trapezoid(np.cos(angle), fine)
    moved = solfec.DISPLACEMENT(body, tip)
    return [Figure("down", -moved[2], down, 0.01 * down), Figure("back", -moved[0], back, 0.02 * back)]


@scene(slow=True)
def torsion(setup):
    """A square bar twisted at its end turns by T L / (0.1406 G a^4) (Saint-Venant)."""
    length, side, young, poisson = 1.0, 0.1, 1e9, 0.25
    model = setup.model(0.5, analysis="QUASI_STATIC", gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=poisson, density=1e3)
    n = 10
    body = solfec.BODY(model, "FINITE_ELEMENT", hexes((0, 0, 0), (length, side, side), (20, n, n)), bulk, form="BC")
    body.enhanced = "ON"
    for k in range((n + 1) ** 2):
        solfec.FIX_POINT(body, (0, side * (k % (n + 1)) / n, side * (k // (n + 1)) / n))
    torque = 0.01 * 0.1406 * young / (2 * (1 + poisson)) * side**4 / length
    f = torque / side / 2  # two couples, at the middles of the sides
    for y, z, direction in ((0, 0.5, (0, 0, -1)), (1, 0.5, (0, 0, 1)), (0.5, 0, (0, 1, 0)), (0.5, 1, (0, -1, 0))):
        solfec.FORCE(body, "SPATIAL", (length, y * side, z * side), direction, f)
    setup.run(model, 2.0)
    # between sections away from both ends, where warping is free
    turned = [
        (solfec.DISPLACEMENT(body, (x, side, side / 2))[2] - solfec.DISPLACEMENT(body, (x, 0, side / 2))[2]) / side for x in (0.3, 0.7)
    ]
    return [Figure("twist", turned[1] - turned[0], 0.01 * 0.4, 0.02 * 0.004)]


@scene(slow=True)
def squeezed_ring(setup):
    """A thin ring between two opposite forces becomes shorter by (pi / 4 - 2 / pi) P r^3 / (E I)."""
    r, t, young = 1.0, 0.04, 1e9
    model = setup.model(0.5, analysis="QUASI_STATIC", gravity=STILL)
    bulk = solfec.BULK_MATERIAL(model, young=young, poisson=0.0, density=1e3)
    shape = solfec.PIPE((0, 0, 0), (0, 0, t), r - t / 2, t, 1, 64, 2, 1, [1] * 4)
    body = solfec.BODY(model, "FINITE_ELEMENT", shape, bulk, form="BC")
    body.enhanced = "ON"
    # a statically determinate support on the axis of the forces: below fixed, above free to come down only
    for z in (0, t):
        solfec.FIX_POINT(body, (-r, 0, z))
        solfec.FIX_DIRECTION(body, (r, 0, z), (0, 1, 0))
    solfec.FIX_DIRECTION(body, (r, 0, 0), (0, 0, 1))
    change = 1e-3 * r
    i = t**4 / 12
    p = change / (pi / 4 - 2 / pi) / r**3 * young * i
    for z in (0, t):
        solfec.FORCE(body, "SPATIAL", (r, 0, z), (-1, 0, 0), p / 2)
    setup.run(model, 2.0)
    return [Figure("shortening", -solfec.DISPLACEMENT(body, (r, 0, t / 2))[0], change, 0.02 * change)]
