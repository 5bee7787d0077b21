# Stones fall into a box that is shaken: many polyhedra in free fall, few contacts
#
# Arguments: stones along a side of the box, layers of them, duration:
#
#   solfec inp/speed/packing.py 8 49 0.5

import math
import random

given = NON_SOLFEC_ARGV() or ()
side, layers = (int(given[k]) if len(given) > k else default for k, default in enumerate((8, 49)))
duration = float(given[2]) if len(given) > 2 else 0.5
STEP, WALL, SHAKE, PERIOD = 1E-3, 1.0, 1.0, 0.063  # s, m, m/s, s
random.seed(1)

packing = SOLFEC('DYNAMIC', STEP, 'out/speed/packing-%d-%d' % (side, layers))
SURFACE_MATERIAL(packing, model='SIGNORINI_COULOMB', friction=0.0)
rock = BULK_MATERIAL(packing, density=1000)
GRAVITY(packing, (0, 0, -9.81))
EXTENTS(packing, (-5, -5, -5, side + 5, side + 5, layers + 5))


def block(low, high):
    """A hull from its two corners."""
    return HULL([c for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0]) for c in (x, y, z)], 2, 2)


# a box of five walls that slides along x
far = side + WALL
walls = [block((-WALL, -WALL, -WALL), (far, far, 0)),
         block((-WALL, -WALL, 0), (0, far, side)), block((side, -WALL, 0), (far, far, side)),
         block((0, -WALL, 0), (side, 0, side)), block((0, side, 0), (side, far, side))]
box = BODY(packing, 'RIGID', walls, rock, label='box')
for corner in ((0, 0), (side, 0), (side, side), (0, side)):
    FIX_DIRECTION(box, (*corner, -WALL), (0, 0, 1))
FIX_DIRECTION(box, (0, 0, -WALL), (0, 1, 0))
shaking = [value for k in range(int(duration / STEP) + 2) for value in (k * STEP, SHAKE * math.sin(2 * math.pi * k * STEP / PERIOD))]
SET_VELOCITY(box, (0.5 * side, 0.5 * side, -WALL), (1, 0, 0), TIME_SERIES(shaking))

for i in range(side):
    for j in range(side):
        for k in range(layers):
            size = random.uniform(0.3, 1.0)  # m
            corners = int(random.uniform(8, 33))
            points = [start + size * random.random() for _ in range(corners) for start in (i, j, k)]
            BODY(packing, 'RIGID', HULL(points, 1, 1), rock)

OUTPUT(packing, duration)
RUN(packing, GAUSS_SEIDEL_SOLVER(1E-3, 100), duration)

if packing.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (packing.nbod, packing.ncon, ENERGY(packing)[0]))
