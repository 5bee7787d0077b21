# A torrent: stones roll down a stepped channel against a barrier of posts
#
# Arguments: stones, duration:
#
#   solfec inp/speed/torrent.py 150 1.0

import random

given = NON_SOLFEC_ARGV() or ()
count = int(given[0]) if len(given) > 0 else 150
duration = float(given[1]) if len(given) > 1 else 1.0
STEPS, RUN_OUT, DROP, WIDE, SIZE = 12, 1.0, 0.5, 2.0, 0.15  # steps of the channel, their length and height, its width, radius of stones, m
random.seed(1)

torrent = SOLFEC('DYNAMIC', 1E-3, 'out/speed/torrent-%d' % count)
SURFACE_MATERIAL(torrent, model='SIGNORINI_COULOMB', friction=0.4, restitution=0.1)
stone = BULK_MATERIAL(torrent, density=2500)
GRAVITY(torrent, (0, 0, -9.81))

bed = [BOX(((k + 0.5) * RUN_OUT, WIDE / 2, -DROP * k - 0.5), (RUN_OUT, WIDE, 1.0)) for k in range(STEPS)]
bed.append(BOX(((STEPS + 2) * RUN_OUT, WIDE / 2, -DROP * STEPS - 0.5), (4 * RUN_OUT, WIDE, 1.0)))
deep, length = DROP * STEPS + 3, (STEPS + 4) * RUN_OUT
banks = [BOX((length / 2, y, 2 - deep / 2), (length + 1, 0.2, deep + 2)) for y in (-0.1, WIDE + 0.1)]
bed += [BOX((-0.1, WIDE / 2, 1.0), (0.2, WIDE, 4.0))]
bed += [BOX(((STEPS + 3) * RUN_OUT, WIDE * (k + 0.5) / 5, -DROP * STEPS + 0.5), (0.1, 0.15, 1.2)) for k in range(5)]
BODY(torrent, 'OBSTACLE', bed, stone, label='bed')
BODY(torrent, 'OBSTACLE', banks, stone, label='banks')
points = [[c / sum(x * x for x in way) ** 0.5 for c in way] for way in [[random.gauss(0, 1) for _ in range(3)] for _ in range(10)]]
for shape in PACKING(count, (0.2, 0.2, 0.1), (4 * RUN_OUT, WIDE - 0.2, 4.0), (0.7 * SIZE, SIZE), HULL(sum(points, []), 2, 2)):
    INITIAL_VELOCITY(BODY(torrent, 'RIGID', shape, stone), (2, 0, 0), (0, 0, 0))

OUTPUT(torrent, duration)
RUN(torrent, GAUSS_SEIDEL_SOLVER(1E-3, 200), duration)

if torrent.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (torrent.nbod, torrent.ncon, ENERGY(torrent)[0]))
