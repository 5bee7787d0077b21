"""Pseudo-rigid bodies, explicit and implicit, damped, stacked; an explicit one lowers the step as it deforms."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=4E6, poisson=0.3, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
cube = HEX([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], 1, 2, 1, 1, [1] * 6)
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(COPY(cube), (6, 6, 1)), (-2, -2, -1)), soft)
lower = BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(COPY(cube), (0, 0, 0.0005)), soft)
upper = BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(COPY(cube), (0.2, 0.1, 1.001)), soft)
upper.scheme, upper.damping = 'DEF_LIM', 1E-3
INITIAL_VELOCITY(upper, (0.3, 0, -2), (0, 0, 1))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 200), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
