# Heap of stones: poured on a point, they come to rest on a slope
#
# Angular stones of eight kinds, the cells of a cube, fall from a column onto the ground and make a heap. Arguments: number of
# stones, duration:
#
#   solfec inp/heap.py 400 2.5

from math import atan2, degrees

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if len(arguments) > 0 else 400
duration = float(arguments[1]) if len(arguments) > 1 else 2.5
size = 0.1  # of a stone, its largest distance from its middle

solfec = SOLFEC('DYNAMIC', 2E-3, 'out/heap/%d' % count, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.6)
stone = BULK_MATERIAL(solfec, density=2500.0)
GRAVITY(solfec, (0, 0, -9.81))

# A column of eight layers, each of stones of one kind; balls of radius `size` would fill two fifths of it
kinds = VORONOI(BOX((0, 0, 0), (1, 1, 1)), 8, relax=3)
side = 2.2 * (count / 3.0) ** (1 / 3.0) * size
layer = 10.5 * count / 8 * size ** 3 / side ** 2
BODY(solfec, 'OBSTACLE', PLANE((0, 0, 0), (0, 0, 1), 4 * side, thickness=size), stone, label='ground')
stones = []
for number, kind in enumerate(kinds):
    low, high = (-side / 2, -side / 2, number * layer), (side / 2, side / 2, (number + 1) * layer)
    share = (count * (number + 1)) // 8 - (count * number) // 8
    for shape in PACKING(share, low, high, (0.6 * size, size), shape=kind, random=number):
        stones.append(BODY(solfec, 'RIGID', shape, stone))

OUTPUT(solfec, duration / 50)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 200), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    # A cone of the height H and the foot R has its mass centre at H/4, and the mean distance of its stones from the axis is R/2
    mass = sum(body.mass for body in stones)
    height = 4 * sum(body.mass * body.conf[11] for body in stones) / mass
    foot = 2 * sum(body.mass * (body.conf[9] ** 2 + body.conf[10] ** 2) ** 0.5 for body in stones) / mass
    print('%d stones, %d contacts, kinetic energy %.3e' % (len(stones), solfec.ncon, ENERGY(solfec)[0]))
    print('slope of the cone: %.1f degrees' % degrees(atan2(height, foot)))
