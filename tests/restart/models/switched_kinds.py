"""Bodies that become another kind of body during the run, with a support, a pressure, a force and contacts."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, 'KIRCHHOFF', 'soft', young=1E6, poisson=0.3, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HEX(nodes, 1, 1, 1, 1, [1] * 6), (9, 9, 1)), (-4, -4, -1)), soft)
block = BODY(solfec, 'RIGID', TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1, 2, 3, 4, 5, 6]), (0, 0, 0.01)), soft)
INITIAL_VELOCITY(block, (0.3, 0, 0), (0, 0, 1))
PRESSURE(block, 6, -100.0)
hung = BODY(solfec, 'RIGID', TRANSLATE(HULL(nodes, 1, 1), (2, 0, 1)), soft, label='hung')
FIX_POINT(hung, (2.5, 0.5, 2))
FORCE(hung, 'CONVECTED', (2, 0, 1), (1, 0, 0), TIME_SERIES([0, 0, 0.1, 100]))

def change():
    n = round(solfec.time * 1000)
    if n == 10:
        BODY_SWITCH(block, 'FINITE_ELEMENT')
        BODY_SWITCH(hung, 'PSEUDO_RIGID')
    if n == 30:
        BODY_SWITCH(block, 'RIGID')
        BODY_SWITCH(hung, 'FINITE_ELEMENT', mesh=TRANSLATE(SCALE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (1.2, 1.2, 1.2)), (1.9, -0.1, 0.9)))

CALLBACK(solfec, 5E-3, (), change)
RUN(solfec, AUTO_SOLVER(), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
