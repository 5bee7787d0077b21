# A roller crosses a dry-stone arch
#
# A heavy roller goes over a segmental arch of voussoirs at an even speed. The abutments carry the weights of the arch and the
# roller together. Arguments: weight of the roller over that of the arch, voussoirs, duration:
#
#   solfec inp/gallery/bridge-load.py 0.15 17 8

from math import cos, pi, radians, sin, tan

arguments = [float(word) for word in NON_SOLFEC_ARGV() or []]
share, count, duration = arguments + [0.15, 17, 8.0][len(arguments):]
radius, thick, width, span = 5.0, 0.4, 1.0, 60.0
roller = 0.25

solfec = SOLFEC('DYNAMIC', 2E-3, 'out/gallery/bridge-load-%g' % share, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.7)
stone = BULK_MATERIAL(solfec, density=2400.0)
GRAVITY(solfec, (0, 0, -9.81))

count = int(count)
shapes = ARCH(radius, thick, width, count + 2, angle=span * (count + 2) / count)
ends = [BODY(solfec, 'OBSTACLE', shapes[k], stone, label=label) for k, label in ((0, 'left'), (-1, 'right'))]
arch = [BODY(solfec, 'RIGID', shape, stone) for shape in shapes[1:-1]]
mass = sum(stone.mass for stone in arch)

outer, tilt = radius + thick / 2 + roller, radians(0.4 * span)
far, speed = outer * sin(tilt), 2 * outer * sin(tilt) / duration
iron = BULK_MATERIAL(solfec, density=share * mass / (0.8 * pi * roller ** 2))
load = BODY(solfec, 'RIGID', CYLINDER((-far, -0.4, outer * cos(tilt)), (0, 0.8, 0), roller, sides=96), iron, label='roller')
SET_VELOCITY(load, load.center, (1, 0, 0), speed)
INITIAL_VELOCITY(load, (speed, 0, speed * tan(tilt)), (0, speed / cos(tilt) / roller, 0))
sums = []


def upward(body):
    """Force that contacts put on an abutment, upwards."""
    return sum((c.base[2] * c.R[0] + c.base[5] * c.R[1] + c.base[8] * c.R[2]) * (1 if c.adjbod[0] == body else -1)
               for c in body.constraints if c.kind == 'CONTACT')


def watch():
    sums.append(-sum(upward(end) for end in ends))


CALLBACK(solfec, 2E-3, (), watch)
OUTPUT(solfec, duration / 80)
RUN(solfec, AUTO_SOLVER(1E-5), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    # What the abutments carry in the mean is the weights and the gain of momentum upwards: the roller comes upwards and leaves downwards
    gain = sum(body.mass * body.velo[5] for body in arch + [load]) - load.mass * speed * tan(tilt)
    weight = 9.81 * (mass + load.mass) + gain / duration
    print('weight and momentum of arch and roller take %.3f kN; the abutments carry %.3f kN' % (weight / 1000, sum(sums) / len(sums) / 1000))
    print('the arch has sunk by %.2f mm' % (1000 * max(body.center[2] - body.conf[11] for body in arch)))
