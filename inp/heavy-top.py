# Heavy symmetrical top with each of the rigid integrators
#
# A spinning top whose torque depends on its attitude; the Hamiltonian should stay at 1269.975.  RIG_POS gains
# energy, RIG_NEG loses it, RIG_IMP keeps it bounded.  An argument sets the step:
#
#   solfec inp/heavy-top.py 0.003

from math import cos, sin

arguments = NON_SOLFEC_ARGV()
step = float(arguments[0]) if arguments else 3E-3


def couple(q, u, t, h):
    # weight 20 along -z at the unit distance on the axis: torque -20 a x e3, a the third column of the rotation
    ax, ay = q[6], q[7]
    return (0, 0, 0, -20 * ay, 20 * ax, 0, 0, 0, 0)


def hamiltonian(solfec, body, samples):
    wx, wy, wz = body.velo[0:3]
    samples.append(0.5 * (5 * wx * wx + 5 * wy * wy + wz * wz) + 20 * body.conf[8])


for scheme in ('RIG_POS', 'RIG_NEG', 'RIG_IMP'):
    solfec = SOLFEC('DYNAMIC', step, 'out/heavy-top/' + scheme)
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec)
    top = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), bulk, label='top')
    BODY_CHARS(top, 1.0, 1.0, (0, 0, 0), (5, 0, 0, 0, 5, 0, 0, 0, 1))
    top.scheme = scheme
    tilt = 0.05  # about the x axis
    top.conf = (1, 0, 0, 0, cos(tilt), sin(tilt), 0, -sin(tilt), cos(tilt), 0, 0, 0)
    top.velo = (0, 0, 50, 0, 0, 0)
    FORCE(top, 'SPATIAL', (0, 0, 0), (1, 0, 0), couple)

    samples = []
    hamiltonian(solfec, top, samples)
    CALLBACK(solfec, 0.05, (solfec, top, samples), hamiltonian)
    OUTPUT(solfec, 0.05)
    RUN(solfec, PENALTY_SOLVER(), 10.0)
    if solfec.mode == 'WRITE' and not VIEWER():
        print('%s: Hamiltonian %.8f, change %+.2e' % (scheme, samples[0], samples[-1] - samples[0]))
