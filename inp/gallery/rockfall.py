# Rockfall: boulders come down a rough slope, and a dam stops them
#
# Broken rock on a hillside of a grid of heights loses its hold, tumbles down and comes to rest in a ditch in front of a dam. The
# energy that contacts take is what the rock loses in height. Arguments: number of boulders, duration:
#
#   solfec inp/gallery/rockfall.py 60 8

from math import sin

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if len(arguments) > 0 else 60
duration = float(arguments[1]) if len(arguments) > 1 else 8.0
size = 0.6


def height(x, y):
    """A slope of 40 degrees with gullies and bumps, and a ditch at its foot."""
    slope = 0.84 * max(0.0, 26.0 - x)
    return slope + (0.2 * sin(1.1 * x + 0.4 * y) + 0.25 * sin(0.9 * y - 0.3 * x)) * min(1.0, slope) + 0.03 * (y - 12) ** 2


solfec = SOLFEC('DYNAMIC', 2E-3, 'out/gallery/rockfall-%d' % count, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.5, restitution=0.3)
rock = BULK_MATERIAL(solfec, density=2600.0)
GRAVITY(solfec, (0, 0, -9.81))

heights = [[height(x, y) for y in range(25)] for x in range(38)]
BODY(solfec, 'OBSTACLE', TERRAIN(heights, 1.0), rock, label='hill')
dam = HULL([c for y in (0, 24) for x, z in ((31, -1), (37, -1), (33, 4), (34, 4)) for c in (x, y, z)], 0, 0)
BODY(solfec, 'OBSTACLE', dam, rock, label='dam')
kinds = VORONOI(BOX((0, 0, 0), (1, 1, 1)), 6, relax=3)
boulders = []
for number, kind in enumerate(kinds):
    share = (count * (number + 1)) // 6 - (count * number) // 6
    low, high = (1 + 1.3 * number, 9, 23 - 1.1 * number), (2.3 + 1.3 * number, 15, 27 - 1.1 * number)
    for shape in PACKING(share, low, high, (0.4 * size, size), shape=kind, random=number) if share else []:
        boulders.append(BODY(solfec, 'RIGID', shape, rock))
start = sum(body.mass * body.conf[11] for body in boulders)

OUTPUT(solfec, duration / 100)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    energy = ENERGY(solfec)
    lost = 9.81 * (start - sum(body.mass * body.conf[11] for body in boulders))
    stopped = sum(24 < body.conf[9] < 33 and 0 < body.conf[10] < 24 for body in boulders)
    print('%d of %d boulders lie before the dam' % (stopped, count))
    print('lost in height %.1f kJ, taken by contacts %.1f kJ, kinetic %.1f kJ' % (
        lost / 1000, -(energy.contact + energy.friction) / 1000, energy.kinetic / 1000))
