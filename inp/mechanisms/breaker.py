# A circuit breaker of three poles that opens within some milliseconds after its latch is released
#
# Levers, pull rods, moving and fixed contacts, contact and opening springs, a latch with a roller, a trip cam, buffers and a gear:
# 29 bodies of an invented design.  It lies on its back: weights act along z and are borne by the hinges.
# docs/mechanisms.md, A breaker.  Arguments set the duration and the solver ('auto', 'sweeps' or 'siconos'):
#
#   solfec inp/mechanisms/breaker.py 0.06 auto

from math import pi, sin, cos, radians

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 0.06
method = arguments[1] if arguments and len(arguments) > 1 else 'auto'

# angles from the y axis towards x, about -z; opening turns all levers by the same angle, since lever and arm of a pole are parallel
closed, opened = radians(25), radians(-20)
lever, tip, apart = 0.05, 0.12, 0.15         # lengths of levers and of contact arms; distance of their hinges
poles = (-0.1, 0.0, 0.1)                     # places along z
follow, press = 0.008, 200.0                 # way on which fixed contacts follow, and force of a closed contact
contact_spring = 1E4
opening_spring, compressed = 1E4, 0.07       # stiffness, and compression when closed
anchor = (-0.05, 0.16)                       # of the opening springs
nose, roller = 0.06, 0.008                   # the latch holds a roller at this distance from the shaft; its radius
trip, trip_time = 80.0, 0.005                # force of the solenoid and time at which it is switched on

TIP, FIXED, BUFFER, ROLLER, LATCH, CAM, PLUNGER, OTHER = range(1, 9)
MEET = ((TIP, FIXED), (TIP, BUFFER), (ROLLER, LATCH), (LATCH, CAM), (CAM, PLUNGER))


def along(angle, length=1.0, start=(0.0, 0.0)):
    return start[0] + length * sin(angle), start[1] + length * cos(angle)


def plate(corners, z, half, surface=OTHER):
    return HULL([c for w in (z - half, z + half) for x, y in corners for c in (x, y, w)], 1, surface)


def bar(start, end, width, z, half=0.005, surface=OTHER):
    """A bar between two points of the plane, with square ends."""
    x, y = end[0] - start[0], end[1] - start[1]
    across = 0.5 * width / (x * x + y * y) ** 0.5
    sides = [(s * across * y, -s * across * x) for s in (-1, 1)]
    return plate([(p[0] + s[0], p[1] + s[1]) for p in (start, end) for s in sides], z, half, surface)


def disc(centre, radius, z, half=0.005, surface=OTHER, count=24):
    return plate([along(2 * pi * k / count, radius, centre) for k in range(count)], z, half, surface)


solfec = SOLFEC('DYNAMIC', 5E-5, 'out/mechanisms/breaker', contacts='MANIFOLD')
steel, copper = BULK_MATERIAL(solfec, density=7800), BULK_MATERIAL(solfec, density=8900)
SURFACE_MATERIAL(solfec, friction=0.1)
GRAVITY(solfec, (0, 0, -9.81))
for one in range(1, 9):
    for two in range(one, 9):
        if (one, two) not in MEET:
            CONTACT_EXCLUDE_SURFACES(solfec, one, two)


def body(shapes, label, material=steel):
    return BODY(solfec, 'RIGID', shapes, material, label=label)


def hinge(one, two, point, z, **words):
    return HINGE(one, two, (point[0], point[1], z), (0, 0, -1), **words)


# the shaft, which turns in two bearings and drives a position flag by gears
base = [c for z in (-0.24, -0.23) for y in (-0.14, 0.18) for x in (-0.1, 0.24) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', HULL(base, 1, OTHER), steel, label='base')
shaft = body(disc((0, 0), 0.01, 0.02, 0.22), 'shaft')
bearing = hinge(shaft, None, (0, 0), -0.2, label='shaft')
hinge(shaft, None, (0, 0), 0.24)
flag = body([disc((0, -0.06), 0.02, -0.2), bar((0, -0.06), (0, -0.12), 0.01, -0.2)], 'flag')
GEAR(hinge(flag, None, (0, -0.06), -0.2, label='flag'), bearing, -2.0)

# poles: a lever on the shaft pulls an arm by a rod; a fixed contact on a spring follows the arm until its stop
normal = cos(closed), -sin(closed)           # of contact, from the moving to the fixed one
behind = cos(opened), -sin(opened)
for number, z in enumerate(poles, 1):
    crank = body(bar((0, 0), along(closed, lever), 0.012, z - 0.012), 'lever %d' % number)
    WELD(crank, shaft, (0, 0, z - 0.012))
    pivot = (apart, 0.0)
    arm = body([bar(pivot, along(closed, tip, pivot), 0.012, z, 0.01),
                SPHERE((*along(closed, tip, pivot), z), 0.01, 1, TIP)], 'arm %d' % number, copper)
    hinge(arm, None, pivot, z, label='arm %d' % number)
    ends = along(closed, lever), along(closed, lever, pivot)
    rod = body(bar(*ends, 0.01, z - 0.024), 'rod %d' % number)
    hinge(rod, crank, ends[0], z - 0.018)
    hinge(rod, arm, ends[1], z - 0.018)

    top = along(closed, tip, pivot)
    face = top[0] + 0.01 * normal[0], top[1] + 0.01 * normal[1]
    back = face[0] + 0.02 * normal[0], face[1] + 0.02 * normal[1]
    fixed = body(bar(face, back, 0.03, z, 0.012, FIXED), 'fixed %d' % number, copper)
    SLIDER(fixed, None, (*face, z), (*normal, 0), limits=(-follow, 0.002), spring=contact_spring, rest=-press / contact_spring,
           label='fixed %d' % number)
    top = along(opened, tip, pivot)
    face = top[0] - 0.01 * behind[0], top[1] - 0.01 * behind[1]
    back = face[0] - 0.02 * behind[0], face[1] - 0.02 * behind[1]
    buffer = body(bar(face, back, 0.03, z, 0.012, BUFFER), 'buffer %d' % number)
    SLIDER(buffer, None, (*face, z), (-behind[0], -behind[1], 0), limits=(0, 0.02), spring=2E4, rest=-0.002, damper=100.0, label='buffer %d' % number)

# opening springs: a plunger in a cylinder, between an anchor and a lever that stands across the other levers
across = closed - pi / 2
for number, z in enumerate((-0.15, 0.2), 1):
    end = along(across, lever)
    crank = body(bar((0, 0), end, 0.012, z - 0.012), 'spring lever %d' % number)
    WELD(crank, shaft, (0, 0, z - 0.012))
    way = end[0] - anchor[0], end[1] - anchor[1]
    part = lambda share: (anchor[0] + share * way[0], anchor[1] + share * way[1])
    cylinder = body(bar(anchor, part(0.6), 0.02, z), 'cylinder %d' % number)
    plunger = body(bar(part(0.3), end, 0.01, z), 'plunger %d' % number)
    hinge(cylinder, None, anchor, z)
    hinge(plunger, crank, end, z - 0.006)
    SLIDER(plunger, cylinder, (*end, z), (*way, 0), spring=opening_spring, rest=compressed, label='spring %d' % number)

# the latch: its face holds the roller of a lever on the shaft; its pivot lies a little below the line of the force
z = 0.15
at = along(pi, nose)                          # the lever of the roller points along -y when closed
crank = body(bar((0, 0), at, 0.012, z - 0.012), 'nose')
WELD(crank, shaft, (0, 0, z - 0.012))
wheel = body(SPHERE((*at, z), roller, 1, ROLLER), 'roller')
hinge(wheel, crank, at, z - 0.006)
left, grip = at[0] + roller, 0.002           # face of the latch, and its height above the roller's middle
pivot = left + 0.04, at[1] - 0.0005
latch = body([plate([(left, at[1] + grip), (left, at[1] - 0.01), (pivot[0], pivot[1] - 0.01), (pivot[0], at[1] + grip)], z, 0.01, LATCH),
              bar(pivot, (pivot[0] + 0.05, pivot[1]), 0.01, z, 0.01, LATCH)], 'latch')
hinge(latch, None, pivot, z, limits=(-0.5, 0), spring=0.5, rest=0.2, label='latch')

# the trip: a solenoid pushes the lever of a cam, which lifts the tail of the latch
middle = pivot[0] + 0.04, pivot[1] - 0.018
cam = body([disc((middle[0] + 0.008, middle[1]), 0.012, z, 0.01, CAM), bar(middle, (middle[0] + 0.02, middle[1]), 0.006, z + 0.02, 0.01, CAM)], 'cam')
hinge(cam, None, middle, z, limits=(-1.5, 0.0), spring=0.02, rest=0.5, label='cam')
foot = middle[0] + 0.015, middle[1] - 0.003
plunger = body([SPHERE((foot[0], foot[1] - 0.006, z + 0.02), 0.005, 1, PLUNGER),
                bar((foot[0], foot[1] - 0.006), (foot[0], foot[1] - 0.05), 0.008, z + 0.02, 0.004)], 'solenoid')
slide = SLIDER(plunger, None, (*foot, z + 0.02), (0, 1, 0), limits=(0, 0.014), spring=100.0, rest=-0.02, label='solenoid')
MOTOR(slide, 'EFFORT', lambda q, rate, time: trip if time > trip_time else 0.0)

OUTPUT(solfec, 2E-4)
if method == 'auto':
    solver = AUTO_SOLVER()
else:
    solver = SICONOS_SOLVER(1E-6, 1000, solver='NSN_AC') if method == 'siconos' else GAUSS_SEIDEL_SOLVER(1E-6, 2000)
RUN(solfec, solver, duration)
