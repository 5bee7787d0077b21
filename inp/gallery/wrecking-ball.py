# Wrecking ball: an iron ball on a rope swings into a brick wall
#
# The ball falls by h = l (1 - cos a) on its circle and meets the wall at the speed sqrt (2 g h). Arguments: bricks in a course,
# courses, duration:
#
#   solfec inp/gallery/wrecking-ball.py 6 10 1.6

from math import cos, pi, radians, sin, sqrt

arguments = NON_SOLFEC_ARGV() or []
bricks = int(arguments[0]) if len(arguments) > 0 else 6
courses = int(arguments[1]) if len(arguments) > 1 else 10
duration = float(arguments[2]) if len(arguments) > 2 else 1.6
brick = length, thickness, height = 0.4, 0.2, 0.15
radius, rope, angle = 0.25, 2.2, radians(60)

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/gallery/wrecking-ball-%d-%d' % (bricks, courses), contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.6)
stone, iron = BULK_MATERIAL(solfec, density=1800.0), BULK_MATERIAL(solfec, density=7200.0)
GRAVITY(solfec, (0, 0, -9.81))

middle, target = bricks * length / 2, 0.7 * courses * height
BODY(solfec, 'OBSTACLE', PLANE((middle, 0, 0), (0, 0, 1), 12, thickness=0.2), stone, label='ground')
wall = [BODY(solfec, 'RIGID', shape, stone) for shape in WALL(bricks, courses, brick, corner=(0, -thickness / 2, 0))]

pivot = (middle, -thickness / 2 - radius, target + rope)   # the rope hangs straight down when the ball meets the wall
centre = (middle, pivot[1] - rope * sin(angle), pivot[2] - rope * cos(angle))
ball = BODY(solfec, 'RIGID', SPHERE(centre, radius, 0, 0), iron, label='ball')
ROPE(ball, None, centre, pivot, label='rope')

fastest = [0.0]


def watch():
    fastest[0] = max(fastest[0], sqrt(sum(v * v for v in ball.velo[3:6])))


CALLBACK(solfec, 1E-3, (), watch)
OUTPUT(solfec, duration / 60)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 200), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    fallen = sum(body.conf[11] < body.center[2] - 0.5 * height for body in wall)
    print('the ball met the wall at %.3f m/s, sqrt (2 g h) = %.3f' % (fastest[0], sqrt(2 * 9.81 * rope * (1 - cos(angle)))))
    print('%d of %d bricks have fallen' % (fallen, len(wall)))
