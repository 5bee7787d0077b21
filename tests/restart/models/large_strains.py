"""Explicit finite elements whose strains reduce the critical step, found from the tangent every few steps."""
solfec = SOLFEC('DYNAMIC', 1E-2, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.3, density=1000.0)
rubber = BULK_MATERIAL(solfec, model='NEO_HOOKEAN', label='rubber', young=1E6, poisson=0.3, density=1000.0)
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
for k, material in enumerate((soft, rubber)):
    lower = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (3 * k, 0, 0)), material)
    upper = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (3 * k, 0.2, 1.001)), material)
    for body, speed in ((lower, 8), (upper, -8)):
        INITIAL_VELOCITY(body, (0, 0, speed), (0, 0, 1))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 200), int(NON_SOLFEC_ARGV()[0]) * 1E-2)
