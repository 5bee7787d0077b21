"""Bonded cells of rigid, pseudo-rigid and finite element bodies, drawn apart, pressed, sheared: damage is carried."""
solfec = SOLFEC('DYNAMIC', 2E-4, 'out/model', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, model='COHESIVE', ft=4E3, fs=3E3, Gf=0.6, Gs=0.8, friction=0.3)
bulk = BULK_MATERIAL(solfec, young=2E6, density=500.0)
corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
PULLS = ((0, 0, 1), (0.6, 0, 0.6), (0.7, 0.1, -0.3))
for k, pull in enumerate(PULLS):
    BODY(solfec, 'OBSTACLE', TRANSLATE(HULL(corners, 1, 1), (3 * k, 0, -1)), bulk)
    middle = BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(HULL(corners, 1, 1), (3 * k, 0, 0)), bulk)
    if k < 2:
        upper = BODY(solfec, 'RIGID', TRANSLATE(HULL(corners, 1, 1), (3 * k, 0, 1)), bulk)
    else:
        upper = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(HEX(corners, 2, 2, 1, 1, [1] * 6), (3 * k, 0, 1)), bulk)
    FORCE(upper, 'SPATIAL', (3 * k + 0.5, 0.5, 1.5), pull, TIME_SERIES([0, 0, 4E-3, 9E3, 1, 9E3]))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), int(NON_SOLFEC_ARGV()[0]) * 2E-4)
