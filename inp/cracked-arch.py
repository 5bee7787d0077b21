# Cracked arch: its abutments yield, and it stands on three hinges
#
# Both abutments of a semicircular dry arch move outwards. The arch cannot follow as a whole: it opens at three joints, below at
# its crown and above at its haunches, and stands with the least thrust that its weight allows (Heyman). Arguments: thickness
# over radius, how far each abutment moves over radius, duration:
#
#   solfec inp/cracked-arch.py 0.2 0.05 2.0

from math import asin, degrees, pi, sin

arguments = [float(word) for word in NON_SOLFEC_ARGV() or []]
ratio, spread, duration = arguments + [0.2, 0.05, 2.0][len(arguments):]
radius, width, count = 5.0, 2.0, 24

GEOMETRIC_EPSILON(1E-5)
solfec = SOLFEC('DYNAMIC', 5E-3, 'out/cracked-arch/%g' % ratio, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.7)
stone = BULK_MATERIAL(solfec, density=2000.0)
GRAVITY(solfec, (0, 0, -9.81))

# Two voussoirs more than the arch has are the abutments
opening = 180.0 / count
voussoirs = ARCH(radius, ratio * radius, width, count + 2, angle=180 + 2 * opening)
abutments = []
for side, shape in (('left', voussoirs[0]), ('right', voussoirs[-1])):
    abutments.append(BODY(solfec, 'OBSTACLE', shape, stone, label=side + ' abutment'))
blocks = [BODY(solfec, 'RIGID', shape, stone, label='block %d' % (number + 1)) for number, shape in enumerate(voussoirs[1:-1])]

# The speed rises from zero and falls to zero at 0.8 of the duration
period = 0.8 * duration
speed = TIME_SERIES(lambda t: spread * radius * pi / (2 * period) * sin(pi * t / period) if t < period else 0.0,
                    times=[duration * step / 200 for step in range(201)])
for abutment, direction in zip(abutments, ((-1, 0, 0), (1, 0, 0))):
    SET_VELOCITY(abutment, MASS_CENTER(abutment), direction, speed)
    for axis in ((0, 1, 0), (0, 0, 1)):
        FIX_DIRECTION(abutment, MASS_CENTER(abutment), axis)

OUTPUT(solfec, duration / 50)
RUN(solfec, AUTO_SOLVER(1E-6), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    angles = [0.0] + [degrees(asin(-block.conf[2])) for block in blocks] + [0.0]  # about y, of abutments and blocks
    turned = [after - before for before, after in zip(angles, angles[1:])]
    hinges = sorted(joint for joint, angle in enumerate(turned) if abs(angle) > 0.2)
    thrust = max(abs(sum(c.R[2] * c.base[6] + c.R[0] * c.base[0] + c.R[1] * c.base[3] for c in abutment.constraints if c.kind == 'CONTACT'))
                 for abutment in abutments)
    print('hinges at %s degrees, thrust %.3f of the weight' % (
        ', '.join('%g' % (joint * opening) for joint in hinges), thrust / (9.81 * sum(block.mass for block in blocks))))
