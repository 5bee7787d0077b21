# A hopper: angular stones run out of a funnel
#
# Arguments: stones, duration:
#
#   solfec inp/speed/hopper.py 1000 1.0

import random

given = NON_SOLFEC_ARGV() or ()
count = int(given[0]) if len(given) > 0 else 1000
duration = float(given[1]) if len(given) > 1 else 1.0
HOLE, TOP, DEEP, SIZE = 0.2, 0.8, 0.8, 0.05  # halves of the outlet and of the upper edge, depth, radius of stones, m
random.seed(1)

hopper = SOLFEC('DYNAMIC', 1E-3, 'out/speed/hopper-%d' % count)
SURFACE_MATERIAL(hopper, model='SIGNORINI_COULOMB', friction=0.3)
stone = BULK_MATERIAL(hopper, density=2000)
GRAVITY(hopper, (0, 0, -9.81))


def side(turn):
    """A wall of the funnel and of the bin above it, turned about the axis."""
    wall = [HULL([c for y in (-TOP - 0.2, TOP + 0.2) for x, z in ((HOLE, -DEEP), (HOLE + 0.1, -DEEP), (TOP, 0), (TOP + 0.1, 0)) for c in (x, y, z)], 1, 1),
            HULL([c for y in (-TOP - 0.2, TOP + 0.2) for x in (TOP, TOP + 0.1) for z in (0, 6 * DEEP) for c in (x, y, z)], 1, 1)]
    return [ROTATE(part, (0, 0, 0), (0, 0, 1), turn) for part in wall]


BODY(hopper, 'OBSTACLE', sum((side(90.0 * k) for k in range(4)), []), stone, label='funnel')
points = [[c / sum(x * x for x in way) ** 0.5 for c in way] for way in [[random.gauss(0, 1) for _ in range(3)] for _ in range(10)]]
edge, high = TOP - 0.03, 4.6E-4 * count  # the stones begin as dense as PACKING makes them
for shape in PACKING(count, (-edge, -edge, 0.0), (edge, edge, max(high, 0.3)), (0.8 * SIZE, SIZE), HULL(sum(points, []), 2, 2)):
    BODY(hopper, 'RIGID', shape, stone)

OUTPUT(hopper, duration)
RUN(hopper, GAUSS_SEIDEL_SOLVER(1E-3, 200), duration)

if hopper.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (hopper.nbod, hopper.ncon, ENERGY(hopper)[0]))
