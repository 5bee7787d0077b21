"""A hopper with a slot, whose grains are deformable everywhere, or only near the outlet (BODY_SWITCH), or nowhere.

    solfec -w inp/coupling/hopper.py [all | near | none] [grains] [seed] [seconds] [rest]

Rigid grains come to rest on a closed gate for `rest` seconds (1); with 0 they fall from their loose grid. Then it opens, and the run ends when
35 % of the mass is out. It prints the mass that flows out per second, from 10 % on, and how long the discharge took.
"""

import math
import random
import time

arguments = NON_SOLFEC_ARGV() or []
method = arguments[0] if arguments else 'near'
count = int(arguments[1]) if len(arguments) > 1 else 30
seed = int(arguments[2]) if len(arguments) > 2 else 1
duration = float(arguments[3]) if len(arguments) > 3 else 10.0
rest = float(arguments[4]) if len(arguments) > 4 else 1.0
if method not in ('all', 'near', 'none'):
    raise ValueError('hopper.py: the first argument is %r; it must be all, near or none' % method)
D, STEP, CELLS = 0.1, 2E-3, 4  # greatest diameter of grains, step, elements along each side of the mesh round a grain
SLOT, WIDTH, STEEP = 8 * D, 14 * D, math.radians(60)  # outlet, bin, inclination of the funnel
NEAR, BELOW, GONE = 3 * D, -D, -3 * D  # heights over the outlet: grains are deformable between the first two, deleted under the third
FIRST, LAST = 0.1, 0.35  # parts of the mass; the rate is measured while they flow out

solfec = SOLFEC('DYNAMIC', STEP, 'out/coupling/hopper-%s-%d-%d' % (method, count, seed), contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, model='SIGNORINI_COULOMB', friction=0.1)
SURFACE_MATERIAL(solfec, 1, 3, model='SIGNORINI_COULOMB', friction=0.0)  # grains on the panes in front and behind
rubber = BULK_MATERIAL(solfec, 'KIRCHHOFF', 'rubber', young=1E8, poisson=0.3, density=1200)
GRAVITY(solfec, (0, 0, -9.81))


def prism(corners, low, high, surface):
    """Return a HULL of corners (x, z) from y = low to y = high."""
    return HULL([number for y in (low, high) for x, z in corners for number in (x, y, z)], 1, surface)


def half_width(z):
    """Return the half of the clear width at a height over the outlet."""
    return min(0.5 * SLOT + z / math.tan(STEEP), 0.5 * WIDTH)


places, z = [], 0.6 * D  # of grains: rows from the outlet upwards
while len(places) < count:
    fit = int((2 * half_width(z - 0.5 * D) - 0.2 * D) / (1.1 * D))
    places += [((k - 0.5 * (fit - 1)) * 1.1 * D, z) for k in range(fit)]
    z += 1.1 * D
rise = 0.5 * (WIDTH - SLOT) * math.tan(STEEP)
top = max(z, rise) + D

for side in (-1, 1):
    at = [side * x for x in (0.5 * SLOT, 0.5 * WIDTH, 0.5 * WIDTH + D, 0.5 * SLOT + D)]
    BODY(solfec, 'OBSTACLE', prism([(at[0], 0), (at[1], rise), (at[2], rise), (at[3], 0)], 0, D, 2), rubber)
    BODY(solfec, 'OBSTACLE', prism([(at[1], rise), (at[1], top), (at[2], top), (at[2], rise)], 0, D, 2), rubber)
for low in (-D, 1.01 * D):
    BODY(solfec, 'OBSTACLE', prism([(-WIDTH, GONE), (WIDTH, GONE), (WIDTH, top), (-WIDTH, top)], low, low + 0.99 * D, 3), rubber)
gate = BODY(solfec, 'OBSTACLE', prism([(-0.5 * SLOT, -0.5 * D), (0.5 * SLOT, -0.5 * D), (0.5 * SLOT, 0), (-0.5 * SLOT, 0)], 0, D, 2), rubber)


class Grain:
    """A grain: an octagonal prism, and the elements round it."""

    def __init__(self, x, z):
        self.size, turn = D * random.uniform(0.9, 1.0), random.uniform(0, math.pi / 4)
        self.start, half = (x, 0.5 * D, z), 0.5 * self.size
        ring = [turn + k * math.pi / 4 for k in range(8)]
        shape = prism([(x + half * math.cos(angle), z + half * math.sin(angle)) for angle in ring], 0, D, 1)
        corners = [(x - half, 0), (x + half, 0), (x + half, D), (x - half, D)]
        self.mesh = HEX([number for level in (z - half, z + half) for px, py in corners for number in (px, py, level)], CELLS, CELLS, CELLS, 1, [1] * 6)
        self.body = BODY(solfec, 'RIGID', shape, rubber)
        self.mass = self.body.mass

    def height(self):
        """Return the height over the outlet."""
        return self.start[2] + DISPLACEMENT(self.body, self.start)[2]

    def switch(self, kind):
        """Become rigid or deformable; return the energy that is lost.

        A deformable grain moves implicitly, and the step is longer than its periods.  So it is linear in its own frame (form 'BC'), and
        damped by half a step: with less damping contacts feed vibrations that such steps cannot show.
        """
        if kind == 'RIGID':
            return BODY_SWITCH(self.body, kind)
        energy = BODY_SWITCH(self.body, kind, form='BC', mesh=self.mesh)
        self.body.scheme, self.body.damping = 'DEF_LIM', 0.5 * STEP
        return energy


random.seed(seed)
grains = [Grain(x + random.uniform(-0.03, 0.03) * D, z) for x, z in places[:count]]
total = sum(grain.mass for grain in grains)
flown, lost, switching = [], [], [0.0]  # (time, mass below the outlet), energies, seconds


def kind_at(height):
    """Return the kind of a grain at a height over the outlet."""
    return 'FINITE_ELEMENT' if method == 'all' or method == 'near' and BELOW < height < NEAR else 'RIGID'


def look():
    """Note the mass below the outlet, delete grains far below it, switch those that come near it or leave it."""
    below = total - sum(grain.mass for grain in grains)
    for grain in list(grains):
        height = grain.height()
        below += grain.mass * min(max(0.5 - height / grain.size, 0.0), 1.0)
        if height < GONE:
            grains.remove(grain)
            DELETE(solfec, grain.body)
        elif method == 'near':
            kind = kind_at(height)
            if kind != grain.body.kind:
                begin = time.process_time()
                lost.append(grain.switch(kind))
                switching[0] += time.process_time() - begin
    flown.append((solfec.time, below / total))
    return 1 if below < LAST * total else 0


def crossing(part):
    """Return the time at which a part of the mass was below the outlet."""
    k = [now >= part for _, now in flown].index(True)
    (before, less), (after, more) = flown[k - 1], flown[k]
    return before + (after - before) * (part - less) / (more - less)


OUTPUT(solfec, 0.1)
if not VIEWER() and solfec.mode == 'WRITE':
    if rest:
        RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 1000), rest)
    DELETE(solfec, gate)
    for grain in grains:
        if kind_at(grain.height()) != 'RIGID':
            lost.append(grain.switch('FINITE_ELEMENT'))
    CALLBACK(solfec, 5 * STEP, (), look)
    begin = time.process_time()
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 1000), duration)
    took = time.process_time() - begin
    if flown[-1][1] < LAST:
        raise SystemExit('hopper.py: only %.3f of the mass is out after %g s; the fourth argument gives it more time' % (flown[-1][1], duration))
    first, last = [crossing(part) for part in (FIRST, LAST)]
    rate = (LAST - FIRST) * total / (last - first)
    print('%s, %d grains, seed %d: %.3f of the mass out in %.2f s, %.2f kg/s, %.1f s of processor' % (
        method, count, seed, flown[-1][1], flown[-1][0] - rest, rate, took))
    if method == 'near':
        print('%d switches, %.1f s of processor after the start; they lost %.2g J' % (len(lost), switching[0], sum(lost)))
