# A graphite core: stacks of pseudo-rigid bricks with keyways, and rigid keys in some of them, in a vessel that is shaken
#
# Each face of a brick has two pads with a keyway between them; a key fills the keyways of two neighbours.  Arguments: stacks along
# a side, bricks in a stack, duration:
#
#   solfec inp/parallel/core.py 3 2 0.02
#   mpiexec -n 4 solfec inp/parallel/core.py 20 10    (4000 bricks and 1267 keys)

import math

given = NON_SOLFEC_ARGV() or ()
side, layers = (int(given[k]) if len(given) > k else default for k, default in enumerate((5, 3)))
duration = float(given[2]) if len(given) > 2 else 0.2

SIZE, HEIGHT = 0.40, 0.50  # of a brick without its pads [m]
PAD, SLOT = 0.03, 0.10  # thickness of the pads on a face, and width of the keyway between them [m]
GAP, PLAY = 0.002, 0.004  # between bricks, and of a key in its keyway [m]
PITCH = SIZE + 2 * PAD + GAP
FREQUENCY, SPEED = 5.0, 0.15  # of the box [Hz, m/s]

core = SOLFEC("DYNAMIC", 2e-4, "out/parallel/core", contacts="MANIFOLD")
graphite = BULK_MATERIAL(core, model="KIRCHHOFF", young=1e9, poisson=0.2, density=1800)
SURFACE_MATERIAL(core, model="SIGNORINI_COULOMB", friction=0.2)
GRAVITY(core, (0, 0, -9.81))


def box(low, size):
    """A box by its lower corner."""
    return HULL([tuple(a + s * b for a, s, b in zip(low, corner, size)) for corner in
                 ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))], 1, 1)  # fmt: skip


def brick(x, y, z):
    """A prism about (x, y) with two pads on each face."""
    half, width = SIZE / 2, (SIZE - SLOT) / 2
    parts = [box((x - half, y - half, z), (SIZE, SIZE, HEIGHT))]
    for start in (-half, SLOT / 2):
        for at in (-half - PAD, half):
            parts.append(box((x + at, y + start, z), (PAD, width, HEIGHT)))
            parts.append(box((x + start, y + at, z), (width, PAD, HEIGHT)))
    return BODY(core, "PSEUDO_RIGID", parts, graphite)


def key(x, y, z, along):
    """A slab in the keyways of two bricks on both sides of (x, y); `along`: 0, they are neighbours in x, or 1, in y."""
    deep, wide = 2 * PAD + GAP - PLAY, SLOT - PLAY
    size = (deep, wide, HEIGHT) if along == 0 else (wide, deep, HEIGHT)
    return BODY(core, "RIGID", box((x - size[0] / 2, y - size[1] / 2, z), size), graphite)


bricks = keys = 0
for k in range(layers):
    for i in range(side):
        for j in range(side):
            x, y, z = i * PITCH, j * PITCH, k * HEIGHT
            brick(x, y, z)
            bricks += 1
            turn = (i + j + k) % 6
            if turn == 0 and i + 1 < side:
                key(x + PITCH / 2, y, z, 0)
                keys += 1
            if turn == 3 and j + 1 < side:
                key(x, y + PITCH / 2, z, 1)
                keys += 1

low, width, tall = -PITCH / 2 - GAP, side * PITCH + 2 * GAP, layers * HEIGHT
floor = box((low - 0.2, low - 0.2, -0.2), (width + 0.4, width + 0.4, 0.2))
walls = [box((x, low - 0.2, 0), (0.2, width + 0.4, tall)) for x in (low - 0.2, low + width)]
walls += [box((low, y, 0), (width, 0.2, tall)) for y in (low - 0.2, low + width)]
vessel = BODY(core, "OBSTACLE", [floor, *walls], graphite, label="vessel")
times = [duration * k / 400 for k in range(401)]
wave = [value for t in times for value in (t, SPEED * math.sin(2 * math.pi * FREQUENCY * t))]
for point in ((low + width / 2, low + width / 2, -0.1), (low - 0.1, low + width / 2, tall - 0.1)):  # two, so that it does not turn
    SET_VELOCITY(vessel, point, (1, 0, 0), TIME_SERIES(wave))

if RANK() == 0:
    print(f"{bricks} bricks and {keys} keys in {NCPU()} processes")

solver = GAUSS_SEIDEL_SOLVER(1e-3, 50)
solver.colouring = "ON"  # one process takes the same bits as many
OUTPUT(core, duration / 20)
RUN(core, solver, duration)
