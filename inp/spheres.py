# Sphere packing: spheres settle in a box
#
# Spheres of random radii fall into an open box.  Arguments: number of spheres, duration:
#
#   solfec inp/spheres.py 10000 1.0

import random

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if len(arguments) > 0 else 500
duration = float(arguments[1]) if len(arguments) > 1 else 1.0
random.seed(1)

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/spheres/%d' % count, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.3)
bulk = BULK_MATERIAL(solfec, density=2500.0)
GRAVITY(solfec, (0, 0, -9.81))

radius, cell = 0.05, 0.11
side = max(3, round((count / 2.0) ** (1 / 3.0)))  # spheres along a side of the box; it is filled twice as high
length = side * cell
height = (count // side ** 2 + 2) * cell


def box(lower, upper):
    return HULL([c for z in (lower[2], upper[2]) for y in (lower[1], upper[1]) for x in (lower[0], upper[0])
                 for c in (x, y, z)], 1, 1)


walls = [box((-0.1, -0.1, -0.1), (length + 0.1, length + 0.1, 0.0)),
         box((-0.1, -0.1, 0.0), (0.0, length + 0.1, height)),
         box((length, -0.1, 0.0), (length + 0.1, length + 0.1, height)),
         box((0.0, -0.1, 0.0), (length, 0.0, height)),
         box((0.0, length, 0.0), (length, length + 0.1, height))]
BODY(solfec, 'OBSTACLE', walls, bulk, label='box')
for number in range(count):
    layer, rest = divmod(number, side * side)
    row, column = divmod(rest, side)
    centre = [(index + 0.5) * cell + random.uniform(-0.004, 0.004) for index in (column, row, layer)]
    BODY(solfec, 'RIGID', SPHERE(tuple(centre), radius * random.uniform(0.8, 1.0), 2, 2), bulk)

OUTPUT(solfec, duration / 20)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 500), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d contacts, kinetic energy %.3e' % (solfec.nbod, solfec.ncon, ENERGY(solfec)[0]))
