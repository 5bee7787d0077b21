"""Finite elements of both forms, explicit and implicit, in contact with one another, held, loaded and cohesive."""
solfec = SOLFEC('DYNAMIC', 1E-4, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
SURFACE_MATERIAL(solfec, 2, 2, cohesion=1E4, friction=0.5)
soft = BULK_MATERIAL(solfec, young=1E7, poisson=0.3, density=1000.0)
GRAVITY(solfec, (0, 0.5, -9.81))

def cube(x, y, z, surface=1, n=2):
    nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    return TRANSLATE(HEX(nodes, n, n, n, 1, [surface] * 6), (x, y, z))

BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(cube(0, 0, 0), (20, 20, 1)), (-5, -5, -1)), soft)
k = 0
for form in ('TL', 'BC'):
    for scheme in ('DEF_EXP', 'DEF_LIM'):
        lower = BODY(solfec, 'FINITE_ELEMENT', cube(2 * k, 0, 0.0, 1 + k % 2), soft, form=form)
        upper = BODY(solfec, 'FINITE_ELEMENT', cube(2 * k + 0.3, 0.2, 1.0, 1 + k % 2), soft, form=form)
        lower.scheme = upper.scheme = scheme
        upper.damping = 1E-4
        INITIAL_VELOCITY(upper, (0.1, 0.2, -1), (0, 0, 0.3))
        k += 1
FORCE(upper, 'CONVECTED', (6.8, 0.7, 2), (0, 0, 1), TIME_SERIES([0, 0, 1E-3, 3E4, 2E-3, 0]))
hung = BODY(solfec, 'FINITE_ELEMENT', cube(9, 0, 1, n=1), soft, form='TL')
FIX_POINT(hung, (9, 0, 2))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 200), int(NON_SOLFEC_ARGV()[0]) * 1E-4)
