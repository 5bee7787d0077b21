# Newton's cradle: one ball comes, one ball leaves
#
# Five steel balls hang on two threads each. Impacts without loss go from ball to ball, so the last one swings up as high as the
# first one came from. Argument: duration:
#
#   solfec inp/gallery/cradle.py 1.8

from math import cos, pi, radians, sin

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 1.8
radius, gap, length, spread = 0.05, 2E-4, 0.5, 0.15   # the gap lets impacts happen one after another
start = radians(35)

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/gallery/cradle', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, restitution=1.0)
steel = BULK_MATERIAL(solfec, density=7800.0)
GRAVITY(solfec, (0, 0, -9.81))

frame = [BOX(centre, size) for centre, size in (
    ((0.2, -spread, length), (0.7, 0.01, 0.01)), ((0.2, spread, length), (0.7, 0.01, 0.01)),
    ((-0.15, 0, length), (0.01, 2 * spread, 0.01)), ((0.55, 0, length), (0.01, 2 * spread, 0.01)))]
BODY(solfec, 'OBSTACLE', frame, steel, label='frame')
balls = []
for number in range(5):
    pivot = number * (2 * radius + gap)
    x, z = (pivot - length * sin(start), length * (1 - cos(start))) if number == 0 else (pivot, 0)
    ball = BODY(solfec, 'RIGID', SPHERE((x, 0, z), radius, 0, 0), steel, label='ball %d' % (number + 1))
    for side in (-spread, spread):
        DISTANCE(ball, None, (x, 0, z), (pivot, side, length))
    balls.append(ball)

highest = [0.0] * 5


def watch():
    for number, ball in enumerate(balls):
        if solfec.time > 0.25 * duration:
            highest[number] = max(highest[number], ball.conf[11])


CALLBACK(solfec, 0.005, (), watch)
OUTPUT(solfec, 0.02)
RUN(solfec, AUTO_SOLVER(1E-8), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    print('the first ball came from %.2f mm, the last one rises to %.2f mm, those between to %.2f mm' % (
        1000 * length * (1 - cos(start)), 1000 * highest[4], 1000 * max(highest[1:4])))
