# Masonry wall under an earthquake record: does it rock, does it stand?
#
# A dry wall stands on ground that an earthquake shakes across it. As a whole it begins to rock when the ground accelerates by
# more than g b/h, with its thickness b and height h. Arguments: peak of the record over g, bricks in a course, courses, duration:
#
#   solfec inp/tutorial/wall.py 0.3 5 8 6.0

from math import exp, pi, sin
from pathlib import Path

arguments = [float(word) for word in NON_SOLFEC_ARGV() or []]
peak, bricks, courses, duration = arguments + [0.3, 5, 8, 6.0][len(arguments):]
brick = length, thickness, height = 0.5, 0.25, 0.2

# The record, a file of times and accelerations as networks of stations give them; this one is made up
record = Path('out/wall-record.csv')
record.parent.mkdir(exist_ok=True)
times = [0.01 * n for n in range(601)]
shape = [(t / 1.5 * exp(1 - t / 1.5)) ** 2 * (sin(2 * pi * 1.1 * t) + 0.6 * sin(2 * pi * 2.3 * t + 1) + 0.4 * sin(2 * pi * 4.7 * t)) for t in times]
largest = max(map(abs, shape))
record.write_text('time,ax,ay\n' + '\n'.join('%.2f,0,%.6f' % (t, 9.81 * peak * a / largest) for t, a in zip(times, shape)))

solfec = SOLFEC('DYNAMIC', 2E-3, 'out/tutorial/wall-%g' % peak, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.7)
stone = BULK_MATERIAL(solfec, density=2000)
GRAVITY(solfec, (0, 0, -9.81))

ground = BODY(solfec, 'OBSTACLE', PLANE((bricks * length / 2, 0, 0), (0, 0, 1), 2 * bricks * length), stone, label='ground')
wall = [BODY(solfec, 'RIGID', shape, stone) for shape in WALL(int(bricks), int(courses), brick, corner=(0, -thickness / 2, 0))]
start = [body.conf[10] for body in wall]

for axis, column in (((1, 0, 0), 'ax'), ((0, 1, 0), 'ay')):
    SET_ACCELERATION(ground, MASS_CENTER(ground), axis, TIME_SERIES(record, columns=('time', column)))

OUTPUT(solfec, 0.04)
RUN(solfec, AUTO_SOLVER(1E-4), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    base = ground.conf[10]
    moved = max(abs(body.conf[10] - before - base) for body, before in zip(wall, start))
    print('peak %g g, rocks above %.3f g; bricks have moved by up to %.1f mm' % (peak, thickness / (courses * height), 1000 * moved))
