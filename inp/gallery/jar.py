# A jar of balls, dice, bolts, pills and eggs
#
# All kinds of shapes fall into a jar. At rest, what the jar carries is their weight. Arguments: number of each kind, duration:
#
#   solfec inp/gallery/jar.py 30 2

from math import cos, pi, sin

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if len(arguments) > 0 else 30
duration = float(arguments[1]) if len(arguments) > 1 else 2.0
size, wide, high, sides = 0.03, 0.14, 0.35, 24

solfec = SOLFEC('DYNAMIC', 2E-3, 'out/gallery/jar-%d' % count, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.4)
glass = BULK_MATERIAL(solfec, density=2500.0)
GRAVITY(solfec, (0, 0, -9.81))

def wall(k):
    return HULL([c for n in (k, k + 1) for r in (wide, wide + 0.02) for z in (0, high)
                 for c in (r * sin(2 * pi * n / sides), -r * cos(2 * pi * n / sides), z)], 0, 0)


bottom = CYLINDER((0, 0, -0.02), (0, 0, 0.02), wide + 0.02, sides=sides)
jar = [BODY(solfec, 'OBSTACLE', shape, glass, label=label) for label, shape in (
    ('front', [wall(k) for k in range(-sides // 4, sides // 4)]),   # a body of its own: the viewer may hide it
    ('back', [bottom] + [wall(k) for k in range(sides // 4, 3 * sides // 4)]))]

kinds = [None, BOX((0, 0, 0), (1, 1, 1)), CYLINDER((0, 0, 0), (0, 0, 1.2), 0.4, sides=12), CAPSULE((0, 0, 0), (0, 0, 1), 0.35, sides=8), ELLIP((0, 0, 0), (1, 0.7, 0.7), 0, 0)]
layer = max(2.1 * size, 11.0 * count * size ** 3 / (1.35 * wide) ** 2)
things = []
for number, kind in enumerate(kinds):
    low, high = (-0.68 * wide, -0.68 * wide, number * layer), (0.68 * wide, 0.68 * wide, (number + 1) * layer)
    options = {'shape': kind} if kind else {}
    for shape in PACKING(count, low, high, (0.7 * size, size), random=number, **options):
        things.append(BODY(solfec, 'RIGID', shape, glass))

OUTPUT(solfec, duration / 60)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 200), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    weight = 9.81 * sum(body.mass for body in things)
    carried = sum((c.base[2] * c.R[0] + c.base[5] * c.R[1] + c.base[8] * c.R[2]) * (1 if c.adjbod[0] == part else -1)
                  for part in jar for c in part.constraints)
    print('%d things weigh %.2f N; the jar carries %.2f N' % (len(things), weight, -carried))
    print('kinetic energy %.2e J; lowest point of a mass centre %.1f mm' % (ENERGY(solfec).kinetic, 1000 * min(body.conf[11] for body in things)))
