"""A slice of a rock-fill dam: irregular stones fall between two plates and come to rest (the second example of the Saladyn paper).

    solfec -w inp/coupling/rock-fill.py [stones] [auto | sweeps | siconos | lmgc90] [seconds] [results]

At the end it prints where the stones lie, what the ground carries, and the work of the solver. With a directory of results of as many stones
they start from its last state, at rest.
"""

import math
import random
import time

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if arguments else 200
method = arguments[1] if len(arguments) > 1 else 'auto'
duration = float(arguments[2]) if len(arguments) > 2 else 2.5
earlier = arguments[3] if len(arguments) > 3 else None
SIZE, STEP, FRICTION = 0.5, 2E-3, 0.5  # least and greatest radius: SIZE, 1.5 SIZE

solfec = SOLFEC('DYNAMIC', STEP, 'out/coupling/rock-fill-%d-%s%s' % (count, method, '-from-rest' if earlier else ''), contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, model='SIGNORINI_COULOMB', friction=FRICTION)
rock = BULK_MATERIAL(solfec, density=2600, label='rock')
GRAVITY(solfec, (0, 0, -9.81))

if method not in ('auto', 'sweeps', 'siconos', 'lmgc90'):
    raise ValueError('rock-fill.py: the second argument is %r; it must be auto, sweeps, siconos or lmgc90' % method)
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
if earlier:
    from solfec import results
    with results.open(earlier) as run:
        INITIALIZE_STATE(solfec, earlier, float(run.times[-1]))
    for stone in stones:
        INITIAL_VELOCITY(stone, (0, 0, 0), (0, 0, 0))
start = [stone.conf[9:] for stone in stones]

if method == 'siconos':
    solver = SICONOS_SOLVER(1E-4, 1000)
else:
    solver = GAUSS_SEIDEL_SOLVER(1E-3, 200) if method == 'sweeps' else AUTO_SOLVER(1E-3)
OUTPUT(solfec, 0.1)
weight = 9.81 * sum(stone.mass for stone in stones)
iterations = []


def note():
    iterations.append(solver.iters)
    return 1


def told(centres, carried, kinetic, contacts, sweeps, seconds):
    """Print the end state and the work."""
    height = sum(centre[2] for centre in centres) / count
    if earlier:
        moved = sorted(math.dist(one, other) for one, other in zip(start, centres))
        print('half of the stones moved by less than %.2g m, 99 %% by less than %.2g m' % (moved[count // 2], moved[99 * count // 100]))
    print('%d stones, %s: mean height %.3f m, the ground carries %.3f of the weight, kinetic energy %.1e of the potential one' % (
        count, method, height, carried / weight, kinetic / (weight * height)))
    print('%.1f iterations a step, %.1f s, %d contacts' % (sweeps, seconds, contacts))


def by_lmgc90():
    """Let LMGC90 find contacts, integrate and solve; nothing is written."""
    from solfec.coupling.lmgc90 import helper
    from solfec.coupling.toolbox import Buffer, LmgcModeler
    begin, modeler, buffer, steps = time.time(), LmgcModeler(solfec, duration, process=helper(patience=120), maxiter=1000 if count > 1000 else 25000), Buffer(), int(round(duration / STEP))
    said = time.time()
    with modeler.process:
        for step in range(1, steps + 1):
            modeler.advance(1)
            if time.time() - said > 10:
                said = time.time()
                print('LMGC90: %d of %d steps, %d sweeps, %d steps unsolved, %.0f s' % (step, steps, modeler.iterations, modeler.unsolved, said - begin), flush=True)
    modeler.pull(buffer)
    rows = [k for k, body in enumerate(buffer.bodies.id) if body in moving]
    speed = [sum(v * v for v in buffer.bodies.velocity[k]) for k in rows]
    kinetic = sum(0.5 * buffer.bodies.mass[k] * v for k, v in zip(rows, speed))
    carried = abs(buffer.interactions.resultants([ground.id])[0][2])
    told([buffer.bodies.centre[k] for k in rows], carried, kinetic, len(buffer.interactions.gap), modeler.iterations / steps, time.time() - begin)
    print('LMGC90 left %d of %d steps unsolved' % (modeler.unsolved, steps))


CALLBACK(solfec, STEP, (), note)
moving = set(stone.id for stone in stones)
if VIEWER() or solfec.mode != 'WRITE':
    pass
elif method == 'lmgc90':
    by_lmgc90()
else:
    begin = time.time()
    RUN(solfec, solver, duration)
    carried = abs(sum(c.R[2] * c.base[8] for c in solfec.constraints if ground.id in [body.id for body in c.adjbod]))
    told([stone.conf[9:] for stone in stones], carried, ENERGY(solfec)[0], solfec.ncon, 1.0 * sum(iterations) / len(iterations), time.time() - begin)
