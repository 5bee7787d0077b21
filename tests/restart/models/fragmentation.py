"""Bodies that fall apart again and again: by cracks of all kinds of bodies and shapes, and by RT_SPLIT in a callback."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.3, density=1000.0)
hard = BULK_MATERIAL(solfec, young=2E6, poisson=0.3, density=2000.0, label='hard')
GRAVITY(solfec, (0, 0, -9.81))
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]

def block(x, n=2):
    return TRANSLATE(HEX(nodes, 2, 2, n, 3, [1, 2, 3, 4, 5, 6]), (x, 0, 0.005))

def hull(x):
    return TRANSLATE(HULL(nodes, 4, 4), (x, 0, 0.005))

BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(nodes, 1, 1), (40, 9, 1)), (-4, -4, -1)), soft)
bodies = [
    BODY(solfec, 'FINITE_ELEMENT', block(0, 4), soft, label='explicit'),
    BODY(solfec, 'FINITE_ELEMENT', block(3, 4), soft, label='implicit'),
    BODY(solfec, 'FINITE_ELEMENT', block(6), soft, label='corotated', form='BC'),
    BODY(solfec, 'PSEUDO_RIGID', hull(9), soft, label='convex'),
    BODY(solfec, 'PSEUDO_RIGID', block(12), soft, label='meshed'),
    BODY(solfec, 'FINITE_ELEMENT', hull(15), soft, label='embedded', mesh=TRANSLATE(SCALE(block(0), (1.2, 1.2, 1.2)), (14.9, -0.1, -0.1))),
]
bodies[1].scheme = 'DEF_LIM'
APPLY_BULKMAT(solfec, bodies[0], 3, hard)
PRESSURE(bodies[0], 6, TIME_SERIES([0, 0, 0.1, 1E4]))
FORCE(bodies[0], 'SPATIAL', (0.9, 0.9, 1.005), (0, 0, 1), TIME_SERIES([0, 0, 0.1, 1E3]))
PUT_SPRING(bodies[0], (0.5, 0.5, 1.005), bodies[1], (3.5, 0.5, 1.005), [-1, -1E3, 1, 1E3], (-2, 2))
FIX_POINT(bodies[3], (9, 0, 1.005))
CONTACT_EXCLUDE_BODIES(bodies[4], bodies[5])
for k, body in enumerate(bodies):
    INITIAL_VELOCITY(body, (0, 0, -1), (0.5 * k, 1, 0.3))
    x = 3 * k + 0.5
    SIMPLIFIED_CRACK(body, (x, 0.5, 0.4), (0.1, 0.2, 1), (7, 8), 'TENSILE', ft=2E2 * (1 + k))
    SIMPLIFIED_CRACK(body, (x, 0.5, 0.505), (1, 0, 0.01), (9, 10), 'TENSILE', ft=1E3)
    SIMPLIFIED_CRACK(body, (x, 0.5, 0.505), (0, 1, 0), (9, 10), 'TENSILE', ft=4E3)
rigid = BODY(solfec, 'RIGID', block(18), soft, label='rigid')
INITIAL_VELOCITY(rigid, (0, 0, -1), (3, 1, 2))
PRESSURE(rigid, 6, 1E4)

def split():
    n = round(solfec.time * 1000)
    if n == 8:
        RT_SPLIT(rigid, rigid.mesh.inter_element_faces_on_plane((18.5, 0, 0.505), (0, 0, 1)), 7, 8, 'lower', 'upper', keep='ON')

CALLBACK(solfec, 1E-3, (), split)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-5, 100), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
