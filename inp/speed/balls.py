# Balls fall on a stair of bricks that lie loose on one another
#
# Arguments: balls, duration:
#
#   solfec inp/speed/balls.py 200 0.5

import random

given = NON_SOLFEC_ARGV() or ()
count = int(given[0]) if len(given) > 0 else 200
duration = float(given[1]) if len(given) > 1 else 0.5
COURSES, SIZE = 8, 0.06  # of the stair; radius of balls, m
random.seed(1)

model = SOLFEC('DYNAMIC', 1E-3, 'out/speed/balls-%d' % count)
SURFACE_MATERIAL(model, model='SIGNORINI_COULOMB', friction=0.4)
stone = BULK_MATERIAL(model, density=2000)
GRAVITY(model, (0, 0, -9.81))

BODY(model, 'OBSTACLE', BOX((1, 0.5, -0.5), (6, 4, 1)), stone, label='ground')
for course in range(COURSES):
    for column in range(COURSES - course):
        BODY(model, 'RIGID', BOX((0.25 * column + 0.125, 0.5, 0.1 * course + 0.05), (0.25, 1.0, 0.1), surfid=2), stone)
for number in range(count):
    layer, rest = divmod(number, 7 * 6)
    row, column = divmod(rest, 7)
    centre = (0.2 + 0.25 * column + random.uniform(-0.02, 0.02), 0.1 + 0.15 * row, 1.0 + 0.15 * layer)
    BODY(model, 'RIGID', SPHERE(centre, SIZE, 3, 3), stone)

OUTPUT(model, duration)
RUN(model, GAUSS_SEIDEL_SOLVER(1E-3, 200), duration)

if model.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (model.nbod, model.ncon, ENERGY(model)[0]))
