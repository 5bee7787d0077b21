"""Finite elements in bases of modes and of snapshots, that spin, hit the floor and are loaded."""
import numpy

solfec = SOLFEC('DYNAMIC', 2E-4, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=1E7, poisson=0.3, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HEX(nodes, 1, 1, 1, 1, [1] * 6), (20, 20, 1)), (-5, -5, -1)), soft)

model = SOLFEC('DYNAMIC', 1E-3, 'out/unused')
whole = BODY(model, 'FINITE_ELEMENT', HEX(nodes, 2, 2, 2, 1, [1] * 6), BULK_MATERIAL(model, young=1E7, poisson=0.3, density=1000.0))
values, vectors = MODAL_ANALYSIS(whole, 12, 'modes')
orthonormal = numpy.linalg.qr(numpy.reshape(vectors, (12, -1)).T)[0].T
REGISTER_BASE(solfec, (values, orthonormal.ravel().tolist()), 'cube')
for k, form in enumerate(('BC-MODAL', 'BC-RO')):
    shape = TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (2 * k, 0, 0.0002))
    body = BODY(solfec, 'FINITE_ELEMENT', shape, soft, form=form, base='cube' if k else (values, vectors))
    INITIAL_VELOCITY(body, (0.1, 0, -1), (0, 0, 2))
    body.damping = 1E-4
    FORCE(body, 'SPATIAL', (2 * k + 0.5, 0.5, 1), (0, 1, 0), TIME_SERIES([0, 0, 0.01, 1E5]))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 500), int(NON_SOLFEC_ARGV()[0]) * 2E-4)
