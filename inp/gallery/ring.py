# An elastic ring bounces off a wall, and rings
#
# A ring of finite elements meets a rigid wall and leaves it, oval and round by turns. Rings bend with the frequencies
# w^2 = n^2 (n^2 - 1)^2 / (n^2 + 1) E I / (m R^4), with the mass m per length; n = 2 is the oval. Argument: duration:
#
#   solfec inp/gallery/ring.py 0.05

from math import pi, sqrt

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 0.05
radius, thickness, width, speed = 0.1, 0.006, 0.03, 3.0
young, density = 2E9, 1200.0

solfec = SOLFEC('DYNAMIC', 1E-4, 'out/gallery/ring', contacts='MANIFOLD')
plastic = BULK_MATERIAL(solfec, young=young, poisson=0.0, density=density)
BODY(solfec, 'OBSTACLE', BOX((-0.02, 0, 0), (0.04, 0.3, 0.1)), plastic, label='wall')
outer = radius + thickness / 2
shape = PIPE((outer + 1E-3, 0, -width / 2), (0, 0, width), radius - thickness / 2, thickness, 1, 48, 1, 0, [0] * 4)
ring = BODY(solfec, 'FINITE_ELEMENT', shape, plastic, label='ring')
ring.scheme, ring.enhanced = 'DEF_LIM', 'ON'    # bending elements
INITIAL_VELOCITY(ring, (-speed, 0, 0), (0, 0, 0))

# Oval part of the motion: how much longer the ring is across than along its way
points = [(outer + 1E-3 + x, y, 0) for x, y in ((outer, 0), (-outer, 0), (0, outer), (0, -outer))]
times, oval, place = [], [], []


def watch():
    right, left, top, bottom = [DISPLACEMENT(ring, point) for point in points]
    times.append(solfec.time)
    oval.append(top[1] - bottom[1] - right[0] + left[0])
    place.append(0.25 * (right[0] + left[0] + top[0] + bottom[0]))


CALLBACK(solfec, 1E-4, (), watch)
OUTPUT(solfec, duration / 100)
RUN(solfec, AUTO_SOLVER(1E-8), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    # Times at which the oval passes its mean upwards, once the ring is free
    free = [k for k in range(1, len(times)) if times[k] > 0.008]   # contact takes 6 ms
    mean = 0.5 * (max(oval[k] for k in free) + min(oval[k] for k in free))
    passes = [times[k] - 1E-4 * (oval[k] - mean) / (oval[k] - oval[k - 1]) for k in free if oval[k - 1] < mean <= oval[k]]
    found = (len(passes) - 1) / (passes[-1] - passes[0]) if len(passes) > 1 else 0.0
    theory = sqrt(4 * 9 / 5.0 * young * thickness ** 2 / (12 * density * radius ** 4)) / (2 * pi)
    print('the ring leaves with %.3f of %.3f m/s and rings at %.1f Hz; theory of thin rings %.1f Hz' % (
        (place[-1] - place[free[0]]) / (times[-1] - times[free[0]]), speed, found, theory))
