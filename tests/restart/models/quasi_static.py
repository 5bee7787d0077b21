"""Quasi-statics: bodies of every kind that moves pressed and dragged."""
solfec = SOLFEC('QUASI_STATIC', 1E-2, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.3, density=1000.0)
GRAVITY(solfec, (0, TIME_SERIES([0, 0, 1, 1]), -9.81))
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
cube = HEX(nodes, 1, 1, 1, 1, [1] * 6)
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(COPY(cube), (20, 20, 1)), (-5, -5, -1)), soft)
for k, (kind, form) in enumerate((('RIGID', None), ('PSEUDO_RIGID', None), ('FINITE_ELEMENT', 'TL'), ('FINITE_ELEMENT', 'BC'))):
    shape = TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (2 * k, 0, 0.0))
    body = BODY(solfec, kind, shape, soft, form=form) if form else BODY(solfec, kind, shape, soft)
    body.damping = 1.0
    FORCE(body, 'SPATIAL', (2 * k + 0.5, 0.5, 1), (0, 0, -1), TIME_SERIES([0, 0, 1, 1E4]))
    SET_VELOCITY(body, (2 * k + 0.5, 0.5, 0.5), (1, 0, 0), 0.1)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 500), int(NON_SOLFEC_ARGV()[0]) * 1E-2)
