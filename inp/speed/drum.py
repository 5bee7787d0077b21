# A drum that turns: balls or ellipsoids tumble in it
#
# Arguments: bodies, shape (SPHERES or ELLIPSOIDS), kind (RIGID or PSEUDO_RIGID), solver (GAUSS_SEIDEL or NEWTON), duration (s), length of the
# drum (m), which holds some 450 bodies in 0.3 m:
#
#   solfec inp/speed/drum.py 500 ELLIPSOIDS PSEUDO_RIGID NEWTON 0.5

from math import cos, pi, sin

given = NON_SOLFEC_ARGV() or ()
count = int(given[0]) if len(given) > 0 else 450
shape, kind, method = [given[k] if len(given) > k else word for k, word in ((1, 'SPHERES'), (2, 'RIGID'), (3, 'GAUSS_SEIDEL'))]
duration = float(given[4]) if len(given) > 4 else 0.5
WIDE = float(given[5]) if len(given) > 5 else 0.3
RADIUS, PANELS, SIZE, RATE = 0.5, 24, 0.025, 2.0  # of the drum, m; of a body, m; rad/s
for word, known in ((shape, ('SPHERES', 'ELLIPSOIDS')), (kind, ('RIGID', 'PSEUDO_RIGID')), (method, ('GAUSS_SEIDEL', 'NEWTON'))):
    if word not in known:
        raise ValueError('drum.py: %r must be %s or %s' % (word, *known))

drum = SOLFEC('DYNAMIC', 1E-3, 'out/speed/drum-%d-%s-%s-%s-%g' % (count, shape, kind, method, WIDE))
SURFACE_MATERIAL(drum, model='SIGNORINI_COULOMB', friction=0.4)
grain = BULK_MATERIAL(drum, model='KIRCHHOFF', young=1E7, poisson=0.25, density=1500)
GRAVITY(drum, (0, 0, -9.81))


def panel(number):
    """A plank of the drum's shell."""
    ends = [2 * pi * k / PANELS for k in (number, number + 1)]
    return HULL([c for angle in ends for r in (RADIUS, RADIUS + 0.05) for y in (0, WIDE) for c in (r * cos(angle), y, r * sin(angle))], 1, 1)


lids = [CYLINDER((0, low, 0), (0, 0.05, 0), RADIUS + 0.05) for low in (-0.05, WIDE)]
shell = BODY(drum, 'OBSTACLE', [panel(k) for k in range(PANELS)] + lids, grain, label='shell')
SET_ROTATION(shell, (0, 0, 0), (0, 1, 0), RATE)

across, reach = int(WIDE / (2.1 * SIZE)), 0.7 * RADIUS
columns = int(2 * reach / (2.1 * SIZE))
for number in range(count):
    layer, rest = divmod(number, across * columns)
    row, column = divmod(rest, columns)
    centre = (-reach + (2 * column + 1 + 0.2 * (row % 2)) * 1.05 * SIZE, (2 * row + 1) * 1.05 * SIZE, -reach + 2.1 * SIZE * layer)
    if shape == 'SPHERES':
        body = SPHERE(centre, SIZE * (1 - 0.2 * (number % 3) / 2), 2, 2)
    else:
        body = ELLIP(centre, (SIZE, 0.8 * SIZE, 0.6 * SIZE), 2, 2)
    BODY(drum, kind, body, grain)

OUTPUT(drum, duration)
RUN(drum, GAUSS_SEIDEL_SOLVER(1E-3, 200) if method == 'GAUSS_SEIDEL' else NEWTON_SOLVER(1E-6), duration)

if drum.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (drum.nbod, drum.ncon, ENERGY(drum)[0]))
