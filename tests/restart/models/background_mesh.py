"""Shapes inside meshes: a pipe in a box of elements and spheres of convexes, on the floor and on one another."""
solfec = SOLFEC('DYNAMIC', 2E-4, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=1E7, poisson=0.3, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HEX(nodes, 1, 1, 1, 1, [1] * 6), (20, 20, 1)), (-5, -5, -1)), soft)

def inside(x, z):
    points = [c + d for k in (0, 0.9) for j in (0, 0.9) for i in (0, 0.9) for c, d in ((i, x), (j, 0), (k, z))]
    mesh = TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (x, 0, z))
    return BODY(solfec, 'FINITE_ELEMENT', HULL(points, 1, 1), soft, mesh=mesh)

for k, scheme in enumerate(('DEF_EXP', 'DEF_LIM')):
    lower, upper = inside(2 * k, 0.0), inside(2 * k + 0.1, 0.9005)
    lower.scheme = upper.scheme = scheme
    INITIAL_VELOCITY(upper, (0.2, 0, -1), (0, 0, 0.5))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 500), int(NON_SOLFEC_ARGV()[0]) * 2E-4)
