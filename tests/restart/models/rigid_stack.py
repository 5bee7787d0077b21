"""A stack at rest and a block that slides into it: warm starts of lasting, new and lost contacts; all rigid schemes."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.4, restitution=0.1)
stone = BULK_MATERIAL(solfec, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))

def box(x, y, z, a=1.0, b=1.0, c=1.0):
    return HULL([w for k in (z, z + c) for j in (y, y + b) for i in (x, x + a) for w in (i, j, k)], 1, 1)

BODY(solfec, 'OBSTACLE', box(-5, -5, -1, 10, 10, 1), stone)
for k, scheme in enumerate(('RIG_NEG', 'RIG_POS', 'RIG_IMP', 'DEFAULT')):
    BODY(solfec, 'RIGID', box(0, 0, k * 1.0), stone, label='layer %d' % k).scheme = scheme
INITIAL_VELOCITY(BODY(solfec, 'RIGID', box(-1.01, 0.1, 0.0005), stone), (1, 0, 0), (0, 0, 0.1))
INITIAL_VELOCITY(BODY(solfec, 'RIGID', SPHERE((0.5, 0.5, 4.41), 0.4, 2, 2), stone), (0.2, 0, -3), (0, 2, 0))
held = BODY(solfec, 'RIGID', box(3, 3, 0), stone)
held.disable_rotation = 'ON'
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-5, 100), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
