# Race down a ramp: balls, a cylinder and a block
#
# What rolls is slower the more of its mass is far from its axis: a = g sin s / (1 + I/(m r^2)), which is 5/7, 3/5 and 2/3 of
# g sin s for a ball, a hollow ball and a cylinder; the block slides at g (sin s - m cos s). Argument: duration:
#
#   solfec inp/gallery/race.py 1.5

from math import cos, radians, sin

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 1.5
slope, radius, friction, wax = radians(20), 0.1, 0.6, 0.15
down, up = (cos(slope), 0, -sin(slope)), (sin(slope), 0, cos(slope))

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/gallery/race', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=friction)
SURFACE_MATERIAL(solfec, 0, 2, friction=wax)   # below the block
wood = BULK_MATERIAL(solfec, density=700.0)
GRAVITY(solfec, (0, 0, -9.81))

ramp = BOX((1.4, 0, -0.05), (3.6, 2.0, 0.1))
BODY(solfec, 'OBSTACLE', ROTATE(ramp, (0, 0, 0), (0, 1, 0), 20), wood, label='ramp')


def start(shape, label, y):
    return BODY(solfec, 'RIGID', TRANSLATE(shape, tuple(radius * u + y * e for u, e in zip(up, (0, 1, 0)))), wood, label=label)


def hollow(ball):
    """A ball of the same mass, all of it at the surface."""
    inertia = 2 / 3.0 * ball.mass * radius ** 2
    BODY_CHARS(ball, ball.mass, ball.volume, ball.center, (inertia, 0, 0, 0, inertia, 0, 0, 0, inertia))
    return ball


racers = [start(SPHERE((0, 0, 0), radius, 0, 0), 'ball', -0.75),
          hollow(start(SPHERE((0, 0, 0), radius, 0, 0), 'hollow ball', -0.25)),
          start(CYLINDER((0, -0.1, 0), (0, 0.2, 0), radius, sides=360), 'cylinder', 0.25),   # edges cost some energy
          start(ROTATE(BOX((0, 0, 0), (0.2, 0.2, 0.2), surfid=2), (0, 0, 0), (0, 1, 0), 20), 'block', 0.75)]

OUTPUT(solfec, duration / 50)
RUN(solfec, AUTO_SOLVER(1E-8), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    for body in racers:
        way = sum((body.conf[9 + axis] - body.center[axis]) * down[axis] for axis in range(3))
        inertia = body.tensor[4] / (body.mass * radius ** 2)
        theory = 9.81 * (sin(slope) / (1 + inertia) if body.label != 'block' else sin(slope) - wax * cos(slope))
        print('%s: a = %.4f m/s2, theory %.4f' % (body.label, 2 * way / solfec.time ** 2, theory))
