"""A stack that falls asleep, is struck, and sleeps again beside one that sleeps on: steps of rest, and who sleeps, go on."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
solfec.sleeping = (0.002, 6)
SURFACE_MATERIAL(solfec, friction=0.4)
stone = BULK_MATERIAL(solfec, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))

def box(x, y, z, a=1.0, b=1.0, c=1.0):
    return HULL([w for k in (z, z + c) for j in (y, y + b) for i in (x, x + a) for w in (i, j, k)], 1, 1)

BODY(solfec, 'OBSTACLE', box(-5, -5, -1, 10, 10, 1), stone)
for x in (0, 2):
    for k, scheme in enumerate(('RIG_NEG', 'RIG_POS', 'RIG_IMP')):
        BODY(solfec, 'RIGID', box(x, 0, k), stone).scheme = scheme
INITIAL_VELOCITY(BODY(solfec, 'RIGID', SPHERE((-0.26, 0.5, 2.5), 0.2, 2, 2), stone), (5, 0, 0), (0, 0, 0))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 500), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
