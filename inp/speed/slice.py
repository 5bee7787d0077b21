# A slice of a core: prismatic bricks of finite elements on a plate that shakes them against one another and a frame
#
# Arguments: bricks along a side, elements round a brick, duration:
#
#   solfec inp/speed/slice.py 5 12 0.05

from math import pi, sin

given = NON_SOLFEC_ARGV() or ()
side, cells = (int(given[k]) if len(given) > k else default for k, default in enumerate((5, 12)))
duration = float(given[2]) if len(given) > 2 else 0.05
INNER, OUTER, HEIGHT, GAP = 0.1, 0.2, 0.3, 0.002  # radii and height of bricks, and the gaps between them, m
STEP = 1E-3
FREQUENCY, AMPLITUDE = 5.0, 0.01  # of the frame, Hz and m

core = SOLFEC('DYNAMIC', STEP, 'out/speed/slice-%d-%d' % (side, cells))
SURFACE_MATERIAL(core, model='SIGNORINI_COULOMB', friction=0.2)
graphite = BULK_MATERIAL(core, model='KIRCHHOFF', young=1E9, poisson=0.2, density=1800)
GRAVITY(core, (0, 0, -9.81))

pitch = 2 * OUTER + GAP
length = side * pitch + GAP
frame = [BOX((length / 2, length / 2, -0.05), (length + 0.4, length + 0.4, 0.1))]
for at, wide in (((-0.05, length / 2), (0.1, length + 0.2)), ((length + 0.05, length / 2), (0.1, length + 0.2)),
                 ((length / 2, -0.05), (length, 0.1)), ((length / 2, length + 0.05), (length, 0.1))):
    frame.append(BOX((*at, HEIGHT / 2), (*wide, HEIGHT)))
frame = BODY(core, 'OBSTACLE', frame, graphite, label='frame')
times = [duration * k / 200 for k in range(201)]
SET_VELOCITY(frame, (0, 0, -0.05), (1, 0, 0), TIME_SERIES([c for t in times for c in (t, 2 * pi * FREQUENCY * AMPLITUDE * sin(2 * pi * FREQUENCY * t))]))
for i in range(side):
    for j in range(side):
        ring = PIPE((GAP + OUTER + i * pitch, GAP + OUTER + j * pitch, 0), (0, 0, HEIGHT), INNER, OUTER - INNER, 2, cells, 4, 2, [2] * 4)
        body = BODY(core, 'FINITE_ELEMENT', ring, graphite, form='BC')
        body.scheme, body.damping = 'DEF_LIM', 0.5 * STEP  # periods of bricks are shorter than steps

OUTPUT(core, duration)
RUN(core, NEWTON_SOLVER(1E-8), duration)

if core.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (core.nbod, core.ncon, ENERGY(core)[0]))
