# Gears by contact: teeth of two wheels push one another
#
# Involute teeth keep the ratio of the rates of both wheels, and so of their torques, at that of the numbers of teeth. A motor turns
# the small wheel, a brake holds the large one back. Arguments: friction, duration:
#
#   solfec inp/gallery/gears.py 0.05 0.4

from math import acos, cos, pi, radians, sin, tan

arguments = [float(word) for word in NON_SOLFEC_ARGV() or []]
friction, duration = arguments + [0.05, 0.4][len(arguments):]
module, pressure, width = 0.01, radians(20), 0.02     # pitch diameter over number of teeth; angle of the line of contact
counts = 16, 24
rate, brake = 10.0, 20.0

solfec = SOLFEC('DYNAMIC', 2E-4, 'out/gallery/gears-%g' % friction, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=friction)
steel = BULK_MATERIAL(solfec, density=7800.0)


def involute(angle):
    return tan(angle) - angle


def wheel(count, x, phase):
    """A disc below the teeth, and a convex for each of them, with points on the involutes of its flanks."""
    pitch = module * count / 2
    base, tip, root = pitch * cos(pressure), pitch + module, pitch - 1.25 * module
    half = pi / (2 * count) * 0.98      # half the angle of a tooth at the pitch circle; 2 % of play
    flank = [(root, half + involute(pressure))]
    for k in range(9):
        r = max(base, root) + (tip - max(base, root)) * k / 8
        flank.append((r, half + involute(pressure) - involute(acos(min(1.0, base / r)))))
    shapes = [CYLINDER((x, 0, -width / 2), (0, 0, width), root, sides=2 * count)]
    for n in range(count):
        middle = phase + 2 * pi * n / count
        points = [(x + r * cos(middle + s * a), r * sin(middle + s * a)) for s in (-1, 1) for r, a in flank]
        points += [(x + 0.8 * root * cos(middle + s * half), 0.8 * root * sin(middle + s * half)) for s in (-1, 1)]
        shapes.append(HULL([c for z in (-width / 2, width / 2) for px, py in points for c in (px, py, z)], 0, 0))
    return shapes


apart = module * sum(counts) / 2
small = BODY(solfec, 'RIGID', wheel(counts[0], 0.0, 0.0), steel, label='small wheel')
large = BODY(solfec, 'RIGID', wheel(counts[1], apart, pi + pi / counts[1]), steel, label='large wheel')
drive = HINGE(small, None, (0, 0, 0), (0, 0, 1), label='drive')
driven = HINGE(large, None, (apart, 0, 0), (0, 0, 1), label='driven', friction=brake)
MOTOR(drive, 'RATE', lambda t: rate * min(1.0, t / 0.02))

torques, angles = [], []


def watch():
    if solfec.time > 0.3 * duration:
        torques.append(drive.torque)
        angles.append((drive.angle, driven.angle))


CALLBACK(solfec, 2E-4, (), watch)
OUTPUT(solfec, duration / 50)
RUN(solfec, AUTO_SOLVER(1E-8), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    turns = [last - first for first, last in zip(angles[0], angles[-1])]
    print('ratio of the angles %.4f, of the teeth %.4f' % (-turns[1] / turns[0], counts[0] / float(counts[1])))
    print('mean torque of the motor %.2f Nm; without friction %.2f Nm' % (sum(torques) / len(torques), brake * counts[0] / counts[1]))
