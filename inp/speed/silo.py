# A silo of soft grains, with springs and dashpots at their contacts: no solution in a step, but short steps
#
# Arguments: grains, duration:
#
#   solfec inp/speed/silo.py 16000 0.005

import random

given = NON_SOLFEC_ARGV() or ()
count = int(given[0]) if len(given) > 0 else 16000
duration = float(given[1]) if len(given) > 1 else 0.005
SIZE, GAP = 0.02, 0.0398  # radius of grains; their distance, a little less than they need, so that they touch, m
random.seed(1)

silo = SOLFEC('DYNAMIC', 1E-5, 'out/speed/silo-%d' % count)
SURFACE_MATERIAL(silo, model='SPRING_DASHPOT', friction=0.3, spring=1E5, dashpot=10)
grain = BULK_MATERIAL(silo, density=1200)
GRAVITY(silo, (0, 0, -9.81))

side = max(2, round((count / 2.5) ** (1 / 3.0)))
length, height = side * GAP, (count // side ** 2 + 2) * GAP
walls = [BOX((length / 2, length / 2, -0.05), (length + 0.2, length + 0.2, 0.1))]
for x, y, wide, deep in ((-0.05, length / 2, 0.1, length + 0.2), (length + 0.05, length / 2, 0.1, length + 0.2),
                         (length / 2, -0.05, length, 0.1), (length / 2, length + 0.05, length, 0.1)):
    walls.append(BOX((x, y, height / 2), (wide, deep, height)))
BODY(silo, 'OBSTACLE', walls, grain, label='walls')
for number in range(count):
    layer, rest = divmod(number, side * side)
    row, column = divmod(rest, side)
    centre = tuple((index + 0.5) * GAP + random.uniform(-5E-5, 5E-5) for index in (column, row, layer))
    BODY(silo, 'RIGID', SPHERE(centre, SIZE, 2, 2), grain)

OUTPUT(silo, duration)
RUN(silo, PENALTY_SOLVER(), duration)

if silo.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (silo.nbod, silo.ncon, ENERGY(silo)[0]))
