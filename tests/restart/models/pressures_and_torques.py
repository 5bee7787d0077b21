"""Pressures and torques; a callback adds more, turns self-contact on and changes the material of elements."""
solfec = SOLFEC('DYNAMIC', 2E-4, 'out/model')
soft = BULK_MATERIAL(solfec, young=1E7, poisson=0.3, density=1000.0)
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
mesh = HEX(nodes, 2, 2, 2, 7, [1, 2, 3, 4, 5, 6])
elements = BODY(solfec, 'FINITE_ELEMENT', mesh, soft)
rigid = BODY(solfec, 'RIGID', TRANSLATE(HEX(nodes, 1, 1, 1, 1, [1, 2, 3, 4, 5, 6]), (3, 0, 0)), soft)
hard = BULK_MATERIAL(solfec, label='hard', young=2E7, density=1000.0)
APPLY_BULKMAT(solfec, elements, 7, hard)
ramp = TIME_SERIES([0, 0, 0.01, 1E5])
PRESSURE(elements, 2, ramp)
PRESSURE(elements, 4, -1E4)
PRESSURE(rigid, 6, ramp)
TORQUE(rigid, 'SPATIAL', (0, 0, 1), ramp)
TORQUE(rigid, 'CONVECTED', (1, 0, 0), 100.0)

def more():
    PRESSURE(elements, 1, TIME_SERIES([0, 0, solfec.time + 0.01, 1E5]))
    TORQUE(rigid, 'CONVECTED', (0, 1, 0), TIME_SERIES([0, 50, 0.01, 60]))
    elements.selfcontact = 'ON'
    hard.young = 1E7 + 1E9 * solfec.time

CALLBACK(solfec, 1E-3, (), more)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 500), int(NON_SOLFEC_ARGV()[0]) * 2E-4)
