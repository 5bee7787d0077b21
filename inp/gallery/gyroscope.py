# Gyroscope: a spinning wheel on one end of its axle does not fall
#
# The axle is level, and a ball joint holds one end. The wheel goes round at the rate W = m g l / (I w): its weight m g at the
# distance l, moment of inertia I about the axle, spin w. Argument: duration:
#
#   solfec inp/gallery/gyroscope.py 3

from math import atan2, hypot, pi

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 3.0
arm, spin, height = 0.15, 200.0, 0.3

solfec = SOLFEC('DYNAMIC', 5E-4, 'out/gallery/gyroscope', contacts='MANIFOLD')
steel = BULK_MATERIAL(solfec, density=7800.0)
GRAVITY(solfec, (0, 0, -9.81))

post = [BOX((0, 0, -0.01), (0.2, 0.2, 0.02)), CYLINDER((0, 0, 0), (0, 0, height - 0.006), 0.01)]
BODY(solfec, 'OBSTACLE', post, steel, label='post')
wheel = [CYLINDER((arm - 0.01, 0, height), (0.02, 0, 0), 0.1, sides=48), CYLINDER((0, 0, height), (arm - 0.01, 0, 0), 0.005),
         CYLINDER((arm + 0.01, 0, height), (0.05, 0, 0), 0.005)]
wheel = BODY(solfec, 'RIGID', wheel, steel, label='wheel')
CONTACT_EXCLUDE_BODIES(BYLABEL(solfec, 'BODY', 'post'), wheel)
BALL(wheel, None, (0, 0, height))

far = wheel.center[0]
rate = wheel.mass * 9.81 * far / (wheel.tensor[0] * spin)
INITIAL_VELOCITY(wheel, (0, rate * far, 0), (spin, 0, rate))

turned, last, lowest = [0.0], [0.0], [height]


def watch():
    angle = atan2(wheel.conf[10], wheel.conf[9])
    turned[0] += (angle - last[0] + pi) % (2 * pi) - pi
    last[0], lowest[0] = angle, min(lowest[0], wheel.conf[11])


CALLBACK(solfec, 0.01, (), watch)
OUTPUT(solfec, 0.02)
RUN(solfec, AUTO_SOLVER(1E-10), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    print('goes round at %.4f rad/s, m g l / (I w) = %.4f; sinks by %.4f mm at most' % (
        turned[0] / solfec.time, rate, 1000 * (height - lowest[0])))
