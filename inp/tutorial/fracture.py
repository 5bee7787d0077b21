# Fracture: a bar that bursts by its own rotation, and a plate of bonded cells that its outer part breaks
#
# A motor turns a rigid bar faster and faster.  At the speed that theory gives it cracks; the outer part flies off and hits the plate.
# Manual, chapter 6.4:
#
#   solfec inp/tutorial/fracture.py
#   solfec view out/tutorial/fracture

from math import sqrt

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 0.3

density, strength = 2500.0, 3E5                  # of the bar
length, width = 1.0, 0.1
start, torque = 36.0, 24.0                       # angular velocity at first, torque of the motor

solfec = SOLFEC('DYNAMIC', 2E-4, 'out/tutorial/fracture', contacts='MANIFOLD')
stone = BULK_MATERIAL(solfec, density=density)
SURFACE_MATERIAL(solfec, friction=0.5)
SURFACE_MATERIAL(solfec, 5, 5, model='COHESIVE', ft=2E5, Gf=50, friction=0.6)


def block(low, high, surface):
    return HULL([c for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2]) for c in (x, y, z)], 1, surface)


# the bar turns on a shaft through its middle; it may crack at three places, of which the middle one is the weakest
bar = BODY(solfec, 'RIGID', block((-length / 2, -width / 2, -width / 2), (length / 2, width / 2, width / 2), 1), stone, label='bar')
INITIAL_VELOCITY(bar, (0, 0, 0), (0, 0, start))
shaft = HINGE(bar, None, (0, 0, 0), (0, 0, 1), label='shaft')
MOTOR(shaft, 'EFFORT', torque)
for place, factor in ((0.1, 1.1), (0.2, 1.0), (0.3, 1.2)):
    SIMPLIFIED_CRACK(bar, (place, 0, 0), (1, 0, 0), (2, 2), 'TENSILE', ft=factor * strength, average=0)

# the plate: cells of one convex, whose common faces have the surface 5 and are bonded
plate = VORONOI(block((-0.1, 1.0, -0.3), (0.8, 1.06, 0.3), 1), 24, surfid=5, relax=2)
cells = [BODY(solfec, 'RIGID', cell, stone, label='cell %d' % number) for number, cell in enumerate(plate, 1)]


reported = []


def report():
    if bar.fragments and not reported:
        inner, outer = reported[:] = bar.fragments
        print('burst at %.2f rad/s, theory %.2f' % (inner.velo[2], sqrt(12 * strength / density) / length))
        print('parts of %.1f and %.1f kg; the outer one flies at %.2f m/s' % (inner.mass, outer.mass, sqrt(sum(v * v for v in outer.velo[3:6]))))
    return 1


def bonds():
    return sum(1 for contact in solfec.constraints if contact.kind == 'CONTACT' and contact.spair == (5, 5) and contact.damage < 1)


if solfec.mode == 'WRITE':
    CALLBACK(solfec, solfec.step, (), report)
OUTPUT(solfec, 2E-3)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-4, 3000), duration)
if solfec.mode == 'READ':
    SEEK(solfec, duration)
speeds = [sqrt(sum(v * v for v in cell.velo[3:6])) for cell in cells]
print('cells of the plate: %.2f kg, the fastest one moves at %.1f m/s; bonds left: %d' % (sum(cell.mass for cell in cells), max(speeds), bonds()))
