# Capstan: a rope round a bollard holds much more than pulls at its other end
#
# Beads on threads make a rope that hangs over a round bar. By Euler it slips when the weights differ by a factor e^(m a), with the
# friction m and the angle a = pi of the bar that the rope touches. Then F = e^(m a) is the ratio of the forces, and the weights, of
# the ratio r, move at g (r - F) / (r + F). Arguments: r, duration:
#
#   solfec inp/gallery/capstan.py 4 0.3

from math import cos, exp, pi, sin

arguments = [float(word) for word in NON_SOLFEC_ARGV() or []]
ratio, duration = arguments + [4.0, 0.3][len(arguments):]
friction, radius, bead, around, hanging = 0.3, 0.2, 0.02, 25, 6

solfec = SOLFEC('DYNAMIC', 5E-4, 'out/gallery/capstan-%g' % ratio, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=friction)
CONTACT_EXCLUDE_SURFACES(solfec, 1, 1)   # beads
steel, foam = BULK_MATERIAL(solfec, density=7800.0), BULK_MATERIAL(solfec, density=250.0)
GRAVITY(solfec, (0, 0, -9.81))

far = radius + bead
BODY(solfec, 'OBSTACLE', CYLINDER((0, -0.15, 0), (0, 0.3, 0), radius, sides=720), steel, label='bar')
step = far * pi / (around - 1)
places = [(-far, -step * n) for n in range(hanging, 0, -1)]
places += [(-far * cos(pi * n / (around - 1)), far * sin(pi * n / (around - 1))) for n in range(around)]
places += [(far, -step * n) for n in range(1, hanging + 1)]
rope = []
for x, z in places:
    body = BODY(solfec, 'RIGID', SPHERE((x, 0, z), bead, 0, 1), foam)
    body.disable_rotation = 'ON'   # a rope does not roll
    if rope:
        DISTANCE(body, rope[-1], (x, 0, z), rope[-1].center)
    rope.append(body)
weights = []
for end, factor in ((rope[0], 1.0), (rope[-1], ratio)):
    x, _, z = end.center
    edge = 0.1 * factor ** (1 / 3.0)
    weight = BODY(solfec, 'RIGID', BOX((x, 0, z - 0.05 - edge / 2), (edge, edge, edge), surfid=1), steel)
    BALL(weight, end, end.center)
    weights.append(weight)

OUTPUT(solfec, duration / 50)
RUN(solfec, AUTO_SOLVER(1E-6), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    moved, factor = weights[0].conf[11] - weights[0].center[2], exp(friction * pi)
    print('weights of 1 to %g; the rope slips above 1 to %.3f' % (ratio, factor))
    print('the rope %s: the light weight rises at %.3f m/s2, theory %.3f' % (
        'slips' if moved > 1E-4 else 'holds', 2 * moved / solfec.time ** 2, max(0.0, 9.81 * (ratio - factor) / (ratio + factor))))
