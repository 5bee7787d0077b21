# A tower of bricks on a table, which stands on springs of the explicit engine
#
# Bricks and table touch, and the implicit engine moves them; springs and dashpots below the table are those of table-springs.py. All
# together sink like one mass on a spring. Argument: duration:
#
#   solfec inp/hybrid/table.py 3

import os
from math import cos, exp, sin, sqrt

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 3.0
density, stiffness, damper = 2000.0, 5E3, 4E2                     # of each of four springs
nodes = [c for z in (0.5, 0.6) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)) for c in (x, y, z)]

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/table', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.6)
stone = BULK_MATERIAL(solfec, density=density)
GRAVITY(solfec, (0, 0, -9.81))
table = BODY(solfec, 'RIGID', HEX(nodes, 1, 1, 1, 0, [0] * 6), stone, label='table')
bricks = [BODY(solfec, 'RIGID', BOX((0.5, 0.5, 0.7 + 0.2 * n), (0.4, 0.3, 0.2)), stone) for n in range(3)]

springs = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'table-springs.py')
hybrid = HYBRID_SOLVER(springs, 2.5E-4, {0: table.id}, AUTO_SOLVER())

# One mass on a spring and a dashpot, let go from the unloaded spring
mass = table.mass + sum(brick.mass for brick in bricks)
still = 9.81 * mass / (4 * stiffness)
rate, decay = sqrt(4 * stiffness / mass), 4 * damper / (2 * mass)
turning = sqrt(rate ** 2 - decay ** 2)
worst = [0.0]


def compare():
    t = solfec.time
    theory = still * (1 - exp(-decay * t) * (cos(turning * t) + decay / turning * sin(turning * t)))
    worst[0] = max(worst[0], abs(0.55 - table.conf[11] - theory))


CALLBACK(solfec, 0.01, (), compare)
OUTPUT(solfec, 0.02)
RUN(solfec, hybrid, duration)

if solfec.mode == 'WRITE' and not VIEWER():
    print('the table has sunk by %.1f mm; at rest weight over stiffness is %.1f mm' % (1000 * (0.55 - table.conf[11]), 1000 * still))
    print('it moved like a mass on a spring up to %.2f mm' % (1000 * worst[0]))
    print('springs less the weight of the table have given %.1f Ns; weight of the bricks times time %.1f Ns' % (
        hybrid.exchange['impulse'][2], 9.81 * (mass - table.mass) * solfec.time))
