"""A slice of a rock-fill dam: irregular stones fall between two plates and come to rest (the second example of the Saladyn paper).

    solfec -w inp/coupling/rock-fill.py [stones] [auto | sweeps | siconos] [seconds]

At the end it prints where the stones lie, what the ground carries, and the work of the solver.
"""

import math
import random
import time

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if arguments else 200
method = arguments[1] if len(arguments) > 1 else 'auto'
duration = float(arguments[2]) if len(arguments) > 2 else 2.5
SIZE, STEP, FRICTION = 0.5, 2E-3, 0.5  # least and greatest radius: SIZE, 1.5 SIZE

solfec = SOLFEC('DYNAMIC', STEP, 'out/coupling/rock-fill-%d-%s' % (count, method), contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, model='SIGNORINI_COULOMB', friction=FRICTION)
rock = BULK_MATERIAL(solfec, density=2600, label='rock')
GRAVITY(solfec, (0, 0, -9.81))

random.seed(2)
depth = 6 * SIZE  # between the plates
width = depth * max(math.sqrt(count / 4.0), 1.0)
height = count * 4.0 / 3.0 * math.pi * (1.25 * SIZE) ** 3 / (0.3 * width * depth)  # of loose stones


def plate(low, high, label):
    """A plate of the mould."""
    center, size = [[0.5 * (a + b) for a, b in zip(low, high)], [b - a for a, b in zip(low, high)]]
    return BODY(solfec, 'OBSTACLE', BOX(center, size), rock, label=label)


ground = plate((-1, -1, -1), (width + 1, depth + 1, 0), 'ground')
plate((-1, -1, 0), (width + 1, 0, height), 'front')
plate((-1, depth, 0), (width + 1, depth + 1, height), 'back')
plate((-1, 0, 0), (0, depth, height), 'left')
plate((width, 0, 0), (width + 1, depth, height), 'right')

points = []  # of a stone: a ball that is pressed flat here and there
for _ in range(14):
    direction = [random.gauss(0, 1) for _ in range(3)]
    length = math.sqrt(sum(x * x for x in direction)) / random.uniform(0.75, 1.0)
    points += [x / length for x in direction]
stones = [BODY(solfec, 'RIGID', stone, rock) for stone in PACKING(count, (0, 0, 0.1), (width, depth, height), (SIZE, 1.5 * SIZE), HULL(points, 1, 1))]

if method == 'siconos':
    solver = SICONOS_SOLVER(1E-4, 1000)
else:
    solver = GAUSS_SEIDEL_SOLVER(1E-3, 200) if method == 'sweeps' else AUTO_SOLVER(1E-3)
OUTPUT(solfec, 0.1)
iterations = []


def note():
    iterations.append(solver.iters)
    return 1


CALLBACK(solfec, 10 * STEP, (), note)
if not VIEWER() and solfec.mode == 'WRITE':
    start = time.time()
    RUN(solfec, solver, duration)
    weight = 9.81 * sum(stone.mass for stone in stones)
    heights = [stone.conf[11] for stone in stones]
    carried = sum(abs(c.R[2] * c.base[8]) for c in solfec.constraints if ground.id in [body.id for body in c.adjbod])
    print('%d stones, %s: mean height %.3f m, the ground carries %.3f of the weight, kinetic energy %.1e of the potential one' % (
        count, method, sum(heights) / count, carried / weight, ENERGY(solfec)[0] / (weight * sum(heights) / count)))
    print('%.1f iterations a step, %.1f s, %d contacts' % (1.0 * sum(iterations) / len(iterations), time.time() - start, solfec.ncon))
