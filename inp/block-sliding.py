# Block sliding: stick and slip under a harmonic push
#
# A unit-mass block on a rough table is pushed by 8 cos t while friction holds up to 7.848, so that it slips only
# near the peaks, and rests at 2.991303 after 10 s (equation of motion).  An argument sets the duration:
#
#   solfec inp/block-sliding.py 10

from math import cos

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 10.0

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/block-sliding', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.8)
bulk = BULK_MATERIAL(solfec, density=1000.0 / 9.0)
GRAVITY(solfec, (0, 0, -9.81))


def box(lower, upper, i, j, k):
    (x0, y0, z0), (x1, y1, z1) = lower, upper
    return HEX([x0, y0, z0, x1, y0, z0, x1, y1, z0, x0, y1, z0,
                x0, y0, z1, x1, y0, z1, x1, y1, z1, x0, y1, z1], i, j, k, 1, [1] * 6)


table = TRANSLATE(box((-0.5, -0.15, -0.1), (0.5, 0.15, 0.0), 1, 1, 1), (3, 0, 0))
BODY(solfec, 'OBSTACLE', table, bulk, label='table')
block = TRANSLATE(box((-0.15, -0.15, 0.0), (0.15, 0.15, 0.1), 1, 1, 1), (3, 0, 0))
body = BODY(solfec, 'RIGID', block, bulk, label='block')


def push(q, u, t, h):
    return (8 * cos(t), 0, 0, 0, 0, 0, 0, 0, 0)


FORCE(body, 'SPATIAL', body.center, (1, 0, 0), push)
OUTPUT(solfec, 0.01)
RUN(solfec, AUTO_SOLVER(1E-6), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    print('position: %.6f' % body.conf[9])
elif solfec.mode == 'READ':
    times, position = HISTORY(solfec, (body, body.center, 'CX'), 0, duration)
    print('position ranges from %.6f to %.6f' % (min(position), max(position)))
