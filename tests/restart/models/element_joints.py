"""Joints of finite element bodies, explicit and implicit, with a motor, limits, friction and correction of places."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
bulk = BULK_MATERIAL(solfec, model='KIRCHHOFF', young=1E7, poisson=0.25, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
CONTACT_EXCLUDE_SURFACES(solfec, 1, 1)
solfec.joint_correction = 'ON'

def bar(x, y, form, scheme):
    corners = [c for z in (-.05, .05) for (u, v) in ((0, -.05), (.5, -.05), (.5, .05), (0, .05)) for c in (x + u, y + v, z)]
    body = BODY(solfec, 'FINITE_ELEMENT', HEX(corners, 4, 1, 1, 1, [1] * 6), bulk, form=form)
    body.scheme = scheme
    return body

for y, forms in ((0, ('TL', 'BC')), (1, ('BC', 'TL'))):
    one, two = bar(0, y, forms[0], 'DEF_LIM'), bar(.5, y, forms[1], 'DEF_LIM')
    shaft = HINGE(one, None, (0, y, 0), (0, 1, 0), label='shaft %d' % y)
    HINGE(two, one, (.5, y, 0), (0, 1, 0), limits=(-0.002, 0.002), friction=0.05, damper=0.1)
    if y:
        MOTOR(shaft, 'RATE', TIME_SERIES([0, 0, 0.05, 2, 1, 2]))
loose = bar(0, 2, 'TL', 'DEF_EXP')
SLIDER(loose, None, (0.25, 2, 0), (1, 0, -1))

RUN(solfec, AUTO_SOLVER(1E-9), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
