# Double pendulum that hits a wall
#
# Two unit masses on two unit links swing into a rigid wall; impacts have restitution 0.1, so the energy falls in
# steps, by 11.67666 in all (exact times of impacts).  An argument sets the duration:
#
#   solfec inp/double-pendulum.py 2.5

from math import cos, pi, sin

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 2.5

GEOMETRIC_EPSILON(1E-5)
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/double-pendulum', contacts='MANIFOLD')
bulk = BULK_MATERIAL(solfec)
SURFACE_MATERIAL(solfec, friction=0.0, restitution=0.1)
GRAVITY(solfec, (0, 0, -9.81))

wall = [c for z in (0, 2) for y in (-0.2, 0.2) for x in (-0.10, -0.05) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', HULL(wall, 1, 1), bulk, label='wall')

pivot = (0, 0, 2)
first = (sin(pi / 3), 0, 2 - cos(pi / 3))
second = (first[0] + sin(pi / 5), 0, first[2] - cos(pi / 5))
masses = []
for label, point in (('first', first), ('second', second)):
    mass = BODY(solfec, 'RIGID', SPHERE(point, 0.05, 1, 1), bulk, label=label)
    BODY_CHARS(mass, 1.0, 1.0, point, (1, 0, 0, 0, 1, 0, 0, 0, 1))
    masses.append(mass)
PUT_RIGID_LINK(masses[0], None, first, pivot)
PUT_RIGID_LINK(masses[0], masses[1], first, second)

RUN(solfec, AUTO_SOLVER(), duration)

if solfec.mode == 'READ':
    heights = [(mass, point, 'CZ') for mass, point in zip(masses, (first, second))]
    times, kinetic, z1, z2 = HISTORY(solfec, [(solfec, 'KINETIC')] + heights, 0, duration)
    energy = [k + 9.81 * (max(a, 0) + max(b, 0)) for k, a, b in zip(kinetic, z1, z2)]
    print('energy lost in impacts: %.5f' % (energy[0] - energy[-1]))
